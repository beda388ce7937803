"""Conjugate gradients for the Newton direction of large islands: H p = -gradient, H = M + J' D J never formed.

Phases are cut into blocks as in all_threads.py. Both sums of an iteration, r'z and z'Hz, are made at once, so that all
threads wait for them only once: A. Chronopoulos, C. Gear, "s-step iterative methods for symmetric linear systems",
1989. H of the direction q follows from that of z. What an iteration leaves to the next one stands in the other of two
places, since all threads read it while one writes: isl_go (1: not converged), isl_rz, isl_step.
"""

from ..constraint.cone import hessian_times
from ..spatial import inertia_times, relative_twist, sum_contacts, tree_twists
from ..types import FP, SERIAL, SHORT, SPREAD, at6, func, kernel, put6, store, ti
from .blocks import add_tree_blocks, each, groups_of, tree_sum
from .free_body import wrench_of_forces
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
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                put6(d.sol_r, i0, wrench_of_forces(m, d, i0, at6(d.sol_r, i0)))
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.sol_p[i] = 0.0
                d.sol_q[i] = 0.0
                d.sol_Hq[i] = 0.0
            precondition(m, d, w, t)


@func
def precondition(m, d, w, t):
    """z of tree t, and the twists of its bodies along z."""
    precondition_tree(m, d, w, t, d.sol_r, d.sol_z)
    if d.tree_single[w * m.ntree + t] == 1:
        store(d.twist, w * m.nbody + m.tree_bodyadr[t], at6(d.sol_z, w * m.nv + m.tree_dofadr[t]))
    elif ti.static(m.has.jointed):
        tree_twists(m, d, w, t, d.sol_z)


@func
def start_island(m, d, n):
    k = d.island_large[n]
    d.isl_seek[k] = d.isl_run[k]
    d.isl_go[k][0] = d.isl_run[k]
    d.isl_rz[k][0] = 0.0


@kernel
def linear_step(m, d):
    """Two iterations; parallel over blocks. An island stops where the preconditioned residual has been reduced as
    asked."""
    trees, items, groups = d.ntblk * SPREAD, (d.ncblk + d.nrblk) * SPREAD, groups_of(d.ntblk)
    d.nseek = 0
    each(m, d, items, SERIAL, SPREAD, multiply_block_0)
    each(m, d, trees, SERIAL, SPREAD, multiply_tree_block_0)
    each(m, d, groups, SHORT, 1, add_tree_blocks)
    each(m, d, trees, SERIAL, SPREAD, advance_tree_block_0)
    each(m, d, items, SERIAL, SPREAD, multiply_block_1)
    each(m, d, trees, SERIAL, SPREAD, multiply_tree_block_1)
    each(m, d, groups, SHORT, 1, add_tree_blocks)
    each(m, d, trees, SERIAL, SPREAD, advance_tree_block_1)


@func
def multiply_block_0(m, d, b):
    multiply_block(m, d, b, 0)


@func
def multiply_block_1(m, d, b):
    multiply_block(m, d, b, 1)


@func
def multiply_tree_block_0(m, d, b):
    multiply_tree_block(m, d, b, 0)


@func
def multiply_tree_block_1(m, d, b):
    multiply_tree_block(m, d, b, 1)


@func
def advance_tree_block_0(m, d, b):
    advance_tree_block(m, d, b, 0)


@func
def advance_tree_block_1(m, d, b):
    advance_tree_block(m, d, b, 1)


@func
def multiply_block(m, d, b, now: ti.template()):
    """D J z of a block of contacts, as wrenches, or of rows, which follow these."""
    if b < d.ncblk:
        if d.isl_go[d.cblk_island[b]][now] == 1:
            for n in range(d.cblk_begin[b], d.cblk_end[b]):
                c = d.island_con[n]
                v = relative_twist(m, d, c, d.twist)
                dim = d.contact_dim[c]
                store_wrench(m, d, c, dim, hessian_times(m, d, c, dim, v))
    elif ti.static(m.has.rows):
        r = b - d.ncblk
        if d.isl_go[d.rblk_island[r]][now] == 1:
            for n in range(d.rblk_begin[r], d.rblk_end[r]):
                row_product(m, d, d.island_row[n], d.sol_z)


@func
def multiply_tree_block(m, d, b, now: ti.template()):
    """H z, gathered into sol_Mp, which is free so long; r'z and z'Hz."""
    if d.isl_go[d.tblk_island[b]][now] == 1:
        rz = FP(0.0)
        zHz = FP(0.0)
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                wb = w * m.nbody + m.tree_bodyadr[t]
                f = sum_contacts(m, d, wb)
                put6(d.sol_Mp, i0, f + inertia_times(m, d, wb, d.twist[wb]))
            elif ti.static(m.has.jointed):
                tree_hessian_gather(m, d, w, t, d.sol_z, d.sol_Mp)
            for i in range(i0, i0 + m.tree_dofnum[t]):
                rz += d.sol_r[i] * d.sol_z[i]
                zHz += d.sol_z[i] * d.sol_Mp[i]
        d.tblk_sum[b][0] = rz
        d.tblk_sum[b][1] = zHz


@func
def advance_tree_block(m, d, b, now: ti.template()):
    """The next direction q = z + beta q, H q; p and r that step along q, z = preconditioned r."""
    k = d.tblk_island[b]
    go = d.isl_go[k][now]
    step = FP(0.0)
    beta = FP(0.0)
    if go == 1:
        rz = tree_sum(m, d, k, 0)
        qHq = tree_sum(m, d, k, 1)
        before = d.isl_rz[k][now]
        first = rz
        if before != 0.0:
            beta = rz / before
            qHq -= beta * rz / d.isl_step[k][now]
            first = d.isl_rz0[k]
        goal = d.isl_reduction[k] * d.isl_reduction[k] * first
        if qHq > 0.0 and (rz > goal or before == 0.0):
            step = rz / qHq
        if step == 0.0:
            go = 0
        if b == d.island_tblkadr[k]:
            d.isl_step[k][1 - now] = step
            d.isl_rz[k][1 - now] = rz
            if before == 0.0:
                d.isl_rz0[k] = rz
    if b == d.island_tblkadr[k]:
        d.isl_go[k][1 - now] = go
        if ti.static(now == 1):
            d.isl_seek[k] = go
            if go == 1:
                ti.atomic_add(d.nseek, 1)
    if go == 1:
        advance_trees(m, d, b, step, beta)


@func
def advance_trees(m, d, b, step, beta):
    w = d.island_tree[d.tblk_begin[b]] // m.ntree
    for n in range(d.tblk_begin[b], d.tblk_end[b]):
        t = d.island_tree[n] - w * m.ntree
        i0 = w * m.nv + m.tree_dofadr[t]
        for i in range(i0, i0 + m.tree_dofnum[t]):
            q = d.sol_z[i] + beta * d.sol_q[i]
            Hq = d.sol_Mp[i] + beta * d.sol_Hq[i]
            d.sol_q[i] = q
            d.sol_Hq[i] = Hq
            d.sol_p[i] = d.sol_p[i] + step * q
            d.sol_r[i] = d.sol_r[i] - step * Hq
        precondition(m, d, w, t)
