"""In which order the bodies of an island are eliminated (articulated.py), and which way its trees are walked.

An island that a team shares is walked breadth first, tree by tree, from an end, and cut in the middle: two workers
eliminate a half each, from the ends towards the middle, and what couples the halves goes last. The halves follow from
the island, so that bits do not depend on the number of workers.

A chain of trees costs least where each body, when its turn comes, is coupled with one other: a tree is walked from its
leaves to its root, and the root has to be nearer to the middle than they are. Where another body is, the tree is
turned: that one becomes its root. The accelerations of the joints between keep their sizes and change their signs, and
the six unknowns of the old root's free joint become the twist of the new one.
"""

from ..constants import FREE
from ..constraint.island import BLOCK
from ..types import func, ti
from .elimination import LINKS, leave, link_pair
from .incomplete import BORDER, ENDS, HOLDS, MIDDLE

BESIDE = 4  # links up to which free bodies are eliminated before any tree
BOTH = 2  # part of the order that is neither half's
UP, DOF, NUMBER, WAY, HESS = range(5)  # columns of node_joint: see data/arrays/solver.py
CHANGED, KEPT = 1, 2  # in node_mark: what bears the matrix of a body, see articulated.py
SECOND = 3  # in HOLDS: the factor's nodes are bodies, and the second half has the lowest numbers; else 2
OWN, TWIST, TURNED, LEFT = 1, 0, -1, -2  # in WAY; LEFT is the old root of a tree that was turned


@func
def parent_of(m, d, w, b):
    """World-major parent of body b in its tree, -1: none."""
    p = m.body_parentid[b - w * m.nbody]
    return ti.select(m.body_treeid[p] == m.body_treeid[b - w * m.nbody], w * m.nbody + p, -1)


@func
def tree_of(m, d, w, b):
    """Tree of body b in its world."""
    return m.body_treeid[b - w * m.nbody]


@func
def eliminate_bodies(m, d, k, isle: ti.template()):
    """As elimination.eliminate, of bodies: a body goes behind those below it. Returns 0 where this factor cannot be."""
    fits = 0
    halves = isle.large
    d.island_half[k][BORDER] = (isle.trees.end - isle.trees.begin) // 2
    d.island_half[k][HOLDS] = 1
    more = True
    while more:
        fits = list_bodies(m, d, isle)
        if fits == 1:
            fits = touch_bodies(m, d, isle)
        more = False
        if fits == 1:
            if halves == 1:
                halves = halve(m, d, k, isle)
            fits = order_bodies(m, d, k, isle, ti.select(halves == 1, 0, BOTH))
            more = fits == 0 and halves == 1
        halves = 0
    return fits


@ti.dataclass
class Order:
    """The order of an island's bodies while it is made."""

    done: ti.i32  # bodies in it
    blocks: ti.i32  # of the factor, that they need
    above: ti.i32  # who bears what the last body leaves, if that goes nowhere else, else -1
    limit: ti.i32  # links up to which a body goes next
    least: ti.i32  # links of those that had more, in this round
    fits: ti.i32  # 0 if the factor has no room


@func
def order_bodies(m, d, k, isle: ti.template(), part):
    """The order from this part on. In each go first free bodies, those with the fewest links, then bodies of trees,
    where the fewest others hold them. Returns 0 if the factor has no room.

    Of a body that is not yet eliminated, node_linkadr is its half.
    """
    w = isle.world
    order = Order(above=-1, limit=1, fits=1)
    turn = 0
    trees = False
    border = isle.trees.begin + d.island_half[k][BORDER]
    d.island_half[k][ENDS] = isle.node
    d.island_half[k][MIDDLE] = isle.node
    while part <= BOTH and order.done < isle.nodes and order.fits == 1:
        before = order.done
        order.least = LINKS + 2  # more than there are
        begin = ti.select(part == 1, border, isle.trees.begin)
        end = ti.select(part == 0, border, isle.trees.end)
        for e in range(end - begin):
            t = d.island_tree[ti.select(turn % 2 == 0, end - 1 - e, begin + e)] - w * m.ntree
            if trees or d.tree_single[w * m.ntree + t] == 1:
                order_tree(m, d, isle, t, part, order)
        order.limit = 1
        if order.done == before:
            order.limit = order.least
            if not trees and order.least > BESIDE:
                order.limit = 1
                trees = True
                turn = ti.select(part == 0, 0, -1)
            elif order.least > LINKS + 1:
                if part < BOTH:
                    d.island_half[k][part] = isle.node + order.done
                if order.above >= 0:
                    d.node_joint[order.above][HESS] = CHANGED
                    order.above = -1
                part += 1
                order.limit = 1
                trees = False
                turn = -1
        turn += 1
    for half in range(part, BOTH):  # nothing is between them
        d.island_half[k][half] = isle.node + order.done
    return ti.min(order.fits, ti.cast(order.done == isle.nodes, ti.i32))


