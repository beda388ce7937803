"""Which dofs each equality constraint moves: their rows' entries, which do not change in a model."""

import numpy as np

from tisim.enums import mjtEq, mjtObj

from . import tendon
from .declare import Table, declared
from .moving import last_dof

POSES = (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD)
ROWS = {mjtEq.mjEQ_CONNECT: 3, mjtEq.mjEQ_WELD: 6, mjtEq.mjEQ_JOINT: 1, mjtEq.mjEQ_TENDON: 1}


def _entries(m):
    """(equality, dof, side) of every dof that enters an equality's rows; side 0 or 1, and none is sorted."""
    kind, by_site = np.asarray(m.eq_type), np.asarray(m.eq_objtype) == mjtObj.mjOBJ_SITE
    tendons, found = tendon.entries(m), []
    for side, name in enumerate(("eq_obj1id", "eq_obj2id")):
        obj = np.asarray(getattr(m, name))
        at = np.flatnonzero((kind == mjtEq.mjEQ_JOINT) & (obj >= 0))
        found.append((at, np.asarray(m.jnt_dofadr)[obj[at]], side))
        at = np.flatnonzero((kind == mjtEq.mjEQ_TENDON) & (obj >= 0))
        number = tendons["tendon_Jnum"][obj[at]]
        start = np.repeat(tendons["tendon_Jadr"][obj[at]] - (np.cumsum(number) - number), number)
        found.append((np.repeat(at, number), tendons["tendon_Jdof"][start + np.arange(number.sum())], side))
        at = np.flatnonzero(np.isin(kind, POSES))
        body = obj[at]
        body[by_site[at]] = np.asarray(m.site_bodyid)[body[by_site[at]]]
        dof = last_dof(m, body)
        while len(at := at[dof >= 0]):
            dof = dof[dof >= 0]
            found.append((at, dof, side))
            dof = np.asarray(m.dof_parentid)[dof]
    return [np.concatenate(part) for part in zip(*((at, dof, np.full(len(at), side)) for at, dof, side in found))]


def entries(m):
    """dict(eq_nrow, eq_Jadr, eq_Jnum (neq,); eq_Jdof, eq_side (neqJ,)): rows of each equality and the dofs of each row.

    eq_side  1: the dof moves the first object, 2: the second, 3: both. An equality without dofs has no rows.
    """
    at, dof, side = (x.astype(np.int64) for x in _entries(m))
    keys, place = np.unique(at * max(1, m.nv) + dof, return_inverse=True)
    sides = np.zeros(len(keys), np.int64)
    for k in range(2):
        sides[place[side == k]] |= 1 << k
    number = np.bincount(keys // max(1, m.nv), minlength=m.neq)
    rows = np.array([ROWS.get(kind, 0) for kind in m.eq_type], np.int64)
    return dict(
        eq_nrow=np.where(number > 0, rows, 0), eq_Jadr=np.cumsum(number) - number, eq_Jnum=number,
        eq_Jdof=keys % max(1, m.nv), eq_side=sides,
    )  # fmt: skip


def _of(make, name):
    return lambda m: make(m)[name]


def _kind(*kinds):
    return lambda m: np.flatnonzero(np.isin(m.eq_type, kinds))


TABLES = declared(
    Table("eq_nrow", "i", ("neq",), _of(entries, "eq_nrow"), (), "rows of each equality where it acts"),
    Table("eq_Jadr", "i", ("neq",), _of(entries, "eq_Jadr"), (), "where its dofs begin in eq_Jdof"),
    Table("eq_Jnum", "i", ("neq",), _of(entries, "eq_Jnum"), (), "dofs that enter each of its rows"),
    Table("eq_Jdof", "i", ("neqJ",), _of(entries, "eq_Jdof"), (), "these dofs, ascending"),
    Table("eq_side", "i", ("neqJ",), _of(entries, "eq_side"), (), "1: it moves object 1, 2: object 2, 3: both"),
    Table("eq_pose", "i", ("neqpose",), _kind(*POSES), (), "equalities connect and weld"),
    Table("eq_joint", "i", ("neqjoint",), _kind(mjtEq.mjEQ_JOINT), (), "equalities of joints"),
    Table("eq_tendon", "i", ("neqtendon",), _kind(mjtEq.mjEQ_TENDON), (), "equalities of tendons"),
)  # fmt: skip
# numbers that are the length of a table
COUNTED = dict(
    neqJ="eq_Jdof", neqpose="eq_pose", neqjoint="eq_joint", neqtendon="eq_tendon",
)  # fmt: skip
