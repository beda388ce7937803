"""Bodies of kinematic trees in the second dynamics: where they are before a step, what is measured of them behind it.

A body's own pose and twist (lcp_pose, lcp_twist) are the state; qpos and qvel follow from them. Where qpos or qvel of
a tree is not what was measured last, the user has written it, and the tree is set anew.
"""

from ..constants import BALL, FREE, HINGE, SLIDE
from ..rotation import (
    at3,
    at4,
    axis_angle_to_quat,
    conj_quat,
    mul_quat,
    normalize_quat,
    quat_to_mat,
    quat_to_rotvec,
    rotate,
)
from ..sleep.awake import is_tree_asleep, tree_at, tree_count
from ..smooth.gravity import gravity_of
from ..smooth.kinematics import place_of
from ..types import SERIAL, called, func, kernel, narrow, ti, vec3, vec4
from .bodies import BODY_SIZE, MIDPOINT, SCALE_SIZE, WAY, clear_body, scale_body, still_dofs
from .joints import dof_row, meeting, reference_of
from .laws import hinge_angle, slid
from .motions import anchor_of, dual_axis, is_mixed, is_slide, part_of
from .poses import moved

POSE_SIZE, TWIST_SIZE = 8, 8  # numbers of a body in lcp_pose: frame, quaternion; in lcp_twist: of its centre of mass
NEW_POSE, NEW_TWIST = 1, 2  # bits of lcp_new


@kernel
def tree_poses(m, d):
    """Frames of the bodies of trees from their own poses, where qpos is what was measured of these; parallel over
    worlds and trees."""
    n = d.nworld * m.ntree
    some = 0
    if ti.static(m.has.sleep):
        some = ti.cast(d.nwhole == 0, ti.i32)
        n = ti.select(some == 1, tree_count(m, d), n)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        wt = k
        if some == 1:
            wt = tree_at(m, d, k)
        w = wt // m.ntree
        first = m.tree_bodyadr[wt - w * m.ntree]
        end = first + m.tree_bodynum[wt - w * m.ntree]
        new = 0
        if d.lcp_warm[w] == 0 and not is_tree_asleep(m, d, wt):
            new = NEW_POSE
        new |= written_tree(m, d, w, wt - w * m.ntree)
        if new & NEW_POSE:
            new |= NEW_TWIST
        d.lcp_new[wt] = new
        for b in range(first, end):
            wb = w * m.nbody + b
            if new & NEW_POSE:
                keep_pose(d.lcp_pose, wb, narrow(d.xpos[wb]), narrow(d.xquat[wb]))
            else:
                quat = at4(d.lcp_pose, POSE_SIZE * wb + 3)
                mat = quat_to_mat(quat)
                d.xpos[wb] = at3(d.lcp_pose, POSE_SIZE * wb)
                d.xquat[wb] = quat
                d.xmat[wb] = mat
                d.xipos[wb] = narrow(d.xpos[wb]) + mat @ m.body_place[w, b]
                d.ximat[wb] = quat_to_mat(mul_quat(quat, m.body_turn[w, b]))


@func
def written_tree(m, d, w, t):
    """Bits of what the user has written of a tree's joints."""
    new = 0
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        new |= written(m, d, w, b)
    return new


@func
def written(m, d, w, b):
    """Bits of what the user has written of the joints of body b, also where what was measured is no number, to which
    nothing compares, not even by !=."""
    new = 0
    for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
        q, i = w * m.nq + m.jnt_qposadr[j], w * m.nv + m.jnt_dofadr[j]
        nq, nv = 1, 1
        if m.jnt_type[j] == FREE:
            nq, nv = 7, 6
        elif m.jnt_type[j] == BALL:
            nq, nv = 4, 3
        for c in range(nq):
            if not narrow(d.qpos[q + c]) == d.lcp_qpos[q + c]:
                new |= NEW_POSE
        for c in range(nv):
            if not d.qvel[i + c] == d.lcp_qvel[i + c]:
                new |= NEW_TWIST
    return new


