"""Hessian of the solver's objective within one tree: M plus the contacts and rows that touch it, factored L' D L.

A contact adds a 6 x 6 matrix to its body's inertia, so the composite-rigid-body recursion that gives M gives this
Hessian in M's own sparsity (dof_Madr, then ancestors), with no fill-in. It is exact for a tree whose contacts are all
with static bodies, and the preconditioner of the linear solver elsewhere. body_hess holds, per body, the Hessian of its
twist (angular, linear), lower triangle by rows.
"""

from tisim.kernels.types import (
    func,
    ld3,
    ld6,
    mat3,
    ti,
    vec3,
    vec6,
)


@ti.func
def skew(r):
    return mat3(0.0, -r[2], r[1], r[2], 0.0, -r[0], -r[1], r[0], 0.0)


@ti.func
def sym(a: ti.template(), o):
    """Symmetric matrix at a[o:o+6]."""
    return mat3(a[o], a[o + 3], a[o + 4], a[o + 3], a[o + 1], a[o + 5], a[o + 4], a[o + 5], a[o + 2])


@func
def body_hessian(m, d, b):
    """Inertia of world-major body b plus the Hessians of its contacts."""
    i = 10 * b
    h = vec3(d.cinert[i + 6], d.cinert[i + 7], d.cinert[i + 8])
    e = d.cinert[i + 9]
    ww = sym(d.cinert, i)
    vw = -1.0 * skew(h)
    vv = mat3(e, 0.0, 0.0, 0.0, e, 0.0, 0.0, 0.0, e)
    for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        side = d.body_con[n]
        c = side // 2
        k = sym(d.con_hess, 6 * c)
        a = skew(ld3(d.con_arm, side))
        ka = k @ a
        vv += k
        vw -= ka
        ww -= a @ ka
        if d.contact_dim[c] > 3:
            o = 15 * c
            kvw = mat3(
                d.con_hess_rot[o],
                d.con_hess_rot[o + 1],
                d.con_hess_rot[o + 2],
                d.con_hess_rot[o + 3],
                d.con_hess_rot[o + 4],
                d.con_hess_rot[o + 5],
                d.con_hess_rot[o + 6],
                d.con_hess_rot[o + 7],
                d.con_hess_rot[o + 8],
            )
            ak = a @ kvw
            vw += kvw
            ww += sym(d.con_hess_rot, o + 9) + ak + ak.transpose()
    o = 21 * b
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            d.body_hess[o + (3 + r) * (4 + r) // 2 + s] = vw[r, s]
            if ti.static(s <= r):
                d.body_hess[o + r * (r + 1) // 2 + s] = ww[r, s]
                d.body_hess[o + (3 + r) * (4 + r) // 2 + 3 + s] = vv[r, s]


@ti.func
def sym6_times(o, v, a: ti.template()):
    """Symmetric 6 x 6 matrix, lower triangle by rows at a[o:o+21], times v."""
    x = vec6(0.0)
    for i in ti.static(range(6)):
        for j in ti.static(range(6)):
            x[i] += a[o + max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] * v[j]
    return x


@func
def tree_hessian(m, d, w, t):
    """tree_hess of tree t from the body_hess of its bodies, which are summed towards the root in place."""
    last = m.tree_table[4 * t] + m.tree_table[4 * t + 1] - 1
    for k in range(m.tree_table[4 * t + 1]):
        b = last - k
        wb = w * m.nbody + b
        for e in range(m.body_table[4 * b + 3]):
            i = m.body_table[4 * b + 2] + e
            f = sym6_times(21 * wb, ld6(d.cdof, w * m.nv + i), d.body_hess)
            a = w * m.nM + m.dof_table[2 * i + 1]
            d.tree_hess[a] = m.dof_armature[i] + ld6(d.cdof, w * m.nv + i).dot(f)
            j = m.dof_table[2 * i]
            while j >= 0:
                a += 1
                d.tree_hess[a] = ld6(d.cdof, w * m.nv + j).dot(f)
                j = m.dof_table[2 * j]
        parent = m.body_table[4 * b]
        if m.body_table[4 * parent + 1] == t:
            for c in range(21):
                to = 21 * (w * m.nbody + parent) + c
                d.body_hess[to] = d.body_hess[to] + d.body_hess[21 * wb + c]
    wt = w * m.ntree + t
    for n in range(d.tree_rowadr[wt], d.tree_rowadr[wt] + d.tree_rownum[wt]):
        r = d.tree_row[n]
        for k in range(d.row_int[6 * r + 2]):
            i = d.row_int[6 * r + 3 + k] - w * m.nv
            f = d.row_sol[4 * r + 3] * d.row_f[13 * r + k]
            a = w * m.nM + m.dof_table[2 * i + 1]
            d.tree_hess[a] = d.tree_hess[a] + f * d.row_f[13 * r + k]
            for e in range(k):  # earlier dofs of the row that are ancestors
                a = w * m.nM + m.dof_table[2 * i + 1]
                j = i
                while j >= 0 and j != d.row_int[6 * r + 3 + e] - w * m.nv:
                    j = m.dof_table[2 * j]
                    a += 1
                if j >= 0:
                    d.tree_hess[a] = d.tree_hess[a] + f * d.row_f[13 * r + e]


@func
def factor_tree(m, d, w, t):
    """tree_hess = L' D L in place (unit L below, D on the diagonal)."""
    for n in range(m.tree_table[4 * t + 3]):
        k = m.tree_table[4 * t + 2] + m.tree_table[4 * t + 3] - 1 - n
        a = w * m.nM + m.dof_table[2 * k + 1]
        inverse = 1.0 / d.tree_hess[a]
        i = m.dof_table[2 * k]
        while i >= 0:
            a += 1
            e = d.tree_hess[a] * inverse
            o = w * m.nM + m.dof_table[2 * i + 1]
            j = i
            q = 0
            while j >= 0:
                d.tree_hess[o + q] = d.tree_hess[o + q] - e * d.tree_hess[a + q]
                j = m.dof_table[2 * j]
                q += 1
            d.tree_hess[a] = e
            i = m.dof_table[2 * i]


@func
def solve_factored(m, d, w, t, x: ti.template()):
    """x = (L' D L)^-1 x on the dofs of tree t."""
    o = w * m.nv
    for n in range(m.tree_table[4 * t + 3]):
        k = m.tree_table[4 * t + 2] + m.tree_table[4 * t + 3] - 1 - n
        a = w * m.nM + m.dof_table[2 * k + 1]
        xk = x[o + k]
        j = m.dof_table[2 * k]
        e = 1
        while j >= 0:
            x[o + j] = x[o + j] - d.tree_hess[a + e] * xk
            j = m.dof_table[2 * j]
            e += 1
        x[o + k] = xk / d.tree_hess[a]
    for n in range(m.tree_table[4 * t + 3]):
        k = m.tree_table[4 * t + 2] + n
        a = w * m.nM + m.dof_table[2 * k + 1]
        s = x[o + k]
        j = m.dof_table[2 * k]
        e = 1
        while j >= 0:
            s -= d.tree_hess[a + e] * x[o + j]
            j = m.dof_table[2 * j]
            e += 1
        x[o + k] = s
