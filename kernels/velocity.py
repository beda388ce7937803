"""Velocities of bodies, passive and bias forces, and the acceleration without constraints."""

from tisim.kernels.constants import BALL, DSBL_DAMPER, DSBL_GRAVITY, DSBL_SPRING, FREE
from tisim.kernels.inertia import add_wrench, mul_inertia, solve_tree
from tisim.kernels.passive import spring_stretch
from tisim.kernels.rotation import any_nonzero6
from tisim.kernels.types import FP, F, I, kernel, ld3, ld6, st6, ti, vec3, vec6


@ti.func
def cross_motion(v, s):
    """Rate of the motion axis s carried along at velocity v."""
    w, l = vec3(v[0], v[1], v[2]), vec3(v[3], v[4], v[5])  # noqa: E741
    a, b = vec3(s[0], s[1], s[2]), vec3(s[3], s[4], s[5])
    p, q = w.cross(a), w.cross(b) + l.cross(a)
    return vec6(p[0], p[1], p[2], q[0], q[1], q[2])


@ti.func
def cross_force(v, f):
    """Rate of the momentum f carried along at velocity v."""
    w, l = vec3(v[0], v[1], v[2]), vec3(v[3], v[4], v[5])  # noqa: E741
    a, b = vec3(f[0], f[1], f[2]), vec3(f[3], f[4], f[5])
    p, q = w.cross(a) + l.cross(b), w.cross(b)
    return vec6(p[0], p[1], p[2], q[0], q[1], q[2])


