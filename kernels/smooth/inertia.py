"""Inertia of trees: spatial inertias, motion axes, M, its factor, and the products and solves others need.

Spatial vectors are rotation first, about the centre of mass of the tree's root body (`subtree_com[body_rootid]`), in
world axes; what the ten numbers of a spatial inertia are is said in spatial.py. A dof's row of M lists its ancestors in
the tree and ends with itself; the rows of the ancestors are prefixes of it, so L of M = L' D L has no fill-in.
"""

from ..constants import BALL, FREE, SLIDE
from ..sleep.awake import body_at, body_count, is_body_gone, world_of
from ..spatial import join, last_dof, momentum
from ..types import FP, MINVAL, SERIAL, func, kernel, subtract, ti, vec3, vec4, vec6
from .kinematics import BLOCK

vec10 = ti.types.vector(10, FP)


@kernel
def tree_inertia(m, d):
    """Centres of mass, cinert, cdof, crb, M and its factor; parallel over worlds and trees, a static body being a
    tree. Seed 000, stages 3, 10 and 11.
    """
    n_body = body_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n_body):
        wb = body_at(m, d, k)
        w = world_of(wb, m.nbody)
        b = wb - w * m.nbody
        t = m.body_treeid[b]
        n = 0  # bodies of which this thread makes the inertias
        if b == 0:
            world_centre(m, d, w)
        elif t < 0:
            n = 1
        elif m.tree_bodyadr[t] == b:
            n = m.tree_bodynum[t]
            tree_centres(m, d, w, t)
        if n > 0:
            inertias(m, d, w, b, n)
        if n > 0 and t >= 0:
            composite_inertias(m, d, w, t)
            mass_matrix(m, d, w, t)
            factor_tree(m, d, w, t, d.qLD, d.qLDiagInv)


