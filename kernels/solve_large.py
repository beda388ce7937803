"""Newton's method for large islands, all threads on each, with conjugate gradients for the linear systems.

Work is cut into fixed blocks of trees, contacts and rows (kernels/island.py); sums go over the items of a block, then
over the blocks of an island, always in the same order. Nothing is stored per row and dof: contacts act through the
twists of their bodies. The preconditioner is each tree's own Hessian (kernels/tree_hessian.py). Rounds are those of
kernels/solve_island.py. Seed 000, "Convex solver"; inexact Newton: Dembo, Eisenstat, Steihaug 1982.
"""

from tisim.kernels.constants import DSBL_WARMSTART, NCBLK, NLARGE, NRBLK, NRUN, NSEEK, NTBLK
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
from tisim.kernels.types import FP, SERIAL, SHORT, SPREAD, F, I, kernel, ld6, st6, ti, vec2

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


@ti.func
def step_of(k, isl: ti.template(), isl_phase: ti.template()):
    """Step of island k; a search that ran out takes one that is too short, but known to descend."""
    alpha = isl[16 * k + ALPHA]
    if isl_phase[4 * k + SEEK] == 1 and isl[16 * k + LO] > 0.0:
        alpha = isl[16 * k + LO]
    return alpha


@kernel
def start_round(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, disableflags: ti.i32, tree_table: I, counts: I,
    qacc_smooth: F, qacc_warmstart: F, row_f: F, island_tree: I, island_con: I, island_row: I, island_large: I,
    tblk: I, cblk: I, rblk: I, con_acc: F, row_sol: F, qacc: F, sol_Ma: F, sol_p: F, isl: F, isl_phase: I,
):  # fmt: skip
    """Direction from x = 0 to the warm start, or to qacc_smooth without one; parallel over blocks."""
    nt = counts[NTBLK]
    nc = counts[NCBLK]
    nr = counts[NRBLK]
    nl = counts[NLARGE]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                    i = w * nv + e
                    sol_p[i] = ti.select((disableflags & DSBL_WARMSTART) != 0, qacc_smooth[i], qacc_warmstart[i])
                    qacc[i] = 0.0
                    sol_Ma[i] = 0.0
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(cblk[3 * b + 1], cblk[3 * b + 2]):
                c = island_con[n]
                st6(con_acc, 3 * c + 1, -ld6(con_acc, 3 * c))
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        if unit % SPREAD == 0:
            b = unit // SPREAD
            for n in range(rblk[3 * b + 1], rblk[3 * b + 2]):
                r = island_row[n]
                row_sol[4 * r] = -row_f[13 * r + 4]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        isl_phase[4 * k + RUN] = 1
        isl[16 * k + COST] = 0.0
        isl[16 * k + REDUCTION] = ROUGH


@kernel
def project(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, whole_step: ti.i32,
    tree_table: I, tree_free: I, body_table: I, dof_armature: F, cinert: F, cdof: F, qfrc_smooth: F, counts: I,
    contact_dim: I, contact_frame: F, con_body: I, con_arm: F, row_int: I, row_f: F,
    island_tree: I, island_con: I, island_row: I, island_large: I, island_tblk: I, tblk: I, cblk: I, rblk: I,
    sol_p: F, sol_Ma: F, sol_Mp: F, twist: F, wrench: F, con_acc: F, row_sol: F, tblk_sum: F, isl: F, isl_phase: I,
):  # fmt: skip
    """The direction through M and J, and the start of the line search; parallel over blocks."""
    nt = counts[NTBLK]
    nc = counts[NCBLK]
    nr = counts[NRBLK]
    nl = counts[NLARGE]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * tblk[3 * b] + RUN] == 1:
            d = vec2(0.0)
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                tree_times_M(
                    w, t, nbody, nv, tree_table, tree_free, body_table, dof_armature, cinert, cdof, sol_p, twist,
                    wrench, sol_Mp
                )
                for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                    i = w * nv + e
                    d += vec2(sol_p[i] * (sol_Ma[i] - qfrc_smooth[i]), sol_p[i] * sol_Mp[i])
            tblk_sum[4 * b] = d[0]
            tblk_sum[4 * b + 1] = d[1]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * cblk[3 * b] + RUN] == 1:
            for n in range(cblk[3 * b + 1], cblk[3 * b + 2]):
                contact_direction(island_con[n], contact_dim, contact_frame, con_body, con_arm, twist, con_acc)
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * rblk[3 * b] + RUN] == 1:
            for n in range(rblk[3 * b + 1], rblk[3 * b + 2]):
                r = island_row[n]
                row_sol[4 * r + 1] = row_times(r, row_int, row_f, sol_p)
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        isl_phase[4 * k + SEEK] = isl_phase[4 * k + RUN] * (1 - whole_step)
        if isl_phase[4 * k + RUN] == 1:
            o = 16 * k
            isl[o + D1] = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 0, tblk_sum)
            isl[o + D2] = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 1, tblk_sum)
            isl[o + ALPHA] = ti.cast(whole_step, FP)
            isl[o + LO] = 0.0
            isl[o + HI] = -1.0
            isl[o + FIRST] = 1.0


