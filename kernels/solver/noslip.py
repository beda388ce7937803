"""The noslip solver: friction without regularisation, behind any of the solvers.

Forces of friction, of dofs, tendons and contacts, are found anew by projected Gauss-Seidel with R left out; all others
stay, normal forces among them: those of elliptic cones, and the sums of opposite edges of pyramids. A large
island is a team's, which takes it colour by colour (colors.py). Seed 000, "Noslip solver".
"""

from ..constraint.cone import load_parameters
from ..constraint.row_cost import is_friction
from ..team import crew, meet
from ..types import FP, HAND, MINVAL, SERIAL, func, kernel, ti, vec6
from .colors import color_island, is_shared, sweep
from .dual import contact_push, contact_residual, finish_island, row_push, row_residual
from .dual_start import forces_of_residuals, regularisation
from .newton import solve_all
from .pgs import RISE, bounded, load_cone
from .qcqp import SINGULAR, friction_force
from .rounds import scale_of
from .statistics import clear_rows, tell_dual


@kernel
def noslip_islands(m, d):
    """qacc and qfrc_constraint of the islands; their forces are there if d.dual, else they follow from residuals."""
    units = d.nhand * HAND
    crew(m, d, units, SERIAL, HAND, noslip_work)


@func
def noslip_work(m, d, hand):
    """A worker's part."""
    solve_all(m, d, hand, without_slip)


@func
def without_slip(m, d, k, me, size):
    """Sweeps over the friction of island k until one improves the scaled cost by less than noslip_tolerance."""
    scale = scale_of(m, d, k)
    if me == 0:
        if is_shared(m, d, k) == 1:
            color_island(m, d, k)
        if d.dual == 0:
            forces_of_residuals(m, d, k)
    meet(m, d, me, size)
    tell_dual(m, d, k, -1, FP(0.0), me, size)
    regular = regular_cost(m, d, k)
    told = d.island_niter[k]
    meet(m, d, me, size)
    niter = 0
    while niter < m.opt.noslip_iterations:
        if me == 0:
            clear_rows(m, d, k, told + niter)
        improvement = scale * (regular + sweep(m, d, k, me, size, stop_row, stop_contact))
        tell_dual(m, d, k, told + niter, improvement, me, size)
        regular = FP(0.0)
        niter += 1
        if improvement < m.opt.noslip_tolerance:
            break
        meet(m, d, me, size)
    if me == 0:
        d.island_noslip[k] = niter
        finish_island(m, d, k)


@func
def regular_cost(m, d, k):
    """What the regularisation adds to the cost of island k."""
    s = FP(0.0)
    if ti.static(m.has.rows):
        for n in range(d.island_rowadr[k], d.island_rowadr[k] + d.island_rownum[k]):
            r = d.island_row[n]
            s += 0.5 * d.row_R[r] * d.row_force[r] * d.row_force[r]
    for n in range(d.island_conadr[k], d.island_conadr[k] + d.island_connum[k]):
        c = d.island_con[n]
        dim = d.contact_dim[c]
        fri = load_parameters(m, d, c)
        if ti.static(m.has.elliptic):
            for q in ti.static(range(m.has.dims)):
                if q < dim:
                    f = d.con_edge[c][q]
                    s += 0.5 * regularisation(m, d, c, fri, q) * f * f
        else:
            for e in range(ti.max(1, 2 * (dim - 1))):
                s += 0.5 * d.con_edge[c][e] * d.con_edge[c][e] / d.con_D[c]
    return s


@func
def stop_row(m, d, r):
    """The best force of friction loss; returns by how much it lowers the cost."""
    gain = FP(0.0)
    if is_friction(d.row_type[r]):
        old = d.row_force[r]
        residual = row_residual(m, d, r)
        A = ti.max(d.row_A[r], MINVAL)
        f = bounded(d.row_type[r], old - residual / A, d.row_floss[r])
        d.row_force[r] = f
        row_push(m, d, r, f - old)
        gain = -(f - old) * (0.5 * (f - old) * A + residual)
    return gain


@func
def stop_contact(m, d, c):
    """The best friction of contact c; returns by how much it lowers the cost."""
    gain = FP(0.0)
    if d.contact_dim[c] > 1:
        if ti.static(m.has.elliptic):
            gain = stop_cone(m, d, c)
        else:
            gain = stop_pyramid(m, d, c)
    return gain


@func
def stop_pyramid(m, d, c):
    """The best difference of each two opposite edges of contact c, whose sum stays."""
    dim = d.contact_dim[c]
    fri = load_parameters(m, d, c)
    g = contact_residual(m, d, c)
    change = vec6(0.0)
    improvement = FP(0.0)
    for k in ti.static(range(1, m.has.dims)):
        if k < dim:
            mid = 0.5 * (d.con_edge[c][2 * k - 2] + d.con_edge[c][2 * k - 1])
            old = 0.5 * (d.con_edge[c][2 * k - 2] - d.con_edge[c][2 * k - 1])
            # with half the difference y, the tangential force is 2 mu y
            A = 4.0 * fri[k] * fri[k] * d.con_A[c, k][k]
            slope = 2.0 * fri[k] * g[k]
            y = FP(0.0)
            if A >= MINVAL:
                y = ti.min(ti.max(old - slope / A, -mid), mid)
            rise = (y - old) * (0.5 * (y - old) * A + slope)
            if rise > RISE:
                rise = 0.0
                y = old
            improvement -= rise
            d.con_edge[c][2 * k - 2] = mid + y
            d.con_edge[c][2 * k - 1] = mid - y
            df = 2.0 * fri[k] * (y - old)
            change[k] += df
            for q in ti.static(range(m.has.dims)):
                if q < dim:
                    g[q] += df * d.con_A[c, k][q]
    contact_push(m, d, c, change)
    return improvement


@func
def stop_cone(m, d, c):
    """The best friction of contact c at its normal force."""
    size = ti.static(m.has.dims)
    dim = d.contact_dim[c]
    fri = load_parameters(m, d, c)
    A, old = load_cone(m, d, c, dim, fri, False)
    free = contact_residual(m, d, c)
    b = ti.Vector.zero(FP, size)
    change = ti.Vector.zero(FP, size)
    for k in ti.static(range(1, size)):
        b[k] = free[k]
        change[k] = -old[k]
        for q in ti.static(range(1, size)):
            b[k] -= A[k, q] * old[q]
    if old[0] >= MINVAL:
        v = friction_force(m, d, A, b, fri, dim - 1, old[0], SINGULAR)
        for k in ti.static(range(1, size)):
            if k < dim:
                change[k] = v[k - 1] * fri[k] - old[k]
    rise = 0.5 * change.dot(A @ change)
    for k in ti.static(range(1, size)):
        rise += change[k] * free[k]
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