@func
def world_centre(m, d, w):
    """Centre of mass of a whole world, from the sums over blocks of bodies."""
    com = vec3(0.0)
    for k in range((m.nbody + BLOCK - 1) // BLOCK):
        com += d.body_block[w * m.nbody + k]
    mass = m.body_subtreemass[w, 0]
    if ti.static(m.has.gone):
        mass = d.present_mass[w]
    d.subtree_com[w * m.nbody] = com / ti.max(mass, MINVAL)


@func
def tree_centres(m, d, w, t):
    """subtree_com of the bodies of tree t, summed towards the root."""
    o = w * m.nbody
    first = m.tree_bodyadr[t]
    n = m.tree_bodynum[t]
    for b in range(first, first + n):
        d.subtree_com[o + b] = m.body_mass[w, b] * d.xipos[o + b]
    for k in range(n):
        b = first + n - 1 - k
        com = d.subtree_com[o + b]
        if b > first:
            up = o + m.body_parentid[b]
            d.subtree_com[up] = d.subtree_com[up] + com
        if m.body_subtreemass[w, b] >= MINVAL:
            d.subtree_com[o + b] = com / m.body_subtreemass[w, b]
        else:
            d.subtree_com[o + b] = d.xipos[o + b]


@func
def inertias(m, d, w, b, n):
    """cinert of the n bodies from b, a tree or one static body, and cdof; crb of a tree begins with cinert, that of a
    static body counts the trees below it.
    """
    o = w * m.nbody
    com = d.subtree_com[o + m.body_rootid[b]]
    last = b + n
    if m.body_treeid[b] < 0:
        while last < m.nbody:
            if m.body_parentid[last] < b:
                break
            last += 1
    for i in range(b, last):
        s = spatial_inertia(m.body_inertia[w, i], d.ximat[o + i], d.xipos[o + i] - com, m.body_mass[w, i])
        if i < b + n:
            d.cinert[o + i] = s
            d.crb[o + i] = s
            for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
                motion_axes(m, d, w, j, com)
        elif not is_body_gone(m, d, w, i):
            d.crb[o + b] = d.crb[o + b] + s


@ti.func
def spatial_inertia(inertia, mat, offset, mass):
    """Inertia of a body whose centre of mass lies at `offset`; inertia: principal moments, mat: their frame."""
    x = vec3(mat[0, 0], mat[0, 1], mat[0, 2])
    y = vec3(mat[1, 0], mat[1, 1], mat[1, 2])
    z = vec3(mat[2, 0], mat[2, 1], mat[2, 2])
    ix, iy, iz = inertia * x, inertia * y, inertia * z
    n = mass * offset
    o2 = n.dot(offset)
    return vec10(
        ix.dot(x) + o2 - n[0] * offset[0],
        iy.dot(y) + o2 - n[1] * offset[1],
        iz.dot(z) + o2 - n[2] * offset[2],
        ix.dot(y) - n[0] * offset[1],
        ix.dot(z) - n[0] * offset[2],
        iy.dot(z) - n[1] * offset[2],
        n[0],
        n[1],
        n[2],
        mass,
    )


@func
def motion_axes(m, d, w, j, com):
    """cdof of joint j."""
    e = w * m.nbody + m.jnt_bodyid[j]
    i = w * m.nv + m.jnt_dofadr[j]
    kind = m.jnt_type[j]
    axis = d.xaxis[w * m.njnt + j]
    if kind == FREE:
        for c in ti.static(range(3)):
            unit = vec6(0.0)
            unit[3 + c] = 1.0
            d.cdof[i + c] = unit
        i += 3
    if kind == SLIDE:
        d.cdof[i] = join(vec3(0.0), axis)
    else:
        offset = com - d.xanchor[w * m.njnt + j]
        turns = 3 if kind == FREE or kind == BALL else 1
        for c in range(turns):
            if turns == 3:
                axis = vec3(d.xmat[e][0, c], d.xmat[e][1, c], d.xmat[e][2, c])
            d.cdof[i + c] = join(axis, axis.cross(offset))


@func
def composite_inertias(m, d, w, t):
    """crb of the bodies of tree t, summed towards the root."""
    for k in range(m.tree_bodynum[t] - 1):
        b = m.tree_bodyadr[t] + m.tree_bodynum[t] - 1 - k
        up = w * m.nbody + m.body_parentid[b]
        d.crb[up] = d.crb[up] + d.crb[w * m.nbody + b]


@func
def mass_matrix(m, d, w, t):
    """Rows of M of the dofs of tree t, in M and where its factor is to stand."""
    for k in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
        adr = m.M_rowadr[k]
        end = adr + m.M_rownnz[k] - 1
        if m.dof_simplenum[k] > 0:
            d.M[w * m.nC + end] = m.dof_M0[w, k]
            d.qLD[w * m.nC + end] = m.dof_M0[w, k]
        else:
            f = momentum(d.crb, w * m.nbody + m.dof_bodyid[k], d.cdof[w * m.nv + k])
            for p in range(adr, end + 1):
                v = f.dot(d.cdof[w * m.nv + m.M_colind[p]])
                if p == end:
                    v += m.dof_armature[w, k]
                d.M[w * m.nC + p] = v
                d.qLD[w * m.nC + p] = v


@ti.func
def inverse(x):
    """1 / x of a number on D's diagonal; also below 0, where dampers push: MuJoCo goes on with it."""
    return 1.0 / ti.select(ti.abs(x) < MINVAL, MINVAL, x)


@func
def factor_tree(m, d, w, t, L: ti.template(), Dinv: ti.template()):
    """M = L' D L in place for the dofs of tree t; L holds M."""
    first = m.tree_dofadr[t]
    k = first + m.tree_dofnum[t] - 1
    while k >= first:
        four = False
        if k - first >= 3:
            four = is_run(m, d, k)
        if four:
            eliminate_four(m, d, w, k, L, Dinv)
            k -= 4
        else:
            row = w * m.nC + m.M_rowadr[k]
            n = m.M_rownnz[k] - 1
            inv = inverse(L[row + n])
            Dinv[w * m.nv + k] = inv
            for p in range(n):
                scaled = L[row + p] * inv
                above = w * m.nC + m.M_rowadr[m.M_colind[m.M_rowadr[k] + p]]
                subtract(L, above, scaled, row, p + 1)
            for p in range(n):
                L[row + p] = L[row + p] * inv
            k -= 1


@func
def eliminate_four(m, d, w, k, L: ti.template(), Dinv: ti.template()):
    """The same of dof k and the three before it, each the parent of the next: one after the other among themselves, and
    then together from all above, whose rows are read and written once for the four."""
    o = w * m.nC
    n = m.M_rownnz[k - 3] - 1
    inv = vec4(0.0)
    for e in ti.static(range(4)):
        row = o + m.M_rowadr[k - e]
        length = n + 3 - e
        inv[e] = inverse(L[row + length])
        Dinv[w * m.nv + k - e] = inv[e]
        for c in ti.static(range(e + 1, 4)):
            subtract(L, o + m.M_rowadr[k - c], L[row + n + 3 - c] * inv[e], row, n + 4 - c)
    rows = ti.Vector([o + m.M_rowadr[k], o + m.M_rowadr[k - 1], o + m.M_rowadr[k - 2], o + m.M_rowadr[k - 3]])
    for p in range(n):
        scaled = vec4(L[rows[0] + p], L[rows[1] + p], L[rows[2] + p], L[rows[3] + p]) * inv
        subtract_four(L, o + m.M_rowadr[m.M_colind[m.M_rowadr[k] + p]], scaled, rows, p + 1)
    for e in ti.static(range(4)):
        for p in range(n + 3 - e):
            L[rows[e] + p] = L[rows[e] + p] * inv[e]


@ti.func
def subtract_four(a: ti.template(), to, e, begin, n):
    """a[to:to + n] -= e[c] * a[begin[c]:begin[c] + n], one c after the other, as by `subtract`."""
    whole = n // 4 * 4
    k = 0
    while k < whole:
        x = vec4(0.0)
        for c in ti.static(range(4)):
            x[c] = a[to + k + c]
        for q in ti.static(range(4)):
            for c in ti.static(range(4)):
                x[c] -= e[q] * a[begin[q] + k + c]
        for c in ti.static(range(4)):
            a[to + k + c] = x[c]
        k += 4
    while k < n:
        x = a[to + k]
        for q in ti.static(range(4)):
            x -= e[q] * a[begin[q] + k]
        a[to + k] = x
        k += 1


@func
def solve_tree(m, d, w, t, L: ti.template(), Dinv: ti.template(), x: ti.template()):
    """x = M^-1 x in place for the dofs of tree t, from the factor of M."""
    solve_from(m, d, w, t, w * m.nv, L, Dinv, x)


@func
def solve_from(m, d, w, t, o, L: ti.template(), Dinv: ti.template(), x: ti.template()):
    """The same for a vector that begins at x[o]."""
    unload(m, d, w, t, o, L, x)
    k = m.tree_dofadr[t]
    behind = k + m.tree_dofnum[t]
    while k < behind:
        four = False
        if k + 3 < behind:
            four = is_run(m, d, k + 3)
        if four:
            load_four(m, d, w, k, o, L, Dinv, x)
            k += 4
        else:
            xk = x[o + k] * Dinv[w * m.nv + k]
            for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
                xk -= L[w * m.nC + p] * x[o + m.M_colind[p]]
            x[o + k] = xk
            k += 1


@func
def is_run(m, d, k):
    """Whether dof k and the three before it are a run: each is the parent of the next."""
    run = m.M_rownnz[k] == m.M_rownnz[k - 3] + 3
    if run:
        run = m.dof_parentid[k] == k - 1 and m.dof_parentid[k - 1] == k - 2 and m.dof_parentid[k - 2] == k - 3
    return run


@func
def load_four(m, d, w, k, o, L: ti.template(), Dinv: ti.template(), x: ti.template()):
    """The second half of a solve for the run of four dofs from k on, which do not wait for each other's sums."""
    n = m.M_rownnz[k] - 1
    row = ti.Vector([m.M_rowadr[k], m.M_rowadr[k + 1], m.M_rowadr[k + 2], m.M_rowadr[k + 3]])
    xk = vec4(0.0)
    for c in ti.static(range(4)):
        xk[c] = x[o + k + c] * Dinv[w * m.nv + k + c]
    for p in range(n):
        xp = x[o + m.M_colind[row[0] + p]]
        for c in ti.static(range(4)):
            xk[c] -= L[w * m.nC + row[c] + p] * xp
    for c in ti.static(range(4)):
        for e in ti.static(range(c)):
            xk[c] -= L[w * m.nC + row[c] + n + e] * xk[e]
        x[o + k + c] = xk[c]


@func
def unload(m, d, w, t, o, L: ti.template(), x: ti.template()):
    """x = L'^-1 x in place for the dofs of tree t, of a vector that begins at x[o]."""
    k = m.tree_dofadr[t] + m.tree_dofnum[t] - 1
    while k >= m.tree_dofadr[t]:
        four = False
        if k - 3 >= m.tree_dofadr[t]:
            four = is_run(m, d, k)
        if four:
            unload_four(m, d, w, k, o, L, x)
            k -= 4
        else:
            xk = x[o + k]
            for p in range(m.M_rowadr[k], m.M_rowadr[k] + m.M_rownnz[k] - 1):
                i = o + m.M_colind[p]
                x[i] = x[i] - L[w * m.nC + p] * xk
            k -= 1


@func
def unload_four(m, d, w, k, o, L: ti.template(), x: ti.template()):
    """The same of the run of four dofs that ends with k: what is above them is read and written once."""
    n = m.M_rownnz[k - 3] - 1
    row = ti.Vector([m.M_rowadr[k], m.M_rowadr[k - 1], m.M_rowadr[k - 2], m.M_rowadr[k - 3]])
    xk = vec4(0.0)
    for c in ti.static(range(4)):
        xk[c] = x[o + k - c]
        for e in ti.static(range(c)):
            xk[c] -= L[w * m.nC + row[e] + n + 3 - c] * xk[e]
        x[o + k - c] = xk[c]
    for p in range(n):
        i = o + m.M_colind[row[3] + p]
        xp = x[i]
        for c in ti.static(range(4)):
            xp -= L[w * m.nC + row[c] + p] * xk[c]
        x[i] = xp


@func
def add_wrench(m, d, w, b, f, y: ti.template()):
    """y += J' f for body b of a tree; f: torque and force about the tree's centre."""
    i = last_dof(m, d, b)
    while i >= 0:
        y[w * m.nv + i] = y[w * m.nv + i] + f.dot(d.cdof[w * m.nv + i])
        i = m.dof_parentid[i]


@func
def arm_of(m, d, w, b):
    """Centre of mass of body b from the centre of its tree."""
    return d.xipos[w * m.nbody + b] - d.subtree_com[w * m.nbody + m.body_rootid[b]]
