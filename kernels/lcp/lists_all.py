"""What lists.py makes, by all threads of a GPU: manifolds, their colours and slots, what contacts begin with.

Colours are those of one thread, which goes through the list: in a round a manifold gets one if it comes before all
others of its two bodies that have none yet (Jones and Plassmann, "A parallel graph coloring heuristic", 1993). All
manifolds of a colour with r contacts have r rows of slots, in row k the k-th contact of each, so that what neighbours
among the threads read lies side by side.
"""

from ..constants import HEAD_COLORS, HEAD_LEFT, HEAD_ROUND, LCP_COLORS, LCP_LONG
from ..sort import block_length, first_from, start_of
from ..types import SERIAL, func, kernel, ti
from .lists import (
    COLORS,
    HEAD_FIRST,
    HEAD_SINGLES,
    HEAD_SIZES,
    KIND_SIZE,
    KINDS,
    MOST_ABREAST,
    give_slots,
    take_color,
)
from .manifolds import contacts_of, same_pair
from .matches import first_old, match_pair, pair_of

# places in lcp_head: where kinds begin among sorted manifolds; threads that visit a colour's
HEAD_KINDS, HEAD_VISITORS = 736, 1024
ROUNDS = 4  # places in lcp_turn: rounds so far, for those of each half
NOBODY = 2**31 - 1
MIX, MIXED = 0x2545F491, 2**30 - 1  # an odd factor, by which numbers below 2^30 change places


@func
def begins_manifold(m, d, c):
    """1 if contact c is the first of its geoms, else 0."""
    return ti.select((c > 0) & same_pair(m, d, ti.max(c - 1, 0), c), 0, 1)


@kernel
def list_manifolds(m, d):
    """lcp_first and npart, how many there are; none of them has a colour. Parallel over blocks of contacts."""
    n = d.ncon
    length = block_length(n, 16)
    nblock = n // length + 1
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        total = 0
        for c in range(s * length, ti.min((s + 1) * length, n)):
            total += begins_manifold(m, d, c)
            d.lcp_kind[c] = -1
        d.part_sum[s] = total
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        k = start_of(d.part_sum, s)
        for c in range(s * length, ti.min((s + 1) * length, n)):
            if begins_manifold(m, d, c) == 1:
                d.lcp_first[k] = c
                k += 1
        if s == nblock - 1:
            d.npart = k
            d.lcp_turn[ROUNDS] = 0
            d.lcp_head[HEAD_ROUND] = 0
    bodies = d.nworld * m.nbody
    ti.loop_config(serialize=SERIAL)
    for b in range(bodies):
        d.lcp_used[b] = 0
        d.lcp_want[b] = NOBODY


@func
def rank_of(m, d, i, half):
    """Who comes first: manifolds in list order, in late rounds in another, in which chains of neighbours are short.
    The round alone decides, so that bits do not depend on how many are queued at once."""
    return ti.select(d.lcp_turn[ROUNDS + half] < LCP_LONG, i, (i * MIX) & MIXED)


@func
def wanting(m, d, i, first):
    """(world-major bodies of manifold i, -1 of those that do not move) in the half of lcp_want that begins there."""
    c = d.lcp_first[i]
    g = d.contact_geom[c]
    w = d.contact_worldid[c] * m.nbody
    b1, b2 = m.geom_bodyid[g[0]], m.geom_bodyid[g[1]]
    return ti.select(m.body_treeid[b1] >= 0, first + w + b1, -1), ti.select(m.body_treeid[b2] >= 0, first + w + b2, -1)


@kernel
def color_rounds(m, d):
    """Two rounds, each with a half of lcp_want, which the one before has cleared; parallel over manifolds, bodies.
    Behind the last, count_colors counts anew."""
    n = d.npart
    bodies = d.nworld * m.nbody
    for half in ti.static(range(2)):
        ti.loop_config(serialize=SERIAL)
        for i in range(ti.max(n, bodies)):
            if i < n:
                if d.lcp_kind[i] < 0:
                    b1, b2 = wanting(m, d, i, half * bodies)
                    for b in ti.static((b1, b2)):
                        if b >= 0:
                            ti.atomic_min(d.lcp_want[b], rank_of(m, d, i, half))
            if i < bodies:
                d.lcp_want[(1 - half) * bodies + i] = NOBODY
            if i == 0:
                d.lcp_head[HEAD_COLORS] = 0
                d.lcp_head[HEAD_LEFT] = 0
        ti.loop_config(serialize=SERIAL)
        for i in range(n):
            if i == 0:
                d.lcp_turn[ROUNDS + 1 - half] = d.lcp_turn[ROUNDS + half] + 1
            if d.lcp_kind[i] < 0:
                b1, b2 = wanting(m, d, i, half * bodies)
                mine = True
                for b in ti.static((b1, b2)):
                    if b >= 0:
                        mine = mine and d.lcp_want[b] == rank_of(m, d, i, half)
                if mine:
                    color_manifold(m, d, i, n)
                    ti.atomic_max(d.lcp_head[HEAD_ROUND], d.lcp_turn[ROUNDS + half] + 1)


