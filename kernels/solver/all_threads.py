"""Newton's method for large islands, all threads on each, with conjugate gradients for the linear systems.

Work is cut into blocks (blocks.py); what is done with a block's trees, contacts or rows is in phases.py and the same as
on one thread, and so are the rounds. Nothing is stored per row and dof: contacts act through the twists of their
bodies. The preconditioner is each tree's own Hessian (tree_hessian.py). Seed 000, "Convex solver"; inexact Newton:
Dembo, Eisenstat, Steihaug 1982.

The host queues kernels without looking whether they are due: isl_phase says what an island waits for, a kernel does
nothing where it is something else. So the result does not depend on what is queued. An island's other numbers are
d.isl_*; solver_queue tells the host how many islands are not done, what each round took,
and whether there is an acceleration that is not finite.
"""

from ..constants import QUEUE_BAD, QUEUED_ROUNDS
from ..types import FP, MINVAL, SERIAL, SHORT, SPREAD, func, kernel, ti, vec2, vec3
from .blocks import add_blocks, each, item_sum, tree_sum
from .cg_all import FRESH, project_tree_block
from .phases import (
    move_contacts,
    move_rows,
    move_trees,
    project_contacts,
    project_rows,
    search_contacts,
    search_rows,
    start_contacts,
    start_rows,
    start_trees,
)
from .rounds import DONE, MOVE, PROJECT, ROUGH, SEARCH, START, flat, next_reduction, scale_of, settled
from .statistics import clear_rows, count_rows, tell_round
from .steps import next_alpha


@kernel
def start_round(m, d):
    """Direction from x = 0 to the warm start, or to qacc_smooth without one; parallel over blocks and islands."""
    blocks = (d.ntblk + d.ncblk + d.nrblk + d.nlarge) * SPREAD
    each(m, d, blocks, SERIAL, SPREAD, start_block)


@func
def start_block(m, d, b):
    """A block of trees, of contacts or of rows, or an island; they follow each other."""
    c = b - d.ntblk
    r = c - d.ncblk
    n = r - d.nrblk
    if b < d.ntblk:
        start_trees(m, d, d.tblk_begin[b], d.tblk_end[b])
        project_tree_block(m, d, b)
    elif c < d.ncblk:
        start_contacts(m, d, d.cblk_begin[c], d.cblk_end[c])
    elif n < 0:
        start_rows(m, d, d.rblk_begin[r], d.rblk_end[r])
    else:
        start_island(m, d, n)


@func
def start_island(m, d, n):
    k = d.island_large[n]
    d.isl_phase[k] = MOVE
    d.isl_round[k] = -1
    d.isl_cost[k] = 0.0
    d.isl_reduction[k] = ROUGH
    d.isl_alpha[k] = 1.0
    d.isl_evals[k] = 0
    d.isl_slope[k] = 0.0
    if n == 0:
        d.solver_queue[0] = d.nlarge
        for i in range(1, QUEUE_BAD + 1):
            d.solver_queue[i] = 0


@kernel
def begin_rounds(m, d):
    """The first direction, to the warm start, is gone the whole way; parallel over blocks."""
    trees, items, islands = d.ntblk * SPREAD, (d.ncblk + d.nrblk) * SPREAD, d.nlarge
    blocks = d.ntblk + d.ncblk + d.nrblk
    each(m, d, items, SERIAL, SPREAD, begin_block)
    each(m, d, trees, SERIAL, SPREAD, move_tree_block)
    each(m, d, blocks, SHORT, 1, add_moved_groups)
    each(m, d, blocks, SHORT, 1, add_moved_stretches)
    each(m, d, islands, SHORT, 1, move_island)


@func
def begin_block(m, d, b):
    if b < d.ncblk:
        project_contacts(m, d, d.cblk_begin[b], d.cblk_end[b])
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        project_rows(m, d, False, d.rblk_begin[r], d.rblk_end[r])
    move_block(m, d, b)


@kernel
def project(m, d):
    """The direction through J, and the derivative at the whole step; parallel over blocks. Who found the direction has
    multiplied it by M."""
    items, blocks, islands = (d.ncblk + d.nrblk) * SPREAD, d.ntblk + d.ncblk + d.nrblk, d.nlarge
    each(m, d, items, SERIAL, SPREAD, project_block)
    each(m, d, blocks, SHORT, 1, add_projected_groups)
    each(m, d, blocks, SHORT, 1, add_projected_stretches)
    each(m, d, islands, SHORT, 1, project_island)