@kernel
def tree_velocity(
    nworld: ti.i32, nbody: ti.i32, nv: ti.i32, nq: ti.i32, ntree: ti.i32, disableflags: ti.i32,
    gravity_x: FP, gravity_y: FP, gravity_z: FP,
    qpos: F, qvel: F, qpos_spring: F, body_parentid: I, body_rootid: I, body_jntnum: I, body_jntadr: I, body_dofadr: I,
    body_dofnum: I, body_mass: F, body_gravcomp: F, tree_bodyadr: I, tree_bodynum: I, tree_dofadr: I, tree_dofnum: I,
    jnt_type: I, jnt_qposadr: I, jnt_dofadr: I, jnt_stiffness: F, jnt_actgravcomp: I, dof_bodyid: I, dof_jntid: I,
    dof_parentid: I, dof_damping: F, xipos: F, subtree_com: F, cinert: F, cdof: F,
    cvel: F, cdof_dot: F, cacc_bias: F, cfrc_bias: F,
    qfrc_spring: F, qfrc_damper: F, qfrc_gravcomp: F, qfrc_passive: F, qfrc_bias: F,
):  # fmt: skip
    """cvel, cdof_dot, passive forces and the bias force; parallel over worlds and trees. Seed 000, stages 14 to 18."""
    gravity = vec3(gravity_x, gravity_y, gravity_z)
    passive = 1  # 3.4.0: springs and dampers disabled together also disable gravity compensation
    if (disableflags & DSBL_SPRING) != 0 and (disableflags & DSBL_DAMPER) != 0:
        passive = 0
    if (disableflags & DSBL_GRAVITY) != 0:
        gravity = vec3(0.0, 0.0, 0.0)
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wt in range(nworld * ntree):
        w = wt // ntree
        tree = wt - w * ntree
        Bo = w * nbody
        Do = w * nv
        b = tree_bodyadr[tree]
        da = tree_dofadr[tree]
        dn = tree_dofnum[tree]
        for k in range(da, da + dn):
            qfrc_spring[Do + k] = 0.0
            qfrc_gravcomp[Do + k] = 0.0
        for i in range(b, b + tree_bodynum[tree]):
            e = Bo + i
            vel = vec6(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            acc = vec6(0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2])
            if i > b:
                vel = ld6(cvel, Bo + body_parentid[i])
                acc = ld6(cacc_bias, Bo + body_parentid[i])
            for j in range(body_jntadr[i], body_jntadr[i] + body_jntnum[i]):
                kind = jnt_type[j]
                k = jnt_dofadr[j]
                if kind == FREE:
                    for c in ti.static(range(3)):
                        vel[3 + c] += qvel[Do + k + c]
                        st6(cdof_dot, Do + k + c, vec6(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
                    k += 3
                num = 1
                if kind == FREE or kind == BALL:
                    num = 3
                frame = vel
                for d in range(Do + k, Do + k + num):
                    axis = ld6(cdof, d)
                    rate = cross_motion(frame, axis)
                    st6(cdof_dot, d, rate)
                    vel += qvel[d] * axis
                    acc += qvel[d] * rate
                if jnt_stiffness[j] != 0.0 and (disableflags & DSBL_SPRING) == 0:
                    q = jnt_qposadr[j]
                    s = -jnt_stiffness[j] * spring_stretch(kind, w * nq + q, q, qpos, qpos_spring)
                    if kind == FREE:
                        for c in ti.static(range(3)):
                            qfrc_spring[Do + k - 3 + c] = s[c]
                    qfrc_spring[Do + k] = s[3]
                    if num == 3:
                        qfrc_spring[Do + k + 1] = s[4]
                        qfrc_spring[Do + k + 2] = s[5]
            st6(cvel, e, vel)
            st6(cacc_bias, e, acc)
            st6(cfrc_bias, e, mul_inertia(cinert, e, acc) + cross_force(vel, mul_inertia(cinert, e, vel)))
            if body_gravcomp[i] != 0.0 and passive == 1:
                add_wrench(i, Bo, Do, ld3(subtree_com, Bo + body_rootid[i]), ld3(xipos, e),
                           -body_mass[i] * body_gravcomp[i] * gravity, vec3(0.0, 0.0, 0.0),
                           body_parentid, body_dofadr, body_dofnum, dof_parentid, cdof, qfrc_gravcomp)  # fmt: skip
        for ii in range(tree_bodynum[tree] - 1):
            i = b + tree_bodynum[tree] - 1 - ii
            for c in range(6):
                to = 6 * (Bo + body_parentid[i]) + c
                cfrc_bias[to] = cfrc_bias[to] + cfrc_bias[6 * (Bo + i) + c]
        for k in range(da, da + dn):
            damper = -dof_damping[k] * qvel[Do + k]
            if (disableflags & DSBL_DAMPER) != 0:
                damper = 0.0
            total = qfrc_spring[Do + k] + damper
            # 3.4.0 passes the compensation on only at joints of bodies that are compensated themselves
            if jnt_actgravcomp[dof_jntid[k]] == 0 and body_gravcomp[dof_bodyid[k]] != 0.0:
                total += qfrc_gravcomp[Do + k]
            qfrc_damper[Do + k] = damper
            qfrc_passive[Do + k] = total
            qfrc_bias[Do + k] = ld6(cdof, Do + k).dot(ld6(cfrc_bias, Bo + dof_bodyid[k]))


@kernel
def tree_acceleration(
    nworld: ti.i32, nbody: ti.i32, nv: ti.i32, nC: ti.i32, ntree: ti.i32,
    qfrc_passive: F, qfrc_bias: F, qfrc_applied: F, qfrc_actuator: F, xfrc_applied: F,
    body_parentid: I, body_rootid: I, body_dofadr: I, body_dofnum: I, tree_bodyadr: I, tree_bodynum: I, tree_dofadr: I,
    tree_dofnum: I, dof_parentid: I, M_rownnz: I, M_rowadr: I, M_colind: I, xipos: F, subtree_com: F, cdof: F,
    qLD: F, qLDiagInv: F, qfrc_smooth: F, qacc_smooth: F,
):  # fmt: skip
    """qfrc_smooth and qacc_smooth; parallel over worlds and trees. Seed 000, stages 19 to 21."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wt in range(nworld * ntree):
        w = wt // ntree
        tree = wt - w * ntree
        Bo = w * nbody
        Do = w * nv
        b = tree_bodyadr[tree]
        da = tree_dofadr[tree]
        dn = tree_dofnum[tree]
        for k in range(Do + da, Do + da + dn):
            qfrc_smooth[k] = qfrc_passive[k] - qfrc_bias[k] + qfrc_applied[k] + qfrc_actuator[k]
        for i in range(b, b + tree_bodynum[tree]):
            f = ld6(xfrc_applied, Bo + i)
            if any_nonzero6(f):
                add_wrench(i, Bo, Do, ld3(subtree_com, Bo + body_rootid[i]), ld3(xipos, Bo + i),
                           vec3(f[0], f[1], f[2]), vec3(f[3], f[4], f[5]),
                           body_parentid, body_dofadr, body_dofnum, dof_parentid, cdof, qfrc_smooth)  # fmt: skip
        for k in range(Do + da, Do + da + dn):
            qacc_smooth[k] = qfrc_smooth[k]
        solve_tree(da, dn, w * nC, Do, qLD, qLDiagInv, M_rownnz, M_rowadr, M_colind, qacc_smooth)
