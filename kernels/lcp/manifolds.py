"""Manifolds: the contacts of one pair of geoms, which lie side by side in the list."""

from ..team import meet, own_part
from ..types import func, ti

HEAD_FOUND = 704  # place in lcp_head: how many each worker has found
STAYS = 3 / 40  # of the slop: depth that ease leaves, so that what rests keeps what it rests on


@func
def same_pair(m, d, c, e):
    """Whether two contacts are of the same geoms."""
    a, b = d.contact_geom[c], d.contact_geom[e]
    return (a[0] == b[0]) & (a[1] == b[1]) & (d.contact_worldid[c] == d.contact_worldid[e])


@func
def find_manifolds(m, d, me, size):
    """lcp_first: the first contact of each manifold, the contacts of one pair of geoms. Returns how many there are."""
    mine, behind = own_part(m, d, d.ncon, me, size)
    n = 0
    for c in range(mine, behind):
        d.lcp_slot[mine + n] = c  # until it has a slot
        n += ti.select((c > 0) & same_pair(m, d, ti.max(c - 1, 0), c), 0, 1)
    d.lcp_head[HEAD_FOUND + me] = n
    meet(m, d, me, size)
    first, total = 0, 0
    for k in range(size):
        first += ti.select(k < me, d.lcp_head[HEAD_FOUND + k], 0)
        total += d.lcp_head[HEAD_FOUND + k]
    for i in range(n):
        d.lcp_first[first + i] = d.lcp_slot[mine + i]
    meet(m, d, me, size)
    return total


@func
def contacts_of(m, d, i, n):
    """(first contact, one past the last) of manifold i of n."""
    end = d.ncon
    if i + 1 < n:
        end = d.lcp_first[i + 1]
    return d.lcp_first[i], end


@func
def ease_contacts(m, d, c, end):
    """lcp_easing of a manifold's contacts, from c up to `end`: all get that of the least deep one, so that geoms are
    moved apart and not turned, which would rock what stands on them. A step takes no more than there is."""
    depth = d.lcp_slop
    for e in range(c, end):
        depth = ti.min(depth, -d.contact_dist[e])
    rate = ti.min(d.lcp_ease * (d.lcp_part * d.lcp_substeps / m.opt.timestep), 1.0 / m.opt.timestep)
    for e in range(c, end):
        d.lcp_easing[e] = ti.max(0.0, rate * (depth - STAYS * d.lcp_slop))
