"""Islands of one tree with joints each, whose branches nothing couples, solved four side by side.

Such are the worlds of a batch: a ragdoll, a robot. Each island goes its own way through Newton's rounds (newton.py),
with its own contacts and rows; but trees of the same joints have Hessians of the same pattern, and those of four
islands are made, factored and solved as one whose numbers are vectors, as in lanes.py. What they need is a worker's own
(abreast_*), so that it stays in his cache. A lane does what the tree does alone, in the same order, and gets the same
bits; so it does not matter which islands come together.
"""

from ..abreast import LANES, ivec4, lay, six_products
from ..team import come, crew, piece_size, take_near
from ..types import ABREAST, FP, HAND, SERIAL, func, kernel, ti, vec3, vec4
from .isle import isle_of
from .newton import is_abreast, move, project, search, slope_there, start, tell_loss
from .rounds import NEAR, ROUGH, next_reduction, scale_of, settled
from .row_hessian import add_row_hessians
from .statistics import clear_rows, tell_round
from .tree_hessian import LOWER, hessian_of_body


@kernel
def solve_abreast(m, d):
    """qacc and qfrc_constraint of these islands, shared out to d.nhand workers."""
    ti.static(ABREAST)
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, abreast_work)


@func
def abreast_work(m, d, hand):
    """A worker's part."""
    come(m, d)
    many = ti.max(LANES, piece_size(d.nisland))
    pieces = (d.nisland + many - 1) // many
    piece = take_near(m, d, hand, pieces)
    while piece < pieces:
        solve_piece(m, d, hand, piece * many, ti.min((piece + 1) * many, d.nisland))
        piece = take_near(m, d, hand, pieces)


@func
def solve_piece(m, d, hand, first, end):
    """The islands from `first` up to `end`: those of trees that are alike together, as many as there are lanes."""
    some = ivec4(0)
    n = 0
    shape = -1
    for k in range(first, end + 1):
        mine, other = False, -1
        if k < end:
            mine = is_abreast(m, d, k)
            other = m.tree_shape[d.island_tree[d.island_treeadr[k]] % m.ntree]
        if n > 0 and (n == LANES or k == end or (mine and other != shape)):
            for c in range(n, LANES):  # lanes that are free do what the first does, and nobody reads it
                some[c] = some[0]
            solve_four(m, d, hand, some, n)
            n = 0
        if mine:
            shape = other
            some[n] = k
            n += 1


@func
def solve_four(m, d, hand, some, n):
    """Newton's method on the first n of these islands."""
    lane = lane_of(m, d, some)
    reduction = vec4(ROUGH)
    alive = ivec4(0)
    for c in range(n):
        k = some[c]
        alive[c] = 1
        d.island_niter[k] = 0
        d.island_nproduct[k] = 0
        d.island_nnz[k] = 0
        d.island_cost[k] = 0.0
        d.island_gradient[k] = 0.0
        start(m, d, isle_of(m, d, k, 0, 1, False))
    gather_axes(m, d, hand, lane)
    newton_round = -1
    left = n
    while left > 0 and newton_round < m.opt.iterations:
        gain = vec4(0.0)
        if newton_round >= 0:
            make_hessians(m, d, hand, lane, alive)
            factor_four(m, d, hand, lane)
            gain = solve_for(m, d, hand, lane)
        left = 0
        for c in range(n):
            if alive[c] == 1:
                reduction[c] = one_round(m, d, hand, lane, some[c], c, newton_round, gain[c], reduction[c])
                if reduction[c] == 0.0:
                    alive[c] = 0
            left += alive[c]
        newton_round += 1
    for c in range(n):
        isle = isle_of(m, d, some[c], 0, 1, False)
        tell_loss(m, d, isle, d.island_gradient[some[c]])


@func
def one_round(m, d, hand, lane: ti.template(), k, c, newton_round, gain, reduction):
    """A round of island k, whose direction is that of lane c; 0 if it is the last one."""
    isle = isle_of(m, d, k, 0, 1, False)
    scale = scale_of(m, d, k)
    gradient = d.island_gradient[k]
    clear_rows(m, d, k, newton_round)
    worth = True
    if newton_round >= 0:
        enough = ti.select(gradient < NEAR * m.opt.tolerance, m.opt.tolerance / scale, FP(0.0))
        worth = gain >= enough
        if worth:
            take_direction(m, d, hand, lane, c)
    reduces = FP(0.0)
    if worth:
        slope = project(m, d, isle, False)
        line = search(m, d, isle, slope, newton_round < 0)
        alpha = line[0]
        there = move(m, d, k, isle, newton_round, alpha)
        improvement = scale * (d.island_cost[k] - there[0])
        last_gradient = gradient
        gradient = scale * ti.sqrt(there[1])
        d.island_cost[k] = there[0]
        d.island_gradient[k] = gradient
        d.island_niter[k] = newton_round + 1
        values = vec3(improvement, gradient, scale * slope_there(line, there))
        tell_round(m, d, k, newton_round, values, ti.cast(line[2], ti.i32), ti.select(newton_round >= 0, 1, 0))
        if newton_round < 0:
            improvement = m.opt.tolerance
        last = False
        if ti.static(FP == ti.f64):  # as in newton.solve_trees
            last = improvement < m.opt.tolerance
        if not last:
            fine = newton_round >= 0 and settled(alpha, gradient, last_gradient)
            reduces = next_reduction(m, d, newton_round, fine, False, gradient, improvement, reduction)
    return reduces


