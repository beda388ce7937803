"""Wavefront OBJ files -> arrays of a mesh, as in mesh_files.py.

The rules are those of tinyobjloader (MIT), with which MuJoCo reads OBJ: which lines count, and how a face of more than
three vertices is cut.
"""

import io
from array import array

import numpy as np

# how many numbers of a line count
WIDTH = {"v": 3, "vn": 3, "vt": 2}
# corners of one face; cutting one takes a time of the third power
MAX_CORNERS = 200


def read_obj(data, flip):
    """All vertices of a file, and the faces of its first object or group that has some; ValueError where it errs."""
    numbers = {"v": array("d"), "vn": array("d"), "vt": array("d")}
    corners, sizes, done = array("q"), array("q"), False
    for at, line in enumerate(io.BytesIO(data), 1):
        words = line.split()
        if not words:
            continue
        key = words[0].decode("latin-1")
        try:
            if key in numbers:
                width = WIDTH[key]
                found = [float(word) for word in words[1 : width + 1]]
                numbers[key].extend(found + [0.0] * (width - len(found)))
            elif key == "f" and not done:
                sizes.append(len(words) - 1)
                for word in words[1:]:
                    corners.extend(_corner(word, numbers))
            elif key in ("o", "g") and sizes:
                done = True
        except (ValueError, OverflowError):
            text = line.decode("utf-8", "replace").strip()[:40]
            raise ValueError(f"line {at} of the OBJ file cannot be read: '{text}'") from None
    out = {}
    for name, key in (("vert", "v"), ("normal", "vn"), ("texcoord", "vt")):
        if numbers[key]:
            out[name] = np.array(numbers[key]).reshape(-1, WIDTH[key]).astype(np.float32)
    if "texcoord" in out:
        out["texcoord"][:, 1] = 1 - out["texcoord"][:, 1]
    if sizes and "vert" in out:
        corner = np.clip(np.array(corners).reshape(-1, 3), -1, 2**31 - 1).astype(np.int32)
        triangles = _triangles(corner[:, 0], np.array(sizes), out["vert"])
        if flip:
            triangles = triangles[:, [0, 2, 1]]
        out["face"] = corner[triangles, 0]
        if "normal" in out:
            out["facenormal"] = corner[triangles, 2]
        if "texcoord" in out:
            out["facetexcoord"] = corner[triangles, 1]
    return out


def _corner(word, numbers):
    """(vertex, texcoord, normal) of one corner of a face, counted from 0; -1 for what it does not name."""
    found = [-1, -1, -1]
    parts = word.split(b"/")
    for i, (part, key) in enumerate(zip(parts, ("v", "vt", "vn"))):
        if part or i != 1 or len(parts) != 3:
            number = int(part)
            if number == 0:
                raise ValueError
            found[i] = number - 1 if number > 0 else len(numbers[key]) // WIDTH[key] + number
    return found


def _triangles(vertex, sizes, vert):
    """(t, 3) corners of the triangles that faces are cut into.

    vertex  (c,) vertex of each corner;  sizes  (f,) corners of each face;  vert  (n, 3).
    """
    start = np.cumsum(sizes) - sizes
    if (sizes > MAX_CORNERS).any():
        raise ValueError(f"a face has {int(sizes.max())} vertices, more than {MAX_CORNERS}")
    out = np.zeros((len(sizes), 2, 3), int)
    out[:, 0] = start[:, None] + [0, 1, 2]
    out[:, 1] = start[:, None] + [0, 2, 3]
    count = np.clip(sizes - 2, 0, 2)
    cut = sizes >= 4
    index = vertex[np.repeat(cut, sizes)]
    if (index < 0).any() or (index >= len(vert)).any():
        raise ValueError("a face names a vertex that does not exist")
    four = np.flatnonzero(sizes == 4)
    cut[four] = ~_flat_ear(vert[vertex[start[four][:, None] + np.arange(4)]])
    if not cut.any():
        return out[np.arange(2) < count[:, None]]
    pieces = [face[:n] for face, n in zip(out, count)]
    for i in np.flatnonzero(cut):
        pieces[i] = start[i] + np.array(_ears(vert[vertex[start[i] : start[i] + sizes[i]]]), int).reshape(-1, 3)
    return np.concatenate(pieces)


def _flat_ear(point):
    """(n,) whether quadrangles (n, 4, 3) are so plainly convex that they are cut from the first to the third vertex.

    All four corners turn the same way, by at least a thousandth of the sides' lengths. `_ears` gives the same, slowly.
    """
    point = point.astype(float)
    edge = np.roll(point, -1, axis=1) - point
    turn = np.cross(edge, np.roll(edge, -1, axis=1))
    normal = turn[:, 0]
    axis = np.abs(normal).argmax(1)
    component = np.take_along_axis(turn, axis[:, None, None], 2)[..., 0]
    length = np.linalg.norm(edge, axis=2)
    clear = np.sign(component[:, :1]) * component > 1e-3 * length * np.roll(length, -1, axis=1)
    return clear.all(1) & (component[:, 0] != 0)


def _ears(point):
    """Triangles (lists of three corners) of a polygon, cut off one after the other.

    point  (k, 3) float32. The polygon is looked at along the axis closest to the normal of its first real corner.
    """
    edge = np.roll(point, -1, axis=0) - point
    turn = np.abs(np.cross(edge, np.roll(edge, -1, axis=0)))
    real = np.flatnonzero((turn > np.finfo(np.float32).eps).any(1))
    axes = 1, 2
    if len(real):
        x, y, z = turn[real[0]]
        if not (x > y and x > z):
            axes = (0, 1) if z > x and z > y else (0, 2)
    flat = point[:, axes]
    (x, y), (u, v) = flat.T, np.roll(flat, -1, axis=0).T
    area = np.add.accumulate((x * v - y * u) * np.float32(0.5))[-1]
    rest, guess, ears = list(range(len(point))), 0, []
    tries, before = len(rest), len(rest)
    while len(rest) > 3 and tries > 0:
        n = len(rest)
        if guess >= n:
            guess -= n
        if before != n:
            before = tries = n
        else:
            tries -= 1
        ear = [rest[(guess + k) % n] for k in range(3)]
        a, b, c = flat[ear]
        cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
        others = flat[[rest[(guess + k) % n] for k in range(3, n)]]
        if cross * area < 0 or _inside(flat[ear], others).any():
            guess += 1
            continue
        ears.append(ear)
        del rest[(guess + 1) % n]
    if len(rest) == 3:
        ears.append(rest)
    return ears


def _inside(triangle, point):
    """(k,) whether points (k, 2) lie in a triangle (3, 2): how often a ray from them crosses its sides."""
    odd = np.zeros(len(point), bool)
    x, y = point.T
    for i in range(3):
        (xi, yi), (xj, yj) = triangle[i], triangle[i - 1]
        if yi != yj:
            odd ^= ((yi > y) != (yj > y)) & (x < (xj - xi) * (y - yi) / (yj - yi) + xi)
    return odd
