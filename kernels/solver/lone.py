"""Newton's method on an island that is one free body and touches only static ones.

Its vectors stay in registers: the body's acceleration is a twist, as in free_body.py, its gradient a wrench, and its
Hessian a 6 x 6 matrix that is exact. Residuals follow from the twist, so that contacts are read and nothing but
con_Jaref is written for them. The first round looks at the warm start, or at qacc_smooth without one; a body at rest
ends there. Each later one tries the whole step, and searches along the direction only where that leaves too much of the
slope. Seed 000, "Convex solver".
"""

from ..constants import DSBL_WARMSTART
from ..constraint.cone import (
    cone_force,
    cone_hessian,
    cone_line,
    cone_rows,
    load_parameters,
    pushes,
    to_contact,
    to_world,
)
from ..spatial import cross, head, inertia_times, join, mass_of, tail
from ..team import crew, take_all
from ..types import FP, HAND, MINVAL, SERIAL, at6, func, kernel, mat3, put6, ti, vec2, vec6
from .free_body import dofs_of_twist, forces_of_wrench, solve6, twist_of_dofs, wrench_of_forces
from .rounds import NEAR, flat, scale_of
from .statistics import clear_rows, count_rows, tell_round, told
from .steps import next_alpha, vec3
from .tree_hessian import hessian_of_inertia, with_contact

vec7 = ti.types.vector(7, FP)


@kernel
def solve_lone_islands(m, d):
    """qacc and qfrc_constraint of islands of one free body alone, shared out to d.nhand workers. A kernel of its own:
    the compiler takes far more than twice as long for one that is twice as large."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, lone_work)


@func
def lone_work(m, d, hand):
    """A worker's part."""
    take_all(m, d, hand, d.nisland, take_if_lone)


@func
def take_if_lone(m, d, k, hand):
    solve_if_lone(m, d, k)


@func
def solve_if_lone(m, d, k):
    if is_lone(m, d, k):
        solve_lone(m, d, k)


@func
def is_lone(m, d, k):
    """Whether island k is such a body."""
    lone = False
    if ti.static(not m.has.torsion):
        lone = (
            d.island_treenum[k] == 1
            and d.island_coupled[k] == 0
            and d.tree_single[d.island_tree[d.island_treeadr[k]]] == 1
        )
    return lone


@func
def solve_lone(m, d, k):
    """qacc and qfrc_constraint of island k, one free body alone."""
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    t = d.island_tree[d.island_treeadr[k]] - w * m.ntree
    i0 = w * m.nv + m.tree_dofadr[t]
    b = w * m.nbody + m.tree_bodyadr[t]
    scale = scale_of(m, d, k)
    x = at6(d.qacc_warmstart, i0)
    if m.opt.disableflags & DSBL_WARMSTART != 0:
        x = at6(d.qacc_smooth, i0)
    v = twist_of_dofs(m, d, i0, x)
    free = twist_of_dofs(m, d, i0, at6(d.qacc_smooth, i0))
    pull = wrench_of_forces(m, d, i0, at6(d.qfrc_smooth, i0))
    p, force, g = vec6(0.0), vec6(0.0), vec6(0.0)
    alpha, slope, cost, gradient = FP(1.0), FP(0.0), FP(0.0), FP(0.0)
    niter, evaluations = 0, 0
    newton_round = -1
    more, searched = True, False
    while more:
        there = v + alpha * p
        s = pushed(m, d, b, there)
        f = inertia_times(m, d, b, there) - pull
        push = vec6(s[1], s[2], s[3], s[4], s[5], s[6])
        left = (f - push).dot(p)
        evaluations += 1
        if not searched and ti.abs(left) > m.opt.ls_tolerance * ti.abs(slope):
            searched = True  # it may end at 1
            ip = inertia_times(m, d, b, p)
            found = search(m, d, b, p, vec3(slope, (f - ip).dot(p), ip.dot(p)))
            alpha, evaluations = found[0], ti.cast(found[1], ti.i32)
        else:
            count_sides(m, d, k, newton_round, b, v)
            v, force, g = there, push, f - push
            here = s[0] + 0.5 * f.dot(v - free)
            improvement = scale * (cost - here)
            cost = here
            gradient = scale * forces_of_wrench(m, d, i0, g).norm()
            niter = newton_round + 1
            slope_left = scale * ti.abs(left) / ti.max(dofs_of_twist(m, d, i0, p).norm(), MINVAL)
            tell_round(m, d, k, newton_round, vec3(improvement, gradient, slope_left), evaluations, 1)
            more = gradient >= m.opt.tolerance and niter < m.opt.iterations
            if newton_round >= 0 and improvement < m.opt.tolerance:
                more = False
            if more and gradient < NEAR * m.opt.tolerance:
                more = scale * most_gain(m, d, b, m.tree_bodyadr[t], g) >= m.opt.tolerance
            if more:
                p = -solve6(hessian(m, d, b), g)
                alpha, slope, evaluations, searched = FP(1.0), g.dot(p), 0, False
                more = gradient >= NEAR * m.opt.tolerance or -scale * slope >= m.opt.tolerance
                newton_round += 1
    if niter > 0:
        x = dofs_of_twist(m, d, i0, v)
    put6(d.qacc, i0, x + (gradient - gradient))  # NaN where the gradient is not finite: that may not be lost
    put6(d.qfrc_constraint, i0, forces_of_wrench(m, d, i0, force))
    d.island_niter[k] = niter
    d.island_cost[k] = cost
    d.island_gradient[k] = gradient


