"""Newton's method for large islands, all threads on each, with conjugate gradients for the linear systems.

Work is cut into fixed blocks of trees, contacts and rows (kernels/island.py); sums go over the items of a block, then
over the blocks of an island, always in the same order. Nothing is stored per row and dof: contacts act through the
twists of their bodies. The preconditioner is each tree's own Hessian (kernels/tree_hessian.py). Rounds are those of
kernels/solve_island.py. Seed 000, "Convex solver"; inexact Newton: Dembo, Eisenstat, Steihaug 1982.
"""

from tisim.kernels.constants import DSBL_WARMSTART
from tisim.kernels.island import DOFS
from tisim.kernels.linear_island import ROUGH, factor_block, next_reduction, settled
from tisim.kernels.solve_steps import (
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
from tisim.kernels.types import (
    FP,
    SERIAL,
    SHORT,
    SPREAD,
    func,
    kernel,
    ld6,
    st6,
    ti,
    vec2,
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
def block_sum(first, last, stride, col, sums: ti.template()):
    """Sum of a column over blocks, in order."""
    s = FP(0.0)
    for b in range(first, last):
        s += sums[stride * b + col]
    return s


@func
def step_of(m, d, k):
    """Step of island k; a search that ran out takes one that is too short, but known to descend."""
    alpha = d.isl[16 * k + ALPHA]
    if d.isl_phase[4 * k + SEEK] == 1 and d.isl[16 * k + LO] > 0.0:
        alpha = d.isl[16 * k + LO]
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
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                for e in range(m.tree_table[4 * t + 2], m.tree_table[4 * t + 2] + m.tree_table[4 * t + 3]):
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
            for n in range(d.cblk[3 * b + 1], d.cblk[3 * b + 2]):
                c = d.island_con[n]
                st6(d.con_acc, 3 * c + 1, -ld6(d.con_acc, 3 * c))
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(d.rblk[3 * b + 1], d.rblk[3 * b + 2]):
                r = d.island_row[n]
                d.row_sol[4 * r] = -d.row_f[13 * r + 4]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        d.isl_phase[4 * k + RUN] = 1
        d.isl[16 * k + COST] = 0.0
        d.isl[16 * k + REDUCTION] = ROUGH


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
        if unit % SPREAD == 0 and d.isl_phase[4 * d.tblk[3 * b] + RUN] == 1:
            delta = vec2(0.0)
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                tree_times_M(m, d, w, t, d.sol_p, d.sol_Mp)
                for e in range(m.tree_table[4 * t + 2], m.tree_table[4 * t + 2] + m.tree_table[4 * t + 3]):
                    i = w * m.nv + e
                    delta += vec2(d.sol_p[i] * (d.sol_Ma[i] - d.qfrc_smooth[i]), d.sol_p[i] * d.sol_Mp[i])
            d.tblk_sum[4 * b] = delta[0]
            d.tblk_sum[4 * b + 1] = delta[1]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.cblk[3 * b] + RUN] == 1:
            for n in range(d.cblk[3 * b + 1], d.cblk[3 * b + 2]):
                contact_direction(m, d, d.island_con[n])
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.rblk[3 * b] + RUN] == 1:
            for n in range(d.rblk[3 * b + 1], d.rblk[3 * b + 2]):
                r = d.island_row[n]
                d.row_sol[4 * r + 1] = row_times(m, d, r, d.sol_p)
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        d.isl_phase[4 * k + SEEK] = d.isl_phase[4 * k + RUN] * (1 - whole_step)
        if d.isl_phase[4 * k + RUN] == 1:
            o = 16 * k
            d.isl[o + D1] = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 0, d.tblk_sum)
            d.isl[o + D2] = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 1, d.tblk_sum)
            d.isl[o + ALPHA] = ti.cast(whole_step, FP)
            d.isl[o + LO] = 0.0
            d.isl[o + HI] = -1.0
            d.isl[o + FIRST] = 1.0


