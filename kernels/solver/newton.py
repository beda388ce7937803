"""Newton's method on islands: a small one is one worker's, a large one a team's, all of whom walk through it together.

A small island's Hessian gets a factor, a sparse one (island_factor.py) or a dense one (dense.py). Where nothing couples
its trees or branches those of its trees are exact; the linear systems of the others are solved by conjugate gradients
(cg.py), which have these as preconditioner. The first round moves from 0 towards the warm start, or qacc_smooth without
one: with a dense factor the whole way, else as far as the cost falls. Every later one is a Newton step with an exact
line search. all_threads.py goes through the same phases, and begins with the whole way. Seed 000, "Convex solver";
inexact Newton: Dembo, Eisenstat, Steihaug 1982.

A worker of a team (../team.py) takes blocks of trees, contacts and rows, in each phase perhaps others (isle.py). It
reads what others wrote only after a `meet` behind that, and a sum is written anew only after a `meet` behind its
reading. Columns of the sums are apart, so that the meetings between phases suffice for both.
"""

from ..constraint.island import BLOCK
from ..sleep.awake import dof_at, dof_count
from ..team import come, crew, join, meet, piece_size, take_near
from ..types import FP, GPU, HAND, MINVAL, SERIAL, called, func, kernel, ti, vec2, vec3
from .articulated import articulated_direction, couple_bodies, has_products, has_slots, worker_of
from .body_order import eliminate_bodies
from .cg import solve_apart, solve_linear
from .dense import dense_direction
from .elimination import eliminate
from .incomplete import BORDER, HOLDS, arrange, factor_halves
from .island_factor import blocks_of, factored_direction
from .isle import Isle, first_block, isle_of, keep, next_block, stretch, sum_of
from .lone import is_lone
from .packed import (
    leave_seats,
    packed_factor,
    packed_move_contacts,
    packed_move_trees,
    packed_project_contacts,
    packed_project_trees,
    packed_search,
    sit_contacts,
    sit_trees,
    take_seats,
)
from .phases import (
    move_contacts,
    move_rows,
    move_trees,
    project_contacts,
    project_rows,
    project_trees,
    search_contacts,
    search_rows,
    start_contacts,
    start_rows,
    start_trees,
)
from .preconditioner import factor_hessians
from .rounds import NEAR, ROUGH, flat, next_reduction, scale_of, settled
from .statistics import clear_rows, count_rows, tell_round
from .steps import next_alpha

SLOPE, COST, GRADIENT, LENGTH = 2, 5, 6, 7  # columns of tree_sum; those before are cg.py's
PLACES, MOVED = 2, 4  # columns of con_sum and row_sum: of one evaluation in a line search, of two in turn; then cost


@kernel
def unconstrained(m, d):
    """Trees without constraints move freely; parallel over dofs."""
    n = dof_count(m, d)
    ti.loop_config(serialize=SERIAL)
    for k in range(n):
        i = dof_at(m, d, k)
        d.qacc[i] = d.qacc_smooth[i]
        d.qfrc_constraint[i] = 0.0


@kernel
def solve_islands(m, d):
    """qacc and qfrc_constraint of the islands: d.nhand workers share out the small ones, then up to d.nworker walk
    through the large ones together, if there are any and nworker is not 0."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, newton_work)


@func
def newton_work(m, d, hand):
    """A worker's part."""
    solve_all(m, d, hand, solve)


@func
def solve_all(m, d, hand, act: ti.template()):
    """What one of d.nhand workers does, by act(m, d, island, number in the team, size of the team). One call of act,
    which is long, serves both kinds of islands. Small ones are taken by neighbours, whose bodies share cache lines."""
    come(m, d)
    me, size, together = 0, 1, 0
    many = piece_size(d.nisland)
    pieces = (d.nisland + many - 1) // many
    turn = take_near(m, d, hand, pieces) * many
    behind = turn + many
    more = True
    while more:
        if turn == behind and together == 0:
            turn = take_near(m, d, hand, pieces) * many
            behind = turn + many
        if turn >= d.nisland and together == 0:  # the small ones are all taken
            turn, together, size = 0, 1, 0
            if d.nlarge > 0:
                me, size = join(m, d, d.nworker)
                me = ti.select(size == d.nhand, hand, me)  # all are here: each has what was near it before
        more = size > 0 and turn < d.nisland
        if more:
            if ti.select(d.nworker < 0, 0, ti.min(1, d.island_shared[turn])) == together:
                act(m, d, turn, me, size)
            turn += 1