@kernel
def search(
    cone: ti.i32, impratio: FP, ls_tolerance: FP, counts: I, contact_dim: I, con_par: F, con_acc: F,
    row_int: I, row_f: F, row_sol: F, island_con: I, island_row: I, island_large: I, island_cblk: I, island_rblk: I,
    cblk: I, rblk: I, cblk_sum: F, rblk_sum: F, isl: F, isl_phase: I,
):  # fmt: skip
    """One evaluation of the line search, for the zero of the derivative; parallel over blocks."""
    nc = counts[NCBLK]
    nr = counts[NRBLK]
    nl = counts[NLARGE]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        k = cblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + SEEK] == 1:
            d = vec2(0.0)
            for n in range(cblk[3 * b + 1], cblk[3 * b + 2]):
                d += contact_line(island_con[n], isl[16 * k + ALPHA], cone, impratio, contact_dim, con_par, con_acc)
            cblk_sum[2 * b] = d[0]
            cblk_sum[2 * b + 1] = d[1]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        k = rblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + SEEK] == 1:
            d = vec2(0.0)
            for n in range(rblk[3 * b + 1], rblk[3 * b + 2]):
                d += row_along(island_row[n], isl[16 * k + ALPHA], row_int, row_f, row_sol)
            rblk_sum[2 * b] = d[0]
            rblk_sum[2 * b + 1] = d[1]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        o = 16 * k
        if isl_phase[4 * k + SEEK] == 1:
            alpha = isl[o + ALPHA]
            d1 = isl[o + D1] + alpha * isl[o + D2]
            d2 = isl[o + D2]
            d1 += block_sum(island_cblk[2 * k], island_cblk[2 * k + 1], 2, 0, cblk_sum)
            d2 += block_sum(island_cblk[2 * k], island_cblk[2 * k + 1], 2, 1, cblk_sum)
            d1 += block_sum(island_rblk[2 * k], island_rblk[2 * k + 1], 2, 0, rblk_sum)
            d2 += block_sum(island_rblk[2 * k], island_rblk[2 * k + 1], 2, 1, rblk_sum)
            done = ti.abs(d1) <= ls_tolerance * ti.abs(isl[o + FIRST]) and isl[o + FIRST] <= 0.0
            if isl[o + FIRST] > 0.0:  # the first evaluation
                isl[o + FIRST] = ti.min(d1, 0.0)
                done = d1 >= 0.0
            if done:
                isl_phase[4 * k + SEEK] = 0
            else:
                step = next_alpha(alpha, isl[o + LO], isl[o + HI], d1, d2)
                isl[o + ALPHA] = step[0]
                isl[o + LO] = step[1]
                isl[o + HI] = step[2]
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += isl_phase[4 * island_large[n] + SEEK]
        counts[NSEEK] = s


