"""An incomplete sparse factor of a large island that rows hold together: the preconditioner of its conjugate gradients.

Nets and cloths have too much fill for a whole factor, and each tree's own Hessian knows nothing of its neighbours.
L D L' in the blocks of island_factor.py is made with the blocks of the Hessian, of level 0, and with fill up to a
level, 3 if there is room, else 1. A block of fill has one level more than the two that make it have together.

Nodes are walked breadth first from an end of the island: in an order that knows no neighbourhoods what is dropped is
most of the factor. The walk is cut in the middle. Two workers eliminate from both ends towards there, each its half; a
half begins with nodes no two of which are neighbours, whose elimination drops nothing. The nodes of the second half
that have neighbours in the first, the seam, go last. The halves are fixed, so that bits do not depend on the number of
workers. An incomplete factor can lose positive pivots: then the island keeps the preconditioner of trees.

Meijerink, van der Vorst, "An iterative solution method for linear systems of which the coefficient matrix is a
symmetric M-matrix", 1977; the order from both ends: van der Vorst, "Large tridiagonal and block tridiagonal linear
systems on vector and parallel computers", 1987.
"""

from ..constraint.island import PART_ROOM
from ..team import meet, share
from ..types import FP, at6, called, func, six, store, ti, vec6
from .elimination import LINKS, list_nodes, touch
from .island_factor import BLOCK, blocks_of, couple, couple_rows, factor, first_dof, place_trees, size_of
from .isle import Isle
from .tree_hessian import sym6_times

# node_mark is twice the half (0, 1, SEAM), and 1 more for a node that goes first in its half
SEAM = 2
BITS = 2
LEVELS = 1 << BITS  # of fill, that of the Hessian among them
ENDS, MIDDLE, HOLDS, BORDER = range(4)  # columns of island_half: see data/arrays/solver.py


@called("jointed")
def arrange(m, d, k: ti.i32, isle: Isle) -> ti.i32:
    """Order and blocks of the incomplete factor of island k, by one worker. Returns 0 if there is no room for it."""
    if isle.me == 0:
        fits = 0
        for less in range(2):
            if fits == 0:
                list_nodes(m, d, isle)
                fits = touch(m, d, isle)
                if fits == 1:
                    last = walk(m, d, isle, d.island_node[isle.node])
                    last = walk(m, d, isle, last)
                    mark_halves(m, d, isle)
                    order_nodes(m, d, k, isle)
                    fits = fill(m, d, isle, ti.select(less == 1, 1, LEVELS - 1))
        if fits == 1:
            list_border(m, d, k, isle)
        d.island_half[k][HOLDS] = fits
    meet(m, d, isle.me, isle.size)
    return d.island_half[k][HOLDS]


@func
def walk(m, d, isle: ti.template(), begin):
    """island_node: the island's nodes breadth first from one of them; node_rank: their places. Returns the last one."""
    for e in range(isle.node, isle.node + isle.nodes):
        d.node_rank[d.island_node[e]] = -1
    d.node_rank[begin] = 0
    d.node_order[isle.node] = begin
    n = 1
    for e in range(isle.nodes):  # what acts in an island connects its nodes
        a = d.node_order[isle.node + e]
        for i in range(d.node_linknum[a]):
            b = d.node_link[a][i]
            if d.node_rank[b] < 0:
                d.node_rank[b] = n
                d.node_order[isle.node + n] = b
                n += 1
    for e in range(isle.node, isle.node + isle.nodes):
        d.island_node[e] = d.node_order[e]
    return d.island_node[isle.node + isle.nodes - 1]


@func
def mark_halves(m, d, isle: ti.template()):
    """node_mark, from both ends of the walk."""
    middle = isle.nodes // 2
    for e in range(isle.nodes):
        a = d.island_node[isle.node + e]
        mark = 2 * ti.cast(e >= middle, ti.i32)
        if e >= middle:
            for i in range(d.node_linknum[a]):
                if d.node_rank[d.node_link[a][i]] < middle:
                    mark = 2 * SEAM
        d.node_mark[a] = mark
    for e in range(isle.nodes):
        a = d.island_node[isle.node + place_from_end(isle, e)]
        mark = d.node_mark[a]
        alone = ti.cast(mark < 2 * SEAM, ti.i32)
        for i in range(d.node_linknum[a]):
            if d.node_mark[d.node_link[a][i]] == mark + 1:
                alone = 0
        d.node_mark[a] = mark + alone


@ti.func
def place_from_end(isle: ti.template(), e):
    """The e-th place of the walk if the second half is gone through from its end."""
    middle = isle.nodes // 2
    return ti.select(e < middle, e, isle.nodes - 1 - (e - middle))


