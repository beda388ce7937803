"""Islands, their lists of trees, contacts and rows, and the blocks of large ones, made by all threads of a GPU.

They are equal to what one thread makes: find_islands and cut_blocks (island.py). Trees are joined as there, as in
Jaiganesh and Burtscher, "A high-performance connected components implementation for GPUs" (2018): the smallest tree of
an island ends as its root in any order. Sums that several threads make are of whole numbers.
"""

from ..constants import QUEUE_BAD
from ..sleep.awake import tree_at, tree_count
from ..sort import MOST_BLOCKS, block_length, scan_length, start_of
from ..types import SERIAL, func, kernel, ti
from .island import dense_room, is_factored, is_shared, unite_trees
from .lists_all import first_of

COLUMNS = 8  # numbers of a block of islands in part_sum
DOFS = COLUMNS * MOST_BLOCKS  # behind them, of blocks of trees


@kernel
def join_trees(m, d):
    """Trees joined by contacts and rows: the root of each; parallel over these. uf_touched: 1 where one acts."""
    trees = tree_count(m, d)
    unite_trees(m, d, SERIAL)
    ti.loop_config(serialize=SERIAL)
    for at in range(trees):
        t = tree_at(m, d, at)
        root = t
        while d.uf_parent[root] != root:
            root = d.uf_parent[root]
        d.uf_root[t] = ti.select(d.uf_touched[t] == 1, root, -1)


@kernel
def number_islands(m, d):
    """Islands numbered by their first trees; two levels of blocks of trees. island_* begin as those of no trees."""
    trees = tree_count(m, d)
    length = block_length(trees, 16)
    nblock = trees // length + 1
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        total = 0
        for at in range(s * length, ti.min((s + 1) * length, trees)):
            t = tree_at(m, d, at)
            total += ti.cast(d.uf_root[t] == t, ti.i32)
        d.part_sum[s] = total
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        k = start_of(d.part_sum, s)
        for at in range(s * length, ti.min((s + 1) * length, trees)):
            t = tree_at(m, d, at)
            if d.uf_root[t] == t:
                d.uf_number[t] = k
                d.island_dofnum[k] = 0
                d.island_coupled[k] = 0
                d.island_joined[k] = 0
                d.island_single[k] = 1
                d.island_nodenum[k] = 0
                d.island_bodynum[k] = 0
                k += 1
        if s == nblock - 1:
            d.nisland = k
            d.npart = trees + d.ncon + d.nrow


@func
def put_part(m, d, i, key, value):
    d.part_key[i] = key
    d.part_value[i] = value


@func
def island_of(m, d, t):
    """Island of world-major tree t, -1 where nothing acts on it; what tree_island is when all threads are done."""
    root = d.uf_root[t]
    k = -1
    if root >= 0:
        k = d.uf_number[root]
    return k


@kernel
def island_parts(m, d):
    """Islands of trees and what they hold, and trees, contacts and rows as things to be sorted by kind and island;
    parallel over these."""
    ncon = d.ncon
    trees = tree_count(m, d)
    nisland = d.nisland
    parts = trees + ncon + d.nrow
    ti.loop_config(serialize=SERIAL)
    for i in range(parts):
        c = i - trees
        r = c - ncon
        if i < trees:
            t = tree_at(m, d, i)
            k = island_of(m, d, t)
            if k >= 0:
                ti.atomic_add(d.island_dofnum[k], m.tree_dofnum[t % m.ntree])
                ti.atomic_add(d.island_nodenum[k], m.tree_nodenum[t % m.ntree])
                ti.atomic_add(d.island_bodynum[k], m.tree_bodynum[t % m.ntree])
                ti.atomic_min(d.island_single[k], d.tree_single[t])
            d.tree_island[t] = k
            put_part(m, d, i, ti.select(k < 0, 3 * nisland, k), t)
        elif c < ncon:
            t = d.con_tree[c]
            key = 3 * nisland
            if t >= 0:
                key = nisland + island_of(m, d, t)
                if d.con_body[c][0] >= 0 and d.con_body[c][1] >= 0:
                    ti.atomic_add(d.island_coupled[key - nisland], 1)
            put_part(m, d, i, key, c)
        elif ti.static(m.has.rows):
            k = island_of(m, d, d.row_tree[r])
            if d.row_coupled[r] == 1:
                ti.atomic_add(d.island_coupled[k], 1)
                ti.atomic_add(d.island_joined[k], 1)
            put_part(m, d, i, 2 * nisland + k, r)


