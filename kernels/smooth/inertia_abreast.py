"""Inertia of trees in four worlds side by side (kernels/abreast.py): what inertia.py makes of one."""

from ..abreast import LANES, lay, lay_matrices, numbers_of, put_back, six_products, take_groups, worlds_from
from ..constants import BALL, FREE, SLIDE
from ..team import crew
from ..types import ABREAST, FP, HAND, MINVAL, SERIAL, func, kernel, ti, vec4
from .factor_abreast import factor, put_back_dofs, put_back_rows
from .inertia import inertias, world_centre

BODY = 25  # numbers of a body in abreast_tree: place and frame, centre of mass of what hangs on it, crb
PLACE, FRAME, CENTRE, CRB = 0, 3, 12, 15  # where they begin there, which is behind SUM numbers
SUM = 6  # numbers of the tree's centre, from which inertias and axes are seen, later of a momentum
PLACES = ((0, 3, 4), (3, 1, 5), (4, 5, 2))  # of the symmetric matrix of a spatial inertia


@kernel
def inertia_abreast(m, d):
    """inertia.tree_inertia, shared out to d.nhand workers."""
    ti.static(ABREAST)
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, inertia_work)


@func
def inertia_work(m, d, hand):
    """A worker's part."""
    take_groups(m, d, hand, four_trees)


@func
def four_trees(m, d, hand, w, b):
    """What begins with body b, in worlds from w on."""
    t = m.body_treeid[b]
    if t < 0:
        for v in range(w, ti.min(w + LANES, d.nworld)):
            if b == 0:
                world_centre(m, d, v)
            else:
                inertias(m, d, v, b, 1)
    elif m.tree_bodyadr[t] == b:
        world = worlds_from(m, d, w)
        centres(m, d, hand, world, t)
        four_inertias(m, d, hand, world, t)
        axes(m, d, hand, world, t)
        matrices(m, d, hand, world, t)
        factor(m, d, hand, t)
        put_back_rows(m, d, hand, world, t, d.qLD)
        put_back_dofs(m, d, hand * d.lanetree, world, t, d.qLDiagInv)


@func
def centres(m, d, hand, world, t):
    """subtree_com."""
    first = m.tree_bodyadr[t]
    n = m.tree_bodynum[t]
    base = hand * d.lanetree + SUM
    for k in range(n):
        at = base + BODY * k
        e = world * m.nbody + first + k
        lay(m, d, d.xipos, e, d.abreast_tree, at + PLACE, 3)
        lay_matrices(m, d, d.ximat, e, d.abreast_tree, at + FRAME)
    for k in range(n):
        at = base + BODY * k
        mass = numbers_of(m, d, m.body_mass, world, first + k)
        for q in ti.static(range(3)):
            d.abreast_tree[at + CENTRE + q] = mass * d.abreast_tree[at + PLACE + q]
    for e in range(n):
        k = n - 1 - e
        at = base + BODY * k
        up = base + BODY * (m.body_parentid[first + k] - first)
        whole = numbers_of(m, d, m.body_subtreemass, world, first + k)
        for q in ti.static(range(3)):
            com = d.abreast_tree[at + CENTRE + q]
            if k > 0:
                d.abreast_tree[up + CENTRE + q] = d.abreast_tree[up + CENTRE + q] + com
            d.abreast_tree[at + CENTRE + q] = com / whole
        for c in ti.static(range(LANES)):
            if not whole[c] >= MINVAL:
                for q in ti.static(range(3)):
                    d.abreast_tree[at + CENTRE + q][c] = d.abreast_tree[at + PLACE + q][c]
    for k in range(n):
        put_back(m, d, d.abreast_tree, base + BODY * k + CENTRE, d.subtree_com, world * m.nbody + first + k, 3)
    root = world * m.nbody + m.body_rootid[first]  # a static body, where the tree hangs on one
    lay(m, d, d.subtree_com, root, d.abreast_tree, hand * d.lanetree, 3)


