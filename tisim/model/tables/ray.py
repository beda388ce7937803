"""Tables that rays need of a model: which geoms they may hit, and a tree of boxes over the faces of each mesh."""

import numpy as np

from tisim.enums import mjtGeom

from .declare import Table, declared

NGROUP = 6  # mjNGROUP
LEAF = 4  # faces in a leaf
GROW = 1e-6  # boxes grow by this share of the mesh: a ray along a face must not be lost to rounding


def ray_order(m):
    """Geoms: planes first, which no box holds."""
    return np.argsort(np.asarray(m.geom_type) != mjtGeom.mjGEOM_PLANE, kind="stable")


def ray_class(m):
    """Group of each geom (0 to 5), + 8 if static, + 16 if a geom of its body can collide; -1 if it is invisible."""
    material = np.asarray(m.geom_matid)
    alpha = np.array(m.geom_rgba)[:, 3]
    has = material >= 0
    alpha[has] = np.asarray(m.mat_rgba)[material[has], 3]
    body = np.asarray(m.geom_bodyid)
    static = np.asarray(m.body_weldid)[body] == 0
    collides = np.zeros(m.nbody, bool)
    collides[body[(np.asarray(m.geom_contype) != 0) | (np.asarray(m.geom_conaffinity) != 0)]] = True
    return np.where(alpha == 0, -1, np.clip(m.geom_group, 0, NGROUP - 1) + 8 * static + 16 * collides[body])


def _mesh_trees(m):
    """Per mesh: first node and number of leaves; boxes of all nodes; faces of each mesh in the order of its leaves.

    The faces of a mesh are sorted along a space-filling curve, LEAF of them make a leaf, the leaves a heap.
    """
    adr, boxes, order = [], [np.zeros((0, 6))], [np.zeros(0, int)]
    base = 0
    vert, face = np.asarray(m.mesh_vert, float).reshape(-1, 3), np.asarray(m.mesh_face, int).reshape(-1, 3)
    for k in range(m.nmesh):
        first, count = int(m.mesh_faceadr[k]), int(m.mesh_facenum[k])
        corner = vert[face[first : first + count] + int(m.mesh_vertadr[k])]  # (face, corner, xyz)
        nleaf = 1 << max(0, -(-count // LEAF) - 1).bit_length()
        box = np.empty((2 * nleaf, 6))
        box[:, :3], box[:, 3:] = np.inf, -np.inf
        if count:
            lo, hi = corner.min(1), corner.max(1)
            grow = GROW * np.abs(corner).max()
            span = np.maximum(hi.max(0) - lo.min(0), 1e-300)
            cell = np.minimum(((0.5 * (lo + hi) - lo.min(0)) / span * 1024).astype(np.int64), 1023)
            key = sum(((cell[:, a] >> b) & 1) << (3 * b + 2 - a) for a in range(3) for b in range(10))
            by_curve = np.argsort(key, kind="stable")
            start = np.arange(0, count, LEAF)
            at = nleaf + np.arange(len(start))
            box[at, :3] = np.minimum.reduceat(lo[by_curve], start) - grow
            box[at, 3:] = np.maximum.reduceat(hi[by_curve], start) + grow
            order.append(first + by_curve)
        width = nleaf // 2
        while width:
            child = box[2 * width : 4 * width].reshape(width, 2, 6)
            box[width : 2 * width, :3] = child[:, :, :3].min(1)
            box[width : 2 * width, 3:] = child[:, :, 3:].max(1)
            width //= 2
        adr.append((base, nleaf))
        base += 2 * nleaf
        boxes.append(np.clip(box, -1e30, 1e30))
    return np.array(adr, int).reshape(-1, 2), np.concatenate(boxes), np.concatenate(order)


READS = ("mesh_vert", "mesh_face")
# for device_model.DERIVED
TABLES = declared(
    Table("ray_order", "i", ("ngeom",), ray_order, ("geom_type",), "geoms, planes first"),
    Table("ray_class", "i", ("ngeom",), ray_class,
          ("geom_rgba", "mat_rgba", "geom_matid", "geom_group", "geom_contype", "geom_conaffinity"),
          "group, + 8 if static, + 16 if a geom of its body can collide; -1: invisible"),
    Table("ray_mesh", None, (), _mesh_trees, READS, "the three below"),
    Table("ray_meshadr", "i", ("nmesh", 2), lambda m: m.derived("ray_mesh")[0], READS,
          "first node and number of leaves of each mesh's tree"),
    Table("ray_meshbox", "f", ("nodes", 2, 3), lambda m: m.derived("ray_mesh")[1], READS,
          "lower and upper corner of each node [m]"),
    Table("ray_meshface", "i", ("nmeshface",), lambda m: m.derived("ray_mesh")[2], READS,
          "faces in the order of the leaves"),
)  # fmt: skip
