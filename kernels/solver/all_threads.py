"""Newton's method for large islands, all threads on each, with conjugate gradients for the linear systems.

Work is cut into blocks (blocks.py); what is done with a block's trees, contacts or rows is in phases.py and the same as
on one thread, and so are the rounds. Nothing is stored per row and dof: contacts act through the twists of their
bodies. The preconditioner is each tree's own Hessian (tree_hessian.py). An island's own numbers are d.isl_*; isl_run is
1 until it has converged, isl_seek until its inner loop has. Seed 000, "Convex solver"; inexact Newton: Dembo,
Eisenstat, Steihaug 1982.
"""

from ..types import FP, MINVAL, SERIAL, SHORT, SPREAD, at6, func, kernel, put6, ti, vec2, vec3
from .blocks import add_blocks, add_tree_blocks, each, group_count, groups_of, item_sum, tree_sum
from .free_body import dofs_of_twist
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
from .rounds import ROUGH, next_reduction, scale_of, settled
from .statistics import clear_rows, count_rows, tell_round
from .steps import next_alpha


@kernel
def start_round(m, d):
    """Direction from x = 0 to the warm start, or to qacc_smooth without one; parallel over blocks."""
    trees, items, islands = d.ntblk * SPREAD, (d.ncblk + d.nrblk) * SPREAD, d.nlarge
    each(m, d, trees, SERIAL, SPREAD, start_tree_block)
    each(m, d, items, SERIAL, SPREAD, start_block)
    each(m, d, islands, SHORT, 1, start_island)


@func
def start_tree_block(m, d, b):
    start_trees(m, d, d.tblk_begin[b], d.tblk_end[b])


@func
def start_block(m, d, b):
    """A block of contacts, or of rows, which follow these."""
    if b < d.ncblk:
        start_contacts(m, d, d.cblk_begin[b], d.cblk_end[b])
    else:
        r = b - d.ncblk
        start_rows(m, d, d.rblk_begin[r], d.rblk_end[r])


@func
def start_island(m, d, n):
    k = d.island_large[n]
    d.isl_run[k] = 1
    d.isl_cost[k] = 0.0
    d.isl_reduction[k] = ROUGH


@kernel
def precondition(m, d):
    """Factor of each tree's own Hessian; parallel over blocks."""
    trees = d.ntblk * SPREAD
    each(m, d, trees, SERIAL, SPREAD, factor_tree_block)


@func
def factor_tree_block(m, d, b):
    if d.isl_run[d.tblk_island[b]] == 1:
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            factor_hessian(m, d, w, d.island_tree[n] - w * m.ntree, False, False)


