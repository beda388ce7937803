"""Newton's method, one thread for each island.

A small island's Hessian gets a dense Cholesky factor (dense.py); the linear systems of the others, and of those whose
trees touch only static bodies (there the preconditioner is exact), are solved by conjugate gradients (cg_one.py). The
first round moves to the warm start, or to qacc_smooth without one; every later one is a Newton step with an exact line
search. all_threads.py goes through the same phases. Seed 000, "Convex solver"; inexact Newton: Dembo, Eisenstat,
Steihaug 1982.
"""

from ..types import FP, SERIAL, SPREAD, func, kernel, ti, vec2, vec3
from .blocks import each
from .cg_one import solve_linear
from .dense import dense_direction
from .isle import isle_of
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
from .preconditioner import factor_hessian
from .rounds import NEAR, ROUGH, next_reduction, scale_of, settled
from .steps import next_alpha


@kernel
def unconstrained(m, d):
    """Trees without constraints move freely; parallel over dofs."""
    ti.loop_config(serialize=SERIAL)
    for i in range(d.nworld * m.nv):
        d.qacc[i] = d.qacc_smooth[i]
        d.qfrc_constraint[i] = 0.0


@kernel
def solve_island(m, d):
    """qacc and qfrc_constraint of every island that gets one thread; parallel over islands."""
    islands = d.nsmall * SPREAD
    each(m, d, islands, SERIAL, SPREAD, solve_small)


@func
def solve_small(m, d, n):
    """Newton's method on island d.island_small[n]."""
    k = d.island_small[n]
    isle = isle_of(m, d, k)
    scale = scale_of(m, d, k)
    cost, gradient, reduction = FP(0.0), FP(0.0), FP(ROUGH)
    fine = False  # the acting constraints have settled
    niter = 0
    start(m, d, isle)
    newton_round = -1
    while newton_round < m.opt.iterations:
        if newton_round >= 0:
            enough = ti.select(gradient < NEAR * m.opt.tolerance, m.opt.tolerance / scale, FP(0.0))
            if direction(m, d, isle, fine, reduction, enough) == 0:
                break
        slope = project(m, d, isle)
        alpha = FP(1.0)
        if newton_round >= 0:
            alpha = search(m, d, isle, slope)
        there = move(m, d, isle, alpha)
        improvement = scale * (cost - there[0])
        last_gradient = gradient
        cost = there[0]
        gradient = scale * ti.sqrt(there[1])
        niter = newton_round + 1
        if newton_round < 0:
            improvement = m.opt.tolerance
        if isle.dense >= 0 and improvement < m.opt.tolerance:
            break
        fine = newton_round >= 0 and settled(alpha, gradient, last_gradient)
        reduction = next_reduction(m, d, newton_round, fine, gradient, improvement, reduction)
        if reduction == 0.0:
            break
        newton_round += 1
    tell_loss(m, d, isle, gradient)
    d.island_niter[k] = niter
    d.island_cost[k] = cost
    d.island_gradient[k] = gradient


@func
def start(m, d, isle: ti.template()):
    """x = 0, and the first direction."""
    start_trees(m, d, isle.tree0, isle.tree1)
    start_contacts(m, d, isle.con0, isle.con1)
    start_rows(m, d, isle.row0, isle.row1)


@func
def direction(m, d, isle: ti.template(), fine, reduction, enough):
    """Newton's direction, sol_p = H^-1 sol_p. Returns 0 if there is none that is worth a step, as in solve_linear."""
    worth = 1
    if isle.dense >= 0 or not fine:  # conjugate gradients keep their preconditioner once constraints have settled
        for n in range(isle.tree0, isle.tree1):
            factor_hessian(m, d, isle.world, d.island_tree[n] - isle.world * m.ntree, isle.dense >= 0)
    if isle.dense >= 0:
        dense_direction(m, d, isle)
    else:
        worth = solve_linear(m, d, isle, reduction, enough)
    return worth


@func
def project(m, d, isle: ti.template()):
    """The direction through M and J; derivatives along it as in project_trees."""
    slope = project_trees(m, d, isle.tree0, isle.tree1)
    project_contacts(m, d, isle.con0, isle.con1)
    project_rows(m, d, isle.row0, isle.row1)
    return slope


@func
def search(m, d, isle: ti.template(), slope):
    """Exact line search: the step at which the derivative, slope[0] at 0, is zero; slope[1:] is the Gauss term's."""
    step = vec3(1.0, 0.0, -1.0)
    found = False
    for _ in range(m.opt.ls_iterations):
        s = vec2(slope[1] + step[0] * slope[2], slope[2])
        s = search_contacts(m, d, isle.con0, isle.con1, step[0], s)
        s = search_rows(m, d, isle.row0, isle.row1, step[0], s)
        if ti.abs(s[0]) <= m.opt.ls_tolerance * ti.abs(slope[0]):
            found = True
            break
        step = next_alpha(step[0], step[1], step[2], s[0], s[1])
    alpha = step[0]
    if slope[0] >= 0.0:
        alpha = 0.0
    elif not found and step[1] > 0.0:
        alpha = step[1]  # too short, but known to descend
    return alpha


@func
def move(m, d, isle: ti.template(), alpha):
    """Moves along the direction; sol_p becomes -gradient. Returns the cost there and the square of the gradient."""
    cost = move_contacts(m, d, isle.con0, isle.con1, alpha, FP(0.0))
    cost = move_rows(m, d, isle.row0, isle.row1, alpha, cost)
    return move_trees(m, d, isle.tree0, isle.tree1, alpha, cost, d.sol_p)


@func
def tell_loss(m, d, isle: ti.template(), gradient):
    """A gradient that is not finite may not be lost: qacc becomes NaN."""
    if not gradient - gradient == 0.0:  # NaN or infinite; Taichi's != is false for NaN
        for n in range(isle.tree0, isle.tree1):
            t = d.island_tree[n] - isle.world * m.ntree
            for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                d.qacc[isle.world * m.nv + i] = gradient - gradient
