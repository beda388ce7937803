"""Contacts of the second dynamics: their records before a step, and one visit in a sweep.

A record (lcp_rec) is 48 numbers, by the places below: the normal from geom 1 to geom 2 and two tangents; the angular
rows of both bodies along their principal axes, scaled as lcp_body is; the contact's own 3 x 3 block of J M^-1 J'.
"""

from ..rotation import at3
from ..sleep.awake import is_body_asleep
from ..team import share
from ..types import FP, func, ti, vec2, vec3
from .bodies import BODY_SIZE, SCALE_SIZE, TWIST_SIZE, WAY
from .lists import HEAD_SLEEPERS

SIZE, SIDE, ROW, PAIR_SIZE = 48, 9, 3, 2
ANGULAR1, ANGULAR2 = 9, 18  # three rows each
SCALE1, SCALE2 = 27, 28  # 1 / sqrt(m)
DEPTH, MU1, MU2 = 29, 30, 42
BESIDE = 31  # of the block: n t1, n t2, t1 t2
INVERSE = 34  # 1 / its diagonal with the softness
IMPULSE = 37  # of a substep [N s]
BOUNCE, SOFT = 40, 41  # velocity behind a bounce [m/s]; cfm / h
IN_CIRCLE, IN_POLYGON, IN_BOX = 0, 1, 2  # m.lcp.friction


@func
def prepare_contact(m, d, s, k):
    """The record of contact k, in slot s."""
    o = SIZE * s
    h = m.opt.timestep / d.lcp_substeps
    world = d.contact_worldid[k] * m.nbody
    speed = vec3(0.0)
    for side in ti.static(range(2)):
        wb = world + m.geom_bodyid[d.contact_geom[k][side]]
        d.lcp_pair[PAIR_SIZE * s + side] = wb
        moves = FP(1.0)
        if ti.static(m.has.sleep):
            if is_body_asleep(m, d, d.contact_worldid[k], wb - world):
                moves = 0.0
        d.lcp_rec[o + SCALE1 + side] = moves * d.lcp_scale[SCALE_SIZE * wb]
        arm = d.contact_pos[k] - d.xipos[wb]
        R = d.ximat[wb]
        for e in ti.static(range(3)):
            y = R.transpose() @ arm.cross(d.contact_frame[k, e])
            y *= moves
            for c in ti.static(range(3)):
                d.lcp_rec[o + ANGULAR1 + SIDE * side + ROW * e + c] = d.lcp_scale[SCALE_SIZE * wb + 1 + c] * y[c]
            before = at3(d.lcp_from, TWIST_SIZE * wb) - at3(d.lcp_push, TWIST_SIZE * wb)
            turn = at3(d.lcp_from, TWIST_SIZE * wb + 3) - at3(d.lcp_push, TWIST_SIZE * wb + 3)
            v = d.lcp_rec[o + SCALE1 + side] * d.contact_frame[k, e].dot(before)
            v += at3(d.lcp_rec, o + ANGULAR1 + SIDE * side + ROW * e).dot(turn)
            if ti.static(side == 1):
                speed[e] += v
            else:
                speed[e] -= v
    soft = d.lcp_cfm / h
    for e in ti.static(range(3)):
        row = d.contact_frame[k, e]
        d.lcp_rec[o + IMPULSE + e] = row.dot(d.lcp_start[k])
        for c in ti.static(range(3)):
            d.lcp_rec[o + ROW * e + c] = row[c]
    block_of(m, d, o, soft)
    d.lcp_rec[o + IMPULSE] = ti.max(0.0, d.lcp_rec[o + IMPULSE])
    d.lcp_rec[o + DEPTH] = -d.contact_dist[k]
    slides = ti.select(d.contact_dim[k] > 1, 1.0, 0.0)
    d.lcp_rec[o + MU1] = slides * d.contact_friction[k][0]
    d.lcp_rec[o + MU2] = slides * d.contact_friction[k][1]
    d.lcp_rec[o + BOUNCE] = ti.select(-speed[0] > d.lcp_bounce_vel, -d.lcp_bounce * speed[0], 0.0)
    d.lcp_rec[o + SOFT] = soft


