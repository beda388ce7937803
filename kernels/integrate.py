"""Semi-implicit Euler step with implicit joint damping, and the search for values that are not finite."""

from tisim.kernels.constants import BALL, FREE
from tisim.kernels.inertia import factor_tree, solve_tree
from tisim.kernels.rotation import at4, integrate_quat
from tisim.kernels.types import FP, F, I, kernel, ti, vec3

MAXVAL = 1e10  # mjMAXVAL: a larger position, velocity or acceleration counts as a diverged simulation


@ti.func
def advance_joint(j, Do, Qo, h, jnt_type: ti.template(), jnt_qposadr: ti.template(), jnt_dofadr: ti.template(),
                  qvel: ti.template(), qpos: ti.template()):  # fmt: skip
    """Moves joint j for a time h at its velocity; returns its number of dofs."""
    kind = jnt_type[j]
    q = Qo + jnt_qposadr[j]
    k = Do + jnt_dofadr[j]
    num = 1
    if kind == FREE:
        for c in range(3):
            qpos[q + c] = qpos[q + c] + h * qvel[k + c]
        num = 6
        q += 3
        k += 3
    if kind == FREE or kind == BALL:
        r = integrate_quat(at4(qpos, q), vec3(qvel[k], qvel[k + 1], qvel[k + 2]), h)
        for c in ti.static(range(4)):
            qpos[q + c] = r[c]
        num = ti.max(num, 3)
    else:
        qpos[q] = qpos[q] + h * qvel[k]
    return num


@kernel
def tree_euler(
    nworld: ti.i32, nv: ti.i32, nq: ti.i32, nC: ti.i32, ntree: ti.i32, timestep: FP, implicit_damping: ti.i32,
    qfrc_smooth: F, qfrc_constraint: F, qacc: F, M: F, qLD: F, qLDiagInv: F, tree_dofadr: I, tree_dofnum: I,
    M_rownnz: I, M_rowadr: I, M_colind: I, dof_jntid: I, dof_damping: F, jnt_type: I, jnt_qposadr: I, jnt_dofadr: I,
    qH: F, qHDiagInv: F, qacc_euler: F, qacc_warmstart: F, qvel: F, qpos: F, world_time: F,
):  # fmt: skip
    """Euler step of velocity, then position and time; parallel over worlds and trees. Seed 000, "Numerical
    integration".
    """
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wt in range(nworld * (ntree + 1)):
        w = wt // (ntree + 1)
        tree = wt - w * (ntree + 1)
        Do = w * nv
        Mo = w * nC
        if tree == ntree:
            world_time[w] = world_time[w] + timestep
        else:
            da = tree_dofadr[tree]
            dn = tree_dofnum[tree]
            damped = 0
            for k in range(da, da + dn):
                acc = qacc[Do + k]
                qacc_warmstart[Do + k] = acc
                if implicit_damping == 0:
                    qvel[Do + k] = qvel[Do + k] + timestep * acc
                elif dof_damping[k] > 0.0:
                    damped = 1
            if implicit_damping == 1:
                for k in range(da, da + dn):
                    last = Mo + M_rowadr[k] + M_rownnz[k] - 1
                    for p in range(Mo + M_rowadr[k], last + 1):
                        qH[p] = M[p] if damped == 1 else qLD[p]
                    qH[last] = qH[last] + timestep * dof_damping[k]
                    qHDiagInv[Do + k] = qLDiagInv[Do + k]
                    qacc_euler[Do + k] = qfrc_smooth[Do + k] + qfrc_constraint[Do + k]
                if damped == 1:
                    factor_tree(da, dn, Mo, Do, qH, qHDiagInv, M_rownnz, M_rowadr, M_colind)
                solve_tree(da, dn, Mo, Do, qH, qHDiagInv, M_rownnz, M_rowadr, M_colind, qacc_euler)
                for k in range(Do + da, Do + da + dn):
                    qvel[k] = qvel[k] + timestep * qacc_euler[k]
            k = da
            while k < da + dn:
                k += advance_joint(dof_jntid[k], Do, w * nq, timestep, jnt_type, jnt_qposadr, jnt_dofadr, qvel, qpos)


@kernel
def find_bad_state(nworld: ti.i32, nq: ti.i32, nv: ti.i32, qpos: F, qvel: F, bad: I):
    """First element of qpos and qvel that is not finite or huge; parallel over worlds and elements."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wi in range(nworld * nq):  # nq >= nv
        w = wi // nq
        i = wi - w * nq
        if not ti.abs(qpos[wi]) <= MAXVAL:
            ti.atomic_max(bad[3 * w], nq - i)
        if i < nv:
            if not ti.abs(qvel[w * nv + i]) <= MAXVAL:
                ti.atomic_max(bad[3 * w + 1], nv - i)


@kernel
def find_bad_acceleration(nworld: ti.i32, nv: ti.i32, qacc: F, bad: I):
    """First element of qacc that is not finite or huge; parallel over worlds and elements."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wi in range(nworld * nv):
        if not ti.abs(qacc[wi]) <= MAXVAL:
            ti.atomic_max(bad[3 * (wi // nv) + 2], nv - wi % nv)
