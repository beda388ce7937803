"""Visits of contacts in a sweep: of one, or of LANES whose moving bodies differ, side by side.

Each lane does what the contact does alone, in the same order, and gets the same bits.
"""

from ..types import FP, func, ti, vec2, vec4
from .bodies import BODY_SIZE, WAY
from .contacts import (
    ANGULAR1,
    ANGULAR2,
    BESIDE,
    BOUNCE,
    DEPTH,
    EASING,
    IMPULSE,
    INVERSE,
    MU1,
    MU2,
    PAIR_SIZE,
    PER_MU1,
    PER_MU2,
    SCALE1,
    SCALE2,
    SIZE,
    SOFT,
    record_of,
)
from .lists import LANES

NUMBERS = 12  # of a body in lcp_held, LANES times: its velocity, then its way
BY_TURNS = 2  # sets of LANES manifolds whose rows are visited by turns
HELD = BY_TURNS * 2 * NUMBERS * LANES  # numbers of a worker in lcp_held
IN_CIRCLE, IN_POLYGON, IN_BOX = 0, 1, 2  # m.lcp.friction
STARTS, WITH_CORNERS = -1, 3  # what a visit does: add the impulses with which a contact begins, or find new ones


@func
def visit_contact(m, d, s, starts: ti.template()):
    """One visit of the contact in slot s: changes of its impulses on both bodies. starts: those that it begins with."""
    o, step = record_of(m, d, s)
    b1, b2 = BODY_SIZE * d.lcp_pair[PAIR_SIZE * s], BODY_SIZE * d.lcp_pair[PAIR_SIZE * s + 1]
    if ti.static(starts):
        visit(m, d, o, step, b1, b2, STARTS, 1)
    else:
        if d.lcp_friction == IN_CIRCLE:
            visit(m, d, o, step, b1, b2, IN_CIRCLE, 1)
        else:
            visit(m, d, o, step, b1, b2, WITH_CORNERS, 1)


@func
def visit_abreast(m, d, s, rows, n, back, starts: ti.template(), me):
    """The same of n sets of LANES manifolds with `rows` contacts each, in slots from s on, a multiple of LANES: a set's
    at once, row by row, in the order that `back` says, the sets by turns, so that no visit waits for what the one
    before it finds.

    Meanwhile velocities are in a worker's part of lcp_held, side by side, n being BY_TURNS at most.
    """
    for k in range(n):
        take_bodies(m, d, s + LANES * rows * k, HELD * me + 2 * NUMBERS * LANES * k, 6 if starts else NUMBERS)
    if ti.static(starts):
        visit_rows(m, d, s, rows, n, back, STARTS, me)
    else:
        if d.lcp_friction == IN_CIRCLE:
            visit_rows(m, d, s, rows, n, back, IN_CIRCLE, me)
        else:
            visit_rows(m, d, s, rows, n, back, WITH_CORNERS, me)
    for k in range(n):
        give_bodies(m, d, s + LANES * rows * k, HELD * me + 2 * NUMBERS * LANES * k)


