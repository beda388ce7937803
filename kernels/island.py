"""Constraint islands: connected components of trees over acting contacts and rows, and the lists the solver walks.

Labels follow the smallest tree of each island. Seed 000, "Constraint islands". Serial: 20,000 trees take 0.4 ms.
"""

from tisim.kernels.constants import NCBLK, NCON, NDENSE, NISLAND, NLARGE, NRBLK, NROW, NSMALL, NTBLK
from tisim.kernels.types import I, kernel, ti

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


@ti.func
def find(t, uf_parent: ti.template()):
    """Root of t, halving the path."""
    a = t
    while uf_parent[a] != a:
        uf_parent[a] = uf_parent[uf_parent[a]]
        a = uf_parent[a]
    return a


@ti.func
def unite(s, t, uf_parent: ti.template()):
    """Joins two trees; the smaller root stays root."""
    a = find(s, uf_parent)
    b = find(t, uf_parent)
    uf_parent[ti.max(a, b)] = ti.min(a, b)


@ti.func
def tree_of_body(b, nbody, ntree, body_treeid: ti.template()):
    """World-major tree of a world-major moving body, -1 for -1."""
    t = -1
    if b >= 0:
        t = b // nbody * ntree + body_treeid[b % nbody]
    return t


@kernel
def find_islands(
    nworld: ti.i32, ntree: ti.i32, nbody: ti.i32, nv: ti.i32, maxdense: ti.i32, maxcon: ti.i32,
    body_treeid: I, dof_treeid: I, tree_dofnum: I, con_body: I, row_int: I,
    counts: I, uf_parent: I, uf_touched: I, tree_island: I, tree_dofstart: I, island_info: I, island_tree: I,
    island_con: I, island_row: I,
):  # fmt: skip
    """Union-find, then trees, contacts and rows listed by island; coupled ones of at most maxdense dofs get room
    for a dense matrix; all threads share an island of more than maxcon coupling contacts (kind 1)."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        total = nworld * ntree
        ncon = counts[NCON]
        nrow = counts[NROW]
        for t in range(total):
            uf_parent[t] = t
            uf_touched[t] = 0
        for c in range(ncon):
            s = tree_of_body(con_body[2 * c], nbody, ntree, body_treeid)
            t = tree_of_body(con_body[2 * c + 1], nbody, ntree, body_treeid)
            if s >= 0:
                uf_touched[s] = 1
            if t >= 0:
                uf_touched[t] = 1
            if s >= 0 and t >= 0:
                unite(s, t, uf_parent)
        for r in range(nrow):
            i = row_int[6 * r + 3]
            uf_touched[i // nv * ntree + dof_treeid[i % nv]] = 1
        n = 0
        for t in range(total):
            tree_island[t] = -1
            if uf_touched[t] == 1:
                root = find(t, uf_parent)
                if root == t:
                    tree_island[t] = n
                    island_info[10 * n + TREES] = 0
                    island_info[10 * n + DOFS] = 0
                    island_info[10 * n + CONS] = 0
                    island_info[10 * n + ROWS] = 0
                    island_info[10 * n + COUPLED] = 0
                    n += 1
                k = tree_island[root]
                tree_island[t] = k
                tree_dofstart[t] = island_info[10 * k + DOFS]
                island_info[10 * k + TREES] = island_info[10 * k + TREES] + 1
                island_info[10 * k + DOFS] = island_info[10 * k + DOFS] + tree_dofnum[t % ntree]
        counts[NISLAND] = n
        for c in range(ncon):
            b = ti.max(con_body[2 * c], con_body[2 * c + 1])
            if b >= 0:
                k = tree_island[tree_of_body(b, nbody, ntree, body_treeid)]
                island_info[10 * k + CONS] = island_info[10 * k + CONS] + 1
                if con_body[2 * c] >= 0 and con_body[2 * c + 1] >= 0:
                    island_info[10 * k + COUPLED] = island_info[10 * k + COUPLED] + 1
        for r in range(nrow):
            i = row_int[6 * r + 3]
            k = tree_island[i // nv * ntree + dof_treeid[i % nv]]
            island_info[10 * k + ROWS] = island_info[10 * k + ROWS] + 1
        a = 0
        b = 0
        e = 0
        dense = 0
        for k in range(n):
            island_info[10 * k + TREEADR] = a
            island_info[10 * k + CONADR] = b
            island_info[10 * k + ROWADR] = e
            a += island_info[10 * k + TREES]
            b += island_info[10 * k + CONS]
            e += island_info[10 * k + ROWS]
            island_info[10 * k + TREES] = 0
            island_info[10 * k + CONS] = 0
            island_info[10 * k + ROWS] = 0
            island_info[10 * k + KIND] = ti.cast(island_info[10 * k + COUPLED] > maxcon, ti.i32)
            island_info[10 * k + DENSEADR] = dense
            if island_info[10 * k + COUPLED] > 0 and island_info[10 * k + DOFS] <= maxdense:
                dense += island_info[10 * k + DOFS] * (island_info[10 * k + DOFS] + 1)
        counts[NDENSE] = dense
        for t in range(total):
            k = tree_island[t]
            if k >= 0:
                island_tree[island_info[10 * k + TREEADR] + island_info[10 * k + TREES]] = t
                island_info[10 * k + TREES] = island_info[10 * k + TREES] + 1
        for c in range(ncon):
            b = ti.max(con_body[2 * c], con_body[2 * c + 1])
            if b >= 0:
                k = tree_island[tree_of_body(b, nbody, ntree, body_treeid)]
                island_con[island_info[10 * k + CONADR] + island_info[10 * k + CONS]] = c
                island_info[10 * k + CONS] = island_info[10 * k + CONS] + 1
        for r in range(nrow):
            i = row_int[6 * r + 3]
            k = tree_island[i // nv * ntree + dof_treeid[i % nv]]
            island_row[island_info[10 * k + ROWADR] + island_info[10 * k + ROWS]] = r
            island_info[10 * k + ROWS] = island_info[10 * k + ROWS] + 1


@ti.func
def cut(island, begin, length, size, n, blk: ti.template()):
    """Cuts a range of an island's list into blocks of at most `size`, appended at n; returns the new n."""
    m = n
    a = begin
    while a < begin + length:
        blk[3 * m] = island
        blk[3 * m + 1] = a
        blk[3 * m + 2] = ti.min(a + size, begin + length)
        a += size
        m += 1
    return m


