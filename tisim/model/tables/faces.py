"""Tables of meshes for rays in f32 (kernels/picture/faces.py): numbers stand as their bits in arrays of int32."""

import numpy as np

from .declare import Table, declared

FACES = 8  # of a leaf, which a processor tries at once
EMPTY = -1e30  # half side of a box that holds nothing
FLAT = 1e-6  # by this share of a mesh's size its corners may stand out of a face, and it counts as convex
CLOSED, CONVEX = 1, 2  # forms
ROOM = 1e-4  # by this share ellipsoids are smaller within a mesh, and larger around it
TRIED = 2e8  # corners before faces that are looked at: larger meshes count as not convex


def bits(values):
    """Numbers as kernels of pictures read them: bits of f32."""
    return np.ascontiguousarray(values, np.float32).view(np.int32)


def _mesh_faces(m):
    """Per mesh: place of its nodes, first node that is a leaf, place of its leaves, form, FACES, and the squares of
    how large ellipsoids are within and around it, in parts of that which fills its box, and 1 / its half sides, as
    bits; boxes; corners.

    The heaps are those of tables/ray.py without their lowest level.
    """
    adr, boxes, order = m.derived("ray_mesh")
    lo, hi = boxes[:, :3], boxes[:, 3:]
    middle, half = np.where(lo > hi, 0.0, 0.5 * (lo + hi)), np.where(lo > hi, EMPTY, 0.5 * (hi - lo))
    vert, face = np.asarray(m.mesh_vert, float).reshape(-1, 3), np.asarray(m.mesh_face, int).reshape(-1, 3)
    cone = np.tile([0.0, 0, 0, 2, 0], (len(boxes), 1))
    rows, balls, corners, leaves = [], [np.zeros((0, 5))], [np.zeros((0, 9, FACES))], 0
    for k in range(m.nmesh):
        first, count = int(m.mesh_faceadr[k]), int(m.mesh_facenum[k])
        begin, end = int(m.mesh_vertadr[k]), int(m.mesh_vertadr[k]) + int(m.mesh_vertnum[k])
        nleaf = max(1, int(adr[k, 1]) // 2)
        used = -(-count // FACES)
        sorted_faces = vert[face[order[first : first + count]] + begin]
        mine = np.zeros((used * FACES, 9))  # what is left over in the last leaf has no size, and is never met
        mine[:count] = sorted_faces.reshape(-1, 9)
        corners.append(mine.reshape(used, FACES, 9).swapaxes(1, 2))
        form, room = form_of(vert[begin:end], face[first : first + count], middle[adr[k, 0] + 1], half[adr[k, 0] + 1])
        if form:
            cone[adr[k, 0] + 1 : adr[k, 0] + 2 * nleaf] = _cones(sorted_faces, nleaf)
        rows.append((adr[k, 0], nleaf, leaves, form, FACES))
        balls.append([(*room, *(1 / np.maximum(half[adr[k, 0] + 1], 1e-12)))])
        leaves += used
    rows = np.hstack([np.array(rows, np.int32).reshape(-1, 5), bits(np.concatenate(balls))])
    return rows, bits(np.hstack([middle, half, cone])), bits(np.concatenate(corners)).ravel()


def _cones(corners, nleaf):
    """Of nodes 1 to 2 nleaf - 1 of a closed mesh: the axis of its faces' normals, sine and cosine of the greatest angle
    from it; 2 and 0 for those that look to all sides."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    normal /= np.where(size > 0, size, 1)[:, None]
    out = np.tile([0.0, 0, 0, 2, 0], (2 * nleaf, 1))
    width, step = nleaf, FACES
    while width:
        start = np.arange(0, len(normal), step)
        axis = np.add.reduceat(normal, start)
        axis /= np.maximum(np.linalg.norm(axis, axis=1), 1e-30)[:, None]
        along = np.einsum("ij,ij->i", normal, axis[np.arange(len(normal)) // step])
        along = np.minimum.reduceat(np.where(size > 0, along, 1.0), start) - FLAT
        some = along > 0
        rows = np.hstack([axis, np.sqrt(np.maximum(0.0, 1 - along * along))[:, None], along[:, None]])
        out[width : width + len(start)][some] = rows[some]
        width, step = width // 2, 2 * step
    return out[1:]


def form_of(vert, face, middle, half):
    """What is known of a mesh's shape: its form, and the squares of sizes of ellipsoids within and around it.

    CLOSED if each edge has a face on either side, all outward; and CONVEX if no corner is before a face.
    """
    if not len(face):
        return 0, (0.0, 0.0)
    around = (1 + ROOM) * (((vert - middle) / half) ** 2).sum(1).max()
    if not _is_closed(vert, face):
        return 0, (0.0, around)
    c = vert[face]
    normal = np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])
    size = np.linalg.norm(normal, axis=1)
    normal, at = normal[size > 0] / size[size > 0, None], c[size > 0, 0]
    away = np.einsum("ij,ij->i", normal, at)
    slack = FLAT * np.abs(vert - middle).max()
    if len(at) * len(vert) > TRIED:
        return CLOSED, (0.0, around)
    for i in range(0, len(at), 256):
        if (normal[i : i + 256] @ vert.T - away[i : i + 256, None]).max() > slack:
            return CLOSED, (0.0, around)
    within = ((away - slack - normal @ middle) / np.linalg.norm(normal * half, axis=1)).min()
    return CLOSED | CONVEX, ((1 - ROOM) * max(0.0, within) ** 2, around)


def _is_closed(vert, face):
    n = len(vert)
    _, same = np.unique(vert, axis=0, return_inverse=True)  # corners that a texture has split
    f = same.ravel()[face]
    f = f[(f[:, 0] != f[:, 1]) & (f[:, 1] != f[:, 2]) & (f[:, 2] != f[:, 0])]
    there = np.sort(np.concatenate([f[:, a] * n + f[:, b] for a, b in ((0, 1), (1, 2), (2, 0))]))
    back = np.sort(np.concatenate([f[:, b] * n + f[:, a] for a, b in ((0, 1), (1, 2), (2, 0))]))
    c = vert[face]
    outward = np.einsum("ij,ij->", c[:, 0], np.cross(c[:, 1], c[:, 2])) > 0  # six times the volume
    return outward and not (there[1:] == there[:-1]).any() and np.array_equal(there, back)


READS = ("mesh_vert", "mesh_face")
# for device_model.DERIVED
TABLES = declared(
    Table("face_tables", None, (), _mesh_faces, READS, "the three below"),
    Table("face_mesh", "i", ("nmesh", 10), lambda m: m.derived("face_tables")[0], READS,
          "place of each mesh's nodes, its first node that is a leaf, place of its leaves; its form; FACES; "
          "squares of sizes of ellipsoids within and around it; 1 / half sides of its box"),
    Table("face_box", "i", ("nodes", 11), lambda m: m.derived("face_tables")[1], READS,
          "middle and half sides of each node's box [m], axis of its normals, sine, cosine of their angle; bits"),
    Table("face_corner", "i", ("nodes",), lambda m: m.derived("face_tables")[2], READS,
          "of each leaf of all meshes nine numbers of its faces' corners [m], each of all of them; bits of f32"),
)  # fmt: skip
