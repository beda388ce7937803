"""Conjugate gradients for the Newton direction of large islands: H p = -gradient, H = M + J' D J never formed.

Blocks, sums and phases as in kernels/solve_large.py. Preconditioned conjugate gradients as in Saad, "Iterative
methods for sparse linear systems", algorithm 9.1.
"""

from tisim.kernels.cone import hessian_times
from tisim.kernels.free_body import dofs_of_twist, wrench_of_forces
from tisim.kernels.linear_island import precondition_tree
from tisim.kernels.solve_large import BETA, REDUCTION, RUN, RZ, RZ0, SEEK, STEP, block_sum
from tisim.kernels.solve_steps import row_times, store_wrench, tree_hessian_gather
from tisim.kernels.spatial import inertia_times, relative_twist, sum_contacts, tree_twists
from tisim.kernels.types import FP, SERIAL, SHORT, SPREAD, at6, kernel, ld6, put6, st6, ti


@kernel
def linear_start(m, d):
    """p = 0, residual r = -gradient, z = preconditioned r; parallel over blocks."""
    nt = d.ntblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.tblk[3 * b] + RUN] == 1:
            s = FP(0.0)
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                i0 = w * m.nv + m.tree_table[4 * t + 2]
                if m.tree_free[t] == 1:
                    r = wrench_of_forces(m, d, i0, at6(d.sol_r, i0))
                    put6(d.sol_r, i0, r)
                for i in range(i0, i0 + m.tree_table[4 * t + 3]):
                    d.sol_p[i] = 0.0
                s += precondition_tree(m, d, w, t, d.sol_r, d.sol_z)
            d.tblk_sum[4 * b] = s
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        d.isl_phase[4 * k + SEEK] = d.isl_phase[4 * k + RUN]
        if d.isl_phase[4 * k + RUN] == 1:
            rz = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 0, d.tblk_sum)
            d.isl[16 * k + RZ] = rz
            d.isl[16 * k + RZ0] = rz
            d.isl[16 * k + BETA] = 0.0


@kernel
def linear_end(m, d):
    """The solution as a dof vector for free bodies too; parallel over blocks."""
    nt = d.ntblk
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.tblk[3 * b] + RUN] == 1:
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                t = d.island_tree[n] % m.ntree
                if m.tree_free[t] == 1:
                    i0 = d.island_tree[n] // m.ntree * m.nv + m.tree_table[4 * t + 2]
                    put6(d.sol_p, i0, dofs_of_twist(m, d, i0, at6(d.sol_p, i0)))


@kernel
def linear_step(m, d):
    """One iteration; parallel over blocks. An island stops where the preconditioned residual has been
    reduced as asked."""
    nt = d.ntblk
    nc = d.ncblk
    nr = d.nrblk
    nl = d.nlarge
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = d.tblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + SEEK] == 1:
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                i0 = w * m.nv + m.tree_table[4 * t + 2]
                beta = d.isl[16 * k + BETA]
                for i in range(i0, i0 + m.tree_table[4 * t + 3]):
                    q = d.sol_z[i]
                    if beta != 0.0:
                        q += beta * d.sol_q[i]
                    d.sol_q[i] = q
                if m.tree_free[t] == 1:
                    st6(d.twist, w * m.nbody + m.tree_table[4 * t], at6(d.sol_q, i0))
                else:
                    tree_twists(m, d, w, t, d.sol_q)
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.cblk[3 * b] + SEEK] == 1:
            for n in range(d.cblk[3 * b + 1], d.cblk[3 * b + 2]):
                c = d.island_con[n]
                v = relative_twist(m, d, c, d.twist)
                dim = d.contact_dim[c]
                store_wrench(m, d, c, dim, hessian_times(m, d, c, dim, v))
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.rblk[3 * b] + SEEK] == 1:
            for n in range(d.rblk[3 * b + 1], d.rblk[3 * b + 2]):
                r = d.island_row[n]
                d.row_sol[4 * r + 2] = d.row_sol[4 * r + 3] * row_times(m, d, r, d.sol_q)
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and d.isl_phase[4 * d.tblk[3 * b] + SEEK] == 1:
            s = FP(0.0)
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                i0 = w * m.nv + m.tree_table[4 * t + 2]
                if m.tree_free[t] == 1:
                    wb = w * m.nbody + m.tree_table[4 * t]
                    f = sum_contacts(m, d, wb)
                    put6(d.sol_Hq, i0, f + inertia_times(m, d, wb, ld6(d.twist, wb)))
                else:
                    tree_hessian_gather(m, d, w, t, d.sol_q, d.sol_Hq)
                for i in range(i0, i0 + m.tree_table[4 * t + 3]):
                    s += d.sol_q[i] * d.sol_Hq[i]
            d.tblk_sum[4 * b + 1] = s
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        if d.isl_phase[4 * k + SEEK] == 1:
            qHq = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 1, d.tblk_sum)
            d.isl[16 * k + STEP] = 0.0
            if qHq > 0.0:
                d.isl[16 * k + STEP] = d.isl[16 * k + RZ] / qHq
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = d.tblk[3 * b]
        if unit % SPREAD == 0 and d.isl_phase[4 * k + SEEK] == 1:
            step = d.isl[16 * k + STEP]
            s = FP(0.0)
            for n in range(d.tblk[3 * b + 1], d.tblk[3 * b + 2]):
                w = d.island_tree[n] // m.ntree
                t = d.island_tree[n] % m.ntree
                i0 = w * m.nv + m.tree_table[4 * t + 2]
                for i in range(i0, i0 + m.tree_table[4 * t + 3]):
                    d.sol_p[i] = d.sol_p[i] + step * d.sol_q[i]
                    d.sol_r[i] = d.sol_r[i] - step * d.sol_Hq[i]
                s += precondition_tree(m, d, w, t, d.sol_r, d.sol_z)
            d.tblk_sum[4 * b] = s
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = d.island_large[n]
        if d.isl_phase[4 * k + SEEK] == 1:
            o = 16 * k
            rz = block_sum(d.island_tblk[2 * k], d.island_tblk[2 * k + 1], 4, 0, d.tblk_sum)
            d.isl[o + BETA] = rz / d.isl[o + RZ]
            d.isl[o + RZ] = rz
            goal = d.isl[o + REDUCTION] * d.isl[o + REDUCTION] * d.isl[o + RZ0]
            if rz <= goal or d.isl[o + STEP] == 0.0:
                d.isl_phase[4 * k + SEEK] = 0
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += d.isl_phase[4 * d.island_large[n] + SEEK]
        d.nseek = s
