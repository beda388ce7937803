"""The lists of contacts of bodies and of rows of trees, made by all threads of a GPU.

They are equal to what one thread makes: contact_lists (contacts.py) and row_lists (row.py). A list of what belongs to
each owner, here and in islands_all.py, is a stable sort by the owner (`part_pass` of kernels/sort.py); where an owner's
begins is found in the sorted keys.
"""

from ..constants import ELLIPTIC
from ..sleep.awake import body_at, body_count, tree_at, tree_count
from ..sort import block_length, first_from, start_of
from ..types import GPU, SERIAL, func, kernel, ti
from .row import is_coupled, tree_of_dof


@func
def first_of(m, d, key, n):
    """Place of the first of n sorted things whose key is at least this."""
    return first_from(d.part_key, d.parthalf * d.npartmax, 1, n, key)


# ---- contacts of bodies


@func
def rows_of_contact(m, d, c):
    """How many rows contact c has."""
    n = 0
    if d.contact_exclude[c] == 0:
        dim = d.contact_dim[c]
        n = ti.select(m.opt.cone == ELLIPTIC or dim == 1, dim, 2 * (dim - 1))
    return n


@func
def sides_of_contact(m, d, c):
    """The sides of a contact as things to be sorted by body."""
    for side in ti.static(range(2)):
        b = d.con_body[c][side]
        part = 2 * c + side
        d.part_key[part] = ti.select(b < 0 or d.contact_exclude[c] != 0, d.nworld * m.nbody, b)
        d.part_value[part] = part


@kernel
def contact_parts(m, d):
    """First row of each contact, and the sides of contacts as things to be sorted by body; parallel over contacts."""
    n = d.ncon
    length = block_length(n, 16)
    nblock = n // length + 1
    if ti.static(not GPU):  # there contact_terms has made them
        ti.loop_config(serialize=SERIAL)
        for c in range(n):
            sides_of_contact(m, d, c)
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
    """The contacts of each body, of their sorted sides, and where there are no rows what tree_rows does; parallel over
    bodies, sides and trees."""
    n = d.npart
    bodies = body_count(m, d)
    trees = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for i in range(ti.max(n, bodies, trees)):
        src = d.parthalf * d.npartmax
        if i < n:
            if d.part_key[src + i] < d.nworld * m.nbody:
                d.body_con[i] = d.part_value[src + i]
        if i < bodies:
            b = body_at(m, d, i)
            first = first_of(m, d, b, n)
            d.body_conadr[b] = first
            d.body_connum[b] = first_of(m, d, b + 1, n) - first
        if ti.static(not m.has.rows):  # else tree_rows does it behind a sort
            if i < trees:
                begin_tree(m, d, tree_at(m, d, i), n)


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
    length = block_length(n, 16)
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
    """The parts of rows that act on each tree, of their sorted parts, and `begin_tree`; parallel over parts and
    trees."""
    n = d.npart
    trees = tree_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for s in range(ti.max(n, trees)):
        if s < n:
            e = d.part_value[d.parthalf * d.npartmax + s]
            r = row_of_entry(m, d, e)
            end = e + 1
            while end < d.row_adr[r] + d.row_num[r] and not tree_changes(m, d, r, end):
                end += 1
            d.seg_row[s] = r
            d.seg_adr[s] = e
            d.seg_num[s] = end - e
        if s < trees:
            begin_tree(m, d, tree_at(m, d, s), n)


@func
def begin_tree(m, d, t, n):
    """The parts of rows that act on tree t, of n sorted ones, and whether it is a single free body on which only
    contacts act; it is its own root so far."""
    single = m.tree_free[t % m.ntree]
    if ti.static(m.has.rows):
        first = first_of(m, d, t, n)
        d.tree_segadr[t] = first
        d.tree_segnum[t] = first_of(m, d, t + 1, n) - first
        if d.tree_segnum[t] > 0:
            single = 0
    d.tree_single[t] = single
    d.uf_parent[t] = t  # as join_trees begins
    d.uf_touched[t] = 0
