"""The Jacobian of constraint rows as a sparse matrix, which the solver never forms. Seed 000, "Constraint model"."""

import numpy as np

from tisim.enums import mjtCone
from tisim.mjcf.rotations import cross


def constraint_jacobian(m, d):
    """scipy.sparse.csr_array (nefc, nworld * nv) of all rows: those that are kept, then those of the contacts."""
    from scipy import sparse  # 0.2 s to import

    kept = _rows(d)
    found = _contacts(m, d)
    row, col, value = (np.concatenate(both) for both in zip(kept, found))
    out = sparse.coo_array((value, (row, col)), shape=(d.count("nefc"), d.nworld * m.nv)).tocsr()
    out.sum_duplicates()
    out.eliminate_zeros()  # dofs that move both bodies of a contact cancel
    return out


def _rows(d):
    """(row, column, value) of the rows that are no contacts."""
    n = d.count("nrow") if d.count("nefc") else 0
    if not n:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    num, adr = d.host("row_num")[:n], d.host("row_adr")[:n]
    row = np.repeat(np.arange(n), num)
    entry = np.arange(len(row)) + np.repeat(adr - (np.cumsum(num) - num), num)
    return row, d.host("J_dof")[entry].astype(np.int64), d.host("J")[entry].astype(float)


def _contacts(m, d):
    """The same of contacts: velocity of body 2 against body 1 at the point, in the contact frame; of a pyramid, its
    edges."""
    n = d.count("ncon")
    first = d.host("contact_efc_address")[:n]
    place = np.flatnonzero(first >= 0)
    first = first[place]
    dim, world = d.host("contact_dim")[place], d.host("contact_worldid")[place]
    index, side, dof = _chains(m, np.asarray(m.geom_bodyid)[d.host("contact_geom")[place]])
    column = world[index].astype(np.int64) * m.nv + dof
    axis = d.host("cdof").reshape(-1, 6)[column].astype(float)
    root = world[index] * m.nbody + np.asarray(m.body_rootid)[np.asarray(m.dof_bodyid)[dof]]
    arm = d.host("contact_pos")[place][index] - d.host("subtree_com").reshape(-1, 3)[root]
    frame = d.host("contact_frame")[place].astype(float).reshape(-1, 3, 3)[index]
    sign = (2 * side - 1)[:, None]
    linear = sign * np.einsum("krc,kc->kr", frame, axis[:, 3:] + cross(axis[:, :3], arm))
    turn = sign * np.einsum("krc,kc->kr", frame, axis[:, :3])
    parts = np.concatenate([linear, turn], axis=1)  # (k, 6): the components of each entry
    pyramid = m.opt.cone == mjtCone.mjCONE_PYRAMIDAL
    out = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for k in range(6):
        edges = np.flatnonzero(pyramid & (dim[index] > max(k, 1)) & (k > 0))
        if len(edges):
            friction = d.host("contact_friction")[place][index[edges], k - 1]
            for e, s in ((0, 1), (1, -1)):
                value = parts[edges, 0] + s * friction * parts[edges, k]
                out.append((first[index[edges]] + 2 * (k - 1) + e, column[edges], value))
        plain = np.flatnonzero((dim[index] > k) & (~pyramid | (dim[index] == 1)))
        if len(plain):
            out.append((first[index[plain]] + k, column[plain], parts[plain, k]))
    return tuple(np.concatenate(part) for part in zip(*out))


def _chains(m, bodies):
    """(contact, side, dof) of all dofs that move the bodies (n, 2)."""
    number, adr, above = (np.asarray(a) for a in (m.body_dofnum, m.body_dofadr, m.dof_parentid))
    weld = np.asarray(m.body_weldid)[bodies.ravel()]
    dof = np.where(number[weld] > 0, adr[weld] + number[weld] - 1, -1).astype(np.int64)
    at = np.flatnonzero(dof >= 0)
    dof, places, dofs = dof[at], [], []
    while len(dof):
        places.append(at)
        dofs.append(dof)
        dof = above[dof]
        at, dof = at[dof >= 0], dof[dof >= 0]
    at = np.concatenate([np.zeros(0, np.int64), *places])
    return at // 2, at % 2, np.concatenate([np.zeros(0, np.int64), *dofs]).astype(np.int64)
