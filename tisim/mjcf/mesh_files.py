"""Mesh files -> arrays: binary STL, OBJ, and MuJoCo's own MSH.

A reader takes the bytes of a file, and `flip`, which is true where the scale mirrors the mesh, so that its faces must
turn round. It returns a dict with some of: vert (n, 3) float32, face (f, 3) int32, normal (k, 3) float32, facenormal
(f, 3), texcoord (t, 2) float32, facetexcoord (f, 3). ValueError says what is wrong with the file.

The rules are those of MuJoCo's user_mesh.cc (Apache-2.0); trimesh would reorder vertices, on which inertia and
collisions depend to the last bit.
"""

import numpy as np

from . import obj_file

# MuJoCo's own limits for STL
MAX_STL_FACES, MAX_STL_COORDINATE = 200_000, 2**30
# more faces or vertices than this would not fit in memory next to what is computed from them
MAX_ROWS = 2_000_000

TYPES = {"stl": "model/stl", "obj": "model/obj", "msh": "model/vnd.mujoco.msh"}


def content_type(path, given):
    """The type of a mesh file: what the model says, else what its name ends with; ValueError where it is none."""
    if given:
        if given not in TYPES.values():
            raise ValueError(f"the content type '{given}' is not one of {', '.join(TYPES.values())}")
        return given
    ending = path.rpartition(".")[2].lower()
    if ending not in TYPES:
        raise ValueError("a mesh file ends with .stl, .obj or .msh")
    return TYPES[ending]


def read(data, kind, flip):
    """The arrays of a file of a content type; data  bytes."""
    found = {TYPES["stl"]: read_stl, TYPES["obj"]: obj_file.read_obj, TYPES["msh"]: read_msh}[kind](data, flip)
    if max(len(found.get(name, ())) for name in ("vert", "face")) > MAX_ROWS:
        raise ValueError(f"the mesh has more than {MAX_ROWS:,} vertices or faces")
    return found


def read_stl(data, flip):
    """A binary STL file; vertices of equal coordinates become one, in the order of their first use."""
    if len(data) < 84:
        raise ValueError("the STL file is shorter than its header")
    number = int(np.frombuffer(data, "<u4", 1, 80)[0])
    if not 1 <= number <= MAX_STL_FACES:
        raise ValueError(f"an STL file has 1 to {MAX_STL_FACES:,} faces, this one {number:,}; only binary STL is read")
    if len(data) != 84 + 50 * number:
        raise ValueError(f"an STL file of {number:,} faces has {84 + 50 * number:,} bytes, this one {len(data):,}")
    record = np.dtype([("normal", "<f4", 3), ("vert", "<f4", (3, 3)), ("attribute", "<u2")])
    vert = np.frombuffer(data, record, number, 84)["vert"].reshape(-1, 3)
    if (np.abs(vert) > MAX_STL_COORDINATE).any():
        raise ValueError(f"the STL file has coordinates larger than {MAX_STL_COORDINATE:,}")
    if not np.isfinite(vert).all():
        raise ValueError("the STL file has coordinates that are not finite")
    # adding zero makes -0 and 0 equal
    _, start, which = np.unique(vert + np.float32(0), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(start)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    face = place[which.reshape(-1)].reshape(-1, 3)
    return dict(vert=vert[start[order]].astype(np.float32), face=_turned(face) if flip else face)


def _turned(face):
    """The faces the other way round, as MuJoCo does it for mirrored meshes."""
    return np.ascontiguousarray(face[:, [0, 2, 1]])


def read_msh(data, flip):
    """MuJoCo's binary format: nvertex, nnormal, ntexcoord, nface as int32, then the arrays in that order."""
    if len(data) < 16:
        raise ValueError("the MSH file is shorter than its header")
    nvert, nnormal, ntexcoord, nface = (int(n) for n in np.frombuffer(data, "<i4", 4))
    if nvert < 4 or nface < 0 or nnormal not in (0, nvert) or ntexcoord not in (0, nvert):
        raise ValueError(f"the sizes in the MSH file are wrong: {nvert}, {nnormal}, {ntexcoord}, {nface}")
    if len(data) != 16 + 4 * (3 * nvert + 3 * nnormal + 2 * ntexcoord + 3 * nface):
        raise ValueError(f"the MSH file has {len(data):,} bytes, which is not what the sizes in its header say")
    numbers = np.frombuffer(data, "<f4", offset=16)
    a, b, c = np.cumsum([3 * nvert, 3 * nnormal, 2 * ntexcoord])
    out = dict(vert=numbers[:a].reshape(-1, 3).astype(np.float32))
    if nnormal:
        out["normal"] = numbers[a:b].reshape(-1, 3).astype(np.float32)
    if ntexcoord:
        out["texcoord"] = numbers[b:c].reshape(-1, 2).astype(np.float32)
    if nface:
        face = numbers[c:].view("<i4").reshape(-1, 3).astype(np.int32)
        out.update(face=_turned(face) if flip else face, facenormal=face)
        if ntexcoord:
            out["facetexcoord"] = face
    return out
