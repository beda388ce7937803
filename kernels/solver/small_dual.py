"""Projected Gauss-Seidel on small islands, where each row, and each edge of a pyramid, is one force of a vector.

J M^-1 J' + R is a matrix here: who changes a force by df adds df times a column of it to the residuals of all, which
stand side by side, and who stays, as contacts that do not push, costs next to nothing. For that the rows of Y (dual.py)
lie dof by dof, four forces in a vector, in memory of a worker's own. Which islands are small follows from them alone
(`is_small`), and what they are given, and tell of each sweep, is what pgs.py says of others.
"""

from ..constants import EQUALITY
from ..constraint.cone import load_parameters
from ..constraint.row_cost import is_friction
from ..team import crew, take_all
from ..types import ABREAST, FP, HAND, SERIAL, func, kernel, ti, vec4
from .dual_start import SMALL_BLOCKS, SMALL_DOFS, forces_of, is_small
from .pgs import begin, bounded, end
from .rounds import scale_of
from .statistics import ISLANDS, ROUNDS, tell_round

STEP, FORCE, DIAGONAL, INVERSE, LOW, HIGH, STATE = range(7)  # of four forces; how far each bound is from them
WIDE = 8
UNBOUNDED = 1e30  # no force is larger [N]
vec5 = ti.types.vector(5, FP)


@kernel
def pgs_small(m, d):
    """qacc and qfrc_constraint of small islands; d.nhand workers share them out."""
    ti.static(ABREAST)
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, small_work)


@func
def small_work(m, d, hand):
    """A worker's part."""
    take_all(m, d, hand, d.nisland, solve_if_small)


@func
def solve_if_small(m, d, k, hand):
    if is_small(m, d, k):
        solve_small(m, d, k, hand)


@func
def solve_small(m, d, k, hand):
    """Sweeps over island k until one improves the scaled cost by less than the tolerance."""
    blocks = (forces_of(m, d, k) + 3) // 4
    x, a, v = hand * SMALL_DOFS * SMALL_BLOCKS, hand * 4 * SMALL_BLOCKS**2, hand * WIDE * SMALL_BLOCKS
    begin(m, d, k)
    fill(m, d, k, x, v, blocks)
    matrix(m, d, x, a, v, blocks, d.island_dofnum[k])
    steps(m, d, k, x, v, blocks)
    scale = scale_of(m, d, k)
    tell_states(m, d, k, v, blocks, -1, 0)
    always = always_acting(m, d, k)
    niter = 0
    more = m.opt.iterations > 0
    while more:
        gain = FP(0.0)
        for q in range(blocks):
            if moves(m, d, v + q * WIDE):
                change = sweep_four(m, d, a, v, blocks, q)
                gain += change[4]
                push(m, d, a, v, blocks, q, change)
        improvement = scale * gain
        tell_states(m, d, k, v, blocks, niter, always)
        tell_round(m, d, k, niter, ti.Vector([improvement, 0.0 * improvement, 0.0 * improvement]), 0, 0)
        niter += 1
        more = not improvement < m.opt.tolerance and niter < m.opt.iterations
    write_back(m, d, k, x, v, blocks)
    end(m, d, k, niter)


@func
def push(m, d, a, v, blocks, q, change):
    """Changes the four forces of vector q, and the steps of all."""
    own = v + q * WIDE
    df = vec4(change[0], change[1], change[2], change[3])
    d.small_vec[own + FORCE] = d.small_vec[own + FORCE] + df
    d.small_vec[own + LOW] = d.small_vec[own + LOW] - df
    d.small_vec[own + HIGH] = d.small_vec[own + HIGH] - df
    for p in range(blocks):
        h = d.small_vec[v + p * WIDE]
        of = a + 4 * (q * blocks + p)
        for c in ti.static(range(4)):
            h += change[c] * d.small_A[of + c]
        d.small_vec[v + p * WIDE] = h


@func
def tell_states(m, d, k, v, blocks, n, always):
    """Tells how many rows act in round n, and how many came or went since the last one; -1: before the first."""
    if k < ISLANDS and n < ROUNDS:
        active, other = vec4(0.0), vec4(0.0)
        for q in range(blocks):
            own = v + q * WIDE
            f, low, high = d.small_vec[own + FORCE], d.small_vec[own + LOW], d.small_vec[own + HIGH]
            state, before = vec4(0.0), d.small_vec[own + STATE]
            for c in ti.static(range(4)):
                state[c] = ti.select(low[c] >= 0.0, FP(1.0), FP(0.0)) - ti.select(high[c] <= 0.0, FP(1.0), FP(0.0))
                other[c] += ti.select(state[c] == before[c], FP(0.0), FP(1.0))
                active[c] += ti.select(f[c] > 0.0, FP(1.0), FP(0.0)) * ti.select(low[c] == -f[c], FP(1.0), FP(0.0))
            d.small_vec[own + STATE] = state
        if n >= 0:
            at = k * ROUNDS + n
            d.stat_nactive[at] = always + ti.cast(active[0] + active[1] + active[2] + active[3], ti.i32)
            d.stat_nchange[at] = ti.cast(other[0] + other[1] + other[2] + other[3], ti.i32)


