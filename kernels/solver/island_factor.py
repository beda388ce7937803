"""Newton's direction of a small island by a sparse factor of its Hessian, L D L' in blocks of 6 x 6.

A node (elimination.py) that is a free body has twists and wrenches for vectors, as in free_body.py; one of a jointed
tree has dofs and their forces, and a unit matrix where it has less than six. D holds, inverted, what is left of each
node's own Hessian once all before it are eliminated; it lies in body_hess. A block couples a node with a link of it:
rows are the link's, columns the node's. It lies at island_dense[isle.adr:], row by row, and is the Hessian's, not
yet multiplied by the inverse of D, so that both triangular solves read the same numbers. Duff, Erisman, Reid, "Direct
methods for sparse matrices", chapter 10.
"""

from ..constraint.island import BLOCK
from ..spatial import head, last_dof, symmetric
from ..types import FP, at6, called, func, mat3, put6, six, store, ti, vec3, vec6
from .elimination import block_of, end_of_node, is_above, node_above, node_of, node_of_dof, place_of_link
from .free_body import dofs_of_twist, invert_twist, mat6, wrench_of_forces
from .isle import Isle
from .tree_hessian import skew_times, sym6_times, times_skew

ALL = -1  # halves of an incomplete factor (incomplete.py): none, the whole factor is made
LOST = 1e-8  # of a diagonal number, what its pivot has to keep in an incomplete factor


@called("jointed")
def factored_direction(m, d, isle: Isle):
    """sol_p = H^-1 sol_p; body_hess holds the Hessians of the free bodies, tree_hess those of the other trees."""
    for row in range(6 * blocks_of(m, d, isle)):
        put6(d.island_dense, isle.adr + 6 * row, vec6(0.0))
    if ti.static(m.has.jointed):
        place_trees(m, d, isle, isle.node, isle.node + isle.nodes)
    couple(m, d, isle, ALL)
    if ti.static(m.has.rows):
        couple_rows(m, d, isle)
    factor(m, d, isle, isle.node, isle.node + isle.nodes, ALL, False)
    solve(m, d, isle)


@func
def blocks_of(m, d, isle: ti.template()):
    """Blocks of the factor."""
    last = d.node_order[isle.node + isle.nodes - 1]
    return d.node_linkadr[last] + d.node_linknum[last]


@func
def is_single(m, d, b):
    """Whether node b is a free body, whose vectors are twists and wrenches."""
    w = b // m.nbody
    return d.tree_single[w * m.ntree + m.body_treeid[b - w * m.nbody]] == 1


@func
def first_dof(m, d, b):
    """First world-major dof of node b."""
    w = b // m.nbody
    return w * m.nv + m.node_dofadr[b - w * m.nbody]


