"""Constraint islands: connected components of trees over acting contacts and rows, and the lists the solver walks.

Labels follow the smallest tree of each island. All workers join trees, and the smallest tree of an island becomes its
root whoever comes first; the lists are made by one. Seed 000, "Constraint islands".
"""

from ..sleep.awake import tree_at, tree_count
from ..types import GPU, SERIAL, func, kernel, ti
from .row import tree_of_dof, world_of_row

BLOCK = 36  # numbers of a block of a factor of an island
# An island is nearly held as a tree where it has at most one pair of tied trees more for CYCLES trees: elimination then
# fills little. A net has a pair more for each tree
CYCLES = 4
ROOM = 5  # blocks for each of its nodes, as many as a factor may have; twice as many where rows join trees
LONG_ARMS = 300  # bodies of an island with joints above which a team shares it, though one of them makes its factor
PART_ROOM = 6  # the same of an incomplete factor: the net's has 4.8


@func
def find(m, d, t):
    """Root of t, halving the path."""
    a = t
    while d.uf_parent[a] != a:
        above = d.uf_parent[d.uf_parent[a]]
        if ti.static(GPU):
            ti.atomic_min(d.uf_parent[a], above)
        else:
            d.uf_parent[a] = above
        a = d.uf_parent[a]
    return a


@func
def unite(m, d, s, t):
    """Joins two trees; the smaller root stays root. Others may join trees at the same time: a root that has got another
    parent meanwhile keeps the smaller one, and what the other was of is joined, too."""
    a = s
    b = t
    apart = True
    while apart:
        a = find(m, d, a)
        b = find(m, d, b)
        apart = a != b
        if apart:
            root = ti.max(a, b)
            b = ti.min(a, b)
            a = ti.atomic_min(d.uf_parent[root], b)
            apart = a != root


@func
def tree_of_body(m, d, b):
    """World-major tree of a world-major moving body, -1 for -1."""
    t = -1
    if b >= 0:
        t = b // m.nbody * m.ntree + m.body_treeid[b % m.nbody]
    return t


@func
def touch(m, d, t):
    """Marks tree t as one that something acts on; many may do so at once."""
    if ti.static(GPU):
        ti.atomic_max(d.uf_touched[t], 1)
    else:
        d.uf_touched[t] = 1


@func
def unite_contact(m, d, c):
    """Joins the trees of a contact."""
    s = tree_of_body(m, d, d.con_body[c][0])
    t = tree_of_body(m, d, d.con_body[c][1])
    d.con_tree[c] = ti.max(s, t)
    if s >= 0:
        touch(m, d, s)
    if t >= 0:
        touch(m, d, t)
    if s >= 0 and t >= 0:
        unite(m, d, s, t)


@func
def unite_row(m, d, r):
    """Joins the trees of a row."""
    t = d.row_tree[r]
    touch(m, d, t)
    if d.row_coupled[r] == 1 and d.row_pose[r] != -1:  # other rows of a connect or weld are like its first
        w = world_of_row(m, d, r)
        last = t
        for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
            s = w * m.ntree + m.dof_treeid[d.J_dof[e] - w * m.nv]
            if s != last:
                touch(m, d, s)
                unite(m, d, s, t)
            last = s


@func
def unite_all(m, d, serial: ti.template()):
    """Joins the trees of all contacts and rows. serial: SERIAL, which has the variant's value in the kernel only."""
    total = tree_count(m, d)
    ti.loop_config(serialize=serial)
    for at in range(total):
        t = tree_at(m, d, at)
        d.uf_parent[t] = t
        d.uf_touched[t] = 0
    unite_trees(m, d, serial)


@func
def unite_trees(m, d, serial: ti.template()):
    """The same, where each tree is its own root."""
    ncon = d.ncon
    nrow = d.nrow
    ti.loop_config(serialize=serial)
    for c in range(ncon):
        unite_contact(m, d, c)
    if ti.static(m.has.rows):
        ti.loop_config(serialize=serial)
        for r in range(nrow):
            unite_row(m, d, r)


@func
def label_trees(m, d):
    """Numbers islands by their first trees, and counts trees and dofs; returns the number of islands."""
    n = 0
    total = tree_count(m, d)
    for at in range(total):
        t = tree_at(m, d, at)
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
                d.island_joined[n] = 0
                d.island_meetings[n] = 0
                d.island_ties[n] = 0
                d.island_single[n] = 1
                d.island_nodenum[n] = 0
                d.island_bodynum[n] = 0
                n += 1
            k = d.tree_island[root]
            d.tree_island[t] = k
            d.tree_dofstart[t] = d.island_dofnum[k]
            d.island_treenum[k] = d.island_treenum[k] + 1
            inside = t % m.ntree
            d.island_nodenum[k] = d.island_nodenum[k] + m.tree_nodenum[inside]
            d.island_bodynum[k] = d.island_bodynum[k] + m.tree_bodynum[inside]
            d.island_single[k] = ti.min(d.island_single[k], d.tree_single[t])
            d.island_dofnum[k] = d.island_dofnum[k] + m.tree_dofnum[inside]
    return n