@func
def solve(m, d, k, me, size):
    """Newton's method on island k, unless lone.py or abreast.py has solved it."""
    if not (is_lone(m, d, k) or is_abreast(m, d, k)):
        solve_trees(m, d, k, me, size)


@func
def is_abreast(m, d, k):
    """Whether island k is solved side by side with others: one tree with joints, whose branches nothing couples."""
    abreast = False
    if ti.static(m.has.jointed and not GPU):
        if d.abreast == 1:
            if d.island_treenum[k] == 1 and d.island_coupled[k] == 0:
                abreast = m.tree_free[d.island_tree[d.island_treeadr[k]] % m.ntree] == 0
    return abreast


@func
def solve_trees(m, d, k, me, size):
    """The same of an island of any trees."""
    isle = isle_of(m, d, k, me, size, GPU)
    scale = scale_of(m, d, k)
    cost, gradient, reduction = FP(0.0), FP(0.0), FP(ROUGH)
    fine = False  # the acting constraints have settled
    niter, nproduct = 0, 0
    if isle.factor >= 0:
        order_factor(m, d, k, isle)
    if ti.static(m.has.rows):
        if isle.part >= 0:
            if arrange(m, d, k, isle) == 0:
                isle.part = -1
    start(m, d, isle)
    newton_round = -1
    while newton_round < m.opt.iterations:
        factors = 0
        if isle.me == 0:
            clear_rows(m, d, k, newton_round)
        if newton_round >= 0:
            factors = ti.select(is_direct(isle) or not fine, 1, 0)
            enough = ti.select(gradient < NEAR * m.opt.tolerance, m.opt.tolerance / scale, FP(0.0))
            worth = direction(m, d, k, isle, fine, reduction, enough, newton_round > 0)
            if worth == 0:
                break
            if not is_direct(isle):
                nproduct += worth
        slope = project(m, d, isle, newton_round >= 0 and has_products(isle))
        line = vec3(1.0, 0.0, 0.0)
        if newton_round >= 0 or isle.dense < 0:
            line = search(m, d, isle, slope, newton_round < 0)
        alpha = line[0]
        there = move(m, d, k, isle, newton_round, alpha)
        improvement = scale * (cost - there[0])
        last_gradient = gradient
        cost = there[0]
        gradient = scale * ti.sqrt(there[1])
        niter = newton_round + 1
        if isle.me == 0:
            values = vec3(improvement, gradient, scale * slope_there(line, there))
            tell_round(m, d, k, newton_round, values, ti.cast(line[2], ti.i32), factors)
        if newton_round < 0:
            improvement = m.opt.tolerance
        last = is_direct(isle) and improvement < m.opt.tolerance
        if ti.static(FP == ti.f32):  # the cost has not the digits to tell: the gradient does
            last = last and isle.apart == 0
        if last:
            break
        fine = newton_round >= 0 and settled(alpha, gradient, last_gradient)
        reduction = next_reduction(m, d, newton_round, fine, isle.part >= 0, gradient, improvement, reduction)
        if reduction == 0.0:
            break
        newton_round += 1
    if ti.static(m.has.packed):
        if isle.packed == 1:
            leave_seats(m, d, isle)
    tell_loss(m, d, isle, gradient)
    if isle.me == 0:
        d.island_niter[k] = niter
        d.island_nproduct[k] = nproduct
        d.island_nnz[k] = numbers_of(m, d, isle)
        d.island_cost[k] = cost
        d.island_gradient[k] = gradient


