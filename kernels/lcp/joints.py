"""Joint rows of the second dynamics: of each body of a tree, those that hold it to its parent. Seed 002, "joint types".

Row r of body b says J_p u_p + J_c u_c = bias - soft * impulse for the velocities of parent and child. J is minus the
derivative of the child's place by the parent's: dphi/dt = J u for the error phi that the bias takes back. The rows of a
slide share its lever between both bodies, so that a force along them turns the pair by nothing.
"""

from ..constants import BALL, FREE, SLIDE
from ..rotation import at3, at4, conj_quat, mul_quat, normalize_quat, rotate
from ..types import func, narrow, ti, vec3
from .bodies import BODY_SIZE, MIDPOINT, SCALE_SIZE, WAY
from .motions import anchor_of, dual_axis, is_mixed, parts_of
from .turns import turned

# a record in lcp_joint: 256 numbers by these places, rows of 6
JOINT_SIZE, ROW = 256, 6
PARENT, CHILD = 0, 36  # J, scaled as lcp_body is
HALF_CHILD, HALF_PARENT, FACTOR = 72, 108, 144  # of the elimination, see elimination.py
BIAS, SOFT, IMPULSE, REST = 180, 186, 192, 198
POINT_U, POINT_P, SOLVED_U = 204, 210, 216  # of descent.py
RIGHT = 1e-9  # cosine of axes that are orthogonal
POSE_SIZE = 8  # of lcp_now: centre of mass, quaternion of the body's frame


@func
def reference_of(m, w, b, xp, qp):
    """(position, quaternion) of the frame of body b at the reference of its joint, by the frame of its parent."""
    return xp + rotate(qp, narrow(m.body_pos[w, b])), normalize_quat(mul_quat(qp, narrow(m.body_quat[w, b])))


@func
def axis_of(m, w, b, j, qp):
    """World axis of joint j of body b, as its parent has it."""
    return rotate(mul_quat(qp, narrow(m.body_quat[w, b])), narrow(m.jnt_axis[j]))


@func
def place_tree(m, d, wt):
    """lcp_now: where the bodies of a tree are in the middle of a step, by their ways; where each substep turns them,
    turn_body does that."""
    w = wt // m.ntree
    t = wt - w * m.ntree
    first = m.tree_bodyadr[t]
    for b in range(first, first + m.tree_bodynum[t]):
        wb = w * m.nbody + b
        x = d.xipos[wb] + d.lcp_scale[SCALE_SIZE * wb] * at3(d.lcp_body, BODY_SIZE * wb + WAY)
        for c in ti.static(range(3)):
            d.lcp_now[POSE_SIZE * wb + c] = x[c]
        if d.lcp_rotation != MIDPOINT:
            way = at3(d.lcp_scale, SCALE_SIZE * wb + 1) * at3(d.lcp_body, BODY_SIZE * wb + WAY + 3)
            principal = m.body_iquat[w, b]
            quat = mul_quat(mul_quat(narrow(d.xquat[wb]), principal), turned(way))
            quat = normalize_quat(mul_quat(quat, conj_quat(principal)))
            for c in ti.static(range(4)):
                d.lcp_now[POSE_SIZE * wb + 3 + c] = quat[c]


@func
def along_principal(m, d, w, b, v):
    """A world vector along the axes by which body b's velocity is given in the middle of a step: where it is then, or
    where it was when the step began."""
    wb = w * m.nbody + b
    out = d.ximat[wb].transpose() @ v
    if m.body_treeid[b] >= 0 and d.lcp_rotation == MIDPOINT:
        out = rotate(conj_quat(mul_quat(at4(d.lcp_now, POSE_SIZE * wb + 3), m.body_iquat[w, b])), v)
    return out


@func
def now_at(m, d, w, b):
    """(centre of mass, quaternion of the frame) of body b in the middle of a step."""
    wb = w * m.nbody + b
    x, quat = d.xipos[wb], narrow(d.xquat[wb])
    if m.body_treeid[b] >= 0:
        x, quat = at3(d.lcp_now, POSE_SIZE * wb), at4(d.lcp_now, POSE_SIZE * wb + 3)
    return x, quat


