"""Constraint islands: connected components of trees over acting contacts and rows, and the lists the solver walks.

Labels follow the smallest tree of each island. Seed 000, "Constraint islands". Serial: 20,000 trees take 0.4 ms.
"""

from ..types import (
    func,
    kernel,
    ti,
)


@func
def find(m, d, t):
    """Root of t, halving the path."""
    a = t
    while d.uf_parent[a] != a:
        d.uf_parent[a] = d.uf_parent[d.uf_parent[a]]
        a = d.uf_parent[a]
    return a


@func
def unite(m, d, s, t):
    """Joins two trees; the smaller root stays root."""
    a = find(m, d, s)
    b = find(m, d, t)
    d.uf_parent[ti.max(a, b)] = ti.min(a, b)


@func
def tree_of_body(m, d, b):
    """World-major tree of a world-major moving body, -1 for -1."""
    t = -1
    if b >= 0:
        t = b // m.nbody * m.ntree + m.body_treeid[b % m.nbody]
    return t


@kernel
def find_islands(m, d):
    """Union-find, then trees, contacts and rows listed by island; coupled ones of at most maxdense dofs get room
    for a dense matrix; all threads share an island of more than maxcon coupling contacts (kind 1)."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        total = d.nworld * m.ntree
        ncon = d.ncon
        nrow = d.nrow
        for t in range(total):
            d.uf_parent[t] = t
            d.uf_touched[t] = 0
        for c in range(ncon):
            s = tree_of_body(m, d, d.con_body[c][0])
            t = tree_of_body(m, d, d.con_body[c][1])
            if s >= 0:
                d.uf_touched[s] = 1
            if t >= 0:
                d.uf_touched[t] = 1
            if s >= 0 and t >= 0:
                unite(m, d, s, t)
        for r in range(nrow):
            d.uf_touched[d.row_tree[r]] = 1
        n = 0
        for t in range(total):
            d.tree_island[t] = -1
            if d.uf_touched[t] == 1:
                root = find(m, d, t)
                if root == t:
                    d.tree_island[t] = n
                    d.island_treenum[n] = 0
                    d.island_dofnum[n] = 0
                    d.island_connum[n] = 0
                    d.island_rownum[n] = 0
                    d.island_coupled[n] = 0
                    n += 1
                k = d.tree_island[root]
                d.tree_island[t] = k
                d.tree_dofstart[t] = d.island_dofnum[k]
                d.island_treenum[k] = d.island_treenum[k] + 1
                d.island_dofnum[k] = d.island_dofnum[k] + m.tree_dofnum[t % m.ntree]
        d.nisland = n
        for c in range(ncon):
            b = ti.max(d.con_body[c][0], d.con_body[c][1])
            if b >= 0:
                k = d.tree_island[tree_of_body(m, d, b)]
                d.island_connum[k] = d.island_connum[k] + 1
                if d.con_body[c][0] >= 0 and d.con_body[c][1] >= 0:
                    d.island_coupled[k] = d.island_coupled[k] + 1
        for r in range(nrow):
            k = d.tree_island[d.row_tree[r]]
            d.island_rownum[k] = d.island_rownum[k] + 1
        a = 0
        b = 0
        e = 0
        dense = 0
        for k in range(n):
            d.island_treeadr[k] = a
            d.island_conadr[k] = b
            d.island_rowadr[k] = e
            a += d.island_treenum[k]
            b += d.island_connum[k]
            e += d.island_rownum[k]
            d.island_treenum[k] = 0
            d.island_connum[k] = 0
            d.island_rownum[k] = 0
            d.island_shared[k] = ti.cast(d.island_coupled[k] > d.maxcon, ti.i32)
            d.island_denseadr[k] = dense
            if d.island_coupled[k] > 0 and d.island_dofnum[k] <= d.maxdense:
                dense += d.island_dofnum[k] * (d.island_dofnum[k] + 1)
        d.ndense = dense
        for t in range(total):
            k = d.tree_island[t]
            if k >= 0:
                d.island_tree[d.island_treeadr[k] + d.island_treenum[k]] = t
                d.island_treenum[k] = d.island_treenum[k] + 1
        for c in range(ncon):
            b = ti.max(d.con_body[c][0], d.con_body[c][1])
            if b >= 0:
                k = d.tree_island[tree_of_body(m, d, b)]
                d.island_con[d.island_conadr[k] + d.island_connum[k]] = c
                d.island_connum[k] = d.island_connum[k] + 1
        for r in range(nrow):
            k = d.tree_island[d.row_tree[r]]
            d.island_row[d.island_rowadr[k] + d.island_rownum[k]] = r
            d.island_rownum[k] = d.island_rownum[k] + 1


@ti.func
def cut(k, begin, length, size, n, island: ti.template(), first: ti.template(), last: ti.template()):
    """Cuts a range of island k's list into blocks of at most `size`, appended at n; returns the new n."""
    b = n
    a = begin
    while a < begin + length:
        island[b] = k
        first[b] = a
        last[b] = ti.min(a + size, begin + length)
        a += size
        b += 1
    return b


@kernel
def cut_blocks(m, d):
    """Lists of small and large islands, and fixed blocks of the large ones' trees, contacts and rows: the units of
    parallel work and of fixed-order sums. island_*blkadr, island_*blkend: first block of an island, one past it."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        small = 0
        large = 0
        nt = 0
        nc = 0
        nr = 0
        for k in range(d.nisland):
            if d.island_shared[k] == 0:
                d.island_small[small] = k
                small += 1
            else:
                d.island_large[large] = k
                large += 1
                d.island_tblkadr[k] = nt
                d.island_cblkadr[k] = nc
                d.island_rblkadr[k] = nr
                nt = cut(
                    k, d.island_treeadr[k], d.island_treenum[k], d.treesize, nt, d.tblk_island, d.tblk_begin, d.tblk_end
                )
                nc = cut(
                    k, d.island_conadr[k], d.island_connum[k], d.consize, nc, d.cblk_island, d.cblk_begin, d.cblk_end
                )
                nr = cut(
                    k, d.island_rowadr[k], d.island_rownum[k], d.rowsize, nr, d.rblk_island, d.rblk_begin, d.rblk_end
                )
                d.island_tblkend[k] = nt
                d.island_cblkend[k] = nc
                d.island_rblkend[k] = nr
        d.nsmall = small
        d.nlarge = large
        d.ntblk = nt
        d.ncblk = nc
        d.nrblk = nr
