"""Conjugate gradients for the Newton direction of large islands: H p = -gradient, H = M + J' D J never formed.

Blocks, sums and phases as in kernels/solve_large.py. Preconditioned conjugate gradients as in Saad, "Iterative
methods for sparse linear systems", algorithm 9.1.
"""

from tisim.kernels.cone import hessian_times
from tisim.kernels.constants import NCBLK, NLARGE, NRBLK, NSEEK, NTBLK
from tisim.kernels.free_body import dofs_of_twist, wrench_of_forces
from tisim.kernels.linear_island import precondition_tree
from tisim.kernels.solve_large import BETA, REDUCTION, RUN, RZ, RZ0, SEEK, STEP, block_sum
from tisim.kernels.solve_steps import row_times, store_wrench, tree_hessian_gather
from tisim.kernels.spatial import inertia_times, relative_twist, sum_contacts, tree_twists
from tisim.kernels.types import FP, SERIAL, SHORT, SPREAD, F, I, at6, kernel, ld6, put6, st6, ti


@kernel
def linear_start(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, nM: ti.i32, tree_table: I, tree_free: I, dof_table: I, cdof: F,
    body_hess: F, tree_hess: F, counts: I,
    island_tree: I, island_large: I, island_tblk: I, tblk: I, sol_r: F, sol_p: F, sol_z: F, tblk_sum: F, isl: F,
    isl_phase: I,
):  # fmt: skip
    """p = 0, residual r = -gradient, z = preconditioned r; parallel over blocks."""
    nt = counts[NTBLK]
    nl = counts[NLARGE]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * tblk[3 * b] + RUN] == 1:
            s = FP(0.0)
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                i0 = w * nv + tree_table[4 * t + 2]
                if tree_free[t] == 1:
                    r = wrench_of_forces(i0, at6(sol_r, i0), cdof)
                    put6(sol_r, i0, r)
                for i in range(i0, i0 + tree_table[4 * t + 3]):
                    sol_p[i] = 0.0
                s += precondition_tree(
                    w, t, nbody, nv, nM, tree_table, tree_free, dof_table, body_hess, tree_hess, sol_r, sol_z
                )
            tblk_sum[4 * b] = s
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        isl_phase[4 * k + SEEK] = isl_phase[4 * k + RUN]
        if isl_phase[4 * k + RUN] == 1:
            rz = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 0, tblk_sum)
            isl[16 * k + RZ] = rz
            isl[16 * k + RZ0] = rz
            isl[16 * k + BETA] = 0.0


@kernel
def linear_end(
    ntree: ti.i32, nv: ti.i32, tree_table: I, tree_free: I, cdof: F, counts: I, island_tree: I, tblk: I,
    isl_phase: I, sol_p: F,
):  # fmt: skip
    """The solution as a dof vector for free bodies too; parallel over blocks."""
    nt = counts[NTBLK]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * tblk[3 * b] + RUN] == 1:
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                t = island_tree[n] % ntree
                if tree_free[t] == 1:
                    i0 = island_tree[n] // ntree * nv + tree_table[4 * t + 2]
                    put6(sol_p, i0, dofs_of_twist(i0, at6(sol_p, i0), cdof))


