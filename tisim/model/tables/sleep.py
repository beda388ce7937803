"""Stretches of the model's arrays that belong to each tree, for the lists of what is awake (kernels/sleep/lists.py)."""

import numpy as np

from . import midphase
from .declare import Table, declared


def _stretch(m, owner):
    """(first, number) of each tree in a list that is sorted by its bodies `owner`."""
    first = np.asarray(m.tree_bodyadr)
    begin = np.searchsorted(owner, first)
    return begin, np.searchsorted(owner, first + np.asarray(m.tree_bodynum)) - begin


def _ranges(owner):
    """Makers of the two tables of such a list; owner: function of the model."""
    return tuple(lambda m, k=k: _stretch(m, np.asarray(owner(m)))[k] for k in range(2))


def _qpos_body(m):
    """Body of each number in qpos."""
    return np.repeat(m.jnt_bodyid, np.diff(np.append(m.jnt_qposadr, m.nq)))


def _always(m):
    """(static bodies that steps compute anew, whether each moves): the world; mocap bodies and what they carry, which
    move; roots below which trees hang, as these are about their centre of mass."""
    static = np.asarray(m.body_treeid) < 0
    root = np.asarray(m.body_rootid)
    moves = static & (np.asarray(m.body_mocapid)[root] >= 0)
    above = np.zeros(m.nbody, bool)
    above[root[~static]] = True
    above[0] = True
    bodies = np.flatnonzero(static & (above | moves))
    return bodies, moves[bodies]


def _geom_boxat(m):
    single, bodies, grouped, _ = midphase.sort_out(m)
    at = np.full(m.ngeom, -1)
    at[single] = np.arange(len(single))
    at[grouped] = len(single) + len(bodies) + np.arange(len(grouped))
    return at


def _body_boxat(m):
    single, bodies, _, _ = midphase.sort_out(m)
    at = np.full(m.nbody, -1)
    at[bodies] = len(single) + np.arange(len(bodies))
    return at


def _site_stretch(m, k):
    begin = np.searchsorted(m.site_bodyid, np.arange(m.nbody + 1))
    return begin[:-1] if k == 0 else np.diff(begin)


def _pair(name, owner, reads, what):
    """The two tables of a list."""
    first, number = _ranges(owner)
    return (
        Table(f"tree_{name}adr", "i", ("ntree",), first, reads, f"first of each tree among {what}"),
        Table(f"tree_{name}num", "i", ("ntree",), number, reads, f"{what} of each tree"),
    )


COLLIDES = ("geom_type", "geom_contype", "geom_conaffinity")
TABLES = declared(
    *_pair("geom", lambda m: m.geom_bodyid, (), "geoms"),
    *_pair("site", lambda m: m.site_bodyid, (), "sites"),
    *_pair("qpos", _qpos_body, (), "numbers in qpos"),
    *_pair("limited", lambda m: m.jnt_bodyid[m.derived("limited_joint")], ("jnt_limited",), "limited joints"),
    *_pair("lossy", lambda m: m.dof_bodyid[m.derived("friction_dof")], ("dof_frictionloss",), "dofs with friction"),
    Table("body_siteadr", "i", ("nbody",), lambda m: _site_stretch(m, 0), (), "first site of each body"),
    Table("body_sitenum", "i", ("nbody",), lambda m: _site_stretch(m, 1), (), "sites of each body"),
    Table("geom_treeid", "i", ("ngeom",), lambda m: np.asarray(m.body_treeid)[m.geom_bodyid], (), "tree, -1: static"),
    Table("always_body", "i", ("nalways",), lambda m: _always(m)[0], (), "static bodies that every step computes"),
    Table("always_moves", "i", ("nalways",), lambda m: _always(m)[1], (), "1: it is a mocap body or carried by one"),
    Table("geom_boxat", "i", ("ngeom",), _geom_boxat, COLLIDES, "place of each geom in box_item, -1: none"),
    Table("body_boxat", "i", ("nbody",), _body_boxat, COLLIDES, "place of a body with many geoms in box_item, else -1"),
)  # fmt: skip