@ti.func
def within(low, x, high):
    """x within bounds; comparisons are one instruction each, which ti.min and ti.max are not."""
    y = ti.select(x < high, x, high)
    return ti.select(y > low, y, low)


@func
def moves(m, d, own):
    """Whether one of four forces at `own` changes: the first that would, were the others to stay, does."""
    h, low, high = d.small_vec[own + STEP], d.small_vec[own + LOW], d.small_vec[own + HIGH]
    df = within(low, h, high)
    return (df[0] != 0.0) | (df[1] != 0.0) | (df[2] != 0.0) | (df[3] != 0.0)


@func
def sweep_four(m, d, a, v, blocks, q):
    """Changes of the four forces of vector q, one after the other, and by how much they lower the cost."""
    own = v + q * WIDE
    h, diagonal = d.small_vec[own + STEP], d.small_vec[own + DIAGONAL]
    low, high = d.small_vec[own + LOW], d.small_vec[own + HIGH]
    out = vec5(0.0)
    of = a + 4 * (q * blocks + q)
    for c in ti.static(range(4)):
        df = within(low[c], h[c], high[c])
        out[c] = df
        out[4] += df * diagonal[c] * (h[c] - 0.5 * df)
        column = d.small_A[of + c]
        for e in ti.static(range(c + 1, 4)):
            h[e] += df * column[e]
    return out


