"""Newton's method, one thread for each island.

A small island's Hessian gets a dense Cholesky factor; the linear systems of the others, and of those whose trees touch
only static bodies (there the preconditioner is exact), are solved by conjugate gradients. The first round moves to the
warm start, or to qacc_smooth without one; every later one is a Newton step with an exact line search. Seed 000,
"Convex solver"; inexact Newton: Dembo, Eisenstat, Steihaug 1982.
"""

from tisim.kernels.cone import hessian_times
from tisim.kernels.constants import DSBL_WARMSTART, NSMALL
from tisim.kernels.island import CONADR, CONS, COUPLED, DENSEADR, DOFS, ROWADR, ROWS, TREEADR, TREES
from tisim.kernels.linear_island import NEAR, ROUGH, factor_block, next_reduction, settled, solve_linear
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
from tisim.kernels.spatial import cross, head, join, tail
from tisim.kernels.types import FP, SERIAL, SPREAD, F, I, kernel, ld3, ld6, st6, ti, vec2

LINEAR_ITERATIONS = 1000  # a direction that needs more is taken as it is: it descends all the same


@ti.func
def last_dof(b, body_table: ti.template()):
    """Last dof that moves body b of a tree."""
    a = b
    while body_table[4 * a + 3] == 0:
        a = body_table[4 * a]
    return body_table[4 * a + 2] + body_table[4 * a + 3] - 1


@ti.func
def at_point(i, arm, cdof: ti.template()):
    """Twist of dof i (world-major) at a point arm away from its tree's centre: (angular, linear)."""
    v = ld6(cdof, i)
    return join(head(v), tail(v) + cross(head(v), arm))


@ti.func
def couple(
    c, w, nbody, ntree, nv, n, adr, body_table: ti.template(), tree_table: ti.template(), dof_table: ti.template(),
    cdof: ti.template(), contact_dim: ti.template(), con_body: ti.template(), con_arm: ti.template(),
    con_hess: ti.template(), con_hess_rot: ti.template(), tree_dofstart: ti.template(), dense: ti.template(),
):  # fmt: skip
    """Adds the part of contact c's Hessian that couples its two moving bodies to the dense matrix at adr."""
    b1 = con_body[2 * c] - w * nbody
    b2 = con_body[2 * c + 1] - w * nbody
    s1 = tree_dofstart[w * ntree + body_table[4 * b1 + 1]] - tree_table[4 * body_table[4 * b1 + 1] + 2]
    s2 = tree_dofstart[w * ntree + body_table[4 * b2 + 1]] - tree_table[4 * body_table[4 * b2 + 1] + 2]
    i = last_dof(b2, body_table)
    while i >= 0:
        v = at_point(w * nv + i, ld3(con_arm, 2 * c + 1), cdof)
        f = hessian_times(c, contact_dim[c], v, con_hess, con_hess_rot)
        j = last_dof(b1, body_table)
        while j >= 0:
            e = -f.dot(at_point(w * nv + j, ld3(con_arm, 2 * c), cdof))
            a = s2 + i
            b = s1 + j
            if a == b:
                e *= 2.0
            to = adr + ti.max(a, b) * n + ti.min(a, b)
            dense[to] = dense[to] + e
            j = dof_table[2 * j]
        i = dof_table[2 * i]


@ti.func
def cholesky(n, adr, a: ti.template()):
    """Lower factor of the n x n matrix at a[adr:], in place; its diagonal holds the inverse."""
    for i in range(n):
        for j in range(i + 1):
            s = a[adr + i * n + j]
            for k in range(j):
                s -= a[adr + i * n + k] * a[adr + j * n + k]
            if i == j:
                a[adr + i * n + i] = 1.0 / ti.sqrt(ti.max(s, 1e-30))
            else:
                a[adr + i * n + j] = s * a[adr + j * n + j]


@ti.func
def solve_dense(
    n, adr, w, ntree, nv, tree0, tree1, tree_table: ti.template(), island_tree: ti.template(),
    tree_dofstart: ti.template(), a: ti.template(), x: ti.template(),
):  # fmt: skip
    """x = (L L')^-1 x on the dofs of an island; L at a[adr:], followed by room for n numbers."""
    v = adr + n * n
    for m in range(tree0, tree1):
        t = island_tree[m] - w * ntree
        for e in range(tree_table[4 * t + 3]):
            i = tree_dofstart[island_tree[m]] + e
            s = x[w * nv + tree_table[4 * t + 2] + e]
            for k in range(i):
                s -= a[adr + i * n + k] * a[v + k]
            a[v + i] = s * a[adr + i * n + i]
    for m in range(n):
        i = n - 1 - m
        s = a[v + i] * a[adr + i * n + i]
        a[v + i] = s
        for k in range(i):
            a[v + k] = a[v + k] - a[adr + i * n + k] * s
    for m in range(tree0, tree1):
        t = island_tree[m] - w * ntree
        for e in range(tree_table[4 * t + 3]):
            x[w * nv + tree_table[4 * t + 2] + e] = a[v + tree_dofstart[island_tree[m]] + e]