@ti.dataclass
class Lane:
    """What is the same in all lanes, and where each lane's begins.

    first, dofs, body, bodies, rows, numbers  of the first lane's tree: first dof, their number, first body, their
           number, place of the first row in dof_Madr's order, and how many numbers these rows have.
    world, tree, dof0, body0  of each lane: its world, the tree in it, its first dof and body in this world's arrays.
    """

    first: ti.i32
    dofs: ti.i32
    body: ti.i32
    bodies: ti.i32
    rows: ti.i32
    numbers: ti.i32
    world: ivec4
    tree: ivec4
    dof0: ivec4
    body0: ivec4


@func
def lane_of(m, d, some):
    """The Lane of these islands."""
    world, tree, dof0, body0 = ivec4(0), ivec4(0), ivec4(0), ivec4(0)
    for c in ti.static(range(LANES)):
        wt = d.island_tree[d.island_treeadr[some[c]]]
        world[c] = wt // m.ntree
        tree[c] = wt - world[c] * m.ntree
        dof0[c] = m.tree_dofadr[tree[c]]
        body0[c] = m.tree_bodyadr[tree[c]]
    t = tree[0]
    first = m.tree_dofadr[t]
    end = first + m.tree_dofnum[t]
    rows = m.dof_Madr[first]
    behind = m.nM
    if end < m.nv:
        behind = m.dof_Madr[end]
    return Lane(
        first=first,
        dofs=m.tree_dofnum[t],
        body=m.tree_bodyadr[t],
        bodies=m.tree_bodynum[t],
        rows=rows,
        numbers=behind - rows,
        world=world,
        tree=tree,
        dof0=dof0,
        body0=body0,
    )


@func
def gather_axes(m, d, hand, lane: ti.template()):
    """cdof of the four trees, side by side."""
    for i in range(lane.dofs):
        lay(m, d, d.cdof, lane.world * m.nv + lane.dof0 + i, d.abreast_cdof, hand * d.laneaxes + 6 * i, 6)


@func
def make_hessians(m, d, hand, lane: ti.template(), alive):
    """The trees' Hessians, as tree_hessian.py makes them of one."""
    at = hand * d.lanebody
    for b in range(lane.bodies):
        for c in range(LANES):
            if alive[c] == 1:
                put_body(m, d, at + 21 * b, c, lane.world[c] * m.nbody + lane.body0[c] + b)
    hess = hand * d.lanehess - lane.rows
    axes = hand * d.laneaxes
    force = hand * d.lanedof + lane.dofs
    for n in range(lane.bodies):
        b = lane.bodies - 1 - n
        of = at + 21 * b
        for e in range(m.body_dofnum[lane.body + b]):
            i = m.body_dofadr[lane.body + b] + e - lane.first
            six_times(m, d, of, axes + 6 * i, force)
            x = six_products(d.abreast_cdof, axes + 6 * i, d.abreast_x, force)
            for c in ti.static(range(LANES)):
                x[c] = m.dof_armature[lane.world[c], lane.dof0[c] + i] + x[c]
            a = hess + m.dof_Madr[lane.first + i]
            d.abreast_hess[a] = x
            j = m.dof_parentid[lane.first + i]
            while j >= 0:
                a += 1
                d.abreast_hess[a] = six_products(d.abreast_cdof, axes + 6 * (j - lane.first), d.abreast_x, force)
                j = m.dof_parentid[j]
        if b > 0:
            up = at + 21 * (m.body_parentid[lane.body + b] - lane.body)
            for q in range(21):
                d.abreast_body[up + q] = d.abreast_body[up + q] + d.abreast_body[of + q]
    if ti.static(m.has.rows):
        for c in range(LANES):
            if alive[c] == 1:
                place = LANES * hand * d.lanehess + c
                add_row_hessians(m, d, lane.world[c], lane.tree[c], True, False, place, add_in_lane)