@func
def order_nodes(m, d, k, isle: ti.template()):
    """node_order and node_rank; where the halves end."""
    n = 0
    for part in range(5):
        mark = ti.select(part == 2 * SEAM, part, part + 1 - 2 * (part % 2))  # 1, 0, 3, 2, 4
        for e in range(isle.nodes):
            a = d.island_node[isle.node + place_from_end(isle, e)]
            if d.node_mark[a] == mark:
                d.node_order[isle.node + n] = a
                d.node_rank[a] = n
                n += 1
        if part == 1:
            d.island_half[k][ENDS] = isle.node + n
        if part == 3:
            d.island_half[k][MIDDLE] = isle.node + n


@func
def fill(m, d, isle: ti.template(), most):
    """Links of each node with those behind it, up to this level of fill, and their blocks. Returns 0 if there is no
    room. Meanwhile node_link has LEVELS times a node, and the level of the link: 0 is one of the Hessian."""
    for e in range(isle.node, isle.node + isle.nodes):
        a = d.node_order[e]
        for i in range(d.node_linknum[a]):
            d.node_link[a][i] = LEVELS * d.node_link[a][i]
    fits = 1
    blocks = 0
    for e in range(isle.node, isle.node + isle.nodes):
        a = d.node_order[e]
        rank = d.node_rank[a]
        n = 0
        for i in range(d.node_linknum[a]):
            if d.node_rank[d.node_link[a][i] >> BITS] > rank:
                d.node_link[a][n] = d.node_link[a][i]
                n += 1
        for i in range(1, n):
            b = d.node_link[a][i]
            for j in range(i):
                c = d.node_link[a][j]
                level = (b & (LEVELS - 1)) + (c & (LEVELS - 1)) + 1
                if level <= most:
                    fits = ti.min(fits, link_at(m, d, b >> BITS, c >> BITS, level))
        for i in range(n):
            d.node_link[a][i] = d.node_link[a][i] >> BITS
        d.node_linknum[a] = n
        d.node_linkadr[a] = blocks
        blocks += n
    return ti.min(fits, ti.cast(BLOCK * blocks <= isle.room, ti.i32))


@func
def link_at(m, d, b, c, level):
    """Links two nodes at a level of fill, or at the one that their link has, if that is lower: the first of them in the
    order of elimination has it. Returns 0 if there is no room for it."""
    first, second = b, c
    if d.node_rank[b] > d.node_rank[c]:
        first, second = c, b
    n = d.node_linknum[first]
    place = n
    for i in range(n):
        if d.node_link[first][i] >> BITS == second:
            place = i
            break
    fits = ti.cast(place < LINKS, ti.i32)
    if place < n:
        d.node_link[first][place] = ti.min(d.node_link[first][place], LEVELS * second + level)
    elif fits == 1:
        d.node_link[first][n] = LEVELS * second + level
        d.node_linknum[first] = n + 1
    return fits


@func
def list_border(m, d, k, isle: ti.template()):
    """node_border: nodes of the halves that are linked to the seam."""
    border = isle.node
    for e in range(isle.node, d.island_half[k][MIDDLE]):
        a = d.node_order[e]
        some = 0
        for i in range(d.node_linknum[a]):
            some = ti.max(some, ti.cast(d.node_mark[d.node_link[a][i]] == 2 * SEAM, ti.i32))
        if some == 1:
            d.node_border[border] = a
            border += 1
    d.island_half[k][BORDER] = border


@called("jointed")
def factor_halves(m, d, k: ti.i32, isle: Isle) -> ti.i32:
    """The incomplete factor, from the Hessians of the trees. Returns whether all pivots are positive."""
    first, last = share(BLOCK * blocks_of(m, d, isle), isle.me, isle.size)
    for i in range(first, last):
        d.island_dense[isle.adr + i] = 0.0
    if isle.me == 0:
        d.island_half[k][HOLDS] = 1
    meet(m, d, isle.me, isle.size)
    first, last = share(isle.nodes, isle.me, isle.size)
    place_trees(m, d, isle, isle.node + first, isle.node + last)
    list_places(m, d, isle, isle.node + first, isle.node + last)
    meet(m, d, isle.me, isle.size)
    for half in range(SEAM + 1):
        if half == SEAM:
            meet(m, d, isle.me, isle.size)
        if is_mine(isle, half):
            couple(m, d, isle, half)
            if half == SEAM:
                couple_rows(m, d, isle)
    meet(m, d, isle.me, isle.size)
    for phase in range(SEAM + 2):  # both halves, what they leave to the seam, the seam
        half = ti.min(phase, SEAM)
        if phase == SEAM:
            meet(m, d, isle.me, isle.size)
        if is_mine(isle, half):
            begin, end = nodes_of(m, d, k, isle, phase)
            if factor(m, d, isle, begin, end, half, phase == SEAM) == 0:
                d.island_half[k][HOLDS] = 0
    meet(m, d, isle.me, isle.size)
    return d.island_half[k][HOLDS]