@kernel
def project(m, d, whole_step: ti.i32):
    """The direction through M and J, and the start of the line search; parallel over blocks."""
    trees, items, islands = d.ntblk * SPREAD, (d.ncblk + d.nrblk) * SPREAD, d.nlarge
    groups = groups_of(d.ntblk)
    ti.loop_config(serialize=SERIAL)
    for unit in range(trees):
        if unit % SPREAD == 0:
            project_tree_block(m, d, unit // SPREAD, whole_step)
    each(m, d, items, SERIAL, SPREAD, project_block)
    each(m, d, groups, SHORT, 1, add_tree_blocks)
    ti.loop_config(serialize=SHORT)
    for n in range(islands):
        project_island(m, d, n, whole_step)


@func
def project_tree_block(m, d, b, whole_step):
    """The direction that conjugate gradients found is one of dofs from here on, for single bodies too."""
    if d.isl_run[d.tblk_island[b]] == 1:
        if whole_step == 0:
            w = d.island_tree[d.tblk_begin[b]] // m.ntree
            for n in range(d.tblk_begin[b], d.tblk_end[b]):
                if d.tree_single[d.island_tree[n]] == 1:
                    i0 = w * m.nv + m.tree_dofadr[d.island_tree[n] - w * m.ntree]
                    put6(d.sol_p, i0, dofs_of_twist(m, d, i0, at6(d.sol_p, i0)))
        s = project_trees(m, d, d.tblk_begin[b], d.tblk_end[b])
        d.tblk_sum[b][0] = s[1]
        d.tblk_sum[b][1] = s[2]


@func
def project_block(m, d, b):
    if b < d.ncblk:
        if d.isl_run[d.cblk_island[b]] == 1:
            project_contacts(m, d, d.cblk_begin[b], d.cblk_end[b])
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        if d.isl_run[d.rblk_island[r]] == 1:
            project_rows(m, d, d.rblk_begin[r], d.rblk_end[r])


@func
def project_island(m, d, n, whole_step):
    k = d.island_large[n]
    d.isl_seek[k] = d.isl_run[k] * (1 - whole_step)
    if d.isl_run[k] == 1:
        d.isl_d1[k] = tree_sum(m, d, k, 0)
        d.isl_d2[k] = tree_sum(m, d, k, 1)
        d.isl_alpha[k] = ti.cast(whole_step, FP)
        d.isl_lo[k] = 0.0
        d.isl_hi[k] = -1.0
        d.isl_first[k] = 1.0
        d.isl_slope[k] = 0.0
        d.isl_evals[k] = 0


@kernel
def search(m, d):
    """One evaluation of the line search, for the zero of the derivative; parallel over blocks."""
    items, groups, islands = (d.ncblk + d.nrblk) * SPREAD, group_count(m, d), d.nlarge
    d.nseek = 0
    each(m, d, items, SERIAL, SPREAD, search_block)
    each(m, d, groups, SHORT, 1, add_blocks)
    each(m, d, islands, SHORT, 1, search_island)


@func
def search_block(m, d, b):
    if b < d.ncblk:
        k = d.cblk_island[b]
        if d.isl_seek[k] == 1:
            s = search_contacts(m, d, d.cblk_begin[b], d.cblk_end[b], d.isl_alpha[k], vec2(0.0))
            d.cblk_sum[b][0] = s[0]
            d.cblk_sum[b][1] = s[1]
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        k = d.rblk_island[r]
        if d.isl_seek[k] == 1:
            s = search_rows(m, d, d.rblk_begin[r], d.rblk_end[r], d.isl_alpha[k], vec2(0.0))
            d.rblk_sum[r][0] = s[0]
            d.rblk_sum[r][1] = s[1]


@func
def search_island(m, d, n):
    """The next step to try, or the end of the search."""
    k = d.island_large[n]
    if d.isl_seek[k] == 1:
        alpha = d.isl_alpha[k]
        d.isl_evals[k] = d.isl_evals[k] + 1
        d1 = d.isl_d1[k] + alpha * d.isl_d2[k]
        d2 = d.isl_d2[k]
        d1 += item_sum(m, d, k, 0)
        d2 += item_sum(m, d, k, 1)
        d.isl_slope[k] = d1
        done = ti.abs(d1) <= m.opt.ls_tolerance * ti.abs(d.isl_first[k]) and d.isl_first[k] <= 0.0
        if d.isl_first[k] > 0.0:  # the first evaluation
            d.isl_first[k] = ti.min(d1, 0.0)
            done = d1 >= 0.0
        if done:
            d.isl_seek[k] = 0
        else:
            step = next_alpha(alpha, d.isl_lo[k], d.isl_hi[k], d1, d2)
            d.isl_alpha[k] = step[0]
            d.isl_lo[k] = step[1]
            d.isl_hi[k] = step[2]
            ti.atomic_add(d.nseek, 1)


@kernel
def move(m, d, newton_round: ti.i32):
    """Moves along the direction: forces, Hessians, cost, gradient and whether an island has converged."""
    trees, items, islands = d.ntblk * SPREAD, (d.ncblk + d.nrblk) * SPREAD, d.nlarge
    groups = group_count(m, d)
    d.nrun = 0
    each(m, d, items, SERIAL, SPREAD, move_block)
    each(m, d, trees, SERIAL, SPREAD, move_tree_block)
    each(m, d, groups, SHORT, 1, add_blocks)
    ti.loop_config(serialize=SHORT)
    for n in range(islands):
        move_island(m, d, n, newton_round)


@func
def move_block(m, d, b):
    if b < d.ncblk:
        k = d.cblk_island[b]
        if d.isl_run[k] == 1:
            d.cblk_sum[b] = move_contacts(m, d, d.cblk_begin[b], d.cblk_end[b], step_of(m, d, k), vec3(0.0))
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        k = d.rblk_island[r]
        if d.isl_run[k] == 1:
            d.rblk_sum[r] = move_rows(m, d, d.rblk_begin[r], d.rblk_end[r], step_of(m, d, k), vec3(0.0))


@func
def move_tree_block(m, d, b):
    k = d.tblk_island[b]
    if d.isl_run[k] == 1:
        s = move_trees(m, d, d.tblk_begin[b], d.tblk_end[b], step_of(m, d, k), FP(0.0), d.sol_r)
        for i in ti.static(range(3)):
            d.tblk_sum[b][i] = s[i]


@func
def step_of(m, d, k):
    """Step of island k; a search that ran out takes one that is too short, but known to descend."""
    alpha = d.isl_alpha[k]
    if d.isl_seek[k] == 1 and d.isl_lo[k] > 0.0:
        alpha = d.isl_lo[k]
    return alpha


@func
def move_island(m, d, n, newton_round):
    """Cost and gradient of a large island, and whether there is another round."""
    k = d.island_large[n]
    if d.isl_run[k] == 1:
        cost = tree_sum(m, d, k, 0)
        cost += item_sum(m, d, k, 0)
        norm = tree_sum(m, d, k, 1)
        scale = scale_of(m, d, k)
        gradient = scale * ti.sqrt(norm)
        improvement = scale * (d.isl_cost[k] - cost)
        tell_island(m, d, k, newton_round, improvement, gradient)
        if newton_round < 0:
            improvement = m.opt.tolerance
        fine = newton_round >= 0 and settled(step_of(m, d, k), gradient, d.island_gradient[k])
        reduction = next_reduction(m, d, newton_round, fine, gradient, improvement, d.isl_reduction[k])
        if reduction == 0.0:
            d.isl_run[k] = 0
        else:
            ti.atomic_add(d.nrun, 1)
        d.isl_cost[k] = cost
        d.isl_reduction[k] = reduction
        d.island_niter[k] = ti.max(0, newton_round + 1)
        d.island_nnz[k] = 0
        d.island_cost[k] = cost
        d.island_gradient[k] = gradient


@func
def tell_island(m, d, k, newton_round, improvement, gradient):
    """What its blocks have counted of a round."""
    length = ti.sqrt(tree_sum(m, d, k, 2))
    rows = vec2(0.0)
    for i in ti.static(range(2)):
        rows[i] += item_sum(m, d, k, 1 + i)
    clear_rows(m, d, k, newton_round)
    count_rows(m, d, k, newton_round, ti.cast(rows[0], ti.i32), ti.cast(rows[1], ti.i32))
    slope = scale_of(m, d, k) * ti.abs(d.isl_slope[k]) / ti.max(length, MINVAL)
    tell_round(m, d, k, newton_round, vec3(improvement, gradient, slope), d.isl_evals[k], 1)
