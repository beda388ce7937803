"""Projected Gauss-Seidel on islands: solver="PGS".

A sweep takes the rows and contacts of an island in their order and gives each the force that is best while all others
stay, inside its bounds; an elliptic cone first along its normal or along the force that it has, then across it. A
large island is a team's, which takes it colour by colour (colors.py). Seed 000, "Convex solver".

Sweeps cannot move a contact away from the apex of its cone where the normal force alone gains nothing, and may end
there far from the minimum, in MuJoCo 3.4.0, too. They do so here with MuJoCo's tolerances, and with 0, which asks for a
number of sweeps; with one below MINVAL, which asks for the minimum itself, such contacts are released when sweeps have
ended, and sweeps go on. Nor is there then a determinant below which, as in MuJoCo, friction stays as it is.
"""

from ..constants import DSBL_WARMSTART, EQUALITY
from ..constraint.cone import load_parameters
from ..constraint.row_cost import is_friction
from ..team import crew, meet
from ..types import FP, HAND, MINVAL, SERIAL, func, kernel, ti, vec6
from .colors import color_island, is_shared, sweep
from .dual import contact_push, contact_residual, finish_island, row_push, row_residual
from .dual_start import clear_forces, dual_cost, forces_of_residuals, is_small, regularisation, residuals_at
from .newton import solve_all
from .qcqp import REGULAR, SINGULAR, friction_force
from .rounds import scale_of
from .statistics import clear_rows, tell_dual

RISE = 1e-10  # of the cost, from which on a change of an elliptic contact is taken back: rounding


@kernel
def pgs_islands(m, d):
    """qacc and qfrc_constraint of the islands; d.nhand workers share them out."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, pgs_work)


@func
def pgs_work(m, d, hand):
    """A worker's part."""
    solve_all(m, d, hand, gauss_seidel_large)


@func
def gauss_seidel_large(m, d, k, me, size):
    """Sweeps over island k, unless it is small: then small_dual.py has made them."""
    if not is_small(m, d, k):
        gauss_seidel(m, d, k, me, size)


@func
def gauss_seidel(m, d, k, me, size):
    """Sweeps over island k until one improves the scaled cost by less than the tolerance."""
    scale = scale_of(m, d, k)
    if me == 0:
        begin(m, d, k)
    meet(m, d, me, size)
    tell_dual(m, d, k, -1, FP(0.0), me, size)
    niter = 0
    while niter < m.opt.iterations:
        if me == 0:
            clear_rows(m, d, k, niter)
        improvement = scale * sweep(m, d, k, me, size, improve_row, improve_contact)
        tell_dual(m, d, k, niter, improvement, me, size)
        niter += 1
        ended = improvement < m.opt.tolerance
        if ti.static(m.has.elliptic):
            if ended and asks_for_minimum(m):
                ended = not released(m, d, k, me, size, scale)
        if ended:
            break
        meet(m, d, me, size)
    if me == 0:
        end(m, d, k, niter)


@func
def end(m, d, k, niter):
    """Behind niter sweeps over island k: what they came to."""
    d.island_niter[k] = niter
    d.island_nnz[k] = entries_of(m, d, k)
    d.island_cost[k] = -dual_cost(m, d, k)
    d.island_gradient[k] = 0.0
    finish_island(m, d, k)


@func
def asks_for_minimum(m):
    """Whether the tolerance asks for the minimum itself, not for what MuJoCo's sweeps reach."""
    return 0.0 < m.opt.tolerance and m.opt.tolerance < MINVAL


@func
def released(m, d, k, me, size, scale):
    """Whether contacts of island k without force got some that lowers the scaled cost by more than the tolerance."""
    meet(m, d, me, size)
    if me == 0:
        gain = FP(0.0)
        for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
            gain += release(m, d, d.island_con[n])
        d.island_gradient[k] = scale * gain
    meet(m, d, me, size)
    return d.island_gradient[k] > ti.max(0.0, m.opt.tolerance)


@func
def begin(m, d, k):
    """Colours, and the forces that the warm start has if they are better than none."""
    if is_shared(m, d, k) == 1:
        color_island(m, d, k)
    cold = m.opt.disableflags & DSBL_WARMSTART != 0
    if not cold:
        residuals_at(m, d, k, d.qacc_warmstart)
        forces_of_residuals(m, d, k)
        cold = dual_cost(m, d, k) > 0.0
    if cold:
        clear_forces(m, d, k)


@func
def entries_of(m, d, k):
    """Entries of Y of island k."""
    n = 0
    if ti.static(m.has.rows):
        for e in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            n += d.row_Ynum[d.island_row[e]]
    for e in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        n += d.con_Ynum[d.island_con[e]] * d.contact_dim[d.island_con[e]]
    return n


@func
def bounded(kind, f, floss):
    """The force of a row of this mjtConstraint that is nearest to f."""
    out = f
    if is_friction(kind):
        out = ti.min(ti.max(f, -floss), floss)
    elif kind != EQUALITY:
        out = ti.max(f, 0.0)
    return out


@func
def improve_row(m, d, r):
    """The best force of row r; returns by how much it lowers the cost."""
    old = d.row_force[r]
    residual = row_residual(m, d, r) + d.row_R[r] * old
    A = d.row_A[r] + d.row_R[r]
    f = bounded(d.row_type[r], old - residual / A, d.row_floss[r])
    d.row_force[r] = f
    if f != old:
        row_push(m, d, r, f - old)
    return -(f - old) * (0.5 * (f - old) * A + residual)


