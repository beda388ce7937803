"""Islands and the lists of contacts and rows, made by all threads of a GPU.

They are equal to what one thread makes: contact_lists (contacts.py), row_lists (row.py), find_islands and cut_blocks
(island.py). A list of what belongs to each body, tree or island is a stable sort by the owner (`part_pass` of
kernels/sort.py); where an owner's begins is found in the sorted keys. Trees are joined by hooking roots below smaller
ones and pointer jumping, as in Jaiganesh and Burtscher, "A high-performance connected components implementation for
GPUs" (2018); the smallest tree of an island ends as its root in any order. Sums that several threads make are of whole
numbers.
"""

from ..constants import ELLIPTIC
from ..sleep.awake import body_at, body_count, tree_at, tree_count
from ..sort import scan_length, start_of
from ..types import SERIAL, func, kernel, ti
from .island import factor_room, tree_of_body
from .row import is_coupled, tree_of_dof

COLUMNS = 8  # numbers of a block in part_sum


@func
def first_of(m, d, key, n):
    """Place of the first of n sorted things whose key is at least this."""
    lo = 0
    hi = n
    src = d.parthalf * d.npartmax
    while lo < hi:
        mid = (lo + hi) // 2
        if d.part_key[src + mid] < key:
            lo = mid + 1
        else:
            hi = mid
    return lo


# ---- contacts of bodies


@func
def rows_of_contact(m, d, c):
    """How many rows contact c has."""
    n = 0
    if d.contact_exclude[c] == 0:
        dim = d.contact_dim[c]
        n = ti.select(m.opt.cone == ELLIPTIC or dim == 1, dim, 2 * (dim - 1))
    return n


@kernel
def contact_parts(m, d):
    """First row of each contact, and the sides of contacts as things to be sorted by body; parallel over contacts."""
    n = d.ncon
    length = scan_length(n)
    nblock = n // length + 1
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        for side in ti.static(range(2)):
            b = d.con_body[c][side]
            part = 2 * c + side
            d.part_key[part] = ti.select(b < 0 or d.contact_exclude[c] != 0, d.nworld * m.nbody, b)
            d.part_value[part] = part
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        total = 0
        for c in range(s * length, ti.min((s + 1) * length, n)):
            total += rows_of_contact(m, d, c)
        d.part_sum[s] = total
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        row = d.nrow + start_of(d.part_sum, s)
        for c in range(s * length, ti.min((s + 1) * length, n)):
            d.contact_efc_address[c] = ti.select(d.contact_exclude[c] == 0, row, -1)
            row += rows_of_contact(m, d, c)
        if s == nblock - 1:
            d.nefc = row
            d.npart = 2 * n


@kernel
def body_contacts(m, d):
    """The contacts of each body, of their sorted sides; parallel over bodies and sides."""
    n = d.npart
    bodies = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for i in range(n):
        src = d.parthalf * d.npartmax
        if d.part_key[src + i] < d.nworld * m.nbody:
            d.body_con[i] = d.part_value[src + i]
    ti.loop_config(serialize=SERIAL)
    for k in range(bodies):
        b = body_at(m, d, k)
        first = first_of(m, d, b, n)
        d.body_conadr[b] = first
        d.body_connum[b] = first_of(m, d, b + 1, n) - first


# ---- rows of trees


@func
def tree_changes(m, d, r, e):
    """Whether entry e of row r is the first in its tree."""
    changes = e == d.row_adr[r]
    if not changes:
        changes = tree_of_dof(m, d, d.J_dof[e]) != tree_of_dof(m, d, d.J_dof[e - 1])
    return changes


@func
def parts_of_row(m, d, r):
    """How many trees row r acts on."""
    n = 0
    for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
        n += ti.cast(tree_changes(m, d, r, e), ti.i32)
    return n


@func
def row_of_entry(m, d, e):
    """The row that entry e of the Jacobian is of."""
    lo = 0
    hi = d.nrow
    while lo + 1 < hi:
        mid = (lo + hi) // 2
        if d.row_adr[mid] <= e:
            lo = mid
        else:
            hi = mid
    return lo


@kernel
def row_parts(m, d):
    """Which rows couple dofs, and their parts as things to be sorted by tree; parallel over rows."""
    n = d.nrow
    length = scan_length(n)
    nblock = n // length + 1
    ti.loop_config(serialize=SERIAL)
    for r in range(n):
        d.row_tree[r] = tree_of_dof(m, d, d.J_dof[d.row_adr[r]])
        d.row_coupled[r] = is_coupled(m, d, r)
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        total = 0
        for r in range(s * length, ti.min((s + 1) * length, n)):
            total += parts_of_row(m, d, r)
        d.part_sum[s] = total
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        at = start_of(d.part_sum, s)
        for r in range(s * length, ti.min((s + 1) * length, n)):
            for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
                if tree_changes(m, d, r, e):
                    d.part_key[at] = tree_of_dof(m, d, d.J_dof[e])
                    d.part_value[at] = e
                    at += 1
        if s == nblock - 1:
            d.npart = at