@func
def add_in_lane(m, d, place, a, x):
    """Adds x to number a of the Hessians' of a lane, which begin at `place`."""
    at = place // LANES + a
    c = place % LANES
    d.abreast_hess[at][c] = d.abreast_hess[at][c] + x


@func
def put_body(m, d, at, c, wb):
    """The Hessian of the twist of world-major body wb, by rows of its lower triangle, in lane c."""
    ww, vw, vv = hessian_of_body(m, d, wb)
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            d.abreast_body[at + (3 + r) * (4 + r) // 2 + s][c] = vw[r, s]
            if ti.static(s <= r):
                d.abreast_body[at + r * (r + 1) // 2 + s][c] = ww[r, s]
                d.abreast_body[at + (3 + r) * (4 + r) // 2 + 3 + s][c] = vv[r, s]


@func
def six_times(m, d, of, axis, to):
    """abreast_x at `to`: the symmetric 6 x 6 matrices at `of` times the vectors at `axis`."""
    for i in ti.static(range(6)):
        d.abreast_x[to + i] = (
            FP(0.0) + d.abreast_body[of + LOWER[i][0]] * d.abreast_cdof[axis]
            + d.abreast_body[of + LOWER[i][1]] * d.abreast_cdof[axis + 1]
            + d.abreast_body[of + LOWER[i][2]] * d.abreast_cdof[axis + 2]
            + d.abreast_body[of + LOWER[i][3]] * d.abreast_cdof[axis + 3]
            + d.abreast_body[of + LOWER[i][4]] * d.abreast_cdof[axis + 4]
            + d.abreast_body[of + LOWER[i][5]] * d.abreast_cdof[axis + 5]
        )  # fmt: skip


@func
def factor_four(m, d, hand, lane: ti.template()):
    """The Hessians become their factors L' D L, as in tree_hessian.factor_tree."""
    base = hand * d.lanehess - lane.rows
    for n in range(lane.dofs):
        k = lane.first + lane.dofs - 1 - n
        row = m.dof_Madr[k]
        end = lane.rows + lane.numbers
        if n > 0:
            end = m.dof_Madr[k + 1]
        inverse = 1.0 / d.abreast_hess[base + row]
        i = m.dof_parentid[k]
        for a in range(row + 1, end):
            e = d.abreast_hess[base + a] * inverse
            to = base + m.dof_Madr[i] - a
            for q in range(a, end):  # what is left of row k has the places of row i
                d.abreast_hess[to + q] = d.abreast_hess[to + q] - e * d.abreast_hess[base + q]
            d.abreast_hess[base + a] = e
            i = m.dof_parentid[i]


@func
def solve_for(m, d, hand, lane: ti.template()):
    """abreast_x = H^-1 sol_p; returns their products with sol_p."""
    base = hand * d.lanehess
    x0 = hand * d.lanedof
    for k in range(lane.dofs):
        d.abreast_x[x0 + k] = right_side(m, d, lane, k)
    for n in range(lane.dofs):
        k = lane.dofs - 1 - n
        a = base + m.dof_Madr[lane.first + k] - lane.rows
        x = d.abreast_x[x0 + k]
        j = m.dof_parentid[lane.first + k]
        e = a
        while j >= 0:
            e += 1
            to = x0 + j - lane.first
            d.abreast_x[to] = d.abreast_x[to] - d.abreast_hess[e] * x
            j = m.dof_parentid[j]
        d.abreast_x[x0 + k] = x / d.abreast_hess[a]
    s = vec4(0.0)
    for k in range(lane.dofs):
        e = base + m.dof_Madr[lane.first + k] - lane.rows
        x = d.abreast_x[x0 + k]
        j = m.dof_parentid[lane.first + k]
        while j >= 0:
            e += 1
            x = x - d.abreast_hess[e] * d.abreast_x[x0 + j - lane.first]
            j = m.dof_parentid[j]
        d.abreast_x[x0 + k] = x
        s = s + right_side(m, d, lane, k) * x
    return s


@func
def right_side(m, d, lane: ti.template(), k):
    """sol_p of dof k of the trees."""
    x = vec4(0.0)
    for c in ti.static(range(LANES)):
        x[c] = d.sol_p[lane.world[c] * m.nv + lane.dof0[c] + k]
    return x


@func
def take_direction(m, d, hand, lane: ti.template(), c):
    """sol_p is what lane c has found."""
    i0 = lane.world[c] * m.nv + lane.dof0[c]
    for k in range(lane.dofs):
        d.sol_p[i0 + k] = d.abreast_x[hand * d.lanedof + k][c]
