"""Which dofs move each tendon, and which tendons have what: places of sparse Jacobians, which no pose changes."""

import numpy as np

from tisim.enums import mjtWrap

from .declare import Table, declared
from .moving import chains

WRAPPED = (mjtWrap.mjWRAP_SPHERE, mjtWrap.mjWRAP_CYLINDER)


def entries(m):
    """Entries of the tendons' Jacobians, dofs of each tendon ascending, and the lines of paths that make each.

    dict of tendon_Jadr, tendon_Jnum (ntendon,); tendon_Jdof, tendon_coef, tendon_last, tendon_crossadr,
    tendon_crossnum (ntendonJ,); tendon_cross (ntendoncross,). A joint that a fixed tendon names twice counts twice in
    coef, and with its last coefficient in last. A line is 2 * element of the path, or that plus 1, see
    kernels/tendon/path.py; cross has 1 + line where the dof moves its end, -(1 + line) where it moves its beginning.
    """
    nv = max(1, m.nv)
    owner = np.repeat(np.arange(m.ntendon), np.asarray(m.tendon_num))
    joint = np.flatnonzero(np.asarray(m.wrap_type) == mjtWrap.mjWRAP_JOINT)
    fixed = owner[joint] * nv + np.asarray(m.jnt_dofadr)[np.asarray(m.wrap_objid)[joint]]
    at, dof, line, sign = crossings(m)
    spatial = owner[at] * nv + dof
    keys, place = np.unique(np.concatenate([fixed, spatial]).astype(np.int64), return_inverse=True)
    coef = np.asarray(m.wrap_prm)[joint]
    last = np.zeros(len(keys))
    last[place[: len(joint)]] = coef
    of = place[len(joint) :]
    order = np.lexsort((line, of))
    number, crossed = np.bincount(keys // nv, minlength=m.ntendon), np.bincount(of, minlength=len(keys))
    return dict(
        tendon_Jadr=np.cumsum(number) - number, tendon_Jnum=number, tendon_Jdof=keys % nv,
        tendon_coef=np.bincount(place[: len(joint)], coef, len(keys)), tendon_last=last,
        tendon_crossadr=np.cumsum(crossed) - crossed, tendon_crossnum=crossed,
        tendon_cross=(sign * (line + 1))[order],
    )  # fmt: skip


def crossings(m):
    """(element of a path, dof, line, sign) of every dof that moves one end of a line and not the other."""
    kind, objid = np.asarray(m.wrap_type), np.asarray(m.wrap_objid)
    owner = np.repeat(np.arange(m.ntendon), np.asarray(m.tendon_num))
    follows = np.append(np.where(owner[1:] == owner[:-1], kind[1:], 0), 0)
    wrapped = np.isin(follows, WRAPPED)
    start = np.flatnonzero((kind == mjtWrap.mjWRAP_SITE) & ((follows == mjtWrap.mjWRAP_SITE) | wrapped))
    has_geom = wrapped[start]
    site, geom = np.asarray(m.site_bodyid), np.asarray(m.geom_bodyid)
    first, last = site[objid[start]], site[objid[start + 1 + has_geom]]
    middle = first.copy()
    middle[has_geom] = geom[objid[start[has_geom] + 1]]
    # bits of the three points that a dof moves
    keys, bits = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for bit, body in enumerate((first, middle, last)):
        at, dof = chains(m, body)
        keys.append(start[at] * np.int64(max(1, m.nv)) + dof)
        bits.append(np.full(len(at), 1 << bit))
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    moved = np.bincount(place, np.concatenate(bits), len(key)).astype(np.int64)
    at, dof = key // max(1, m.nv), key % max(1, m.nv)
    found = []
    for side in range(2):
        sign = (moved >> (side + 1) & 1) - (moved >> side & 1)
        found.append((at, dof, 2 * at + side, sign))
    at, dof, line, sign = (np.concatenate(column) for column in zip(*found))
    kept = sign != 0
    return at[kept], dof[kept], line[kept], sign[kept]


def _of(name):
    return lambda m: entries(m)[name]


def _is_fixed(m):
    fixed = np.ones(m.ntendon, bool)
    owner = np.repeat(np.arange(m.ntendon), np.asarray(m.tendon_num))
    fixed[owner[np.asarray(m.wrap_type) != mjtWrap.mjWRAP_JOINT]] = False
    return fixed


def _springy(m):
    return (np.asarray(m.tendon_stiffness) != 0) | (np.asarray(m.tendon_damping) != 0)


def by_dof(m, mine):
    """(dofs that the tendons `mine` (ntendon,) bool move, first of each in the rest and the end, places in ten_J, the
    tendons of these), by dof."""
    e = entries(m)
    owner = np.repeat(np.arange(m.ntendon), e["tendon_Jnum"])
    entry = np.flatnonzero(mine[owner])
    entry = entry[np.argsort(e["tendon_Jdof"][entry], kind="stable")]
    dof = e["tendon_Jdof"][entry]
    moved, first = np.unique(dof, return_index=True)
    return moved, np.append(first, len(dof)), entry, owner[entry]


def _pulled(k):
    return lambda m: by_dof(m, _springy(m))[k]


SPRINGS = ("tendon_stiffness", "tendon_damping")
TABLES = declared(
    Table("tendon_Jadr", "i", ("ntendon",), _of("tendon_Jadr"), (), "where dofs begin in tendon_Jdof"),
    Table("tendon_Jnum", "i", ("ntendon",), _of("tendon_Jnum"), (), "dofs that move each tendon"),
    Table("tendon_Jdof", "i", ("ntendonJ",), _of("tendon_Jdof"), (), "these dofs, ascending"),
    Table("tendon_coef", "f", ("ntendonJ",), _of("tendon_coef"), ("wrap_prm",), "their coefficients in fixed tendons"),
    Table("tendon_last", "f", ("ntendonJ",), _of("tendon_last"), ("wrap_prm",), "of a joint named twice, the last"),
    Table("tendon_crossadr", "i", ("ntendonJ",), _of("tendon_crossadr"), (), "first entry of each in tendon_cross"),
    Table("tendon_crossnum", "i", ("ntendonJ",), _of("tendon_crossnum"), (), "lines of a path that the dof changes"),
    Table("tendon_cross", "i", ("ntendoncross",), _of("tendon_cross"), (), "these lines: +-(1 + line)"),
    Table("fixed_tendon", "i", ("nfixed",), lambda m: np.flatnonzero(_is_fixed(m)), (), "fixed tendons"),
    Table("spatial_tendon", "i", ("nspatial",), lambda m: np.flatnonzero(~_is_fixed(m)), (), "spatial tendons"),
    Table("friction_tendon", "i", ("ntendonfriction",), lambda m: np.flatnonzero(m.tendon_frictionloss > 0),
          ("tendon_frictionloss",), "tendons with friction loss"),
    Table("limited_tendon", "i", ("ntendonlimited",), lambda m: np.flatnonzero(m.tendon_limited),
          ("tendon_limited",), "tendons with limits"),
    Table("springy_tendon", "i", ("nspringy",), lambda m: np.flatnonzero(_springy(m)), SPRINGS,
          "tendons with springs or dampers"),
    Table("pulled_dof", "i", ("npulled",), _pulled(0), SPRINGS, "dofs that these tendons move"),
    Table("pull_adr", "i", ("npulladr",), _pulled(1), SPRINGS, "first of each of them in pull_entry, and the end"),
    Table("pull_entry", "i", ("npull",), _pulled(2), SPRINGS, "places in ten_J, by dof"),
    Table("pull_tendon", "i", ("npull",), _pulled(3), SPRINGS, "tendons of these"),
)  # fmt: skip
# numbers that are the length of a table
COUNTED = dict(
    ntendonJ="tendon_Jdof", ntendoncross="tendon_cross", nfixed="fixed_tendon", nspatial="spatial_tendon",
    ntendonfriction="friction_tendon", ntendonlimited="limited_tendon", nspringy="springy_tendon", npulled="pulled_dof",
    npulladr="pull_adr", npull="pull_entry",
)  # fmt: skip
