"""Newton's method, one thread for each island.

A small island's Hessian gets a dense Cholesky factor; the linear systems of the others, and of those whose trees touch
only static bodies (there the preconditioner is exact), are solved by conjugate gradients. The first round moves to the
warm start, or to qacc_smooth without one; every later one is a Newton step with an exact line search. Seed 000,
"Convex solver"; inexact Newton: Dembo, Eisenstat, Steihaug 1982.
"""

from ..constants import DSBL_WARMSTART
from ..constraint.cone import hessian_times
from ..spatial import cross, head, join, tail
from ..types import (
    FP,
    SERIAL,
    SPREAD,
    func,
    kernel,
    ti,
    vec2,
)
from .cg_one import NEAR, ROUGH, factor_block, next_reduction, settled, solve_linear
from .row_hessian import couple_row
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

LINEAR_ITERATIONS = 1000  # a direction that needs more is taken as it is: it descends all the same


@func
def last_dof(m, d, b):
    """Last dof that moves body b of a tree."""
    a = b
    while m.body_dofnum[a] == 0:
        a = m.body_parentid[a]
    return m.body_dofadr[a] + m.body_dofnum[a] - 1


@func
def at_point(m, d, i, arm):
    """Twist of dof i (world-major) at a point arm away from its tree's centre: (angular, linear)."""
    v = d.cdof[i]
    return join(head(v), tail(v) + cross(head(v), arm))


@func
def couple(m, d, c, w, n, adr, dense: ti.template()):
    """Adds the part of contact c's Hessian that couples its two moving bodies to the dense matrix at adr."""
    b1 = d.con_body[c][0] - w * m.nbody
    b2 = d.con_body[c][1] - w * m.nbody
    s1 = d.tree_dofstart[w * m.ntree + m.body_treeid[b1]] - m.tree_dofadr[m.body_treeid[b1]]
    s2 = d.tree_dofstart[w * m.ntree + m.body_treeid[b2]] - m.tree_dofadr[m.body_treeid[b2]]
    i = last_dof(m, d, b2)
    while i >= 0:
        v = at_point(m, d, w * m.nv + i, d.con_arm[c, 1])
        f = hessian_times(m, d, c, d.contact_dim[c], v)
        j = last_dof(m, d, b1)
        while j >= 0:
            e = -f.dot(at_point(m, d, w * m.nv + j, d.con_arm[c, 0]))
            a = s2 + i
            b = s1 + j
            if a == b:
                e *= 2.0
            to = adr + ti.max(a, b) * n + ti.min(a, b)
            dense[to] = dense[to] + e
            j = m.dof_parentid[j]
        i = m.dof_parentid[i]


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


@func
def solve_dense(m, d, n, adr, w, tree0, tree1, a: ti.template(), x: ti.template()):
    """x = (L L')^-1 x on the dofs of an island; L at a[adr:], followed by room for n numbers."""
    v = adr + n * n
    for j in range(tree0, tree1):
        t = d.island_tree[j] - w * m.ntree
        for e in range(m.tree_dofnum[t]):
            i = d.tree_dofstart[d.island_tree[j]] + e
            s = x[w * m.nv + m.tree_dofadr[t] + e]
            for k in range(i):
                s -= a[adr + i * n + k] * a[v + k]
            a[v + i] = s * a[adr + i * n + i]
    for j in range(n):
        i = n - 1 - j
        s = a[v + i] * a[adr + i * n + i]
        a[v + i] = s
        for k in range(i):
            a[v + k] = a[v + k] - a[adr + i * n + k] * s
    for j in range(tree0, tree1):
        t = d.island_tree[j] - w * m.ntree
        for e in range(m.tree_dofnum[t]):
            x[w * m.nv + m.tree_dofadr[t] + e] = a[v + d.tree_dofstart[d.island_tree[j]] + e]


@kernel
def unconstrained(m, d):
    """Trees without constraints move freely; parallel over dofs."""
    ti.loop_config(serialize=SERIAL)
    for i in range(d.nworld * m.nv):
        d.qacc[i] = d.qacc_smooth[i]
        d.qfrc_constraint[i] = 0.0


