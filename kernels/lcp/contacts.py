"""Contacts of the second dynamics: their records before a step, and what is kept of them behind it.

A record (lcp_rec) is 48 numbers, by the places below: the normal from geom 1 to geom 2 and two tangents; the angular
rows of both bodies along their principal axes, scaled as lcp_body is; the contact's own 3 x 3 block of J M^-1 J'.
Records of LANES slots lie side by side, first the four numbers 0, then the four numbers 1, so that a sweep may visit
them together (visits.py); those of the last slots, if they are fewer, alike; on a GPU those of all slots.
"""

from ..rotation import at3
from ..sleep.awake import is_body_asleep
from ..team import share
from ..types import FP, GPU, func, ti, vec3
from .bodies import SCALE_SIZE, TWIST_SIZE
from .lists import LANES
from .matches import HEAD_SLEEPERS

SIZE, SIDE, ROW, PAIR_SIZE = 48, 9, 3, 2
NORMAL, ANGULAR1, ANGULAR2 = 0, 9, 18  # three rows each
SCALE1, SCALE2 = 27, 28  # 1 / sqrt(m)
DEPTH, MU1, MU2 = 29, 30, 42
BESIDE = 31  # of the block: n t1, n t2, t1 t2
INVERSE = 34  # 1 / its diagonal with the softness
IMPULSE = 37  # of a substep [N s]
BOUNCE, SOFT = 40, 41  # velocity behind a bounce [m/s]; cfm / h
PER_MU1, PER_MU2 = 43, 44  # 1 / mu, 0 without friction
EASING = 45  # least velocity apart, by ease [m/s]
AT_ONCE = 8  # of a record: Taichi warns of longer loops
numbers = ti.types.vector(SIZE, FP)


@func
def record_of(m, d, s):
    """(place of number 0 of the record in slot s, how far apart its numbers are)."""
    o, step = s, d.ncon
    if ti.static(not GPU):
        first = s // LANES * LANES
        o, step = SIZE * first + s - first, ti.min(LANES, d.ncon - first)
    return o, step


@func
def rec3(d, o, step, e):
    """Three numbers of the record at o, from number e on."""
    return vec3(d.lcp_rec[o + step * e], d.lcp_rec[o + step * (e + 1)], d.lcp_rec[o + step * (e + 2)])


