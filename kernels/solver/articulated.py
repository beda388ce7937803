"""A sparse factor of an island whose nodes are bodies: L D L' of its Hessian, dof by dof from the leaves of trees.

A contact, connect or weld couples the twists of its two bodies, and a joint moves a body against the one above it. So
the Hessian is eliminated where it has the fewest numbers: each body bears a 6 x 6 matrix F of its twist, bodies that
touch share another, and who has lost its children loses its own dofs. Of a dof of motion axis s this takes U = F s of
the body's matrix and of its blocks, and D = s'F s + armature, and leaves F - U U'/D, which its parent then bears with
its own. A hinge of a chain costs a hundred multiplications however long the chain is; a factor in dofs
(island_factor.py) costs as many as there are pairs of dofs above. The pivots D are those of L' D L in M's order, so
that as many digits are kept. A free body loses its six dofs at once, in twists.

A body is a node by its world-major number (elimination.py). body_hess holds its matrix, its inverse if it is a free
body; dof_wrench U of each dof, 1/D, and what forces alone would make of it. A block couples a body with a link of it:
rows are the link's, columns the body's; of a body of a tree it later holds U of the link, dof by dof from the last.
Featherstone, "Rigid Body Dynamics Algorithms", chapter 7; loops by elimination: Duff, Erisman, Reid, chapter 10.
"""

from ..constraint.island import BLOCK
from ..team import meet
from ..types import FP, at6, func, put6, six, store, ti, vec6
from .body_order import DOF, LEFT, NUMBER, OWN, TWIST, UP, WAY
from .elimination import block_of
from .free_body import dofs_of_twist, invert_twist, mat6, wrench_of_forces
from .incomplete import ENDS, MIDDLE
from .island_factor import blocks_of, couple_free, coupling, row_of
from .row_hessian import each_pose
from .tree_hessian import LOWER, add_pose, body_hessian, sym6_times


@func
def body_hessians(m, d, w, t):
    """body_hess of tree t, of each body alone; of dofs, armature and what their rows add, in tree_hess, diagonal. In
    wrench what forces on free joints are for their bodies."""
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        body_hessian(m, d, w * m.nbody + b)
    wt = w * m.ntree + t
    for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
        x = vec6(0.0)
        if d.tree_single[wt] == 1 or d.node_joint[b][WAY] == LEFT:
            i = w * m.nv + m.tree_dofadr[t]
            x = wrench_of_forces(m, d, i, at6(d.sol_p, i))
        store(d.wrench, b, x)
    if d.tree_single[wt] == 0:
        for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.tree_hess[w * m.nM + m.dof_Madr[i]] = m.dof_armature[w, i]
        if ti.static(m.has.rows):
            each_pose(m, d, w, t, add_pose)
            for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
                if d.row_pose[d.seg_row[s]] == 0:
                    e = d.seg_adr[s]
                    a = w * m.nM + m.dof_Madr[d.J_dof[e] - w * m.nv]
                    d.tree_hess[a] = d.tree_hess[a] + d.row_hess[d.seg_row[s]] * d.J[e] * d.J[e]


@func
def articulated_direction(m, d, k, isle: ti.template()):
    """sol_p = H^-1 sol_p, from body_hessians of the trees and couple_bodies: the halves of the order, what is between
    them, and back."""
    for between in range(2):
        part = part_of(m, d, k, isle, between == 1)
        for e in range(turns_of(part)):
            at = place_at(part, e, False)
            if at >= 0:
                b = d.node_order[at]
                if d.node_joint[b][WAY] == TWIST:
                    fold_free(m, d, isle, b)
                else:
                    fold(m, d, isle, b)
                forces_forward(m, d, isle, b)  # beside the next body's matrix, which waits for this one's
        if isle.large == 1:
            meet(m, d, isle.me, isle.size)
    for apart in range(2):
        part = part_of(m, d, k, isle, apart == 0)
        for e in range(turns_of(part)):
            at = place_at(part, e, True)
            if at >= 0:
                twists_back(m, d, isle, d.node_order[at])
        if isle.large == 1:
            meet(m, d, isle.me, isle.size)


@func
def part_of(m, d, k, isle: ti.template(), between):
    """This worker's part of the order: where it begins and how many bodies it has, and the same of a second part. Of
    what is between the halves it is all or nothing, of the halves one, or both where nobody else is there."""
    ends, middle = d.island_half[k][ENDS], d.island_half[k][MIDDLE]
    part = ti.Vector([middle, isle.node + isle.nodes - middle, 0, 0])
    if not between:
        part = ti.Vector([isle.node, ends - isle.node, ends, middle - ends])
        if isle.size > 1:
            part[3] = 0
            if isle.me == 1:
                part = ti.Vector([ends, middle - ends, 0, 0])
    if isle.me > 1 or (isle.me == 1 and between):
        part[1] = 0
    return part


@ti.func
def turns_of(part):
    """Turns by which a worker is through its part: if it has two, each is every other turn's."""
    return ti.select(part[3] > 0, 2 * ti.max(part[1], part[3]), part[1])


