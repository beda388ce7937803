"""Records of contacts before a step, LANES at once where they lie side by side.

A record is made in two passes, so that LLVM computes those side by side as vectors: what it is made of is put to places
of the record itself, then read from there.
"""

from ..constants import HEAD_COLORS
from ..sleep.awake import is_body_asleep
from ..smooth.gravity import gravity_of
from ..sort import first_from
from ..team import meet, own_part, share
from ..types import FP, called, func, ti
from .bodies import ARM_MASS, ARM_PLACE, ARM_SIZE
from .contacts import (
    ANGULAR1,
    BESIDE,
    BOUNCE,
    DEPTH,
    EASING,
    IMPULSE,
    INVERSE,
    MU1,
    MU2,
    NORMAL,
    PAIR_SIZE,
    PER_MU1,
    PER_MU2,
    ROW,
    SCALE1,
    SCALE2,
    SIDE,
    SIZE,
    SOFT,
    bounce,
    record_of,
)
from .lists import COLORS, HEAD_FIRST, HEAD_SINGLES, HEAD_SIZES, LANES, MOST_ABREAST
from .visits import IN_BOX, number, put

STRETCH = 2048  # contacts of the list, about, that are in the cache while records are made of them
BY_TURNS = 4  # times LANES contacts are taken before any of their records is finished
# where the place of a contact and those of both bodies wait, as the axes of these do where angular rows will be
PLACE, PLACES = (BOUNCE, SOFT, PER_MU1), BESIDE
# of the numbers in lcp_arm, of each body
ARM = (
    (*range(ANGULAR1, ANGULAR1 + SIDE), SCALE1, *range(PLACES, PLACES + ROW)),
    (*range(ANGULAR1 + SIDE, ANGULAR1 + 2 * SIDE), SCALE2, *range(PLACES + ROW, PLACES + 2 * ROW)),
)
PULL = SIZE - 1  # where gravity waits that differs between worlds
PAIRS = ((0, 0), (3, 3), (6, 6), (0, 3), (0, 6), (3, 6))  # of rows, whose products a contact's block are


