"""Constraint islands: connected components of trees over acting contacts and rows, and the lists the solver walks.

Labels follow the smallest tree of each island. Seed 000, "Constraint islands". Serial: 20,000 trees take 0.4 ms.
"""

from tisim.kernels.types import (
    func,
    kernel,
    ti,
)

# columns of island_info
TREEADR = 0
TREES = 1
CONADR = 2
CONS = 3
ROWADR = 4
ROWS = 5
COUPLED = 6
DOFS = 7
DENSEADR = 8
KIND = 9


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
            s = tree_of_body(m, d, d.con_body[2 * c])
            t = tree_of_body(m, d, d.con_body[2 * c + 1])
            if s >= 0:
                d.uf_touched[s] = 1
            if t >= 0:
                d.uf_touched[t] = 1
            if s >= 0 and t >= 0:
                unite(m, d, s, t)
        for r in range(nrow):
            i = d.row_int[6 * r + 3]
            d.uf_touched[i // m.nv * m.ntree + m.dof_treeid[i % m.nv]] = 1
        n = 0
        for t in range(total):
            d.tree_island[t] = -1
            if d.uf_touched[t] == 1:
                root = find(m, d, t)
                if root == t:
                    d.tree_island[t] = n
                    d.island_info[10 * n + TREES] = 0
                    d.island_info[10 * n + DOFS] = 0
                    d.island_info[10 * n + CONS] = 0
                    d.island_info[10 * n + ROWS] = 0
                    d.island_info[10 * n + COUPLED] = 0
                    n += 1
                k = d.tree_island[root]
                d.tree_island[t] = k
                d.tree_dofstart[t] = d.island_info[10 * k + DOFS]
                d.island_info[10 * k + TREES] = d.island_info[10 * k + TREES] + 1
                d.island_info[10 * k + DOFS] = d.island_info[10 * k + DOFS] + m.tree_dofnum[t % m.ntree]
        d.nisland = n
        for c in range(ncon):
            b = ti.max(d.con_body[2 * c], d.con_body[2 * c + 1])
            if b >= 0:
                k = d.tree_island[tree_of_body(m, d, b)]
                d.island_info[10 * k + CONS] = d.island_info[10 * k + CONS] + 1
                if d.con_body[2 * c] >= 0 and d.con_body[2 * c + 1] >= 0:
                    d.island_info[10 * k + COUPLED] = d.island_info[10 * k + COUPLED] + 1
        for r in range(nrow):
            i = d.row_int[6 * r + 3]
            k = d.tree_island[i // m.nv * m.ntree + m.dof_treeid[i % m.nv]]
            d.island_info[10 * k + ROWS] = d.island_info[10 * k + ROWS] + 1
        a = 0
        b = 0
        e = 0
        dense = 0
        for k in range(n):
            d.island_info[10 * k + TREEADR] = a
            d.island_info[10 * k + CONADR] = b
            d.island_info[10 * k + ROWADR] = e
            a += d.island_info[10 * k + TREES]
            b += d.island_info[10 * k + CONS]
            e += d.island_info[10 * k + ROWS]
            d.island_info[10 * k + TREES] = 0
            d.island_info[10 * k + CONS] = 0
            d.island_info[10 * k + ROWS] = 0
            d.island_info[10 * k + KIND] = ti.cast(d.island_info[10 * k + COUPLED] > d.maxcon, ti.i32)
            d.island_info[10 * k + DENSEADR] = dense
            if d.island_info[10 * k + COUPLED] > 0 and d.island_info[10 * k + DOFS] <= d.maxdense:
                dense += d.island_info[10 * k + DOFS] * (d.island_info[10 * k + DOFS] + 1)
        d.ndense = dense
        for t in range(total):
            k = d.tree_island[t]
            if k >= 0:
                d.island_tree[d.island_info[10 * k + TREEADR] + d.island_info[10 * k + TREES]] = t
                d.island_info[10 * k + TREES] = d.island_info[10 * k + TREES] + 1
        for c in range(ncon):
            b = ti.max(d.con_body[2 * c], d.con_body[2 * c + 1])
            if b >= 0:
                k = d.tree_island[tree_of_body(m, d, b)]
                d.island_con[d.island_info[10 * k + CONADR] + d.island_info[10 * k + CONS]] = c
                d.island_info[10 * k + CONS] = d.island_info[10 * k + CONS] + 1
        for r in range(nrow):
            i = d.row_int[6 * r + 3]
            k = d.tree_island[i // m.nv * m.ntree + m.dof_treeid[i % m.nv]]
            d.island_row[d.island_info[10 * k + ROWADR] + d.island_info[10 * k + ROWS]] = r
            d.island_info[10 * k + ROWS] = d.island_info[10 * k + ROWS] + 1


@ti.func
def cut(island, begin, length, size, n, blk: ti.template()):
    """Cuts a range of an island's list into blocks of at most `size`, appended at n; returns the new n."""
    k = n
    a = begin
    while a < begin + length:
        blk[3 * k] = island
        blk[3 * k + 1] = a
        blk[3 * k + 2] = ti.min(a + size, begin + length)
        a += size
        k += 1
    return k


@kernel
def cut_blocks(m, d):
    """Lists of small and large islands, and fixed blocks of the large ones' trees, contacts and rows: the units of
    parallel work and of fixed-order sums. island_*blk[2k], [2k+1]: first and one past the last block of island k."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        small = 0
        large = 0
        nt = 0
        nc = 0
        nr = 0
        for k in range(d.nisland):
            if d.island_info[10 * k + KIND] == 0:
                d.island_small[small] = k
                small += 1
            else:
                d.island_large[large] = k
                large += 1
                d.island_tblk[2 * k] = nt
                d.island_cblk[2 * k] = nc
                d.island_rblk[2 * k] = nr
                nt = cut(k, d.island_info[10 * k + TREEADR], d.island_info[10 * k + TREES], d.treesize, nt, d.tblk)
                nc = cut(k, d.island_info[10 * k + CONADR], d.island_info[10 * k + CONS], d.consize, nc, d.cblk)
                nr = cut(k, d.island_info[10 * k + ROWADR], d.island_info[10 * k + ROWS], d.rowsize, nr, d.rblk)
                d.island_tblk[2 * k + 1] = nt
                d.island_cblk[2 * k + 1] = nc
                d.island_rblk[2 * k + 1] = nr
        d.nsmall = small
        d.nlarge = large
        d.ntblk = nt
        d.ncblk = nc
        d.nrblk = nr
