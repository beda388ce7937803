"""Velocities of bodies, passive and bias forces, and the acceleration without constraints."""

from ..constants import BALL, DSBL_DAMPER, DSBL_GRAVITY, DSBL_SPRING, FREE
from ..rotation import any_nonzero6
from ..types import kernel, ti, vec3, vec6
from .inertia import add_wrench, mul_inertia, solve_tree
from .passive import spring_stretch


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
def tree_velocity(m, d):
    """cvel, cdof_dot, passive forces and the bias force; parallel over worlds and trees. Seed 000, stages 14 to 18."""
    gravity = vec3(m.opt.gravity)
    passive = 1  # 3.4.0: springs and dampers disabled together also disable gravity compensation
    if m.opt.disableflags & DSBL_SPRING != 0 and m.opt.disableflags & DSBL_DAMPER != 0:
        passive = 0
    if m.opt.disableflags & DSBL_GRAVITY != 0:
        gravity = vec3(0.0, 0.0, 0.0)
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        tree = wt - w * m.ntree
        Bo = w * m.nbody
        Do = w * m.nv
        b = m.tree_bodyadr[tree]
        da = m.tree_dofadr[tree]
        dn = m.tree_dofnum[tree]
        for k in range(da, da + dn):
            d.qfrc_spring[Do + k] = 0.0
            d.qfrc_gravcomp[Do + k] = 0.0
        for i in range(b, b + m.tree_bodynum[tree]):
            e = Bo + i
            vel = vec6(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            acc = vec6(0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2])
            if i > b:
                vel = d.cvel[Bo + m.body_parentid[i]]
                acc = d.cacc_bias[Bo + m.body_parentid[i]]
            for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
                kind = m.jnt_type[j]
                k = m.jnt_dofadr[j]
                if kind == FREE:
                    for c in ti.static(range(3)):
                        vel[3 + c] += d.qvel[Do + k + c]
                        d.cdof_dot[Do + k + c] = vec6(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                    k += 3
                num = 1
                if kind == FREE or kind == BALL:
                    num = 3
                frame = vel
                for delta in range(Do + k, Do + k + num):
                    axis = d.cdof[delta]
                    rate = cross_motion(frame, axis)
                    d.cdof_dot[delta] = rate
                    vel += d.qvel[delta] * axis
                    acc += d.qvel[delta] * rate
                if m.jnt_stiffness[j] != 0.0 and m.opt.disableflags & DSBL_SPRING == 0:
                    q = m.jnt_qposadr[j]
                    s = -m.jnt_stiffness[j] * spring_stretch(m, d, kind, w * m.nq + q, q)
                    if kind == FREE:
                        for c in ti.static(range(3)):
                            d.qfrc_spring[Do + k - 3 + c] = s[c]
                    d.qfrc_spring[Do + k] = s[3]
                    if num == 3:
                        d.qfrc_spring[Do + k + 1] = s[4]
                        d.qfrc_spring[Do + k + 2] = s[5]
            d.cvel[e] = vel
            d.cacc_bias[e] = acc
            d.cfrc_bias[e] = mul_inertia(d.cinert, e, acc) + cross_force(vel, mul_inertia(d.cinert, e, vel))
            if m.body_gravcomp[i] != 0.0 and passive == 1:
                arm = d.xipos[e] - d.subtree_com[Bo + m.body_rootid[i]]
                force = -m.body_mass[i] * m.body_gravcomp[i] * gravity
                add_wrench(m, d, i, Do, arm, force, vec3(0.0, 0.0, 0.0), d.qfrc_gravcomp)
        for ii in range(m.tree_bodynum[tree] - 1):
            i = b + m.tree_bodynum[tree] - 1 - ii
            for c in range(6):
                d.cfrc_bias[Bo + m.body_parentid[i]][c] = (
                    d.cfrc_bias[Bo + m.body_parentid[i]][c] + d.cfrc_bias[Bo + i][c]
                )
        for k in range(da, da + dn):
            damper = -m.dof_damping[k] * d.qvel[Do + k]
            if m.opt.disableflags & DSBL_DAMPER != 0:
                damper = 0.0
            total = d.qfrc_spring[Do + k] + damper
            # 3.4.0 passes the compensation on only at joints of bodies that are compensated themselves
            if m.jnt_actgravcomp[m.dof_jntid[k]] == 0 and m.body_gravcomp[m.dof_bodyid[k]] != 0.0:
                total += d.qfrc_gravcomp[Do + k]
            d.qfrc_damper[Do + k] = damper
            d.qfrc_passive[Do + k] = total
            d.qfrc_bias[Do + k] = d.cdof[Do + k].dot(d.cfrc_bias[Bo + m.dof_bodyid[k]])


@kernel
def tree_acceleration(m, d):
    """qfrc_smooth and qacc_smooth; parallel over worlds and trees. Seed 000, stages 19 to 21."""
    ti.loop_config(serialize=SERIAL)  # noqa: F821
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        tree = wt - w * m.ntree
        Bo = w * m.nbody
        Do = w * m.nv
        b = m.tree_bodyadr[tree]
        da = m.tree_dofadr[tree]
        dn = m.tree_dofnum[tree]
        for k in range(Do + da, Do + da + dn):
            d.qfrc_smooth[k] = d.qfrc_passive[k] - d.qfrc_bias[k] + d.qfrc_applied[k] + d.qfrc_actuator[k]
        for i in range(b, b + m.tree_bodynum[tree]):
            f = d.xfrc_applied[Bo + i]
            if any_nonzero6(f):
                arm = d.xipos[Bo + i] - d.subtree_com[Bo + m.body_rootid[i]]
                add_wrench(m, d, i, Do, arm, vec3(f[0], f[1], f[2]), vec3(f[3], f[4], f[5]), d.qfrc_smooth)
        for k in range(Do + da, Do + da + dn):
            d.qacc_smooth[k] = d.qfrc_smooth[k]
        solve_tree(m, d, da, dn, w * m.nC, Do, d.qLD, d.qLDiagInv, d.qacc_smooth)
