"""A sparse factor of an island whose nodes are bodies: L D L' of its Hessian, dof by dof from the leaves of trees.

A contact, connect or weld couples the twists of its two bodies, and a joint moves a body against the one above it. So
the Hessian is eliminated where it has the fewest numbers: each body bears a 6 x 6 matrix F of its twist, bodies that
touch share another, and who has lost its children loses its own dofs. Of a dof of motion axis s this takes U = F s of
the body's matrix and of its blocks, and D = s'F s + armature, and leaves F - U U'/D, which its parent then bears with
its own. A hinge of a chain costs a hundred multiplications however long the chain is; a factor in dofs
(island_factor.py) costs as many as there are pairs of dofs above. The pivots D are those of L' D L in M's order, so
that as many digits are kept. A free body loses its six dofs at once, in twists.

A body is a node by its world-major number (elimination.py). Its matrix stands whole behind the blocks, in the order of
elimination (HESS), since whole columns are vectors to a processor; body_hess holds the inverse for a free body, and
dof_wrench U of each dof, 1/D, and what forces alone would make of it. A block couples a body with a link of it:
rows are the link's, columns the body's; of a body of a tree it later holds U of the link, dof by dof from the last.
Featherstone, "Rigid Body Dynamics Algorithms", chapter 7; loops by elimination: Duff, Erisman, Reid, chapter 10.
"""

from ..constraint.island import BLOCK
from ..spatial import inertia_times
from ..team import meet, share
from ..types import FP, GPU, at6, called, func, put6, six, store, ti, vec6
from .body_order import BOTH, CHANGED, DOF, HESS, KEPT, LEFT, NUMBER, OWN, SECOND, TWIST, UP, WAY, is_alone
from .elimination import block_of
from .free_body import dofs_of_twist, invert_twist, mat6, wrench_of_forces
from .incomplete import ENDS, HOLDS, MIDDLE
from .island_factor import blocks_of, couple_free, coupling
from .isle import Isle
from .row_hessian import each_pose
from .steps import NEWS
from .tree_hessian import LOWER, add_pose, body_hessian, sym6_times

SLOTS = 3  # blocks at the end of the room: of these the first is one half's, the last the other's


@func
def body_hessians(m, d, w, t, again):
    """The matrices of the bodies of tree t, of each body alone; of dofs, armature and what their rows add, in
    tree_hess, diagonal. In wrench what forces on free joints are for their bodies.

    again  those of the factor before are there: they stay where nothing has changed (KEPT).
    """
    for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
        if d.node_mark[b] != CHANGED:
            d.node_mark[b] = ti.select(stays(m, d, b, again), KEPT, 0)
        if d.node_mark[b] != KEPT:
            body_hessian(m, d, b)
    wt = w * m.ntree + t
    for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
        x = vec6(0.0)
        if d.tree_single[wt] == 1 or d.node_joint[b][WAY] == LEFT:
            i = w * m.nv + m.tree_dofadr[t]
            x = wrench_of_forces(m, d, i, at6(d.sol_p, i))
        store(d.wrench, b, x)
    if d.tree_single[wt] == 0:
        for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
            if not again:
                d.tree_hess[w * m.nM + m.dof_Madr[i]] = m.dof_armature[w, i]
        if ti.static(m.has.rows):
            each_pose(m, d, w, t, add_pose)
            for turn in range(ti.select(again, 0, 1), 2):
                for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
                    if d.row_pose[d.seg_row[s]] == 0:
                        e = d.seg_adr[s]
                        a = w * m.nM + m.dof_Madr[d.J_dof[e] - w * m.nv]
                        if turn == 0:
                            d.tree_hess[a] = m.dof_armature[w, d.J_dof[e] - w * m.nv]
                        else:
                            d.tree_hess[a] = d.tree_hess[a] + d.row_hess[d.seg_row[s]] * d.J[e] * d.J[e]
    for b in range(w * m.nbody + m.tree_bodyadr[t], w * m.nbody + m.tree_bodyadr[t] + m.tree_bodynum[t]):
        if d.node_mark[b] != KEPT:
            h = d.node_joint[b][HESS]
            for r in ti.static(range(6)):
                x = vec6(0.0)
                for q in ti.static(range(6)):
                    x[q] = d.body_hess[b][LOWER[r][q]]
                put6(d.island_dense, h + 6 * r, x)


