"""Velocities of bodies, passive and bias forces, and the acceleration without constraints."""

from ..constants import BALL, DSBL_DAMPER, DSBL_SPRING, FREE
from ..rotation import any_nonzero6
from ..sleep.awake import share_at, share_count
from ..spatial import cross, head, join, momentum, tail
from ..types import GPU, SERIAL, func, kernel, six, store, ti, vec3, vec6
from .gravity import gravity_of
from .inertia import add_wrench, arm_of, solve_tree
from .passive import spring_stretch


@ti.func
def cross_motion(v, s):
    """Rate of the motion axis s carried along at velocity v."""
    return join(cross(head(v), head(s)), cross(head(v), tail(s)) + cross(tail(v), head(s)))


@ti.func
def cross_force(v, f):
    """Rate of the momentum f carried along at velocity v."""
    return join(cross(head(v), head(f)) + cross(tail(v), tail(f)), cross(head(v), tail(f)))


@kernel
def tree_velocity(m, d):
    """cvel, cdof_dot, passive forces and the bias force; parallel over worlds and trees. Seed 000, stages 14 to 18."""
    both = DSBL_SPRING | DSBL_DAMPER  # 3.4.0: disabled together they also disable gravity compensation
    compensates = m.opt.disableflags & both != both
    n = share_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        w, t = share_at(m, d, at)
        if t < 0:
            continue
        first = m.tree_bodyadr[t]
        gravity = gravity_of(m, w)
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qfrc_spring[i] = 0.0
            d.qfrc_gravcomp[i] = 0.0
        for b in range(first, first + m.tree_bodynum[t]):
            body_velocity(m, d, w, b, first, gravity)
            if m.body_compensation[b] != 0.0 and compensates:
                force = -m.body_mass[w, b] * m.body_compensation[b] * gravity
                torque = cross(arm_of(m, d, w, b), force)
                add_wrench(m, d, w, b, join(torque, force), d.qfrc_gravcomp)
        for k in range(m.tree_bodynum[t] - 1):
            b = first + m.tree_bodynum[t] - 1 - k
            up = w * m.nbody + m.body_parentid[b]
            store(d.wrench, up, six(d.wrench[up]) + six(d.wrench[w * m.nbody + b]))
        for b in range(first, first + m.tree_bodynum[t]):
            passive_forces(m, d, w, b)


@func
def body_velocity(m, d, w, b, root, gravity):
    """cvel, cdof_dot, joint springs, acceleration at qacc = 0 and the wrench that it takes, of body b."""
    e = w * m.nbody + b
    vel = vec6(0.0)
    acc = join(vec3(0.0), -gravity)
    if b > root:
        vel = d.cvel[w * m.nbody + m.body_parentid[b]]
        acc = d.cacc_bias[w * m.nbody + m.body_parentid[b]]
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        k = w * m.nv + m.jnt_dofadr[j]
        num = 1
        if m.jnt_type[j] == FREE:
            for c in ti.static(range(3)):
                vel[3 + c] += d.qvel[k + c]
                d.cdof_dot[k + c] = vec6(0.0)
            k += 3
        if m.jnt_type[j] == FREE or m.jnt_type[j] == BALL:
            num = 3
        frame = vel
        for i in range(k, k + num):
            axis = d.cdof[i]
            rate = cross_motion(frame, axis)
            d.cdof_dot[i] = rate
            vel += d.qvel[i] * axis
            acc += d.qvel[i] * rate
        if m.jnt_stiffness[w, j] != 0.0 and m.opt.disableflags & DSBL_SPRING == 0:
            joint_spring(m, d, w, j)
    d.cvel[e] = vel
    d.cacc_bias[e] = acc
    store(d.wrench, e, momentum(d.cinert, e, acc) + cross_force(vel, momentum(d.cinert, e, vel)))


@func
def joint_spring(m, d, w, j):
    """qfrc_spring of joint j."""
    s = -m.jnt_stiffness[w, j] * spring_stretch(m, d, w, j)
    k = w * m.nv + m.jnt_dofadr[j]
    if m.jnt_type[j] == FREE:
        for c in ti.static(range(3)):
            d.qfrc_spring[k + c] = s[c]
        k += 3
    d.qfrc_spring[k] = s[3]
    if m.jnt_type[j] == FREE or m.jnt_type[j] == BALL:
        d.qfrc_spring[k + 1] = s[4]
        d.qfrc_spring[k + 2] = s[5]


@func
def passive_forces(m, d, w, b):
    """Damper, sum of the passive forces and bias force of the dofs of body b."""
    bias = six(d.wrench[w * m.nbody + b])
    compensated = m.body_compensation[b] != 0.0
    damps = m.opt.disableflags & DSBL_DAMPER == 0
    for k in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
        i = w * m.nv + k
        damper = -m.dof_damping[w, k] * d.qvel[i]
        if not damps:
            damper = 0.0
        total = d.qfrc_spring[i] + damper
        if compensated:  # 3.4.0 passes the compensation on only at joints of bodies that are compensated themselves
            if m.jnt_actgravcomp[m.dof_jntid[k]] == 0:
                total += d.qfrc_gravcomp[i]
        d.qfrc_damper[i] = damper
        d.qfrc_passive[i] = total
        d.qfrc_bias[i] = d.cdof[i].dot(bias)


@kernel
def tree_acceleration(m, d):
    """qfrc_smooth and qacc_smooth; parallel over worlds and trees. Seed 000, stages 19 to 21."""
    n = share_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(n):
        w, t = share_at(m, d, at)
        if t < 0:
            continue
        smooth_forces(m, d, w, t)
        solve_tree(m, d, w, t, d.qLD, d.qLDiagInv, d.qacc_smooth)
        if ti.static(GPU):  # as `unconstrained`, which is a task less
            i0 = w * m.nv + m.tree_dofadr[t]
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.qacc[i] = d.qacc_smooth[i]
                d.qfrc_constraint[i] = 0.0


@func
def smooth_forces(m, d, w, t):
    """qfrc_smooth of tree t, in qacc_smooth, too."""
    i0 = w * m.nv + m.tree_dofadr[t]
    for i in range(i0, i0 + m.tree_dofnum[t]):
        d.qfrc_smooth[i] = d.qfrc_passive[i] - d.qfrc_bias[i] + d.qfrc_applied[i] + d.qfrc_actuator[i]
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        f = d.xfrc_applied[w * m.nbody + b]  # force, then torque
        if any_nonzero6(f):
            torque = tail(f) + cross(arm_of(m, d, w, b), head(f))
            add_wrench(m, d, w, b, join(torque, head(f)), d.qfrc_smooth)
    for i in range(i0, i0 + m.tree_dofnum[t]):
        d.qacc_smooth[i] = d.qfrc_smooth[i]
