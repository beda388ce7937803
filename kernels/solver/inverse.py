"""Inverse dynamics: constraint forces and applied forces at a given acceleration, in closed form.

At an acceleration that is known the cost of each contact and row gives its force at once; no system is solved.
Seed 000, "Inverse dynamics".
"""

from ..constraint.cone import cone_force, load_parameters, to_world
from ..constraint.row import row_times
from ..constraint.row_cost import row_force
from ..types import SERIAL, func, kernel, ti, vec6
from .steps import contact_direction, store_wrench, tree_gather, tree_times_M


@kernel
def inverse_twists(m, d):
    """sol_Mp = M qacc_inverse, and the bodies' accelerations, twist; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        tree_times_M(m, d, w, wt - w * m.ntree, d.qacc_inverse, d.sol_Mp, False)


@kernel
def inverse_contacts(m, d):
    """Forces of contacts at these accelerations; parallel over contacts."""
    n = d.ncon
    ti.loop_config(serialize=SERIAL)
    for c in range(n):
        contact_direction(m, d, c)
        dim = d.contact_dim[c]
        j = d.con_Jp[c] - d.con_aref[c]
        d.con_Jaref[c] = j
        f = cone_force(m, d, j, dim, d.con_D[c], d.con_mu[c], load_parameters(m, d, c))
        store_wrench(m, d, c, dim, to_world(c, vec6(f[1], f[2], f[3], f[4], f[5], f[6]), d.contact_frame))


@kernel
def inverse_rows(m, d):
    """Forces of the other rows; parallel over rows."""
    n = d.nrow
    ti.loop_config(serialize=SERIAL)
    for r in range(n):
        inverse_row(m, d, r)


@func
def inverse_row(m, d, r):
    """Force of row r."""
    j = row_times(m, d, r, d.qacc_inverse) - d.row_aref[r]
    d.row_Jaref[r] = j
    d.row_force[r] = row_force(d.row_type[r], j, d.row_R[r], d.row_floss[r])[1]


@kernel
def inverse_forces(m, d):
    """qfrc_constraint, if there are constraints, and qfrc_inverse; parallel over worlds and trees."""
    ti.loop_config(serialize=SERIAL)
    for wt in range(d.nworld * m.ntree):
        w = wt // m.ntree
        t = wt - w * m.ntree
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qfrc_constraint[i] = 0.0
        if d.with_constraints == 1:
            tree_gather(m, d, w, t, False, d.qfrc_constraint)
        for i in range(w * m.nv + m.tree_dofadr[t], w * m.nv + m.tree_dofadr[t] + m.tree_dofnum[t]):
            d.qfrc_inverse[i] = d.sol_Mp[i] + d.qfrc_bias[i] - d.qfrc_passive[i] - d.qfrc_constraint[i]


@kernel
def keep_forward(m, d):
    """Keeps what inverse dynamics will overwrite of forward dynamics; parallel over dofs, then rows."""
    ti.loop_config(serialize=SERIAL)
    for i in range(d.nworld * m.nv):
        d.qfrc_forward[i] = d.qfrc_constraint[i]
    ti.loop_config(serialize=SERIAL)
    for r in range(d.nrow):
        d.row_forward[r] = d.row_force[r]


@kernel
def compare_forward(m, d):
    """solver_fwdinv: norms of the differences in constraint forces and in applied forces; parallel over worlds. Then
    forces of rows, which dual solvers do not find by closed forms, are forward dynamics' again; parallel over rows."""
    ti.loop_config(serialize=SERIAL)
    for w in range(d.nworld):
        constraint = 0.0 * m.opt.timestep
        applied = constraint
        for i in range(w * m.nv, w * m.nv + m.nv):
            e = d.qfrc_forward[i] - d.qfrc_constraint[i]
            constraint += e * e
            d.qfrc_constraint[i] = d.qfrc_forward[i]
            e = d.qfrc_smooth[i] - d.qfrc_passive[i] + d.qfrc_bias[i] - d.qfrc_inverse[i]
            applied += e * e
        d.solver_fwdinv[w][0] = ti.sqrt(constraint)
        d.solver_fwdinv[w][1] = ti.sqrt(applied)
    ti.loop_config(serialize=SERIAL)
    for r in range(d.nrow):
        d.row_force[r] = d.row_forward[r]