@func
def turned(place, n, back):
    """Which of a manifold's n contacts is visited in this place. If `back` is 1, the first half from its end, then the
    second: the other direction, without two visits of one contact that follow each other, which are worth one."""
    return ti.select(back == 1, (n + n // 2 - 1 - place) % n, place)


@func
def visit_rows(m, d, s, rows, n, back, what: ti.template(), me):
    """Their visits, velocities being in lcp_held."""
    for place in range(rows):
        row = turned(place, rows, back)
        for k in range(n):
            held = HELD * me + 2 * NUMBERS * LANES * k
            visit(m, d, SIZE * (s + LANES * (rows * k + row)), LANES, held, held + NUMBERS * LANES, what, LANES)


@func
def take_bodies(m, d, s, held, n: ti.template()):
    """The first n numbers, velocities and then ways, of the bodies of the contacts in LANES slots from s on, side by
    side to lcp_held."""
    for side in ti.static(range(2)):
        b = [BODY_SIZE * d.lcp_pair[PAIR_SIZE * (s + i) + side] for i in ti.static(range(LANES))]
        for c in ti.static(range(0, n, 2)):  # by pairs, see tisim/device/transposed.py
            x = [d.lcp_body[b[i] + c + (WAY - 6) * (c // 6)] for i in ti.static(range(LANES))]
            y = [d.lcp_body[b[i] + c + (WAY - 6) * (c // 6) + 1] for i in ti.static(range(LANES))]
            for i in ti.static(range(LANES)):
                d.lcp_held[held + LANES * (NUMBERS * side + c) + i] = x[i]
            for i in ti.static(range(LANES)):
                d.lcp_held[held + LANES * (NUMBERS * side + c + 1) + i] = y[i]


@func
def give_bodies(m, d, s, held):
    """Their velocities, of those that move, back."""
    for side in ti.static(range(2)):
        scale = [d.lcp_rec[SIZE * s + LANES * (SCALE1 + side) + i] for i in ti.static(range(LANES))]
        b = [BODY_SIZE * d.lcp_pair[PAIR_SIZE * (s + i) + side] for i in ti.static(range(LANES))]
        alone = LANES
        if ti.min(scale[0], scale[1], scale[2], scale[3]) > 0.0:
            alone = 0
            for c in ti.static(range(0, 6, 2)):
                x = [d.lcp_held[held + LANES * (NUMBERS * side + c) + i] for i in ti.static(range(LANES))]
                y = [d.lcp_held[held + LANES * (NUMBERS * side + c + 1) + i] for i in ti.static(range(LANES))]
                for i in ti.static(range(LANES)):
                    d.lcp_body[b[i] + c] = x[i]
                    d.lcp_body[b[i] + c + 1] = y[i]
        for i in range(alone):
            if d.lcp_rec[SIZE * s + LANES * (SCALE1 + side) + i] > 0.0:
                to = BODY_SIZE * d.lcp_pair[PAIR_SIZE * (s + i) + side]
                for c in ti.static(range(6)):
                    d.lcp_body[to + c] = d.lcp_held[held + LANES * (NUMBERS * side + c) + i]


@func
def number(d, o, step, e, lanes: ti.template()):
    """Number e of the record at o, or of those side by side."""
    if ti.static(lanes == 1):
        x = d.lcp_rec[o + step * e]
        return x
    else:
        x = vec4(0.0)
        for i in ti.static(range(LANES)):
            x[i] = d.lcp_rec[o + LANES * e + i]
        return x


@func
def put(array: ti.template(), at, x, lanes: ti.template()):
    """Writes a number, or those side by side."""
    if ti.static(lanes == 1):
        array[at] = x
    else:
        for i in ti.static(range(LANES)):
            array[at + i] = x[i]


@func
def of_body(d, b, c, lanes: ti.template()):
    """Number c of a body's velocity, from 6 on of its way: of the one at b of lcp_body, or of all at b of lcp_held."""
    if ti.static(lanes == 1):
        x = d.lcp_body[b + c + (WAY - 6) * (c // 6)]
        return x
    else:
        x = vec4(0.0)
        for i in ti.static(range(LANES)):
            x[i] = d.lcp_held[b + LANES * c + i]
        return x


@func
def visit(m, d, o, step, b1, b2, what: ti.template(), lanes: ti.template()):
    """The visit: of the record at o, whose numbers are `step` apart, and the bodies at b1 and b2, see of_body.

    All is read before anything is written, and nothing branches: else LLVM does not see what lies side by side.
    """
    n = [number(d, o, step, k, lanes) for k in ti.static(range(9))]  # and both tangents
    g = [number(d, o, step, k, lanes) for k in ti.static(range(ANGULAR1, ANGULAR1 + 9))]
    h = [number(d, o, step, k, lanes) for k in ti.static(range(ANGULAR2, ANGULAR2 + 9))]
    m1, m2 = number(d, o, step, SCALE1, lanes), number(d, o, step, SCALE2, lanes)
    v = [of_body(d, b1, k, lanes) for k in ti.static(range(NUMBERS))]
    w = [of_body(d, b2, k, lanes) for k in ti.static(range(NUMBERS))]
    c0 = number(d, o, step, IMPULSE, lanes)
    c1, c2 = number(d, o, step, IMPULSE + 1, lanes), number(d, o, step, IMPULSE + 2, lanes)
    if ti.static(what != STARTS):
        r0, r1, r2 = m2 * w[6] - m1 * v[6], m2 * w[7] - m1 * v[7], m2 * w[8] - m1 * v[8]
        gap = n[0] * r0 + n[1] * r1 + n[2] * r2
        turns = h[0] * w[9] + h[1] * w[10] + h[2] * w[11]
        gap += turns - (g[0] * v[9] + g[1] * v[10] + g[2] * v[11]) - number(d, o, step, DEPTH, lanes)
        r0, r1, r2 = m2 * w[0] - m1 * v[0], m2 * w[1] - m1 * v[1], m2 * w[2] - m1 * v[2]
        soft, sor = number(d, o, step, SOFT, lanes), d.lcp_sor
        un = n[0] * r0 + n[1] * r1 + n[2] * r2
        un += (h[0] * w[3] + h[1] * w[4] + h[2] * w[5]) - (g[0] * v[3] + g[1] * v[4] + g[2] * v[5])
        goal = aim(m, d, number(d, o, step, BOUNCE, lanes), number(d, o, step, EASING, lanes), gap, un, c0)
        pn = c0 + sor * (goal - un - soft * c0) * number(d, o, step, INVERSE, lanes)
        pn = ti.select(pn > 0.0, pn, 0.0)
        e0 = pn - c0
        u1 = n[3] * r0 + n[4] * r1 + n[5] * r2
        u1 += (h[3] * w[3] + h[4] * w[4] + h[5] * w[5]) - (g[3] * v[3] + g[4] * v[4] + g[5] * v[5])
        u1 = u1 + soft * c1 + number(d, o, step, BESIDE, lanes) * e0
        u2 = n[6] * r0 + n[7] * r1 + n[8] * r2
        u2 += (h[6] * w[3] + h[7] * w[4] + h[8] * w[5]) - (g[6] * v[3] + g[7] * v[4] + g[8] * v[5])
        u2 = u2 + soft * c2 + number(d, o, step, BESIDE + 1, lanes) * e0
        part = sor * number(d, o, step, INVERSE + 1, lanes)
        x, y = c1 - part * u1, c2 - part * u2
        if ti.static(what == IN_CIRCLE):  # an ellipse if mu differ, a line if one is 0
            q1, q2 = number(d, o, step, PER_MU1, lanes), number(d, o, step, PER_MU2, lanes)
            a, b = x * q1, y * q2
            size = a * a + b * b
            k = ti.select(size > pn * pn, pn / ti.sqrt(size), 1.0)
            x, y = ti.select(q1 > 0.0, k * x, 0.0), ti.select(q2 > 0.0, k * y, 0.0)
        else:
            f1, f2 = number(d, o, step, MU1, lanes) * pn, number(d, o, step, MU2, lanes) * pn
            if d.lcp_friction == IN_BOX:  # row by row
                x = ti.max(-f1, ti.min(f1, x))
                u2 += number(d, o, step, BESIDE + 2, lanes) * (x - c1)
                y = c2 - sor * u2 * number(d, o, step, INVERSE + 2, lanes)
                y = ti.max(-f2, ti.min(f2, y))
            else:
                if ti.static(lanes == 1):
                    near = in_polygon(d, x, y, f1, f2)
                    x, y = near[0], near[1]
                else:
                    for i in ti.static(range(LANES)):
                        near = in_polygon(d, x[i], y[i], f1[i], f2[i])
                        x[i], y[i] = near[0], near[1]
        put(d.lcp_rec, o + step * IMPULSE, pn, lanes)
        put(d.lcp_rec, o + step * (IMPULSE + 1), x, lanes)
        put(d.lcp_rec, o + step * (IMPULSE + 2), y, lanes)
        c0, c1, c2 = e0, x - c1, y - c2
    f = [c0 * n[k] + c1 * n[3 + k] + c2 * n[6 + k] for k in ti.static(range(3))]
    G = [c0 * g[k] + c1 * g[3 + k] + c2 * g[6 + k] for k in ti.static(range(3))]
    H = [c0 * h[k] + c1 * h[3 + k] + c2 * h[6 + k] for k in ti.static(range(3))]
    if ti.static(lanes == 1):
        for k in ti.static(range(3)):
            if m1 > 0.0:
                d.lcp_body[b1 + k] = v[k] - m1 * f[k]
                d.lcp_body[b1 + 3 + k] = v[3 + k] - G[k]
            if m2 > 0.0:
                d.lcp_body[b2 + k] = w[k] + m2 * f[k]
                d.lcp_body[b2 + 3 + k] = w[3 + k] + H[k]
    else:
        for k in ti.static(range(3)):
            put(d.lcp_held, b1 + LANES * k, v[k] - m1 * f[k], lanes)
            put(d.lcp_held, b1 + LANES * (3 + k), v[3 + k] - G[k], lanes)
            put(d.lcp_held, b2 + LANES * k, w[k] + m2 * f[k], lanes)
            put(d.lcp_held, b2 + LANES * (3 + k), w[3 + k] + H[k], lanes)


@func
def aim(m, d, bounce, easing, gap, un, impulse):
    """Least normal velocity of a contact: what closes its gap within the substep, or pushes out its depth beyond the
    slop, and no less than its easing; of one that bounces, what it leaves with, from the substep on in which it meets.
    """
    rate = d.lcp_substeps / m.opt.timestep
    near = -rate * gap
    push = d.lcp_part * (near - rate * d.lcp_slop)
    push = ti.select(push > easing, push, easing)
    push = ti.select(push < d.lcp_max_vel, push, d.lcp_max_vel)
    v = ti.select(near >= 0.0, push, near)
    meets = (bounce > 0.0) & (bounce > v) & ((near >= 0.0) | (impulse > 0.0) | (un < near))
    return ti.select(meets, bounce, v)


@func
def in_polygon(d, x, y, f1, f2):
    """The nearest tangential impulse in the regular polygon with lcp_eta corners on the ellipse with half axes f1, f2,
    one of them along the first tangent."""
    a, b = 0.0 * x, 0.0 * y
    if f1 > 0.0:
        a = x / f1
    if f2 > 0.0:
        b = y / f2
    step = 2.0 * ti.math.pi / d.lcp_eta
    side = ti.floor(ti.atan2(b, a) / step)
    p = vec2(ti.cos(side * step), ti.sin(side * step))
    along = vec2(ti.cos((side + 1.0) * step), ti.sin((side + 1.0) * step)) - p
    if (a - p[0]) * along[1] - (b - p[1]) * along[0] > 0.0:
        t = ((a - p[0]) * along[0] + (b - p[1]) * along[1]) / along.dot(along)
        p += ti.max(FP(0.0), ti.min(FP(1.0), t)) * along
        a, b = p[0], p[1]
    return vec2(a * f1, b * f2)
