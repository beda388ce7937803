"""Which trees have to sleep together under the second dynamics: those that contacts, connects and welds couple."""

from ..constraint.equality import local_ends
from ..constraint.island import find, unite
from ..sleep.awake import is_tree_asleep, tree_at, tree_count
from ..types import func, kernel, ti
from .lists import loop_at


@kernel
def lcp_islands(m, d):
    """tree_island, -1 of trees that nothing acts on, and nisland; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        total = tree_count(m, d)
        for at in range(total):
            t = tree_at(m, d, at)
            d.uf_parent[t] = t
            d.uf_touched[t] = 0
        for c in range(d.ncon):
            o = d.contact_worldid[c] * m.ntree
            g = d.contact_geom[c]
            couple(m, d, tree_of(o, m.geom_treeid[g[0]]), tree_of(o, m.geom_treeid[g[1]]))
        if ti.static(m.has.loops):
            for i in range(d.nworld * m.neqpose):
                k = loop_at(m, d, i)
                w = k // m.neq
                b1, b2, _p1, _p2, _q1, _q2 = local_ends(m, w, k - w * m.neq)
                if d.eq_active[k] != 0:
                    o = w * m.ntree
                    couple(m, d, tree_of(o, m.body_treeid[b1]), tree_of(o, m.body_treeid[b2]))
        n = 0
        for at in range(total):
            t = tree_at(m, d, at)
            d.tree_island[t] = -1
            if d.uf_touched[t] == 1:
                root = find(m, d, t)
                if root == t:
                    d.tree_island[t] = n
                    n += 1
                d.tree_island[t] = d.tree_island[root]
        d.nisland = n


@kernel
def island_contacts(m, d):
    """Contacts of each island in the list's order: island_conadr, island_connum, island_con; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        for k in range(d.nisland):
            d.island_connum[k] = 0
        for c in range(d.ncon):
            k = island_of(m, d, c)
            if k >= 0:
                d.island_connum[k] = d.island_connum[k] + 1
        first = 0
        for k in range(d.nisland):
            d.island_conadr[k] = first
            first += d.island_connum[k]
            d.island_connum[k] = 0
        for c in range(d.ncon):
            k = island_of(m, d, c)
            if k >= 0:
                d.island_con[d.island_conadr[k] + d.island_connum[k]] = c
                d.island_connum[k] = d.island_connum[k] + 1


@func
def island_of(m, d, c):
    """The island of contact c, -1 between what does not move."""
    o = d.contact_worldid[c] * m.ntree
    k = -1
    for side in ti.static(range(2)):
        t = tree_of(o, m.geom_treeid[d.contact_geom[c][side]])
        if t >= 0:
            if not is_tree_asleep(m, d, t):
                k = ti.max(k, d.tree_island[t])
    return k


@ti.func
def tree_of(o, t):
    """World-major tree of a world's tree, -1 for -1."""
    return ti.select(t >= 0, o + t, -1)


@func
def couple(m, d, s, t):
    """Joins two trees that are awake, and marks them."""
    first = s >= 0
    if first:
        first = not is_tree_asleep(m, d, s)
    second = t >= 0
    if second:
        second = not is_tree_asleep(m, d, t)
    if first:
        d.uf_touched[s] = 1
    if second:
        d.uf_touched[t] = 1
    if first and second:
        unite(m, d, s, t)