@func
def block_of(m, d, o, soft):
    """The contact's own block, of the record at o."""
    mass = d.lcp_rec[o + SCALE1] ** 2 + d.lcp_rec[o + SCALE2] ** 2
    for e in ti.static(range(3)):
        y, z = at3(d.lcp_rec, o + ANGULAR1 + ROW * e), at3(d.lcp_rec, o + ANGULAR2 + ROW * e)
        block = mass + y.dot(y) + z.dot(z)
        d.lcp_rec[o + INVERSE + e] = ti.select(block > 0.0, 1.0 / ti.max(block + soft, FP(1e-300)), 0.0)
        i, j = ti.static((0, 0, 1)[e], (1, 2, 2)[e])
        beside = at3(d.lcp_rec, o + ANGULAR1 + ROW * i).dot(at3(d.lcp_rec, o + ANGULAR1 + ROW * j))
        beside += at3(d.lcp_rec, o + ANGULAR2 + ROW * i).dot(at3(d.lcp_rec, o + ANGULAR2 + ROW * j))
        d.lcp_rec[o + BESIDE + e] = beside


@func
def visit_contact(m, d, s, first):
    """One visit of the contact in slot s: changes of its impulses on both bodies. first: those that it begins with."""
    o = SIZE * s
    b1, b2 = BODY_SIZE * d.lcp_pair[PAIR_SIZE * s], BODY_SIZE * d.lcp_pair[PAIR_SIZE * s + 1]
    n, t1, t2 = at3(d.lcp_rec, o), at3(d.lcp_rec, o + 3), at3(d.lcp_rec, o + 6)
    g0, g1, g2 = at3(d.lcp_rec, o + 9), at3(d.lcp_rec, o + 12), at3(d.lcp_rec, o + 15)
    h0, h1, h2 = at3(d.lcp_rec, o + 18), at3(d.lcp_rec, o + 21), at3(d.lcp_rec, o + 24)
    m1, m2 = d.lcp_rec[o + SCALE1], d.lcp_rec[o + SCALE2]
    v1, w1 = at3(d.lcp_body, b1), at3(d.lcp_body, b1 + 3)
    v2, w2 = at3(d.lcp_body, b2), at3(d.lcp_body, b2 + 3)
    change = at3(d.lcp_rec, o + IMPULSE)
    if first == 0:
        gap = n.dot(m2 * at3(d.lcp_body, b2 + WAY) - m1 * at3(d.lcp_body, b1 + WAY))
        gap += h0.dot(at3(d.lcp_body, b2 + WAY + 3)) - g0.dot(at3(d.lcp_body, b1 + WAY + 3)) - d.lcp_rec[o + DEPTH]
        r = m2 * v2 - m1 * v1
        old = change
        soft, sor = d.lcp_rec[o + SOFT], d.lcp_sor
        un = n.dot(r) + (h0.dot(w2) - g0.dot(w1))
        pn = old[0] + sor * (aim(m, d, o, gap, un, old[0]) - un - soft * old[0]) * d.lcp_rec[o + INVERSE]
        pn = ti.max(0.0, pn)
        e0 = pn - old[0]
        u1 = t1.dot(r) + (h1.dot(w2) - g1.dot(w1)) + d.lcp_rec[o + BESIDE] * e0 + soft * old[1]
        u2 = t2.dot(r) + (h2.dot(w2) - g2.dot(w1)) + d.lcp_rec[o + BESIDE + 1] * e0 + soft * old[2]
        x, y = old[1], old[2]
        f1, f2 = d.lcp_rec[o + MU1] * pn, d.lcp_rec[o + MU2] * pn
        i1, i2 = d.lcp_rec[o + INVERSE + 1], d.lcp_rec[o + INVERSE + 2]
        if d.lcp_friction == IN_BOX:  # row by row
            x = ti.max(-f1, ti.min(f1, x - sor * u1 * i1))
            y -= sor * (u2 + d.lcp_rec[o + BESIDE + 2] * (x - old[1])) * i2
            y = ti.max(-f2, ti.min(f2, y))
        else:
            step = sor * ti.min(i1, i2)
            x -= step * u1
            y -= step * u2
            if x * x * f2 * f2 + y * y * f1 * f1 > f1 * f1 * f2 * f2 or f1 * f2 == 0.0 or d.lcp_friction == IN_POLYGON:
                near = nearest(m, d, x, y, f1, f2)
                x, y = near[0], near[1]
        d.lcp_rec[o + IMPULSE] = pn
        d.lcp_rec[o + IMPULSE + 1] = x
        d.lcp_rec[o + IMPULSE + 2] = y
        change = vec3(e0, x - old[1], y - old[2])
    f = change[0] * n + change[1] * t1 + change[2] * t2
    if m1 > 0.0:
        v1 -= m1 * f
        w1 -= change[0] * g0 + change[1] * g1 + change[2] * g2
        for c in ti.static(range(3)):
            d.lcp_body[b1 + c] = v1[c]
            d.lcp_body[b1 + 3 + c] = w1[c]
    if m2 > 0.0:
        v2 += m2 * f
        w2 += change[0] * h0 + change[1] * h1 + change[2] * h2
        for c in ti.static(range(3)):
            d.lcp_body[b2 + c] = v2[c]
            d.lcp_body[b2 + 3 + c] = w2[c]