@ti.func
def is_mine(isle: ti.template(), half):
    """Whether this worker does that half, or the seam."""
    return isle.me == ti.select(half == 1, ti.min(1, isle.size - 1), 0)


@func
def nodes_of(m, d, k, isle: ti.template(), phase):
    """(begin, end) of the nodes of a phase in node_order; in node_border in phase SEAM."""
    begin, end = isle.node, d.island_half[k][ENDS]
    if phase == 1:
        begin, end = d.island_half[k][ENDS], d.island_half[k][MIDDLE]
    elif phase == SEAM:
        end = d.island_half[k][BORDER]
    elif phase > SEAM:
        begin, end = d.island_half[k][MIDDLE], isle.node + isle.nodes
    return begin, end


@func
def solve_halves(m, d, k, isle: ti.template()):
    """sol_z = (L D L')^-1 sol_z, in the components of the nodes, by way of part_z; behind a `meet`, and ends without
    one."""
    for phase in range(SEAM + 2):
        half = ti.min(phase, SEAM)
        if phase == SEAM:
            meet(m, d, isle.me, isle.size)
        if is_mine(isle, half):
            begin, end = nodes_of(m, d, k, isle, phase)
            first, last = nodes_of(m, d, k, isle, half + half // SEAM)
            if phase != SEAM + 1:
                for e in range(first, last):
                    store(d.part_z, e, components(m, d, isle, d.node_order[e]))
            for e in range(begin, end):
                place = e
                if phase == SEAM:
                    place = isle.node + d.node_rank[d.node_border[e]]
                forward(m, d, isle, place, first, last, phase == SEAM)
    for turn in range(SEAM + 1):
        half = SEAM - turn
        if half == 1:
            meet(m, d, isle.me, isle.size)
        if is_mine(isle, half):
            begin, end = nodes_of(m, d, k, isle, half + half // SEAM)
            for e in range(end - begin):
                backward(m, d, isle, end - 1 - e)


@func
def list_places(m, d, isle: ti.template(), first_node, last_node):
    """part_link of a stretch of node_order."""
    for e in range(first_node, last_node):
        a = d.node_order[e]
        for i in range(d.node_linknum[a]):
            d.part_link[PART_ROOM * isle.node + d.node_linkadr[a] + i] = isle.node + d.node_rank[d.node_link[a][i]]


@func
def forward(m, d, isle: ti.template(), e, first, last, done):
    """Takes what the node at place e of node_order leaves to its links from `first` up to `last` from part_z, which
    becomes D^-1 L^-1 z of that node, or is so if `done`."""
    a = d.node_order[e]
    x = six(d.part_z[e])
    if not done:
        x = sym6_times(a, x, d.body_hess)
        store(d.part_z, e, x)
    block = d.node_linkadr[a]
    for i in range(block, block + d.node_linknum[a]):
        b = d.part_link[PART_ROOM * isle.node + i]
        if b >= first and b < last:
            adr = isle.adr + BLOCK * i
            y = six(d.part_z[b])
            for r in ti.static(range(6)):
                y[r] -= at6(d.island_dense, adr + 6 * r).dot(x)
            store(d.part_z, b, y)


@func
def backward(m, d, isle: ti.template(), e):
    """part_z of the node at place e from those of its links; then it is sol_z."""
    a = d.node_order[e]
    y = vec6(0.0)
    block = d.node_linkadr[a]
    for i in range(block, block + d.node_linknum[a]):
        adr = isle.adr + BLOCK * i
        v = d.part_z[d.part_link[PART_ROOM * isle.node + i]]
        for r in ti.static(range(6)):
            y += v[r] * at6(d.island_dense, adr + 6 * r)
    x = six(d.part_z[e]) - sym6_times(a, y, d.body_hess)
    store(d.part_z, e, x)
    put_components(m, d, isle, a, x)


@func
def components(m, d, isle: ti.template(), a):
    """sol_z of node a; zero behind its components."""
    i = first_dof(m, d, a)
    n = size_of(m, isle, a)
    x = vec6(0.0)
    for r in ti.static(range(6)):
        if r < n:
            x[r] = d.sol_z[i + r]
    return x


@func
def put_components(m, d, isle: ti.template(), a, x):
    i = first_dof(m, d, a)
    n = size_of(m, isle, a)
    for r in ti.static(range(6)):
        if r < n:
            d.sol_z[i + r] = x[r]


@func
def product_of_residuals(m, d, isle: ti.template(), first, last):
    """r'z of trees."""
    s = FP(0.0)
    for n in range(first, last):
        t = d.island_tree[n] - isle.world * m.ntree
        for i in range(isle.world * m.nv + m.tree_dofadr[t], isle.world * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            s += d.sol_r[i] * d.sol_z[i]
    return s
