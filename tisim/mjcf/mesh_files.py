"""Mesh files -> arrays: binary STL, OBJ, and MuJoCo's own MSH.

A reader takes the bytes of a file, and `flip`, which is true where the scale mirrors the mesh, so that its faces must
turn round. It returns a dict with some of: vert (n, 3) float32, face (f, 3) int32, normal (k, 3) float32, facenormal
(f, 3), texcoord (t, 2) float32, facetexcoord (f, 3). ValueError says what is wrong with the file.

The rules are those of MuJoCo's user_mesh.cc (Apache-2.0) and of tinyobjloader (MIT), which it reads OBJ with; trimesh
would reorder vertices, on which inertia and collisions depend to the last bit.
"""

import numpy as np

# MuJoCo's own limits for STL
MAX_STL_FACES, MAX_STL_COORDINATE = 200_000, 2**30
# more triangles than this would not fit in memory next to what is computed from them
MAX_FACES = 5_000_000

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
    found = {TYPES["stl"]: read_stl, TYPES["obj"]: read_obj, TYPES["msh"]: read_msh}[kind](data, flip)
    if len(found.get("face", ())) > MAX_FACES:
        raise ValueError(f"the mesh has more than {MAX_FACES:,} faces")
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


def read_obj(data, flip):
    """A Wavefront OBJ file: all its vertices, and the faces of its first object or group that has some."""
    numbers = {"v": [], "vn": [], "vt": []}
    corners, sizes, done = [], [], False
    for at, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            if words[0] in numbers:
                width = 2 if words[0] == "vt" else 3
                found = [float(word) for word in words[1 : width + 1]]
                numbers[words[0]].append(found + [0.0] * (width - len(found)))
            elif words[0] == "f" and not done:
                sizes.append(len(words) - 1)
                corners.extend(_corner(word, numbers) for word in words[1:])
            elif words[0] in ("o", "g") and sizes:
                done = True
        except ValueError:
            raise ValueError(f"line {at} of the OBJ file cannot be read: '{line.strip()[:40]}'") from None
    out = {}
    for name, key, width in (("vert", "v", 3), ("normal", "vn", 3), ("texcoord", "vt", 2)):
        if numbers[key]:
            out[name] = np.array(numbers[key]).reshape(-1, width).astype(np.float32)
    if "texcoord" in out:
        out["texcoord"][:, 1] = 1 - out["texcoord"][:, 1]
    if sizes and "vert" in out:
        corner = np.clip(np.array(corners, object), -1, 2**31 - 1).astype(np.int32)
        triangles = _triangles(corner, np.array(sizes), out["vert"])
        if flip:
            triangles = _turned(triangles)
        out["face"] = corner[triangles, 0]
        if "normal" in out:
            out["facenormal"] = corner[triangles, 2]
        if "texcoord" in out:
            out["facetexcoord"] = corner[triangles, 1]
    return out


def _corner(word, numbers):
    """(vertex, texcoord, normal) of one corner of an OBJ face, counted from 0; -1 for what it does not name."""
    found = [-1, -1, -1]
    for i, (part, key) in enumerate(zip(word.split("/"), ("v", "vt", "vn"))):
        if part:
            number = int(part)
            if number == 0:
                raise ValueError
            found[i] = number - 1 if number > 0 else len(numbers[key]) + number
    return found


def _triangles(corner, sizes, vert):
    """(f, 3) rows of `corner`: every face cut into triangles, a quadrangle along its shorter diagonal."""
    start = np.cumsum(sizes) - sizes
    if (sizes > 4).any():
        raise ValueError("only faces of three or four vertices are supported in an OBJ file")
    start, sizes = start[sizes >= 3], sizes[sizes >= 3]
    out = np.zeros((len(sizes), 2, 3), int)
    out[:, 0] = start[:, None] + [0, 1, 2]
    four = sizes == 4
    if four.any():
        at = start[four][:, None] + np.arange(4)
        index = corner[at, 0]
        if (index < 0).any() or (index >= len(vert)).any():
            raise ValueError("a face of the OBJ file names a vertex that does not exist")
        p = vert[index]
        short = np.sum((p[:, 2] - p[:, 0]) ** 2, 1) < np.sum((p[:, 3] - p[:, 1]) ** 2, 1)
        out[four, 0] = np.where(short[:, None], at[:, [0, 1, 2]], at[:, [0, 1, 3]])
        out[four, 1] = np.where(short[:, None], at[:, [0, 2, 3]], at[:, [1, 2, 3]])
    keep = np.stack([np.ones(len(sizes), bool), four], 1)
    return out[keep]
