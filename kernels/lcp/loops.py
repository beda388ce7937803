"""Connects and welds in the second dynamics: rows of a ball, or of none, between any two bodies. They are swept.

Their rows are made anew in each substep, where the bodies are then, and begin with a part of the last impulses. Those
are the world's: on the first object's body, at its anchor, in a substep.
"""

from ..constants import EQ_WELD
from ..constraint.equality import local_ends
from ..rotation import at3, at4, conj_quat, mul_quat, quat_to_rotvec, rotate
from ..team import share
from ..types import FP, func, narrow, ti, vec2, vec3
from .bodies import BODY_SIZE, SCALE_SIZE, TWIST_SIZE
from .elimination import divide, divide_back, factor
from .joints import POSE_SIZE, ROW, now_at
from .lists import COLORS, ENDS

# a record in lcp_eq: 128 numbers by these places, rows of 6, scaled as lcp_body is
LOOP_SIZE = 128
ROWS1, ROWS2, FACTOR, BIAS, REST, SOFT = 0, 36, 72, 108, 114, 120
SIDE = ROWS2 - ROWS1
SWEPT_SHARE = 0.9  # of the last impulse at most: with all of it swept joints swing


@func
def begin_loop(m, d, k):
    """Rows of equality k of all worlds in a substep, and what it begins with."""
    w = k // m.neq
    b1, b2, p1, p2, q1, q2 = local_ends(m, w, k - w * m.neq)
    x1, turn1 = now_at(m, d, w, b1)
    x2, turn2 = now_at(m, d, w, b2)
    arm1, arm2 = rotate(turn1, p1 - m.body_ipos[w, b1]), rotate(turn2, p2 - m.body_ipos[w, b2])
    off = x1 + arm1 - x2 - arm2
    wrong = mul_quat(mul_quat(turn1, q1), conj_quat(mul_quat(turn2, q2)))
    twist = 2.0 * ti.select(wrong[0] < 0.0, -1.0, 1.0) * vec3(wrong[1], wrong[2], wrong[3])
    h = m.opt.timestep / d.lcp_substeps
    n, o = d.lcp_eq_nrow[k], LOOP_SIZE * k
    for r in range(n):
        unit = vec3(0.0)
        for c in ti.static(range(3)):
            unit[c] = ti.select(r % 3 == c, 1.0, 0.0)
        lin, ang1, ang2 = unit, arm1.cross(unit), -arm2.cross(unit)
        error = unit.dot(off)
        if r >= 3:
            lin, ang1, ang2 = vec3(0.0), unit, -unit
            error = unit.dot(twist)
        put_side(m, d, o + ROWS1 + ROW * r, w * m.nbody + b1, lin, ang1)
        put_side(m, d, o + ROWS2 + ROW * r, w * m.nbody + b2, -lin, ang2)
        d.lcp_eq[o + BIAS + r] = -d.lcp_part / h * error
    d.lcp_eq[o + SOFT] = d.lcp_cfm / h
    for r in range(n):
        for q in range(r + 1):
            s = ti.select(q == r, d.lcp_eq[o + SOFT], FP(0.0))
            for side in range(2):
                for e in range(6):
                    s += d.lcp_eq[o + SIDE * side + ROW * r + e] * d.lcp_eq[o + SIDE * side + ROW * q + e]
            d.lcp_eq[o + FACTOR + ROW * r + q] = s
    factor(d.lcp_eq, o + FACTOR, n)
    part = ti.min(FP(SWEPT_SHARE), d.lcp_share)
    for r in range(n):
        d.lcp_eq_impulse[ROW * k + r] = part * d.lcp_eq_impulse[ROW * k + r]
        d.lcp_eq[o + REST + r] = d.lcp_eq_impulse[ROW * k + r]
    push_loop(m, d, k)


@func
def put_side(m, d, o, wb, lin, ang):
    """A row's part of body wb of all worlds."""
    turn = d.ximat[wb].transpose() @ ang
    for c in ti.static(range(3)):
        d.lcp_eq[o + c] = d.lcp_scale[SCALE_SIZE * wb] * lin[c]
        d.lcp_eq[o + 3 + c] = d.lcp_scale[SCALE_SIZE * wb + 1 + c] * turn[c]