@called("maximal")
def prepare_contacts(m, d, me: ti.i32, size: ti.i32):
    """A worker's part of the records. Colours are gone through for one stretch of the list after the other, since a
    colour's contacts lie all over the list."""
    ncon = d.ncon
    if ncon > 0:
        first, behind = own_part(m, d, ncon, me, size)
        many = ti.max(1, (behind - first + STRETCH - 1) // STRETCH)
        kinds = MOST_ABREAST * ti.min(d.lcp_head[HEAD_COLORS], COLORS)
        for part in range(many):
            begin, end = share(behind - first, part, many)
            for kind in range(kinds + 1):
                s, low, high = d.lcp_head[HEAD_SINGLES], 0, 0  # of those that are not side by side, by colour
                if kind < kinds:
                    s, low, high = slots_of(m, d, kind, first + begin, first + end)
                elif part == 0:
                    low, high = own_part(m, d, (ncon - s) // LANES, me, size)
                while low < high:
                    n = ti.min(BY_TURNS, high - low)
                    prepare_abreast(m, d, s + LANES * low, n)
                    low += n
        if me == 0:
            for s in range(ncon // LANES * LANES, ncon):
                prepare_contact(m, d, s)
        if d.lcp_bounce > 0.0:
            meet(m, d, me, size)
            for s in range(first, behind):
                bounce(m, d, s)


@func
def slots_of(m, d, kind, begin, end):
    """(first slot of a colour's manifolds of one size, which LANES of these are in the stretch from contact `begin` to
    `end`, from and to): those whose first begins there."""
    first, rows = d.lcp_head[HEAD_FIRST + kind], kind % MOST_ABREAST + 1
    n = d.lcp_head[HEAD_SIZES + kind] // LANES
    low = first_from(d.lcp_order, first, LANES * rows, n, begin)
    return first, rows * low, rows * first_from(d.lcp_order, first, LANES * rows, n, end)


@func
def prepare_abreast(m, d, s, n):
    """The records of the contacts in n times LANES slots from s on, a multiple of LANES."""
    for k in range(n):
        take(m, d, s + LANES * k, SIZE * (s + LANES * k), LANES, LANES)
    for k in range(n):
        finish(m, d, SIZE * (s + LANES * k), LANES, LANES)


@func
def prepare_contact(m, d, s):
    """The record of the contact in slot s."""
    o, step = record_of(m, d, s)
    take(m, d, s, o, step, 1)
    finish(m, d, o, step, 1)
    if d.lcp_bounce > 0.0:
        bounce(m, d, s)


@func
def take(m, d, s, o, step, lanes: ti.template()):
    """What the records of the contacts in `lanes` slots from s on are made of, to the record at o, whose numbers are
    `step` apart."""
    k = [d.lcp_order[s + i] for i in ti.static(range(lanes))]
    for i in ti.static(range(lanes)):
        for side in ti.static(range(2)):
            d.lcp_pair[PAIR_SIZE * (s + i) + side] = body_of(m, d, k[i], side)
    take_contacts(m, d, k, o, step, lanes)
    for side in ti.static(range(2)):
        b = [d.lcp_pair[PAIR_SIZE * (s + i) + side] for i in ti.static(range(lanes))]
        take_bodies(m, d, b, side, o, step, lanes)


@func
def take_contacts(m, d, k: ti.template(), o, step, lanes: ti.template()):
    """The part that contacts k say."""
    for e in ti.static(range(0, 8, 2)):  # by pairs, see tisim/device/transposed.py
        x = [d.contact_frame[k[i], e // 3][e % 3] for i in ti.static(range(lanes))]
        y = [d.contact_frame[k[i], (e + 1) // 3][(e + 1) % 3] for i in ti.static(range(lanes))]
        lay(d, o + step * (NORMAL + e), x, lanes)
        lay(d, o + step * (NORMAL + e + 1), y, lanes)
    last = [d.contact_frame[k[i], 2][2] for i in ti.static(range(lanes))]
    mu1 = [sliding(d, k[i], 0) for i in ti.static(range(lanes))]
    mu2 = [sliding(d, k[i], 1) for i in ti.static(range(lanes))]
    depth = [-d.contact_dist[k[i]] for i in ti.static(range(lanes))]
    easing = [d.lcp_easing[k[i]] for i in ti.static(range(lanes))]
    lay(d, o + step * (NORMAL + 8), last, lanes)
    lay(d, o + step * MU1, mu1, lanes)
    lay(d, o + step * MU2, mu2, lanes)
    lay(d, o + step * DEPTH, depth, lanes)
    lay(d, o + step * EASING, easing, lanes)
    if ti.static(m.has.pulled):
        pull = [gravity_of(m, d.contact_worldid[k[i]]).norm() for i in ti.static(range(lanes))]
        lay(d, o + step * PULL, pull, lanes)
    lay_three(d, d.lcp_start, k, (IMPULSE, IMPULSE + 1, IMPULSE + 2), o, step, lanes)
    lay_three(d, d.lcp_middle, k, PLACE, o, step, lanes)


@func
def lay_three(d, of: ti.template(), k: ti.template(), to: ti.template(), o, step, lanes: ti.template()):
    """The three numbers of each k."""
    x = [of[k[i]][0] for i in ti.static(range(lanes))]
    y = [of[k[i]][1] for i in ti.static(range(lanes))]
    z = [of[k[i]][2] for i in ti.static(range(lanes))]
    lay(d, o + step * ti.static(to[0]), x, lanes)
    lay(d, o + step * ti.static(to[1]), y, lanes)
    lay(d, o + step * ti.static(to[2]), z, lanes)


@func
def take_bodies(m, d, b: ti.template(), side: ti.template(), o, step, lanes: ti.template()):
    """The part that bodies b say, the contacts' first or second ones."""
    for e in ti.static(range(0, ARM_PLACE + 2, 2)):
        x = [d.lcp_arm[ARM_SIZE * b[i] + e] for i in ti.static(range(lanes))]
        y = [d.lcp_arm[ARM_SIZE * b[i] + e + 1] for i in ti.static(range(lanes))]
        lay(d, o + step * ti.static(ARM[side][e]), x, lanes)
        lay(d, o + step * ti.static(ARM[side][e + 1]), y, lanes)
    last = [d.lcp_arm[ARM_SIZE * b[i] + ARM_PLACE + 2] for i in ti.static(range(lanes))]
    lay(d, o + step * ti.static(ARM[side][ARM_PLACE + 2]), last, lanes)
    if ti.static(m.has.sleep):
        for i in ti.static(range(lanes)):
            w = b[i] // m.nbody
            if is_body_asleep(m, d, w, b[i] - w * m.nbody):
                for e in ti.static(ARM[side][: ARM_MASS + 1]):
                    d.lcp_rec[o + step * e + i] = 0.0


@func
def body_of(m, d, k, side: ti.template()):
    """World-major body of geom 1 or 2 of contact k."""
    return d.contact_worldid[k] * m.nbody + m.geom_bodyid[d.contact_geom[k][side]]


@func
def sliding(d, k, c: ti.template()):
    """Sliding friction of contact k along a tangent."""
    return ti.select(d.contact_dim[k] > 1, d.contact_friction[k][c], 0.0)


@func
def lay(d, at, x: ti.template(), lanes: ti.template()):
    """Writes numbers side by side."""
    for i in ti.static(range(lanes)):
        d.lcp_rec[at + i] = x[i]


@func
def finish(m, d, o, step, lanes: ti.template()):
    """The numbers of the records at o from what has been laid there. All is read before anything is written, and
    nothing branches, as in visits.py."""
    n = [number(d, o, step, NORMAL + e, lanes) for e in ti.static(range(9))]
    R = [number(d, o, step, ANGULAR1 + e, lanes) for e in ti.static(range(18))]
    place = [number(d, o, step, ti.static(PLACE[e]), lanes) for e in ti.static(range(3))]
    arm = [place[e % 3] - number(d, o, step, PLACES + e, lanes) for e in ti.static(range(6))]
    m1, m2 = number(d, o, step, SCALE1, lanes), number(d, o, step, SCALE2, lanes)
    start = [number(d, o, step, IMPULSE + e, lanes) for e in ti.static(range(3))]
    mu1, mu2 = number(d, o, step, MU1, lanes), number(d, o, step, MU2, lanes)
    x = [  # arm x n, arm x t1, arm x t2 of body 1, of body 2
        arm[ROW * (e // SIDE) + (e + 1) % ROW] * n[e % SIDE // ROW * ROW + (e + 2) % ROW]
        - arm[ROW * (e // SIDE) + (e + 2) % ROW] * n[e % SIDE // ROW * ROW + (e + 1) % ROW]
        for e in ti.static(range(2 * SIDE))
    ]
    a = [  # along principal axes, scaled
        R[SIDE * (e // SIDE) + e % ROW] * x[e // ROW * ROW]
        + R[SIDE * (e // SIDE) + ROW + e % ROW] * x[e // ROW * ROW + 1]
        + R[SIDE * (e // SIDE) + ROW + ROW + e % ROW] * x[e // ROW * ROW + 2]
        for e in ti.static(range(2 * SIDE))
    ]
    soft, none = d.lcp_cfm / (m.opt.timestep / d.lcp_substeps), 0.0 * m1
    pn = n[0] * start[0] + n[1] * start[1] + n[2] * start[2]
    p1 = n[3] * start[0] + n[4] * start[1] + n[5] * start[2]
    p2 = n[6] * start[0] + n[7] * start[1] + n[8] * start[2]
    pn = ti.select(pn > 0.0, pn, 0.0)
    depth = number(d, o, step, DEPTH, lanes)
    q1, q2 = ti.select(mu1 > 0.0, 1.0 / mu1, 0.0), ti.select(mu2 > 0.0, 1.0 / mu2, 0.0)
    for e in ti.static(range(18)):
        put(d.lcp_rec, o + step * (ANGULAR1 + e), a[e], lanes)
    parting = put_block(d, o, step, a, m1, m2, soft, lanes)
    keep = share_kept(d, depth, parting * pn, most_of(m, d, o, step, lanes))
    put(d.lcp_rec, o + step * IMPULSE, keep * pn, lanes)
    put(d.lcp_rec, o + step * (IMPULSE + 1), keep * p1, lanes)
    put(d.lcp_rec, o + step * (IMPULSE + 2), keep * p2, lanes)
    put(d.lcp_rec, o + step * BOUNCE, none, lanes)
    put(d.lcp_rec, o + step * SOFT, none + soft, lanes)
    put(d.lcp_rec, o + step * PER_MU1, q1, lanes)
    put(d.lcp_rec, o + step * PER_MU2, q2, lanes)


@func
def share_kept(d, depth, speed, most):
    """Part of the last impulses with which a contact of this depth begins, whose own gave its bodies this speed apart.

    Contacts that can not all push out what is beyond the slop, as of a body in a vice, gather impulses without end.
    """
    part = ti.select(speed > most, most / ti.max(speed, FP(1e-30)), 1.0)
    return ti.select(depth > d.lcp_slop, part, 1.0)


@func
def most_of(m, d, o, step, lanes: ti.template()):
    """Speed above which they do not begin with all of them."""
    if ti.static(m.has.pulled):
        x = number(d, o, step, PULL, lanes)
        return ti.max(d.lcp_max_vel, d.lcp_loads * x)
    else:
        return ti.max(d.lcp_max_vel, d.lcp_loads * gravity_of(m, 0).norm())


@func
def put_block(d, o, step, a: ti.template(), m1, m2, soft, lanes: ti.template()):
    """The contacts' own blocks of J M^-1 J' to the records at o, from the angular rows of both bodies: what stands
    beside the diagonal, and 1 / that with the softness. Returns the normals' on the diagonal.

    Both tangents of a circle or polygon go one step, by what is no less than the block's eigenvalues: a longer one, by
    the diagonal alone, goes to and fro.
    """
    block = [
        a[PAIRS[e][0]] * a[PAIRS[e][1]] + a[PAIRS[e][0] + 1] * a[PAIRS[e][1] + 1]
        + a[PAIRS[e][0] + 2] * a[PAIRS[e][1] + 2] + a[PAIRS[e][0] + 9] * a[PAIRS[e][1] + 9]
        + a[PAIRS[e][0] + 10] * a[PAIRS[e][1] + 10] + a[PAIRS[e][0] + 11] * a[PAIRS[e][1] + 11]
        for e in ti.static(range(6))
    ]  # fmt: skip
    mass = m1 * m1 + m2 * m2
    own = [mass + block[e] for e in ti.static(range(3))]
    both = ti.max(own[1], own[2]) + ti.abs(block[5])
    box = d.lcp_friction == IN_BOX
    steps = [own[0], ti.select(box, own[1], both), ti.select(box, own[2], both)]
    inverse = [ti.select(steps[e] > 0.0, 1.0 / ti.max(steps[e] + soft, FP(1e-300)), 0.0) for e in ti.static(range(3))]
    for e in ti.static(range(3)):
        put(d.lcp_rec, o + step * (BESIDE + e), block[3 + e], lanes)
        put(d.lcp_rec, o + step * (INVERSE + e), inverse[e], lanes)
    return own[0]