@func
def project_block(m, d, b):
    if b < d.ncblk:
        if d.isl_phase[d.cblk_island[b]] == PROJECT:
            project_contacts(m, d, d.cblk_begin[b], d.cblk_end[b])
            search_contact_block(m, d, b, 1.0)
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        if d.isl_phase[d.rblk_island[r]] == PROJECT:
            project_rows(m, d, False, d.rblk_begin[r], d.rblk_end[r])
            search_row_block(m, d, r, 1.0)


@func
def search_contact_block(m, d, b, alpha):
    s = search_contacts(m, d, d.cblk_begin[b], d.cblk_end[b], alpha, vec2(0.0))
    d.cblk_sum[b][0] = s[0]
    d.cblk_sum[b][1] = s[1]


@func
def search_row_block(m, d, r, alpha):
    s = search_rows(m, d, d.rblk_begin[r], d.rblk_end[r], alpha, vec2(0.0))
    d.rblk_sum[r][0] = s[0]
    d.rblk_sum[r][1] = s[1]


@func
def add_projected_groups(m, d, b):
    add_blocks(m, d, b, PROJECT, 3, 2, False)


@func
def add_projected_stretches(m, d, b):
    add_blocks(m, d, b, PROJECT, 3, 2, True)


@func
def project_island(m, d, n):
    """The line search for the zero of the derivative has begun at the whole step."""
    k = d.island_large[n]
    if d.isl_phase[k] == PROJECT:
        d.isl_first[k] = tree_sum(m, d, k, 0)
        d.isl_d1[k] = tree_sum(m, d, k, 1)
        d.isl_d2[k] = tree_sum(m, d, k, 2)
        d.isl_alpha[k] = 1.0
        d.isl_lo[k] = 0.0
        d.isl_hi[k] = -1.0
        d.isl_evals[k] = 0
        search_on(m, d, k)


@func
def search_on(m, d, k):
    """The next step to try on island k, or the end of the search: one that ran out takes a step that is too short, but
    known to descend."""
    alpha = d.isl_alpha[k]
    d.isl_evals[k] = d.isl_evals[k] + 1
    gauss = d.isl_d1[k] + alpha * d.isl_d2[k]
    d1 = gauss + item_sum(m, d, k, 0)
    d2 = d.isl_d2[k] + item_sum(m, d, k, 1)
    d.isl_slope[k] = d1
    d.isl_phase[k] = MOVE
    if d.isl_first[k] >= 0.0:
        d.isl_alpha[k] = 0.0
    elif not flat(m.opt.ls_tolerance, d.isl_first[k], d1, gauss):
        step = next_alpha(alpha, d.isl_lo[k], d.isl_hi[k], d1, d2)
        d.isl_lo[k] = step[1]
        d.isl_hi[k] = step[2]
        d.isl_alpha[k] = step[0]
        if d.isl_evals[k] < m.opt.ls_iterations:
            d.isl_phase[k] = SEARCH
        elif step[1] > 0.0:
            d.isl_alpha[k] = step[1]


@kernel
def search(m, d):
    """Another evaluation of the line search; parallel over blocks."""
    items, blocks, islands = (d.ncblk + d.nrblk) * SPREAD, d.ncblk + d.nrblk, d.nlarge
    each(m, d, items, SERIAL, SPREAD, search_block)
    each(m, d, blocks, SHORT, 1, add_searched_groups)
    each(m, d, blocks, SHORT, 1, add_searched_stretches)
    each(m, d, islands, SHORT, 1, search_island)


@func
def search_block(m, d, b):
    if b < d.ncblk:
        k = d.cblk_island[b]
        if d.isl_phase[k] == SEARCH:
            search_contact_block(m, d, b, d.isl_alpha[k])
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        k = d.rblk_island[r]
        if d.isl_phase[k] == SEARCH:
            search_row_block(m, d, r, d.isl_alpha[k])


@func
def add_searched_groups(m, d, b):
    add_blocks(m, d, d.ntblk + b, SEARCH, 0, 2, False)


@func
def add_searched_stretches(m, d, b):
    add_blocks(m, d, d.ntblk + b, SEARCH, 0, 2, True)


@func
def search_island(m, d, n):
    k = d.island_large[n]
    if d.isl_phase[k] == SEARCH:
        search_on(m, d, k)


