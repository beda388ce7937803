"""Hessian of the solver's objective within one tree: M plus the contacts and rows that touch it, factored L' D L.

A contact adds a 6 x 6 matrix to its body's inertia, so the composite-rigid-body recursion that gives M gives this
Hessian in M's own sparsity (dof_Madr, then ancestors), with no fill-in. It is exact for a tree whose contacts are all
with static bodies and whose rows have their dofs on one branch each, and the preconditioner of the linear solver
elsewhere. body_hess holds, per body, the Hessian of its twist (angular, linear), lower triangle by rows.
"""

from ..spatial import first_moment, head, mass_of, symmetric
from ..tendon.inertia import add_tendon_hessian
from ..types import FP, func, mat3, subtract, ti, vec6
from .row_hessian import add_row_hessians

# LOWER[i][j]: where entry i, j of a symmetric 6 x 6 matrix lies, kept as lower triangle by rows
LOWER = tuple(tuple(max(i, j) * (max(i, j) + 1) // 2 + min(i, j) for j in range(6)) for i in range(6))


@ti.func
def skew(r):
    return mat3(0.0, -r[2], r[1], r[2], 0.0, -r[0], -r[1], r[0], 0.0)


@ti.func
def times_skew(k, r):
    """k @ skew(r) without products with its zeros."""
    x = mat3(0.0)
    for i in ti.static(range(3)):
        x[i, 0] = k[i, 1] * r[2] - k[i, 2] * r[1]
        x[i, 1] = k[i, 2] * r[0] - k[i, 0] * r[2]
        x[i, 2] = k[i, 0] * r[1] - k[i, 1] * r[0]
    return x


@ti.func
def skew_times(r, k):
    """skew(r) @ k."""
    x = mat3(0.0)
    for i in ti.static(range(3)):
        x[0, i] = r[1] * k[2, i] - r[2] * k[1, i]
        x[1, i] = r[2] * k[0, i] - r[0] * k[2, i]
        x[2, i] = r[0] * k[1, i] - r[1] * k[0, i]
    return x


@func
def body_hessian(m, d, b):
    """Inertia of world-major body b plus the Hessians of its contacts, in body_hess."""
    ww, vw, vv = hessian_of_body(m, d, b)
    put_triangle(b, ww, vw, vv, d.body_hess)


@func
def hessian_of_body(m, d, b):
    """The same: its angular, coupling and linear part."""
    ww, vw, vv = hessian_of_inertia(b, d.cinert)
    for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        side = d.body_con[n]
        c = side // 2
        arm = head(d.con_arm[side])
        ww, vw, vv = with_contact(ww, vw, vv, symmetric(d.con_hess, c), arm)
        if ti.static(m.has.torsion):
            if d.contact_dim[c] > 3:
                kvw = d.con_hess_mix[c]
                ak = skew_times(arm, kvw)
                vw += kvw
                ww += symmetric(d.con_hess_rot, c) + ak + ak.transpose()
    return ww, vw, vv


@ti.func
def hessian_of_inertia(b, a: ti.template()):
    """The angular, coupling and linear parts of the spatial inertia a[b]."""
    e = mass_of(a, b)
    return symmetric(a, b), -1.0 * skew(first_moment(a, b)), mat3(e, 0.0, 0.0, 0.0, e, 0.0, 0.0, 0.0, e)


@ti.func
def with_contact(ww, vw, vv, k, arm):
    """These parts with those of a contact: its Hessian k of translations, and its arm."""
    ka = times_skew(k, arm)
    return ww - skew_times(arm, ka), vw - ka, vv + k


@ti.func
def put_triangle(b, ww, vw, vv, x: ti.template()):
    """The lower triangle of these parts, by rows, in record b of x."""
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            x[b][(3 + r) * (4 + r) // 2 + s] = vw[r, s]
            if ti.static(s <= r):
                x[b][r * (r + 1) // 2 + s] = ww[r, s]
                x[b][(3 + r) * (4 + r) // 2 + 3 + s] = vv[r, s]


@ti.func
def sym6_times(b, v, a: ti.template()):
    """Symmetric 6 x 6 matrix, lower triangle by rows in record b of a, times v."""
    x = vec6(0.0)
    for i in ti.static(range(6)):
        x[i] = (
            FP(0.0) + a[b][LOWER[i][0]] * v[0] + a[b][LOWER[i][1]] * v[1] + a[b][LOWER[i][2]] * v[2]
            + a[b][LOWER[i][3]] * v[3] + a[b][LOWER[i][4]] * v[4] + a[b][LOWER[i][5]] * v[5]
        )  # fmt: skip
    return x


@func
def add_pose(m, d, b, k, side):
    """Adds to body_hess of body b, at a side of connect or weld k, the Hessian of this."""
    vv = symmetric(d.eq_hess, k)
    arm = head(d.eq_arm[k, side])
    vw = -1.0 * times_skew(vv, arm)
    ww = symmetric(d.eq_hess_rot, k) + skew_times(arm, vw)
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            to = (3 + r) * (4 + r) // 2 + s
            d.body_hess[b][to] = d.body_hess[b][to] + vw[r, s]
            if ti.static(s <= r):
                to = r * (r + 1) // 2 + s
                d.body_hess[b][to] = d.body_hess[b][to] + ww[r, s]
                to = (3 + r) * (4 + r) // 2 + 3 + s
                d.body_hess[b][to] = d.body_hess[b][to] + vv[r, s]


@func
def tree_hessian(m, d, w, t, alone, posed):
    """tree_hess of tree t from the body_hess of its bodies, which are summed towards the root in place, and from rows;
    alone and posed as in `add_row_hessians`."""
    last = m.tree_bodyadr[t] + m.tree_bodynum[t] - 1
    for k in range(m.tree_bodynum[t]):
        b = last - k
        wb = w * m.nbody + b
        for e in range(m.body_dofnum[b]):
            i = m.body_dofadr[b] + e
            f = sym6_times(wb, d.cdof[w * m.nv + i], d.body_hess)
            a = w * m.nM + m.dof_Madr[i]
            d.tree_hess[a] = m.dof_armature[w, i] + d.cdof[w * m.nv + i].dot(f)
            j = m.dof_parentid[i]
            while j >= 0:
                a += 1
                d.tree_hess[a] = d.cdof[w * m.nv + j].dot(f)
                j = m.dof_parentid[j]
        parent = m.body_parentid[b]
        if m.body_treeid[parent] == t:
            for c in range(21):
                d.body_hess[w * m.nbody + parent][c] = d.body_hess[w * m.nbody + parent][c] + d.body_hess[wb][c]
    if ti.static(m.has.heavy):
        add_tendon_hessian(m, d, w, t)
    if ti.static(m.has.rows):
        add_row_hessians(m, d, w, t, alone, posed, w * m.nM + m.dof_Madr[m.tree_dofadr[t]], add_in_tree)


@func
def add_in_tree(m, d, place, a, x):
    """Adds x to number a of those of tree_hess that begin at `place`."""
    d.tree_hess[place + a] = d.tree_hess[place + a] + x


@func
def factor_tree(m, d, w, t):
    """tree_hess = L' D L in place (unit L below, D on the diagonal)."""
    for n in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + m.tree_dofnum[t] - 1 - n
        first = w * m.nM + m.dof_Madr[k]
        end = w * m.nM + m.nM
        if k + 1 < m.nv:
            end = w * m.nM + m.dof_Madr[k + 1]
        inverse = 1.0 / d.tree_hess[first]
        i = m.dof_parentid[k]
        for a in range(first + 1, end):
            e = d.tree_hess[a] * inverse
            o = w * m.nM + m.dof_Madr[i]
            subtract(d.tree_hess, o, e, a, end - a)  # what is left of row k has the places of row i
            d.tree_hess[a] = e
            i = m.dof_parentid[i]


@func
def solve_factored(m, d, w, t, x: ti.template()):
    """x = (L' D L)^-1 x on the dofs of tree t."""
    o = w * m.nv
    for n in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + m.tree_dofnum[t] - 1 - n
        a = w * m.nM + m.dof_Madr[k]
        xk = x[o + k]
        j = m.dof_parentid[k]
        e = 1
        while j >= 0:
            x[o + j] = x[o + j] - d.tree_hess[a + e] * xk
            j = m.dof_parentid[j]
            e += 1
        x[o + k] = xk / d.tree_hess[a]
    for n in range(m.tree_dofnum[t]):
        k = m.tree_dofadr[t] + n
        a = w * m.nM + m.dof_Madr[k]
        s = x[o + k]
        j = m.dof_parentid[k]
        e = 1
        while j >= 0:
            s -= d.tree_hess[a + e] * x[o + j]
            j = m.dof_parentid[j]
            e += 1
        x[o + k] = s