@func
def most_gain(m, d, wb, b, g):
    """No less than what a Newton step gains at the gradient g: as if nothing touched body b, in its world wb."""
    inertia = m.body_inertia[wb // m.nbody, b]
    least = ti.max(ti.min(ti.min(inertia[0], inertia[1]), inertia[2]), MINVAL)
    return tail(g).dot(tail(g)) / mass_of(d.cinert, wb) + head(g).dot(head(g)) / least


@func
def along(m, d, side, v):
    """J v of a contact of a body with the twist v and a static one; side: 2 * contact, one more if it is body 2."""
    sign = 2.0 * ti.cast(side % 2, FP) - 1.0
    u = tail(v) + cross(head(v), head(d.con_arm[side]))
    c = side // 2
    return sign * to_contact(c, join(head(v), u), d.contact_dim[c], d.contact_frame)


@func
def pushed(m, d, b, v):
    """Cost of the contacts of body b at the twist v, then the wrench of their forces on it; con_Jaref is that there."""
    cost = FP(0.0)
    wrench = vec6(0.0)
    for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        side = d.body_con[n]
        c = side // 2
        j = along(m, d, side, v) - d.con_aref[c]
        d.con_Jaref[c] = j
        f = cone_force(m, d, j, d.contact_dim[c], d.con_D[c], d.con_mu[c], load_parameters(m, d, c))
        cost += f[0]
        sign = 2.0 * ti.cast(side % 2, FP) - 1.0
        force = sign * tail(to_world(c, vec6(f[1], f[2], f[3], 0.0, 0.0, 0.0), d.contact_frame))
        wrench += join(cross(head(d.con_arm[side]), force), force)
    return vec7(cost, wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5])


@func
def count_sides(m, d, k, n, b, before):
    """Counts the rows of the contacts of body b that act at the twist of which con_Jaref is, and those that did not at
    the twist before, or did there alone."""
    if told(m, d, k, n):
        clear_rows(m, d, k, n)
        rows = vec2(0.0)
        for i in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
            c = d.body_con[i] // 2
            old = along(m, d, d.body_con[i], before) - d.con_aref[c]
            rows += cone_rows(m, d, old, d.con_Jaref[c], d.contact_dim[c], d.con_mu[c], load_parameters(m, d, c))
        count_rows(m, d, k, n, ti.cast(rows[0], ti.i32), ti.cast(rows[1], ti.i32))


@func
def search(m, d, b, p, slope):
    """Exact line search along p from a step of 1 behind the last place, where con_Jaref is: see newton.search. Returns
    the step and how often the derivative was evaluated, at 1 and here."""
    step = vec3(1.0, 0.0, -1.0)
    found = False
    evaluations = 1
    for i in range(m.opt.ls_iterations):
        evaluations = i + 1
        gauss = slope[1] + step[0] * slope[2]
        s = vec2(gauss, slope[2])
        for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
            c = d.body_con[n] // 2
            s += cone_line(m, d, d.con_Jaref[c], along(m, d, d.body_con[n], p), step[0] - 1.0, d.contact_dim[c],
                           d.con_D[c], d.con_mu[c], load_parameters(m, d, c))  # fmt: skip
        if flat(m.opt.ls_tolerance, slope[0], s[0], gauss):
            found = True
            break
        step = next_alpha(step[0], step[1], step[2], s[0], s[1])
    alpha = step[0]
    if slope[0] >= 0.0:
        alpha = 0.0
    elif not found and step[1] > 0.0:
        alpha = step[1]
    return vec2(alpha, evaluations)


@func
def hessian(m, d, b):
    """Inertia of body b plus the Hessians of its contacts: angular, coupling (linear by angular) and linear part."""
    ww, vw, vv = hessian_of_inertia(b, d.cinert)
    for n in range(d.body_conadr[b], d.body_conadr[b] + d.body_connum[b]):
        side = d.body_con[n]
        c = side // 2
        h, g, e6, a, q = cone_hessian(
            m, d, d.con_Jaref[c], d.contact_dim[c], d.con_D[c], d.con_mu[c], load_parameters(m, d, c)
        )
        x = pushes(d.contact_frame[c, 0], d.contact_frame[c, 1], d.contact_frame[c, 2], h, g, e6, a, q)
        k = mat3(x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2])
        ww, vw, vv = with_contact(ww, vw, vv, k, head(d.con_arm[side]))
    return ww, vw, vv