@func
def is_shifted(m, d, w, t):
    """Whether a sleeping tree is to wake: the user has written its joints, or something of the model by which a parent
    has a body elsewhere."""
    shifted = written_tree(m, d, w, t) > 0
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        if not shifted:
            pos, quat = place_of(m, d, w, b)
            for c in ti.static(range(3)):
                shifted = shifted or not narrow(pos[c]) == d.lcp_rest[POSE_SIZE * wb + c]
            for c in ti.static(range(4)):
                shifted = shifted or not narrow(quat[c]) == d.lcp_rest[POSE_SIZE * wb + 3 + c]
    return shifted


@ti.func
def keep_pose(pose: ti.template(), wb, x, quat):
    """Writes a frame into lcp_pose."""
    for c in ti.static(range(3)):
        pose[POSE_SIZE * wb + c] = x[c]
    for c in ti.static(range(4)):
        pose[POSE_SIZE * wb + 3 + c] = quat[c]


@func
def rest_tree(m, d, wt):
    """A tree that has fallen asleep: its bodies do not move, and are measured where they are."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        clear_body(m, d, wb)
        still_dofs(m, d, w, b)
        keep_pose(d.lcp_pose, wb, narrow(d.xpos[wb]), narrow(d.xquat[wb]))
        if ti.static(m.has.sleep):
            pos, quat = place_of(m, d, w, b)
            keep_pose(d.lcp_rest, wb, narrow(pos), narrow(quat))
        for c in ti.static(range(6)):
            d.lcp_twist[TWIST_SIZE * wb + c] = 0.0
    for q in range(w * m.nq + m.tree_qposadr[t], w * m.nq + m.tree_qposadr[t] + m.tree_qposnum[t]):
        d.lcp_qpos[q] = narrow(d.qpos[q])
    for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
        d.lcp_qvel[i] = d.qvel[i]


@called("maximal")
def begin_tree(m, d, wt: ti.i32):
    """Bodies of a tree of all worlds before a step: velocities and forces."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        v, turn = at3(d.lcp_twist, TWIST_SIZE * wb), at3(d.lcp_twist, TWIST_SIZE * wb + 3)
        if d.lcp_new[wt] & NEW_TWIST:
            vel = d.cvel[wb]
            turn = vec3(vel[0], vel[1], vel[2])
            v = vec3(vel[3], vel[4], vel[5]) + turn.cross(d.xipos[wb] - d.subtree_com[w * m.nbody + first])
        clear_body(m, d, wb)
        for c in ti.static(range(4)):
            d.lcp_now[POSE_SIZE * wb + 3 + c] = narrow(d.xquat[wb][c])
        f = d.xfrc_applied[wb]
        force = vec3(f[0], f[1], f[2]) + m.body_mass[w, b] * gravity_of(m, w)
        scale_body(m, d, wb, v, turn, force, vec3(f[3], f[4], f[5]))
    for b in range(first, first + m.tree_bodynum[t]):
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            n = 1
            if m.jnt_type[j] == FREE:
                n = 6
            elif m.jnt_type[j] == BALL:
                n = 3
            for k in range(n):
                i = w * m.nv + m.jnt_dofadr[j] + k
                force = d.qfrc_applied[i] + d.qfrc_passive[i]
                if m.nu > 0:
                    force += d.qfrc_actuator[i]
                if m.jnt_type[j] != FREE:  # springs and dampers are rows
                    force -= d.qfrc_spring[i] + d.qfrc_damper[i]
                if m.jnt_type[j] == HINGE or m.jnt_type[j] == SLIDE:  # and actuators
                    for e in range(m.servo_adr[j], m.servo_adr[j + 1]):
                        a = m.servo[e]
                        force -= m.actuator_gear[a][0] * d.actuator_force[w * m.nu + a]
                if force != 0.0:
                    push_dof(m, d, w, b, j, k, force)


@func
def push_dof(m, d, w, b, j, k, force):
    """Adds a force on dof k of joint j of body b to what pushes that body and its parent in a substep."""
    wb, wp = w * m.nbody + b, w * m.nbody + m.body_parentid[b]
    lin_p, ang_p, lin_c, ang_c = dof_row(m, d, w, b, j, k, 0)
    h = m.opt.timestep / d.lcp_substeps
    push_body(m, d, wb, h * force * lin_c, h * force * ang_c)
    if m.body_treeid[m.body_parentid[b]] >= 0:
        push_body(m, d, wp, h * force * lin_p, h * force * ang_p)


