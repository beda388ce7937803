"""Wavefront OBJ files -> arrays of a mesh, as in mesh_files.py.

The rules are those of tinyobjloader (MIT), with which MuJoCo reads OBJ: which lines count, and how a face of more than
three vertices is cut.
"""

import io
from array import array

import numpy as np

# how many numbers of a line count
WIDTH = {"v": 3, "vn": 3, "vt": 2}
# corners of one face: MuJoCo 3.4.0 leaves out those that have more
MAX_CORNERS = 100


def read_obj(data, flip):
    """All vertices of a file, and the faces of its first object or group that has some; ValueError where it errs.

    left_out  corners of each face that has more than MAX_CORNERS and is not among them.
    """
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
        out["left_out"] = [size for size in sizes if size > MAX_CORNERS]
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

    vertex  (c,) vertex of each corner;  sizes  (f,) corners of each face;  vert  (n, 3) float32.
    """
    start = np.cumsum(sizes) - sizes
    cut = (sizes >= 3) & (sizes <= MAX_CORNERS)
    index = vertex[np.repeat(cut & (sizes > 3), sizes)]
    if (index < 0).any() or (index >= len(vert)).any():
        raise ValueError("a face names a vertex that does not exist")
    faces, parts = [], []
    for size in np.unique(sizes[cut]):
        rows = np.flatnonzero(sizes == size)
        corner = start[rows][:, None] + np.arange(size)
        if size == 3:
            faces.append(rows)
            parts.append(corner)
            continue
        face, triangle = _ears(vert[vertex[corner]])
        faces.append(rows[face])
        parts.append(corner[face[:, None], triangle])
    if not parts:
        return np.zeros((0, 3), int)
    return np.concatenate(parts)[np.argsort(np.concatenate(faces), kind="stable")]


def _ears(point):
    """(face (t,), triangle (t, 3)): the triangles that are cut off polygons one after the other, by corner.

    point  (n, k, 3) float32, n polygons of k corners. A polygon is looked at along the axis closest to the normal of
    its first real corner. A corner is cut off where it turns the way of the whole polygon and none other lies inside.
    """
    n, k = point.shape[:2]
    flat = point[np.arange(n)[:, None, None], np.arange(k)[None, :, None], _axes(point)[:, None]]
    (x, y), (u, v) = np.moveaxis(flat, 2, 0), np.moveaxis(np.roll(flat, -1, axis=1), 2, 0)
    area = np.add.accumulate((x * v - y * u) * np.float32(0.5), axis=1)[:, -1]
    rest, guess, found = np.tile(np.arange(k), (n, 1)), np.zeros(n, int), []
    # what is left of the polygons, those with equally many corners together; those that cannot be cut are dropped
    todo = [(np.arange(n), rest, guess)]
    while todo:
        face, rest, guess = todo.pop()
        k = rest.shape[1]
        if k == 3:
            found.append((np.full(len(face), k), face, rest))
            continue
        for attempt in range(k):
            guess = np.where(guess >= k, guess - k, guess)
            turned = np.take_along_axis(rest, (guess[:, None] + np.arange(k)) % k, 1)
            corner = flat[face[:, None], turned]
            a, b, c = corner[:, 0], corner[:, 1], corner[:, 2]
            cross = (b[:, 0] - a[:, 0]) * (c[:, 1] - b[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - b[:, 0])
            good = ~(cross * area[face] < 0)
            good &= ~_inside(corner[:, :3], corner[:, 3:]).any(1)
            if good.any():
                found.append((np.full(int(good.sum()), k), face[good], turned[good, :3]))
                keep = np.arange(k) != ((guess[good] + 1) % k)[:, None]
                # tinyobjloader gives up after the last corner of the whole polygon, even if it was an ear
                if attempt < k - 1 or k == 4 or k < point.shape[1]:
                    todo.append((face[good], rest[good][keep].reshape(-1, k - 1), guess[good]))
            face, rest, guess = face[~good], rest[~good], guess[~good] + 1
            if not len(face):
                break
    if not found:
        return np.zeros(0, int), np.zeros((0, 3), int)
    left, face, triangle = (np.concatenate(column) for column in zip(*found))
    order = np.lexsort([-left, face])
    return face[order], triangle[order]


def _axes(point):
    """(n, 2) coordinates that polygons (n, k, 3) are looked at in."""
    edge = np.roll(point, -1, axis=1) - point
    turn = np.abs(np.cross(edge, np.roll(edge, -1, axis=1)))
    real = (turn > np.finfo(np.float32).eps).any(2)
    x, y, z = turn[np.arange(len(point)), real.argmax(1)].T
    out = np.where(((z > x) & (z > y))[:, None], [0, 1], [0, 2])
    return np.where((((x > y) & (x > z)) | ~real.any(1))[:, None], [1, 2], out)


def _inside(triangle, point):
    """(n, m) whether points (n, m, 2) lie in triangles (n, 3, 2): how often a ray from them crosses the sides."""
    odd, x, y = np.zeros(point.shape[:2], bool), point[..., 0], point[..., 1]
    with np.errstate(all="ignore"):
        for i in range(3):
            (xi, yi), (xj, yj) = triangle[:, i].T[..., None], triangle[:, i - 1].T[..., None]
            odd ^= ((yi > y) != (yj > y)) & (x < (xj - xi) * (y - yi) / (yj - yi) + xi)
    return odd
