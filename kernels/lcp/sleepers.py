"""Contacts of sleepers: their impulses wait apart from those of the last step until somebody wakes."""

from ..sleep.awake import is_tree_asleep
from ..types import func, kernel, ti
from .matches import is_before


@kernel
def part_sleepers(m, d):
    """lcp_slept_geom, _pos, _impulse and lcp_geom, _pos, _impulse, both sorted by pair, where a tree woke or fell
    asleep; serial. Where there is less room than nlcpwant, they stay as they are."""
    stale = ti.min(1, d.nlcpstale)
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.nlcpwant = ti.max(d.ncon, d.nlcp + stale * d.nlcpslept)
    ti.loop_config(serialize=True)
    for _ in range(stale):
        if d.nlcpwant <= d.nlcpmax:
            unite(m, d)
            part(m, d)
            d.nlcpstale = 0


@func
def unite(m, d):
    """All contacts are in the list of the last step's, which is filled from its end."""
    awake, slept = d.nlcp - 1, d.nlcpslept - 1
    d.nlcp = d.nlcp + d.nlcpslept
    d.nlcpslept = 0
    while slept >= 0:
        at = awake + slept + 1
        later = True
        if awake >= 0:
            later = not is_before(d.lcp_slept_geom[slept], d.lcp_geom[awake][0], d.lcp_geom[awake][1])
        if later:
            d.lcp_geom[at] = d.lcp_slept_geom[slept]
            d.lcp_pos[at] = d.lcp_slept_pos[slept]
            d.lcp_impulse[at] = d.lcp_slept_impulse[slept]
            slept -= 1
        else:
            move(m, d, awake, at)
            awake -= 1


@func
def part(m, d):
    """Those of sleepers leave that list."""
    slept, awake = 0, 0
    for k in range(d.nlcp):
        if all_sleep(m, d, d.lcp_geom[k]):
            d.lcp_slept_geom[slept] = d.lcp_geom[k]
            d.lcp_slept_pos[slept] = d.lcp_pos[k]
            d.lcp_slept_impulse[slept] = d.lcp_impulse[k]
            slept += 1
        else:
            move(m, d, k, awake)
            awake += 1
    d.nlcp = awake
    d.nlcpslept = slept


@func
def move(m, d, k, to):
    """A contact's place in the list of the last step's."""
    d.lcp_geom[to] = d.lcp_geom[k]
    d.lcp_pos[to] = d.lcp_pos[k]
    d.lcp_impulse[to] = d.lcp_impulse[k]


@func
def all_sleep(m, d, pair):
    """Whether all trees of a pair of geoms sleep, in a world that was not reset since."""
    w = pair[0] // m.ngeom
    s, t = m.geom_treeid[pair[0] - w * m.ngeom], m.geom_treeid[pair[1]]
    sleeps = d.lcp_warm[w] == 1
    for tree in ti.static((s, t)):
        if tree >= 0:
            sleeps = sleeps and is_tree_asleep(m, d, w * m.ntree + tree)
    return sleeps