@ti.func
def place_at(part, turn, back):
    """Place in the order of the body of a turn, -1: the second part is longer, or the first."""
    i, first, number = turn, part[0], part[1]
    if part[3] > 0:
        i = turn // 2
        if turn % 2 == 1:
            first, number = part[2], part[3]
    return ti.select(i < number, first + ti.select(back, number - 1 - i, i), -1)


@func
def couple_bodies(m, d, isle: ti.template()):
    """The blocks of the Hessian."""
    for row in range(6 * blocks_of(m, d, isle)):
        put6(d.island_dense, isle.adr + 6 * row, vec6(0.0))
    last = ti.Vector([-1, -1, 0])
    for e in range(isle.cons.begin, isle.cons.end):
        c = d.island_con[e]
        b1, b2 = d.con_body[c][0], d.con_body[c][1]
        if b1 >= 0 and b2 >= 0:
            h, acts = coupling(m, d, c, 0)
            if acts:
                if b1 != last[0] or b2 != last[1]:
                    last = ti.Vector([b1, b2, isle.adr + BLOCK * block_of(m, d, b2, b1)])
                couple_free(m, d, last[2], b2, b1, h)
    if ti.static(m.has.rows):
        for e in range(isle.rows.begin, isle.rows.end):
            k = d.row_pose[d.island_row[e]] - 1
            if k >= 0:
                b1, b2 = d.eq_body[k][0], d.eq_body[k][1]
                if b1 >= 0 and b2 >= 0:
                    h, acts = coupling(m, d, k, 1)
                    couple_free(m, d, isle.adr + BLOCK * block_of(m, d, b2, b1), b2, b1, h)