@func
def prepare_contact(m, d, s, k):
    """The record of contact k, in slot s."""
    o, step = record_of(m, d, s)
    d.lcp_pair[PAIR_SIZE * s], d.lcp_pair[PAIR_SIZE * s + 1] = bodies_of(m, d, k)
    x = numbers_of(m, d, k)
    for part in ti.static(range(SIZE // AT_ONCE)):
        for e in ti.static(range(AT_ONCE * part, AT_ONCE * (part + 1))):
            d.lcp_rec[o + step * e] = x[e]
    if d.lcp_bounce > 0.0:
        bounce(m, d, s)


@func
def bodies_of(m, d, k):
    """World-major bodies of contact k."""
    world = d.contact_worldid[k] * m.nbody
    return world + m.geom_bodyid[d.contact_geom[k][0]], world + m.geom_bodyid[d.contact_geom[k][1]]


@func
def numbers_of(m, d, k):
    """The numbers of contact k's record, but for its bounce. Nothing branches, so that LLVM may take LANES at once."""
    wb1, wb2 = bodies_of(m, d, k)
    pos, start = d.contact_pos[k], d.lcp_start[k]
    n, t1, t2 = d.contact_frame[k, 0], d.contact_frame[k, 1], d.contact_frame[k, 2]
    slides = ti.select(d.contact_dim[k] > 1, 1.0, 0.0)
    mu1, mu2 = slides * d.contact_friction[k][0], slides * d.contact_friction[k][1]
    soft = d.lcp_cfm / (m.opt.timestep / d.lcp_substeps)
    m1, a0, a1, a2 = side_of(m, d, wb1, pos, n, t1, t2)
    m2, b0, b1, b2 = side_of(m, d, wb2, pos, n, t1, t2)
    per_mu1, per_mu2 = ti.select(mu1 > 0.0, 1.0 / mu1, 0.0), ti.select(mu2 > 0.0, 1.0 / mu2, 0.0)
    inverse, beside = block_of(m1, m2, a0, a1, a2, b0, b1, b2, soft)
    return numbers(
        [n[0], n[1], n[2], t1[0], t1[1], t1[2], t2[0], t2[1], t2[2],
         a0[0], a0[1], a0[2], a1[0], a1[1], a1[2], a2[0], a2[1], a2[2],
         b0[0], b0[1], b0[2], b1[0], b1[1], b1[2], b2[0], b2[1], b2[2],
         m1, m2, -d.contact_dist[k], mu1, beside[0], beside[1], beside[2], inverse[0], inverse[1], inverse[2],
         ti.max(0.0, n.dot(start)), t1.dot(start), t2.dot(start), 0.0, soft, mu2, per_mu1, per_mu2,
         d.lcp_easing[k], 0.0, 0.0]
    )  # fmt: skip


@func
def bounce(m, d, s):
    """Velocity behind a bounce of the contact in slot s [m/s]: by that before the step's forces."""
    o, step = record_of(m, d, s)
    n = rec3(d, o, step, NORMAL)
    speed = FP(0.0)
    for side in ti.static(range(2)):
        t = TWIST_SIZE * d.lcp_pair[PAIR_SIZE * s + side]
        before, turn = at3(d.lcp_from, t) - at3(d.lcp_push, t), at3(d.lcp_from, t + 3) - at3(d.lcp_push, t + 3)
        rate = d.lcp_rec[o + step * (SCALE1 + side)] * n.dot(before)
        rate += rec3(d, o, step, ANGULAR1 + SIDE * side).dot(turn)
        speed += ti.select(side == 1, rate, -rate)
    d.lcp_rec[o + step * BOUNCE] = ti.select(-speed > d.lcp_bounce_vel, -d.lcp_bounce * speed, 0.0)


@func
def side_of(m, d, wb, pos, n, t1, t2):
    """(1 / sqrt(m), angular rows along its axes) of body wb at a contact."""
    moves = FP(1.0)
    if ti.static(m.has.sleep):
        w = wb // m.nbody
        if is_body_asleep(m, d, w, wb - w * m.nbody):
            moves = 0.0
    scale = moves * d.lcp_scale[SCALE_SIZE * wb]
    roots = moves * at3(d.lcp_scale, SCALE_SIZE * wb + 1)
    arm = pos - d.xipos[wb]
    S = d.ximat[wb].transpose()
    return scale, roots * (S @ arm.cross(n)), roots * (S @ arm.cross(t1)), roots * (S @ arm.cross(t2))


@ti.func
def block_of(m1, m2, a0, a1, a2, b0, b1, b2, soft):
    """(1 / its diagonal with the softness, what stands beside it) of a contact's own block."""
    mass = m1 * m1 + m2 * m2
    inverse = vec3(mass + a0.dot(a0) + b0.dot(b0), mass + a1.dot(a1) + b1.dot(b1), mass + a2.dot(a2) + b2.dot(b2))
    for c in ti.static(range(3)):
        inverse[c] = ti.select(inverse[c] > 0.0, 1.0 / ti.max(inverse[c] + soft, FP(1e-300)), 0.0)
    return inverse, vec3(a0.dot(a1) + b0.dot(b1), a0.dot(a2) + b0.dot(b2), a1.dot(a2) + b1.dot(b2))


@func
def put_block(d, o, step, inverse, beside):
    """The same to the record at o."""
    for c in ti.static(range(3)):
        d.lcp_rec[o + step * (INVERSE + c)] = inverse[c]
        d.lcp_rec[o + step * (BESIDE + c)] = beside[c]


@func
def keep_contact(m, d, s, k):
    """Impulse and place of contact k, in slot s, for the next step, in the list's order; its force for users."""
    o, step = record_of(m, d, s)
    p = rec3(d, o, step, IMPULSE)
    f = p[0] * d.contact_frame[k, 0]
    f += p[1] * d.contact_frame[k, 1] + p[2] * d.contact_frame[k, 2]
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