@func
def order_tree(m, d, isle: ti.template(), t, part, order: ti.template()):
    """Those bodies of a tree that hold nobody any more, and few enough others, from its leaves on."""
    w = isle.world
    first, n = w * m.nbody + m.tree_bodyadr[t], m.tree_bodynum[t]
    from_root = d.node_joint[first][WAY] == LEFT
    for x in range(n):
        b = ti.select(from_root, first + x, first + n - 1 - x)
        if d.node_rank[b] < 0 and d.node_mark[b] == 0 and order.fits == 1:
            degree = held_by(m, d, w, b, part)
            if degree <= order.limit:
                order_body(m, d, isle, b, order)
            else:
                order.least = ti.min(order.least, degree)


@func
def order_body(m, d, isle: ti.template(), b, order: ti.template()):
    """A body goes next, and leaves the bodies that hold it coupled with each other."""
    p = d.node_joint[b][UP]
    if order.above >= 0 and order.above != b:
        d.node_joint[order.above][HESS] = CHANGED
    order.above = ti.select(d.node_linknum[b] == 0, p, -1)
    changes(m, d, b, p)
    d.node_order[isle.node + order.done] = b
    d.node_rank[b] = order.done
    d.node_joint[b][HESS] = isle.adr + isle.room + BLOCK * order.done
    d.node_linkadr[b] = order.blocks
    order.blocks += d.node_linknum[b]
    order.done += 1
    order.fits = ti.min(leave(m, d, b), ti.cast(BLOCK * order.blocks <= isle.room, ti.i32))
    if p >= 0:
        d.node_mark[p] = d.node_mark[p] - 1
        for i in range(d.node_linknum[b]):
            order.fits = ti.min(order.fits, link_pair(m, d, p, d.node_link[b][i]))


@func
def changes(m, d, b, p):
    """Body b is the next one. node_mark of it, whose children have gone: whether its matrix is changed where it lies,
    by others or by itself (CHANGED); until then HESS has that. What goes to the next body alone does not, nor what a
    free body that nothing changes leaves to those of trees, which follows from its contacts (articulated.py)."""
    way = d.node_joint[b][WAY]
    if way != TWIST and d.node_joint[b][NUMBER] > 1:
        d.node_joint[b][HESS] = CHANGED
    d.node_mark[b] = d.node_joint[b][HESS]
    alone = is_alone(m, d, b) and d.node_mark[b] != CHANGED
    for i in range(d.node_linknum[b]):
        c = d.node_link[b][i]
        if not alone or d.node_joint[c][WAY] == TWIST:
            d.node_joint[c][HESS] = CHANGED
        if p >= 0:
            d.node_joint[p][HESS] = CHANGED


@func
def is_alone(m, d, b):
    """Whether body b is a tree of its own: a free body."""
    return d.node_joint[b][WAY] == TWIST and d.node_joint[b][DOF] >= 0


@func
def held_by(m, d, w, b, part):
    """Links of body b with other trees, and the body above it; more than there are if it does not belong to this part
    of the order: one of them is in the other half."""
    p = d.node_joint[b][UP]
    t = tree_of(m, d, w, b)
    n = ti.cast(p >= 0, ti.i32)
    inside = part == BOTH or d.node_linkadr[b] == part
    for i in range(d.node_linknum[b]):
        c = d.node_link[b][i]
        n += ti.cast(tree_of(m, d, w, c) != t, ti.i32)
        inside = inside and (part == BOTH or d.node_linkadr[c] == part)
    return ti.select(inside, n, LINKS + 2)