@func
def color_manifold(m, d, i, n):
    """Its kind: of those of its colour with as many contacts, or with more than MOST_ABREAST, or that have none."""
    c, end = contacts_of(m, d, i, n)
    color = take_color(m, d, c)
    kind = KINDS + color
    if color < COLORS and end - c <= MOST_ABREAST:
        kind = MOST_ABREAST * color + end - c - 1
    d.lcp_kind[i] = kind


@func
def color_of(kind):
    """The colour of a kind."""
    return ti.select(kind < KINDS, kind // MOST_ABREAST, kind - KINDS)


@kernel
def count_colors(m, d):
    """How many colours there are, and manifolds without one, and manifolds as things to be sorted by kind."""
    n = d.npart
    ti.loop_config(serialize=SERIAL)
    for i in range(n):
        kind = d.lcp_kind[i]
        d.part_key[i] = ti.max(kind, 0)
        d.part_value[i] = i
        if kind < 0:
            ti.atomic_add(d.lcp_head[HEAD_LEFT], 1)
        else:
            ti.atomic_max(d.lcp_head[HEAD_COLORS], color_of(kind) + 1)


@kernel
def place_manifolds(m, d):
    """lcp_head, lcp_slot, lcp_order, lcp_easing, lcp_start, of manifolds sorted by kind; parallel over kinds and
    manifolds."""
    n = d.npart
    ti.loop_config(serialize=SERIAL)
    for kind in range(KINDS + COLORS + 2):
        d.lcp_head[HEAD_KINDS + kind] = first_from(d.part_key, d.parthalf * d.npartmax, 1, n, kind)
    ti.loop_config(serialize=SERIAL)
    for kind in range(KINDS + 1):
        slot = 0
        for k in range(kind):
            slot += size_of(m, d, k) * (k % MOST_ABREAST + 1)
        if kind < KINDS:
            d.lcp_head[HEAD_FIRST + kind] = slot
            d.lcp_head[HEAD_SIZES + kind] = size_of(m, d, kind)
        else:
            place_long(m, d, slot, n)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        i, kind = d.part_value[d.parthalf * d.npartmax + k], d.part_key[d.parthalf * d.npartmax + k]
        if kind < KINDS:
            d.lcp_pair[KIND_SIZE * i] = d.lcp_head[HEAD_FIRST + kind] + k - d.lcp_head[HEAD_KINDS + kind]
            d.lcp_pair[KIND_SIZE * i + 1] = d.lcp_head[HEAD_SIZES + kind]
        give_slots(m, d, i, n)
        match_manifold(m, d, i, n)


@func
def size_of(m, d, kind):
    """How many manifolds there are of a kind."""
    return d.lcp_head[HEAD_KINDS + kind + 1] - d.lcp_head[HEAD_KINDS + kind]


@func
def place_long(m, d, slot, n):
    """Slots from this one on, by colour in list order, of manifolds whose contacts lie one behind the other."""
    for color in range(COLORS + 1):
        d.lcp_head[HEAD_SINGLES + color] = slot
        kind, first = KINDS + color, slot
        for k in range(d.lcp_head[HEAD_KINDS + kind], d.lcp_head[HEAD_KINDS + kind + 1]):
            i = d.part_value[d.parthalf * d.npartmax + k]
            c, end = contacts_of(m, d, i, n)
            d.lcp_pair[KIND_SIZE * i] = slot
            d.lcp_pair[KIND_SIZE * i + 1] = 1
            slot += end - c
        visitors = ti.min(slot - first, 1)  # the last colour is one thread's
        if color < COLORS:
            begin, behind = HEAD_KINDS + MOST_ABREAST * color, HEAD_KINDS + MOST_ABREAST * (color + 1)
            visitors = slot - first + d.lcp_head[behind] - d.lcp_head[begin]
        d.lcp_head[HEAD_VISITORS + color] = visitors
    d.lcp_head[HEAD_SINGLES + COLORS + 1] = slot
    for color in range(COLORS + 1, COLORS + 1 + LCP_COLORS):
        d.lcp_head[HEAD_VISITORS + color] = 0


@func
def match_manifold(m, d, i, n):
    """lcp_start of a manifold's contacts: match_contacts, by one search in the list of the last step."""
    c, end = contacts_of(m, d, i, n)
    i1, g2 = pair_of(m, d, c)
    old = first_old(m, d, c)
    after = old
    while after < d.nlcp and d.lcp_geom[after][0] == i1 and d.lcp_geom[after][1] == g2:
        after += 1
    match_pair(m, d, c, end, old, after)
