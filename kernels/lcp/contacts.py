"""Contacts of the second dynamics: their records before a step, and what is kept of them behind it.

A record (lcp_rec) is 48 numbers, by the places below: the normal from geom 1 to geom 2 and two tangents; the angular
rows of both bodies along their principal axes, scaled as lcp_body is; the contact's own 3 x 3 block of J M^-1 J'.
Records of LANES slots lie side by side, first the four numbers 0, then the four numbers 1, so that a sweep may visit
them together (visits.py); those of the last slots, if they are fewer, alike; on a GPU those of all slots.
"""

from ..rotation import at3
from ..smooth.gravity import gravity_of
from ..types import FP, GPU, func, ti, vec3
from .bodies import TWIST_SIZE
from .lists import LANES

SIZE, SIDE, ROW, PAIR_SIZE = 48, 9, 3, 2
NORMAL, ANGULAR1, ANGULAR2 = 0, 9, 18  # three rows each
SCALE1, SCALE2 = 27, 28  # 1 / sqrt(m)
DEPTH, MU1, MU2 = 29, 30, 42
BESIDE = 31  # of the block: n t1, n t2, t1 t2
INVERSE = 34  # 1 / its diagonal with the softness, of tangents see put_block in records.py
IMPULSE = 37  # of a substep [N s]
BOUNCE, SOFT = 40, 41  # velocity behind a bounce [m/s]; cfm / h
PER_MU1, PER_MU2 = 43, 44  # 1 / mu, 0 without friction
EASING = 45  # least velocity apart, by ease [m/s]
# of what is not an impact: growth of an impulse in a step; part of lcp_loads; at least so much of one is carried on
GROWTH, WEIGHTS, LEAST_CARRIED = 4.0, 0.1, 0.125


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
def keep_contact(m, d, s, k):
    """Impulse and place of contact k, in slot s, for the next step, in the list's order; its force for users."""
    o, step = record_of(m, d, s)
    p = rec3(d, o, step, IMPULSE)
    f = p[0] * d.contact_frame[k, 0]
    f += p[1] * d.contact_frame[k, 1] + p[2] * d.contact_frame[k, 2]
    d.lcp_impulse[k] = share_carried(m, d, k, p[0], d.lcp_rec[o + step * INVERSE]) * f
    d.lcp_pos[k] = d.contact_pos[k]
    d.lcp_geom[k] = ti.Vector([d.contact_worldid[k] * m.ngeom + d.contact_geom[k][0], d.contact_geom[k][1]])
    force = f * (d.lcp_substeps / m.opt.timestep)
    for c in ti.static(range(3)):
        d.con_force[k][c] = force[c]
    d.con_force[k][3] = 0.0
    d.contact_efc_address[k] = -1


@func
def share_carried(m, d, k, impulse, inverse):
    """Part of the impulses of contact k with which it begins the next step.

    One that has grown in a step to much more than it began with and than weights ask for has stopped an impact: what
    does so once would, done again, throw the bodies back. inverse: 1 / (velocity apart that an impulse of 1 gives).
    """
    part = FP(1.0)
    if impulse > 0.0:
        began = d.contact_frame[k, 0].dot(d.lcp_start[k])
        resting = WEIGHTS * d.lcp_loads * gravity_of(m, d.contact_worldid[k]).norm() * inverse
        part = ti.max(LEAST_CARRIED, ti.min(FP(1.0), ti.max(GROWTH * began, resting) / impulse))
    return part