@kernel
def move(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, cone: ti.i32, impratio: FP, tolerance: FP, meaninertia: FP,
    newton_round: ti.i32, tree_table: I, tree_free: I, body_table: I, cdof: F, qacc_smooth: F, qfrc_smooth: F,
    counts: I,
    contact_dim: I, contact_frame: F, con_par: F, con_arm: F, body_conadr: I, body_connum: I, body_con: I,
    row_int: I, row_f: F, tree_rowadr: I, tree_rownum: I, tree_row: I, island_tree: I, island_con: I, island_row: I,
    island_large: I, island_info: I, island_tblk: I, island_cblk: I, island_rblk: I, tblk: I, cblk: I, rblk: I,
    con_acc: F, con_force: F, con_torque: F, con_hess: F, con_hess_rot: F, row_sol: F, wrench: F, qacc: F,
    qfrc_constraint: F,
    sol_Ma: F, sol_p: F, sol_Mp: F, sol_r: F, tblk_sum: F, cblk_sum: F, rblk_sum: F, isl: F, isl_phase: I,
    island_niter: I, island_cost: F, island_gradient: F,
):  # fmt: skip
    """Moves along the direction: forces, Hessians, cost, gradient and whether an island has converged."""
    nt = counts[NTBLK]
    nc = counts[NCBLK]
    nr = counts[NRBLK]
    nl = counts[NLARGE]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        k = cblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + RUN] == 1:
            s = FP(0.0)
            for n in range(cblk[3 * b + 1], cblk[3 * b + 2]):
                s += contact_move(
                    island_con[n], step_of(k, isl, isl_phase), cone, impratio, contact_dim, contact_frame, con_par,
                    con_acc,
                    con_force, con_torque, con_hess, con_hess_rot,
                )  # fmt: skip
            cblk_sum[2 * b] = s
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        k = rblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + RUN] == 1:
            s = FP(0.0)
            for n in range(rblk[3 * b + 1], rblk[3 * b + 2]):
                s += row_move(island_row[n], step_of(k, isl, isl_phase), row_int, row_f, row_sol)
            rblk_sum[2 * b] = s
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = tblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + RUN] == 1:
            alpha = step_of(k, isl, isl_phase)
            s = vec2(0.0)
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                tree_gather(
                    w, t, ntree, nbody, nv, tree_table, tree_free, body_table, cdof, body_conadr, body_connum, body_con,
                    con_arm, contact_dim, con_force, con_torque, tree_rowadr, tree_rownum, tree_row, row_int, row_f,
                    row_sol, wrench,
                    qfrc_constraint,
                )  # fmt: skip
                for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                    i = w * nv + e
                    qacc[i] = qacc[i] + alpha * sol_p[i]
                    sol_Ma[i] = sol_Ma[i] + alpha * sol_Mp[i]
                    f = sol_Ma[i] - qfrc_smooth[i]
                    g = f - qfrc_constraint[i]
                    sol_r[i] = -g
                    s += vec2(0.5 * f * (qacc[i] - qacc_smooth[i]), g * g)
            tblk_sum[4 * b] = s[0]
            tblk_sum[4 * b + 1] = s[1]
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        if isl_phase[4 * k + RUN] == 1:
            cost = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 0, tblk_sum)
            cost += block_sum(island_cblk[2 * k], island_cblk[2 * k + 1], 2, 0, cblk_sum)
            cost += block_sum(island_rblk[2 * k], island_rblk[2 * k + 1], 2, 0, rblk_sum)
            scale = 1.0 / (meaninertia * ti.cast(island_info[10 * k + DOFS], FP))
            norm = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 1, tblk_sum)
            gradient = scale * ti.sqrt(norm)
            improvement = scale * (isl[16 * k + COST] - cost)
            isl[16 * k + COST] = cost
            if newton_round < 0:
                improvement = tolerance
            fine = newton_round >= 0 and settled(step_of(k, isl, isl_phase), gradient, island_gradient[k])
            reduction = next_reduction(
                newton_round, fine, gradient, tolerance, improvement, isl[16 * k + REDUCTION]
            )
            isl[16 * k + REDUCTION] = reduction
            if reduction == 0.0:
                isl_phase[4 * k + RUN] = 0
            island_niter[k] = ti.max(0, newton_round + 1)
            island_cost[k] = cost
            island_gradient[k] = gradient
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += isl_phase[4 * island_large[n] + RUN]
        counts[NRUN] = s


@kernel
def precondition(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, nM: ti.i32,
    tree_table: I, tree_free: I, body_table: I, dof_table: I, dof_armature: F, cinert: F, cdof: F, counts: I,
    body_conadr: I, body_connum: I, body_con: I, con_arm: F, contact_dim: I, con_hess: F, con_hess_rot: F,
    tree_rowadr: I, tree_rownum: I, tree_row: I, row_int: I, row_f: F, row_sol: F, island_tree: I, tblk: I,
    isl_phase: I, body_hess: F, tree_hess: F,
):  # fmt: skip
    """Factor of each tree's own Hessian; parallel over blocks."""
    nt = counts[NTBLK]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * tblk[3 * b] + RUN] == 1:
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                factor_block(
                    w, t, ntree, nbody, nv, nM, tree_table, tree_free, body_table, dof_table, dof_armature, cinert,
                    cdof, body_conadr, body_connum, body_con, con_arm, contact_dim, con_hess, con_hess_rot,
                    tree_rowadr, tree_rownum, tree_row, row_int, row_f, row_sol, body_hess, tree_hess, False,
                )  # fmt: skip