@func
def visit_loop(m, d, k):
    """One visit of equality k of all worlds: impulses by which its rows are fulfilled, solved together."""
    o, n = LOOP_SIZE * k, d.lcp_eq_nrow[k]
    for r in range(n):
        s = d.lcp_eq[o + BIAS + r] - d.lcp_eq[o + SOFT] * d.lcp_eq_impulse[ROW * k + r]
        for side in range(2):
            u = BODY_SIZE * d.lcp_eq_body[ENDS * k + side]
            for e in range(6):
                s -= d.lcp_eq[o + SIDE * side + ROW * r + e] * d.lcp_body[u + e]
        d.lcp_eq[o + REST + r] = s
    divide(d.lcp_eq, o + FACTOR, n, d.lcp_eq, o + REST)
    divide_back(d.lcp_eq, o + FACTOR, n, d.lcp_eq, o + REST)
    for r in range(n):
        change = d.lcp_sor * d.lcp_eq[o + REST + r]
        d.lcp_eq[o + REST + r] = change
        d.lcp_eq_impulse[ROW * k + r] = d.lcp_eq_impulse[ROW * k + r] + change
    push_loop(m, d, k)


@func
def push_loop(m, d, k):
    """Impulses REST of the rows of equality k on both bodies; they change lcp_from, too, so that what contacts changed
    in a substep stays the difference of both."""
    o, n = LOOP_SIZE * k, d.lcp_eq_nrow[k]
    for side in range(2):
        wb = d.lcp_eq_body[ENDS * k + side]
        if m.body_treeid[wb % m.nbody] >= 0:
            for e in range(6):
                s = FP(0.0)
                for r in range(n):
                    s += d.lcp_eq[o + SIDE * side + ROW * r + e] * d.lcp_eq[o + REST + r]
                d.lcp_body[BODY_SIZE * wb + e] = d.lcp_body[BODY_SIZE * wb + e] + s
                d.lcp_from[TWIST_SIZE * wb + e] = d.lcp_from[TWIST_SIZE * wb + e] + s


@func
def sweep_loops(m, d, color, begins, me, size):
    """A worker's visits of a colour; begins: 1 where a substep does. The last colour is one worker's."""
    begin, end = d.lcp_eq_head[color], d.lcp_eq_head[color + 1]
    mine, behind = share(end - begin, me, size)
    if color == COLORS:
        mine, behind = 0, ti.select(me == 0, end - begin, 0)
    for s in range(begin + mine, begin + behind):
        if begins == 1:
            begin_loop(m, d, d.lcp_eq_order[s])
        else:
            visit_loop(m, d, d.lcp_eq_order[s])


@func
def measure_loop(m, d, k):
    """lcp_eq_drift of equality k of all worlds behind a step, of those that do not act, too."""
    w = k // m.neq
    e = k - w * m.neq
    b1, b2, p1, p2, q1, q2 = local_ends(m, w, e)
    x1, turn1 = frame_at(m, d, w, b1)
    x2, turn2 = frame_at(m, d, w, b2)
    turned = quat_to_rotvec(mul_quat(conj_quat(mul_quat(turn2, q2)), mul_quat(turn1, q1))).norm()
    if m.eq_type[e] != EQ_WELD:
        turned *= 0.0
    d.lcp_eq_drift[k] = vec2((x1 + rotate(turn1, p1) - x2 - rotate(turn2, p2)).norm(), turned)


@func
def frame_at(m, d, w, b):
    """(position, quaternion) of body b behind a step."""
    wb = w * m.nbody + b
    x, quat = narrow(d.xpos[wb]), narrow(d.xquat[wb])
    if m.body_treeid[b] >= 0:
        x, quat = at3(d.lcp_pose, POSE_SIZE * wb), at4(d.lcp_pose, POSE_SIZE * wb + 3)
    return x, quat
