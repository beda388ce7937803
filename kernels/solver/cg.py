"""Conjugate gradients for the Newton direction of one island, by a worker alone or by a team.

H p = -gradient with H = M + J' D J never formed: contacts act through the twists of their bodies, which gather the
wrenches of their contacts. The preconditioner is each tree's own Hessian (preconditioner.py). Single free bodies are
solved in twist space (free_body.py): their sol_r is a wrench, sol_p and sol_z are twists, and the conjugate direction
sol_q and its product sol_Hq are d.twist and d.wrench. Saad, "Iterative methods for sparse linear systems",
algorithm 9.1.
"""

from ..constants import LINEAR_ITERATIONS
from ..constraint.cone import hessian_times
from ..spatial import cross, head, inertia_times, join, sum_contacts, tail, tree_twists
from ..team import meet
from ..types import FP, at6, called, func, put6, six, store, ti, vec6
from .free_body import dofs_of_twist, twist_of_dofs, wrench_of_forces
from .incomplete import product_of_residuals, solve_halves
from .isle import Isle, first_block, keep, next_block, stretch, sum_of
from .lanes import LANES, WIDE, are_lanes, solve_lanes
from .packed import (
    packed_advance,
    packed_multiply_contacts,
    packed_multiply_trees,
    packed_start,
    packed_turn,
)
from .preconditioner import precondition_dofs
from .steps import row_product, store_wrench, tree_product
from .tree_hessian import sym6_times

RZ, QHQ = 0, 1  # columns of tree_sum


@called("jointed")
def solve_linear(m, d, k: ti.i32, isle: Isle, reduction: FP, enough: FP) -> ti.i32:
    """sol_p = H^-1 sol_p to a relative residual of `reduction` in the preconditioner's norm.

    Returns the number of products with H: 0, and p = 0, where the squared norm, which is what a Newton step gains, is
    below `enough`.
    """
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:
            linear_start(m, d, isle, first, last)
        elif ti.static(m.has.packed):
            packed_start(m, d, isle.world, first, last)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    rz = FP(0.0)
    gain = FP(0.0)
    goal = FP(0.0)
    beta = FP(0.0)
    n = -1  # products so far; in the first pass there is only a residual
    while n < 0 or (n < LINEAR_ITERATIONS and rz > goal and gain >= enough):
        step = FP(0.0)
        if n >= 0:
            qHq = multiply(m, d, isle, n, beta)
            if qHq > 0.0:
                step = rz / qHq
        new = FP(0.0)
        b = first_block(m, d, isle, isle.trees)
        while b < isle.trees.blocks:
            first, last = stretch(isle.trees, b)
            if isle.packed == 0:
                new = advance(m, d, isle, first, last, n, step)
            elif ti.static(m.has.packed):
                new = packed_advance(m, d, isle.world, first, last, n, step)
            keep(isle.trees, b, RZ, new, d.tree_sum)
            b = next_block(m, d, isle, isle.trees, b)
        meet(m, d, isle.me, isle.size)
        if ti.static(m.has.rows):
            if isle.part >= 0:
                precondition(m, d, k, isle)
        if isle.large == 1:
            new = sum_of(isle.trees, RZ, d.tree_sum)
        if n < 0:
            gain = new
            goal = reduction * reduction * new
        beta = new / rz
        rz = new
        n = ti.select(n < 0 or step > 0.0, n + 1, LINEAR_ITERATIONS)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:  # else twists it stays
            linear_end(m, d, isle, first, last)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    return n


@called("jointed")
def solve_apart(m, d, isle: Isle, enough: FP) -> ti.i32:
    """The same of an island that nothing couples: the preconditioner is exact, and no product is needed.

    Returns 0, and p = 0, where the step is not worth it, else 1. Such an island is small: one block of trees.
    """
    first, last = isle.trees.begin, isle.trees.end
    linear_start(m, d, isle, first, last)
    worth = 0
    if advance(m, d, isle, first, last, -1, FP(0.0)) >= enough:
        worth = 1
        for n in range(first, last):
            t = d.island_tree[n] - isle.world * m.ntree
            i0 = isle.world * m.nv + m.tree_dofadr[t]
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.sol_p[i] = d.sol_z[i]
    linear_end(m, d, isle, first, last)
    return worth


@func
def precondition(m, d, k, isle: ti.template()):
    """z = r through an incomplete factor, and the sums of r'z."""
    solve_halves(m, d, k, isle)
    meet(m, d, isle.me, isle.size)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        keep(isle.trees, b, RZ, product_of_residuals(m, d, isle, first, last), d.tree_sum)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)


@func
def multiply(m, d, isle: ti.template(), k, beta):
    """The next conjugate direction q and H q; returns q'Hq."""
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:
            turn(m, d, isle, first, last, k, beta)
        elif ti.static(m.has.packed):
            packed_turn(m, d, isle.world, first, last, k, beta)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    b = first_block(m, d, isle, isle.cons)
    while b < isle.cons.blocks:
        first, last = stretch(isle.cons, b)
        if isle.packed == 0:
            multiply_contacts(m, d, first, last)
        elif ti.static(m.has.packed):
            packed_multiply_contacts(m, d, first, last)
        b = next_block(m, d, isle, isle.cons, b)
    if ti.static(m.has.rows):
        b = first_block(m, d, isle, isle.rows)
        while b < isle.rows.blocks:
            first, last = stretch(isle.rows, b)
            multiply_rows(m, d, first, last)
            b = next_block(m, d, isle, isle.rows, b)
    meet(m, d, isle.me, isle.size)
    qHq = FP(0.0)
    b = first_block(m, d, isle, isle.trees)
    while b < isle.trees.blocks:
        first, last = stretch(isle.trees, b)
        if isle.packed == 0:
            qHq = multiply_trees(m, d, isle, first, last)
        elif ti.static(m.has.packed):
            qHq = packed_multiply_trees(m, d, isle.world, first, last)
        keep(isle.trees, b, QHQ, qHq, d.tree_sum)
        b = next_block(m, d, isle, isle.trees, b)
    meet(m, d, isle.me, isle.size)
    if isle.large == 1:
        qHq = sum_of(isle.trees, QHQ, d.tree_sum)
    return qHq


