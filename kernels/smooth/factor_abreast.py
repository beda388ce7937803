"""M = L' D L of a tree in four worlds side by side, and solves with it: what inertia.factor_tree does with one.

A worker has the trees' rows of M, and of L, in abreast_hess, and 1 / D at the beginning of his part of abreast_tree.
"""

from ..abreast import LANES
from ..types import func, ti, vec4
from .inertia import inverse


@func
def factor(m, d, hand, t):
    """The factor of the matrices in abreast_hess, in place."""
    dof0 = m.tree_dofadr[t]
    n = m.tree_dofnum[t]
    base = hand * d.lanehess - m.M_rowadr[dof0]
    for turn in range(n):
        k = dof0 + n - 1 - turn
        row = base + m.M_rowadr[k]
        last = m.M_rownnz[k] - 1
        inv = inverse(d.abreast_hess[row + last])
        for p in range(last):
            scaled = d.abreast_hess[row + p] * inv
            above = base + m.M_rowadr[m.M_colind[m.M_rowadr[k] + p]]
            q = 0
            while q + 2 <= p:
                for e in ti.static(range(3)):
                    d.abreast_hess[above + q + e] = d.abreast_hess[above + q + e] - scaled * d.abreast_hess[row + q + e]
                q += 3
            while q <= p:
                d.abreast_hess[above + q] = d.abreast_hess[above + q] - scaled * d.abreast_hess[row + q]
                q += 1
        for p in range(last):
            d.abreast_hess[row + p] = d.abreast_hess[row + p] * inv
        d.abreast_tree[hand * d.lanetree + k - dof0] = inv


@func
def solve(m, d, hand, t, x):
    """The vectors at abreast_tree[x] become M^-1 times them."""
    dof0 = m.tree_dofadr[t]
    n = m.tree_dofnum[t]
    base = hand * d.lanehess - m.M_rowadr[dof0]
    to = x - dof0
    for turn in range(n):
        k = dof0 + n - 1 - turn
        xk = d.abreast_tree[to + k]
        for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
            i = to + m.M_colind[p]
            d.abreast_tree[i] = d.abreast_tree[i] - d.abreast_hess[base + p] * xk
    for k in range(dof0, dof0 + n):
        xk = d.abreast_tree[to + k] * d.abreast_tree[hand * d.lanetree + k - dof0]
        for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
            xk = xk - d.abreast_hess[base + p] * d.abreast_tree[to + m.M_colind[p]]
        d.abreast_tree[to + k] = xk


@func
def row_numbers(m, d, t):
    """Numbers in the rows of M of tree t."""
    k = m.tree_dofadr[t] + m.tree_dofnum[t] - 1
    return m.M_rowadr[k] + m.M_rownnz[k] - m.M_rowadr[m.tree_dofadr[t]]


@func
def lay_rows(m, d, hand, world, t, of: ti.template()):
    """Rows of a matrix of each world, side by side into abreast_hess."""
    row = m.M_rowadr[m.tree_dofadr[t]]
    n = row_numbers(m, d, t)
    at = hand * d.lanehess
    p = 0
    while p + 2 <= n:
        x, y = vec4(0.0), vec4(0.0)
        for c in ti.static(range(LANES)):
            x[c] = of[world[c] * m.nC + row + p]
            y[c] = of[world[c] * m.nC + row + p + 1]
        d.abreast_hess[at + p] = x
        d.abreast_hess[at + p + 1] = y
        p += 2
    if p < n:
        z = vec4(0.0)
        for c in ti.static(range(LANES)):
            z[c] = of[world[c] * m.nC + row + p]
        d.abreast_hess[at + p] = z


@func
def put_back_rows(m, d, hand, world, t, to: ti.template()):
    """The rows in abreast_hess back to a matrix of each world."""
    row = m.M_rowadr[m.tree_dofadr[t]]
    n = row_numbers(m, d, t)
    at = hand * d.lanehess
    p = 0
    while p + 2 <= n:
        x, y = d.abreast_hess[at + p], d.abreast_hess[at + p + 1]
        for c in ti.static(range(LANES)):
            to[world[c] * m.nC + row + p] = x[c]
            to[world[c] * m.nC + row + p + 1] = y[c]
        p += 2
    if p < n:
        x = d.abreast_hess[at + p]
        for c in ti.static(range(LANES)):
            to[world[c] * m.nC + row + p] = x[c]


@func
def put_back_dofs(m, d, at, world, t, to: ti.template()):
    """A number of each dof of the trees, from abreast_tree[at] on, back to an array of dofs."""
    dof0 = m.tree_dofadr[t]
    for i in range(m.tree_dofnum[t]):
        x = d.abreast_tree[at + i]
        for c in ti.static(range(LANES)):
            to[world[c] * m.nv + dof0 + i] = x[c]
