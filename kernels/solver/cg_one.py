"""Conjugate gradients for the Newton direction of one island, on one thread.

H p = -gradient with H = M + J' D J never formed: contacts act through the twists of their bodies, and their wrenches
are added to the bodies as they come. The preconditioner is each tree's own Hessian. Free bodies are solved in twist
space (kernels/solver/free_body.py). Saad, "Iterative methods for sparse linear systems", algorithm 9.1.
"""

from ..constraint.cone import hessian_times
from ..spatial import cross, head, inertia_times, join, tail, tree_project, tree_twists
from ..types import (
    FP,
    at6,
    func,
    put6,
    ti,
    vec6,
)
from .free_body import dofs_of_twist, invert_twist, wrench_of_forces
from .steps import add_rows, row_times
from .tree_hessian import body_hessian, factor_tree, solve_factored, sym6_times, tree_hessian

# By how much a round reduces the linear residual. While the line search still corrects the step the direction may be
# rough; once it takes the whole step the set of acting constraints has settled, and the next round aims at the goal.
ROUGH = 0.3
PATIENCE = 10  # rounds after which a rough direction is not good enough: each further one aims better by TIGHTER
TIGHTER = 0.7
TIGHTEST = 1e-5
FINE = 0.01
LAST = 1e-3  # a round this fine that improves less than the tolerance is the last one
NEAR = 80.0  # gradient that is good enough after such an improvement, in tolerances


@ti.func
def settled(alpha, gradient, last_gradient):
    """Whether a round took the whole step and did what a Newton step should."""
    return ti.abs(alpha - 1.0) < 0.01 and gradient < 0.45 * last_gradient


@func
def next_reduction(m, d, newton_round, fine, gradient, improvement, last):
    """Reduction of the linear residual in the next round; 0 if there is no next one.

    Contacts far stiffer than the bodies (pyramids of little friction) need good directions long before they settle.
    """
    late = ti.cast(ti.max(0, newton_round - PATIENCE), FP)
    r = ti.max(ROUGH * ti.pow(FP(TIGHTER), late), TIGHTEST)
    if fine:
        r = ti.min(ti.max(0.7 * NEAR * m.opt.tolerance / gradient, FINE), r)
    if improvement < m.opt.tolerance:
        r = ti.min(r, 0.1 * last)
        if gradient < NEAR * m.opt.tolerance or last < LAST:
            r = 0.0
    if gradient < m.opt.tolerance:
        r = 0.0
    return r


@func
def factor_block(m, d, w, t, in_dofs):
    """Preconditioner of tree t: inverse body_hess of a free body, else factored tree_hess; plain tree_hess if
    in_dofs."""
    for b in range(m.tree_bodyadr[t], m.tree_bodyadr[t] + m.tree_bodynum[t]):
        body_hessian(m, d, w * m.nbody + b)
    if d.tree_single[w * m.ntree + t] == 1 and (not in_dofs):
        invert_twist(w * m.nbody + m.tree_bodyadr[t], d.body_hess)
    else:
        tree_hessian(m, d, w, t, not in_dofs)
        if not in_dofs:
            factor_tree(m, d, w, t)


@func
def precondition_tree(m, d, w, t, r: ti.template(), z: ti.template()):
    """z = r through the preconditioner of tree t; returns r'z."""
    i0 = w * m.nv + m.tree_dofadr[t]
    s = FP(0.0)
    if d.tree_single[w * m.ntree + t] == 1:
        b = at6(r, i0)
        x = sym6_times(w * m.nbody + m.tree_bodyadr[t], b, d.body_hess)
        put6(z, i0, x)
        s = b.dot(x)
    else:
        for i in range(i0, i0 + m.tree_dofnum[t]):
            z[i] = r[i]
        solve_factored(m, d, w, t, z)
        for i in range(i0, i0 + m.tree_dofnum[t]):
            s += r[i] * z[i]
    return s


