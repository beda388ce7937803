"""Newton's method for large islands, all threads on each, with conjugate gradients for the linear systems.

Work is cut into fixed blocks of trees, contacts and rows (island.py); sums go over the items of a block, then
over the blocks of an island, always in the same order. Nothing is stored per row and dof: contacts act through the
twists of their bodies. The preconditioner is each tree's own Hessian (solver/tree_hessian.py). Rounds are those of
kernels/solver/one_thread.py. Seed 000, "Convex solver"; inexact Newton: Dembo, Eisenstat, Steihaug 1982.
"""

from ..constants import DSBL_WARMSTART
from ..types import (
    FP,
    SERIAL,
    SHORT,
    SPREAD,
    func,
    kernel,
    ti,
    vec2,
)
from .cg_one import ROUGH, factor_block, next_reduction, settled
from .steps import (
    contact_direction,
    contact_line,
    contact_move,
    next_alpha,
    row_along,
    row_move,
    row_times,
    tree_gather,
    tree_times_M,
)

# columns of isl
COST = 0
ALPHA = 1  # step along the direction
LO = 2  # bracket of the line search
HI = 3
FIRST = 4  # derivative at the start of the line search
D1 = 5  # Gauss term of the derivatives along the direction
D2 = 6
RZ = 7  # conjugate gradients: r'z, its first value, step, direction update
RZ0 = 8
STEP = 9
BETA = 10
REDUCTION = 11  # by how much the linear residual is reduced

# columns of isl_phase
RUN = 0  # 1: not converged
SEEK = 1  # 1: inner loop (linear system or line search) not converged


@ti.func
def block_sum(first, last, col: ti.template(), sums: ti.template()):
    """Sum of a column over blocks, in order."""
    s = FP(0.0)
    for b in range(first, last):
        s += sums[b][col]
    return s


@func
def step_of(m, d, k):
    """Step of island k; a search that ran out takes one that is too short, but known to descend."""
    alpha = d.isl_alpha[k]
    if d.isl_seek[k] == 1 and d.isl_lo[k] > 0.0:
        alpha = d.isl_lo[k]
    return alpha


@kernel
def start_round(m, d):
    """Direction from x = 0 to the warm start, or to qacc_smooth without one; parallel over blocks."""
    nt = d.ntblk
    nc = d.ncblk
    nr = d.nrblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(d.tblk_begin[b], d.tblk_end[b]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                    i = w * m.nv + e
                    d.sol_p[i] = ti.select(
                        m.opt.disableflags & DSBL_WARMSTART != 0, d.qacc_smooth[i], d.qacc_warmstart[i]
                    )
                    d.qacc[i] = 0.0
                    d.sol_Ma[i] = 0.0
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(d.cblk_begin[b], d.cblk_end[b]):
                c = d.island_con[n]
                d.con_Jaref[c] = -d.con_aref[c]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(d.rblk_begin[b], d.rblk_end[b]):
                r = d.island_row[n]
                d.row_Jaref[r] = -d.row_aref[r]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        d.isl_run[k] = 1
        d.isl_cost[k] = 0.0
        d.isl_reduction[k] = ROUGH


@kernel
def project(m, d, whole_step: ti.i32):
    """The direction through M and J, and the start of the line search; parallel over blocks."""
    nt = d.ntblk
    nc = d.ncblk
    nr = d.nrblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_run[d.tblk_island[b]] == 1:
            delta = vec2(0.0)
            for n in range(d.tblk_begin[b], d.tblk_end[b]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                tree_times_M(m, d, w, t, d.sol_p, d.sol_Mp)
                for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                    i = w * m.nv + e
                    delta += vec2(d.sol_p[i] * (d.sol_Ma[i] - d.qfrc_smooth[i]), d.sol_p[i] * d.sol_Mp[i])
            d.tblk_sum[b][0] = delta[0]
            d.tblk_sum[b][1] = delta[1]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_run[d.cblk_island[b]] == 1:
            for n in range(d.cblk_begin[b], d.cblk_end[b]):
                contact_direction(m, d, d.island_con[n])
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_run[d.rblk_island[b]] == 1:
            for n in range(d.rblk_begin[b], d.rblk_end[b]):
                r = d.island_row[n]
                d.row_Jp[r] = row_times(m, d, r, d.sol_p)
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        d.isl_seek[k] = d.isl_run[k] * (1 - whole_step)
        if d.isl_run[k] == 1:
            d.isl_d1[k] = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 0, d.tblk_sum)
            d.isl_d2[k] = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 1, d.tblk_sum)
            d.isl_alpha[k] = ti.cast(whole_step, FP)
            d.isl_lo[k] = 0.0
            d.isl_hi[k] = -1.0
            d.isl_first[k] = 1.0


