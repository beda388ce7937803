"""Places of sparse matrices as mjModel has them: D, of derivatives and LU factors, beside M. Made when they are read.

Row i of D has all dofs that stand above or below dof i on a branch, and i itself, ascending.
"""

import numpy as np

from .tables.branches import pairs


def entries(m):
    """(row, column, place in dof_Madr's order, whether below the diagonal) of the nD entries of D."""
    dof, ancestor = pairs(m)
    other = np.flatnonzero(dof != ancestor)
    row, col = np.append(dof, ancestor[other]), np.append(ancestor, dof[other])
    order = np.lexsort((col, row))
    place = np.append(np.arange(len(dof)), other)
    return row[order], col[order], place[order], row[order] >= col[order]


def _in_M(m):
    """(nM,) place in M of each entry in dof_Madr's order, -1 where a dof of a simple body has none."""
    dof, _ = pairs(m)
    up = np.arange(m.nM) - np.asarray(m.dof_Madr, np.int64)[dof]
    number, adr = np.asarray(m.M_rownnz)[dof], np.asarray(m.M_rowadr)[dof]
    return np.where(up < number, adr + number - 1 - up, -1)


def _rownnz(m):
    return np.bincount(entries(m)[0], minlength=m.nv)


def _rowadr(m):
    return np.cumsum(_rownnz(m)) - _rownnz(m)


def _diag(m):
    row, col, *_ = entries(m)
    return np.bincount(row[col < row], minlength=m.nv)


def _M_to_M(m):
    place = _in_M(m)
    there = np.flatnonzero(place >= 0)
    out = np.zeros(m.nC, np.int64)
    out[place[there]] = there
    return out


def _M_to_D(m):
    return _in_M(m)[entries(m)[2]]


def _D_to_M(m):
    place, lower = _M_to_D(m), entries(m)[3]
    there = np.flatnonzero((place >= 0) & lower)
    out = np.zeros(m.nC, np.int64)
    out[place[there]] = there
    return out


# what a Model has of these, by name
MADE = {
    "D_rownnz": (_rownnz, "(nv,) entries in each row of D"), "D_rowadr": (_rowadr, "(nv,) where each row begins"),
    "D_diag": (_diag, "(nv,) place of the diagonal in each row"),
    "D_colind": (lambda m: entries(m)[1], "(nD,) columns"),
    "mapM2M": (_M_to_M, "(nC,) places in qM of the entries of M"),
    "mapM2D": (_M_to_D, "(nD,) places in M of the entries of D, which is symmetric there; -1: M has none"),
    "mapD2M": (_D_to_M, "(nC,) places in D of the entries of M"),
}  # fmt: skip


def reader(name):
    """The property of a Model that makes it."""

    def read(m):
        out = MADE[name][0](m).astype(np.int32)
        out.flags.writeable = False
        return out

    return property(read, doc=f"{name}: {MADE[name][1]}.")


def size(m):
    """nD: entries of D."""
    return int(2 * m.nM - m.nv)