@func
def solve_linear(
    m,
    d,
    w,
    tree0,
    tree1,
    con0,
    con1,
    row0,
    row1,
    limit,
    reduction,
    enough,
    p: ti.template(),
    r: ti.template(),
    z: ti.template(),
    q: ti.template(),
    Hq: ti.template(),
):
    """p = H^-1 p to a relative residual of `reduction` in the preconditioner's norm; at most limit iterations.

    Returns 0, with p = 0, where the squared norm, which is what a Newton step gains, is below `enough`. The conjugate
    direction of a free body and its product with H are kept in twist and wrench.
    """
    rz = FP(0.0)
    for n in range(tree0, tree1):
        t = d.island_tree[n] - w * m.ntree
        i0 = w * m.nv + m.tree_dofadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            put6(r, i0, wrench_of_forces(m, d, i0, at6(p, i0)))
            put6(p, i0, vec6(0.0))
        else:
            for i in range(i0, i0 + m.tree_dofnum[t]):
                r[i] = p[i]
                p[i] = 0.0
        rz += precondition_tree(m, d, w, t, r, z)
    goal = reduction * reduction * rz
    gain = rz
    beta = FP(0.0)
    k = 0
    while k < limit and rz > goal and gain >= enough:
        for n in range(tree0, tree1):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            b0 = w * m.nbody + m.tree_bodyadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                v = at6(z, i0)
                if k > 0:
                    v += beta * d.twist[b0]
                d.twist[b0] = v
                d.wrench[b0] = vec6(0.0)
            else:
                for i in range(i0, i0 + m.tree_dofnum[t]):
                    v = z[i]
                    if k > 0:
                        v += beta * q[i]
                    q[i] = v
                tree_twists(m, d, w, t, q)
                for b in range(b0, b0 + m.tree_bodynum[t]):
                    d.wrench[b] = vec6(0.0)
        for n in range(con0, con1):
            c = d.island_con[n]
            b1 = d.con_body[c][0]
            b2 = d.con_body[c][1]
            s1 = ti.max(b1, 0)  # the world's twist is zero
            s2 = ti.max(b2, 0)
            a1 = d.con_arm[c, 0]
            a2 = d.con_arm[c, 1]
            v1 = d.twist[s1]
            v2 = d.twist[s2]
            u = tail(v2) - tail(v1) + cross(head(v2), a2) - cross(head(v1), a1)
            f = hessian_times(m, d, c, d.contact_dim[c], join(head(v2) - head(v1), u))
            y1 = d.wrench[s1] - join(head(f) + cross(a1, tail(f)), tail(f))
            y2 = d.wrench[s2] + join(head(f) + cross(a2, tail(f)), tail(f))
            if b1 >= 0:
                d.wrench[b1] = y1
            if b2 >= 0:
                d.wrench[b2] = y2
        for n in range(row0, row1):
            e = d.island_row[n]
            d.row_force[e] = d.row_hess[e] * row_times(m, d, e, q)
        qHq = FP(0.0)
        for n in range(tree0, tree1):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            b0 = w * m.nbody + m.tree_bodyadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                v = d.twist[b0]
                y = d.wrench[b0] + inertia_times(m, d, b0, v)
                d.wrench[b0] = y
                qHq += v.dot(y)
            else:
                for b in range(b0, b0 + m.tree_bodynum[t]):
                    d.wrench[b] = d.wrench[b] + inertia_times(m, d, b, d.twist[b])
                tree_project(m, d, w, t, Hq)
                for j in range(m.tree_dofnum[t]):
                    Hq[i0 + j] = Hq[i0 + j] + m.dof_armature[m.tree_dofadr[t] + j] * q[i0 + j]
                add_rows(m, d, w * m.ntree + t, 1.0, Hq)
                for i in range(i0, i0 + m.tree_dofnum[t]):
                    qHq += q[i] * Hq[i]
        step = FP(0.0)
        if qHq > 0.0:
            step = rz / qHq
        new = FP(0.0)
        for n in range(tree0, tree1):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            b0 = w * m.nbody + m.tree_bodyadr[t]
            if d.tree_single[d.island_tree[n]] == 1:
                x = at6(p, i0) + step * d.twist[b0]
                y = at6(r, i0) - step * d.wrench[b0]
                v = sym6_times(b0, y, d.body_hess)
                put6(p, i0, x)
                put6(r, i0, y)
                put6(z, i0, v)
                new += y.dot(v)
            else:
                for i in range(i0, i0 + m.tree_dofnum[t]):
                    p[i] = p[i] + step * q[i]
                    r[i] = r[i] - step * Hq[i]
                new += precondition_tree(m, d, w, t, r, z)
        beta = new / rz
        rz = new
        k = ti.select(step > 0.0, k + 1, limit)
    for n in range(tree0, tree1):
        t = d.island_tree[n] - w * m.ntree
        if d.tree_single[d.island_tree[n]] == 1:
            i0 = w * m.nv + m.tree_dofadr[t]
            put6(p, i0, dofs_of_twist(m, d, i0, at6(p, i0)))
    return k