@func
def fill(m, d, k, x, v, blocks):
    """Y of island k, dof by dof, and its forces, bounds and what the residuals are without Y y."""
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    place = 0
    for e in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[e] - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.dof_mark[i] = x + place * blocks
            place += 1
    for at in range(x, x + place * blocks):
        d.small_X[at] = vec4(0.0)
    at = 0
    if ti.static(m.has.rows):
        for e in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[e]
            for y in range(d.row_Yadr[r], d.row_Yadr[r] + d.row_Ynum[r]):
                d.small_X[d.dof_mark[d.Y_dof[y]] + at // 4][at % 4] = d.Y[y]
            high = FP(UNBOUNDED)
            low = FP(0.0)
            if is_friction(d.row_type[r]):
                high = d.row_floss[r]
                low = -high
            elif d.row_type[r] == EQUALITY:
                low = -high
            put_force(m, d, v, at, d.row_force[r], d.row_b[r], d.row_R[r], low, high)
            at += 1
    for e in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[e]
        adr, num, dim = d.con_Yadr[c], d.con_Ynum[c], d.contact_dim[c]
        R = 1.0 / d.con_D[c]
        b = d.con_b[c]
        if dim == 1:
            for y in range(num):
                d.small_X[d.dof_mark[d.Y_dof[adr + y]] + at // 4][at % 4] = d.Y[adr + m.has.row * y]
            put_force(m, d, v, at, d.con_edge[c][0], b[0], R, FP(0.0), FP(UNBOUNDED))
            at += 1
        else:
            at = pad(m, d, v, at)
            fri = load_parameters(m, d, c)
            q = at // 4
            for y in range(num):
                to = d.dof_mark[d.Y_dof[adr + y]] + q
                of = adr + m.has.row * y
                normal, t1, t2 = d.Y[of], fri[1] * d.Y[of + 1], fri[2] * d.Y[of + 2]
                d.small_X[to] = vec4(normal + t1, normal - t1, normal + t2, normal - t2)
                for j in ti.static(range(3, m.has.dims)):
                    if j < dim:
                        across = fri[j] * d.Y[of + j]
                        d.small_X[to + (j - 1) // 2][(j - 1) % 2 * 2] = normal + across
                        d.small_X[to + (j - 1) // 2][(j - 1) % 2 * 2 + 1] = normal - across
            for j in ti.static(range(1, m.has.dims)):
                if j < dim:
                    for side in ti.static(range(2)):
                        r = b[0] + (1.0 - 2.0 * side) * fri[j] * b[j]
                        f = d.con_edge[c][2 * j - 2 + side]
                        put_force(m, d, v, at + 2 * j - 2 + side, f, r, R, FP(0.0), FP(UNBOUNDED))
            at += 2 * dim - 2
    pad(m, d, v, at)


@func
def pad(m, d, v, at):
    """Forces that nobody has, from `at` up to the next vector, whose place is returned."""
    while at % 4 != 0:
        put_force(m, d, v, at, FP(0.0), FP(0.0), FP(1.0), FP(0.0), FP(0.0))
        at += 1
    return at


@func
def put_force(m, d, v, at, f, b, R, low, high):
    """Force `at`: itself, its residual without Y y, its regularisation and its bounds."""
    to = v + at // 4 * WIDE
    c = at % 4
    d.small_vec[to + STEP][c] = b + R * f
    d.small_vec[to + FORCE][c] = f
    d.small_vec[to + DIAGONAL][c] = R
    d.small_vec[to + LOW][c] = low - f
    d.small_vec[to + HIGH][c] = high - f


@func
def matrix(m, d, x, a, v, blocks, ndof):
    """Y Y' + R over minus its diagonal, four columns of four numbers side by side. One half is reckoned, and a loop of
    its own scales it: LLVM would make vectors of what stands on the diagonal."""
    for p in range(blocks):
        for q in range(p + 1):
            s0, s1, s2, s3 = vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0)
            own, other = x + p, x + q
            for _ in range(ndof):
                row, column = d.small_X[own], d.small_X[other]
                s0 += row[0] * column
                s1 += row[1] * column
                s2 += row[2] * column
                s3 += row[3] * column
                own += blocks
                other += blocks
            to = a + 4 * (p * blocks + q)
            d.small_A[to] = s0
            d.small_A[to + 1] = s1
            d.small_A[to + 2] = s2
            d.small_A[to + 3] = s3
    for p in range(blocks):
        own = v + p * WIDE
        of = a + 4 * (p * blocks + p)
        for c in ti.static(range(4)):
            sum = d.small_A[of + c][c] + d.small_vec[own + DIAGONAL][c]
            d.small_A[of + c][c] = sum
            d.small_vec[own + DIAGONAL][c] = sum
            d.small_vec[own + INVERSE][c] = -1.0 / sum
    for p in range(blocks):
        mine = d.small_vec[v + p * WIDE + INVERSE]
        for q in range(p):
            theirs = d.small_vec[v + q * WIDE + INVERSE]
            of, to = a + 4 * (p * blocks + q), a + 4 * (q * blocks + p)
            t0, t1, t2, t3 = d.small_A[of], d.small_A[of + 1], d.small_A[of + 2], d.small_A[of + 3]
            for c in ti.static(range(4)):
                d.small_A[to + c] = mine * vec4(t0[c], t1[c], t2[c], t3[c])
            d.small_A[of] = theirs * t0
            d.small_A[of + 1] = theirs * t1
            d.small_A[of + 2] = theirs * t2
            d.small_A[of + 3] = theirs * t3
        own = a + 4 * (p * blocks + p)
        for c in ti.static(range(4)):
            d.small_A[own + c] = mine * d.small_A[own + c]


@func
def steps(m, d, k, x, v, blocks):
    """The step that each force would take, its residual over minus the diagonal, from Y y of the forces at hand."""
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    place = x
    for e in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[e] - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            y = d.dual_y[i]
            if y != 0.0:
                for q in range(blocks):
                    d.small_vec[v + q * WIDE] = d.small_vec[v + q * WIDE] + y * d.small_X[place + q]
            place += blocks
    for q in range(blocks):
        d.small_vec[v + q * WIDE] = d.small_vec[v + q * WIDE] * d.small_vec[v + q * WIDE + INVERSE]


@func
def always_acting(m, d, k):
    """Rows of island k that act with any force: equalities and friction loss."""
    n = 0
    if ti.static(m.has.rows):
        for e in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            kind = d.row_type[d.island_row[e]]
            if is_friction(kind) or kind == EQUALITY:
                n += 1
    return n


@func
def write_back(m, d, k, x, v, blocks):
    """The forces to the rows and contacts of island k, and y of them."""
    at = 0
    if ti.static(m.has.rows):
        for e in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[e]
            f = d.small_vec[v + at // 4 * WIDE + FORCE][at % 4]
            d.row_force[r] = bounded(d.row_type[r], f, d.row_floss[r])
            at += 1
    for e in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[e]
        if d.contact_dim[c] > 1:
            at = (at + 3) // 4 * 4
        for edge in range(ti.max(1, 2 * d.contact_dim[c] - 2)):
            d.con_edge[c][edge] = d.small_vec[v + at // 4 * WIDE + FORCE][at % 4]
            at += 1
    w = d.island_tree[d.island_treeadr[k]] // m.ntree
    place = x
    for e in range(d.island_treeadr[k], d.island_treeadr[k] + d.island_treenum[k]):
        t = d.island_tree[e] - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            s = vec4(0.0)
            for q in range(blocks):
                s += d.small_X[place + q] * d.small_vec[v + q * WIDE + FORCE]
            d.dual_y[i] = s[0] + s[1] + s[2] + s[3]
            place += blocks
