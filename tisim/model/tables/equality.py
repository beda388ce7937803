"""Which dofs each equality constraint and each tendon moves: their rows' entries, which do not change in a model."""

import numpy as np

from tisim.enums import mjtEq, mjtObj, mjtWrap

from .declare import Table, declared

POSES = (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD)
ROWS = {mjtEq.mjEQ_CONNECT: 3, mjtEq.mjEQ_WELD: 6, mjtEq.mjEQ_JOINT: 1, mjtEq.mjEQ_TENDON: 1}


def tendon_entries(m):
    """dict(tendon_Jadr, tendon_Jnum (ntendon,), tendon_Jdof, tendon_coef (ntendonJ,)) of the fixed tendons.

    Dofs of each tendon ascend; a joint that is named twice counts twice.
    """
    owner = np.repeat(np.arange(m.ntendon), np.asarray(m.tendon_num))
    wrap = np.flatnonzero(np.asarray(m.wrap_type) == mjtWrap.mjWRAP_JOINT)
    dof = np.asarray(m.jnt_dofadr)[np.asarray(m.wrap_objid)[wrap]]
    keys, place = np.unique(owner[wrap] * max(1, m.nv) + dof, return_inverse=True)
    number = np.bincount(keys // max(1, m.nv), minlength=m.ntendon)
    return dict(
        tendon_Jadr=np.cumsum(number) - number, tendon_Jnum=number, tendon_Jdof=keys % max(1, m.nv),
        tendon_coef=np.bincount(place, np.asarray(m.wrap_prm)[wrap], len(keys)),
    )  # fmt: skip


def last_dof(m, body):
    """Last dof that moves each of these bodies, -1 if none does."""
    weld = np.asarray(m.body_weldid)[body]
    number = np.asarray(m.body_dofnum)[weld]
    return np.where(number > 0, np.asarray(m.body_dofadr)[weld] + number - 1, -1)


def _entries(m):
    """(equality, dof, side) of every dof that enters an equality's rows; side 0 or 1, and none is sorted."""
    kind, by_site = np.asarray(m.eq_type), np.asarray(m.eq_objtype) == mjtObj.mjOBJ_SITE
    tendon, found = tendon_entries(m), []
    for side, name in enumerate(("eq_obj1id", "eq_obj2id")):
        obj = np.asarray(getattr(m, name))
        at = np.flatnonzero((kind == mjtEq.mjEQ_JOINT) & (obj >= 0))
        found.append((at, np.asarray(m.jnt_dofadr)[obj[at]], side))
        at = np.flatnonzero((kind == mjtEq.mjEQ_TENDON) & (obj >= 0))
        number = tendon["tendon_Jnum"][obj[at]]
        start = np.repeat(tendon["tendon_Jadr"][obj[at]] - (np.cumsum(number) - number), number)
        found.append((np.repeat(at, number), tendon["tendon_Jdof"][start + np.arange(number.sum())], side))
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
    Table("tendon_Jadr", "i", ("ntendon",), _of(tendon_entries, "tendon_Jadr"), (), "where dofs begin in tendon_Jdof"),
    Table("tendon_Jnum", "i", ("ntendon",), _of(tendon_entries, "tendon_Jnum"), (), "dofs that move each fixed tendon"),
    Table("tendon_Jdof", "i", ("ntendonJ",), _of(tendon_entries, "tendon_Jdof"), (), "these dofs, ascending"),
    Table("tendon_coef", "f", ("ntendonJ",), _of(tendon_entries, "tendon_coef"), ("wrap_prm",), "their coefficients"),
    Table("friction_tendon", "i", ("ntendonfriction",), lambda m: np.flatnonzero(m.tendon_frictionloss > 0),
          ("tendon_frictionloss",), "tendons with friction loss"),
    Table("limited_tendon", "i", ("ntendonlimited",), lambda m: np.flatnonzero(m.tendon_limited),
          ("tendon_limited",), "tendons with limits"),
)  # fmt: skip
# numbers that are the length of a table
COUNTED = dict(
    neqJ="eq_Jdof", neqpose="eq_pose", neqjoint="eq_joint", neqtendon="eq_tendon", ntendonJ="tendon_Jdof",
    ntendonfriction="friction_tendon", ntendonlimited="limited_tendon",
)  # fmt: skip