@func
def count_constraints(m, d, ncon, nrow):
    """Contacts and rows of each island, how many of them couple what each tree's own Hessian keeps apart, and the pairs
    of trees that do so by contacts or by rows; a pair that comes again after another counts again."""
    last = ti.Vector([-1, -1])
    for c in range(ncon):
        t = d.con_tree[c]
        if t >= 0:
            k = d.tree_island[t]
            d.island_connum[k] = d.island_connum[k] + 1
            if d.con_body[c][0] >= 0 and d.con_body[c][1] >= 0:
                d.island_coupled[k] = d.island_coupled[k] + 1
                pair = ti.Vector([tree_of_body(m, d, d.con_body[c][0]), tree_of_body(m, d, d.con_body[c][1])])
                d.island_meetings[k] = d.island_meetings[k] + is_new(pair, last)
                last = pair
    last = ti.Vector([-1, -1])
    for r in range(nrow):
        k = d.tree_island[d.row_tree[r]]
        d.island_rownum[k] = d.island_rownum[k] + 1
        d.island_coupled[k] = d.island_coupled[k] + d.row_coupled[r]
        d.island_joined[k] = d.island_joined[k] + d.row_coupled[r]
        if d.row_coupled[r] == 1 and d.row_pose[r] != -1:
            pair = ti.Vector([d.row_tree[r], tree_of_dof(m, d, d.J_dof[d.row_adr[r] + d.row_num[r] - 1])])
            d.island_ties[k] = d.island_ties[k] + is_new(pair, last)
            last = pair


@ti.func
def is_new(pair, last):
    """1 if these are two trees, and not those of the pair before."""
    return ti.cast(pair[0] != pair[1] and (pair[0] != last[0] or pair[1] != last[1]), ti.i32)


@func
def is_chain(m, d, k):
    """Whether island k is held together by rows and nearly as trees are, so that a sparse factor of it has next to no
    fill however large it is; conjugate gradients would take as many products as it is long."""
    most = d.island_treenum[k] + d.island_treenum[k] // CYCLES
    thin = ti.max(d.island_meetings[k], d.island_ties[k]) <= most
    size = d.island_nodenum[k]
    return d.island_joined[k] > 0 and size > d.maxjoined and size <= d.maxchain and thin


