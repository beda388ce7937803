"""Contacts of the second dynamics: their records before a step, and what is kept of them behind it.

A record (lcp_rec) is 48 numbers, by the places below: the normal from geom 1 to geom 2 and two tangents; the angular
rows of both bodies along their principal axes, scaled as lcp_body is; the contact's own 3 x 3 block of J M^-1 J'.
Records of LANES slots lie side by side, first the four numbers 0, then the four numbers 1, so that a sweep may visit
them together (visits.py); those of the last slots, if they are fewer, alike.
"""

from ..rotation import at3
from ..sleep.awake import is_body_asleep
from ..team import share
from ..types import FP, func, ti, vec3
from .bodies import SCALE_SIZE, TWIST_SIZE
from .lists import HEAD_SLEEPERS, LANES

SIZE, SIDE, ROW, PAIR_SIZE = 48, 9, 3, 2
ANGULAR1, ANGULAR2 = 9, 18  # three rows each
SCALE1, SCALE2 = 27, 28  # 1 / sqrt(m)
DEPTH, MU1, MU2 = 29, 30, 42
BESIDE = 31  # of the block: n t1, n t2, t1 t2
INVERSE = 34  # 1 / its diagonal with the softness
IMPULSE = 37  # of a substep [N s]
BOUNCE, SOFT = 40, 41  # velocity behind a bounce [m/s]; cfm / h


@func
def record_of(m, d, s):
    """(place of number 0 of the record in slot s, how far apart its numbers are)."""
    first = s // LANES * LANES
    return SIZE * first + s - first, ti.min(LANES, d.ncon - first)


@func
def rec3(d, o, step, e):
    """Three numbers of the record at o, from number e on."""
    return vec3(d.lcp_rec[o + step * e], d.lcp_rec[o + step * (e + 1)], d.lcp_rec[o + step * (e + 2)])


@func
def prepare_contact(m, d, s, k):
    """The record of contact k, in slot s."""
    o, step = record_of(m, d, s)
    h = m.opt.timestep / d.lcp_substeps
    world = d.contact_worldid[k] * m.nbody
    speed = FP(0.0)  # of the normal before the step's forces, if it may bounce
    for side in ti.static(range(2)):
        wb = world + m.geom_bodyid[d.contact_geom[k][side]]
        d.lcp_pair[PAIR_SIZE * s + side] = wb
        moves = FP(1.0)
        if ti.static(m.has.sleep):
            if is_body_asleep(m, d, d.contact_worldid[k], wb - world):
                moves = 0.0
        scale = moves * d.lcp_scale[SCALE_SIZE * wb]
        d.lcp_rec[o + step * (SCALE1 + side)] = scale
        arm = d.contact_pos[k] - d.xipos[wb]
        R = d.ximat[wb]
        roots = at3(d.lcp_scale, SCALE_SIZE * wb + 1)
        for e in ti.static(range(3)):
            y = R.transpose() @ arm.cross(d.contact_frame[k, e])
            y *= moves
            y = roots * y
            for c in ti.static(range(3)):
                d.lcp_rec[o + step * (ANGULAR1 + SIDE * side + ROW * e + c)] = y[c]
            if ti.static(e == 0):
                if d.lcp_bounce > 0.0:
                    before = at3(d.lcp_from, TWIST_SIZE * wb) - at3(d.lcp_push, TWIST_SIZE * wb)
                    turn = at3(d.lcp_from, TWIST_SIZE * wb + 3) - at3(d.lcp_push, TWIST_SIZE * wb + 3)
                    v = scale * d.contact_frame[k, 0].dot(before) + y.dot(turn)
                    speed += (2 * side - 1) * v
    soft = d.lcp_cfm / h
    for e in ti.static(range(3)):
        row = d.contact_frame[k, e]
        d.lcp_rec[o + step * (IMPULSE + e)] = row.dot(d.lcp_start[k])
        for c in ti.static(range(3)):
            d.lcp_rec[o + step * (ROW * e + c)] = row[c]
    block_of(m, d, o, step, soft)
    d.lcp_rec[o + step * IMPULSE] = ti.max(0.0, d.lcp_rec[o + step * IMPULSE])
    d.lcp_rec[o + step * DEPTH] = -d.contact_dist[k]
    slides = ti.select(d.contact_dim[k] > 1, 1.0, 0.0)
    d.lcp_rec[o + step * MU1] = slides * d.contact_friction[k][0]
    d.lcp_rec[o + step * MU2] = slides * d.contact_friction[k][1]
    d.lcp_rec[o + step * BOUNCE] = ti.select(-speed > d.lcp_bounce_vel, -d.lcp_bounce * speed, 0.0)
    d.lcp_rec[o + step * SOFT] = soft


@func
def block_of(m, d, o, step, soft):
    """The contact's own block, of the record at o."""
    mass = d.lcp_rec[o + step * SCALE1] ** 2 + d.lcp_rec[o + step * SCALE2] ** 2
    for e in ti.static(range(3)):
        y, z = rec3(d, o, step, ANGULAR1 + ROW * e), rec3(d, o, step, ANGULAR2 + ROW * e)
        block = mass + y.dot(y) + z.dot(z)
        inverse = ti.select(block > 0.0, 1.0 / ti.max(block + soft, FP(1e-300)), 0.0)
        d.lcp_rec[o + step * (INVERSE + e)] = inverse
        i, j = ti.static((0, 0, 1)[e], (1, 2, 2)[e])
        beside = rec3(d, o, step, ANGULAR1 + ROW * i).dot(rec3(d, o, step, ANGULAR1 + ROW * j))
        beside += rec3(d, o, step, ANGULAR2 + ROW * i).dot(rec3(d, o, step, ANGULAR2 + ROW * j))
        d.lcp_rec[o + step * (BESIDE + e)] = beside


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
