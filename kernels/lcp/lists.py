"""Manifolds by colour, connects and welds by theirs: which contacts a sweep visits together, and in which slots."""

from ..constants import DSBL_CONSTRAINT, DSBL_EQUALITY, EQ_WELD, HEAD_COLORS
from ..constraint.equality import local_ends
from ..sleep.awake import is_body_asleep
from ..team import crew, forget_waits, join, meet, own_part
from ..types import HAND, SERIAL, func, kernel, ti
from .manifolds import contacts_of, ease_contacts, find_manifolds
from .matches import match_contacts

COLORS = 30  # and the last one, of manifolds that get no other, which is one worker's
LANES = 4  # contacts that are visited side by side
# places in lcp_head: where color c begins, of contacts that are visited side by side; behind HEAD_COLORS, of the others
HEAD_SINGLES = 64
# and of each kind of manifolds, those of a colour with as many contacts, then those of a colour with more than
# MOST_ABREAST: how many are visited side by side; the first slot of these
HEAD_SIZES, HEAD_FIRST, MOST_ABREAST = 128, 416, 8
KINDS = COLORS * MOST_ABREAST
KIND_SIZE = 2  # numbers of a manifold in lcp_pair, until records are made: its kind and which of these it is, then its
# first slot and how far apart its slots are
ENDS, EQ_ROWS = 2, 6  # numbers of an equality in lcp_eq_body, lcp_eq_impulse


@kernel
def lcp_lists(m, d):
    """lcp_order, lcp_slot, lcp_head, lcp_start, lcp_easing; d.nhand workers share it, d.nworker at most in a team."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, work)


@func
def work(m, d, hand):
    """A worker's part."""
    me, size = join(m, d, d.nworker)
    if me < size:
        make_lists(m, d, me, size)


@func
def begin_with_lists(m, d, me, size):
    """The same in the launch that goes on from them, where the host has nothing to decide in between."""
    if ti.static(not m.has.direct):
        make_lists(m, d, me, size)
        meet(m, d, me, size)
        forget_waits(m, d, me)


@func
def make_lists(m, d, me, size):
    """Manifolds, their colours by one worker while others look for what contacts begin with, then slots."""
    n = find_manifolds(m, d, me, size)
    if me == 0:
        color_manifolds(m, d, n)
        if ti.static(m.has.loops):
            color_loops(m, d)
    match_contacts(m, d, n, me, size)
    meet(m, d, me, size)
    first, behind = own_part(m, d, n, me, size)
    for i in range(first, behind):
        give_slots(m, d, i, n)


