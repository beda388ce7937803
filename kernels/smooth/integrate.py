"""Semi-implicit Euler step with implicit joint damping, and the search for values that are not finite."""

from ..constants import BALL, FREE
from ..rotation import at4, integrate_quat
from ..types import (
    func,
    kernel,
    ti,
    vec3,
)
from .inertia import factor_tree, solve_tree

MAXVAL = 1e10  # mjMAXVAL: a larger position, velocity or acceleration counts as a diverged simulation


@func
def advance_joint(m, d, j, Do, Qo, h):
    """Moves joint j for a time h at its velocity; returns its number of dofs."""
    kind = m.jnt_type[j]
    q = Qo + m.jnt_qposadr[j]
    k = Do + m.jnt_dofadr[j]
    num = 1
    if kind == FREE:
        for c in range(3):
            d.qpos[q + c] = d.qpos[q + c] + h * d.qvel[k + c]
        num = 6
        q += 3
        k += 3
    if kind == FREE or kind == BALL:
        r = integrate_quat(at4(d.qpos, q), vec3(d.qvel[k], d.qvel[k + 1], d.qvel[k + 2]), h)
        for c in ti.static(range(4)):
            d.qpos[q + c] = r[c]
        num = ti.max(num, 3)
    else:
        d.qpos[q] = d.qpos[q] + h * d.qvel[k]
    return num


@kernel
def tree_euler(m, d):
    """Euler step of velocity, then position and time; parallel over worlds and trees. Seed 000, "Numerical
    integration".
    """
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wt in range(d.nworld * (m.ntree + 1)):
        w = wt // (m.ntree + 1)
        tree = wt - w * (m.ntree + 1)
        Do = w * m.nv
        Mo = w * m.nC
        if tree == m.ntree:
            d.world_time[w] = d.world_time[w] + m.opt.timestep
        else:
            da = m.tree_dofadr[tree]
            dn = m.tree_dofnum[tree]
            damped = 0
            for k in range(da, da + dn):
                acc = d.qacc[Do + k]
                d.qacc_warmstart[Do + k] = acc
                if d.implicit_damping == 0:
                    d.qvel[Do + k] = d.qvel[Do + k] + m.opt.timestep * acc
                elif m.dof_damping[k] > 0.0:
                    damped = 1
            if d.implicit_damping == 1:
                for k in range(da, da + dn):
                    last = Mo + m.M_rowadr[k] + m.M_rownnz[k] - 1
                    for p in range(Mo + m.M_rowadr[k], last + 1):
                        d.qH[p] = d.M[p] if damped == 1 else d.qLD[p]
                    d.qH[last] = d.qH[last] + m.opt.timestep * m.dof_damping[k]
                    d.qHDiagInv[Do + k] = d.qLDiagInv[Do + k]
                    d.qacc_euler[Do + k] = d.qfrc_smooth[Do + k] + d.qfrc_constraint[Do + k]
                if damped == 1:
                    factor_tree(m, d, da, dn, Mo, Do, d.qH, d.qHDiagInv)
                solve_tree(m, d, da, dn, Mo, Do, d.qH, d.qHDiagInv, d.qacc_euler)
                for k in range(Do + da, Do + da + dn):
                    d.qvel[k] = d.qvel[k] + m.opt.timestep * d.qacc_euler[k]
            k = da
            while k < da + dn:
                k += advance_joint(m, d, m.dof_jntid[k], Do, w * m.nq, m.opt.timestep)


@kernel
def find_bad_state(m, d):
    """First element of qpos and qvel that is not finite or huge; parallel over worlds and elements."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wi in range(d.nworld * m.nq):  # nq >= nv
        w = wi // m.nq
        i = wi - w * m.nq
        if not ti.abs(d.qpos[wi]) <= MAXVAL:
            ti.atomic_max(d.bad[w][0], m.nq - i)
        if i < m.nv:
            if not ti.abs(d.qvel[w * m.nv + i]) <= MAXVAL:
                ti.atomic_max(d.bad[w][1], m.nv - i)


@kernel
def find_bad_acceleration(m, d):
    """First element of qacc that is not finite or huge; parallel over worlds and elements."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wi in range(d.nworld * m.nv):
        if not ti.abs(d.qacc[wi]) <= MAXVAL:
            ti.atomic_max(d.bad[wi // m.nv][2], m.nv - wi % m.nv)