@kernel
def tree_rows(m, d):
    """The parts of rows that act on each tree, of their sorted parts, and which trees are single free bodies on which
    only contacts act; parallel over parts and trees."""
    n = d.npart
    trees = tree_count(m, d)
    if ti.static(m.has.rows):
        ti.loop_config(serialize=SERIAL)
        for s in range(n):
            e = d.part_value[d.parthalf * d.npartmax + s]
            r = row_of_entry(m, d, e)
            end = e + 1
            while end < d.row_adr[r] + d.row_num[r] and not tree_changes(m, d, r, end):
                end += 1
            d.seg_row[s] = r
            d.seg_adr[s] = e
            d.seg_num[s] = end - e
    ti.loop_config(serialize=SERIAL)
    for k in range(trees):
        t = tree_at(m, d, k)
        single = m.tree_free[t % m.ntree]
        if ti.static(m.has.rows):
            first = first_of(m, d, t, n)
            d.tree_segadr[t] = first
            d.tree_segnum[t] = first_of(m, d, t + 1, n) - first
            if d.tree_segnum[t] > 0:
                single = 0
        d.tree_single[t] = single


# ---- islands


@func
def root_of(m, d, t):
    """Root of t; on the way each tree is hung below its grandparent."""
    a = t
    up = d.uf_parent[a]
    while up != a:
        above = d.uf_parent[up]
        if above != up:
            ti.atomic_min(d.uf_parent[a], above)
        a = up
        up = above
    return a


@func
def join(m, d, s, t):
    """Joins two trees below the smaller root. A root that others have hung up meanwhile stays below the smaller of
    both, and what it was below is joined, too."""
    a = root_of(m, d, s)
    b = root_of(m, d, t)
    while a != b:
        root = ti.max(a, b)
        below = ti.min(a, b)
        before = ti.atomic_min(d.uf_parent[root], below)
        a = below
        b = below
        if before != root:
            a = root_of(m, d, before)
            b = root_of(m, d, below)


@func
def join_row(m, d, r):
    """Joins the trees of row r."""
    t = d.row_tree[r]
    ti.atomic_max(d.uf_touched[t], 1)
    if d.row_coupled[r] == 1:
        for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
            s = tree_of_dof(m, d, d.J_dof[e])
            ti.atomic_max(d.uf_touched[s], 1)
            join(m, d, s, t)


@kernel
def join_trees(m, d):
    """Trees joined by contacts and rows: the root of each; parallel over these. uf_touched: 1 where one acts."""
    ncon = d.ncon
    nrow = d.nrow
    trees = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for at in range(trees):
        t = tree_at(m, d, at)
        d.uf_parent[t] = t
        d.uf_touched[t] = 0
    ti.loop_config(serialize=SERIAL)
    for c in range(ncon):
        s = tree_of_body(m, d, d.con_body[c][0])
        t = tree_of_body(m, d, d.con_body[c][1])
        d.con_tree[c] = ti.max(s, t)
        for b in ti.static((s, t)):
            if b >= 0:
                ti.atomic_max(d.uf_touched[b], 1)
        if s >= 0 and t >= 0:
            join(m, d, s, t)
    if ti.static(m.has.rows):
        ti.loop_config(serialize=SERIAL)
        for r in range(nrow):
            join_row(m, d, r)
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
    length = scan_length(trees)
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
                k += 1
        if s == nblock - 1:
            d.nisland = k


@func
def put_part(m, d, i, key, value):
    d.part_key[i] = key
    d.part_value[i] = value


@kernel
def island_parts(m, d):
    """Islands of trees and what they hold, and trees, contacts and rows as things to be sorted by kind and island;
    parallel over these."""
    ncon = d.ncon
    nrow = d.nrow
    trees = tree_count(m, d)
    nisland = d.nisland
    d.npart = trees + ncon + nrow
    ti.loop_config(serialize=SERIAL)
    for at in range(trees):
        t = tree_at(m, d, at)
        root = d.uf_root[t]
        k = -1
        if root >= 0:
            k = d.uf_number[root]
            ti.atomic_add(d.island_dofnum[k], m.tree_dofnum[t % m.ntree])
            ti.atomic_add(d.island_nodenum[k], m.tree_nodenum[t % m.ntree])
            ti.atomic_min(d.island_single[k], d.tree_single[t])
        d.tree_island[t] = k
        put_part(m, d, at, ti.select(k < 0, 3 * nisland, k), t)
    ti.loop_config(serialize=SERIAL)
    for c in range(ncon):
        t = d.con_tree[c]
        key = 3 * nisland
        if t >= 0:
            key = nisland + d.tree_island[t]
            if d.con_body[c][0] >= 0 and d.con_body[c][1] >= 0:
                ti.atomic_add(d.island_coupled[key - nisland], 1)
        put_part(m, d, trees + c, key, c)
    if ti.static(m.has.rows):
        ti.loop_config(serialize=SERIAL)
        for r in range(nrow):
            k = d.tree_island[d.row_tree[r]]
            if d.row_coupled[r] == 1:
                ti.atomic_add(d.island_coupled[k], 1)
                ti.atomic_add(d.island_joined[k], 1)
            put_part(m, d, trees + ncon + r, 2 * nisland + k, r)