@func
def stays(m, d, b, again):
    """Whether the matrix of body b, with what free bodies have left to it, is that of the factor before: if those of
    its contacts are, and of the contacts of the free bodies that it touches."""
    same = again
    if ti.static(GPU):
        same = again and d.body_connum[b] == 0
    else:
        same = again and has_same_contacts(m, d, b)
        last = b
        for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
            if same and not is_alone(m, d, b):
                other = d.con_body[d.body_con[n] // 2][1 - d.body_con[n] % 2]
                if other >= 0 and other != last:
                    last = other
                    same = d.node_joint[other][WAY] != TWIST or has_same_contacts(m, d, other)
    return same


@func
def has_same_contacts(m, d, b):
    """Whether no contact of body b has another Hessian than before."""
    same = True
    for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        same = same and d.con_hess[d.body_con[n] // 2][NEWS] == 0.0
    return same


@func
def has_same_blocks(m, d, b, again):
    """Whether the blocks of body b are those of the factor before: it is a free one, which only reads them."""
    same = False
    if ti.static(not GPU):
        if again and is_alone(m, d, b) and d.node_mark[b] != CHANGED:
            same = has_same_contacts(m, d, b)
    return same


@called("jointed")
def articulated_direction(m, d, k: ti.i32, isle: Isle):
    """sol_p = H^-1 sol_p, from body_hessians of the trees and couple_bodies: the halves of the order, what is between
    them, and back."""
    for part in range(3):
        if part == 2:
            meet(m, d, isle.me, isle.size)
        first, end = part_of(m, d, k, isle, part)
        slot = isle.adr + isle.room - BLOCK * ti.select(part == 1, 1, SLOTS)
        if not has_slots(m, d, isle):
            slot = -1
        onward = -1
        for e in range(first, end):
            b = d.node_order[e]
            at = ti.select(onward == b, slot, d.node_joint[b][HESS])
            onward = -1
            if d.node_joint[b][WAY] == TWIST:
                fold_free(m, d, isle, b, at)
            else:
                p = d.node_joint[b][UP]
                to = -1
                if p >= 0:
                    to = d.node_joint[p][HESS]
                    if e + 1 < end and slot >= 0 and d.node_linknum[b] == 0:
                        if d.node_order[e + 1] == p:
                            to = slot
                            onward = p
                fold(m, d, isle, b, p, at, to)
            forces_forward(m, d, isle, b)  # beside the next body's matrix, which waits for this one's
    for turn in range(3):
        if turn == 1:
            meet(m, d, isle.me, isle.size)
        first, end = part_of(m, d, k, isle, 2 - turn)
        last = -1
        v = vec6(0.0)
        for e in range(end - first):
            b = d.node_order[end - 1 - e]
            v = twists_back(m, d, isle, b, last, v)
            last = b
    meet(m, d, isle.me, isle.size)


@func
def part_of(m, d, k, isle: ti.template(), part):
    """Where in the order a part is: a half, or what is between them (BOTH); nothing if it is another worker's."""
    ends, middle = d.island_half[k][ENDS], d.island_half[k][MIDDLE]
    first = ti.select(part == 0, isle.node, ti.select(part == 1, ends, middle))
    end = ti.select(part == 0, ends, ti.select(part == 1, middle, isle.node + isle.nodes))
    return first, ti.select(isle.me == worker_of(m, d, k, isle, part % BOTH), end, first)


@func
def worker_of(m, d, k, isle: ti.template(), half):
    """Whose a half is. The first worker has the half with the lowest numbers: its contacts and rows, too,
    are those that are first in their lists, so that few numbers go from one to the other."""
    return (half + d.island_half[k][HOLDS] // SECOND) % isle.size


@ti.func
def has_products(isle: ti.template()):
    """Whether the way back leaves twists of bodies, and the wrenches that give them, for the products with M: bodies
    wait for each other there, and processors have time for it."""
    return isle.bodies == 1 and isle.large == 1


@func
def has_slots(m, d, isle: ti.template()):
    """Whether there is room behind the blocks for the matrices that a body leaves to the next one alone: on a CPU,
    where they stay in its cache."""
    room = False
    if ti.static(not GPU):
        room = BLOCK * (blocks_of(m, d, isle) + SLOTS) <= isle.room
    return room


@called("jointed")
def couple_bodies(m, d, island: ti.i32, isle: Isle, again: ti.u1):
    """The blocks of the Hessian: this worker's share of them. again: as in body_hessians."""
    begin, end = share(isle.nodes, worker_of(m, d, island, isle, isle.me), isle.size)
    for e in range(isle.node + begin, isle.node + end):
        b = d.node_order[e]
        if d.node_linknum[b] > 0:
            if not has_same_blocks(m, d, b, again):
                first = isle.adr + BLOCK * d.node_linkadr[b]
                for row in range(6 * d.node_linknum[b]):
                    put6(d.island_dense, first + 6 * row, vec6(0.0))
    last = ti.Vector([-1, -1, -1])
    for e in range(isle.cons.begin, isle.cons.end):
        c = d.island_con[e]
        b1, b2 = d.con_body[c][0], d.con_body[c][1]
        if b1 >= 0 and b2 >= 0:
            if b1 != last[0] or b2 != last[1]:
                last = ti.Vector([b1, b2, -1])
                first = ti.select(d.node_rank[b1] < d.node_rank[b2], b1, b2)
                if begin <= d.node_rank[first] and d.node_rank[first] < end:
                    if not has_same_blocks(m, d, first, again):
                        last[2] = block_of(m, d, b2, b1)
            if last[2] >= 0:
                h, acts = coupling(m, d, c, 0)
                if acts:
                    couple_free(m, d, isle.adr + BLOCK * last[2], b2, b1, h)
    if ti.static(m.has.rows):
        for e in range(isle.rows.begin, isle.rows.end):
            k = d.row_pose[d.island_row[e]] - 1
            if k >= 0:
                b1, b2 = d.eq_body[k][0], d.eq_body[k][1]
                if b1 >= 0 and b2 >= 0:
                    rank = ti.min(d.node_rank[b1], d.node_rank[b2])
                    if begin <= rank and rank < end:
                        h, acts = coupling(m, d, k, 1)
                        couple_free(m, d, isle.adr + BLOCK * block_of(m, d, b2, b1), b2, b1, h)


@ti.func
def add_square(h, y, f, a: ti.template()):
    """Adds f y y' to the 6 x 6 matrix at a[h:], column by column."""
    x = f * y
    for q in ti.static(range(6)):
        put6(a, h + 6 * q, at6(a, h + 6 * q) + y[q] * x)


@ti.func
def times_columns(h, v, a: ti.template()):
    """That matrix times v, by sums of three: each dof waits for the one before."""
    x = at6(a, h) * v[0] + at6(a, h + 6) * v[1] + at6(a, h + 12) * v[2]
    y = at6(a, h + 18) * v[3] + at6(a, h + 24) * v[4] + at6(a, h + 30) * v[5]
    return x + y


@func
def fold_free(m, d, isle: ti.template(), b, h):
    """Eliminates a free body, whose matrix is at h; body_hess becomes its inverse."""
    if d.node_mark[b] != KEPT:
        for r in ti.static(range(6)):
            x = at6(d.island_dense, h + 6 * r)
            for q in ti.static(range(r + 1)):
                d.body_hess[b][LOWER[r][q]] = x[q]
        invert_twist(b, d.body_hess)
    adr = isle.adr + BLOCK * d.node_linkadr[b]
    for i in range(d.node_linknum[b]):
        c = d.node_link[b][i]
        due = d.node_mark[c] != KEPT
        for j in range(d.node_linknum[b]):
            due = due or d.node_rank[d.node_link[b][j]] > d.node_rank[c]
        g = mat6(0.0)  # the block of c, times the inverse
        if due:
            for r in ti.static(range(6)):
                y = sym6_times(b, at6(d.island_dense, adr + BLOCK * i + 6 * r), d.body_hess)
                for q in ti.static(range(6)):
                    g[r, q] = y[q]
        if d.node_mark[c] != KEPT:
            to = d.node_joint[c][HESS]
            for r in ti.static(range(6)):
                x = g @ at6(d.island_dense, adr + BLOCK * i + 6 * r)
                put6(d.island_dense, to + 6 * r, at6(d.island_dense, to + 6 * r) - x)
        for j in range(d.node_linknum[b]):
            e = d.node_link[b][j]
            if d.node_rank[e] > d.node_rank[c]:
                block = isle.adr + BLOCK * block_of(m, d, c, e)
                for r in ti.static(range(6)):
                    x = g @ at6(d.island_dense, adr + BLOCK * j + 6 * r)
                    put6(d.island_dense, block + 6 * r, at6(d.island_dense, block + 6 * r) - x)


@func
def fold_dof(m, d, w, h, i):
    """U of dof i of a body whose matrix is at h, and 1/D, which dof_wrench keeps."""
    s = d.cdof[i]
    u = times_columns(h, s, d.island_dense)
    most = d.tree_hess[w * m.nM + m.dof_Madr[i - w * m.nv]] + (s[0] * u[0] + s[1] * u[1] + s[2] * u[2])
    a = 1.0 / (most + (s[3] * u[3] + s[4] * u[4] + s[5] * u[5]))
    store(d.dof_wrench, i, u)
    d.dof_wrench[i][6] = a
    return u, a


@func
def fold(m, d, isle: ti.template(), b, p, h, to):
    """Eliminates the dofs of a body of a tree, whose children have been and whose matrix is at h; its parent p bears
    what is left, at `to`."""
    w = isle.world
    n = d.node_joint[b][NUMBER]
    last = d.node_joint[b][DOF] + n - 1
    for k in range(n - 1):
        if ti.static(GPU):  # read anew: else the places of 36 numbers stay in registers
            h = d.node_joint[b][HESS]
        u, a = fold_dof(m, d, w, h, last - k)
        add_square(h, u, -a, d.island_dense)
    if ti.static(GPU):
        h = d.node_joint[b][HESS]
    own = h
    if p >= 0:
        own = d.node_joint[p][HESS]
    if n > 0:  # the last one outside of the loop: there columns stay vectors
        u, a = fold_dof(m, d, w, h, last - n + 1)
        x = -a * u
        if p >= 0:
            for q in ti.static(range(6)):
                left = at6(d.island_dense, h + 6 * q) + u[q] * x
                put6(d.island_dense, to + 6 * q, at6(d.island_dense, own + 6 * q) + left)
    elif p >= 0:
        for q in ti.static(range(6)):
            put6(d.island_dense, to + 6 * q, at6(d.island_dense, own + 6 * q) + at6(d.island_dense, h + 6 * q))
    for e in range(d.node_linknum[b]):
        fold_link(m, d, isle, p, d.node_link[b][e], isle.adr + BLOCK * (d.node_linkadr[b] + e), last, n)
    for e in range(1, d.node_linknum[b]):
        for j in range(e):
            fold_pair(m, d, isle, b, e, j, last, n)


@func
def fold_link(m, d, isle: ti.template(), p, c, adr, last, n):
    """The same for the block, at adr, of that body with its link c."""
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
        add_square(d.node_joint[c][HESS], y, -a, d.island_dense)
    if c == p:
        to = d.node_joint[p][HESS]
        for r in ti.static(range(6)):
            for q in ti.static(range(6)):
                at = to + 6 * r + q
                d.island_dense[at] = d.island_dense[at] + (x[r, q] + x[q, r])
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
def twists_back(m, d, isle: ti.template(), b, last, v_last):
    """The solution of body b from those of the body above it, which may be `last` with the twist v_last, and of its
    links. Returns its twist."""
    v = vec6(0.0)
    n, first, way = d.node_joint[b][NUMBER], d.node_joint[b][DOF], d.node_joint[b][WAY]
    adr = isle.adr + BLOCK * d.node_linkadr[b]
    if way == TWIST:
        y = vec6(0.0)
        for e in range(d.node_linknum[b]):
            x = d.twist[d.node_link[b][e]]
            for r in ti.static(range(6)):
                y += x[r] * at6(d.island_dense, adr + BLOCK * e + 6 * r)
        v = six(d.twist[b]) - sym6_times(b, y, d.body_hess)
        store(d.twist, b, v)
        if first >= 0:
            put6(d.sol_p, first, dofs_of_twist(m, d, first, v))
        elif has_products(isle):
            store(d.wrench, b, inertia_times(m, d, b, v))
    else:
        sign = ti.select(way == OWN, FP(1.0), FP(-1.0))
        p = d.node_joint[b][UP]
        if p >= 0 and p == last:  # a chain does not wait for its memory
            v = v_last
        elif p >= 0:
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
        if has_products(isle):
            store(d.wrench, b, inertia_times(m, d, b, v))
        if way == LEFT:
            i = isle.world * m.nv + m.body_dofadr[b - isle.world * m.nbody]
            put6(d.sol_p, i, dofs_of_twist(m, d, i, v))
    return v