@func
def aim(m, d, o, gap, un, impulse):
    """Least normal velocity of a contact: what closes its gap within the substep, or pushes out its depth beyond the
    slop; of one that bounces, what it leaves with, from the substep on in which it meets."""
    h = m.opt.timestep / d.lcp_substeps
    v = -gap / h
    if gap <= 0.0:
        v = ti.min(d.lcp_max_vel, d.lcp_part / h * ti.max(0.0, -gap - d.lcp_slop))
    bounce = d.lcp_rec[o + BOUNCE]
    if bounce > 0.0 and (gap <= 0.0 or impulse > 0.0 or gap + h * un < 0.0):
        v = ti.max(v, bounce)
    return v


@func
def nearest(m, d, x, y, f1, f2):
    """The nearest admissible tangential impulse with bounds f1, f2: in the circle, or in the regular polygon with
    lcp_eta corners on it, one of them along the first tangent."""
    a, b = 0.0 * x, 0.0 * y
    if f1 > 0.0:
        a = x / f1
    if f2 > 0.0:
        b = y / f2
    if d.lcp_friction == IN_CIRCLE:
        k = 1.0 / ti.max(FP(1.0), ti.sqrt(a * a + b * b))
        a, b = k * a, k * b
    else:
        step = 2.0 * ti.math.pi / d.lcp_eta
        side = ti.floor(ti.atan2(b, a) / step)
        p = vec2(ti.cos(side * step), ti.sin(side * step))
        along = vec2(ti.cos((side + 1.0) * step), ti.sin((side + 1.0) * step)) - p
        if (a - p[0]) * along[1] - (b - p[1]) * along[0] > 0.0:
            t = ((a - p[0]) * along[0] + (b - p[1]) * along[1]) / along.dot(along)
            p += ti.max(FP(0.0), ti.min(FP(1.0), t)) * along
            a, b = p[0], p[1]
    return vec2(a * f1, b * f2)


@func
def keep_contact(m, d, s, k):
    """Impulse and place of contact k, in slot s, for the next step, in the list's order; its force for users."""
    o = SIZE * s
    f = d.lcp_rec[o + IMPULSE] * at3(d.lcp_rec, o)
    f += d.lcp_rec[o + IMPULSE + 1] * at3(d.lcp_rec, o + 3) + d.lcp_rec[o + IMPULSE + 2] * at3(d.lcp_rec, o + 6)
    at = k
    if ti.static(m.has.sleep):
        at = d.lcp_place[k]
    d.lcp_impulse[at] = f
    d.lcp_pos[at] = d.contact_pos[k]
    d.lcp_geom[at] = ti.Vector([d.contact_worldid[k] * m.ngeom + d.contact_geom[k][0], d.contact_geom[k][1]])
    force = f * (d.lcp_substeps / m.opt.timestep)
    for c in ti.static(range(3)):
        d.con_force[k][c] = force[c]
    d.con_force[k][3] = 0.0
    d.contact_efc_address[k] = -1


@func
def keep_sleepers(m, d, me, size):
    """Contacts of sleepers at their places in the list for the next step: a worker's part."""
    if ti.static(m.has.sleep):
        first, behind = share(d.lcp_head[HEAD_SLEEPERS], me, size)
        for i in range(first, behind):
            at = d.lcp_slept_place[i]
            d.lcp_impulse[at] = d.lcp_slept_impulse[i]
            d.lcp_pos[at] = d.lcp_slept_pos[i]
            d.lcp_geom[at] = d.lcp_slept_geom[i]
