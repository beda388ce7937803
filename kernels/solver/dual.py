"""The dual problem: forces f that minimise f' (J M^-1 J' + R) f / 2 + f' (J qacc_smooth - aref), one by one.

The matrix is never formed. With M = L' D L a row of Y = J L^-1 D^-1/2 is a row of J and the ancestors of its dofs, and
J M^-1 J' = Y Y'. Who changes a force by df adds Y' df to y, which lies in the places of the dofs, and the residual of
any row is Y y again: the velocities of each tree are kept up to date, and a sweep costs what Y has entries.

A contact's rows are the components k < dim of its force; the edges of a pyramid are sums of these. Its entries of Y lie
side by side, Y[con_Yadr + has.row * x + k], 0 from dim on, of the dof Y_dof[con_Yadr + x]; dofs descend, so that an
ancestor stands behind those that it moves. Seed 000, "Convex solver"; Todorov, "Convex and analytically-invertible
dynamics with contacts and constraints", ICRA 2014.
"""

from ..constraint.cone import force_of, to_contact, to_world
from ..constraint.row import row_times, tree_of_dof, world_of_row
from ..spatial import cross, head, join, tail
from ..types import ABREAST, FP, SERIAL, func, kernel, ti
from .steps import store_wrench, tree_gather


@func
def last_of(m, d, b, w):
    """Last dof that moves a world-major body of world w, -1 for -1. Dofs are counted within a world here and below, as
    divisions are slow."""
    i = -1
    if b >= 0:
        a = b - w * m.nbody
        while m.body_dofnum[a] == 0:
            a = m.body_parentid[a]
        i = m.body_dofadr[a] + m.body_dofnum[a] - 1
    return i


@func
def count_chains(m, d, c):
    """Number of dofs that move either body of contact c."""
    w = d.contact_worldid[c]
    a = last_of(m, d, d.con_body[c][0], w)
    b = last_of(m, d, d.con_body[c][1], w)
    n = 0
    while a >= 0 or b >= 0:
        i = ti.max(a, b)
        up = m.dof_parentid[i]
        if a == i:
            a = up
        if b == i:
            b = up
        n += 1
    return n


@func
def mark_chains(m, d, r):
    """Marks the dofs of row r and their ancestors; returns how many they are."""
    n = 0
    o = world_of_row(m, d, r) * m.nv
    for e in range(d.row_adr[r], d.row_adr[r] + d.row_num[r]):
        i = d.J_dof[e] - o
        while i >= 0:
            if d.dof_mark[o + i] == r + 1:
                i = -1
            else:
                d.dof_mark[o + i] = r + 1
                n += 1
                i = m.dof_parentid[i]
    return n


@func
def list_marked(m, d, r, adr):
    """The marked dofs of row r from Y_dof[adr], descending."""
    x = adr
    low = -1  # first dof of the tree at hand
    for k in range(d.row_num[r]):
        e = d.row_adr[r] + d.row_num[r] - 1 - k
        i = d.J_dof[e]
        if low < 0 or i < low:
            t = tree_of_dof(m, d, i)
            low = t // m.ntree * m.nv + m.tree_dofadr[t % m.ntree]
            while i >= low:
                if d.dof_mark[i] == r + 1:
                    d.Y_dof[x] = i
                    x += 1
                i -= 1


@kernel
def dual_places(m, d):
    """Where the entries of Y of each row and contact lie, and the dofs of the rows'; parallel over dofs, then contacts,
    then serial."""
    ndof = d.nworld * m.nv
    ncon = d.ncon
    ti.loop_config(serialize=SERIAL)
    for i in range(ndof):
        d.dof_mark[i] = 0
        d.dual_y[i] = 0.0
    ti.loop_config(serialize=SERIAL)
    for c in range(ncon):
        d.con_Ynum[c] = 0
        if d.contact_efc_address[c] >= 0:
            d.con_Ynum[c] = count_chains(m, d, c)
    ti.loop_config(serialize=True)
    for _ in range(1):
        n = 0
        if ti.static(m.has.rows):
            for r in range(d.nrow):
                d.row_Yadr[r] = n
                d.row_Ynum[r] = mark_chains(m, d, r)
                if n + d.row_Ynum[r] <= d.nYmax:
                    list_marked(m, d, r, n)
                n += d.row_Ynum[r]
        for c in range(ncon):
            d.con_Yadr[c] = n
            n += d.con_Ynum[c] * m.has.row
        d.nY = n