@func
def four_inertias(m, d, hand, world, t):
    """cinert and crb, which is summed towards the root."""
    first = m.tree_bodyadr[t]
    n = m.tree_bodynum[t]
    base = hand * d.lanetree + SUM
    com = hand * d.lanetree
    cx, cy, cz = d.abreast_tree[com], d.abreast_tree[com + 1], d.abreast_tree[com + 2]
    for k in range(n):
        at = base + BODY * k
        mass = numbers_of(m, d, m.body_mass, world, first + k)
        px, py, pz = vec4(0.0), vec4(0.0), vec4(0.0)
        for c in ti.static(range(LANES)):
            moments = m.body_inertia[world[c], first + k]
            px[c] = moments[0]
            py[c] = moments[1]
            pz[c] = moments[2]
        ox = d.abreast_tree[at + PLACE] - cx
        oy = d.abreast_tree[at + PLACE + 1] - cy
        oz = d.abreast_tree[at + PLACE + 2] - cz
        nx, ny, nz = mass * ox, mass * oy, mass * oz
        o2 = nx * ox + ny * oy + nz * oz
        o = (ox, oy, oz)
        n3 = (nx, ny, nz)
        for r in ti.static(range(3)):
            row = at + FRAME + 3 * r
            ix = px * d.abreast_tree[row]
            iy = py * d.abreast_tree[row + 1]
            iz = pz * d.abreast_tree[row + 2]
            for s in ti.static(range(r, 3)):
                to = at + FRAME + 3 * s
                v = ix * d.abreast_tree[to] + iy * d.abreast_tree[to + 1] + iz * d.abreast_tree[to + 2]
                if ti.static(r == s):
                    v = v + o2
                d.abreast_tree[at + CRB + PLACES[r][s]] = v - n3[r] * o[s]
            d.abreast_tree[at + CRB + 6 + r] = n3[r]
        d.abreast_tree[at + CRB + 9] = mass
    for k in range(n):
        put_back(m, d, d.abreast_tree, base + BODY * k + CRB, d.cinert, world * m.nbody + first + k, 10)
    for e in range(n - 1):
        k = n - 1 - e
        up = base + BODY * (m.body_parentid[first + k] - first) + CRB
        for q in ti.static(range(10)):
            d.abreast_tree[up + q] = d.abreast_tree[up + q] + d.abreast_tree[base + BODY * k + CRB + q]
    for k in range(n):
        put_back(m, d, d.abreast_tree, base + BODY * k + CRB, d.crb, world * m.nbody + first + k, 10)


@func
def axes(m, d, hand, world, t):
    """cdof."""
    first = m.tree_bodyadr[t]
    dof0 = m.tree_dofadr[t]
    base = hand * d.laneaxes
    for k in range(first, first + m.tree_bodynum[t]):
        for j in range(m.body_jntadr[k], m.body_jntadr[k] + m.body_jntnum[k]):
            gather_axes(m, d, base + 6 * (m.jnt_dofadr[j] - dof0), world, j)
    com = hand * d.lanetree
    cx, cy, cz = d.abreast_tree[com], d.abreast_tree[com + 1], d.abreast_tree[com + 2]
    for i in range(m.tree_dofnum[t]):
        at = base + 6 * i
        kind = m.jnt_type[m.dof_jntid[dof0 + i]]
        x, y, z = d.abreast_cdof[at], d.abreast_cdof[at + 1], d.abreast_cdof[at + 2]
        if kind == SLIDE:
            for q in ti.static(range(3)):
                d.abreast_cdof[at + q] = vec4(0.0)
            d.abreast_cdof[at + 3] = x
            d.abreast_cdof[at + 4] = y
            d.abreast_cdof[at + 5] = z
        elif kind != FREE or dof0 + i - m.jnt_dofadr[m.dof_jntid[dof0 + i]] >= 3:
            ox, oy, oz = cx - d.abreast_cdof[at + 3], cy - d.abreast_cdof[at + 4], cz - d.abreast_cdof[at + 5]
            d.abreast_cdof[at + 3] = y * oz - z * oy
            d.abreast_cdof[at + 4] = z * ox - x * oz
            d.abreast_cdof[at + 5] = x * oy - y * ox
    for i in range(m.tree_dofnum[t]):
        put_back(m, d, d.abreast_cdof, base + 6 * i, d.cdof, world * m.nv + dof0 + i, 6)


