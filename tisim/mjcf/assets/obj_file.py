"""Wavefront OBJ files -> arrays of a mesh, as in mesh_files.py.

The rules are those of tinyobjloader (MIT), with which MuJoCo reads OBJ: which lines count, and how a face of more than
three vertices is cut.
"""

import io
from array import array

import numpy as np

from . import ears

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
    kept = (sizes >= 3) & (sizes <= MAX_CORNERS)
    index = vertex[np.repeat(kept & (sizes > 3), sizes)]
    if (index < 0).any() or (index >= len(vert)).any():
        raise ValueError("a face names a vertex that does not exist")
    whole, many = np.flatnonzero(sizes == 3), np.flatnonzero(kept & (sizes > 3))
    if not len(many):
        return start[whole][:, None] + np.arange(3)
    face, triangle = ears.cut(vert[vertex.clip(0, len(vert) - 1)], start[many], sizes[many])
    face, triangle = np.append(whole, many[face]), np.append(start[whole][:, None] + np.arange(3), triangle, axis=0)
    return triangle[np.argsort(face, kind="stable")]
