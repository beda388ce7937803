"""efc_J, the Jacobian of all constraint rows as a matrix, made on the host when a user reads it.

The engine keeps the entries of rows that are no contacts, and of contacts none at all (tisim/SOLVER.md).
"""

import numpy as np

from tisim.enums import mjtCone
from tisim.model.tables.moving import last_dof


def efc_J(m, d):
    """(nefc, nv) float: velocities qvel of a row's world -> velocity of the row. Rows as in efc_type, efc_id."""
    out = np.zeros((d.count("nefc"), m.nv))
    n, world_major = d.count("nrow"), d.host("J_dof")
    number, values = d.host("row_num")[:n], d.host("J")
    at = np.repeat(d.host("row_adr")[:n] - (np.cumsum(number) - number), number) + np.arange(number.sum())
    np.add.at(out, (np.repeat(np.arange(n), number), world_major[at] % max(1, m.nv)), values[at])
    first = d.host("contact_efc_address")[: d.count("ncon")]
    contacts = np.flatnonzero(first >= 0)
    if len(contacts):
        _contact_rows(m, d, contacts, first, out)
    return out


def _contact_rows(m, d, contacts, first, out):
    """Fills in the rows of contacts, of which some acts."""
    moved = _components(m, d, contacts)
    dims, friction = d.host("contact_dim")[contacts], d.host("contact_friction")[contacts]
    for dim in np.unique(dims):
        of = np.flatnonzero(dims == dim)
        row = first[contacts[of]]
        if dim == 1 or m.opt.cone == mjtCone.mjCONE_ELLIPTIC:
            for k in range(dim):
                out[row + k] = moved[of, k]
            continue
        for k in range(1, dim):
            edge = friction[of, k - 1, None] * moved[of, k]
            out[row + 2 * k - 2], out[row + 2 * k - 1] = moved[of, 0] + edge, moved[of, 0] - edge


def _components(m, d, contacts):
    """(contacts, 6, nv): velocity of geom 2 against geom 1, in the frame of each contact: linear, then angular."""
    world, frame = d.host("contact_worldid")[contacts], d.host("contact_frame")[contacts].reshape(-1, 3, 3)
    arm, cdof = d.host("con_arm").reshape(-1, 2, 4)[contacts, :, :3], d.host("cdof").reshape(-1, 6)
    out = np.zeros((len(contacts), 6, m.nv))
    for side, sign in enumerate((-1, 1)):
        at = np.arange(len(contacts))
        dof = last_dof(m, np.asarray(m.geom_bodyid)[d.host("contact_geom")[contacts, side]])
        while len(at := at[dof >= 0]):
            dof = dof[dof >= 0]
            axis = cdof[world[at] * m.nv + dof]
            linear = axis[:, 3:] + np.cross(axis[:, :3], arm[at, side])
            twist = np.stack([linear, axis[:, :3]], 1)
            out[at, :, dof] += sign * np.einsum("nij,nkj->nki", frame[at], twist).reshape(-1, 6)
            dof = np.asarray(m.dof_parentid)[dof]
    return out
