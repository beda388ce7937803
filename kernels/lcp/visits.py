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
    IMPULSE,
    INVERSE,
    MU1,
    MU2,
    PAIR_SIZE,
    SCALE1,
    SCALE2,
    SIZE,
    SOFT,
    record_of,
)
from .lists import LANES

HELD = 64  # numbers of a worker in lcp_held
VELOCITY = 6  # numbers of a body there, each LANES times
IN_CIRCLE, IN_POLYGON, IN_BOX = 0, 1, 2  # m.lcp.friction
ivec4 = ti.types.vector(LANES, ti.i32)


@func
def visit_contact(m, d, s, first):
    """One visit of the contact in slot s: changes of its impulses on both bodies. first: those that it begins with."""
    o, step = record_of(m, d, s)
    b1, b2 = BODY_SIZE * d.lcp_pair[PAIR_SIZE * s], BODY_SIZE * d.lcp_pair[PAIR_SIZE * s + 1]
    visit(m, d, o, step, b1, b2, first, 0, 1)


@func
def visit_four(m, d, s, end, first, me):
    """The same of the contacts in LANES slots from s on, a multiple of LANES; a worker's, who has those up to `end`."""
    b1, b2 = ivec4(0), ivec4(0)
    for i in ti.static(range(LANES)):
        b1[i] = BODY_SIZE * d.lcp_pair[PAIR_SIZE * (s + i)]
        b2[i] = BODY_SIZE * d.lcp_pair[PAIR_SIZE * (s + i) + 1]
    visit(m, d, SIZE * s, LANES, b1, b2, first, HELD * me, LANES)
    for i in range(ti.min(LANES, end - s)):  # LANES, which LLVM does not know: else it makes pairs of a body's numbers
        for side in ti.static(range(2)):
            if d.lcp_rec[SIZE * s + LANES * (SCALE1 + side) + i] > 0.0:
                b = BODY_SIZE * d.lcp_pair[PAIR_SIZE * (s + i) + side]
                for e in ti.static(range(6)):
                    d.lcp_body[b + e] = d.lcp_held[HELD * me + LANES * (VELOCITY * side + e) + i]


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
def of_body(d, b, e, lanes: ti.template()):
    """Number e of the body at b of lcp_body, or of those."""
    if ti.static(lanes == 1):
        x = d.lcp_body[b + e]
        return x
    else:
        x = vec4(0.0)
        for i in ti.static(range(LANES)):
            x[i] = d.lcp_body[b[i] + e]
        return x


