"""Hessian of the solver's objective within one tree: M plus the contacts and rows that touch it, factored L' D L.

A contact adds a 6 x 6 matrix to its body's inertia, so the composite-rigid-body recursion that gives M gives this
Hessian in M's own sparsity (dof_Madr, then ancestors), with no fill-in. It is exact for a tree whose contacts are all
with static bodies, and the preconditioner of the linear solver elsewhere. body_hess holds, per body, the Hessian of its
twist (angular, linear), lower triangle by rows.
"""

from tisim.kernels.types import ld3, ld6, mat3, ti, vec3, vec6


@ti.func
def skew(r):
    return mat3(0.0, -r[2], r[1], r[2], 0.0, -r[0], -r[1], r[0], 0.0)


@ti.func
def sym(a: ti.template(), o):
    """Symmetric matrix at a[o:o+6]."""
    return mat3(a[o], a[o + 3], a[o + 4], a[o + 3], a[o + 1], a[o + 5], a[o + 4], a[o + 5], a[o + 2])


@ti.func
def body_hessian(
    b, cinert: ti.template(), body_conadr: ti.template(), body_connum: ti.template(), body_con: ti.template(),
    con_arm: ti.template(), contact_dim: ti.template(), con_hess: ti.template(), con_hess_rot: ti.template(),
    body_hess: ti.template(),
):  # fmt: skip
    """Inertia of world-major body b plus the Hessians of its contacts."""
    i = 10 * b
    h = vec3(cinert[i + 6], cinert[i + 7], cinert[i + 8])
    m = cinert[i + 9]
    ww = sym(cinert, i)
    vw = -1.0 * skew(h)
    vv = mat3(m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m)
    for n in range(body_conadr[b], body_conadr[b] + body_connum[b]):
        side = body_con[n]
        c = side // 2
        k = sym(con_hess, 6 * c)
        a = skew(ld3(con_arm, side))
        ka = k @ a
        vv += k
        vw -= ka
        ww -= a @ ka
        if contact_dim[c] > 3:
            o = 15 * c
            kvw = mat3(
                con_hess_rot[o], con_hess_rot[o + 1], con_hess_rot[o + 2],
                con_hess_rot[o + 3], con_hess_rot[o + 4], con_hess_rot[o + 5],
                con_hess_rot[o + 6], con_hess_rot[o + 7], con_hess_rot[o + 8],
            )  # fmt: skip
            ak = a @ kvw
            vw += kvw
            ww += sym(con_hess_rot, o + 9) + ak + ak.transpose()
    o = 21 * b
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            body_hess[o + (3 + r) * (4 + r) // 2 + s] = vw[r, s]
            if ti.static(s <= r):
                body_hess[o + r * (r + 1) // 2 + s] = ww[r, s]
                body_hess[o + (3 + r) * (4 + r) // 2 + 3 + s] = vv[r, s]


@ti.func
def sym6_times(o, v, a: ti.template()):
    """Symmetric 6 x 6 matrix, lower triangle by rows at a[o:o+21], times v."""
    x = vec6(0.0)
    for i in ti.static(range(6)):
        for j in ti.static(range(6)):
            x[i] += a[o + max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] * v[j]
    return x


@ti.func
def tree_hessian(
    w, t, ntree, nbody, nv, nM,
    tree_table: ti.template(), body_table: ti.template(), dof_table: ti.template(), dof_armature: ti.template(),
    cdof: ti.template(), tree_rowadr: ti.template(), tree_rownum: ti.template(), tree_row: ti.template(),
    row_int: ti.template(), row_f: ti.template(), row_sol: ti.template(), body_hess: ti.template(),
    tree_hess: ti.template(),
):  # fmt: skip
    """tree_hess of tree t from the body_hess of its bodies, which are summed towards the root in place."""
    last = tree_table[4 * t] + tree_table[4 * t + 1] - 1
    for k in range(tree_table[4 * t + 1]):
        b = last - k
        wb = w * nbody + b
        for m in range(body_table[4 * b + 3]):
            i = body_table[4 * b + 2] + m
            f = sym6_times(21 * wb, ld6(cdof, w * nv + i), body_hess)
            a = w * nM + dof_table[2 * i + 1]
            tree_hess[a] = dof_armature[i] + ld6(cdof, w * nv + i).dot(f)
            j = dof_table[2 * i]
            while j >= 0:
                a += 1
                tree_hess[a] = ld6(cdof, w * nv + j).dot(f)
                j = dof_table[2 * j]
        parent = body_table[4 * b]
        if body_table[4 * parent + 1] == t:
            for c in range(21):
                to = 21 * (w * nbody + parent) + c
                body_hess[to] = body_hess[to] + body_hess[21 * wb + c]
    wt = w * ntree + t
    for n in range(tree_rowadr[wt], tree_rowadr[wt] + tree_rownum[wt]):
        r = tree_row[n]
        for k in range(row_int[6 * r + 2]):
            i = row_int[6 * r + 3 + k] - w * nv
            f = row_sol[4 * r + 3] * row_f[13 * r + k]
            a = w * nM + dof_table[2 * i + 1]
            tree_hess[a] = tree_hess[a] + f * row_f[13 * r + k]
            for m in range(k):  # earlier dofs of the row that are ancestors
                a = w * nM + dof_table[2 * i + 1]
                j = i
                while j >= 0 and j != row_int[6 * r + 3 + m] - w * nv:
                    j = dof_table[2 * j]
                    a += 1
                if j >= 0:
                    tree_hess[a] = tree_hess[a] + f * row_f[13 * r + m]


@ti.func
def factor_tree(w, t, nM, tree_table: ti.template(), dof_table: ti.template(), tree_hess: ti.template()):
    """tree_hess = L' D L in place (unit L below, D on the diagonal)."""
    for n in range(tree_table[4 * t + 3]):
        k = tree_table[4 * t + 2] + tree_table[4 * t + 3] - 1 - n
        a = w * nM + dof_table[2 * k + 1]
        inverse = 1.0 / tree_hess[a]
        i = dof_table[2 * k]
        while i >= 0:
            a += 1
            e = tree_hess[a] * inverse
            o = w * nM + dof_table[2 * i + 1]
            j = i
            m = 0
            while j >= 0:
                tree_hess[o + m] = tree_hess[o + m] - e * tree_hess[a + m]
                j = dof_table[2 * j]
                m += 1
            tree_hess[a] = e
            i = dof_table[2 * i]


@ti.func
def solve_factored(
    w, t, nv, nM, tree_table: ti.template(), dof_table: ti.template(), tree_hess: ti.template(), x: ti.template()
):
    """x = (L' D L)^-1 x on the dofs of tree t."""
    o = w * nv
    for n in range(tree_table[4 * t + 3]):
        k = tree_table[4 * t + 2] + tree_table[4 * t + 3] - 1 - n
        a = w * nM + dof_table[2 * k + 1]
        xk = x[o + k]
        j = dof_table[2 * k]
        m = 1
        while j >= 0:
            x[o + j] = x[o + j] - tree_hess[a + m] * xk
            j = dof_table[2 * j]
            m += 1
        x[o + k] = xk / tree_hess[a]
    for n in range(tree_table[4 * t + 3]):
        k = tree_table[4 * t + 2] + n
        a = w * nM + dof_table[2 * k + 1]
        s = x[o + k]
        j = dof_table[2 * k]
        m = 1
        while j >= 0:
            s -= tree_hess[a + m] * x[o + j]
            j = dof_table[2 * j]
            m += 1
        x[o + k] = s


