"""Mesh files -> arrays: binary STL, OBJ, and MuJoCo's own MSH; PLY and OFF, which MuJoCo cannot read, by trimesh.

A reader takes the bytes of a file, and `flip`, which is true where the scale mirrors the mesh, so that its faces must
turn round. It returns a dict with some of: vert (n, 3) float32, face (f, 3) int32, normal (k, 3) float32, facenormal
(f, 3), texcoord (t, 2) float32, facetexcoord (f, 3). ValueError says what is wrong with the file.

The rules are those of MuJoCo's user_mesh.cc (Apache-2.0); trimesh would reorder vertices, on which inertia and
collisions depend to the last bit.
"""

import io
import re

import numpy as np

from . import obj_file

# MuJoCo's own limits for STL
MAX_STL_FACES, MAX_STL_COORDINATE = 200_000, 2**30
# more faces or vertices than this would not fit in memory next to what is computed from them
MAX_ROWS = 2_000_000

TYPES = {"stl": "model/stl", "obj": "model/obj", "msh": "model/vnd.mujoco.msh"}
# formats without references to other files and without compression, so that what trimesh reads stays small
OTHERS = ("ply", "off")


def content_type(path, given):
    """The type of a mesh file: what the model says, else what its name ends with; ValueError where it is none."""
    if given:
        if given not in TYPES.values():
            raise ValueError(f"the content type '{given}' is not one of {', '.join(TYPES.values())}")
        return given
    ending = path.rpartition(".")[2].lower()
    if ending in OTHERS:
        return ending
    if ending not in TYPES:
        endings = ", ".join(f".{word}" for word in (*TYPES, *OTHERS))
        raise ValueError(f"a mesh file ends with one of {endings}, found '.{ending[:20]}'; convert it to .obj")
    return TYPES[ending]


def read(data, kind, flip):
    """The arrays of a file of a content type; data  bytes."""
    if kind in OTHERS:
        found = read_other(data, kind, flip)
    else:
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
    start, which = first_uses(vert + np.float32(0))
    face = which.astype(np.int32).reshape(-1, 3)
    return dict(vert=vert[start].astype(np.float32), face=_turned(face) if flip else face)


def first_uses(rows):
    """(start (k,), which (n,)) of n rows, k of them different: where each stands first, in this order; which it is."""
    # np.unique compares rows as wholes, which takes five times as long
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    new = np.ones(len(rows), bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(1)
    start, which = order[new], np.empty(len(rows), int)
    by_use = np.argsort(start)
    which[order] = np.argsort(by_use)[np.cumsum(new) - 1]
    return start[by_use], which


def _turned(face):
    """The faces the other way round, as MuJoCo does it for mirrored meshes."""
    return np.ascontiguousarray(face[:, [0, 2, 1]])


def read_other(data, kind, flip):
    """A file of a format of OTHERS, as trimesh reads it; polygons become triangles."""
    import trimesh  # here, since it takes a while and few models need it

    head = re.sub("#.*", "", data[:100_000].decode("latin-1")).partition("end_header")[0]
    if not re.match({"ply": r"(?i)ply\s", "off": r"\s*\S{0,4}OFF"}[kind], head):
        raise ValueError(f"this is no .{kind} file: it does not begin with the word {kind.upper()}")
    counts = dict(re.findall(r"element\s+(\S+)\s+(\d+)", head))
    if kind == "off":
        counts = dict(zip(("vertex", "face", "edge"), re.findall(r"\d+", head)))
    counts = {word: int(number[:20]) for word, number in counts.items()}
    if sum(counts.values()) > len(data):  # an element takes a byte or more
        raise ValueError(f"the .{kind} file is too short for what its header says")
    try:
        mesh = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh", process=False)
        vert, face = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int).reshape(-1, 3)
    except Exception as e:  # trimesh raises whatever its parsers raise
        raise ValueError(f"the .{kind} file is damaged or cut short: {type(e).__name__}: {str(e)[:100]}") from None
    if not len(face) or vert.ndim != 2 or vert.shape[1] != 3:
        raise ValueError(f"the .{kind} file has no faces")
    if len(vert) < counts.get("vertex", 0) or len(face) < counts.get("face", 0):
        raise ValueError(f"the .{kind} file has fewer vertices or faces than its header says")
    if face.min() < 0 or face.max() >= len(vert):
        raise ValueError(f"a face of the .{kind} file names a vertex that does not exist")
    face = face.astype(np.int32)
    return dict(vert=vert.astype(np.float32), face=_turned(face) if flip else face)


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