@kernel
def solve_island(m, d):
    """qacc and qfrc_constraint of every island that gets one thread; parallel over islands."""
    total = d.nsmall
    ti.loop_config(serialize=SERIAL)
    for unit in range(total * SPREAD):
        if unit % SPREAD == 0:
            k = d.island_small[unit // SPREAD]
            tree0 = d.island_treeadr[k]
            tree1 = tree0 + d.island_treenum[k]
            con0 = d.island_conadr[k]
            con1 = con0 + d.island_connum[k]
            row0 = d.island_rowadr[k]
            row1 = row0 + d.island_rownum[k]
            n = d.island_dofnum[k]
            adr = d.island_denseadr[k]
            dense = d.island_coupled[k] > 0 and n <= d.maxdense
            w = d.island_tree[tree0] // m.ntree
            scale = 1.0 / (m.stat.meaninertia * ti.cast(n, FP))

            # start from x = 0, where the residual is -aref
            for q in range(con0, con1):
                c = d.island_con[q]
                d.con_Jaref[c] = -d.con_aref[c]
            for q in range(row0, row1):
                d.row_Jaref[d.island_row[q]] = -d.row_aref[d.island_row[q]]
            cost = FP(0.0)
            gradient = FP(0.0)
            niter = 0
            cold = m.opt.disableflags & DSBL_WARMSTART != 0
            reduction = FP(ROUGH)
            fine = False  # the acting constraints have settled
            it = -1
            while it < m.opt.iterations:
                # search direction
                if it >= 0:
                    for q in range(tree0, ti.select(fine and not dense, tree0, tree1)):
                        factor_block(m, d, w, d.island_tree[q] - w * m.ntree, dense)
                    if dense:
                        for e in range(n * n):
                            d.island_dense[adr + e] = 0.0
                        for q in range(tree0, tree1):
                            t = d.island_tree[q] - w * m.ntree
                            s = d.tree_dofstart[d.island_tree[q]] - m.tree_dofadr[t]
                            for i in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                                a = w * m.nM + m.dof_Madr[i]
                                j = i
                                while j >= 0:
                                    d.island_dense[adr + (s + i) * n + s + j] = d.tree_hess[a]
                                    a += 1
                                    j = m.dof_parentid[j]
                        for q in range(con0, con1):
                            c = d.island_con[q]
                            if d.con_body[c][0] >= 0 and d.con_body[c][1] >= 0:
                                couple(m, d, c, w, n, adr, d.island_dense)
                        for q in range(row0, row1):
                            if d.row_coupled[d.island_row[q]] == 1:
                                couple_row(m, d, d.island_row[q], w, n, adr, d.island_dense)
                        cholesky(n, adr, d.island_dense)
                        solve_dense(m, d, n, adr, w, tree0, tree1, d.island_dense, d.sol_p)
                    else:
                        enough = ti.select(gradient < NEAR * m.opt.tolerance, m.opt.tolerance / scale, FP(0.0))
                        products = solve_linear(
                            m,
                            d,
                            w,
                            tree0,
                            tree1,
                            con0,
                            con1,
                            row0,
                            row1,
                            LINEAR_ITERATIONS,
                            reduction,
                            enough,
                            d.sol_p,
                            d.sol_r,
                            d.sol_z,
                            d.sol_q,
                            d.sol_Hq,
                        )
                        if products == 0:
                            break
                else:
                    for q in range(tree0, tree1):
                        t = d.island_tree[q] - w * m.ntree
                        for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                            i = w * m.nv + e
                            d.sol_p[i] = ti.select(cold, d.qacc_smooth[i], d.qacc_warmstart[i])
                            d.qacc[i] = 0.0
                            d.sol_Ma[i] = 0.0

                # the direction through M and J
                d0 = vec2(0.0)
                first = FP(0.0)
                for q in range(tree0, tree1):
                    t = d.island_tree[q] - w * m.ntree
                    tree_times_M(m, d, w, t, d.sol_p, d.sol_Mp)
                    for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                        i = w * m.nv + e
                        f = d.sol_Ma[i] - d.qfrc_smooth[i]
                        d0 += vec2(d.sol_p[i] * f, d.sol_p[i] * d.sol_Mp[i])
                        first += d.sol_p[i] * (f - d.qfrc_constraint[i])
                for q in range(con0, con1):
                    contact_direction(m, d, d.island_con[q])
                for q in range(row0, row1):
                    r = d.island_row[q]
                    d.row_Jp[r] = row_times(m, d, r, d.sol_p)

                # exact line search: zero of the derivative, which is `first` at 0
                alpha = FP(1.0)
                if it >= 0:
                    step = ti.math.vec3(1.0, 0.0, -1.0)
                    found = False
                    for e in range(m.opt.ls_iterations):
                        delta = d0 + vec2(step[0] * d0[1], 0.0)
                        for q in range(con0, con1):
                            delta += contact_line(m, d, d.island_con[q], step[0])
                        for q in range(row0, row1):
                            delta += row_along(m, d, d.island_row[q], step[0])
                        if ti.abs(delta[0]) <= m.opt.ls_tolerance * ti.abs(first):
                            found = True
                            break
                        step = next_alpha(step[0], step[1], step[2], delta[0], delta[1])
                    alpha = step[0]
                    if first >= 0.0:
                        alpha = 0.0
                    elif not found and step[1] > 0.0:
                        alpha = step[1]  # too short, but known to descend

                # move
                total_cost = FP(0.0)
                for q in range(con0, con1):
                    total_cost += contact_move(m, d, d.island_con[q], alpha)
                for q in range(row0, row1):
                    total_cost += row_move(m, d, d.island_row[q], alpha)
                norm = FP(0.0)
                for q in range(tree0, tree1):
                    t = d.island_tree[q] - w * m.ntree
                    tree_gather(m, d, w, t, d.qfrc_constraint)
                    for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                        i = w * m.nv + e
                        d.qacc[i] = d.qacc[i] + alpha * d.sol_p[i]
                        d.sol_Ma[i] = d.sol_Ma[i] + alpha * d.sol_Mp[i]
                        f = d.sol_Ma[i] - d.qfrc_smooth[i]
                        total_cost += 0.5 * f * (d.qacc[i] - d.qacc_smooth[i])
                        g = f - d.qfrc_constraint[i]
                        d.sol_p[i] = -g
                        norm += g * g
                last_gradient = gradient
                gradient = scale * ti.sqrt(norm)
                improvement = scale * (cost - total_cost)
                cost = total_cost
                niter = it + 1
                if it < 0:
                    improvement = m.opt.tolerance
                if dense and improvement < m.opt.tolerance:
                    break
                fine = it >= 0 and settled(alpha, gradient, last_gradient)
                reduction = next_reduction(m, d, it, fine, gradient, improvement, reduction)
                if reduction == 0.0:
                    break
                it += 1
            if not gradient - gradient == 0.0:  # NaN or infinite (Taichi's != is false for NaN): it may not be lost
                for q in range(tree0, tree1):
                    t = d.island_tree[q] - w * m.ntree
                    for e in range(m.tree_dofadr[t], m.tree_dofadr[t] + m.tree_dofnum[t]):
                        d.qacc[w * m.nv + e] = gradient - gradient
            d.island_niter[k] = niter
            d.island_cost[k] = cost
            d.island_gradient[k] = gradient
