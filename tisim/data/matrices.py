"""What mjData has and the engine keeps otherwise: matrices in MuJoCo's places, numbers and islands of rows. Made on the
host when they are read; shapes as in mujoco for one world, with a leading world axis for several.

The engine keeps M in the places of M_colind alone, and both halves of what is not symmetric in those of dof_Madr.
"""

import numpy as np

from tisim.enums import mjtConstraint
from tisim.model import sparse

# in Data._info: what the last step took besides M: "" or, of implicitfast, "none" nothing; "Euler" or, of implicitfast,
# "joints" the dampers of joints; "symmetric" or, of implicit, "all" of qDeriv
DERIVED = "derivative"
LIMITS = (mjtConstraint.mjCNSTR_LIMIT_JOINT, mjtConstraint.mjCNSTR_LIMIT_TENDON)
FRICTIONS = (mjtConstraint.mjCNSTR_FRICTION_DOF, mjtConstraint.mjCNSTR_FRICTION_TENDON)


def shaped(d, out):
    """Read-only, without the axis of a single world."""
    out = out[0] if d.nworld == 1 else out
    out.flags.writeable = False
    return out


def qM(m, d):
    """(nM,): the inertia matrix M, each dof followed by its ancestors, from dof_Madr on."""
    out = np.zeros((d.nworld, m.nM))
    out[:, m.mapM2M] = d.host("M")
    return shaped(d, out)


def _halves(m, d, name):
    """(nworld, nD) of two arrays in the places of dof_Madr."""
    _, _, place, lower = sparse.entries(m)
    return np.where(lower, d.host(name + "_row")[:, place], d.host(name + "_col")[:, place]).astype(float)


def qDeriv(m, d):
    """(nD,): change of the smooth forces with velocity, as the last step of an implicit integrator took it; else 0.

    That of implicitfast is symmetric and without Coriolis forces.
    """
    kind = d._info.get(DERIVED)
    row, col, place, _ = sparse.entries(m)
    if kind == "all":
        return shaped(d, _halves(m, d, "qDeriv"))
    if kind == "symmetric":
        mean = 0.5 * (d.host("qDeriv_row") + d.host("qDeriv_col"))
        return shaped(d, mean[:, place].astype(float))
    dampers = np.broadcast_to(d._varied.get("dof_damping", m.dof_damping), (d.nworld, m.nv))
    damping = np.where(row == col, -dampers[:, row], 0.0) * (kind == "joints")
    stepped = d.host("qH").any(axis=-1, keepdims=True)  # not since a reset, which leaves the factor zero
    return shaped(d, damping * stepped)


def qLU(m, d):
    """(nD,): factors U and L of M - timestep qDeriv, whose product is U L, of the last step of `implicit`; else 0.

    U has ones on its diagonal, which are left out.
    """
    if d._info.get(DERIVED) != "all":
        return shaped(d, np.zeros((d.nworld, sparse.size(m))))
    return shaped(d, _halves(m, d, "qLU"))


def qH(m, d):
    """(nC,): factor L' D L, as qLD, of M - timestep qDeriv, where the last step took a symmetric one; else 0."""
    return shaped(d, _factor(d))


def qHDiagInv(m, d):
    """(nv,): 1 / diagonal of its D."""
    diagonal = _factor(d)[:, np.asarray(m.M_rowadr) + np.asarray(m.M_rownnz) - 1]
    return shaped(d, np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal != 0))


def _factor(d):
    kind = d._info.get(DERIVED)
    if kind == "none":  # implicitfast without anything to take
        return d.host("qLD").astype(float)
    return d.host("qH").astype(float) * (kind in ("Euler", "joints", "symmetric"))


def _rows_of(d, types):
    """How many rows of these mjtConstraint there are, over all worlds."""
    n = d.count("nrow") if d.count("nefc") else 0
    return int(np.isin(d.host("row_type")[:n], [int(t) for t in types]).sum())


def ne(m, d):
    """Rows of equalities over all worlds."""
    return _rows_of(d, (mjtConstraint.mjCNSTR_EQUALITY,))


def nf(m, d):
    """Rows of friction losses over all worlds."""
    return _rows_of(d, FRICTIONS)


def nl(m, d):
    """Rows of limits over all worlds."""
    return _rows_of(d, LIMITS)


def efc_b(m, d):
    """(nefc,): J qacc_smooth - aref, the residual of each row where no constraint acts."""
    return _fixed(d.efc_J @ np.ravel(d.qacc_smooth) - np.asarray(d.efc_aref))


def dof_island(m, d):
    """(nv,): island of each dof, -1 where no constraint acts on its tree."""
    return shaped(d, np.asarray(d.host("tree_island"))[:, np.asarray(m.dof_treeid)])


def efc_island(m, d):
    """(nefc,): island of each row, -1 for one that moves nothing."""
    J = d.efc_J
    island = np.ravel(np.asarray(d.dof_island))
    some = np.diff(J.indptr) > 0
    out = np.full(J.shape[0], -1, np.int32)
    out[some] = island[J.indices[J.indptr[:-1][some]]]
    return _fixed(out)


def _fixed(out):
    out.flags.writeable = False
    return out


# what a Data has of these, by name
MADE = {f.__name__: f for f in (qM, qDeriv, qLU, qH, qHDiagInv, ne, nf, nl, efc_b, dof_island, efc_island)}