@func
def color_manifolds(m, d, n):
    """lcp_pair: each manifold, in list order, has the first colour that neither moving body has.

    Of a colour's manifolds with r contacts each four in list order have r rows of LANES slots, in row k the k-th
    contact of each; these are in the first slots. What is left of all of these has slots behind, in list order.
    """
    for b in range(d.nworld * m.nbody):
        d.lcp_used[b] = 0
    for c in range(COLORS + 2):
        d.lcp_head[HEAD_SINGLES + c] = 0
    for k in range(KINDS + COLORS + 1):
        d.lcp_head[HEAD_SIZES + k] = 0
    ncolor = 0
    for i in range(n):
        c, end = contacts_of(m, d, i, n)
        color = take_color(m, d, c)
        kind = KINDS + color
        if color < COLORS and end - c <= MOST_ABREAST:
            kind = MOST_ABREAST * color + end - c - 1
        else:
            d.lcp_head[HEAD_SINGLES + color + 1] = d.lcp_head[HEAD_SINGLES + color + 1] + (end - c)
        d.lcp_pair[KIND_SIZE * i] = kind
        d.lcp_pair[KIND_SIZE * i + 1] = d.lcp_head[HEAD_SIZES + kind]
        d.lcp_head[HEAD_SIZES + kind] = d.lcp_head[HEAD_SIZES + kind] + 1
        ncolor = ti.max(ncolor, color + 1)
    d.lcp_head[HEAD_COLORS] = ncolor
    slot = 0
    for color in range(ncolor):
        d.lcp_head[color] = slot
        d.lcp_head[HEAD_SIZES + KINDS + color] = 0
        for k in range(ti.select(color < COLORS, MOST_ABREAST, 0)):
            kind = MOST_ABREAST * color + k
            left = d.lcp_head[HEAD_SIZES + kind] % LANES
            d.lcp_head[HEAD_SIZES + kind] = d.lcp_head[HEAD_SIZES + kind] - left
            d.lcp_head[HEAD_FIRST + kind] = slot
            slot += d.lcp_head[HEAD_SIZES + kind] * (k + 1)
            d.lcp_head[HEAD_SINGLES + color + 1] = d.lcp_head[HEAD_SINGLES + color + 1] + left * (k + 1)
    d.lcp_head[ncolor] = slot
    d.lcp_head[HEAD_SINGLES] = slot
    for k in range(ncolor):
        d.lcp_head[HEAD_SINGLES + k + 1] = d.lcp_head[HEAD_SINGLES + k + 1] + d.lcp_head[HEAD_SINGLES + k]
    for i in range(n):
        kind, k = d.lcp_pair[KIND_SIZE * i], d.lcp_pair[KIND_SIZE * i + 1]
        first, step = 0, 1
        if k < d.lcp_head[HEAD_SIZES + kind]:
            first = d.lcp_head[HEAD_FIRST + kind] + k // LANES * LANES * (kind % MOST_ABREAST + 1) + k % LANES
            step = LANES
        else:
            c, end = contacts_of(m, d, i, n)
            color = ti.select(kind < KINDS, kind // MOST_ABREAST, kind - KINDS)
            first = d.lcp_head[HEAD_SINGLES + color]
            d.lcp_head[HEAD_SINGLES + color] = first + (end - c)
        d.lcp_pair[KIND_SIZE * i] = first
        d.lcp_pair[KIND_SIZE * i + 1] = step
    for k in range(ncolor):  # they begin where those before end
        d.lcp_head[HEAD_SINGLES + ncolor - k] = d.lcp_head[HEAD_SINGLES + ncolor - k - 1]
    d.lcp_head[HEAD_SINGLES] = d.lcp_head[ncolor]


@func
def give_slots(m, d, i, n):
    """lcp_slot, lcp_order and lcp_easing of the contacts of manifold i of n."""
    c, end = contacts_of(m, d, i, n)
    slot, step = d.lcp_pair[KIND_SIZE * i], d.lcp_pair[KIND_SIZE * i + 1]
    for e in range(c, end):
        d.lcp_order[slot] = e
        d.lcp_slot[e] = slot
        slot += step
    ease_contacts(m, d, c, end)


@func
def take_color(m, d, c):
    """The first colour that no moving body of contact c has; then they have it."""
    g = d.contact_geom[c]
    return first_color(m, d, d.contact_worldid[c] * m.nbody, m.geom_bodyid[g[0]], m.geom_bodyid[g[1]])


@func
def first_color(m, d, first, b1, b2):
    """The same of two bodies of the world whose first body this is."""
    taken = ti.select(m.body_treeid[b1] >= 0, d.lcp_used[first + b1], 0)
    taken |= ti.select(m.body_treeid[b2] >= 0, d.lcp_used[first + b2], 0)
    color = ti.min(ti.math.popcnt(taken & ~(taken + 1)), COLORS)
    if color < COLORS:
        for b in ti.static((b1, b2)):
            if m.body_treeid[b] >= 0:
                d.lcp_used[first + b] = d.lcp_used[first + b] | 1 << color
    return color


@func
def color_loops(m, d):
    """Slots of what acts of connects and welds by colour, in the model's order each with the first that neither moving
    body has: lcp_eq_order, lcp_eq_head, lcp_eq_nrow, lcp_eq_body."""
    for b in range(d.nworld * m.nbody):
        d.lcp_used[b] = 0
    for c in range(COLORS + 2):
        d.lcp_eq_head[c] = 0
    n = d.nworld * m.neqpose
    ncolor = 0
    for i in range(n):
        k = loop_at(m, d, i)
        find_loop(m, d, k)
        color = -1
        if d.lcp_eq_nrow[k] > 0:
            first = k // m.neq * m.nbody
            b1, b2 = d.lcp_eq_body[ENDS * k] - first, d.lcp_eq_body[ENDS * k + 1] - first
            color = first_color(m, d, first, b1, b2)
            d.lcp_eq_head[color + 1] = d.lcp_eq_head[color + 1] + 1
            ncolor = ti.max(ncolor, color + 1)
        d.lcp_eq_color[k] = color
    d.lcp_eq_head[HEAD_COLORS] = ncolor
    for c in range(ncolor):
        d.lcp_eq_head[c + 1] = d.lcp_eq_head[c + 1] + d.lcp_eq_head[c]
    for i in range(n):
        k = loop_at(m, d, i)
        color = d.lcp_eq_color[k]
        if color >= 0:
            slot = d.lcp_eq_head[color]
            d.lcp_eq_head[color] = slot + 1
            d.lcp_eq_order[slot] = k
    for c in range(ncolor):  # they begin where those before end
        d.lcp_eq_head[ncolor - c] = d.lcp_eq_head[ncolor - c - 1]
    d.lcp_eq_head[0] = 0


@func
def loop_at(m, d, i):
    """The equality, of all worlds, that is the i-th of all connects and welds."""
    w = i // m.neqpose
    return w * m.neq + m.eq_pose[i - w * m.neqpose]


@func
def find_loop(m, d, k):
    """lcp_eq_nrow, lcp_eq_body of equality k of all worlds; without impulses where it has none yet, or has no rows."""
    w = k // m.neq
    e = k - w * m.neq
    b1, b2, _p1, _p2, _q1, _q2 = local_ends(m, w, e)
    n = 3
    if m.eq_type[e] == EQ_WELD and m.eq_data[w, e][10] > 0.0:
        n = 6
    if d.eq_active[k] == 0 or m.opt.disableflags & (DSBL_EQUALITY | DSBL_CONSTRAINT) != 0:
        n = 0
    if b1 == b2 or (m.body_treeid[b1] < 0 and m.body_treeid[b2] < 0):
        n = 0
    d.lcp_eq_nrow[k] = n
    if is_body_asleep(m, d, w, b1) or is_body_asleep(m, d, w, b2):
        d.lcp_eq_nrow[k] = 0  # it keeps its impulses
    d.lcp_eq_body[ENDS * k] = w * m.nbody + b1
    d.lcp_eq_body[ENDS * k + 1] = w * m.nbody + b2
    for r in range(6):
        if r >= n or d.lcp_warm[w] == 0:
            d.lcp_eq_impulse[EQ_ROWS * k + r] = 0.0