@kernel
def cut_blocks(
    treesize: ti.i32, consize: ti.i32, rowsize: ti.i32,
    island_info: I, counts: I, island_small: I, island_large: I, island_tblk: I, island_cblk: I, island_rblk: I,
    tblk: I, cblk: I, rblk: I,
):  # fmt: skip
    """Lists of small and large islands, and fixed blocks of the large ones' trees, contacts and rows: the units of
    parallel work and of fixed-order sums. island_*blk[2k], [2k+1]: first and one past the last block of island k."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        small = 0
        large = 0
        nt = 0
        nc = 0
        nr = 0
        for k in range(counts[NISLAND]):
            if island_info[10 * k + KIND] == 0:
                island_small[small] = k
                small += 1
            else:
                island_large[large] = k
                large += 1
                island_tblk[2 * k] = nt
                island_cblk[2 * k] = nc
                island_rblk[2 * k] = nr
                nt = cut(k, island_info[10 * k + TREEADR], island_info[10 * k + TREES], treesize, nt, tblk)
                nc = cut(k, island_info[10 * k + CONADR], island_info[10 * k + CONS], consize, nc, cblk)
                nr = cut(k, island_info[10 * k + ROWADR], island_info[10 * k + ROWS], rowsize, nr, rblk)
                island_tblk[2 * k + 1] = nt
                island_cblk[2 * k + 1] = nc
                island_rblk[2 * k + 1] = nr
        counts[NSMALL] = small
        counts[NLARGE] = large
        counts[NTBLK] = nt
        counts[NCBLK] = nc
        counts[NRBLK] = nr