@kernel
def search(m, d):
    """One evaluation of the line search, for the zero of the derivative; parallel over blocks."""
    nc = d.ncblk
    nr = d.nrblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        k = d.cblk_island[b]
        if unit % SPREAD == 0 and d.isl_seek[k] == 1:
            delta = vec2(0.0)
            for n in range(d.cblk_begin[b], d.cblk_end[b]):
                delta += contact_line(m, d, d.island_con[n], d.isl_alpha[k])
            d.cblk_sum[b][0] = delta[0]
            d.cblk_sum[b][1] = delta[1]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        k = d.rblk_island[b]
        if unit % SPREAD == 0 and d.isl_seek[k] == 1:
            delta = vec2(0.0)
            for n in range(d.rblk_begin[b], d.rblk_end[b]):
                delta += row_along(m, d, d.island_row[n], d.isl_alpha[k])
            d.rblk_sum[b][0] = delta[0]
            d.rblk_sum[b][1] = delta[1]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        if d.isl_seek[k] == 1:
            alpha = d.isl_alpha[k]
            d1 = d.isl_d1[k] + alpha * d.isl_d2[k]
            d2 = d.isl_d2[k]
            d1 += block_sum(d.island_cblkadr[k], d.island_cblkend[k], 0, d.cblk_sum)
            d2 += block_sum(d.island_cblkadr[k], d.island_cblkend[k], 1, d.cblk_sum)
            d1 += block_sum(d.island_rblkadr[k], d.island_rblkend[k], 0, d.rblk_sum)
            d2 += block_sum(d.island_rblkadr[k], d.island_rblkend[k], 1, d.rblk_sum)
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
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += d.isl_seek[d.island_large[n]]
        d.nseek = s


@kernel
def move(m, d, newton_round: ti.i32):
    """Moves along the direction: forces, Hessians, cost, gradient and whether an island has converged."""
    nt = d.ntblk
    nc = d.ncblk
    nr = d.nrblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        k = d.cblk_island[b]
        if unit % SPREAD == 0 and d.isl_run[k] == 1:
            s = FP(0.0)
            for n in range(d.cblk_begin[b], d.cblk_end[b]):
                s += contact_move(m, d, d.island_con[n], step_of(m, d, k))
            d.cblk_sum[b][0] = s
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        k = d.rblk_island[b]
        if unit % SPREAD == 0 and d.isl_run[k] == 1:
            s = FP(0.0)
            for n in range(d.rblk_begin[b], d.rblk_end[b]):
                s += row_move(m, d, d.island_row[n], step_of(m, d, k))
            d.rblk_sum[b][0] = s
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = d.tblk_island[b]
        if unit % SPREAD == 0 and d.isl_run[k] == 1:
            alpha = step_of(m, d, k)
            s = vec2(0.0)
            for n in range(d.tblk_begin[b], d.tblk_end[b]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                tree_gather(m, d, w, t, d.qfrc_constraint)
                for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                    i = w * m.nv + e
                    d.qacc[i] = d.qacc[i] + alpha * d.sol_p[i]
                    d.sol_Ma[i] = d.sol_Ma[i] + alpha * d.sol_Mp[i]
                    f = d.sol_Ma[i] - d.qfrc_smooth[i]
                    g = f - d.qfrc_constraint[i]
                    d.sol_r[i] = -g
                    s += vec2(0.5 * f * (d.qacc[i] - d.qacc_smooth[i]), g * g)
            d.tblk_sum[b][0] = s[0]
            d.tblk_sum[b][1] = s[1]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        if d.isl_run[k] == 1:
            cost = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 0, d.tblk_sum)
            cost += block_sum(d.island_cblkadr[k], d.island_cblkend[k], 0, d.cblk_sum)
            cost += block_sum(d.island_rblkadr[k], d.island_rblkend[k], 0, d.rblk_sum)
            scale = 1.0 / (m.stat.meaninertia * ti.cast(d.island_dofnum[k], FP))
            norm = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 1, d.tblk_sum)
            gradient = scale * ti.sqrt(norm)
            improvement = scale * (d.isl_cost[k] - cost)
            d.isl_cost[k] = cost
            if newton_round < 0:
                improvement = m.opt.tolerance
            fine = newton_round >= 0 and settled(step_of(m, d, k), gradient, d.island_gradient[k])
            reduction = next_reduction(m, d, newton_round, fine, gradient, improvement, d.isl_reduction[k])
            d.isl_reduction[k] = reduction
            if reduction == 0.0:
                d.isl_run[k] = 0
            d.island_niter[k] = ti.max(0, newton_round + 1)
            d.island_cost[k] = cost
            d.island_gradient[k] = gradient
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += d.isl_run[d.island_large[n]]
        d.nrun = s


@kernel
def precondition(m, d):
    """Factor of each tree's own Hessian; parallel over blocks."""
    nt = d.ntblk
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_run[d.tblk_island[b]] == 1:
            for n in range(d.tblk_begin[b], d.tblk_end[b]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                factor_block(m, d, w, t, False)
