"""What the last step says of the contacts of this one: impulses to begin with, and where those that rock go on to."""

from ..team import share
from ..types import FP, SERIAL, func, kernel, ti, vec3
from .manifolds import contacts_of
from .rocking import may_rock, middle_of, swing_of

MOST = 62  # old contacts of a pair that can be told apart
FAR = 1e30  # [m2]


@func
def match_contacts(m, d, n, me, size):
    """lcp_start, impulses of the last step, and lcp_middle: a worker's part of n manifolds. Both lists are sorted by
    pair, so one merge finds the pairs; in a pair, one contact goes with one, else each with the nearest that is left
    within the reach."""
    first, behind = beside_colors(n, me, size)
    old = 0
    if first < behind:
        old = first_old(m, d, contacts_of(m, d, first, n)[0])
    for i in range(first, behind):
        c, end = contacts_of(m, d, i, n)
        i1, g2 = pair_of(m, d, c)
        while old < d.nlcp and is_before(d.lcp_geom[old], i1, g2):
            old += 1
        after = old
        while after < d.nlcp and d.lcp_geom[after][0] == i1 and d.lcp_geom[after][1] == g2:
            after += 1
        match_pair(m, d, c, end, old, after)
        old = after


@ti.func
def beside_colors(n, me, size):
    """(first, one past the last) of the n manifolds that worker me matches: of worker 0, who colours all meanwhile, as
    many as that leaves time for, which takes a third as long as matching them."""
    own = ti.max(0, 4 * n // size - n) // 3
    first, behind = share(n - own, ti.max(0, me - 1), ti.max(1, size - 1))
    return ti.select(me == 0, 0, own + first), ti.select(me == 0, own, own + behind)


@func
def pair_of(m, d, c):
    """(world-major geom 1, geom 2) of contact c."""
    g = d.contact_geom[c]
    return d.contact_worldid[c] * m.ngeom + g[0], g[1]


@func
def first_old(m, d, c):
    """The first contact of the last step whose pair does not come before that of contact c."""
    i1, g2 = pair_of(m, d, c)
    low, high = 0, d.nlcp
    while low < high:
        middle = (low + high) // 2
        if is_before(d.lcp_geom[middle], i1, g2):
            low = middle + 1
        else:
            high = middle
    return low


@ti.func
def is_before(pair, i1, g2):
    """Whether a pair of geoms comes before that of world-major geom i1 and geom g2 in the list."""
    return pair[0] < i1 or (pair[0] == i1 and pair[1] < g2)


@func
def match_pair(m, d, first, end, old, behind):
    """lcp_start, lcp_middle of contacts `first` to `end` of a pair, from its old ones; from none where the world was
    reset since."""
    taken = ti.i64(0)
    most = ti.min(behind, old + MOST)
    if d.lcp_warm[d.contact_worldid[first]] == 0:
        most = old
    rocks = may_rock(m, d, first, end)
    swing = swing_of(m, d, first)
    for c in range(first, end):
        best = d.lcp_reach * d.lcp_reach
        if end - first == 1 and most - old == 1:
            best = FP(FAR)
        at = -1
        for k in range(old, most):
            gap = d.lcp_pos[k] - d.contact_pos[c]
            away = gap.dot(gap)
            nearer = (taken >> (k - old) & 1 == 0) & (away < best)
            best, at = ti.select(nearer, away, best), ti.select(nearer, k, at)
        start = vec3(0.0)
        middle = d.contact_pos[c] + swing
        if at >= 0:
            taken = taken | ti.i64(1) << (at - old)
            start = d.lcp_share * d.lcp_impulse[at]
            if rocks:
                middle = middle_of(m, d, c, d.lcp_pos[at])
        d.lcp_start[c] = start
        d.lcp_middle[c] = middle


@kernel
def note_strangers(m, d):
    """Notes whether the second dynamics has found forces of other contacts than these; parallel over contacts."""
    n = d.ncon
    known = d.nlcp
    ti.loop_config(serialize=True)
    for once in range(1):
        d.lcp_stranger[0] = 0
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        strange = c >= known
        if not strange:
            away = d.lcp_pos[c] - d.contact_pos[c]
            strange = not (away.dot(away) == 0.0)
        if strange:
            ti.atomic_max(d.lcp_stranger[0], 1)