@ti.func
def factor_room(n, joined, partly):
    """Numbers of a sparse factor of n nodes, which so many rows join; of an incomplete one if `partly`."""
    most = ti.select(partly, PART_ROOM, ti.select(joined > 0, 2 * ROOM, ROOM))
    return BLOCK * ti.min(most * n, n * (n - 1) // 2)


@func
def is_factored(m, d, k):
    """Whether island k gets a sparse factor."""
    bodies = d.island_single[k] == 1 or d.island_dofnum[k] > d.maxdense
    most = ti.select(d.island_joined[k] > 0, d.maxjoined, d.maxfactor)
    return bodies and d.island_coupled[k] > 0 and d.island_nodenum[k] <= most


@func
def dense_room(m, d, k, factored, partly):
    """Numbers of the sparse factor of island k if it has one, whole or not, else of a dense one, if of these."""
    room = 0
    if factored or partly:
        room = factor_room(d.island_nodenum[k], d.island_joined[k], partly)
        if d.island_single[k] == 0 and not partly:  # matrices of bodies, see solver/articulated.py
            room += BLOCK * d.island_bodynum[k]
    elif d.island_coupled[k] > 0 and d.island_dofnum[k] <= d.maxdense:
        room = d.island_dofnum[k] * (d.island_dofnum[k] + 1)
    return room


@func
def is_shared(m, d, k, factored):
    """Whether all threads work on island k: one without a factor, or one of many jointed bodies."""
    shared = d.island_coupled[k] > d.maxcon and d.island_dofnum[k] > d.mindof
    if factored:
        bodies = d.island_bodynum[k]
        shared = d.island_single[k] == 0 and bodies > LONG_ARMS and d.island_dofnum[k] <= 3 * bodies
    return shared


@func
def is_tied(m, d, k, shared):
    """Whether a shared island gets an incomplete factor: more pairs of its trees are joined by rows than touch."""
    some = shared and d.island_nodenum[k] <= d.maxtied and d.island_factored[k] == 0
    return some and d.island_joined[k] > 0 and d.island_ties[k] > d.island_meetings[k]


@func
def place_lists(m, d, n):
    """Where the lists of the n islands begin, and their dense matrices; the counts start again for `fill_lists`."""
    tree = 0
    con = 0
    row = 0
    dense = 0
    large = 0
    node = 0
    for k in range(n):
        chain = is_chain(m, d, k)
        d.island_treeadr[k] = tree
        d.island_conadr[k] = con
        d.island_rowadr[k] = row
        d.island_denseadr[k] = dense
        d.island_nodeadr[k] = node
        tree += d.island_treenum[k]
        con += d.island_connum[k]
        row += d.island_rownum[k]
        node += d.island_bodynum[k]
        factored = is_factored(m, d, k) or chain
        d.island_factored[k] = ti.cast(factored, ti.i32)
        shared = is_shared(m, d, k, factored)
        partly = is_tied(m, d, k, shared)
        d.island_partly[k] = ti.cast(partly, ti.i32)
        dense += dense_room(m, d, k, factored, partly)
        d.island_treenum[k] = 0
        d.island_connum[k] = 0
        d.island_rownum[k] = 0
        large += ti.cast(shared, ti.i32)
        d.island_shared[k] = ti.select(shared, large, 0)
    d.ndense = dense
    d.nlarge = large
    d.nsmall = n - large


@func
def fill_lists(m, d, ncon, nrow):
    """Trees, contacts and rows of each island, in order."""
    total = tree_count(m, d)
    for at in range(total):
        t = tree_at(m, d, at)
        k = d.tree_island[t]
        if k >= 0:
            d.island_tree[d.island_treeadr[k] + d.island_treenum[k]] = t
            d.island_treenum[k] = d.island_treenum[k] + 1
    for c in range(ncon):
        t = d.con_tree[c]
        if t >= 0:
            k = d.tree_island[t]
            d.island_con[d.island_conadr[k] + d.island_connum[k]] = c
            d.island_connum[k] = d.island_connum[k] + 1
    for r in range(nrow):
        k = d.tree_island[d.row_tree[r]]
        d.island_row[d.island_rowadr[k] + d.island_rownum[k]] = r
        d.island_rownum[k] = d.island_rownum[k] + 1


@kernel
def find_islands(m, d):
    """Union-find, parallel; then trees, contacts and rows listed by island, serial. Coupled islands of at most maxdense
    dofs get room for a dense matrix, those of at most maxfactor nodes (maxjoined where rows join trees, maxchain where
    they do nearly as in a tree), if they are free bodies or have more dofs, for a sparse factor; all threads share an
    island of more than maxcon coupling contacts and rows and more than mindof dofs that has no factor."""
    unite_all(m, d, SERIAL)
    ti.loop_config(serialize=True)
    for _ in range(1):
        ncon = d.ncon
        nrow = d.nrow
        n = label_trees(m, d)
        d.nisland = n
        count_constraints(m, d, ncon, nrow)
        place_lists(m, d, n)
        fill_lists(m, d, ncon, nrow)


@ti.func
def cut(k, begin, end, size, n, island: ti.template(), first: ti.template(), last: ti.template()):
    """Cuts the part from begin to end of island k's list into blocks of at most `size`, appended at n; returns the
    new n."""
    block = n
    a = begin
    while a < end:
        island[block] = k
        first[block] = a
        last[block] = ti.min(a + size, end)
        a += size
        block += 1
    return block


@kernel
def cut_blocks(m, d):
    """Lists of small and large islands, and fixed blocks of the large ones' trees, contacts and rows: the units of
    parallel work and of fixed-order sums. island_*blkadr, island_*blkend: first block of an island, one past it."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        small = 0
        large = 0
        tblk = 0
        cblk = 0
        rblk = 0
        for k in range(d.nisland):
            if d.island_shared[k] == 0:
                d.island_small[small] = k
                small += 1
            else:
                d.island_large[large] = k
                large += 1
                tree = d.island_treeadr[k]
                con = d.island_conadr[k]
                row = d.island_rowadr[k]
                d.island_tblkadr[k] = tblk
                d.island_cblkadr[k] = cblk
                d.island_rblkadr[k] = rblk
                tree_end = tree + d.island_treenum[k]
                con_end = con + d.island_connum[k]
                row_end = row + d.island_rownum[k]
                tblk = cut(k, tree, tree_end, d.treesize, tblk, d.tblk_island, d.tblk_begin, d.tblk_end)
                cblk = cut(k, con, con_end, d.consize, cblk, d.cblk_island, d.cblk_begin, d.cblk_end)
                rblk = cut(k, row, row_end, d.rowsize, rblk, d.rblk_island, d.rblk_begin, d.rblk_end)
                d.island_tblkend[k] = tblk
                d.island_cblkend[k] = cblk
                d.island_rblkend[k] = rblk
        d.nsmall = small
        d.nlarge = large
        d.ntblk = tblk
        d.ncblk = cblk
        d.nrblk = rblk