@func
def sizes_of_island(m, d, k):
    """What the lists hold of island k: bodies, dofs, numbers of dense matrices, 1 if it is large, blocks of its trees,
    contacts and rows if so."""
    factored = is_factored(m, d, k)
    dense = dense_room(m, d, k, factored, False)
    large = ti.cast(is_shared(m, d, k, factored), ti.i32)
    tree = large * ((d.island_treenum[k] + d.treesize - 1) // d.treesize)
    con = large * ((d.island_connum[k] + d.consize - 1) // d.consize)
    row = large * ((d.island_rownum[k] + d.rowsize - 1) // d.rowsize)
    return ti.Vector([d.island_bodynum[k], d.island_dofnum[k], dense, large, tree, con, row])


@func
def place_island(m, d, k, before, size):
    """Where the lists of island k begin: the sizes of all before it."""
    d.island_nodeadr[k] = before[0]
    d.island_dofadr[k] = before[1]
    d.island_denseadr[k] = before[2]
    d.island_factored[k] = ti.cast(is_factored(m, d, k), ti.i32)
    d.island_partly[k] = 0
    d.island_shared[k] = size[3] * (before[3] + 1)
    if size[3] == 0:
        d.island_small[k - before[3]] = k
    else:
        d.island_large[before[3]] = k
        d.island_tblkadr[k] = before[4]
        d.island_cblkadr[k] = before[5]
        d.island_rblkadr[k] = before[6]
        d.island_tblkend[k] = before[4] + size[4]
        d.island_cblkend[k] = before[5] + size[5]
        d.island_rblkend[k] = before[6] + size[6]


@kernel
def place_islands(m, d):
    """Where the lists of the islands begin, their dense matrices, and the blocks of the large ones; two levels of
    blocks of islands, one of trees."""
    n = d.nisland
    length = block_length(n, 16)
    nblock = n // length + 1
    trees = tree_count(m, d)
    treelength = block_length(trees, 16)
    treeblocks = trees // treelength + 1
    ti.loop_config(serialize=SERIAL)
    for k in range(ti.max(n, treeblocks)):
        part = d.npart
        if k < treeblocks:
            dofs = 0
            for i in range(k * treelength, ti.min((k + 1) * treelength, first_of(m, d, n, part))):
                dofs += m.tree_dofnum[d.part_value[d.parthalf * d.npartmax + i] % m.ntree]
            d.part_sum[DOFS + k] = dofs
        if k < n:
            tree = first_of(m, d, k, part)
            con = first_of(m, d, n + k, part)
            row = first_of(m, d, 2 * n + k, part)
            d.island_treeadr[k] = tree
            d.island_treenum[k] = first_of(m, d, k + 1, part) - tree
            d.island_conadr[k] = con - first_of(m, d, n, part)
            d.island_connum[k] = first_of(m, d, n + k + 1, part) - con
            d.island_rowadr[k] = row - first_of(m, d, 2 * n, part)
            d.island_rownum[k] = first_of(m, d, 2 * n + k + 1, part) - row
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        total = ti.Vector([0, 0, 0, 0, 0, 0, 0])
        for k in range(s * length, ti.min((s + 1) * length, n)):
            total += sizes_of_island(m, d, k)
        for i in ti.static(range(7)):
            d.part_sum[s * COLUMNS + i] = total[i]
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        at = ti.Vector([0, 0, 0, 0, 0, 0, 0])
        for b in range(s):
            for i in ti.static(range(7)):
                at[i] += d.part_sum[b * COLUMNS + i]
        for k in range(s * length, ti.min((s + 1) * length, n)):
            size = sizes_of_island(m, d, k)
            place_island(m, d, k, at, size)
            at += size
        if s == nblock - 1:
            d.nislandtree = first_of(m, d, n, d.npart)
            d.nislandcon = first_of(m, d, 2 * n, d.npart) - d.nislandtree
            d.nislandrow = first_of(m, d, 3 * n, d.npart) - d.nislandtree - d.nislandcon
            d.groupsize = scan_length(at[4])
            for i in range(QUEUE_BAD + 1):
                d.solver_queue[i] = 0
            d.ndense = at[2]
            d.nlarge = at[3]
            d.nsmall = n - at[3]
            d.ntblk = at[4]
            d.ncblk = at[5]
            d.nrblk = at[6]


@kernel
def fill_islands(m, d):
    """Trees, contacts and rows of each island, in order, and the blocks of large ones; parallel over these."""
    n = d.nisland
    tree_end = d.nislandtree
    con_end = tree_end + d.nislandcon
    total = con_end + d.nislandrow
    trees = tree_count(m, d)
    length = block_length(trees, 16)
    nblock = trees // length + 1
    ti.loop_config(serialize=SERIAL)
    for i in range(ti.max(total, nblock)):
        src = d.parthalf * d.npartmax
        if i < nblock:
            dof = 0
            for b in range(i):
                dof += d.part_sum[DOFS + b]
            for e in range(i * length, ti.min((i + 1) * length, tree_end)):
                t = d.part_value[src + e]
                d.tree_dofstart[t] = dof - d.island_dofadr[d.tree_island[t]]
                dof += m.tree_dofnum[t % m.ntree]
        if i < total:
            key = d.part_key[src + i]
            value = d.part_value[src + i]
            if i < tree_end:
                d.island_tree[i] = value
                fill_tree_block(m, d, key, i)
            elif i < con_end:
                d.island_con[i - tree_end] = value
                fill_con_block(m, d, key - n, i - tree_end)
            else:
                d.island_row[i - con_end] = value
                fill_row_block(m, d, key - 2 * n, i - con_end)


@ti.func
def fill_block(k, at, n, size, block, i, island: ti.template(), first: ti.template(), last: ti.template()):
    """The block of a large island k, whose first is `block`, that begins with entry `at` of its n, at place i of the
    list of all islands; none where that one begins no block."""
    if at % size == 0:
        b = block + at // size
        island[b] = k
        first[b] = i
        last[b] = i + ti.min(size, n - at)


@func
def fill_tree_block(m, d, k, i):
    if d.island_shared[k] > 0:
        fill_block(k, i - d.island_treeadr[k], d.island_treenum[k], d.treesize, d.island_tblkadr[k], i,
                   d.tblk_island, d.tblk_begin, d.tblk_end)  # fmt: skip


@func
def fill_con_block(m, d, k, i):
    if d.island_shared[k] > 0:
        fill_block(k, i - d.island_conadr[k], d.island_connum[k], d.consize, d.island_cblkadr[k], i,
                   d.cblk_island, d.cblk_begin, d.cblk_end)  # fmt: skip


@func
def fill_row_block(m, d, k, i):
    if d.island_shared[k] > 0:
        fill_block(k, i - d.island_rowadr[k], d.island_rownum[k], d.rowsize, d.island_rblkadr[k], i,
                   d.rblk_island, d.rblk_begin, d.rblk_end)  # fmt: skip