@ti.func
def add_square(b, y, f, a: ti.template()):
    """a[b] += f y y' of a symmetric 6 x 6 matrix, lower triangle by rows."""
    for r in ti.static(range(6)):
        g = f * y[r]
        for q in ti.static(range(r + 1)):
            a[b][r * (r + 1) // 2 + q] = a[b][r * (r + 1) // 2 + q] + g * y[q]


@ti.func
def times_short(b, v, a: ti.template()):
    """sym6_times by sums of three: each dof waits for the one before."""
    x = vec6(0.0)
    for i in ti.static(range(6)):
        x[i] = (a[b][LOWER[i][0]] * v[0] + a[b][LOWER[i][1]] * v[1] + a[b][LOWER[i][2]] * v[2]) + (
            a[b][LOWER[i][3]] * v[3] + a[b][LOWER[i][4]] * v[4] + a[b][LOWER[i][5]] * v[5]
        )
    return x


@func
def fold_free(m, d, isle: ti.template(), b):
    """Eliminates a free body; body_hess is inverted."""
    invert_twist(b, d.body_hess)
    adr = isle.adr + BLOCK * d.node_linkadr[b]
    for i in range(d.node_linknum[b]):
        c = d.node_link[b][i]
        g = mat6(0.0)  # the block of c, times the inverse
        for r in ti.static(range(6)):
            y = sym6_times(b, at6(d.island_dense, adr + BLOCK * i + 6 * r), d.body_hess)
            for q in ti.static(range(6)):
                g[r, q] = y[q]
        for r in ti.static(range(6)):
            x = at6(d.island_dense, adr + BLOCK * i + 6 * r)
            for q in ti.static(range(r, 6)):
                at = q * (q + 1) // 2 + r
                d.body_hess[c][at] = d.body_hess[c][at] - row_of(g, q).dot(x)
        for j in range(d.node_linknum[b]):
            e = d.node_link[b][j]
            if d.node_rank[e] > d.node_rank[c]:
                to = isle.adr + BLOCK * block_of(m, d, c, e)
                for r in ti.static(range(6)):
                    x = g @ at6(d.island_dense, adr + BLOCK * j + 6 * r)
                    put6(d.island_dense, to + 6 * r, at6(d.island_dense, to + 6 * r) - x)


@func
def fold(m, d, isle: ti.template(), b):
    """Eliminates the dofs of a body of a tree, whose children have been; its parent bears what is left."""
    w = isle.world
    p, n = d.node_joint[b][UP], d.node_joint[b][NUMBER]
    last = d.node_joint[b][DOF] + n - 1
    for k in range(n):
        i = last - k
        s = d.cdof[i]
        u = times_short(b, s, d.body_hess)
        most = d.tree_hess[w * m.nM + m.dof_Madr[i - w * m.nv]] + (s[0] * u[0] + s[1] * u[1] + s[2] * u[2])
        a = 1.0 / (most + (s[3] * u[3] + s[4] * u[4] + s[5] * u[5]))
        add_square(b, u, -a, d.body_hess)
        store(d.dof_wrench, i, u)
        d.dof_wrench[i][6] = a
    if p >= 0:
        for q in range(21):
            d.body_hess[p][q] = d.body_hess[p][q] + d.body_hess[b][q]
    for e in range(d.node_linknum[b]):
        fold_link(m, d, isle, b, p, d.node_link[b][e], isle.adr + BLOCK * (d.node_linkadr[b] + e), last, n)
    for e in range(1, d.node_linknum[b]):
        for j in range(e):
            fold_pair(m, d, isle, b, e, j, last, n)


@func
def fold_link(m, d, isle: ti.template(), b, p, c, adr, last, n):
    """The same for the block of body b with its link c."""
    x = mat6(0.0)
    for r in ti.static(range(6)):
        y = at6(d.island_dense, adr + 6 * r)
        for q in ti.static(range(6)):
            x[r, q] = y[q]
    for k in range(n):
        a = d.dof_wrench[last - k][6]
        u = six(d.dof_wrench[last - k])
        y = x @ d.cdof[last - k]
        for r in ti.static(range(6)):
            for q in ti.static(range(6)):
                x[r, q] -= a * y[r] * u[q]
        put6(d.island_dense, adr + 6 * k, y)
        add_square(c, y, -a, d.body_hess)
    if c == p:
        for r in ti.static(range(6)):
            for q in ti.static(range(r + 1)):
                at = r * (r + 1) // 2 + q
                d.body_hess[p][at] = d.body_hess[p][at] + x[r, q] + x[q, r]
    elif p >= 0:
        couple_free(m, d, isle.adr + BLOCK * block_of(m, d, c, p), c, p, x)


@func
def fold_pair(m, d, isle: ti.template(), b, e, j, last, n):
    """The same for the block of two links of body b, which are the e-th and the j-th."""
    first, second = e, j
    if d.node_rank[d.node_link[b][e]] > d.node_rank[d.node_link[b][j]]:
        first, second = j, e
    to = isle.adr + BLOCK * block_of(m, d, d.node_link[b][first], d.node_link[b][second])
    adr = isle.adr + BLOCK * d.node_linkadr[b]
    for k in range(n):
        x = d.dof_wrench[last - k][6] * at6(d.island_dense, adr + BLOCK * first + 6 * k)
        y = at6(d.island_dense, adr + BLOCK * second + 6 * k)
        for r in ti.static(range(6)):
            put6(d.island_dense, to + 6 * r, at6(d.island_dense, to + 6 * r) - y[r] * x)


@func
def forces_forward(m, d, isle: ti.template(), b):
    """What the forces on body b and on its dofs leave to its parent and its links."""
    g = six(d.wrench[b])
    adr = isle.adr + BLOCK * d.node_linkadr[b]
    if d.node_joint[b][WAY] == TWIST:
        x = sym6_times(b, g, d.body_hess)
        store(d.twist, b, x)
        for e in range(d.node_linknum[b]):
            c = d.node_link[b][e]
            y = six(d.wrench[c])
            for r in ti.static(range(6)):
                y[r] -= at6(d.island_dense, adr + BLOCK * e + 6 * r).dot(x)
            store(d.wrench, c, y)
    else:
        n = d.node_joint[b][NUMBER]
        last = d.node_joint[b][DOF] + n - 1
        sign = ti.select(d.node_joint[b][WAY] == OWN, FP(1.0), FP(-1.0))
        for k in range(n):
            i = last - k
            x = (sign * d.sol_p[i] + d.cdof[i].dot(g)) * d.dof_wrench[i][6]
            g -= x * six(d.dof_wrench[i])
            d.dof_wrench[i][7] = x
            for e in range(d.node_linknum[b]):
                c = d.node_link[b][e]
                store(d.wrench, c, six(d.wrench[c]) - x * at6(d.island_dense, adr + BLOCK * e + 6 * k))
        p = d.node_joint[b][UP]
        if p >= 0:
            store(d.wrench, p, six(d.wrench[p]) + g)


@func
def twists_back(m, d, isle: ti.template(), b):
    """The solution of body b from those of its parent and its links."""
    n, first, way = d.node_joint[b][NUMBER], d.node_joint[b][DOF], d.node_joint[b][WAY]
    adr = isle.adr + BLOCK * d.node_linkadr[b]
    if way == TWIST:
        y = vec6(0.0)
        for e in range(d.node_linknum[b]):
            v = d.twist[d.node_link[b][e]]
            for r in ti.static(range(6)):
                y += v[r] * at6(d.island_dense, adr + BLOCK * e + 6 * r)
        x = six(d.twist[b]) - sym6_times(b, y, d.body_hess)
        store(d.twist, b, x)
        if first >= 0:
            put6(d.sol_p, first, dofs_of_twist(m, d, first, x))
    else:
        v = vec6(0.0)
        sign = ti.select(way == OWN, FP(1.0), FP(-1.0))
        p = d.node_joint[b][UP]
        if p >= 0:
            v = six(d.twist[p])
        for q in range(n):
            i = first + q
            f = six(d.dof_wrench[i]).dot(v)
            for e in range(d.node_linknum[b]):
                at = adr + BLOCK * e + 6 * (n - 1 - q)
                f += at6(d.island_dense, at).dot(six(d.twist[d.node_link[b][e]]))
            x = d.dof_wrench[i][7] - d.dof_wrench[i][6] * f
            d.sol_p[i] = sign * x
            v += x * d.cdof[i]
        store(d.twist, b, v)
        if way == LEFT:
            i = isle.world * m.nv + m.body_dofadr[b - isle.world * m.nbody]
            put6(d.sol_p, i, dofs_of_twist(m, d, i, v))