@func
def gather_axes(m, d, at, world, j):
    """Axis and anchor of each dof of joint j where its cdof will stand."""
    kind = m.jnt_type[j]
    if kind == FREE:
        for e in ti.static(range(3)):
            for q in ti.static(range(6)):
                d.abreast_cdof[at + q] = vec4(1.0 if q == 3 + e else 0.0)
            at += 6
    if kind == FREE or kind == BALL:
        for e in ti.static(range(3)):
            for q in ti.static(range(3)):
                x = vec4(0.0)
                for c in ti.static(range(LANES)):
                    x[c] = d.xmat[world[c] * m.nbody + m.jnt_bodyid[j]][q, e]
                d.abreast_cdof[at + q] = x
            lay(m, d, d.xanchor, world * m.njnt + j, d.abreast_cdof, at + 3, 3)
            at += 6
    else:
        lay(m, d, d.xaxis, world * m.njnt + j, d.abreast_cdof, at, 3)
        lay(m, d, d.xanchor, world * m.njnt + j, d.abreast_cdof, at + 3, 3)


@func
def matrices(m, d, hand, world, t):
    """M, in M and where its factor is to stand."""
    first = m.tree_bodyadr[t]
    dof0 = m.tree_dofadr[t]
    base = hand * d.laneaxes
    sums = hand * d.lanetree
    to = hand * d.lanehess - m.M_rowadr[dof0]
    for k in range(dof0, dof0 + m.tree_dofnum[t]):
        p = m.M_rowadr[k] + m.M_rownnz[k] - 1
        if m.dof_simplenum[k] > 0:
            d.abreast_hess[to + p] = numbers_of(m, d, m.dof_M0, world, k)
        else:
            moment(m, d, sums, sums + SUM + BODY * (m.dof_bodyid[k] - first) + CRB, base + 6 * (k - dof0))
            x = six_products(d.abreast_tree, sums, d.abreast_cdof, base + 6 * (k - dof0))
            d.abreast_hess[to + p] = x + numbers_of(m, d, m.dof_armature, world, k)
            i = m.dof_parentid[k]
            while i >= 0:
                p -= 1
                d.abreast_hess[to + p] = six_products(d.abreast_tree, sums, d.abreast_cdof, base + 6 * (i - dof0))
                i = m.dof_parentid[i]
    put_back_rows(m, d, hand, world, t, d.M)


@func
def moment(m, d, to, of, axis):
    """The six at `to`: the spatial inertias at `of` times the axes, as spatial.momentum."""
    x, y, z = d.abreast_cdof[axis], d.abreast_cdof[axis + 1], d.abreast_cdof[axis + 2]
    ux, uy, uz = d.abreast_cdof[axis + 3], d.abreast_cdof[axis + 4], d.abreast_cdof[axis + 5]
    hx, hy, hz = d.abreast_tree[of + 6], d.abreast_tree[of + 7], d.abreast_tree[of + 8]
    mass = d.abreast_tree[of + 9]
    zero = d.abreast_tree[of] * x * FP(0.0)  # with which Taichi begins
    cross = (hy * uz - hz * uy, hz * ux - hx * uz, hx * uy - hy * ux)
    for r in ti.static(range(3)):
        d.abreast_tree[to + r] = (
            zero + d.abreast_tree[of + PLACES[r][0]] * x + d.abreast_tree[of + PLACES[r][1]] * y
            + d.abreast_tree[of + PLACES[r][2]] * z + cross[r]
        )  # fmt: skip
    d.abreast_tree[to + 3] = mass * ux + (y * hz - z * hy)
    d.abreast_tree[to + 4] = mass * uy + (z * hx - x * hz)
    d.abreast_tree[to + 5] = mass * uz + (x * hy - y * hx)