@func
def place_trees(m, d, isle: ti.template(), first_node, last_node):
    """The Hessians of the trees that are no free bodies: of a stretch of island_node."""
    for e in range(first_node, last_node):
        a = d.island_node[e]
        if not is_single(m, d, a):
            first = m.node_dofadr[a - isle.world * m.nbody]
            rows = m.node_dofnum[a - isle.world * m.nbody]
            for i in range(21):
                d.body_hess[a][i] = 0.0
            for r in range(rows, 6):
                d.body_hess[a][r * (r + 1) // 2 + r] = 1.0
            for r in range(rows):
                for q in range(r + 1):
                    at = isle.world * m.nM + m.dof_Madr[first + r] + r - q
                    d.body_hess[a][r * (r + 1) // 2 + q] = d.tree_hess[at]
            behind = 0  # of the first dof of the node, in its row: the last one of node b
            b = node_above(m, d, a)
            while b >= 0:
                behind += m.node_dofnum[b - isle.world * m.nbody]
                adr, step, stride = block_place(m, d, isle, a, b)
                for r in range(rows):
                    at = isle.world * m.nM + m.dof_Madr[first + r] + r + behind
                    for q in range(m.node_dofnum[b - isle.world * m.nbody]):
                        d.island_dense[adr + step * r + stride * q] = d.tree_hess[at - q]
                b = node_above(m, d, b)


@func
def block_place(m, d, isle: ti.template(), a, b):
    """Address of the block of nodes a and b, and its strides along components of a and of b."""
    step, stride = 6, 1
    if d.node_rank[b] > d.node_rank[a]:
        step, stride = 1, 6
    return isle.adr + BLOCK * block_of(m, d, a, b), step, stride


@func
def couple(m, d, isle: ti.template(), half):
    """Contacts, connects and welds between two moving bodies: -A2' K A1, where A takes the twist of a body to that of
    the point. Those of a pair of bodies that follow each other are summed before they go to the nodes.

    half  only those whose nodes are in this half of an incomplete factor; its seam: those that are in neither."""
    last = ti.Vector([-1, -1, 0])  # bodies at hand, and the address of their block if they are free
    sum = mat6(0.0)
    ncon = isle.cons.end - isle.cons.begin
    number = ncon
    if ti.static(m.has.rows):
        number += isle.rows.end - isle.rows.begin
    for e in range(number + 1):
        b1, b2, pose = -1, -1, 0
        c = -1
        if e < ncon:
            c = d.island_con[isle.cons.begin + e]
            b1, b2 = d.con_body[c][0], d.con_body[c][1]
        elif e < number:
            if ti.static(m.has.rows):
                c = d.row_pose[d.island_row[isle.rows.begin + e - ncon]] - 1
                pose = 1
                if c >= 0:
                    b1, b2 = d.eq_body[c][0], d.eq_body[c][1]
        if ti.static(m.has.rows):
            if half != ALL and b1 >= 0 and b2 >= 0:
                if half_of(m, d, b1, b2) != half:
                    b1 = -1
        if ti.static(m.has.jointed):
            if last[0] >= 0 and (e == number or (b1 >= 0 and b2 >= 0 and (b1 != last[0] or b2 != last[1]))):
                couple_nodes(m, d, isle, last[1], last[0], sum)
                sum = mat6(0.0)
                last[0] = -1
        if b1 >= 0 and b2 >= 0:
            h, acts = coupling(m, d, c, pose)
            if acts:
                if ti.static(m.has.jointed):
                    sum += h
                    last[0], last[1] = b1, b2
                else:
                    if b1 != last[0] or b2 != last[1]:
                        last = ti.Vector([b1, b2, isle.adr + BLOCK * block_of(m, d, b2, b1)])
                    couple_free(m, d, last[2], b2, b1, h)


@func
def half_of(m, d, b1, b2):
    """The half of an incomplete factor to which all nodes belong that move these bodies, 2: none."""
    a = node_of(m, d, b1)
    half = d.node_mark[a] // 2
    for side in range(2):
        if side == 1:
            a = node_of(m, d, b2)
        while a >= 0:
            if d.node_mark[a] // 2 != half:
                half = 2
            a = node_above(m, d, a)
    return half


@func
def coupling(m, d, c, pose):
    """What contact c, or connect or weld c if `pose` is 1, couples of the twists of its two bodies, rows for the second
    one; and whether it acts."""
    k, r1, r2 = mat3(0.0), vec3(0.0), vec3(0.0)
    if pose == 0:
        k = symmetric(d.con_hess, c)
        r1 = head(d.con_arm[c, 0])
        r2 = head(d.con_arm[c, 1])
    elif ti.static(m.has.rows):
        k = symmetric(d.eq_hess, c)
        r1 = head(d.eq_arm[c, 0])
        r2 = head(d.eq_arm[c, 1])
    wv = skew_times(r2, k)
    vw = -1.0 * times_skew(k, r1)
    ww = -1.0 * times_skew(wv, r1)
    if ti.static(m.has.torsion):
        if pose == 0:
            if d.contact_dim[c] > 3:
                kvw = d.con_hess_mix[c]
                kwv = kvw.transpose()
                ww += symmetric(d.con_hess_rot, c) - times_skew(kwv, r1) + skew_times(r2, kvw)
                wv += kwv
                vw += kvw
    if ti.static(m.has.rows):
        if pose == 1:
            ww += symmetric(d.eq_hess_rot, c)
    h = mat6(0.0)
    for i in ti.static(range(3)):
        for j in ti.static(range(3)):
            h[i, j] = -ww[i, j]
            h[i, 3 + j] = -wv[i, j]
            h[3 + i, j] = -vw[i, j]
            h[3 + i, 3 + j] = -k[i, j]
    return h, k.trace() > 0.0


@func
def couple_free(m, d, adr, b2, b1, h):
    """Adds h, rows for free body b2 and columns for b1, to their block at this address."""
    if d.node_rank[b2] > d.node_rank[b1]:
        for i in ti.static(range(6)):
            put6(d.island_dense, adr + 6 * i, at6(d.island_dense, adr + 6 * i) + row_of(h, i))
    else:
        for i in ti.static(range(6)):
            put6(d.island_dense, adr + 6 * i, at6(d.island_dense, adr + 6 * i) + column_of(h, i))


@ti.func
def row_of(h, i: ti.template()):
    return vec6(h[i, 0], h[i, 1], h[i, 2], h[i, 3], h[i, 4], h[i, 5])


@ti.func
def column_of(h, i: ti.template()):
    return vec6(h[0, i], h[1, i], h[2, i], h[3, i], h[4, i], h[5, i])


@func
def couple_nodes(m, d, isle: ti.template(), b2, b1, h):
    """Adds h, rows for the twist of body b2 and columns for that of b1, to all nodes that move them."""
    w = isle.world
    a = node_of(m, d, b2)
    i = last_dof(m, d, b2 - w * m.nbody)
    while a >= 0:
        project_node(m, d, a, w * m.nv + i, h)
        b = node_of(m, d, b1)
        j = last_dof(m, d, b1 - w * m.nbody)
        while b >= 0:
            couple_pair(m, d, isle, a, w * m.nv + i, b, w * m.nv + j)
            j = m.node_dofadr[b - w * m.nbody]
            j = m.dof_parentid[j]
            b = node_above(m, d, b)
        i = m.node_dofadr[a - w * m.nbody]
        i = m.dof_parentid[i]
        a = node_above(m, d, a)


@func
def project_node(m, d, a, last, h):
    """dof_wrench of the components of node a up to its dof `last`: the wrenches that h makes of their twists."""
    first = first_dof(m, d, a)
    twists = is_single(m, d, a)
    for i in range(first, last + 1):
        store(d.dof_wrench, i, h.transpose() @ motion(m, d, twists, first, i - first))


@func
def couple_pair(m, d, isle: ti.template(), a, last_a, b, last_b):
    """Adds what dof_wrench has for node a to its components and those of b up to these dofs, which move the bodies."""
    adr, step, stride = 0, 0, 0
    if a != b:
        adr, step, stride = block_place(m, d, isle, a, b)
    first, second = first_dof(m, d, a), first_dof(m, d, b)
    others = is_single(m, d, b)
    for i in range(first, last_a + 1):
        r = i - first
        y = six(d.dof_wrench[i])
        for j in range(second, last_b + 1):
            q = j - second
            x = FP(0.0)
            if others:
                x = d.dof_wrench[i][q]
            else:
                x = y.dot(d.cdof[j])
            if a != b:
                to = adr + step * r + stride * q
                d.island_dense[to] = d.island_dense[to] + x
            else:  # the pair and its mirror image are in the same triangle
                to = ti.max(r, q) * (ti.max(r, q) + 1) // 2 + ti.min(r, q)
                d.body_hess[a][to] = d.body_hess[a][to] + ti.select(r == q, 2.0 * x, x)


@func
def motion(m, d, twists, first, r):
    """Twist of the r-th component of a node whose first dof this is; twists: of a free body."""
    v = vec6(0.0)
    if twists:
        for i in ti.static(range(6)):
            v[i] = ti.select(r == i, FP(1.0), FP(0.0))
    else:
        v = d.cdof[first + r]
    return v


@func
def couple_rows(m, d, isle: ti.template()):
    """Pairs of dofs of a row that no tree's Hessian holds: of two branches or two trees; node by node. Connects and
    welds are coupled as contacts are."""
    for e in range(isle.rows.begin, isle.rows.end):
        row = d.island_row[e]
        if d.row_coupled[row] == 1 and d.row_pose[row] == 0:
            k = d.row_adr[row]
            while k < d.row_adr[row] + d.row_num[row]:
                k = couple_node(m, d, isle, row, k)


@func
def couple_node(m, d, isle: ti.template(), row, k):
    """Adds what a row has for the node of its entry k and those of earlier entries; returns the next node's entry."""
    a = node_of_dof(m, d, isle.world, d.J_dof[k])
    end = end_of_node(m, d, isle.world, row, k)
    j = d.row_adr[row]
    while j < k:
        b = node_of_dof(m, d, isle.world, d.J_dof[j])
        last = end_of_node(m, d, isle.world, row, j)
        if is_above(m, d, b, a) == 0:
            adr, step, stride = block_place(m, d, isle, a, b)
            adr -= step * first_dof(m, d, a) + stride * first_dof(m, d, b)
            for x in range(k, end):
                f = d.row_hess[row] * d.J[x]
                for y in range(j, last):
                    to = adr + step * d.J_dof[x] + stride * d.J_dof[y]
                    d.island_dense[to] = d.island_dense[to] + f * d.J[y]
        j = last
    return end


@func
def size_of(m, isle: ti.template(), a):
    """Components of node a; rows of its blocks behind them are zero."""
    size = 6
    if ti.static(m.has.jointed):
        size = m.node_dofnum[a - isle.world * m.nbody]
    return size


@ti.func
def g_times(g, v, n):
    """g v, where components of v behind the first n are zero; n is one at least."""
    x = vec6(0.0)
    for k in ti.static(range(6)):
        if k < n:
            for q in ti.static(range(6)):
                x[q] += g[q, k] * v[k]
    return x


@func
def factor(m, d, isle: ti.template(), first_node, last_node, half, border):
    """Eliminates one node after the other, of a stretch of node_order. Returns 0 if a pivot is not positive.

    half  ALL, or only what they leave to nodes of this half of an incomplete factor.
    border  the stretch is one of node_border: nodes eliminated before."""
    good = 1
    for e in range(first_node, last_node):
        a = d.node_order[e]
        if ti.static(m.has.rows):
            if border:
                a = d.node_border[e]
            elif half != ALL:
                good = ti.min(good, is_positive(a, d.body_hess))
        if not border:
            invert_twist(a, d.body_hess)
        columns = size_of(m, isle, a)
        adr = isle.adr + BLOCK * d.node_linkadr[a]
        for i in range(d.node_linknum[a]):
            b = d.node_link[a][i]
            if ti.static(m.has.rows):
                if half != ALL:
                    if d.node_mark[b] // 2 != half:
                        continue
            rows = size_of(m, isle, b)
            g = mat6(0.0)  # the block of b, times the inverse
            for r in ti.static(range(6)):
                if r < rows:
                    x = at6(d.island_dense, adr + BLOCK * i + 6 * r)
                    y = sym6_times(a, x, d.body_hess)
                    for q in ti.static(range(6)):
                        g[r, q] = y[q]
                    y = g_times(g, x, columns)
                    for q in ti.static(range(r + 1)):
                        d.body_hess[b][r * (r + 1) // 2 + q] = d.body_hess[b][r * (r + 1) // 2 + q] - y[q]
            for j in range(d.node_linknum[a]):
                c = d.node_link[a][j]
                if d.node_rank[c] > d.node_rank[b]:
                    place = place_of_link(m, d, b, c)
                    if place >= 0:  # an incomplete factor drops others
                        to = isle.adr + BLOCK * (d.node_linkadr[b] + place)
                        for r in range(size_of(m, isle, c)):
                            x = g_times(g, at6(d.island_dense, adr + BLOCK * j + 6 * r), columns)
                            put6(d.island_dense, to + 6 * r, at6(d.island_dense, to + 6 * r) - x)
    return good


@ti.func
def is_positive(b, a: ti.template()):
    """1 if the symmetric 6 x 6 matrix in record b of a is positive, by the pivots of its factor, else 0."""
    x = mat6(0.0)  # the factor, its diagonal inverted
    good = 1
    for i in ti.static(range(6)):
        for j in ti.static(range(i + 1)):
            s = a[b][i * (i + 1) // 2 + j]
            least = LOST * s
            for k in ti.static(range(j)):
                s -= x[i, k] * x[j, k]
            if ti.static(i == j):
                if not (s > least and s > 0.0):
                    good = 0
                x[i, i] = 1.0 / ti.sqrt(ti.max(s, 1e-30))
            else:
                x[i, j] = s * x[j, j]
    return good


@func
def solve(m, d, isle: ti.template()):
    """sol_p = (L D L')^-1 sol_p: forces go forward (wrench), accelerations come back (twist)."""
    for e in range(isle.node, isle.node + isle.nodes):
        read(m, d, d.island_node[e])
    for e in range(isle.node, isle.node + isle.nodes):
        a = d.node_order[e]
        x = sym6_times(a, six(d.wrench[a]), d.body_hess)
        store(d.twist, a, x)
        for i in range(d.node_linknum[a]):
            adr = isle.adr + BLOCK * (d.node_linkadr[a] + i)
            y = vec6(0.0)
            for r in ti.static(range(6)):
                y[r] = at6(d.island_dense, adr + 6 * r).dot(x)
            store(d.wrench, d.node_link[a][i], six(d.wrench[d.node_link[a][i]]) - y)
    for e in range(isle.nodes):
        a = d.node_order[isle.node + isle.nodes - 1 - e]
        y = vec6(0.0)
        for i in range(d.node_linknum[a]):
            adr = isle.adr + BLOCK * (d.node_linkadr[a] + i)
            v = d.twist[d.node_link[a][i]]
            for r in ti.static(range(6)):
                y += v[r] * at6(d.island_dense, adr + 6 * r)
        x = six(d.twist[a]) - sym6_times(a, y, d.body_hess)
        store(d.twist, a, x)
        write(m, d, a, x)


@func
def read(m, d, a):
    """wrench of node a from sol_p."""
    i = first_dof(m, d, a)
    if is_single(m, d, a):
        store(d.wrench, a, wrench_of_forces(m, d, i, at6(d.sol_p, i)))
    elif ti.static(m.has.jointed):
        store(d.wrench, a, vec6(0.0))
        for r in range(m.node_dofnum[a % m.nbody]):
            d.wrench[a][r] = d.sol_p[i + r]


@func
def write(m, d, a, x):
    """sol_p of node a from its accelerations x, which twist holds, too."""
    i = first_dof(m, d, a)
    if is_single(m, d, a):
        put6(d.sol_p, i, dofs_of_twist(m, d, i, x))
    elif ti.static(m.has.jointed):
        for r in range(m.node_dofnum[a % m.nbody]):
            d.sol_p[i + r] = d.twist[a][r]
