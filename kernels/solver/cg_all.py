"""Conjugate gradients for the Newton direction of large islands: H p = -gradient, H = M + J' D J never formed.

Phases as in cg.py, cut into blocks as in all_threads.py. Preconditioned conjugate gradients as in Saad, "Iterative
methods for sparse linear systems", algorithm 9.1.
"""

from ..constraint.cone import hessian_times
from ..spatial import inertia_times, relative_twist, sum_contacts, tree_twists
from ..types import FP, SERIAL, SHORT, SPREAD, at6, func, kernel, put6, store, ti
from .blocks import block_sum, count_islands, each
from .free_body import dofs_of_twist, wrench_of_forces
from .preconditioner import precondition_tree
from .steps import row_product, store_wrench, tree_hessian_gather


@kernel
def linear_start(m, d):
    """p = 0, residual r = -gradient, z = preconditioned r; parallel over blocks."""
    trees, islands = d.ntblk * SPREAD, d.nlarge
    each(m, d, trees, SERIAL, SPREAD, start_tree_block)
    each(m, d, islands, SHORT, 1, start_island)


@func
def start_tree_block(m, d, b):
    if d.isl_run[d.tblk_island[b]] == 1:
        s = FP(0.0)
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                put6(d.sol_r, i0, wrench_of_forces(m, d, i0, at6(d.sol_r, i0)))
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.sol_p[i] = 0.0
            s += precondition_tree(m, d, w, t, d.sol_r, d.sol_z)
        d.tblk_sum[b][0] = s


@func
def start_island(m, d, n):
    k = d.island_large[n]
    d.isl_seek[k] = d.isl_run[k]
    if d.isl_run[k] == 1:
        rz = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 0, d.tblk_sum)
        d.isl_rz[k] = rz
        d.isl_rz0[k] = rz
        d.isl_beta[k] = 0.0


@kernel
def linear_step(m, d):
    """One iteration; parallel over blocks. An island stops where the preconditioned residual has been reduced as
    asked."""
    trees, contacts, rows, islands = d.ntblk * SPREAD, d.ncblk * SPREAD, d.nrblk * SPREAD, d.nlarge
    each(m, d, trees, SERIAL, SPREAD, turn_tree_block)
    each(m, d, contacts, SERIAL, SPREAD, multiply_contact_block)
    each(m, d, rows, SERIAL, SPREAD, multiply_row_block)
    each(m, d, trees, SERIAL, SPREAD, multiply_tree_block)
    each(m, d, islands, SHORT, 1, find_step)
    each(m, d, trees, SERIAL, SPREAD, advance_tree_block)
    each(m, d, islands, SHORT, 1, find_turn)
    ti.loop_config(serialize=True)
    for _ in range(1):
        d.nseek = count_islands(m, d, d.isl_seek)


@func
def turn_tree_block(m, d, b):
    """The next conjugate direction q = z + beta q and its twists."""
    k = d.tblk_island[b]
    if d.isl_seek[k] == 1:
        beta = d.isl_beta[k]
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            for i in range(i0, i0 + m.tree_dofnum[t]):
                q = d.sol_z[i]
                if beta != 0.0:
                    q += beta * d.sol_q[i]
                d.sol_q[i] = q
            if d.tree_single[d.island_tree[n]] == 1:
                store(d.twist, w * m.nbody + m.tree_bodyadr[t], at6(d.sol_q, i0))
            elif ti.static(m.has.jointed):
                tree_twists(m, d, w, t, d.sol_q)


@func
def multiply_contact_block(m, d, b):
    """D J q of the contacts, as wrenches."""
    if d.isl_seek[d.cblk_island[b]] == 1:
        for n in range(d.cblk_begin[b], d.cblk_end[b]):
            c = d.island_con[n]
            v = relative_twist(m, d, c, d.twist)
            dim = d.contact_dim[c]
            store_wrench(m, d, c, dim, hessian_times(m, d, c, dim, v))


@func
def multiply_row_block(m, d, b):
    """D J q of the rows."""
    if ti.static(m.has.rows):
        if d.isl_seek[d.rblk_island[b]] == 1:
            for n in range(d.rblk_begin[b], d.rblk_end[b]):
                row_product(m, d, d.island_row[n])


@func
def multiply_tree_block(m, d, b):
    """H q, gathered, and q'Hq."""
    if d.isl_seek[d.tblk_island[b]] == 1:
        s = FP(0.0)
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                wb = w * m.nbody + m.tree_bodyadr[t]
                f = sum_contacts(m, d, wb)
                put6(d.sol_Hq, i0, f + inertia_times(m, d, wb, d.twist[wb]))
            elif ti.static(m.has.jointed):
                tree_hessian_gather(m, d, w, t, d.sol_q, d.sol_Hq)
            for i in range(i0, i0 + m.tree_dofnum[t]):
                s += d.sol_q[i] * d.sol_Hq[i]
        d.tblk_sum[b][1] = s


@func
def find_step(m, d, n):
    """The step along q."""
    k = d.island_large[n]
    if d.isl_seek[k] == 1:
        qHq = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 1, d.tblk_sum)
        d.isl_step[k] = 0.0
        if qHq > 0.0:
            d.isl_step[k] = d.isl_rz[k] / qHq


@func
def advance_tree_block(m, d, b):
    """p and r that step along q, z = preconditioned r, and r'z."""
    k = d.tblk_island[b]
    if d.isl_seek[k] == 1:
        step = d.isl_step[k]
        s = FP(0.0)
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.sol_p[i] = d.sol_p[i] + step * d.sol_q[i]
                d.sol_r[i] = d.sol_r[i] - step * d.sol_Hq[i]
            s += precondition_tree(m, d, w, t, d.sol_r, d.sol_z)
        d.tblk_sum[b][0] = s


@func
def find_turn(m, d, n):
    """How much of q stays in the next direction, and whether there is one."""
    k = d.island_large[n]
    if d.isl_seek[k] == 1:
        rz = block_sum(d.island_tblkadr[k], d.island_tblkend[k], 0, d.tblk_sum)
        d.isl_beta[k] = rz / d.isl_rz[k]
        d.isl_rz[k] = rz
        goal = d.isl_reduction[k] * d.isl_reduction[k] * d.isl_rz0[k]
        if rz <= goal or d.isl_step[k] == 0.0:
            d.isl_seek[k] = 0


@kernel
def linear_end(m, d):
    """The solution as a dof vector for single bodies too; parallel over blocks."""
    trees = d.ntblk * SPREAD
    each(m, d, trees, SERIAL, SPREAD, end_tree_block)


@func
def end_tree_block(m, d, b):
    if d.isl_run[d.tblk_island[b]] == 1:
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            if d.tree_single[d.island_tree[n]] == 1:
                i0 = w * m.nv + m.tree_dofadr[d.island_tree[n] - w * m.ntree]
                put6(d.sol_p, i0, dofs_of_twist(m, d, i0, at6(d.sol_p, i0)))
