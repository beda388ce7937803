"""Conjugate gradients for the Newton direction of large islands: H p = -gradient, H = M + J' D J never formed.

Phases are cut into blocks as in all_threads.py. An iteration is two tasks: what each contact and row does with the
twists, beside which other threads add up the sums of the last iteration, and of each tree its product with H and the
steps of its vectors. So that nobody waits for a sum before the product the vectors z = P r (P: preconditioner), H z,
P H q and H P H q follow by recurrences of their own: P. Ghysels, W. Vanroose, "Hiding global synchronization latency in
the preconditioned conjugate gradient algorithm", 2014. What an iteration leaves to the next one stands in the other of
two places, since all threads read it while one writes: isl_go (1: not converged), isl_rz, isl_step, isl_pass, columns
of tblk_sum.
"""

from ..constants import LINEAR_ITERATIONS
from ..spatial import inertia_times, sum_contacts, tree_twists
from ..types import FP, SERIAL, SPREAD, at6, func, kernel, put6, six, store, ti, vec2
from .blocks import add_tree_blocks, each, two_tree_sums
from .cg import multiply_contacts
from .free_body import dofs_of_twist, wrench_of_forces
from .phases import project_trees
from .preconditioner import factor_hessian, precondition_tree
from .rounds import LINEAR, PROJECT, START
from .steps import row_product, tree_product
from .tree_hessian import sym6_times

FRESH, FIRST = -1.0, 0.0  # isl_rz before the product with z is known, and before there is a direction


@kernel
def start_direction(m, d):
    """Factor of each tree's own Hessian, p = 0, residual r = -gradient, z = P r; parallel over blocks."""
    trees = d.ntblk * SPREAD
    each(m, d, trees, SERIAL, SPREAD, start_tree_block)


@func
def start_tree_block(m, d, b):
    if d.isl_phase[d.tblk_island[b]] == START:
        w = d.island_tree[d.tblk_begin[b]] // m.ntree
        for n in range(d.tblk_begin[b], d.tblk_end[b]):
            t = d.island_tree[n] - w * m.ntree
            i0 = w * m.nv + m.tree_dofadr[t]
            factor_hessian(m, d, w, t, False, False)
            if d.tree_single[d.island_tree[n]] == 1:
                put6(d.sol_r, i0, wrench_of_forces(m, d, i0, at6(d.sol_r, i0)))
            precondition(m, d, w, t, d.sol_r)
            for i in range(i0, i0 + m.tree_dofnum[t]):
                d.sol_p[i] = 0.0
                d.sol_z[i] = d.sol_v[i]


@func
def precondition(m, d, w, t, r: ti.template()):
    """v = P r on tree t, which the next product is with, and the twists of its bodies along v."""
    precondition_tree(m, d, w, t, r, d.sol_v)
    if d.tree_single[w * m.ntree + t] == 1:
        store(d.twist, w * m.nbody + m.tree_bodyadr[t], at6(d.sol_v, w * m.nv + m.tree_dofadr[t]))
    elif ti.static(m.has.jointed):
        tree_twists(m, d, w, t, d.sol_v)


@kernel
def linear_step(m, d):
    """Two iterations; parallel over blocks. An island stops where the preconditioned residual has been reduced as
    asked."""
    trees, items = d.ntblk * SPREAD, (d.ncblk + d.nrblk + d.ntblk) * SPREAD
    each(m, d, items, SERIAL, SPREAD, multiply_block_0)
    each(m, d, trees, SERIAL, SPREAD, advance_block_0)
    each(m, d, items, SERIAL, SPREAD, multiply_block_1)
    each(m, d, trees, SERIAL, SPREAD, advance_block_1)


@func
def multiply_block_0(m, d, b):
    multiply_block(m, d, b, 0)


@func
def multiply_block_1(m, d, b):
    multiply_block(m, d, b, 1)


@func
def advance_block_0(m, d, b):
    advance_block(m, d, b, 0)


@func
def advance_block_1(m, d, b):
    advance_block(m, d, b, 1)


@func
def multiply_block(m, d, b, now: ti.template()):
    """D J v of a block of contacts or of rows; behind them, at a block of trees, sums of groups of these."""
    row = b - d.ncblk
    tree = row - d.nrblk
    if b < d.ncblk:
        if d.isl_go[d.cblk_island[b]][now] == 1:
            multiply_contacts(m, d, d.cblk_begin[b], d.cblk_end[b])
    elif tree >= 0:
        k = d.tblk_island[tree]
        if d.isl_go[k][now] == 1:
            if ti.static(now == 0):
                if tree == d.island_tblkadr[k]:
                    d.isl_phase[k] = LINEAR
            add_tree_blocks(m, d, tree, 2 * now)
    elif ti.static(m.has.rows):
        if d.isl_go[d.rblk_island[row]][now] == 1:
            for n in range(d.rblk_begin[row], d.rblk_end[row]):
                row_product(m, d, d.island_row[n], d.sol_v)