@kernel
def move(m, d):
    """Moves along the direction: forces, Hessians, cost, gradient and whether an island has converged."""
    trees, items, islands = d.ntblk * SPREAD, (d.ncblk + d.nrblk) * SPREAD, d.nlarge
    blocks = d.ntblk + d.ncblk + d.nrblk
    each(m, d, items, SERIAL, SPREAD, move_block)
    each(m, d, trees, SERIAL, SPREAD, move_tree_block)
    each(m, d, blocks, SHORT, 1, add_moved_groups)
    each(m, d, blocks, SHORT, 1, add_moved_stretches)
    each(m, d, islands, SHORT, 1, move_island)


@func
def move_block(m, d, b):
    if b < d.ncblk:
        k = d.cblk_island[b]
        if d.isl_phase[k] == MOVE:
            d.cblk_sum[b] = move_contacts(m, d, False, d.cblk_begin[b], d.cblk_end[b], d.isl_alpha[k], vec3(0.0))
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        k = d.rblk_island[r]
        if d.isl_phase[k] == MOVE:
            d.rblk_sum[r] = move_rows(m, d, d.rblk_begin[r], d.rblk_end[r], d.isl_alpha[k], vec3(0.0))


@func
def move_tree_block(m, d, b):
    k = d.tblk_island[b]
    if d.isl_phase[k] == MOVE:
        s = move_trees(m, d, False, d.tblk_begin[b], d.tblk_end[b], d.isl_alpha[k], FP(0.0), d.sol_r)
        for i in ti.static(range(3)):
            d.tblk_sum[b][i] = s[i]


@func
def add_moved_groups(m, d, b):
    add_blocks(m, d, b, MOVE, 3, 3, False)


@func
def add_moved_stretches(m, d, b):
    add_blocks(m, d, b, MOVE, 3, 3, True)


@func
def move_island(m, d, n):
    """Cost and gradient of a large island, and whether there is another round."""
    k = d.island_large[n]
    if d.isl_phase[k] == MOVE:
        newton_round = d.isl_round[k]
        cost = tree_sum(m, d, k, 0)
        cost += item_sum(m, d, k, 0)
        norm = tree_sum(m, d, k, 1)
        scale = scale_of(m, d, k)
        gradient = scale * ti.sqrt(norm)
        improvement = scale * (d.isl_cost[k] - cost)
        tell_island(m, d, k, improvement, gradient)
        if newton_round < 0:
            improvement = m.opt.tolerance
        fine = newton_round >= 0 and settled(d.isl_alpha[k], gradient, d.island_gradient[k])
        reduction = next_reduction(m, d, newton_round, fine, False, gradient, improvement, d.isl_reduction[k])
        d.isl_phase[k] = START
        d.isl_go[k][0] = 1
        if reduction == 0.0 or newton_round + 1 >= m.opt.iterations or not gradient - gradient == 0.0:  # not finite
            d.isl_phase[k] = DONE
            d.isl_go[k][0] = 0
            ti.atomic_sub(d.solver_queue[0], 1)
        d.isl_round[k] = newton_round + 1
        d.isl_rz[k][0] = FRESH
        d.isl_pass[k][0] = 0
        d.isl_pass[k][1] = 0
        d.isl_cost[k] = cost
        d.isl_reduction[k] = reduction
        d.island_niter[k] = newton_round + 1
        d.island_nnz[k] = 0
        d.island_cost[k] = cost
        d.island_gradient[k] = gradient


@func
def tell_island(m, d, k, improvement, gradient):
    """What its blocks have counted of a round."""
    newton_round = d.isl_round[k]
    if newton_round >= 0 and newton_round < QUEUED_ROUNDS:
        at = 1 + 2 * newton_round
        ti.atomic_max(d.solver_queue[at], ti.max(d.isl_pass[k][0], d.isl_pass[k][1]))
        ti.atomic_max(d.solver_queue[at + 1], d.isl_evals[k])
    length = ti.sqrt(tree_sum(m, d, k, 2))
    rows = vec2(0.0)
    for i in ti.static(range(2)):
        rows[i] += item_sum(m, d, k, 1 + i)
    clear_rows(m, d, k, newton_round)
    count_rows(m, d, k, newton_round, ti.cast(rows[0], ti.i32), ti.cast(rows[1], ti.i32))
    slope = scale_of(m, d, k) * ti.abs(d.isl_slope[k]) / ti.max(length, MINVAL)
    tell_round(m, d, k, newton_round, vec3(improvement, gradient, slope), d.isl_evals[k], 1)
