"""What tendons with armature add to the inertia matrix: pairs of dofs, by tree."""

import numpy as np

from . import tendon
from .declare import Table, declared

READS = ("tendon_armature",)


def _heavy(m):
    return np.asarray(m.tendon_armature) > 0


def pairs(m):
    """dict of heavy_adr (ntree + 1,), heavy_entry (nheavy, 2), heavy_tendon, heavy_M, heavy_hess (nheavy,).

    A pair is two entries of a tendon's Jacobian, the later dof first, of which the other is an ancestor or itself, and
    its places in M and in tree_hess.
    """
    e, nv = tendon.entries(m), np.int64(max(1, m.nv))
    dof, first, second, owner = e["tendon_Jdof"], [], [], []
    for t in np.flatnonzero(_heavy(m)):
        a, b = np.tril_indices(e["tendon_Jnum"][t])
        first.append(a + e["tendon_Jadr"][t])
        second.append(b + e["tendon_Jadr"][t])
        owner.append(np.full(len(a), t))
    first, second, owner = (
        np.concatenate([np.zeros(0, np.int64), *x]).astype(np.int64) for x in (first, second, owner)
    )
    row = np.repeat(np.arange(m.nv), np.asarray(m.M_rownnz))
    key = row * nv + np.asarray(m.M_colind)  # ascending
    wanted = dof[first] * nv + dof[second]
    place = np.minimum(np.searchsorted(key, wanted), max(0, len(key) - 1))
    there = np.flatnonzero(key[place] == wanted) if len(key) else np.zeros(0, np.int64)
    tree = np.asarray(m.dof_treeid)[dof[first[there]]]
    there = there[np.argsort(tree, kind="stable")]
    depth = np.zeros(m.nv + 1, np.int64)
    for i, p in enumerate(np.asarray(m.dof_parentid).tolist()):
        depth[i] = depth[p] + 1
    i, j = dof[first[there]], dof[second[there]]
    return dict(
        heavy_adr=np.searchsorted(np.sort(tree), np.arange(m.ntree + 1)),
        heavy_entry=np.stack([first[there], second[there]], 1), heavy_tendon=owner[there],
        heavy_M=place[there], heavy_hess=np.asarray(m.dof_Madr)[i] + depth[i] - depth[j],
    )  # fmt: skip


def _of(name):
    return lambda m: pairs(m)[name]


def by_dof(m):
    """Dofs that tendons with armature move."""
    return tendon.by_dof(m, _heavy(m))[0]


def _by_dof(k):
    return lambda m: tendon.by_dof(m, _heavy(m))[k]


TABLES = declared(
    Table("heavy_list", "i", ("nheavytendon",), lambda m: np.flatnonzero(_heavy(m)), READS, "tendons with armature"),
    Table("heavy_adr", "i", ("nheavyadr",), _of("heavy_adr"), READS, "first of each tree in heavy_entry, and the end"),
    Table("heavy_entry", "i", ("nheavy", 2), _of("heavy_entry"), READS, "pairs of places in ten_J, later dof first"),
    Table("heavy_tendon", "i", ("nheavy",), _of("heavy_tendon"), READS, "their tendons"),
    Table("heavy_M", "i", ("nheavy",), _of("heavy_M"), READS, "their places in M"),
    Table("heavy_hess", "i", ("nheavy",), _of("heavy_hess"), READS, "their places in tree_hess"),
    Table("heavy_tree", "i", ("nheavytree",), lambda m: np.flatnonzero(np.diff(pairs(m)["heavy_adr"])), READS,
          "trees that have some"),
    Table("heavy_dof", "i", ("nheavydof",), _by_dof(0), READS, "dofs that tendons with armature move"),
    Table("heavydof_adr", "i", ("nheavydofadr",), _by_dof(1), READS, "first of each in heavydof_entry, and the end"),
    Table("heavydof_entry", "i", ("nheavydofJ",), _by_dof(2), READS, "places in ten_J, by dof"),
    Table("heavydof_tendon", "i", ("nheavydofJ",), _by_dof(3), READS, "tendons of these"),
)  # fmt: skip
# numbers that are the length of a table
COUNTED = dict(
    nheavytendon="heavy_list", nheavyadr="heavy_adr", nheavy="heavy_tendon", nheavytree="heavy_tree",
    nheavydof="heavy_dof", nheavydofadr="heavydof_adr", nheavydofJ="heavydof_entry",
)  # fmt: skip
