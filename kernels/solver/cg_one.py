"""Conjugate gradients for the Newton direction of one island, on one thread.

H p = -gradient with H = M + J' D J never formed: contacts act through the twists of their bodies, and their wrenches
are added to the bodies as they come. The preconditioner is each tree's own Hessian (preconditioner.py). Single free
bodies are solved in twist space (free_body.py): their sol_r is a wrench, sol_p and sol_z are twists, and the conjugate
direction sol_q and its product sol_Hq are d.twist and d.wrench. Saad, "Iterative methods for sparse linear systems",
algorithm 9.1.
"""

from ..constants import LINEAR_ITERATIONS
from ..constraint.cone import hessian_times
from ..constraint.row import row_times
from ..spatial import cross, head, inertia_times, join, tail, tree_project, tree_twists
from ..types import FP, at6, func, put6, ti, vec6
from .free_body import dofs_of_twist, wrench_of_forces
from .preconditioner import precondition_dofs
from .steps import add_rows
from .tree_hessian import sym6_times


@func
def solve_linear(m, d, isle: ti.template(), reduction, enough):
    """sol_p = H^-1 sol_p to a relative residual of `reduction` in the preconditioner's norm.

    Returns the number of products with H: 0, and p = 0, where the squared norm, which is what a Newton step gains, is
    below `enough`.
    """
    linear_start(m, d, isle)
    rz = FP(0.0)
    gain = FP(0.0)
    goal = FP(0.0)
    beta = FP(0.0)
    k = -1  # products so far; in the first pass there is only a residual
    while k < 0 or (k < LINEAR_ITERATIONS and rz > goal and gain >= enough):
        step = FP(0.0)
        if k >= 0:
            turn(m, d, isle, k, beta)
            multiply_contacts(m, d, isle)
            multiply_rows(m, d, isle)
            qHq = multiply_trees(m, d, isle)
            if qHq > 0.0:
                step = rz / qHq
        new = advance(m, d, isle, k, step)
        if k < 0:
            gain = new
            goal = reduction * reduction * new
        beta = new / rz
        rz = new
        k = ti.select(k < 0 or step > 0.0, k + 1, LINEAR_ITERATIONS)
    linear_end(m, d, isle)
    return k


@func
def linear_start(m, d, isle: ti.template()):
    """p = 0, residual r = -gradient, which p held."""
    for n in range(isle.tree0, isle.tree1):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            put6(d.sol_r, i0, wrench_of_forces(m, d, i0, at6(d.sol_p, i0)))
            put6(d.sol_p, i0, vec6(0.0))
        elif ti.static(m.has.jointed):
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.sol_r[i] = d.sol_p[i]
                d.sol_p[i] = 0.0


@func
def turn(m, d, isle: ti.template(), k, beta):
    """The next conjugate direction q = z + beta q and its twists; no wrenches yet."""
    for n in range(isle.tree0, isle.tree1):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        b0 = isle.world * m.nbody + m.tree_bodyadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            v = at6(d.sol_z, i0)
            if k > 0:
                v += beta * d.twist[b0]
            d.twist[b0] = v
            d.wrench[b0] = vec6(0.0)
        elif ti.static(m.has.jointed):
            for i in range(i0, i0 + m.tree_dofnum[t]):
                v = d.sol_z[i]
                if k > 0:
                    v += beta * d.sol_q[i]
                d.sol_q[i] = v
            tree_twists(m, d, isle.world, t, d.sol_q)
            for b in range(b0, b0 + m.tree_bodynum[t]):
                d.wrench[b] = vec6(0.0)


@func
def multiply_contacts(m, d, isle: ti.template()):
    """Adds J' D J q of the contacts to the wrenches of their bodies."""
    for n in range(isle.con0, isle.con1):
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


@func
def multiply_rows(m, d, isle: ti.template()):
    """D J q of the rows."""
    if ti.static(m.has.rows):
        for n in range(isle.row0, isle.row1):
            r = d.island_row[n]
            d.row_force[r] = d.row_hess[r] * row_times(m, d, r, d.sol_q)


@func
def multiply_trees(m, d, isle: ti.template()):
    """H q from M q and what contacts and rows have left; returns q'Hq."""
    s = FP(0.0)
    for n in range(isle.tree0, isle.tree1):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        b0 = isle.world * m.nbody + m.tree_bodyadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            v = d.twist[b0]
            y = d.wrench[b0] + inertia_times(m, d, b0, v)
            d.wrench[b0] = y
            s += v.dot(y)
        elif ti.static(m.has.jointed):
            for b in range(b0, b0 + m.tree_bodynum[t]):
                d.wrench[b] = d.wrench[b] + inertia_times(m, d, b, d.twist[b])
            tree_project(m, d, isle.world, t, d.sol_Hq)
            for j in range(m.tree_dofnum[t]):
                d.sol_Hq[i0 + j] = d.sol_Hq[i0 + j] + m.dof_armature[m.tree_dofadr[t] + j] * d.sol_q[i0 + j]
            add_rows(m, d, isle.world * m.ntree + t, d.sol_Hq)
            for i in range(i0, i0 + m.tree_dofnum[t]):
                s += d.sol_q[i] * d.sol_Hq[i]
    return s


@func
def advance(m, d, isle: ti.template(), k, step):
    """p and r a step along q, unless k < 0, then z = preconditioned r; returns r'z."""
    s = FP(0.0)
    for n in range(isle.tree0, isle.tree1):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        b0 = isle.world * m.nbody + m.tree_bodyadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            r = at6(d.sol_r, i0)
            if k >= 0:
                r -= step * d.wrench[b0]
                put6(d.sol_p, i0, at6(d.sol_p, i0) + step * d.twist[b0])
                put6(d.sol_r, i0, r)
            z = sym6_times(b0, r, d.body_hess)
            put6(d.sol_z, i0, z)
            s += r.dot(z)
        elif ti.static(m.has.jointed):
            if k >= 0:
                for i in range(i0, i0 + m.tree_dofnum[t]):
                    d.sol_p[i] = d.sol_p[i] + step * d.sol_q[i]
                    d.sol_r[i] = d.sol_r[i] - step * d.sol_Hq[i]
            s += precondition_dofs(m, d, isle.world, t, d.sol_r, d.sol_z)
    return s


@func
def linear_end(m, d, isle: ti.template()):
    """The solution as a dof vector for single bodies too."""
    for n in range(isle.tree0, isle.tree1):
        if d.tree_single[d.island_tree[n]] == 1:
            i0 = isle.world * m.nv + m.tree_dofadr[d.island_tree[n] - isle.world * m.ntree]
            put6(d.sol_p, i0, dofs_of_twist(m, d, i0, at6(d.sol_p, i0)))
