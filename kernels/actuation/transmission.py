"""Lengths, velocities and moments of actuators, by what they act on. Seed 000, "Actuation model"; seed 001, "general".

A moment is a sparse row: the dofs in it, `moment_dof`, are a table of the model (tisim/model/tables/actuation.py). The
compiler has the same in NumPy (tisim/mjcf/reference/transmission.py); tests hold the two together.
"""

from ..constants import (
    BALL,
    DSBL_ACTUATION,
    FREE,
    TASK_CRANK_ACT,
    TASK_JOINT_ACT,
    TASK_SITE_ACT,
    TASK_TENDON_ACT,
    TRN_JOINTINPARENT,
)
from ..rotation import at4, conj_quat, mul_quat, normalize_quat, quat_to_rotvec, rotate
from ..sleep.awake import task_at, task_count
from ..spatial import cross, head, join, tail
from ..types import FP, SERIAL, func, kernel, narrow, ti, vec3, vec6


@func
def finish(m, d, w, i, length):
    """Length and velocity of actuator i, once its moment stands."""
    velocity = FP(0.0)  # stays so where actuation is disabled
    for e in range(m.moment_adr[i], m.moment_adr[i] + m.moment_num[i]):
        if m.opt.disableflags & DSBL_ACTUATION == 0:
            velocity += d.moment[w * m.nmoment + e] * d.qvel[w * m.nv + m.moment_dof[e]]
    d.actuator_length[w * m.nu + i] = length
    d.actuator_velocity[w * m.nu + i] = velocity


@func
def work(m, d, i, point, wrench):
    """Work of a force and torque at a point [(force, torque)] when world-major dof i moves by one."""
    axis = d.cdof[i]
    b = m.dof_bodyid[i % m.nv]
    arm = point - d.subtree_com[i // m.nv * m.nbody + m.body_rootid[b]]
    return head(wrench).dot(tail(axis) + cross(head(axis), arm)) + tail(wrench).dot(head(axis))


@kernel
def joint_actuators(m, d):
    """Scalar joints: gear[0] q. Balls: the rotation vector along gear. Free joints: a wrench, without a length.

    Parallel over (world, actuator of a joint).
    """
    n_task = task_count(m, d, TASK_JOINT_ACT, m.njointact)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_JOINT_ACT, place)
        w = x // m.njointact
        i = m.joint_actuator[x % m.njointact]
        j = m.actuator_trnid[i][0]
        q = w * m.nq + m.jnt_qposadr[j]
        kind = m.jnt_type[j]
        gear = vec6(m.actuator_gear[i])
        length = FP(0.0)
        if kind == BALL or kind == FREE:
            quat = normalize_quat(narrow(at4(d.qpos, q + ti.select(kind == FREE, 3, 0))))
            turn = head(gear)
            if kind == FREE:
                turn = tail(gear)
            if m.actuator_trntype[i] == TRN_JOINTINPARENT:
                turn = rotate(conj_quat(quat), turn)
            if kind == FREE:
                gear = join(head(gear), turn)
            else:
                gear = join(turn, turn)
                length = quat_to_rotvec(quat).dot(turn)
        else:
            length = gear[0] * narrow(d.qpos[q])
        a = w * m.nmoment + m.moment_adr[i]
        for c in ti.static(range(6)):
            if c < m.moment_num[i]:
                d.moment[a + c] = gear[c]
        finish(m, d, w, i, length)


@kernel
def tendon_actuators(m, d):
    """Length of the tendon times gear[0]; parallel over (world, actuator of a tendon)."""
    n_task = task_count(m, d, TASK_TENDON_ACT, m.ntendonact)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_TENDON_ACT, place)
        w = x // m.ntendonact
        i = m.tendon_actuator[x % m.ntendonact]
        gear = m.actuator_gear[i][0]
        for e in range(m.moment_adr[i], m.moment_adr[i] + m.moment_num[i]):
            d.moment[w * m.nmoment + e] = gear * d.ten_J[w * m.ntendonJ + m.moment_place[e]]
        finish(m, d, w, i, gear * d.ten_length[w * m.ntendon + m.actuator_trnid[i][0]])


