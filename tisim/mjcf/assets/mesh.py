"""Mesh assets: from a file, inline numbers or a builtin shape to the arrays mesh_*, in principal axes.

The rules are those of MuJoCo's user_mesh.cc (Apache-2.0): vertices are single precision when they are read, double
while they are transformed, single in the result. A mesh has a convex hull where it can collide or its inertia asks for
one.
"""

import os
import warnings

import numpy as np

from tisim.enums import mjtGeom, mjtObj

from .. import rotations
from ..numbers import EPS, MINVAL
from ..scene.items import unique_names
from . import builtin_mesh, hull, mesh_files, mesh_inertia, polygons

# vertices and faces of all meshes together: what a careless or hostile file may take
MAX_ROWS = 10_000_000
INERTIA = ("convex", "exact", "legacy", "shell")
# a face turns its corner's normal only where the cosine between the two is at least this
SMOOTH = 0.8
# rows that are added to vertices in common; what vertices have more is added row by row
TURNS = 32


class Mesh:
    """A compiled mesh: the arrays of its own (vert, face, normal, ...) and what geoms need to know of it.

    pos, quat  the frame of its principal axes in the file's frame;  low, high  (3,) its bounds in that frame [m];
    extent  its volume, or its area if `shell`;  box  (3,) half sizes of the box of equal inertia [m].
    """

    def __init__(self, item):
        self.item, self.attrib = item, item.attrib
        self.kind = INERTIA[item.attrib["inertia"]]
        self.hull = None

    @property
    def shell(self):
        return self.kind == "shell"


def compile_meshes(a, items, geoms, pairs, out):
    """List of Mesh, in id order; fills the arrays mesh_* and the names.

    items  mesh assets;  geoms, pairs  say which meshes collide and so need a hull.
    """
    for item in items:
        name_by_file(item)
        if not item.name:
            raise item.node.error("a mesh needs a name, or a file to take it from")
    out.names[mjtObj.mjOBJ_MESH] = unique_names(items, mjtObj.mjOBJ_MESH)
    ids = {item.name: i for i, item in enumerate(items)}
    solid = _colliding(geoms, pairs, ids)
    cache, meshes, rows = {}, [], 0
    for i, item in enumerate(items):
        meshes.append(_compile(item, i in solid, cache))
        rows += len(meshes[-1].vert) + len(meshes[-1].face)
        if rows > MAX_ROWS:
            raise item.node.error(f"the meshes of the model have more than {MAX_ROWS:,} vertices and faces together")
    a.update(arrays(meshes))
    return meshes


def name_by_file(item):
    """Names an asset that has no name after its file."""
    if not item.name and item.attrib["file"]:
        item.name = item.space.name(stem(item.attrib["file"]))