@func
def advance_block(m, d, b, now: ti.template()):
    """The next direction and products, p and r that step along it, v = P H z; r'z and z'Hz for the next iteration."""
    k = d.tblk_island[b]
    go = d.isl_go[k][now]
    if go == 1:
        before = d.isl_rz[k][now]
        rz = FP(0.0)
        step = FP(0.0)
        beta = FP(0.0)
        first = FP(0.0)
        if before != FRESH:
            sums = two_tree_sums(m, d, k, 2 * now)
            rz = sums[0]
            qHq = sums[1]
            first = rz
            if before != FIRST:
                first = d.isl_rz0[k]
                beta = rz / before
                qHq -= beta * rz / d.isl_step[k][now]
            goal = d.isl_reduction[k] * d.isl_reduction[k] * first
            if qHq > 0.0 and (rz > goal or before == FIRST) and d.isl_pass[k][now] < LINEAR_ITERATIONS:
                step = rz / qHq
            if step == 0.0:
                go = 0
        if b == d.island_tblkadr[k]:
            d.isl_step[k][1 - now] = step
            d.isl_rz[k][1 - now] = rz
            d.isl_pass[k][1 - now] = d.isl_pass[k][now] + 1
            if before == FIRST:
                d.isl_rz0[k] = first
            if go == 0:
                d.isl_phase[k] = PROJECT
        if go == 1:
            sums = advance_trees(m, d, b, step, beta, before == FRESH, before == FIRST)
            d.tblk_sum[b][2 - 2 * now] = sums[0]
            d.tblk_sum[b][3 - 2 * now] = sums[1]
        else:
            end_tree_block(m, d, b)
    if b == d.island_tblkadr[k]:
        d.isl_go[k][1 - now] = go


@func
def end_tree_block(m, d, b):
    """The direction is one of dofs from here on, for single bodies too, and `project` is due."""
    w = d.island_tree[d.tblk_begin[b]] // m.ntree
    for n in range(d.tblk_begin[b], d.tblk_end[b]):
        if d.tree_single[d.island_tree[n]] == 1:
            i0 = w * m.nv + m.tree_dofadr[d.island_tree[n] - w * m.ntree]
            put6(d.sol_p, i0, dofs_of_twist(m, d, i0, at6(d.sol_p, i0)))
    project_tree_block(m, d, b)


@func
def project_tree_block(m, d, b):
    """M p, the twists along p, and sums of the slope."""
    s = project_trees(m, d, False, d.tblk_begin[b], d.tblk_end[b])
    for i in ti.static(range(3)):
        d.tblk_sum[b][i] = s[i]


@func
def advance_trees(m, d, b, step, beta, fresh, first):
    """H v of each tree: with v = z if fresh, later with v = P H z; then its vectors."""
    s = vec2(0.0)
    w = d.island_tree[d.tblk_begin[b]] // m.ntree
    for n in range(d.tblk_begin[b], d.tblk_end[b]):
        t = d.island_tree[n] - w * m.ntree
        if d.tree_single[d.island_tree[n]] == 1:
            s += advance_body(m, d, w, t, step, beta, fresh, first)
        elif ti.static(m.has.jointed):
            tree_product(m, d, w, t, d.sol_v, d.sol_Mp, sum_contacts)  # sol_Mp is free so long
            s += advance_dofs(m, d, w, t, step, beta, fresh, first)
            precondition(m, d, w, t, d.sol_Hz)
    return s


@func
def advance_body(m, d, w, t, step, beta, fresh, first):
    """advance_dofs and the next v of a single body, whose numbers are each read once."""
    i = w * m.nv + m.tree_dofadr[t]
    b = w * m.nbody + m.tree_bodyadr[t]
    y = six(d.twist[b])
    Hy = sum_contacts(m, d, b) + inertia_times(m, d, b, y)
    z = at6(d.sol_z, i)
    r = at6(d.sol_r, i)
    Hz = Hy
    if not fresh:
        q = z
        Hz = at6(d.sol_Hz, i)
        Hq = Hz
        if not first:
            q += beta * at6(d.sol_q, i)
            Hq += beta * at6(d.sol_Hq, i)
            y += beta * at6(d.sol_y, i)
            Hy += beta * at6(d.sol_Hy, i)
        put6(d.sol_q, i, q)
        put6(d.sol_Hq, i, Hq)
        put6(d.sol_y, i, y)
        put6(d.sol_Hy, i, Hy)
        put6(d.sol_p, i, at6(d.sol_p, i) + step * q)
        r -= step * Hq
        z -= step * y
        Hz -= step * Hy
        put6(d.sol_r, i, r)
        put6(d.sol_z, i, z)
    put6(d.sol_Hz, i, Hz)
    store(d.twist, b, sym6_times(b, Hz, d.body_hess))
    return vec2(r.dot(z), z.dot(Hz))


@func
def advance_dofs(m, d, w, t, step, beta, fresh, first):
    """The vectors of a tree whose H v is sol_Mp; r'z and z'Hz."""
    rz = FP(0.0)
    zHz = FP(0.0)
    i0 = w * m.nv + m.tree_dofadr[t]
    for i in range(i0, i0 + m.tree_dofnum[t]):
        if fresh:
            d.sol_Hz[i] = d.sol_Mp[i]
        else:
            advance(m, d, i, step, beta, first)
        rz += d.sol_r[i] * d.sol_z[i]
        zHz += d.sol_z[i] * d.sol_Hz[i]
    return vec2(rz, zHz)


@func
def advance(m, d, i, step, beta, first):
    """Dof i of each vector. The directions q, H q, P H q and H P H q begin anew at the first step."""
    q = d.sol_z[i]
    Hq = d.sol_Hz[i]
    y = d.sol_v[i]
    Hy = d.sol_Mp[i]
    if not first:
        q += beta * d.sol_q[i]
        Hq += beta * d.sol_Hq[i]
        y += beta * d.sol_y[i]
        Hy += beta * d.sol_Hy[i]
    d.sol_q[i] = q
    d.sol_Hq[i] = Hq
    d.sol_y[i] = y
    d.sol_Hy[i] = Hy
    d.sol_p[i] = d.sol_p[i] + step * q
    d.sol_r[i] = d.sol_r[i] - step * Hq
    d.sol_z[i] = d.sol_z[i] - step * y
    d.sol_Hz[i] = d.sol_Hz[i] - step * Hy
