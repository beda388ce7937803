"""Manifolds by colour, connects and welds by theirs, and the impulses of the last step for the contacts of this one."""

from ..constants import DSBL_CONSTRAINT, DSBL_EQUALITY, EQ_WELD
from ..constraint.equality import local_ends
from ..sleep.awake import is_body_asleep, is_tree_asleep
from ..team import crew
from ..types import FP, HAND, SERIAL, func, kernel, ti, vec3

COLORS = 30  # and the last one, of manifolds that get no other, which is one worker's
LANES = 4  # contacts that are visited side by side
# places in lcp_head: where color c begins, of contacts that are visited side by side; the number of old contacts of
# sleepers; of colours; where color c begins, of the others
HEAD_SLEEPERS, HEAD_COLORS, HEAD_SINGLES = 61, 62, 64
# and of manifolds of a colour with as many contacts: their number; the first slot of those side by side; how many there
# have been so far. A manifold with more than MOST_ABREAST contacts is with the others
HEAD_SIZES, HEAD_FIRST, HEAD_SEEN, MOST_ABREAST = 128, 384, 640, 8
MOST = 62  # old contacts of a pair that can be told apart
FAR = 1e30  # [m2]
ENDS, EQ_ROWS = 2, 6  # numbers of an equality in lcp_eq_body, lcp_eq_impulse


@kernel
def lcp_lists(m, d):
    """lcp_order, lcp_slot, lcp_head and lcp_start; one worker colours, another one finds the impulses."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, make_lists)


@func
def make_lists(m, d, hand):
    """A worker's part."""
    if hand == 0:
        color_manifolds(m, d)
        if ti.static(m.has.loops):
            color_loops(m, d)
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
    """Slots of contacts by colour: each manifold, in list order, has the first colour that neither moving body has.

    Of a colour's manifolds with n contacts each four in list order have n rows of LANES slots, in row r the r-th
    contact of each; these are in the first slots. What is left of all of these has slots behind, in list order.
    """
    for b in range(d.nworld * m.nbody):
        d.lcp_used[b] = 0
    for c in range(COLORS + 2):
        d.lcp_head[HEAD_SINGLES + c] = 0
    for c in range(COLORS * MOST_ABREAST):
        d.lcp_head[HEAD_SIZES + c] = 0
        d.lcp_head[HEAD_SEEN + c] = 0
    ncolor = 0
    c = 0
    while c < d.ncon:
        end = manifold_end(m, d, c)
        color = take_color(m, d, c)
        d.lcp_slot[c] = color  # until it has a slot
        for e in range(c + 1, end):
            d.lcp_slot[e] = -1
        if color < COLORS and end - c <= MOST_ABREAST:
            size = MOST_ABREAST * color + end - c - 1
            d.lcp_head[HEAD_SIZES + size] = d.lcp_head[HEAD_SIZES + size] + 1
        else:
            d.lcp_head[HEAD_SINGLES + color + 1] = d.lcp_head[HEAD_SINGLES + color + 1] + (end - c)
        ncolor = ti.max(ncolor, color + 1)
        c = end
    d.lcp_head[HEAD_COLORS] = ncolor
    slot = 0
    for color in range(ncolor):
        d.lcp_head[color] = slot
        for k in range(ti.select(color < COLORS, MOST_ABREAST, 0)):
            size = MOST_ABREAST * color + k
            left = d.lcp_head[HEAD_SIZES + size] % LANES
            d.lcp_head[HEAD_SIZES + size] = d.lcp_head[HEAD_SIZES + size] - left
            d.lcp_head[HEAD_FIRST + size] = slot
            slot += d.lcp_head[HEAD_SIZES + size] * (k + 1)
            d.lcp_head[HEAD_SINGLES + color + 1] = d.lcp_head[HEAD_SINGLES + color + 1] + left * (k + 1)
    d.lcp_head[ncolor] = slot
    d.lcp_head[HEAD_SINGLES] = slot
    for k in range(ncolor):
        d.lcp_head[HEAD_SINGLES + k + 1] = d.lcp_head[HEAD_SINGLES + k + 1] + d.lcp_head[HEAD_SINGLES + k]
    c = 0
    while c < d.ncon:
        end = c + 1
        while end < d.ncon and d.lcp_slot[end] == -1:
            end += 1
        color = d.lcp_slot[c]
        size = MOST_ABREAST * color + end - c - 1
        k = 0
        slot, step = d.lcp_head[HEAD_SINGLES + color], 1
        abreast = False
        if color < COLORS and end - c <= MOST_ABREAST:
            k = d.lcp_head[HEAD_SEEN + size]
            abreast = k < d.lcp_head[HEAD_SIZES + size]
        if abreast:
            d.lcp_head[HEAD_SEEN + size] = k + 1
            slot = d.lcp_head[HEAD_FIRST + size] + k // LANES * LANES * (end - c) + k % LANES
            step = LANES
        else:
            d.lcp_head[HEAD_SINGLES + color] = slot + (end - c)
        for e in range(c, end):
            d.lcp_order[slot] = e
            d.lcp_slot[e] = slot
            slot += step
        c = end
    for k in range(ncolor):  # they begin where those before end
        d.lcp_head[HEAD_SINGLES + ncolor - k] = d.lcp_head[HEAD_SINGLES + ncolor - k - 1]
    d.lcp_head[HEAD_SINGLES] = d.lcp_head[ncolor]