def stem(path):
    """A file's name without folder and ending."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _colliding(geoms, pairs, ids):
    """Ids of the meshes whose geoms can collide."""
    found, numbers = set(), {item.name: i for i, item in enumerate(geoms)} if pairs else {}
    paired = {item.space.find(numbers, item.attrib.get(name)) for item in pairs for name in ("geom1", "geom2")}
    for i, item in enumerate(geoms):
        attrib = item.attrib
        if attrib["mesh"] and attrib["type"] == mjtGeom.mjGEOM_MESH:
            if attrib["contype"] or attrib["conaffinity"] or i in paired:
                found.add(item.find(ids, attrib["mesh"], "mesh"))
    return found


def _compile(item, solid, cache):
    """One Mesh; MjcfError at the asset where its numbers are wrong."""
    mesh = Mesh(item)
    try:
        with np.errstate(all="ignore"):
            _read(mesh, cache)
            _check(mesh)
            _process(mesh, solid)
    except ValueError as e:
        raise item.node.error(f"mesh '{item.name}': {e}") from None
    return mesh


def _read(mesh, cache):
    """Sets vert, face, normal, facenormal, texcoord, facetexcoord from the file, the builtin shape or the numbers."""
    attrib = mesh.attrib
    scale = np.array(attrib["scale"])
    found = {}
    if attrib["file"]:
        kind = mesh_files.content_type(attrib["file"], attrib["content_type"])
        data = read_asset(mesh.item, "meshdir", cache)
        found = mesh_files.read(data, kind, not scale.prod() > 0)
        if left_out := found.pop("left_out", []):
            place = f"{mesh.item.node.file}:{mesh.item.node.line}: mesh '{mesh.item.name}'"
            why = f"faces of up to {max(left_out)} vertices are left out, as by MuJoCo 3.4.0"
            warnings.warn(f"{place}: {why}: {len(left_out)}", stacklevel=2)
    own = dict(
        vert=inline_rows(attrib, "vertex", 3, np.float32), normal=inline_rows(attrib, "normal", 3, np.float32),
        texcoord=inline_rows(attrib, "texcoord", 2, np.float32), face=inline_rows(attrib, "face", 3, np.int32),
    )  # fmt: skip
    if attrib["builtin"]:
        if attrib["file"] or attrib["vertex"]:
            raise ValueError("'builtin' excludes a file and 'vertex'")
        made, shell = builtin_mesh.build(attrib["builtin"], attrib["params"])
        own.update(made)
        if shell:
            mesh.kind = "shell"
    for name, value in own.items():
        if value is None:
            continue
        if name in found:
            raise ValueError(f"the file has '{name}' data already")
        found[name] = value
    for name in ("vert", "face", "normal", "facenormal", "texcoord", "facetexcoord"):
        setattr(mesh, name, found.get(name))


def inline_rows(attrib, name, width, dtype):
    """An inline list of numbers as rows, None where it is not given."""
    values = attrib[name]
    if not values:
        return None
    if len(values) % width:
        raise ValueError(f"'{name}' has {len(values)} numbers, not a multiple of {width}")
    if dtype == np.int32 and any(v != int(v) or abs(v) >= 2**31 for v in values):
        raise ValueError(f"'{name}' has numbers that are not integers")
    return np.array(values).astype(dtype).reshape(-1, width)


def read_asset(item, folder, cache, name="file"):
    """Bytes of an asset's file, below the folder that the compiler names; ValueError where it cannot be read."""
    path = item.attrib[name].replace("\\", "/")
    if item.compiler["strippath"]:
        path = path.rpartition("/")[2]
    path = os.path.join(item.compiler[folder], path)
    key = item.space.scope.source, path
    if key not in cache:
        try:
            data = item.space.scope.source.read(path)
        except (OSError, ValueError) as e:
            cut = "; strippath, set by default in URDF, cuts folders off names" * bool(item.compiler["strippath"])
            raise ValueError(f"cannot read '{path}': {getattr(e, 'strerror', None) or e}{cut}") from None
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise ValueError(f"the asset '{path}' is a {type(data).__name__}, expected bytes or str")
        cache[key] = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    return cache[key]


def _check(mesh):
    if mesh.vert is None or len(mesh.vert) < 4:
        raise ValueError("at least 4 vertices are required")
    if not np.isfinite(mesh.vert).all():
        raise ValueError(f"vertex {int(np.argmin(np.isfinite(mesh.vert).all(1)))} is not finite")
    for name in ("normal", "texcoord"):
        if getattr(mesh, name) is not None and not np.isfinite(getattr(mesh, name)).all():
            raise ValueError(f"'{name}' has numbers that are not finite")
    nvert = len(mesh.vert)
    if mesh.texcoord is not None and mesh.facetexcoord is None and len(mesh.texcoord) != nvert:
        raise ValueError(f"there are {len(mesh.texcoord)} texture coordinates for {nvert} vertices")
    if mesh.face is not None:
        bad = (mesh.face < 0) | (mesh.face >= nvert)
        if bad.any():
            at = int(np.argmax(bad.any(1)))
            raise ValueError(f"face {at} names a vertex that does not exist; there are {nvert}")