@func
def push_body(m, d, wb, lin, ang):
    """Adds a world impulse, and one of rotation, to what a body gets in each substep, and to the first of these."""
    turn = d.ximat[wb].transpose() @ ang
    for c in ti.static(range(3)):
        push = d.lcp_scale[SCALE_SIZE * wb] * lin[c]
        spin = d.lcp_scale[SCALE_SIZE * wb + 1 + c] * turn[c]
        d.lcp_push[TWIST_SIZE * wb + c] = d.lcp_push[TWIST_SIZE * wb + c] + push
        d.lcp_push[TWIST_SIZE * wb + 3 + c] = d.lcp_push[TWIST_SIZE * wb + 3 + c] + spin
        d.lcp_body[BODY_SIZE * wb + c] = d.lcp_body[BODY_SIZE * wb + c] + push
        d.lcp_body[BODY_SIZE * wb + 3 + c] = d.lcp_body[BODY_SIZE * wb + 3 + c] + spin
        d.lcp_from[TWIST_SIZE * wb + c] = d.lcp_from[TWIST_SIZE * wb + c] + push
        d.lcp_from[TWIST_SIZE * wb + 3 + c] = d.lcp_from[TWIST_SIZE * wb + 3 + c] + spin


@called("maximal")
def end_tree(m, d, wt: ti.i32):
    """Poses and twists of a tree's bodies behind a step, then what is measured of them."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        quat, v, turn = at4(d.lcp_now, POSE_SIZE * wb + 3), vec3(0.0), vec3(0.0)
        if d.lcp_rotation == MIDPOINT:
            v = d.lcp_scale[SCALE_SIZE * wb] * at3(d.lcp_body, BODY_SIZE * wb)
            turn = at3(d.lcp_scale, SCALE_SIZE * wb + 1) * at3(d.lcp_body, BODY_SIZE * wb + 3)
            turn = rotate(mul_quat(quat, m.body_iquat[w, b]), turn)
        else:
            quat, v, turn, _holds = moved(m, d, wb, at4(d.lcp_pose, POSE_SIZE * wb + 3), False)
        x = d.xipos[wb] + d.lcp_scale[SCALE_SIZE * wb] * at3(d.lcp_body, BODY_SIZE * wb + WAY)
        keep_pose(d.lcp_pose, wb, x - rotate(quat, m.body_ipos[w, b]), quat)
        for c in ti.static(range(3)):
            d.lcp_twist[TWIST_SIZE * wb + c] = v[c]
            d.lcp_twist[TWIST_SIZE * wb + 3 + c] = turn[c]
    for b in range(first, first + m.tree_bodynum[t]):
        measure(m, d, w, b)


@func
def frame_of(m, d, w, b):
    """(position, quaternion, velocity of the centre of mass, angular velocity) of body b behind a step."""
    wb = w * m.nbody + b
    x, quat = narrow(d.xpos[wb]), narrow(d.xquat[wb])
    v, turn = vec3(0.0), vec3(0.0)
    if m.body_treeid[b] >= 0:
        x, quat = at3(d.lcp_pose, POSE_SIZE * wb), at4(d.lcp_pose, POSE_SIZE * wb + 3)
        v, turn = at3(d.lcp_twist, TWIST_SIZE * wb), at3(d.lcp_twist, TWIST_SIZE * wb + 3)
    return x, quat, v, turn


@func
def measure(m, d, w, b):
    """qpos, qvel and qacc of the joint of body b, and how far the body is from where they have it."""
    wb = w * m.nbody + b
    xc, qc, vc, wc = frame_of(m, d, w, b)
    xp, qp, vp, wp = frame_of(m, d, w, m.body_parentid[b])
    off = vec3(0.0)
    tilt = vec4(1.0, 0.0, 0.0, 0.0)
    if m.body_jntnum[b] > 0 and m.jnt_type[m.body_jntadr[b]] == FREE:
        j = m.body_jntadr[b]
        arm = rotate(qc, m.body_ipos[w, b])
        spin = rotate(conj_quat(qc), wc)
        v = vc - wc.cross(arm)
        for c in ti.static(range(4)):
            set_qpos(m, d, w, m.jnt_qposadr[j] + 3 + c, qc[c])
        for c in ti.static(range(3)):
            set_qpos(m, d, w, m.jnt_qposadr[j] + c, xc[c])
            set_qvel(m, d, w, m.jnt_dofadr[j] + c, v[c])
            set_qvel(m, d, w, m.jnt_dofadr[j] + 3 + c, spin[c])
    else:
        x, turn = reference_of(m, w, b, xp, qp)  # where the parent has the body while its joint is at its reference
        rest = mul_quat(conj_quat(turn), qc)
        at = vec3(0.0)
        if m.body_jntnum[b] > 0:
            j = m.body_jntadr[b]
            q = m.jnt_qposadr[j]
            if not is_slide(m, j):
                at = narrow(m.jnt_pos[j])
            if m.jnt_type[j] == BALL:
                rest = normalize_quat(rest)
                before = narrow(at4(d.qpos, w * m.nq + q))
                rest *= ti.select(before.dot(rest) < 0.0, -1.0, 1.0)
                spin = rotate(conj_quat(qc), wc - wp)
                for c in ti.static(range(4)):
                    set_qpos(m, d, w, q + c, rest[c])
                for c in ti.static(range(3)):
                    set_qvel(m, d, w, m.jnt_dofadr[j] + c, spin[c])
                tilt = rest
            else:
                if is_mixed(m, b):
                    at = anchor_of(m, w, b)
                slides = vec3(0.0)  # their way
                for k in range(j, j + m.body_jntnum[b]):
                    a = m.jnt_qposadr[k]
                    s = dual_axis(m, d, w, b, k, turn, qc)
                    if is_slide(m, k):
                        way = slid(m, d, w, b, k, x, turn, xc, qc)
                        set_qvel(m, d, w, m.jnt_dofadr[k], slide_speed(m, d, w, b, s))
                        set_qpos(m, d, w, a, narrow(m.qpos0[a]) + way)
                        slides += way * slide_axis(m, b, k, turn, qc)
                    else:
                        speed = s.dot(wc - wp)
                        expected = narrow(d.qpos[w * m.nq + a]) - narrow(m.qpos0[a]) + m.opt.timestep * speed
                        angle = hinge_angle(part_of(m, d, w, b, k, rest), narrow(m.jnt_axis[k]), expected)
                        tilt = mul_quat(tilt, axis_angle_to_quat(narrow(m.jnt_axis[k]), angle))
                        set_qpos(m, d, w, a, narrow(m.qpos0[a]) + angle)
                        set_qvel(m, d, w, m.jnt_dofadr[k], speed)
                x += slides
        off = xc + rotate(qc, at) - x - rotate(turn, at)
        tilt = mul_quat(conj_quat(tilt), rest)
    d.lcp_drift[wb] = ti.math.vec2(off.norm(), quat_to_rotvec(tilt).norm())


@func
def slide_axis(m, b, j, turn, qc):
    """World axis of slide j of body b: the parent's, or, where hinges are before it, the child's."""
    axis = rotate(turn, narrow(m.jnt_axis[j]))
    if not is_slide(m, m.body_jntadr[b]):
        axis = rotate(qc, narrow(m.jnt_axis[j]))
    return axis


@func
def slide_speed(m, d, w, b, s):
    """Velocity along a slide of body b behind a step, s being the dual of its axis."""
    p = m.body_parentid[b]
    xc, qc, vc, wc = frame_of(m, d, w, b)
    xp, qp, vp, wp = frame_of(m, d, w, p)
    xc += rotate(qc, m.body_ipos[w, b])
    xp += rotate(qp, m.body_ipos[w, p])
    speed = s.dot(vc - vp - 0.5 * (wp + wc).cross(xc - xp))
    if is_mixed(m, b):
        at, _off = meeting(m, w, b, xp, qp, xc, qc)
        speed = s.dot(vc + wc.cross(at - xc) - vp - wp.cross(at - xp))
    return speed


@func
def set_qpos(m, d, w, q, value):
    """A measured number of qpos."""
    d.qpos[w * m.nq + q] = value
    d.lcp_qpos[w * m.nq + q] = value


@func
def set_qvel(m, d, w, i, value):
    """A measured number of qvel, and of qacc."""
    d.qacc[w * m.nv + i] = (value - d.qvel[w * m.nv + i]) / m.opt.timestep
    d.qvel[w * m.nv + i] = value
    d.lcp_qvel[w * m.nv + i] = value