@func
def list_bodies(m, d, isle: ti.template()):
    """The island's bodies as nodes, without links; node_mark: their children. Returns 0 where blocks of six dofs are as
    good: if those that are no free bodies have more than three dofs each."""
    w = isle.world
    n = 0
    more = 0
    for e in range(isle.trees.begin, isle.trees.end):
        t = d.island_tree[e] - w * m.ntree
        if d.tree_single[d.island_tree[e]] == 0:
            more += m.tree_dofnum[t] - 3 * m.tree_bodynum[t]
        for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
            node = w * m.nbody + b
            d.node_rank[node] = -1
            d.node_linknum[node] = 0
            d.node_link[node][0] = -1
            d.node_mark[node] = 0
            p = parent_of(m, d, w, node)
            if p >= 0:
                d.node_mark[p] = d.node_mark[p] + 1
            d.node_joint[node][UP] = p
            d.node_joint[node][DOF] = w * m.nv + m.body_dofadr[b]
            d.node_joint[node][NUMBER] = m.body_dofnum[b]
            d.node_joint[node][HESS] = 0
            d.node_joint[node][WAY] = ti.select(d.tree_single[d.island_tree[e]] == 1, TWIST, OWN)
            n += 1
    isle.nodes = n
    return ti.cast(more <= 0, ti.i32)


@func
def touch_bodies(m, d, isle: ti.template()):
    """Links bodies that contacts, connects and welds couple. Returns 0 if one has too many links, or if other rows have
    several dofs."""
    fits = 1
    last = ti.Vector([-1, -1])
    for e in range(isle.cons.begin, isle.cons.end):
        pair = ti.Vector([d.con_body[d.island_con[e]][0], d.con_body[d.island_con[e]][1]])
        if pair[0] >= 0 and pair[1] >= 0 and (pair[0] != last[0] or pair[1] != last[1]):
            last = pair
            fits = ti.min(fits, link_pair(m, d, pair[0], pair[1]))
    if ti.static(m.has.rows):
        for e in range(isle.rows.begin, isle.rows.end):
            r = d.island_row[e]
            k = d.row_pose[r] - 1
            if k >= 0:
                for side in range(2):
                    if d.eq_body[k][side] >= 0:
                        d.node_joint[d.eq_body[k][side]][HESS] = CHANGED
                if d.eq_body[k][0] >= 0 and d.eq_body[k][1] >= 0:
                    fits = ti.min(fits, link_pair(m, d, d.eq_body[k][0], d.eq_body[k][1]))
            elif k == -1 and d.row_num[r] != 1:
                fits = 0
    return fits


@func
def first_of(m, d, w, t):
    """World-major first body of tree t, its root."""
    return w * m.nbody + m.tree_bodyadr[t]


@func
def place_of(m, d, w, t):
    """Place of tree t in the walk, -1 before it is there. node_rank has it meanwhile, below that of any body."""
    return -2 - d.node_rank[first_of(m, d, w, t)]


@func
def halve(m, d, k, isle: ti.template()):
    """Cuts the island in two halves (node_linkadr), and turns trees towards the middle. Returns 0 if it falls apart."""
    w = isle.world
    number = isle.trees.end - isle.trees.begin
    reached = walk(m, d, isle, d.island_tree[isle.trees.begin] - w * m.ntree)
    reached = walk(m, d, isle, d.island_node[isle.node + reached - 1])
    bodies = 0
    for e in range(reached):
        t = d.island_node[isle.node + e]
        half = ti.cast(2 * bodies + m.tree_bodynum[t] > isle.nodes, ti.i32)
        bodies += m.tree_bodynum[t]
        for b in range(first_of(m, d, w, t), first_of(m, d, w, t) + m.tree_bodynum[t]):
            d.node_linkadr[b] = half
    for e in range(reached):
        t = d.island_node[isle.node + e]
        b = first_of(m, d, w, t)
        if d.tree_single[w * m.ntree + t] == 0:
            turn(m, d, w, t)
        elif d.node_linknum[b] > 0:  # a body that lies on another belongs to that one's half
            d.node_linkadr[b] = d.node_linkadr[d.node_link[b][0]]
    if reached == number:
        lowest = d.island_tree[isle.trees.begin] - w * m.ntree
        d.island_half[k][HOLDS] = 1 + d.node_linkadr[first_of(m, d, w, lowest)]
        list_halves(m, d, k, isle)
    return ti.cast(reached == number, ti.i32)