@func
def take_color(m, d, c):
    """The first colour that no moving body of contact c has; then they have it."""
    world = d.contact_worldid[c] * m.nbody
    g = d.contact_geom[c]
    return first_color(m, d, world + m.geom_bodyid[g[0]], world + m.geom_bodyid[g[1]])


@func
def first_color(m, d, b1, b2):
    """The same of two bodies of all worlds."""
    taken = 0
    for b in ti.static((b1, b2)):
        if m.body_treeid[b % m.nbody] >= 0:
            taken |= d.lcp_used[b]
    color = 0
    while color < COLORS and taken >> color & 1 == 1:
        color += 1
    if color < COLORS:
        for b in ti.static((b1, b2)):
            d.lcp_used[b] = d.lcp_used[b] | 1 << color
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
            color = first_color(m, d, d.lcp_eq_body[ENDS * k], d.lcp_eq_body[ENDS * k + 1])
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


@func
def match_contacts(m, d):
    """lcp_start: impulses of the last step. Both lists are sorted by pair, so one merge finds the pairs; in a pair, one
    contact goes with one, else each with the nearest that is left within the reach."""
    old = 0
    c = 0
    d.lcp_head[HEAD_SLEEPERS] = 0
    while c < d.ncon:
        end = manifold_end(m, d, c)
        i1, g2 = d.contact_worldid[c] * m.ngeom + d.contact_geom[c][0], d.contact_geom[c][1]
        while old < d.nlcp and is_before(m, d, old, i1, g2):
            pass_over(m, d, old, c)
            old += 1
        behind = old
        while behind < d.nlcp and d.lcp_geom[behind][0] == i1 and d.lcp_geom[behind][1] == g2:
            behind += 1
        match_pair(m, d, c, end, old, behind)
        if ti.static(m.has.sleep):
            for e in range(c, end):
                d.lcp_place[e] = e + d.lcp_head[HEAD_SLEEPERS]
        old = behind
        c = end
    if ti.static(m.has.sleep):
        while old < d.nlcp:
            pass_over(m, d, old, c)
            old += 1
        d.nlcpwant = d.ncon + d.lcp_head[HEAD_SLEEPERS]


@func
def pass_over(m, d, old, c):
    """An old contact whose pair is not among the contacts of this step, of which c come before it: of sleepers it is
    kept for the step in which they wake."""
    if ti.static(m.has.sleep):
        pair = d.lcp_geom[old]
        w = pair[0] // m.ngeom
        s, t = m.geom_treeid[pair[0] - w * m.ngeom], m.geom_treeid[pair[1]]
        sleeps = d.lcp_warm[w] == 1
        for tree in ti.static((s, t)):
            if tree >= 0:
                sleeps = sleeps and is_tree_asleep(m, d, w * m.ntree + tree)
        if sleeps:
            n = d.lcp_head[HEAD_SLEEPERS]
            d.lcp_slept_place[n] = c + n
            d.lcp_slept_geom[n] = pair
            d.lcp_slept_pos[n] = d.lcp_pos[old]
            d.lcp_slept_impulse[n] = d.lcp_impulse[old]
            d.lcp_head[HEAD_SLEEPERS] = n + 1


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
        at = c
        if ti.static(m.has.sleep):
            at = d.lcp_place[c]
        strange = at < 0 or at >= known
        if not strange:
            away = d.lcp_pos[at] - d.contact_pos[c]
            strange = not (away.dot(away) == 0.0)
        if strange:
            ti.atomic_max(d.lcp_stranger[0], 1)