@func
def linear_start(m, d, isle: ti.template(), first, last):
    """p = 0, residual r = -gradient, which p held."""
    for n in range(first, last):
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
def turn(m, d, isle: ti.template(), first, last, k, beta):
    """The next conjugate direction q = z + beta q and its twists."""
    for n in range(first, last):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        b0 = isle.world * m.nbody + m.tree_bodyadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            v = at6(d.sol_z, i0)
            if k > 0:
                v += beta * six(d.twist[b0])
            store(d.twist, b0, v)
        elif ti.static(m.has.jointed):
            for i in range(i0, i0 + m.tree_dofnum[t]):
                v = d.sol_z[i]
                if k > 0:
                    v += beta * d.sol_q[i]
                d.sol_q[i] = v
            if m.tree_free[t] == 1:
                store(d.twist, b0, twist_of_dofs(m, d, i0, at6(d.sol_q, i0)))
            else:
                tree_twists(m, d, isle.world, t, d.sol_q)


@func
def multiply_contacts(m, d, first, last):
    """D J q of the contacts, as wrenches."""
    for n in range(first, last):
        c = d.island_con[n]
        s1 = ti.max(d.con_body[c][0], 0)  # the world's twist is zero
        s2 = ti.max(d.con_body[c][1], 0)
        v1 = d.twist[s1]
        v2 = d.twist[s2]
        u = tail(v2) - tail(v1) + cross(head(v2), head(d.con_arm[c, 1])) - cross(head(v1), head(d.con_arm[c, 0]))
        dim = d.contact_dim[c]
        store_wrench(m, d, c, dim, hessian_times(m, d, c, dim, join(head(v2) - head(v1), u)))


@func
def multiply_rows(m, d, first, last):
    """D J q of the rows."""
    if ti.static(m.has.rows):
        for n in range(first, last):
            row_product(m, d, d.island_row[n], d.sol_q)


@func
def multiply_trees(m, d, isle: ti.template(), first, last):
    """H q from M q and what contacts and rows have left; returns q'Hq."""
    s = FP(0.0)
    for n in range(first, last):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            b = isle.world * m.nbody + m.tree_bodyadr[t]
            v = six(d.twist[b])
            y = sum_contacts(m, d, b) + inertia_times(m, d, b, v)
            store(d.wrench, b, y)
            s += v.dot(y)
        elif ti.static(m.has.jointed):
            tree_product(m, d, isle.world, t, d.sol_q, d.sol_Hq, sum_contacts)
            for i in range(i0, i0 + m.tree_dofnum[t]):
                s += d.sol_q[i] * d.sol_Hq[i]
    return s


@func
def advance(m, d, isle: ti.template(), first, last, k, step):
    """p and r a step along q, unless k < 0, then z = preconditioned r; returns r'z. With an incomplete factor z = r."""
    s = FP(0.0)
    behind = first  # the last tree that was preconditioned with others
    for n in range(first, last):
        t = d.island_tree[n] - isle.world * m.ntree
        i0 = isle.world * m.nv + m.tree_dofadr[t]
        b0 = isle.world * m.nbody + m.tree_bodyadr[t]
        if d.tree_single[d.island_tree[n]] == 1:
            r = at6(d.sol_r, i0)
            if k >= 0:
                r -= step * six(d.wrench[b0])
                put6(d.sol_p, i0, at6(d.sol_p, i0) + step * six(d.twist[b0]))
                put6(d.sol_r, i0, r)
            z = r
            if isle.part < 0:
                z = sym6_times(b0, r, d.body_hess)
            put6(d.sol_z, i0, z)
            s += r.dot(z)
        elif ti.static(m.has.jointed):
            if n >= behind:
                number = 1
                if ti.static(WIDE):
                    if isle.part < 0 and are_lanes(m, d, n, last):
                        number = LANES
                behind = n + number
                if k >= 0:
                    for i in range(i0, i0 + number * m.tree_dofnum[t]):
                        d.sol_p[i] = d.sol_p[i] + step * d.sol_q[i]
                        d.sol_r[i] = d.sol_r[i] - step * d.sol_Hq[i]
                if isle.part >= 0:
                    for i in range(i0, i0 + m.tree_dofnum[t]):
                        d.sol_z[i] = d.sol_r[i]
                elif number == 1:
                    s += precondition_dofs(m, d, isle.world, t, d.sol_r, d.sol_z)
                elif ti.static(WIDE):
                    rz = solve_lanes(m, d, isle.world, t, d.sol_r, d.sol_z)
                    for c in ti.static(range(LANES)):
                        s += rz[c]
    return s


@func
def linear_end(m, d, isle: ti.template(), first, last):
    """The solution as a dof vector for single bodies too."""
    for n in range(first, last):
        if d.tree_single[d.island_tree[n]] == 1:
            i0 = isle.world * m.nv + m.tree_dofadr[d.island_tree[n] - isle.world * m.ntree]
            put6(d.sol_p, i0, dofs_of_twist(m, d, i0, at6(d.sol_p, i0)))
