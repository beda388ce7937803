"""Manifolds by colour, and the impulses of the last step for the contacts of this one."""

from ..team import crew
from ..types import FP, HAND, SERIAL, func, kernel, ti, vec3

COLORS = 30  # and the last one, of manifolds that get no other, which is one worker's
HEAD_COLORS = 62  # place in lcp_head of the number of colours; color c begins at place c
MOST = 62  # old contacts of a pair that can be told apart
FAR = 1e30  # [m2]


@kernel
def lcp_lists(m, d):
    """lcp_order, lcp_head and lcp_start; one worker colours, another one finds the impulses."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, make_lists)


@func
def make_lists(m, d, hand):
    """A worker's part."""
    if hand == 0:
        color_manifolds(m, d)
    if hand == d.nhand - 1:
        match_contacts(m, d)


@func
def same_pair(m, d, c, e):
    """Whether two contacts are of the same geoms."""
    a, b = d.contact_geom[c], d.contact_geom[e]
    return a[0] == b[0] and a[1] == b[1] and d.contact_worldid[c] == d.contact_worldid[e]


@func
def manifold_end(m, d, c):
    """One past the last contact of the manifold, the contacts of one pair of geoms, that begins with contact c."""
    e = c + 1
    while e < d.ncon and same_pair(m, d, c, e):
        e += 1
    return e


@func
def color_manifolds(m, d):
    """Slots of contacts by colour: each manifold, in list order, has the first colour that neither moving body has."""
    for b in range(d.nworld * m.nbody):
        d.lcp_used[b] = 0
    for c in range(COLORS + 2):
        d.lcp_head[c] = 0
    ncolor = 0
    c = 0
    while c < d.ncon:
        end = manifold_end(m, d, c)
        color = take_color(m, d, c)
        d.lcp_color[c] = color
        d.lcp_head[color + 1] = d.lcp_head[color + 1] + (end - c)
        ncolor = ti.max(ncolor, color + 1)
        c = end
    d.lcp_head[HEAD_COLORS] = ncolor
    for k in range(ncolor):
        d.lcp_head[k + 1] = d.lcp_head[k + 1] + d.lcp_head[k]
    c = 0
    while c < d.ncon:
        end = manifold_end(m, d, c)
        color = d.lcp_color[c]
        slot = d.lcp_head[color]
        d.lcp_head[color] = slot + (end - c)
        for e in range(c, end):
            d.lcp_order[slot + e - c] = e
        c = end
    for k in range(ncolor):  # they begin where those before end
        d.lcp_head[ncolor - k] = d.lcp_head[ncolor - k - 1]
    d.lcp_head[0] = 0


@func
def take_color(m, d, c):
    """The first colour that no moving body of contact c has; then they have it."""
    world = d.contact_worldid[c] * m.nbody
    taken = 0
    for side in ti.static(range(2)):
        b = m.geom_bodyid[d.contact_geom[c][side]]
        if m.body_treeid[b] >= 0:
            taken |= d.lcp_used[world + b]
    color = 0
    while color < COLORS and taken >> color & 1 == 1:
        color += 1
    if color < COLORS:
        for side in ti.static(range(2)):
            b = world + m.geom_bodyid[d.contact_geom[c][side]]
            d.lcp_used[b] = d.lcp_used[b] | 1 << color
    return color


@func
def match_contacts(m, d):
    """lcp_start: impulses of the last step. Both lists are sorted by pair, so one merge finds the pairs; in a pair, one
    contact goes with one, else each with the nearest that is left within the reach."""
    old = 0
    c = 0
    while c < d.ncon:
        end = manifold_end(m, d, c)
        i1, g2 = d.contact_worldid[c] * m.ngeom + d.contact_geom[c][0], d.contact_geom[c][1]
        while old < d.nlcp and is_before(m, d, old, i1, g2):
            old += 1
        behind = old
        while behind < d.nlcp and d.lcp_geom[behind][0] == i1 and d.lcp_geom[behind][1] == g2:
            behind += 1
        match_pair(m, d, c, end, old, behind)
        old = behind
        c = end


@func
def is_before(m, d, old, i1, g2):
    """Whether the pair of an old contact comes before this one."""
    pair = d.lcp_geom[old]
    return pair[0] < i1 or (pair[0] == i1 and pair[1] < g2)


@func
def match_pair(m, d, first, end, old, behind):
    """The same for contacts `first` to `end` of a pair and its old ones; none where the world was reset since."""
    taken = ti.i64(0)
    most = ti.min(behind, old + MOST)
    if d.lcp_warm[d.contact_worldid[first]] == 0:
        most = old
    for c in range(first, end):
        best = d.lcp_reach * d.lcp_reach
        if end - first == 1 and most - old == 1:
            best = FP(FAR)
        at = -1
        for k in range(old, most):
            if taken >> (k - old) & 1 == 0:
                gap = d.lcp_pos[k] - d.contact_pos[c]
                if gap.dot(gap) < best:
                    best = gap.dot(gap)
                    at = k
        start = vec3(0.0)
        if at >= 0:
            taken = taken | ti.i64(1) << (at - old)
            start = d.lcp_share * d.lcp_impulse[at]
        d.lcp_start[c] = start
