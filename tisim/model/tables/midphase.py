"""Trees of boxes over geoms that never move against each other: those of the world, and those of a body with many.

A body with many geoms is one entry of the sweep; its tree finds which of them meet what the sweep found. The geoms of
static bodies never enter the sweep: each moving geom looks them up in their tree. The trees are built once on the host
from the constant poses in the model.
"""

import numpy as np

from tisim.enums import mjtGeom
from tisim.mjcf import rotations
from tisim.mjcf.reference.setconst import reference_pose

from .declare import Table, declared

GROUP = 16  # geoms of a moving body from which on it is one entry; below, its geoms are entries themselves
FAR = 1e30  # corners of a box that meets nothing


def can_collide(m):
    """(ngeom,) bool: geoms that a pair may be made of without being listed in the model: their bits fit another's."""
    words = (np.asarray(a).astype(np.int64) & 0xFFFFFFFF for a in (m.geom_contype, m.geom_conaffinity))
    contype, conaffinity = words
    kinds, kind, many = np.unique(contype << 32 | conaffinity, return_inverse=True, return_counts=True)
    wants, takes = (word[:, None] >> np.arange(32) & 1 for word in (kinds >> 32 & 0xFFFFFFFF, kinds & 0xFFFFFFFF))
    found = [one & (many @ other > other) for one, other in ((wants, takes), (takes, wants))]
    return (found[0] | found[1]).any(axis=1)[kind]


def sort_out(m):
    """Who takes part in the search.

    Returns (geoms that are entries of the sweep, bodies that are, geoms of those bodies, static geoms), ids as arrays.
    A mocap body has no joints but moves.
    """
    body = np.asarray(m.geom_bodyid)
    bounded = can_collide(m) & (np.asarray(m.geom_type) != mjtGeom.mjGEOM_PLANE)
    root = np.asarray(m.body_rootid)[body]
    fixed = (np.asarray(m.body_weldid)[body] == 0) & (np.asarray(m.body_mocapid)[root] < 0)
    static = np.flatnonzero(bounded & fixed)
    moving = np.flatnonzero(bounded & ~fixed)
    many = np.bincount(body[moving], minlength=m.nbody) >= GROUP
    grouped = many[body[moving]]
    return moving[~grouped], np.flatnonzero(many), moving[grouped], static


def trees(m):
    """The trees of the bodies with many geoms, then that of the static geoms, one after the other in common arrays.

    Returns dict(mid_box (n, 6) lower and upper corners in the body's frame, margins included; mid_geom (n,) geom of a
    leaf or -1; mid_adr (ngroup + 1,) where each tree starts; mid_leaf (ngroup + 1,) its number of leaves, a power of
    two; mid_body (ngroup,) the bodies). Node k of a tree has the children 2k and 2k + 1; the root is 1, the leaves are
    the last ones.
    """
    _, bodies, members, static = sort_out(m)
    owner = np.asarray(m.geom_bodyid)
    pos, quat = np.asarray(m.geom_pos), np.asarray(m.geom_quat)
    lists = [(members[owner[members] == b], pos, quat) for b in bodies]
    tree = ("body_parentid", "body_pos", "body_quat")
    xpos, xquat = reference_pose({name: np.asarray(getattr(m, name)) for name in tree})
    world_pos, world_quat = rotations.into_parent(xpos[owner], xquat[owner], pos, quat)
    lists.append((static, world_pos, world_quat))
    boxes, geoms, adr, leaves = [], [], [], []
    start = 0
    for ids, p, q in lists:
        box, geom = _tree(m, ids, p[ids], q[ids])
        boxes.append(box)
        geoms.append(geom)
        adr.append(start)
        leaves.append(len(geom) // 2)
        start += len(geom)
    return dict(
        mid_box=np.concatenate(boxes), mid_geom=np.concatenate(geoms), mid_adr=np.array(adr),
        mid_leaf=np.array(leaves), mid_body=bodies,
    )  # fmt: skip


def _tree(m, ids, pos, quat):
    """(boxes (2n, 6), geoms (2n,)) of one tree, n leaves; neighbours along a Morton curve become neighbours in it."""
    n = 1 << max(0, int(len(ids) - 1).bit_length())
    box, geom = np.empty((2 * n, 6)), np.full(2 * n, -1)
    box[:, :3], box[:, 3:] = FAR, -FAR
    if len(ids):
        low, high = _boxes(m, ids, pos, quat)
        order = np.argsort(_morton((low + high) / 2), kind="stable")
        box[n : n + len(ids)] = np.concatenate([low, high], 1)[order]
        geom[n : n + len(ids)] = ids[order]
    while n > 1:
        box[n // 2 : n, :3] = np.minimum(box[n : 2 * n : 2, :3], box[n + 1 : 2 * n : 2, :3])
        box[n // 2 : n, 3:] = np.maximum(box[n : 2 * n : 2, 3:], box[n + 1 : 2 * n : 2, 3:])
        n //= 2
    return box, geom


def _boxes(m, ids, pos, quat):
    """Lower and upper corners (n, 3) of geoms at these poses, margins added; as collision/boxes.py makes them."""
    (middle, half, radius), reach = np.split(m.derived("geom_box")[ids], 3, axis=1), m.derived("geom_reach")[ids, None]
    R = rotations.matrix(quat)
    center = pos + np.einsum("nij,nj->ni", R, middle)
    extent = np.einsum("nij,nj->ni", np.abs(R), half) + np.linalg.norm(R * radius[:, None], axis=2)
    extent, reach = extent * (1 + 1e-6), reach * (1 + 1e-6)
    margin = m.as_seen("geom_margin")[ids, None]
    return np.maximum(center - extent, pos - reach) - margin, np.minimum(center + extent, pos + reach) + margin


def _morton(points):
    """(n,) keys that keep neighbours in space together: 10 bits of each coordinate, interleaved."""
    low, size = points.min(0), np.maximum(np.ptp(points, axis=0), 1e-30)
    cell = np.minimum((points - low) / size * 1024, 1023).astype(np.int64)
    key = np.zeros(len(points), np.int64)
    for bit in range(10):
        for axis in range(3):
            key |= (cell[:, axis] >> bit & 1) << (3 * bit + axis)
    return key


# what the trees depend on, and the tables of a model (device_model.DERIVED): all are made together
READS = (
    "geom_type", "geom_contype", "geom_conaffinity", "geom_pos", "geom_quat", "geom_aabb", "geom_rbound", "geom_margin",
    "body_pos", "body_quat", "mesh_vert",
)  # fmt: skip
TABLES = declared(
    Table("mid_trees", None, (), trees, READS, "the five below"),
    *(
        Table(name, dtype, shape, lambda m, name=name: m.derived("mid_trees")[name], READS, doc)
        for name, dtype, shape, doc in (
            ("mid_box", "f", ("nodes", 2, 3), "lower and upper corner of each node, in the body's frame [m]"),
            ("mid_geom", "i", ("nodes",), "geom of a leaf, else -1"),
            ("mid_adr", "i", ("trees",), "first node of each tree: bodies with many geoms, then the static geoms"),
            ("mid_leaf", "i", ("trees",), "leaves of each tree, a power of two"),
            ("mid_body", "i", ("bodies",), "bodies with many geoms"),
        )
    ),
)