@kernel
def dual_terms(m, d):
    """Y, the residual without forces, and Y Y' of each contact; parallel over rows, then contacts."""
    ti.static(ABREAST)
    nrow = d.nrow
    ncon = d.ncon
    ti.loop_config(serialize=SERIAL)
    for r in range(nrow):
        if ti.static(m.has.rows):
            row_terms(m, d, r)
    ti.loop_config(serialize=SERIAL)
    for c in range(ncon):
        if d.contact_efc_address[c] >= 0:
            contact_entries(m, d, c)
            contact_matrix(m, d, c)


@func
def row_terms(m, d, r):
    """Entries of Y of row r, its residual without forces and its diagonal of Y Y'."""
    adr = d.row_Yadr[r]
    num = d.row_Ynum[r]
    e = d.row_adr[r] + d.row_num[r] - 1
    for x in range(adr, adr + num):
        d.Y[x] = 0.0
        if e >= d.row_adr[r]:
            if d.J_dof[e] == d.Y_dof[x]:
                d.Y[x] = d.J[e]
                e -= 1
    through_factor(m, d, world_of_row(m, d, r), adr, num, 1)
    s = FP(0.0)
    for x in range(adr, adr + num):
        s += d.Y[x] * d.Y[x]
    d.row_A[r] = s
    d.row_b[r] = row_times(m, d, r, d.qacc_smooth) - d.row_aref[r]


@func
def through_factor(m, d, w, adr, num, row: ti.template()):
    """`row` rows of J in world w, num entries each that lie side by side from Y[adr], become those of J L^-1 D^-1/2;
    their dofs are from Y_dof[adr]."""
    for x in range(num):
        i = d.Y_dof[adr + x]
        first = m.M_rowadr[i - w * m.nv]
        last = m.M_rownnz[i - w * m.nv] - 1
        other = x
        of = adr + row * x
        own = ti.Vector([d.Y[of + k] for k in ti.static(range(row))])
        for p in range(last):  # ancestors, from the nearest one
            a = first + last - 1 - p
            j = w * m.nv + m.M_colind[a]
            while d.Y_dof[adr + other] != j:
                other += 1
            factor = d.qLD[w * m.nC + a]
            to = adr + row * other
            new = ti.Vector([d.Y[to + k] - factor * own[k] for k in ti.static(range(row))])
            for k in ti.static(range(row)):
                d.Y[to + k] = new[k]
        own *= ti.sqrt(d.qLDiagInv[i])
        for k in ti.static(range(row)):
            d.Y[of + k] = own[k]


@func
def contact_entries(m, d, c):
    """Entries of Y of contact c and its residual without forces."""
    adr = d.con_Yadr[c]
    num = d.con_Ynum[c]
    dim = d.contact_dim[c]
    b = -d.con_aref[c]
    w = d.contact_worldid[c]
    i1 = last_of(m, d, d.con_body[c][0], w)
    i2 = last_of(m, d, d.con_body[c][1], w)
    for x in range(num):
        i = ti.max(i1, i2)
        up = m.dof_parentid[i]
        v = d.cdof[w * m.nv + i]
        turn = head(v) - head(v)
        shift = turn
        if i2 == i:
            turn += head(v)
            shift += tail(v) + cross(head(v), head(d.con_arm[c, 1]))
            i2 = up
        if i1 == i:
            turn -= head(v)
            shift -= tail(v) + cross(head(v), head(d.con_arm[c, 0]))
            i1 = up
        j = to_contact(c, join(turn, shift), dim, d.contact_frame)
        d.Y_dof[adr + x] = w * m.nv + i
        b += d.qacc_smooth[w * m.nv + i] * j
        for k in ti.static(range(m.has.row)):
            d.Y[adr + m.has.row * x + k] = j[k] if ti.static(k < m.has.dims) else FP(0.0)
    d.con_b[c] = b
    through_factor(m, d, w, adr, num, m.has.row)