@func
def is_factored(m, d, k):
    """Whether island k gets a sparse factor."""
    bodies = d.island_single[k] == 1 or d.island_dofnum[k] > d.maxdense
    most = ti.select(d.island_joined[k] > 0, d.maxjoined, d.maxfactor)
    return bodies and d.island_coupled[k] > 0 and d.island_nodenum[k] <= most


@func
def sizes_of_island(m, d, k):
    """What the lists hold of island k: nodes, dofs, numbers of dense matrices, 1 if it is large, blocks of its trees,
    contacts and rows if so."""
    node = d.island_nodenum[k]
    dofs = d.island_dofnum[k]
    factored = is_factored(m, d, k)
    dense = 0
    if factored:
        dense = factor_room(node, d.island_joined[k])
    elif d.island_coupled[k] > 0 and dofs <= d.maxdense:
        dense = dofs * (dofs + 1)
    large = ti.cast(d.island_coupled[k] > d.maxcon and dofs > d.mindof and not factored, ti.i32)
    tree = large * ((d.island_treenum[k] + d.treesize - 1) // d.treesize)
    con = large * ((d.island_connum[k] + d.consize - 1) // d.consize)
    row = large * ((d.island_rownum[k] + d.rowsize - 1) // d.rowsize)
    return ti.Vector([node, dofs, dense, large, tree, con, row])


@func
def place_island(m, d, k, before, size):
    """Where the lists of island k begin: the sizes of all before it."""
    d.island_nodeadr[k] = before[0]
    d.island_dofadr[k] = before[1]
    d.island_denseadr[k] = before[2]
    d.island_factored[k] = ti.cast(is_factored(m, d, k), ti.i32)
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
    blocks of islands."""
    n = d.nisland
    length = scan_length(n)
    nblock = n // length + 1
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        part = d.npart
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
            d.ndense = at[2]
            d.nlarge = at[3]
            d.nsmall = n - at[3]
            d.ntblk = at[4]
            d.ncblk = at[5]
            d.nrblk = at[6]


@kernel
def fill_islands(m, d):
    """Trees, contacts and rows of each island, in order, and the blocks of large ones; parallel over these."""
    part = d.npart
    n = d.nisland
    tree_end = first_of(m, d, n, part)
    con_end = first_of(m, d, 2 * n, part)
    total = first_of(m, d, 3 * n, part)
    length = scan_length(tree_end)
    nblock = tree_end // length + 1
    ti.loop_config(serialize=SERIAL)
    for i in range(total):
        src = d.parthalf * d.npartmax
        key = d.part_key[src + i]
        value = d.part_value[src + i]
        if i < tree_end:
            d.island_tree[i] = value
            fill_tree_block(m, d, key, i)
        elif i < con_end:
            d.island_con[i - tree_end] = value
            fill_contact_block(m, d, key - n, i - tree_end)
        else:
            d.island_row[i - con_end] = value
            fill_row_block(m, d, key - 2 * n, i - con_end)
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        dofs = 0
        for i in range(s * length, ti.min((s + 1) * length, tree_end)):
            dofs += m.tree_dofnum[d.island_tree[i] % m.ntree]
        d.part_sum[s] = dofs
    ti.loop_config(serialize=SERIAL)
    for s in range(nblock):
        dof = start_of(d.part_sum, s)
        for i in range(s * length, ti.min((s + 1) * length, tree_end)):
            t = d.island_tree[i]
            d.tree_dofstart[t] = dof - d.island_dofadr[d.tree_island[t]]
            dof += m.tree_dofnum[t % m.ntree]


@func
def fill_tree_block(m, d, k, i):
    at = i - d.island_treeadr[k]
    if d.island_shared[k] > 0 and at % d.treesize == 0:
        b = d.island_tblkadr[k] + at // d.treesize
        d.tblk_island[b] = k
        d.tblk_begin[b] = i
        d.tblk_end[b] = ti.min(i + d.treesize, d.island_treeadr[k] + d.island_treenum[k])


@func
def fill_contact_block(m, d, k, i):
    at = i - d.island_conadr[k]
    if d.island_shared[k] > 0 and at % d.consize == 0:
        b = d.island_cblkadr[k] + at // d.consize
        d.cblk_island[b] = k
        d.cblk_begin[b] = i
        d.cblk_end[b] = ti.min(i + d.consize, d.island_conadr[k] + d.island_connum[k])


@func
def fill_row_block(m, d, k, i):
    at = i - d.island_rowadr[k]
    if d.island_shared[k] > 0 and at % d.rowsize == 0:
        b = d.island_rblkadr[k] + at // d.rowsize
        d.rblk_island[b] = k
        d.rblk_begin[b] = i
        d.rblk_end[b] = ti.min(i + d.rowsize, d.island_rowadr[k] + d.island_rownum[k])
