"""Builtin mesh shapes: the vertices and faces that `builtin` and `params` of a mesh stand for.

The order of vertices and faces is MuJoCo's (mjCMesh::Make..., Apache-2.0), since principal axes and hulls depend on it.
"""

import numpy as np

from .mesh_files import first_uses
from .mesh_inertia import dot

# vertices of a builtin shape: more come from a mistyped number, and their hull would take minutes
MAX_VERTICES = 50_000

# the twenty faces of an icosahedron
_ICOSAHEDRON = (
    (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
    (7, 1, 8),
    (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1),
)  # fmt: skip


def build(kind, params):
    """(arrays, shell) of a builtin shape.

    kind  mjtMeshBuiltin;  params  list of numbers. `arrays` has vert, and face and normal where the shape gives them;
    `shell` is true where it can only be a shell. ValueError where a parameter is missing or out of range.
    """
    function, count = _SHAPES[kind]
    if params is None or len(params) != count:
        found = 0 if params is None else len(params)
        raise ValueError(f"this builtin shape has {count} parameter{'s' * (count > 1)}, found {found}")
    return function(*params)


def _whole(value, low, high, name):
    """A parameter as a whole number, which is cut as in MuJoCo."""
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"the {name} must be from {low} to {high}, found {value:g}")
    return number


def _count(number):
    if number > MAX_VERTICES:
        raise ValueError(f"a builtin mesh can have at most {MAX_VERTICES:,} vertices, not {number:,}")


def _between(value, low, high, name, low_too=False):
    if not (low < value <= high or (low_too and value == low)):
        raise ValueError(f"the {name} must be between {low:g} and {high:g}, found {value:g}")


def _single(vert):
    return np.ascontiguousarray(vert, np.float32)


def sphere(subdivision):
    """Unit sphere: an icosahedron whose faces are cut in four `subdivision` times."""
    times = _whole(subdivision, 0, 4, "subdivision")
    one, golden = np.float32(1), np.float32((1 + 5**0.5) / 2)
    plane = np.array([[-one, golden, 0], [one, golden, 0], [-one, -golden, 0], [one, -golden, 0]], np.float32)
    vert = np.concatenate([plane, plane[:, [2, 0, 1]], plane[:, [1, 2, 0]]])
    # each vertex is divided in double precision and stored in single
    vert = _single(vert.astype(float) / np.sqrt(1 + float(golden * golden)))
    face = np.array(_ICOSAHEDRON)
    for _ in range(times):
        # the edges in the order in which the faces name them; each gets one new vertex
        edge = np.sort(face[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        start, which = first_uses(edge)
        middle = ((vert[edge[start, 0]] + vert[edge[start, 1]]) / np.float32(2)).astype(np.float32)
        middle = middle / np.sqrt(dot(middle, middle))[:, None]
        ab, bc, ca = (which + len(vert)).reshape(-1, 3).T
        vert = np.concatenate([vert, middle])
        a, b, c = face.T
        face = np.stack([a, ab, ca, b, bc, ab, c, ca, bc, ab, bc, ca], 1).reshape(-1, 3)
    return dict(vert=vert, face=face.astype(np.int32)), False


def hemisphere(resolution):
    """Upper half of the unit sphere, closed by a disc: rings of 4, 8, 12, ... vertices around the pole."""
    rings = _whole(resolution, 0, 10, "resolution") + 1
    equator = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], float)
    pole = np.array([0.0, 0.0, 1.0])
    vert = [pole[None]]
    for ring in range(1, rings + 1):
        side = pole + ring / rings * (equator - pole)
        step = (side[1:] - side[:-1]) / ring
        point = (side[:-1, None] + np.arange(ring)[:, None] * step[:, None]).reshape(-1, 3)
        vert.append(point / np.sqrt(dot(point, point))[:, None])
    vert = np.concatenate([*vert, [[0.0, 0.0, 0.0]]])
    face = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]]
    for ring in range(1, rings):
        first, count = 2 * ring * (ring - 1) + 1, 4 * ring
        after, more = first + count, 4 * (ring + 1)
        for side in range(4):
            for i in range(ring + 1):
                inner, outer = i + ring * side, i + (ring + 1) * side
                here, there = first + inner % count, after + (outer + 1) % more
                face.append([here, after + outer % more, there])
                if i < ring:
                    face.append([here, there, first + (inner + 1) % count])
    first, count = 2 * rings * (rings - 1) + 1, 4 * rings
    face += [[first + i, len(vert) - 1, first + (i + 1) % count] for i in range(count)]
    return dict(vert=_single(vert), face=np.array(face, np.int32)), False


def _power(value, exponent):
    """|value|^exponent with the sign of value."""
    return np.copysign(np.abs(value) ** exponent, value)


def _quads(a, b, c, d):
    """Two triangles for each quadrangle a b c d, cut from b to d."""
    return np.stack([a, b, d, b, c, d], -1).reshape(-1, 3).astype(np.int32)