@func
def order_factor(m, d, k, isle: ti.template()):
    """Order and blocks of the sparse factor of island k, by one worker; isle.factor becomes -1 if there is no room."""
    if isle.me == 0:
        fits = 0
        if ti.static(m.has.jointed and not m.has.heavy):
            if d.island_single[k] == 0:
                isle.bodies = eliminate_bodies(m, d, k, isle)
                fits = isle.bodies
                isle.nodes = ti.select(fits == 1, isle.nodes, d.island_nodenum[k])
        if fits == 0:
            fits = eliminate(m, d, isle)
        isle.factor = ti.select(fits == 1, isle.factor, -1)
    if ti.static(m.has.jointed):  # free bodies alone are not shared where they have a factor
        if isle.me == 0:
            d.island_half[k][HOLDS] = ti.select(isle.factor >= 0, 1 + isle.bodies * d.island_half[k][HOLDS], 0)
        meet(m, d, isle.me, isle.size)
        isle.bodies = d.island_half[k][HOLDS] // 2
        isle.nodes = ti.select(isle.bodies == 1, d.island_bodynum[k], d.island_nodenum[k])
        isle.factor = ti.select(d.island_half[k][HOLDS] > 0, isle.factor, -1)
        if isle.bodies == 1 and isle.size == 2:  # each the trees of his half, whose numbers are near him
            border = d.island_half[k][BORDER] // isle.trees.step
            isle.trees.pace = 1
            first = isle.me == worker_of(m, d, k, isle, 0)
            isle.trees.mine = ti.select(first, 0, border)
            isle.trees.behind = ti.select(first, border, isle.trees.blocks)


@ti.func
def is_direct(isle: ti.template()):
    """Whether its linear systems are solved by a factor."""
    return isle.dense >= 0 or isle.factor >= 0 or isle.apart == 1


@func
def numbers_of(m, d, isle: ti.template()):
    """Numbers of the Hessian, as its factor holds them."""
    n = 0
    if isle.dense >= 0:
        n = isle.ndof * isle.ndof
    elif isle.factor >= 0:
        n = BLOCK * (2 * blocks_of(m, d, isle) + isle.nodes)
    return n


@func
def start(m, d, isle: ti.template()):
    """x = 0, and the first direction."""
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:
            start_trees(m, d, first, last)
        elif ti.static(m.has.packed):
            sit_trees(m, d, isle.world, first, last)
        b = next_block(m, d, isle, isle.trees, b)
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        if isle.packed == 0:
            start_contacts(m, d, first, last)
        elif ti.static(m.has.packed):
            sit_contacts(m, d, isle.world, first, last)
        b = next_block(m, d, isle, isle.cons, b)
    if ti.static(m.has.rows):
        b = first_block(m, d, isle, isle.rows)
        while b < isle.rows.blocks:
            first, last = stretch(isle.rows, b)
            start_rows(m, d, first, last)
            b = next_block(m, d, isle, isle.rows, b)
    meet(m, d, isle.me, isle.size)
    if ti.static(m.has.packed):
        if isle.packed == 1:
            take_seats(m, d, isle)