@func
def dof_row(m, d, w, b, j, k, middle):
    """(linear, angular row of the parent, of the child): world rows that give the velocity of dof k of joint j of body
    b, and by which a force on it acts. middle: 0 before a step, 1 in it."""
    p = m.body_parentid[b]
    xp, qp = d.xipos[w * m.nbody + p], narrow(d.xquat[w * m.nbody + p])
    xc, qc = d.xipos[w * m.nbody + b], narrow(d.xquat[w * m.nbody + b])
    if middle == 1:
        xp, qp = now_at(m, d, w, p)
        xc, qc = now_at(m, d, w, b)
    lin, ang_p, ang_c = vec3(0.0), vec3(0.0), vec3(0.0)
    kind = m.jnt_type[j]
    unit = vec3(0.0)
    for c in ti.static(range(3)):
        unit[c] = ti.select(k % 3 == c, 1.0, 0.0)
    if kind == FREE:
        if k < 3:
            lin = unit
            ang_c = -(rotate(qc, m.body_ipos[w, b])).cross(unit)
        else:
            ang_c = rotate(qc, unit)
    elif kind == BALL:
        ang_c = rotate(qc, unit)
        ang_p = -ang_c
    else:
        axis = dual_axis(m, d, w, b, j, mul_quat(qp, narrow(m.body_quat[w, b])), qc)
        if kind != SLIDE:
            ang_p, ang_c = -axis, axis
        elif is_mixed(m, b):
            lin = axis
            at, _off = meeting(m, w, b, xp, qp, xc, qc)
            ang_p, ang_c = -(at - xp).cross(lin), (at - xc).cross(lin)
        else:
            lin = axis
            ang_p = -0.5 * (xc - xp).cross(lin)
            ang_c = ang_p
    return -lin, ang_p, lin, ang_c


@func
def meeting(m, w, b, xp, qp, xc, qc):
    """(point at which forces along slides act, way from the parent's anchor to the child's) of body b, which has slides
    and hinges, for the centres of mass and orientations of both: what turns with the slides' axes sees one anchor of
    the other."""
    _slides, hinges, slide, hinge = parts_of(m, b)
    at = anchor_of(m, w, b)
    x, turn = reference_of(m, w, b, xp - rotate(qp, m.body_ipos[w, m.body_parentid[b]]), qp)
    of_parent, of_child = x + rotate(turn, at), xc + rotate(qc, at - m.body_ipos[w, b])
    point = of_child
    if hinges > 0 and slide > hinge:
        point = of_parent
    return point, of_child - of_parent


@func
def mixed_rows(m, d, w, b):
    """joint_rows of a body with several slides, or slides and hinges: across its slides, of rotation across its
    hinges."""
    wb = w * m.nbody + b
    xp, qp = now_at(m, d, w, m.body_parentid[b])
    xc, qc = now_at(m, d, w, b)
    slides, hinges, slide, hinge = parts_of(m, b)
    at, off = meeting(m, w, b, xp, qp, xc, qc)
    turn = mul_quat(qp, narrow(m.body_quat[w, b]))
    slider = turn
    if hinges > 0 and slide > hinge:
        slider = qc
    s = rotate(slider, narrow(m.jnt_axis[slide]))
    t = across(s)
    if slides == 2:
        t = s.cross(rotate(slider, narrow(m.jnt_axis[slide + 1]))).normalized()
    wrong = mul_quat(turn, conj_quat(qc))
    twist = 2.0 * ti.select(wrong[0] < 0.0, -1.0, 1.0) * vec3(wrong[1], wrong[2], wrong[3])
    first, last = narrow(m.jnt_axis[hinge]), narrow(m.jnt_axis[hinge + ti.max(hinges - 1, 0)])
    parents = rotate(turn, first)
    lean = parents.cross(rotate(qc, last))
    u = across(parents)
    n = 6 - m.body_jntnum[b]
    for r in range(n):
        k = r - (3 - slides)  # number of the row of rotation
        lin, ang_p, ang_c = t, (at - xp).cross(t), -(at - xc).cross(t)
        error = -t.dot(off)
        if k >= 0:
            row = u
            if hinges == 0:
                for c in ti.static(range(3)):
                    row[c] = ti.select(k == c, 1.0, 0.0)
            elif hinges == 2:
                row = -lean / lean.norm()
            lin, ang_p, ang_c = vec3(0.0), row, -row
            error = -row.dot(lean)
            if hinges == 0:
                error = row.dot(twist)
            elif hinges == 2:
                error = opened(parents, rotate(qc, last), first, last)
            u = parents.cross(u)
        else:
            t = s.cross(t)
        put_row(m, d, w, b, r, lin, ang_p, ang_c)
        h = m.opt.timestep / d.lcp_substeps
        d.lcp_joint[JOINT_SIZE * wb + BIAS + r] = -d.lcp_part / h * error
        d.lcp_joint[JOINT_SIZE * wb + SOFT + r] = d.lcp_cfm / h
    d.lcp_nrow[wb] = n