@func
def visit(m, d, o, step, b1, b2, first, held, lanes: ti.template()):
    """The visit: of the record at o, whose numbers are `step` apart, and the bodies at b1 and b2 of lcp_body.

    Side by side the new velocities go to lcp_held from `held` on: LLVM makes vectors of what is stored side by side.
    """
    n = [number(d, o, step, e, lanes) for e in ti.static(range(3))]
    s = [number(d, o, step, e, lanes) for e in ti.static(range(3, 6))]
    t = [number(d, o, step, e, lanes) for e in ti.static(range(6, 9))]
    g = [number(d, o, step, e, lanes) for e in ti.static(range(ANGULAR1, ANGULAR1 + 9))]
    h = [number(d, o, step, e, lanes) for e in ti.static(range(ANGULAR2, ANGULAR2 + 9))]
    m1, m2 = number(d, o, step, SCALE1, lanes), number(d, o, step, SCALE2, lanes)
    v = [of_body(d, b1, e, lanes) for e in ti.static(range(6))]
    w = [of_body(d, b2, e, lanes) for e in ti.static(range(6))]
    c0 = number(d, o, step, IMPULSE, lanes)
    c1, c2 = number(d, o, step, IMPULSE + 1, lanes), number(d, o, step, IMPULSE + 2, lanes)
    if first == 0:
        r0 = m2 * of_body(d, b2, WAY, lanes) - m1 * of_body(d, b1, WAY, lanes)
        r1 = m2 * of_body(d, b2, WAY + 1, lanes) - m1 * of_body(d, b1, WAY + 1, lanes)
        r2 = m2 * of_body(d, b2, WAY + 2, lanes) - m1 * of_body(d, b1, WAY + 2, lanes)
        gap = n[0] * r0 + n[1] * r1 + n[2] * r2
        v_way = [of_body(d, b1, WAY + e, lanes) for e in ti.static(range(3, 6))]
        w_way = [of_body(d, b2, WAY + e, lanes) for e in ti.static(range(3, 6))]
        turns = h[0] * w_way[0] + h[1] * w_way[1] + h[2] * w_way[2]
        gap += turns - (g[0] * v_way[0] + g[1] * v_way[1] + g[2] * v_way[2]) - number(d, o, step, DEPTH, lanes)
        r0, r1, r2 = m2 * w[0] - m1 * v[0], m2 * w[1] - m1 * v[1], m2 * w[2] - m1 * v[2]
        soft, sor = number(d, o, step, SOFT, lanes), d.lcp_sor
        un = n[0] * r0 + n[1] * r1 + n[2] * r2
        un += (h[0] * w[3] + h[1] * w[4] + h[2] * w[5]) - (g[0] * v[3] + g[1] * v[4] + g[2] * v[5])
        goal = aim(m, d, number(d, o, step, BOUNCE, lanes), gap, un, c0)
        pn = ti.max(0.0, c0 + sor * (goal - un - soft * c0) * number(d, o, step, INVERSE, lanes))
        e0 = pn - c0
        u1 = s[0] * r0 + s[1] * r1 + s[2] * r2
        u1 += (h[3] * w[3] + h[4] * w[4] + h[5] * w[5]) - (g[3] * v[3] + g[4] * v[4] + g[5] * v[5])
        u1 = u1 + number(d, o, step, BESIDE, lanes) * e0 + soft * c1
        u2 = t[0] * r0 + t[1] * r1 + t[2] * r2
        u2 += (h[6] * w[3] + h[7] * w[4] + h[8] * w[5]) - (g[6] * v[3] + g[7] * v[4] + g[8] * v[5])
        u2 = u2 + number(d, o, step, BESIDE + 1, lanes) * e0 + soft * c2
        f1, f2 = number(d, o, step, MU1, lanes) * pn, number(d, o, step, MU2, lanes) * pn
        i1, i2 = number(d, o, step, INVERSE + 1, lanes), number(d, o, step, INVERSE + 2, lanes)
        x, y = c1, c2
        if d.lcp_friction == IN_BOX:  # row by row
            x = ti.max(-f1, ti.min(f1, x - sor * u1 * i1))
            y -= sor * (u2 + number(d, o, step, BESIDE + 2, lanes) * (x - c1)) * i2
            y = ti.max(-f2, ti.min(f2, y))
        else:
            part = sor * ti.min(i1, i2)
            x -= part * u1
            y -= part * u2
            if d.lcp_friction == IN_CIRCLE:
                out = (x * x * f2 * f2 + y * y * f1 * f1 > f1 * f1 * f2 * f2) | (f1 * f2 == 0.0)
                a, b = ti.select(f1 > 0.0, x / f1, 0.0), ti.select(f2 > 0.0, y / f2, 0.0)
                k = 1.0 / ti.max(1.0, ti.sqrt(a * a + b * b))
                x, y = ti.select(out, k * a * f1, x), ti.select(out, k * b * f2, y)
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
    if ti.static(lanes == 1):
        for k in ti.static(range(3)):
            f = c0 * n[k] + c1 * s[k] + c2 * t[k]
            if m1 > 0.0:
                d.lcp_body[b1 + k] = v[k] - m1 * f
                d.lcp_body[b1 + 3 + k] = v[3 + k] - (c0 * g[k] + c1 * g[3 + k] + c2 * g[6 + k])
            if m2 > 0.0:
                d.lcp_body[b2 + k] = w[k] + m2 * f
                d.lcp_body[b2 + 3 + k] = w[3 + k] + (c0 * h[k] + c1 * h[3 + k] + c2 * h[6 + k])
    else:
        for k in ti.static(range(3)):
            f = c0 * n[k] + c1 * s[k] + c2 * t[k]
            put(d.lcp_held, held + LANES * k, v[k] - m1 * f, lanes)
            put(d.lcp_held, held + LANES * (VELOCITY + k), w[k] + m2 * f, lanes)
            turn = c0 * g[k] + c1 * g[3 + k] + c2 * g[6 + k]
            put(d.lcp_held, held + LANES * (3 + k), v[3 + k] - turn, lanes)
            turn = c0 * h[k] + c1 * h[3 + k] + c2 * h[6 + k]
            put(d.lcp_held, held + LANES * (VELOCITY + 3 + k), w[3 + k] + turn, lanes)


@func
def aim(m, d, bounce, gap, un, impulse):
    """Least normal velocity of a contact: what closes its gap within the substep, or pushes out its depth beyond the
    slop; of one that bounces, what it leaves with, from the substep on in which it meets."""
    h = m.opt.timestep / d.lcp_substeps
    push = ti.min(d.lcp_max_vel, d.lcp_part / h * ti.max(0.0, -gap - d.lcp_slop))
    v = ti.select(gap <= 0.0, push, -gap / h)
    meets = (bounce > 0.0) & ((gap <= 0.0) | (impulse > 0.0) | (gap + h * un < 0.0))
    return ti.select(meets, ti.max(v, bounce), v)


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