@func
def direction(m, d, k, isle: ti.template(), fine, reduction, enough, again):
    """Newton's direction, sol_p = H^-1 sol_p. Returns 0 if there is none that is worth a step, as in solve_linear.

    again  not the first one of this solve.
    """
    worth = 1
    in_dofs = isle.dense >= 0
    exact = isle.factor >= 0
    due = is_direct(isle) or not fine  # conjugate gradients keep their preconditioner once constraints have settled
    while due:
        due = False
        raw = exact or isle.part >= 0
        if ti.static(m.has.jointed and not m.has.heavy):
            if isle.bodies == 1:
                again = again and has_slots(m, d, isle)
                couple_bodies(m, d, k, isle, again)
        b = first_block(m, d, isle, isle.trees)
        while b < isle.trees.blocks:
            first, last = stretch(isle.trees, b)
            if isle.packed == 0:
                factor_hessians(m, d, isle, first, last, in_dofs, raw, again)
            elif ti.static(m.has.packed):
                packed_factor(m, d, isle.world, first, last)
            b = next_block(m, d, isle, isle.trees, b)
        meet(m, d, isle.me, isle.size)
        if ti.static(m.has.rows):
            if isle.part >= 0:
                if factor_halves(m, d, k, isle) == 0:  # it is that of trees instead
                    isle.part = -1
                    due = True
    if exact:
        if isle.bodies == 0:
            if isle.me == 0:
                factored_direction(m, d, isle)
            meet(m, d, isle.me, isle.size)
        elif ti.static(m.has.jointed and not m.has.heavy):
            articulated_direction(m, d, k, isle)
    elif isle.apart == 1:
        worth = solve_apart(m, d, isle, enough)
    elif not in_dofs:
        worth = solve_linear(m, d, k, isle, reduction, enough)
    elif ti.static(m.has.dense):
        dense_direction(m, d, isle)
    return worth


@called("jointed")
def project(m, d, isle: Isle, there: ti.u1) -> vec3:
    """The direction through M and J; derivatives along it, and `there`, as in project_trees."""
    slope = vec3(0.0)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:
            slope = project_trees(m, d, there, first, last)
        elif ti.static(m.has.packed):
            slope = packed_project_trees(m, d, isle.world, first, last)
        for i in ti.static(range(3)):
            keep(isle.trees, b, SLOPE + i, slope[i], d.tree_sum)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    if isle.large == 1:
        for i in ti.static(range(3)):
            slope[i] = sum_of(isle.trees, SLOPE + i, d.tree_sum)
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        if isle.packed == 0:
            project_contacts(m, d, first, last)
        elif ti.static(m.has.packed):
            packed_project_contacts(m, d, first, last)
        b = next_block(m, d, isle, isle.cons, b)
    if ti.static(m.has.rows):
        b = first_block(m, d, isle, isle.rows)
        while b < isle.rows.blocks:
            first, last = stretch(isle.rows, b)
            project_rows(m, d, isle.bodies == 1, first, last)
            b = next_block(m, d, isle, isle.rows, b)
    meet(m, d, isle.me, isle.size)
    return slope


@called("jointed")
def search(m, d, isle: Isle, slope: vec3, first: ti.u1) -> vec3:
    """Exact line search: the step at which the derivative, slope[0] at 0, is zero; slope[1:] is the Gauss term's.
    Returns the step, the derivative where it was evaluated last, and how often it was.

    first  slope[0] is not known yet.
    """
    step = vec3(ti.select(first, FP(0.0), FP(1.0)), 0.0, -1.0)
    found = False
    begin = slope[0]
    last, evaluations = begin, 0
    for i in range(m.opt.ls_iterations):
        s = derivatives(m, d, isle, slope, step[0], PLACES * (i % 2))
        if first and i == 0:
            begin = s[0]
        last, evaluations = s[0], i + 1
        if flat(m.opt.ls_tolerance, begin, s[0], slope[1] + step[0] * slope[2]):
            found = True
            break
        step = next_alpha(step[0], step[1], step[2], s[0], s[1])
    alpha = step[0]
    if begin >= 0.0:
        alpha = 0.0
    elif not found and step[1] > 0.0:
        alpha = step[1]  # too short, but known to descend
    return vec3(alpha, last, evaluations)


@ti.func
def slope_there(line, there):
    """Derivative at the end of the line search, along the direction of length 1."""
    return ti.abs(line[1]) / ti.max(ti.sqrt(there[2]), MINVAL)