@func
def improve_edge(m, d, c, e, A, R, residual):
    """The same for edge e of a pyramid, or a frictionless contact: its change, and by how much it lowers the cost.

    A sweep waits for one edge after the other: as little as can be is left to do once `residual` is known.
    """
    old = d.con_edge[c][e]
    share = 1.0 / (A + R)
    f = ti.max(0.0, old * (1.0 - R * share) - residual * share)
    d.con_edge[c][e] = f
    return f - old, -(f - old) * (0.5 * (f - old) * (A + R) + residual + R * old)


@func
def improve_contact(m, d, c):
    """The best forces of contact c; returns by how much they lower the cost."""
    gain = FP(0.0)
    if ti.static(m.has.elliptic):
        gain = improve_cone(m, d, c)
    else:
        gain = improve_pyramid(m, d, c)
    return gain


@func
def improve_pyramid(m, d, c):
    """The best forces of the edges of contact c, one after the other.

    An edge is the normal and, to one side or the other, its friction coefficient times a tangent. Nothing reads
    components at and beyond dim.
    """
    dim = d.contact_dim[c]
    fri = load_parameters(m, d, c)
    fri[0] = 1.0
    g = contact_residual(m, d, c) * fri
    change = vec6(0.0)
    improvement = FP(0.0)
    R = 1.0 / d.con_D[c]
    if dim == 1:
        change[0], improvement = improve_edge(m, d, c, 0, d.con_A[c, 0][0], R, g[0])
    for k in ti.static(range(1, m.has.dims)):
        if k < dim:
            for side in range(2):
                sign = ti.cast(1 - 2 * side, FP)
                column = (d.con_A[c, 0] + sign * fri[k] * d.con_A[c, k]) * fri
                df, gain = improve_edge(m, d, c, 2 * k - 2 + side, column[0] + sign * column[k], R, g[0] + sign * g[k])
                improvement += gain
                change[0] += df
                change[k] += sign * df
                for q in ti.static(range(m.has.dims)):
                    g[q] += df * column[q]
    contact_push(m, d, c, change * fri)
    return improvement


@func
def load_cone(m, d, c, dim, fri, regular):
    """Matrix of contact c by components, with regularisation if `regular`, zero at and beyond dim; and its force."""
    size = ti.static(m.has.dims)
    A = ti.Matrix.zero(FP, size, size)
    f = ti.Vector.zero(FP, size)
    for k in ti.static(range(size)):
        if k < dim:
            f[k] = d.con_edge[c][k]
            for q in ti.static(range(size)):
                if q < dim:
                    A[k, q] = d.con_A[c, k][q]
            if regular:
                A[k, k] += regularisation(m, d, c, fri, k)
    return A, f


@func
def release(m, d, c):
    """The best force along the steepest edge of the cone of contact c, if it has none; by how much it lowers the cost.

    A sweep tries the normal alone there, and stays where only normal and friction together are better.
    """
    gain = FP(0.0)
    dim = d.contact_dim[c]
    if d.con_edge[c][0] < MINVAL and dim > 1:
        fri = load_parameters(m, d, c)
        g = contact_residual(m, d, c)
        steep = FP(0.0)
        for k in ti.static(range(1, m.has.dims)):
            if k < dim:
                steep += fri[k] * fri[k] * g[k] * g[k]
        steep = ti.sqrt(steep)
        if g[0] < steep:
            f = vec6(0.0)
            f[0] = 1.0
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    f[k] = -fri[k] * fri[k] * g[k] / steep
            curve = FP(0.0)
            for k in range(dim):
                curve += regularisation(m, d, c, fri, k) * f[k] * f[k]
                for q in range(dim):
                    curve += f[k] * d.con_A[c, k][q] * f[q]
            f *= (steep - g[0]) / ti.max(curve, MINVAL)
            gain = 0.5 * (steep - g[0]) * f[0]
            for k in ti.static(range(m.has.dims)):
                d.con_edge[c][k] = f[k]
            contact_push(m, d, c, f)
    return gain


@func
def improve_cone(m, d, c):
    """The best force of contact c with an elliptic cone, first along the normal or its force, then its friction."""
    size = ti.static(m.has.dims)
    dim = d.contact_dim[c]
    fri = load_parameters(m, d, c)
    A, old = load_cone(m, d, c, dim, fri, True)
    free = contact_residual(m, d, c)
    g = ti.Vector.zero(FP, size)
    for k in ti.static(range(size)):
        if k < dim:
            g[k] = free[k] + regularisation(m, d, c, fri, k) * old[k]
    f = old
    if old[0] < MINVAL:
        f = ti.Vector.zero(FP, size)
        f[0] = ti.max(0.0, old[0] - g[0] / A[0, 0])
    else:
        steep = old.dot(A @ old)
        if steep >= MINVAL:
            f = old * ti.max(0.0, 1.0 - old.dot(g) / steep)
    b = g - A @ old  # without the friction force, at the normal force that there is now
    for k in ti.static(range(1, size)):
        b[k] += A[k, 0] * f[0]
        f[k] = 0.0
    if f[0] >= MINVAL and dim > 1:
        singular = ti.select(asks_for_minimum(m), REGULAR, SINGULAR)
        v = friction_force(m, d, A, b, fri, dim - 1, f[0], singular)
        for k in ti.static(range(1, size)):
            if k < dim:
                f[k] = v[k - 1] * fri[k]
    change = f - old
    rise = 0.5 * change.dot(A @ change) + change.dot(g)
    if rise > RISE:
        rise = 0.0
        change = ti.Vector.zero(FP, size)
    out = vec6(0.0)
    for k in ti.static(range(size)):
        out[k] = change[k]
        if k < dim:
            d.con_edge[c][k] = old[k] + change[k]
    contact_push(m, d, c, out)
    return -rise