def _process(mesh, solid):
    """Everything after reading: hull, normals, polygons, transformation, inertia."""
    attrib = mesh.attrib
    vert = mesh.vert.astype(float)
    if mesh.face is not None and mesh.kind == "exact":
        _check_orientation(vert, mesh.face)
    if solid or mesh.face is None or mesh.kind == "convex":
        mesh.hull, mesh.graph = hull.convex_hull(vert, attrib["maxhullvert"])
    if mesh.face is None:
        mesh.face = mesh.hull
    if mesh.normal is None:
        mesh.normal, mesh.facenormal = vertex_normals(vert, mesh.face, attrib["smoothnormal"]), mesh.face
    if mesh.texcoord is not None and mesh.facetexcoord is None:
        mesh.facetexcoord = mesh.face
    if mesh.facenormal is None:
        mesh.facenormal = len(mesh.normal) // len(vert) * mesh.face
    # only what collides needs sides; MuJoCo makes them of the faces where there is no hull
    mesh.polygons = [] if mesh.hull is None else polygons.polygons(vert, mesh.hull)

    vert = _transform(mesh, vert)
    area, centroid = mesh_inertia.face_centroid(vert, mesh.face)
    if not area >= MINVAL:
        raise ValueError("its surface area is too small")
    body = mesh.hull if mesh.kind == "convex" else mesh.face
    extent, com = mesh_inertia.extent(vert, body, centroid, mesh.kind)
    if not extent >= MINVAL:
        what = "its surface area is too small" if mesh.shell else 'its volume is too small; inertia="shell" may help'
        raise ValueError("its volume is negative: the faces are turned inside out" if extent < 0 else what)
    mesh.extent, full = mesh_inertia.inertia(vert, body, com, mesh.kind)
    values, quat = (x[0] for x in rotations.principal_axes(full[None]))
    if not values[2] > 0:
        raise ValueError("an eigenvalue of its inertia is not positive")
    if values[1] + values[2] < values[0] * (1 - 1e-6) - 1e-9:
        raise ValueError("its inertia violates A + B >= C")
    mesh.box = 0.5 * np.sqrt(6 * np.maximum(values.sum() - 2 * values, 0) / mesh.extent)

    mesh.pos, mesh.quat = com, quat
    matrix = rotations.matrix(quat).T
    vert = _turn(vert - com, matrix)
    mesh.low, mesh.high = vert.min(0), vert.max(0)
    mesh.vert = vert.astype(np.float32)
    mesh.normal = _turn(mesh.normal.astype(float), matrix).astype(np.float32)
    corners = np.array([p[:3] for p in mesh.polygons], int).reshape(-1, 3)
    mesh.polynormal = polygons.unit_normals(vert, corners)


def _check_orientation(vert, face):
    """Two faces that use an edge in the same direction: exact inertia cannot be computed then."""
    area = mesh_inertia.triangles(np.moveaxis(vert[face], 1, 0))[0]
    face = face[area > np.sqrt(MINVAL)]
    edge = np.concatenate([face[:, [0, 1]], face[:, [1, 2]], face[:, [2, 0]]])
    number, count = np.unique(edge[:, 0] * np.int64(len(vert)) + edge[:, 1], return_counts=True)
    if (count > 1).any():
        a, b = divmod(int(number[np.argmax(count > 1)]), len(vert))
        raise ValueError(f"its faces have inconsistent orientation; check those with the vertices {a + 1} and {b + 1}")


def vertex_normals(vert, face, smooth):
    """(n, 3) float32 unit normals: area-weighted means over the faces of a vertex.

    Without `smooth`, faces at a large angle to that mean do not count.
    """
    a, b, c = np.moveaxis(vert[face], 1, 0)
    unit, length = _normalized(rotations.cross(b - a, c - a))
    weighted, corner = unit * length, np.repeat(np.arange(len(face)), 3)
    normal = _sums(len(vert), face.ravel(), weighted, corner)
    if not smooth:
        mean = _normalized(normal.astype(float))[0]
        away = np.sum(unit[:, None] * mean[face], 2) < SMOOTH
        normal -= _sums(len(vert), face[away], weighted, corner[away.ravel()])
    length = np.sqrt(np.add.accumulate(normal * normal, axis=1)[:, 2])
    short = ~(length > MINVAL)
    normal = normal / np.where(short, np.float32(1), length)[:, None]
    normal[short] = [0, 0, 1]
    return normal


def _sums(n, vertex, value, row):
    """(n, 3) float32: of each vertex the sum of rows of `value`, rounded after every row, in their order.

    vertex, row  (c,) which row is added to which vertex.
    """
    # sorted by vertex; numbers are sorted sooner than places of numbers
    both = np.sort(vertex.astype(np.int64) << 32 | np.arange(len(vertex)))
    vertex, row = both >> 32, row[both & 2**32 - 1]
    count = np.bincount(vertex, minlength=n)
    start, by_count = np.cumsum(count) - count, np.argsort(-count, kind="stable")
    first, falling, total = start[by_count], -count[by_count], np.zeros((n, 3), np.float32)
    # the i-th rows of all vertices at once, as long as many vertices have so many
    for i in range(min(TURNS, count.max(initial=0))):
        some = np.searchsorted(falling, -i)
        total[:some] = total[:some] + value[row[first[:some] + i]]
    out = np.empty_like(total)
    out[by_count] = total
    rest = np.arange(len(row)) - np.repeat(start, count) >= TURNS
    np.add.at(out, vertex[rest], value[row[rest]])
    return out


