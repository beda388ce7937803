"""Nonlinear conjugate gradients on islands: solver="CG".

The phases of a round are those of Newton's method (newton.py), workers and teams too; only the direction differs. It is
the preconditioned gradient plus so much of the last direction as Polak and Ribiere say, and not less than nothing; the
preconditioner is each tree's own Hessian where the round stands (preconditioner.py). Seed 000, "Convex solver"; Nocedal
and Wright, "Numerical optimization", section 5.2.
"""

from ..team import crew, meet
from ..types import FP, HAND, SERIAL, at6, func, kernel, put6, ti, vec3
from .free_body import dofs_of_twist, wrench_of_forces
from .isle import first_block, isle_of, keep, next_block, stretch, sum_of
from .newton import move, project, search, slope_there, solve_all, start, tell_loss
from .preconditioner import factor_hessian, precondition_dofs
from .rounds import scale_of
from .statistics import clear_rows, tell_round
from .tree_hessian import sym6_times

NOISE = 1e-8 if FP == ti.f64 else 1e-3  # of the cost, below which differences are not trusted
EARLY = 8  # rounds in which the preconditioner is made anew, as always where limits of joints come and go
KEPT = 4  # rounds for which it stays afterwards
NEW, OLD = 0, 1  # columns of tree_sum: r'z of this round's gradient and of the last one's


@kernel
def conjugate_islands(m, d):
    """qacc and qfrc_constraint of the islands, by workers as in newton.solve_islands."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, conjugate_work)


@func
def conjugate_work(m, d, hand):
    """A worker's part."""
    solve_all(m, d, hand, conjugate)


@func
def conjugate(m, d, k, me, size):
    """Conjugate gradients on island k. A round that gains less than the tolerance is the last one if it went along the
    gradient; else one along the gradient follows."""
    isle = isle_of(m, d, k, me, size, False)
    scale = scale_of(m, d, k)
    cost, gradient, last = FP(0.0), FP(0.0), FP(0.0)
    fresh = True  # along the gradient
    niter = 0
    start(m, d, isle)
    cg_round = -1
    while cg_round < m.opt.iterations:
        if isle.me == 0:
            clear_rows(m, d, k, cg_round)
        if cg_round >= 0:
            anew = fresh or cg_round < EARLY or cg_round % KEPT == 0
            if ti.static(m.has.jointed):
                anew = True
            last = conjugate_direction(m, d, isle, last, fresh, anew)
        slope = project(m, d, isle, False)
        line = vec3(1.0, 0.0, 0.0)
        if cg_round >= 0:
            line = search(m, d, isle, slope, False)
        alpha = line[0]
        there = move(m, d, k, isle, cg_round, alpha)
        improvement = scale * (cost - there[0])
        if ti.abs(cost - there[0]) < NOISE * ti.abs(cost):  # lost in rounding: as a parabola has it
            improvement = -0.5 * scale * alpha * slope[0]
        cost = there[0]
        gradient = scale * ti.sqrt(there[1])
        niter = cg_round + 1
        if isle.me == 0:
            values = vec3(improvement, gradient, scale * slope_there(line, there))
            tell_round(m, d, k, cg_round, values, ti.cast(line[2], ti.i32), 1)
        if not gradient >= m.opt.tolerance:
            break
        if cg_round >= 0:
            small = improvement < m.opt.tolerance
            if small and fresh:
                break
            fresh = small
        cg_round += 1
    tell_loss(m, d, isle, gradient)
    if isle.me == 0:
        d.island_niter[k] = niter
        d.island_nnz[k] = 0
        d.island_cost[k] = cost
        d.island_gradient[k] = gradient


@func
def conjugate_direction(m, d, isle: ti.template(), last, fresh, anew):
    """The next direction in sol_p, which holds -gradient; sol_r and sol_q keep both for the round behind it.

    last  r'z of the round before.  fresh  the last direction is forgotten.  anew  so is the preconditioner.

    Returns r'z.
    """
    new, old = FP(0.0), FP(0.0)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last_tree = stretch(isle.trees, b)
        new, old = FP(0.0), FP(0.0)
        for n in range(first, last_tree):
            t = d.island_tree[n] - isle.world * m.ntree
            i0 = isle.world * m.nv + m.tree_dofadr[t]
            if anew:
                factor_hessian(m, d, isle.world, t, False, False)
            precondition_forces(m, d, isle.world, t)
            for i in range(i0, i0 + m.tree_dofnum[t]):
                new += d.sol_z[i] * d.sol_p[i]
                if not fresh:
                    old += d.sol_z[i] * d.sol_r[i]
        keep(isle.trees, b, NEW, new, d.tree_sum)
        keep(isle.trees, b, OLD, old, d.tree_sum)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    if isle.large == 1:
        new = sum_of(isle.trees, NEW, d.tree_sum)
        old = sum_of(isle.trees, OLD, d.tree_sum)
    beta = FP(0.0)
    if not fresh and last > 0.0:
        beta = ti.max(0.0, (new - old) / last)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last_tree = stretch(isle.trees, b)
        for n in range(first, last_tree):
            t = d.island_tree[n] - isle.world * m.ntree
            i0 = isle.world * m.nv + m.tree_dofadr[t]
            for i in range(i0, i0 + m.tree_dofnum[t]):
                q = d.sol_z[i]
                if beta > 0.0:
                    q += beta * d.sol_q[i]
                d.sol_r[i] = d.sol_p[i]
                d.sol_q[i] = q
                d.sol_p[i] = q
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    return new


@func
def precondition_forces(m, d, w, t):
    """sol_z = sol_p, dof forces, through the preconditioner of tree t."""
    if d.tree_single[w * m.ntree + t] == 1:
        i0 = w * m.nv + m.tree_dofadr[t]
        f = wrench_of_forces(m, d, i0, at6(d.sol_p, i0))
        v = sym6_times(w * m.nbody + m.tree_bodyadr[t], f, d.body_hess)
        put6(d.sol_z, i0, dofs_of_twist(m, d, i0, v))
    elif ti.static(m.has.jointed):
        precondition_dofs(m, d, w, t, d.sol_p, d.sol_z)