@kernel
def unconstrained(nworld: ti.i32, nv: ti.i32, qacc_smooth: F, qacc: F, qfrc_constraint: F):
    """Trees without constraints move freely; parallel over dofs."""
    ti.loop_config(serialize=SERIAL)
    for i in range(nworld * nv):
        qacc[i] = qacc_smooth[i]
        qfrc_constraint[i] = 0.0


@kernel
def solve_island(
    nbody: ti.i32, ntree: ti.i32, nv: ti.i32, nM: ti.i32, cone: ti.i32, impratio: FP, iterations: ti.i32,
    ls_iterations: ti.i32, maxdense: ti.i32, tolerance: FP, ls_tolerance: FP, meaninertia: FP, disableflags: ti.i32,
    tree_table: I, tree_free: I, body_table: I, dof_table: I, dof_armature: F,
    cinert: F, cdof: F, qacc_smooth: F, qfrc_smooth: F, qacc_warmstart: F,
    contact_dim: I, contact_frame: F, con_par: F, con_body: I, con_arm: F, body_conadr: I, body_connum: I, body_con: I,
    row_int: I, row_f: F, tree_rowadr: I, tree_rownum: I, tree_row: I,
    counts: I, island_small: I, island_info: I, island_con: I, island_row: I, island_tree: I, tree_dofstart: I,
    con_acc: F, con_force: F, con_torque: F, con_hess: F, con_hess_rot: F, row_sol: F, twist: F, wrench: F,
    body_hess: F,
    tree_hess: F, island_dense: F, qacc: F, qfrc_constraint: F, sol_Ma: F, sol_p: F, sol_Mp: F,
    sol_r: F, sol_z: F, sol_q: F, sol_Hq: F,
    island_niter: I, island_cost: F, island_gradient: F,
):  # fmt: skip
    """qacc and qfrc_constraint of every island that gets one thread; parallel over islands."""
    total = counts[NSMALL]
    ti.loop_config(serialize=SERIAL)
    for unit in range(total * SPREAD):
        if unit % SPREAD == 0:
            k = island_small[unit // SPREAD]
            info = 10 * k
            tree0 = island_info[info + TREEADR]
            tree1 = tree0 + island_info[info + TREES]
            con0 = island_info[info + CONADR]
            con1 = con0 + island_info[info + CONS]
            row0 = island_info[info + ROWADR]
            row1 = row0 + island_info[info + ROWS]
            n = island_info[info + DOFS]
            adr = island_info[info + DENSEADR]
            dense = island_info[info + COUPLED] > 0 and n <= maxdense
            w = island_tree[tree0] // ntree
            scale = 1.0 / (meaninertia * ti.cast(n, FP))

            # start from x = 0, where the residual is -aref
            for m in range(con0, con1):
                c = island_con[m]
                st6(con_acc, 3 * c + 1, -ld6(con_acc, 3 * c))
            for m in range(row0, row1):
                row_sol[4 * island_row[m]] = -row_f[13 * island_row[m] + 4]
            cost = FP(0.0)
            gradient = FP(0.0)
            niter = 0
            cold = (disableflags & DSBL_WARMSTART) != 0
            reduction = FP(ROUGH)
            fine = False  # the acting constraints have settled
            it = -1
            while it < iterations:
                # search direction
                if it >= 0:
                    for m in range(tree0, ti.select(fine and not dense, tree0, tree1)):
                        factor_block(
                            w, island_tree[m] - w * ntree, ntree, nbody, nv, nM, tree_table, tree_free, body_table,
                            dof_table, dof_armature, cinert, cdof, body_conadr, body_connum, body_con, con_arm,
                            contact_dim, con_hess, con_hess_rot, tree_rowadr, tree_rownum, tree_row, row_int, row_f,
                            row_sol, body_hess, tree_hess, dense,
                        )  # fmt: skip
                    if dense:
                        for e in range(n * n):
                            island_dense[adr + e] = 0.0
                        for m in range(tree0, tree1):
                            t = island_tree[m] - w * ntree
                            s = tree_dofstart[island_tree[m]] - tree_table[4 * t + 2]
                            for i in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                                a = w * nM + dof_table[2 * i + 1]
                                j = i
                                while j >= 0:
                                    island_dense[adr + (s + i) * n + s + j] = tree_hess[a]
                                    a += 1
                                    j = dof_table[2 * j]
                        for m in range(con0, con1):
                            c = island_con[m]
                            if con_body[2 * c] >= 0 and con_body[2 * c + 1] >= 0:
                                couple(
                                    c, w, nbody, ntree, nv, n, adr, body_table, tree_table, dof_table, cdof,
                                    contact_dim, con_body, con_arm, con_hess, con_hess_rot, tree_dofstart,
                                    island_dense,
                                )  # fmt: skip
                        cholesky(n, adr, island_dense)
                        solve_dense(
                            n, adr, w, ntree, nv, tree0, tree1, tree_table, island_tree, tree_dofstart, island_dense,
                            sol_p,
                        )  # fmt: skip
                    else:
                        enough = ti.select(gradient < NEAR * tolerance, tolerance / scale, FP(0.0))
                        products = solve_linear(
                            w, tree0, tree1, con0, con1, row0, row1, LINEAR_ITERATIONS, reduction, enough, ntree,
                            nbody, nv, nM, tree_table, tree_free, body_table, dof_table, dof_armature, cinert, cdof,
                            contact_dim,
                            con_body, con_arm, con_hess, con_hess_rot, row_int, row_f, tree_rowadr, tree_rownum,
                            tree_row, island_tree, island_con, island_row, body_hess, tree_hess, twist, wrench,
                            row_sol, sol_p,
                            sol_r, sol_z, sol_q, sol_Hq,
                        )  # fmt: skip
                        if products == 0:
                            break
                else:
                    for m in range(tree0, tree1):
                        t = island_tree[m] - w * ntree
                        for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                            i = w * nv + e
                            sol_p[i] = ti.select(cold, qacc_smooth[i], qacc_warmstart[i])
                            qacc[i] = 0.0
                            sol_Ma[i] = 0.0

                # the direction through M and J
                d0 = vec2(0.0)
                first = FP(0.0)
                for m in range(tree0, tree1):
                    t = island_tree[m] - w * ntree
                    tree_times_M(
                        w, t, nbody, nv, tree_table, tree_free, body_table, dof_armature, cinert, cdof, sol_p, twist,
                        wrench,
                        sol_Mp,
                    )  # fmt: skip
                    for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                        i = w * nv + e
                        f = sol_Ma[i] - qfrc_smooth[i]
                        d0 += vec2(sol_p[i] * f, sol_p[i] * sol_Mp[i])
                        first += sol_p[i] * (f - qfrc_constraint[i])
                for m in range(con0, con1):
                    contact_direction(island_con[m], contact_dim, contact_frame, con_body, con_arm, twist, con_acc)
                for m in range(row0, row1):
                    r = island_row[m]
                    row_sol[4 * r + 1] = row_times(r, row_int, row_f, sol_p)

                # exact line search: zero of the derivative, which is `first` at 0
                alpha = FP(1.0)
                if it >= 0:
                    step = ti.math.vec3(1.0, 0.0, -1.0)
                    found = False
                    for e in range(ls_iterations):
                        d = d0 + vec2(step[0] * d0[1], 0.0)
                        for m in range(con0, con1):
                            d += contact_line(island_con[m], step[0], cone, impratio, contact_dim, con_par, con_acc)
                        for m in range(row0, row1):
                            d += row_along(island_row[m], step[0], row_int, row_f, row_sol)
                        if ti.abs(d[0]) <= ls_tolerance * ti.abs(first):
                            found = True
                            break
                        step = next_alpha(step[0], step[1], step[2], d[0], d[1])
                    alpha = step[0]
                    if first >= 0.0:
                        alpha = 0.0
                    elif not found and step[1] > 0.0:
                        alpha = step[1]  # too short, but known to descend

                # move
                total_cost = FP(0.0)
                for m in range(con0, con1):
                    total_cost += contact_move(
                        island_con[m], alpha, cone, impratio, contact_dim, contact_frame, con_par, con_acc,
                        con_force, con_torque, con_hess, con_hess_rot,
                    )  # fmt: skip
                for m in range(row0, row1):
                    total_cost += row_move(island_row[m], alpha, row_int, row_f, row_sol)
                norm = FP(0.0)
                for m in range(tree0, tree1):
                    t = island_tree[m] - w * ntree
                    tree_gather(
                        w, t, ntree, nbody, nv, tree_table, tree_free, body_table, cdof, body_conadr, body_connum,
                        body_con,
                        con_arm, contact_dim, con_force, con_torque, tree_rowadr, tree_rownum, tree_row, row_int,
                        row_f, row_sol, wrench,
                        qfrc_constraint,
                    )  # fmt: skip
                    for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                        i = w * nv + e
                        qacc[i] = qacc[i] + alpha * sol_p[i]
                        sol_Ma[i] = sol_Ma[i] + alpha * sol_Mp[i]
                        f = sol_Ma[i] - qfrc_smooth[i]
                        total_cost += 0.5 * f * (qacc[i] - qacc_smooth[i])
                        g = f - qfrc_constraint[i]
                        sol_p[i] = -g
                        norm += g * g
                last_gradient = gradient
                gradient = scale * ti.sqrt(norm)
                improvement = scale * (cost - total_cost)
                cost = total_cost
                niter = it + 1
                if it < 0:
                    improvement = tolerance
                if dense and improvement < tolerance:
                    break
                fine = it >= 0 and settled(alpha, gradient, last_gradient)
                reduction = next_reduction(it, fine, gradient, tolerance, improvement, reduction)
                if reduction == 0.0:
                    break
                it += 1
            if not gradient - gradient == 0.0:  # NaN or infinite (Taichi's != is false for NaN): it may not be lost
                for m in range(tree0, tree1):
                    t = island_tree[m] - w * ntree
                    for e in range(tree_table[4 * t + 2], tree_table[4 * t + 2] + tree_table[4 * t + 3]):
                        qacc[w * nv + e] = gradient - gradient
            island_niter[k] = niter
            island_cost[k] = cost
            island_gradient[k] = gradient