@kernel
def linear_step(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, nM: ti.i32,
    tree_table: I, tree_free: I, body_table: I, dof_table: I, dof_armature: F, cinert: F, cdof: F, body_hess: F,
    tree_hess: F, counts: I,
    contact_dim: I, con_body: I, con_arm: F, con_hess: F, con_hess_rot: F, body_conadr: I, body_connum: I, body_con: I,
    row_int: I, row_f: F, tree_rowadr: I, tree_rownum: I, tree_row: I,
    island_tree: I, island_con: I, island_row: I, island_large: I, island_tblk: I, tblk: I, cblk: I, rblk: I,
    con_force: F, con_torque: F, row_sol: F, twist: F, wrench: F, sol_p: F, sol_r: F, sol_z: F, sol_q: F, sol_Hq: F,
    tblk_sum: F, isl: F, isl_phase: I,
):  # fmt: skip
    """One iteration; parallel over blocks. An island stops where the preconditioned residual has been
    reduced as asked."""
    nt = counts[NTBLK]
    nc = counts[NCBLK]
    nr = counts[NRBLK]
    nl = counts[NLARGE]
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = tblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + SEEK] == 1:
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                i0 = w * nv + tree_table[4 * t + 2]
                beta = isl[16 * k + BETA]
                for i in range(i0, i0 + tree_table[4 * t + 3]):
                    q = sol_z[i]
                    if beta != 0.0:
                        q += beta * sol_q[i]
                    sol_q[i] = q
                if tree_free[t] == 1:
                    st6(twist, w * nbody + tree_table[4 * t], at6(sol_q, i0))
                else:
                    tree_twists(w, t, nbody, nv, tree_table, body_table, cdof, sol_q, twist)
    ti.loop_config(serialize=SERIAL)
    for unit in range(nc * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * cblk[3 * b] + SEEK] == 1:
            for n in range(cblk[3 * b + 1], cblk[3 * b + 2]):
                c = island_con[n]
                v = relative_twist(c, con_body, con_arm, twist)
                dim = contact_dim[c]
                store_wrench(c, dim, hessian_times(c, dim, v, con_hess, con_hess_rot), con_force, con_torque)
    ti.loop_config(serialize=SERIAL)
    for unit in range(nr * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * rblk[3 * b] + SEEK] == 1:
            for n in range(rblk[3 * b + 1], rblk[3 * b + 2]):
                r = island_row[n]
                row_sol[4 * r + 2] = row_sol[4 * r + 3] * row_times(r, row_int, row_f, sol_q)
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        if unit % SPREAD == 0 and isl_phase[4 * tblk[3 * b] + SEEK] == 1:
            s = FP(0.0)
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                i0 = w * nv + tree_table[4 * t + 2]
                if tree_free[t] == 1:
                    wb = w * nbody + tree_table[4 * t]
                    f = sum_contacts(
                        wb, body_conadr, body_connum, body_con, con_arm, contact_dim, con_force, con_torque
                    )
                    put6(sol_Hq, i0, f + inertia_times(cinert, wb, ld6(twist, wb)))
                else:
                    tree_hessian_gather(
                        w, t, ntree, nbody, nv, tree_table, body_table, dof_armature, cinert, cdof, body_conadr,
                        body_connum, body_con, con_arm, contact_dim, con_force, con_torque, tree_rowadr, tree_rownum,
                        tree_row, row_int, row_f, row_sol, sol_q, twist, wrench, sol_Hq,
                    )  # fmt: skip
                for i in range(i0, i0 + tree_table[4 * t + 3]):
                    s += sol_q[i] * sol_Hq[i]
            tblk_sum[4 * b + 1] = s
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        if isl_phase[4 * k + SEEK] == 1:
            qHq = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 1, tblk_sum)
            isl[16 * k + STEP] = 0.0
            if qHq > 0.0:
                isl[16 * k + STEP] = isl[16 * k + RZ] / qHq
    ti.loop_config(serialize=SERIAL)
    for unit in range(nt * SPREAD):
        b = unit // SPREAD
        k = tblk[3 * b]
        if unit % SPREAD == 0 and isl_phase[4 * k + SEEK] == 1:
            step = isl[16 * k + STEP]
            s = FP(0.0)
            for n in range(tblk[3 * b + 1], tblk[3 * b + 2]):
                w = island_tree[n] // ntree
                t = island_tree[n] % ntree
                i0 = w * nv + tree_table[4 * t + 2]
                for i in range(i0, i0 + tree_table[4 * t + 3]):
                    sol_p[i] = sol_p[i] + step * sol_q[i]
                    sol_r[i] = sol_r[i] - step * sol_Hq[i]
                s += precondition_tree(
                    w, t, nbody, nv, nM, tree_table, tree_free, dof_table, body_hess, tree_hess, sol_r, sol_z
                )
            tblk_sum[4 * b] = s
    ti.loop_config(serialize=SHORT)
    for n in range(nl):
        k = island_large[n]
        if isl_phase[4 * k + SEEK] == 1:
            o = 16 * k
            rz = block_sum(island_tblk[2 * k], island_tblk[2 * k + 1], 4, 0, tblk_sum)
            isl[o + BETA] = rz / isl[o + RZ]
            isl[o + RZ] = rz
            goal = isl[o + REDUCTION] * isl[o + REDUCTION] * isl[o + RZ0]
            if rz <= goal or isl[o + STEP] == 0.0:
                isl_phase[4 * k + SEEK] = 0
    ti.loop_config(serialize=True)
    for _ in range(1):
        s = 0
        for n in range(nl):
            s += isl_phase[4 * island_large[n] + SEEK]
        counts[NSEEK] = s