@func
def contact_matrix(m, d, c):
    """con_A = Y Y' of contact c, without regularisation: 6 x 6, 0 from dim on."""
    adr = d.con_Yadr[c]
    lower = ti.Vector([FP(0.0) for _ in ti.static(range(m.has.dims * (m.has.dims + 1) // 2))])
    for x in range(d.con_Ynum[c]):
        y = ti.Vector([d.Y[adr + m.has.row * x + k] for k in ti.static(range(m.has.dims))])
        for k in ti.static(range(m.has.dims)):
            for q in ti.static(range(k + 1)):
                lower[k * (k + 1) // 2 + q] += y[k] * y[q]
    for k in ti.static(range(m.has.dims)):
        for q in ti.static(range(k + 1)):
            d.con_A[c, k][q] = lower[k * (k + 1) // 2 + q]
            d.con_A[c, q][k] = lower[k * (k + 1) // 2 + q]


@func
def row_residual(m, d, r):
    """Residual of row r without its regularisation: what the forces on all rows make of Jx - aref."""
    s = d.row_b[r]
    for x in range(d.row_Yadr[r], d.row_Yadr[r] + d.row_Ynum[r]):
        s += d.Y[x] * d.dual_y[d.Y_dof[x]]
    return s


@func
def row_push(m, d, r, df):
    """Adds df to the force of row r, as far as y goes."""
    for x in range(d.row_Yadr[r], d.row_Yadr[r] + d.row_Ynum[r]):
        i = d.Y_dof[x]
        d.dual_y[i] = d.dual_y[i] + d.Y[x] * df


@func
def contact_residual(m, d, c):
    """The same of contact c: six components, those at and beyond dim are zero."""
    adr = d.con_Yadr[c]
    s = d.con_b[c]
    for x in range(d.con_Ynum[c]):
        y = d.dual_y[d.Y_dof[adr + x]]
        for k in ti.static(range(m.has.dims)):
            s[k] += d.Y[adr + m.has.row * x + k] * y
    return s


@func
def contact_push(m, d, c, df):
    """Adds df, by components, to the force of contact c, as far as y goes."""
    adr = d.con_Yadr[c]
    for x in range(d.con_Ynum[c]):
        i = d.Y_dof[adr + x]
        s = FP(0.0)
        for k in ti.static(range(m.has.dims)):
            s += d.Y[adr + m.has.row * x + k] * df[k]
        d.dual_y[i] = d.dual_y[i] + s


@func
def finish_island(m, d, k):
    """qfrc_constraint and qacc of island k from its forces, and the residuals there."""
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[n]
        d.con_Jaref[c] = contact_residual(m, d, c)
        store_wrench(m, d, c, d.contact_dim[c], to_world(c, force_of(m, d, c), d.contact_frame))
    if ti.static(m.has.rows):
        for n in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[n]
            d.row_Jaref[r] = row_residual(m, d, r)
    for n in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[n] - w * m.ntree
        tree_gather(m, d, w, t, False, d.qfrc_constraint)
        for j in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            i = w * m.nv + j
            x = d.dual_y[i] * ti.sqrt(d.qLDiagInv[i])
            for p in range(m.M_rowadr[j], m.M_rowadr[j] + m.M_rownnz[j] - 1):
                x -= d.qLD[w * m.nC + p] * d.sol_p[w * m.nv + m.M_colind[p]]
            d.sol_p[i] = x
            d.qacc[i] = d.qacc_smooth[i] + x