@kernel
def search(m, d):
    """One evaluation of the line search, for the zero of the derivative; parallel over blocks."""
    nc = d.ncblk
    nr = d.nrblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        k = d.cblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + SEEK] == 1:
            delta = vec2(0.0)
            for n in range(d.cblk[3 * b + 1], d.cblk[3 * b + 2]):
                delta += contact_line(m, d, d.island_con[n], d.isl[16 * k + ALPHA])
            d.cblk_sum[2 * b] = delta[0]
            d.cblk_sum[2 * b + 1] = delta[1]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        k = d.rblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + SEEK] == 1:
            delta = vec2(0.0)
            for n in range(d.rblk[3 * b + 1], d.rblk[3 * b + 2]):
                delta += row_along(m, d, d.island_row[n], d.isl[16 * k + ALPHA])
            d.rblk_sum[2 * b] = delta[0]
            d.rblk_sum[2 * b + 1] = delta[1]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        o = 16 * k
        if d.isl_phase[4 * k + SEEK] == 1:
            alpha = d.isl[o + ALPHA]
            d1 = d.isl[o + D1] + alpha * d.isl[o + D2]
            d2 = d.isl[o + D2]
            d1 += block_sum(d.island_cblk[2 * k], d.island_cblk[2 * k + 1], 2, 0, d.cblk_sum)
            d2 += block_sum(d.island_cblk[2 * k], d.island_cblk[2 * k + 1], 2, 1, d.cblk_sum)
            d1 += block_sum(d.island_rblk[2 * k], d.island_rblk[2 * k + 1], 2, 0, d.rblk_sum)
            d2 += block_sum(d.island_rblk[2 * k], d.island_rblk[2 * k + 1], 2, 1, d.rblk_sum)
            done = ti.abs(d1) <= m.opt.ls_tolerance * ti.abs(d.isl[o + FIRST]) and d.isl[o + FIRST] <= 0.0
            if d.isl[o + FIRST] > 0.0:  # the first evaluation
                d.isl[o + FIRST] = ti.min(d1, 0.0)
                done = d1 >= 0.0
            if done:
                d.isl_phase[4 * k + SEEK] = 0
            else:
                step = next_alpha(alpha, d.isl[o + LO], d.isl[o + HI], d1, d2)
                d.isl[o + ALPHA] = step[0]
                d.isl[o + LO] = step[1]
                d.isl[o + HI] = step[2]
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += d.isl_phase[4 * d.island_large[n] + SEEK]
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
        k = d.cblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + RUN] == 1:
            s = FP(0.0)
            for n in range(d.cblk[3 * b + 1], d.cblk[3 * b + 2]):
                s += contact_move(m, d, d.island_con[n], step_of(m, d, k))
            d.cblk_sum[2 * b] = s
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        k = d.rblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + RUN] == 1:
            s = FP(0.0)
            for n in range(d.rblk[3 * b + 1], d.rblk[3 * b + 2]):
                s += row_move(m, d, d.island_row[n], step_of(m, d, k))
            d.rblk_sum[2 * b] = s
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = d.tblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + RUN] == 1:
            alpha = step_of(m, d, k)
            s = vec2(0.0)
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                tree_gather(m, d, w, t, d.qfrc_constraint)
                for e in range(m.tree_table[4 * t + 2], m.tree_table[4 * t + 2] + m.tree_table[4 * t + 3]):
                    i = w * m.nv + e
                    d.qacc[i] = d.qacc[i] + alpha * d.sol_p[i]
                    d.sol_Ma[i] = d.sol_Ma[i] + alpha * d.sol_Mp[i]
                    f = d.sol_Ma[i] - d.qfrc_smooth[i]
                    g = f - d.qfrc_constraint[i]
                    d.sol_r[i] = -g
                    s += vec2(0.5 * f * (d.qacc[i] - d.qacc_smooth[i]), g * g)
            d.tblk_sum[4 * b] = s[0]
            d.tblk_sum[4 * b + 1] = s[1]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        if d.isl_phase[4 * k + RUN] == 1:
            cost = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 0, d.tblk_sum)
            cost += block_sum(d.island_cblk[2 * k], d.island_cblk[2 * k + 1], 2, 0, d.cblk_sum)
            cost += block_sum(d.island_rblk[2 * k], d.island_rblk[2 * k + 1], 2, 0, d.rblk_sum)
            scale = 1.0 / (m.stat.meaninertia * ti.cast(d.island_info[10 * k + DOFS], FP))
            norm = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 1, d.tblk_sum)
            gradient = scale * ti.sqrt(norm)
            improvement = scale * (d.isl[16 * k + COST] - cost)
            d.isl[16 * k + COST] = cost
            if newton_round < 0:
                improvement = m.opt.tolerance
            fine = newton_round >= 0 and settled(step_of(m, d, k), gradient, d.island_gradient[k])
            reduction = next_reduction(m, d, newton_round, fine, gradient, improvement, d.isl[16 * k + REDUCTION])
            d.isl[16 * k + REDUCTION] = reduction
            if reduction == 0.0:
                d.isl_phase[4 * k + RUN] = 0
            d.island_niter[k] = ti.max(0, newton_round + 1)
            d.island_cost[k] = cost
            d.island_gradient[k] = gradient
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += d.isl_phase[4 * d.island_large[n] + RUN]
        d.nrun = s


@kernel
def precondition(m, d):
    """Factor of each tree's own Hessian; parallel over blocks."""
    nt = d.ntblk
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.tblk[3 * b] + RUN] == 1:
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                factor_block(m, d, w, t, False)