@func
def derivatives(m, d, isle: ti.template(), slope, alpha, column):
    """First and second derivative of the cost at the step alpha."""
    gauss = vec2(slope[1] + alpha * slope[2], slope[2])
    s = gauss
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        if isle.large == 1:
            s = vec2(0.0)
        first, last = stretch(isle.cons, b)
        if isle.packed == 0:
            s = search_contacts(m, d, first, last, alpha, s)
        elif ti.static(m.has.packed):
            s = packed_search(m, d, first, last, alpha, s)
        for i in ti.static(range(2)):
            keep(isle.cons, b, column + i, s[i], d.con_sum)
        b = next_block(m, d, isle, isle.cons, b)
    if ti.static(m.has.rows):
        b = first_block(m, d, isle, isle.rows)
        while b < isle.rows.blocks:
            if isle.large == 1:
                s = vec2(0.0)
            first, last = stretch(isle.rows, b)
            s = search_rows(m, d, first, last, alpha, s)
            for i in ti.static(range(2)):
                keep(isle.rows, b, column + i, s[i], d.row_sum)
            b = next_block(m, d, isle, isle.rows, b)
    meet(m, d, isle.me, isle.size)
    if isle.large == 1:
        s = gauss
        for i in ti.static(range(2)):
            s[i] += sum_of(isle.cons, column + i, d.con_sum)
            if ti.static(m.has.rows):
                s[i] += sum_of(isle.rows, column + i, d.row_sum)
    return s


@called("jointed")
def move(m, d, k: ti.i32, isle: Isle, n: ti.i32, alpha: FP) -> vec3:
    """Moves along the direction; sol_p becomes -gradient. Returns the cost there, and the squares of the gradient and
    of the direction. n: round, for which rows are counted."""
    s = vec3(0.0)
    rows = vec2(0.0)
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        if isle.packed == 0:
            s = move_contacts(m, d, isle.bodies == 1, first, last, alpha, vec3(0.0))
        elif ti.static(m.has.packed):
            s = packed_move_contacts(m, d, first, last, alpha, vec3(0.0))
        rows += vec2(s[1], s[2])
        keep(isle.cons, b, MOVED, s[0], d.con_sum)
        b = next_block(m, d, isle, isle.cons, b)
    if ti.static(m.has.rows):
        b = first_block(m, d, isle, isle.rows)
        while b < isle.rows.blocks:
            first, last = stretch(isle.rows, b)
            s = move_rows(m, d, first, last, alpha, vec3(ti.select(isle.large == 1, FP(0.0), s[0]), 0.0, 0.0))
            rows += vec2(s[1], s[2])
            keep(isle.rows, b, MOVED, s[0], d.row_sum)
            b = next_block(m, d, isle, isle.rows, b)
    count_rows(m, d, k, n, ti.cast(rows[0], ti.i32), ti.cast(rows[1], ti.i32))
    meet(m, d, isle.me, isle.size)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:
            from_here = ti.select(isle.large == 1, FP(0.0), s[0])
            s = move_trees(m, d, isle.bodies == 1, first, last, alpha, from_here, d.sol_p)
        elif ti.static(m.has.packed):
            s = packed_move_trees(m, d, isle.world, first, last, alpha)
        keep(isle.trees, b, COST, s[0], d.tree_sum)
        keep(isle.trees, b, GRADIENT, s[1], d.tree_sum)
        keep(isle.trees, b, LENGTH, s[2], d.tree_sum)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    if isle.large == 1:
        s[0] = sum_of(isle.trees, COST, d.tree_sum) + sum_of(isle.cons, MOVED, d.con_sum)
        s[1] = sum_of(isle.trees, GRADIENT, d.tree_sum)
        s[2] = sum_of(isle.trees, LENGTH, d.tree_sum)
        if ti.static(m.has.rows):
            s[0] += sum_of(isle.rows, MOVED, d.row_sum)
    return s


@func
def tell_loss(m, d, isle: ti.template(), gradient):
    """A gradient that is not finite may not be lost: qacc becomes NaN."""
    if isle.me == 0 and not gradient - gradient == 0.0:  # NaN or infinite; Taichi's != is false for NaN
        for n in range(isle.trees.begin, isle.trees.end):
            t = d.island_tree[n] - isle.world * m.ntree
            for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                d.qacc[isle.world * m.nv + i] = gradient - gradient