@func
def pose_apart(m, d, w, site, ref):
    """Position and rotation vector of a site in the frame of another one.

    3.4.0 multiplies the quaternions of a site and its body in this order.
    """
    gap = d.site_xpos[w * m.nsite + site] - d.site_xpos[w * m.nsite + ref]
    mat = d.site_xmat[w * m.nsite + ref]
    q1 = mul_quat(m.site_quat[site], narrow(d.xquat[w * m.nbody + m.site_bodyid[site]]))
    q2 = mul_quat(m.site_quat[ref], narrow(d.xquat[w * m.nbody + m.site_bodyid[ref]]))
    return join(mat.transpose() @ gap, quat_to_rotvec(mul_quat(conj_quat(q2), q1)))


@kernel
def site_actuators(m, d):
    """A force and torque in the frame of a site, or its pose against another site, in the frame of that one.

    Parallel over (world, actuator of a site).
    """
    n_task = task_count(m, d, TASK_SITE_ACT, m.nsiteact)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_SITE_ACT, place)
        w = x // m.nsiteact
        i = m.site_actuator[x % m.nsiteact]
        site = m.actuator_trnid[i][0]
        ref = m.actuator_trnid[i][1]
        gear = vec6(m.actuator_gear[i])
        length = FP(0.0)
        frame = site
        if ref >= 0:
            length = pose_apart(m, d, w, site, ref).dot(gear)
            frame = ref
        mat = d.site_xmat[w * m.nsite + frame]
        wrench = join(mat @ head(gear), mat @ tail(gear))
        for e in range(m.moment_adr[i], m.moment_adr[i] + m.moment_num[i]):
            at = ti.select(m.moment_place[e] == 1, site, ref)
            sign = ti.select(m.moment_place[e] == 1, FP(1.0), FP(-1.0))
            force = work(m, d, w * m.nv + m.moment_dof[e], d.site_xpos[w * m.nsite + at], wrench)
            d.moment[w * m.nmoment + e] = sign * force
        finish(m, d, w, i, length)


@kernel
def crank_actuators(m, d):
    """A rod of given length joins the crank's pin to a slider, which moves along the z axis of its site.

    Parallel over (world, slider-crank). Where the rod does not reach, the length is the pin's place along the axis.
    """
    n_task = task_count(m, d, TASK_CRANK_ACT, m.ncrankact)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_CRANK_ACT, place)
        w = x // m.ncrankact
        i = m.crank_actuator[x % m.ncrankact]
        gear = m.actuator_gear[i][0]
        rod = m.actuator_cranklength[i]
        pin = d.site_xpos[w * m.nsite + m.actuator_trnid[i][0]]
        slider = w * m.nsite + m.actuator_trnid[i][1]
        mat = d.site_xmat[slider]
        axis = vec3(mat[0, 2], mat[1, 2], mat[2, 2])
        gap = pin - d.site_xpos[slider]
        along = gap.dot(axis)
        square = along * along + rod * rod - gap.dot(gap)
        length = along
        by_axis = gap
        by_gap = axis
        if square > 0.0:
            root = ti.sqrt(square)
            length -= root
            by_axis = gap * (1.0 - along / root)
            by_gap = axis * (1.0 - along / root) + gap / root
        for e in range(m.moment_adr[i], m.moment_adr[i] + m.moment_num[i]):
            k = w * m.nv + m.moment_dof[e]
            s = FP(0.0)
            for side in range(2):
                if m.moment_place[e] >> side & 1 == 1:
                    at = pin
                    force = join(by_gap, vec3(0.0))
                    if side == 1:
                        at = d.site_xpos[slider]
                        force = join(-by_gap, cross(axis, by_axis))
                    s += work(m, d, k, at, force)
            d.moment[w * m.nmoment + e] = gear * s
        finish(m, d, w, i, gear * length)