def _normalized(v):
    """(rows of v of length one, lengths (n, 1)); rows shorter than 1e-7 stay, and count as 0, as in MuJoCo."""
    square = mesh_inertia.dot(v, v)[:, None]
    length = np.where(square < EPS, 0.0, np.sqrt(square))
    return v / np.where(square < EPS, 1.0, length), length


def _turn(v, matrix):
    """Rows of v turned by a matrix, with the products summed from the left."""
    return np.stack([v[:, 0] * row[0] + v[:, 1] * row[1] + v[:, 2] * row[2] for row in matrix], 1)


def _transform(mesh, vert):
    """The vertices after refpos, refquat and scale, in this order; the normals too."""
    attrib = mesh.attrib
    if not any(attrib["refquat"]):
        raise ValueError("a 'refquat' of zeros is no rotation")
    vert = vert - np.array(attrib["refpos"])
    if attrib["refquat"] != [1, 0, 0, 0]:
        matrix = rotations.matrix(rotations.normalize(attrib["refquat"])).T
        vert = _turn(vert, matrix)
        mesh.normal = _turn(mesh.normal.astype(float), matrix).astype(np.float32)
    vert = vert * attrib["scale"]
    normal = (mesh.normal * np.array(attrib["scale"])).astype(np.float32)
    square = np.add.accumulate(normal * normal, axis=1)[:, 2]
    short = ~(square > MINVAL)
    mesh.normal = normal * (np.float32(1) / np.sqrt(np.where(short, np.float32(1), square)))[:, None]
    mesh.normal[short] = [0, 0, 1]
    if not (np.abs(vert) < 1e30).all():
        raise ValueError("its coordinates are too large")
    return vert


def arrays(meshes):
    """The arrays mesh_* of a list of meshes."""
    rows = {
        "vert": (3, np.float32), "normal": (3, np.float32), "face": (3, np.int32), "facenormal": (3, np.int32),
        "facetexcoord": (3, np.int32), "texcoord": (2, np.float32), "polynormal": (3, float),
    }  # fmt: skip
    zeros = np.zeros((0, 3), np.int32)
    parts = {name: [] for name in rows}
    lists = {name: [] for name in ("graph", "polyvert", "polyvertnum", "polymap", "polymapnum")}
    for mesh in meshes:
        for name, (width, _) in rows.items():
            value = getattr(mesh, name)
            if name == "facetexcoord" and value is None:
                value = np.zeros_like(mesh.face)
            parts[name].append(zeros[:, :width] if value is None else value)
        lists["graph"].append(zeros[:, 0] if mesh.hull is None else mesh.graph)
        size = np.array([len(p) for p in mesh.polygons], int)
        corner = np.array([v for p in mesh.polygons for v in p], int)
        lists["polyvert"].append(corner)
        lists["polyvertnum"].append(size)
        owner = np.repeat(np.arange(len(size)), size)
        lists["polymap"].append(owner[np.argsort(corner, kind="stable")])
        lists["polymapnum"].append(np.bincount(corner, minlength=len(mesh.vert)))
    a = {}
    for name, (width, dtype) in rows.items():
        a[f"mesh_{name}"] = np.concatenate([np.zeros((0, width)), *parts[name]]).astype(dtype)
    for name, values in lists.items():
        a[f"mesh_{name}"] = np.concatenate([zeros[:, 0], *values]).astype(np.int32)
    for name, part in (("vert", "vert"), ("normal", "normal"), ("face", "face"), ("texcoord", "texcoord")):
        a[f"mesh_{name}num"], a[f"mesh_{name}adr"] = places(parts[part])
    a["mesh_texcoordadr"][a["mesh_texcoordnum"] == 0] = -1
    num, a["mesh_graphadr"] = places(lists["graph"])
    a["mesh_graphadr"][num == 0] = -1
    a["mesh_polynum"], a["mesh_polyadr"] = places(lists["polyvertnum"])
    for name in ("polyvert", "polymap"):
        size = a[f"mesh_{name}num"]
        a[f"mesh_{name}adr"] = (np.cumsum(size) - size).astype(np.int32)
    a["mesh_scale"] = np.array([mesh.attrib["scale"] for mesh in meshes], float).reshape(-1, 3)
    a["mesh_pos"] = np.array([mesh.pos for mesh in meshes], float).reshape(-1, 3)
    a["mesh_quat"] = np.array([mesh.quat for mesh in meshes], float).reshape(-1, 4)
    return a


def places(parts):
    """(number, address) int32 of the rows of each part in their concatenation."""
    size = np.array([len(part) for part in parts], int)
    return size.astype(np.int32), (np.cumsum(size) - size).astype(np.int32)