def supersphere(resolution, e, n):
    """Superellipsoid with exponents e (around z) and n (along z); a sphere where both are 1."""
    res = _whole(resolution, 3, 10_000, "resolution")
    _between(e, 0, np.inf, "exponent 'e'", True)
    _between(n, 0, np.inf, "exponent 'n'", True)
    _count(res * res)
    v = (-np.pi / 2 + np.arange(1, res) * np.pi / res)[:, None]
    u = -np.pi + np.arange(res) * 2 * np.pi / res
    ring = np.stack(np.broadcast_arrays(
        _power(np.cos(v), n) * _power(np.cos(u), e), _power(np.cos(v), n) * _power(np.sin(u), e), _power(np.sin(v), n)
    ), -1)  # fmt: skip
    vert = np.concatenate([[[0, 0, -1.0]], ring.reshape(-1, 3), [[0, 0, 1.0]]])
    j = np.arange(res)
    after = (j + 1) % res
    low = 1 + res * np.arange(res - 2)[:, None]
    top = 1 + (res - 2) * res
    face = np.concatenate([
        np.stack([0 * j, 1 + after, 1 + j], 1), _quads(low + j, low + after, low + res + after, low + res + j),
        np.stack([top + j, top + after, 0 * j + len(vert) - 1], 1),
    ])  # fmt: skip
    return dict(vert=_single(vert), face=face.astype(np.int32)), False


def supertorus(resolution, radius, s, t):
    """Supertoroid around z with major radius 1 and minor `radius`; exponents s of the ring, t of the whole."""
    res = _whole(resolution, 3, 10_000, "resolution")
    _between(radius, 0, 1, "radius")
    _between(s, 0, np.inf, "exponent 's'")
    _between(t, 0, np.inf, "exponent 't'")
    _count(res * res)
    u, v = 2 * np.pi * np.arange(res)[:, None] / res, 2 * np.pi * np.arange(res) / res
    out = 1 + radius * _power(np.cos(v), s)
    vert = np.stack(np.broadcast_arrays(
        out * _power(np.cos(u), t), out * _power(np.sin(u), t), radius * _power(np.sin(v), s)
    ), -1)  # fmt: skip
    j = np.arange(res)
    row, after = res * j[:, None], res * ((j + 1) % res)[:, None]
    right = (j + 1) % res
    return dict(vert=_single(vert.reshape(-1, 3)), face=_quads(row + j, after + j, after + right, row + right)), False


def cone(edges, radius):
    """Cone or frustum, z from -1 to 1: a regular polygon below, one of another radius, or a point, above."""
    number = _whole(edges, 0, MAX_VERTICES // 2, "number of edges")
    turn = 2 * np.arange(2 * number) * np.pi / max(number, 1)
    circle = np.stack([np.cos(turn), np.sin(turn), np.full(len(turn), -1.0)], 1)
    top = circle[number:] * [radius, radius, -1] if radius > 0 else [[0.0, 0.0, 1.0]]
    return dict(vert=_single(np.concatenate([circle[:number], top]))), False


def _grid(nx, ny):
    nx, ny = (_whole(n, 1, MAX_VERTICES, "resolution") for n in (nx, ny))
    _count(nx * ny)
    return nx, ny


def _middles(number, limit, gamma):
    """Middles of `number` cells from -limit to limit, which gamma makes smaller towards 0."""
    edge = np.add.accumulate(np.concatenate([[-1.0], np.full(number, 2 / number)]))
    if gamma:
        edge = gamma * edge**5 + (1 - gamma) * edge
    edge = edge * (limit * np.pi / 180)
    return 0.5 * (edge[1:] + edge[:-1])


def wedge(nx, ny, width, height, gamma):
    """Part of the unit sphere around -z seen within +-width, +-height [degrees], one vertex per cell, with frames."""
    nx, ny = _grid(nx, ny)
    _between(width, 0, 180, "width")
    _between(height, 0, 90, "height")
    _between(gamma, 0, 1, "gamma", True)
    a, e = np.meshgrid(_middles(nx, width, gamma), _middles(ny, height, gamma), indexing="ij")
    ca, sa, ce, se = np.cos(a), np.sin(a), np.cos(e), np.sin(e)
    vert = np.stack([ce * sa, se, -ce * ca], -1)
    along = np.stack([ce * ca, 0 * a, ce * sa], -1)
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    up = np.stack([-se * sa, ce, se * ca], -1)
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    frame = np.stack([np.cross(up, along), along, up], -2)
    return dict(vert=_single(vert.reshape(-1, 3)), normal=_single(frame.reshape(-1, 3))), False


def plate(nx, ny):
    """Rectangle at z = -1 from -1 to 1 in x and y, one vertex in the middle of each cell, with frames; a shell."""
    nx, ny = _grid(nx, ny)
    x, y = (-1 + (np.arange(n) + 0.5) * (2.0 / n) for n in (nx, ny))
    vert = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((nx, ny), -1.0)], -1)
    index = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    face = np.stack([a, b, d, c, d, b], -1).reshape(-1, 3).astype(np.int32)
    normal = np.tile(np.eye(3), (nx * ny, 1))
    out = dict(vert=_single(vert.reshape(-1, 3)), normal=_single(normal))
    return (out | dict(face=face) if len(face) else out), True


# by mjtMeshBuiltin: function and number of parameters
_SHAPES = {1: (sphere, 1), 2: (hemisphere, 1), 3: (cone, 2), 4: (supersphere, 3), 5: (supertorus, 4), 6: (wedge, 5),
           7: (plate, 2)}  # fmt: skip