@func
def joint_rows(m, d, w, b):
    """Rows that hold body b to its parent, of a substep: lcp_joint, lcp_nrow."""
    wb = w * m.nbody + b
    p = m.body_parentid[b]
    kind, pos, axis = -1, m.body_ipos[w, b], vec3(0.0, 0.0, 1.0)
    if m.body_jntnum[b] > 0:
        j = m.body_jntadr[b]
        kind = m.jnt_type[j]
        axis = narrow(m.jnt_axis[j])
        if kind != SLIDE:
            pos = narrow(m.jnt_pos[j])
    n = 6
    if kind == FREE:
        n = 0
    elif kind == BALL:
        n = 3
    elif kind >= 0:
        n = 6 - m.body_jntnum[b]
    xp, qp = now_at(m, d, w, p)
    xc, qc = now_at(m, d, w, b)
    at, turn = reference_of(m, w, b, -rotate(qp, m.body_ipos[w, p]), qp)
    arm_p = at + rotate(turn, pos)  # to the anchor, from both centres of mass
    arm_c = rotate(qc, pos - m.body_ipos[w, b])
    if kind == SLIDE:  # the seed keeps its way from parent to child in the child's frame
        arm_p = rotate(qc, rotate(conj_quat(turn), arm_p))
    off = xp + arm_p - xc - arm_c
    wrong = mul_quat(turn, conj_quat(qc))
    twist = 2.0 * ti.select(wrong[0] < 0.0, -1.0, 1.0) * vec3(wrong[1], wrong[2], wrong[3])
    s = rotate(turn, axis)
    second = axis
    if n == 4:
        second = narrow(m.jnt_axis[m.body_jntadr[b] + 1])
    lean = s.cross(rotate(qc, second))
    t = across(s)
    if m.body_treeid[p] < 0:  # what moves is ODE's first body
        s = rotate(qc, axis)
        t = across(s)
    for r in range(n):
        unit = vec3(0.0)
        for c in ti.static(range(3)):
            unit[c] = ti.select(r % 3 == c, 1.0, 0.0)
        lin, ang_p, ang_c = unit, arm_p.cross(unit), -arm_c.cross(unit)
        error = unit.dot(off)
        if kind == SLIDE or r >= 3:
            lin, ang_p, ang_c = vec3(0.0), unit, -unit
            error = unit.dot(twist)
            if r >= 3 and kind >= 0:
                if r == 4:
                    t = s.cross(t)
                if n == 4:
                    t = -lean / lean.norm()
                ang_p, ang_c = t, -t
                error = -t.dot(lean)
                if n == 4:
                    error = opened(rotate(turn, axis), rotate(qc, second), axis, second)
                if kind == SLIDE:
                    lin, ang_p = t, 0.5 * (xc - xp).cross(t)
                    ang_c = ang_p
                    error = t.dot(off)
        put_row(m, d, w, b, r, lin, ang_p, ang_c)
        h = m.opt.timestep / d.lcp_substeps
        d.lcp_joint[JOINT_SIZE * wb + BIAS + r] = -d.lcp_part / h * error
        d.lcp_joint[JOINT_SIZE * wb + SOFT + r] = d.lcp_cfm / h
    d.lcp_nrow[wb] = n


@func
def put_row(m, d, w, b, r, lin, ang_p, ang_c):
    """Row r of body b and its parent, whose linear parts are opposite."""
    wb, wp = w * m.nbody + b, w * m.nbody + m.body_parentid[b]
    turn_p = along_principal(m, d, w, m.body_parentid[b], ang_p)
    turn_c = along_principal(m, d, w, b, ang_c)
    o = JOINT_SIZE * wb + ROW * r
    for c in ti.static(range(3)):
        d.lcp_joint[o + PARENT + c] = d.lcp_scale[SCALE_SIZE * wp] * lin[c]
        d.lcp_joint[o + PARENT + 3 + c] = d.lcp_scale[SCALE_SIZE * wp + 1 + c] * turn_p[c]
        d.lcp_joint[o + CHILD + c] = -d.lcp_scale[SCALE_SIZE * wb] * lin[c]
        d.lcp_joint[o + CHILD + 3 + c] = d.lcp_scale[SCALE_SIZE * wb + 1 + c] * turn_c[c]


@ti.func
def opened(s, t, a, b):
    """By how much the angle [rad] between axes s and t is larger than between a and b; for a right one, as in the
    seed's universal joint, its cosine turned round."""
    error = -s.dot(t)
    if ti.abs(a.dot(b)) > RIGHT:
        error = ti.atan2(s.cross(t).norm(), s.dot(t)) - ti.atan2(a.cross(b).norm(), a.dot(b))
    return error


@ti.func
def across(s):
    """A unit vector orthogonal to the unit vector s: the one that ODE takes."""
    t = vec3(-s[1], s[0], 0.0)
    if s[2] * s[2] > 0.5:
        t = vec3(0.0, -s[2], s[1])
    return t / t.norm()
