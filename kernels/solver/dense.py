"""Newton's direction of a small island by a dense Cholesky factor of its Hessian.

The matrix of an isle's n dofs lies at island_dense[isle.dense:], lower triangle by rows, with room for a vector behind
it. Its blocks on the diagonal are the trees' own Hessians; contacts and rows couple them.
"""

from ..constraint.cone import hessian_times
from ..spatial import cross, head, join, last_dof, tail
from ..types import called, func, ti
from .isle import Isle
from .row_hessian import couple_row


@called("jointed")
def dense_direction(m, d, isle: Isle):
    """sol_p = H^-1 sol_p; tree_hess holds the trees' Hessians."""
    fill(m, d, isle)
    cholesky(isle.ndof, isle.dense, d.island_dense)
    solve(m, d, isle, d.sol_p)


@func
def fill(m, d, isle: ti.template()):
    """The Hessian of the island."""
    for e in range(isle.dense, isle.dense + isle.ndof * isle.ndof):
        d.island_dense[e] = 0.0
    for n in range(isle.trees.begin, isle.trees.end):
        place_tree(m, d, isle, d.island_tree[n])
    for n in range(isle.cons.begin, isle.cons.end):
        c = d.island_con[n]
        if d.con_body[c][0] >= 0 and d.con_body[c][1] >= 0:
            couple(m, d, isle, c)
    if ti.static(m.has.rows):
        for n in range(isle.rows.begin, isle.rows.end):
            r = d.island_row[n]
            if d.row_coupled[r] == 1:
                couple_row(m, d, r, isle.world, isle.ndof, isle.dense, d.island_dense)


@func
def place_tree(m, d, isle: ti.template(), wt):
    """Copies the Hessian of world-major tree wt."""
    t = wt - isle.world * m.ntree
    s = d.tree_dofstart[wt] - m.tree_dofadr[t]
    for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        a = isle.world * m.nM + m.dof_Madr[i]
        j = i
        while j >= 0:
            d.island_dense[isle.dense + (s + i) * isle.ndof + s + j] = d.tree_hess[a]
            a += 1
            j = m.dof_parentid[j]


@func
def couple(m, d, isle: ti.template(), c):
    """Adds the part of contact c's Hessian that couples its two moving bodies."""
    w = isle.world
    b1 = d.con_body[c][0] - w * m.nbody
    b2 = d.con_body[c][1] - w * m.nbody
    s1 = d.tree_dofstart[w * m.ntree + m.body_treeid[b1]] - m.tree_dofadr[m.body_treeid[b1]]
    s2 = d.tree_dofstart[w * m.ntree + m.body_treeid[b2]] - m.tree_dofadr[m.body_treeid[b2]]
    i = last_dof(m, d, b2)
    while i >= 0:
        v = at_point(m, d, w * m.nv + i, head(d.con_arm[c, 1]))
        f = hessian_times(m, d, c, d.contact_dim[c], v)
        j = last_dof(m, d, b1)
        while j >= 0:
            h = -f.dot(at_point(m, d, w * m.nv + j, head(d.con_arm[c, 0])))
            a = s2 + i
            b = s1 + j
            if a == b:
                h *= 2.0
            to = isle.dense + ti.max(a, b) * isle.ndof + ti.min(a, b)
            d.island_dense[to] = d.island_dense[to] + h
            j = m.dof_parentid[j]
        i = m.dof_parentid[i]


@func
def at_point(m, d, i, arm):
    """Twist of dof i (world-major) at a point arm away from its tree's centre: (angular, linear)."""
    v = d.cdof[i]
    return join(head(v), tail(v) + cross(head(v), arm))


@ti.func
def cholesky(n, adr, a: ti.template()):
    """Lower factor of the n x n matrix at a[adr:], in place; its diagonal holds the inverse."""
    for i in range(n):
        for j in range(i + 1):
            s = a[adr + i * n + j]
            for k in range(j):
                s -= a[adr + i * n + k] * a[adr + j * n + k]
            if i == j:
                a[adr + i * n + i] = 1.0 / ti.sqrt(ti.max(s, 1e-30))
            else:
                a[adr + i * n + j] = s * a[adr + j * n + j]


@func
def solve(m, d, isle: ti.template(), x: ti.template()):
    """x = (L L')^-1 x on the dofs of the island; x is of all dofs of all worlds, v behind L of those of the island."""
    n, adr = isle.ndof, isle.dense
    v = adr + n * n
    for e in range(isle.trees.begin, isle.trees.end):
        wt = d.island_tree[e]
        from_x = isle.world * m.nv + m.tree_dofadr[wt - isle.world * m.ntree] - d.tree_dofstart[wt]
        for i in range(d.tree_dofstart[wt], d.tree_dofstart[wt] + m.tree_dofnum[wt - isle.world * m.ntree]):
            s = x[from_x + i]
            for k in range(i):
                s -= d.island_dense[adr + i * n + k] * d.island_dense[v + k]
            d.island_dense[v + i] = s * d.island_dense[adr + i * n + i]
    for j in range(n):
        i = n - 1 - j
        s = d.island_dense[v + i] * d.island_dense[adr + i * n + i]
        d.island_dense[v + i] = s
        for k in range(i):
            d.island_dense[v + k] = d.island_dense[v + k] - d.island_dense[adr + i * n + k] * s
    for e in range(isle.trees.begin, isle.trees.end):
        wt = d.island_tree[e]
        to_x = isle.world * m.nv + m.tree_dofadr[wt - isle.world * m.ntree] - d.tree_dofstart[wt]
        for i in range(d.tree_dofstart[wt], d.tree_dofstart[wt] + m.tree_dofnum[wt - isle.world * m.ntree]):
            x[to_x + i] = d.island_dense[v + i]