@func
def list_halves(m, d, k, isle: ti.template()):
    """island_tree: the trees of the first half, then those of the second, both in the order of the walk."""
    n = isle.trees.begin
    for half in range(2):
        for e in range(isle.trees.end - isle.trees.begin):
            t = d.island_node[isle.node + e]
            if d.node_linkadr[first_of(m, d, isle.world, t)] == half:
                d.island_tree[n] = isle.world * m.ntree + t
                n += 1
        if half == 0:
            d.island_half[k][BORDER] = n - isle.trees.begin


@func
def walk(m, d, isle: ti.template(), begin):
    """island_node: the island's trees breadth first from one of them. Returns how many were reached."""
    w = isle.world
    for e in range(isle.trees.begin, isle.trees.end):
        d.node_rank[first_of(m, d, w, d.island_tree[e] - w * m.ntree)] = -1
    d.island_node[isle.node] = begin
    d.node_rank[first_of(m, d, w, begin)] = -2
    n = 1
    e = 0
    while e < n:
        t = d.island_node[isle.node + e]
        for b in range(first_of(m, d, w, t), first_of(m, d, w, t) + m.tree_bodynum[t]):
            for i in range(d.node_linknum[b]):
                s = tree_of(m, d, w, d.node_link[b][i])
                if place_of(m, d, w, s) < 0:
                    d.node_rank[first_of(m, d, w, s)] = -2 - n
                    d.island_node[isle.node + n] = s
                    n += 1
        e += 1
    return n


@func
def turn(m, d, w, t):
    """Makes that body of tree t its root that is linked to the tree nearest to the middle, or behind it."""
    root = first_of(m, d, w, t)
    half = d.node_linkadr[root]
    best = place_of(m, d, w, t)
    to = root
    for b in range(root, root + m.tree_bodynum[t]):
        for i in range(d.node_linknum[b]):
            s = tree_of(m, d, w, d.node_link[b][i])
            place = place_of(m, d, w, s)
            if d.tree_single[w * m.ntree + s] == 0 and ti.select(half == 0, place > best, place < best):
                best = place
                to = b
    if to != root and moves_freely(m, d, w, t):
        d.node_mark[root] = d.node_mark[root] - 1
        above = -1
        b = to
        while b >= 0:
            p = parent_of(m, d, w, b)
            d.node_joint[b][UP] = above
            d.node_joint[b][WAY] = TURNED
            if above >= 0:
                d.node_joint[b][DOF] = w * m.nv + m.body_dofadr[above - w * m.nbody]
                d.node_joint[b][NUMBER] = m.body_dofnum[above - w * m.nbody]
            above = b
            b = p
        d.node_mark[to] = d.node_mark[to] + 1
        d.node_joint[root][WAY] = LEFT
        d.node_joint[to][WAY] = TWIST
        d.node_joint[to][DOF] = -1


@func
def moves_freely(m, d, w, t):
    """Whether nothing but wrenches acts on the root of tree t and it has a free joint."""
    i = w * m.nv + m.tree_dofadr[t]
    freely = m.jnt_type[m.body_jntadr[m.tree_bodyadr[t]]] == FREE
    for k in range(ti.select(freely, 6, 0)):
        freely = freely and m.dof_armature[w, m.tree_dofadr[t] + k] == 0.0
    if ti.static(m.has.rows):
        wt = w * m.ntree + t
        for s in range(d.tree_segadr[wt], d.tree_segadr[wt] + d.tree_segnum[wt]):
            if d.row_pose[d.seg_row[s]] == 0 and d.J_dof[d.seg_adr[s]] < i + 6:
                freely = False
    return freely
