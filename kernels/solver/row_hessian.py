"""Hessian h J' J of constraint rows: the pairs of dofs that fit a tree's sparsity, and the others.

M's sparsity holds a dof with its ancestors. A row may also pair dofs of two branches or two trees: these pairs enter
the dense factor of a small island exactly, and the matrix-free product of conjugate gradients holds them in any case.
"""

from ..types import func, ti


@func
def each_pose(m, d, w, t, act: ti.template()):
    """act(m, d, world-major body, equality, side) for the sides of connects and welds that act on tree t."""
    wt = w * m.ntree + t
    for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
        k = d.row_pose[d.seg_row[s]] - 1
        if k >= 0:
            for side in range(2):
                b = d.eq_body[k][side]
                if b >= 0:
                    if m.body_treeid[b - w * m.nbody] == t:
                        act(m, d, b, k, side)


@func
def add_row_hessians(m, d, w, t, alone, posed, place, add: ti.template()):
    """Adds to the Hessian of tree t what its rows have there, by add(m, d, place, number in its rows, what).

    posed  but not those of connects and welds, which body_hess holds.
    alone  tree_hess stands for the whole Hessian, as a preconditioner: for a pair of two branches it gets, as
           2 h a x b y <= h |a b| (x x + y y), a diagonal that is no smaller, so that it stays positive.
    """
    wt = w * m.ntree + t
    rows = m.dof_Madr[m.tree_dofadr[t]]
    for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
        first = d.seg_adr[s]
        there = posed and d.row_pose[d.seg_row[s]] != 0
        for k in range(ti.select(there, 0, d.seg_num[s])):
            j = d.J_dof[first + k] - w * m.nv
            f = d.row_hess[d.seg_row[s]] * d.J[first + k]
            diagonal = m.dof_Madr[j] - rows
            add(m, d, place, diagonal, f * d.J[first + k])
            a = diagonal
            for e in range(k):  # earlier dofs, from the last one; j climbs among the ancestors
                other = first + k - 1 - e
                i = d.J_dof[other] - w * m.nv
                while j > i:
                    j = m.dof_parentid[j]
                    a += 1
                if j == i:
                    add(m, d, place, a, f * d.J[other])
                elif alone:
                    more = ti.abs(f * d.J[other])
                    add(m, d, place, diagonal, more)
                    add(m, d, place, m.dof_Madr[i] - rows, more)


@func
def place_in_island(m, d, w, i):
    """Place of dof i of world w among the dofs of its island."""
    t = m.dof_treeid[i]
    return d.tree_dofstart[w * m.ntree + t] + i - m.tree_dofadr[t]


@func
def couple_row(m, d, r, w, n, adr, dense: ti.template()):
    """Adds the pairs of row r that no tree's Hessian holds to the dense n x n matrix at adr, lower triangle."""
    first = d.row_adr[r]
    for k in range(d.row_num[r]):
        j = d.J_dof[first + k] - w * m.nv
        f = d.row_hess[r] * d.J[first + k]
        a = place_in_island(m, d, w, j)
        for e in range(k):
            other = first + k - 1 - e
            i = d.J_dof[other] - w * m.nv
            while j > i:
                j = m.dof_parentid[j]
            if j != i:
                b = place_in_island(m, d, w, i)
                to = adr + ti.max(a, b) * n + ti.min(a, b)
                dense[to] = dense[to] + f * d.J[other]
