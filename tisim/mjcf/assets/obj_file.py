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
# bytes of lines that are read at once
BLOCK = 4_000_000
# longer numbers might not fit into 64 bits
MAX_DIGITS = 18


def read_obj(data, flip):
    """All vertices of a file, and the faces of its first object or group that has some; ValueError where it errs.

    left_out  corners of each face that has more than MAX_CORNERS and is not among them.
    """
    numbers, corner, sizes = _even_lines(data) or _lines(data)
    out = {}
    for name, key in (("vert", "v"), ("normal", "vn"), ("texcoord", "vt")):
        if len(numbers[key]):
            out[name] = numbers[key].astype(np.float32)
    if "texcoord" in out:
        out["texcoord"][:, 1] = 1 - out["texcoord"][:, 1]
    if len(sizes) and "vert" in out:
        corner = np.clip(corner, -1, 2**31 - 1).astype(np.int32)
        out["left_out"] = sizes[sizes > MAX_CORNERS].tolist()
        triangles = _triangles(corner[:, 0], sizes, out["vert"])
        if flip:
            triangles = triangles[:, [0, 2, 1]]
        out["face"] = corner[triangles, 0]
        if "normal" in out:
            out["facenormal"] = corner[triangles, 2]
        if "texcoord" in out:
            out["facetexcoord"] = corner[triangles, 1]
    return out


def _lines(data):
    """(numbers, corner, sizes): rows of numbers by their key, corners (c, 3) of all faces as _corner's, and (f,) their
    numbers; any file, line by line."""
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
    rows = {key: np.array(numbers[key]).reshape(-1, width) for key, width in WIDTH.items()}
    return rows, np.array(corners, int).reshape(-1, 3), np.array(sizes, int)


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


def _even_lines(data):
    """What _lines returns, many lines at once; None where some line is not as in most files."""
    numbers = {key: [np.zeros((0, width))] for key, width in WIDTH.items()}
    corners, sizes, done = [np.zeros((0, 3), int)], [np.zeros(0, int)], False
    stream = io.BytesIO(data)
    while block := stream.readlines(BLOCK):
        faces = []
        lines = {b"v ": [], b"vn": [], b"vt": [], b"f ": [] if done else faces}
        for line in block:
            if (alike := lines.get(line[:2])) is not None:
                alike.append(line)
            elif words := line.split():
                if words[0] in (b"v", b"vn", b"vt", b"f"):
                    return None
                if words[0] in (b"o", b"g") and (faces or len(sizes) > 1):
                    done, lines[b"f "] = True, []
        try:
            for key, width in WIDTH.items():
                numbers[key].append(_even_numbers(lines[key.encode().ljust(2)], key.encode(), width))
            if faces:
                corner, size = _even_faces(faces)
                corners.append(corner)
                sizes.append(size)
        except ValueError:
            return None
    return {key: np.concatenate(rows) for key, rows in numbers.items()}, np.concatenate(corners), np.concatenate(sizes)


def _even_numbers(lines, key, width):
    """(n, width) numbers of lines that have equally many words, the first of them the key; ValueError of others."""
    if not lines:
        return np.zeros((0, width))
    words = b" ".join(lines).split()
    each = len(words) // len(lines)
    # as many keys as lines, and equally far apart: so each line starts with one
    if each <= width or not words[::each].count(key) == words.count(key) == len(lines) == len(words) / each:
        raise ValueError
    return np.array([list(map(float, words[i::each])) for i in range(1, width + 1)]).T


def _even_faces(lines):
    """(corners (c, 3), sizes (f,)) of lines whose words are v, v/t, v//n or v/t/n; ValueError of others.

    The numbers are short, above zero, and do not start with a zero.
    """
    text = b" ".join(b"".join(lines).split()) + b" "
    byte = np.frombuffer(text, np.uint8)
    place, space = np.flatnonzero(byte == ord("f")), np.flatnonzero(byte == ord(" "))
    sizes = np.diff(np.searchsorted(space, place), append=len(space)) - 1
    text = text.replace(b"f ", b"")
    byte = np.frombuffer(b" " + text, np.uint8)
    space, slash = byte == ord(" "), byte == ord("/")
    end = np.flatnonzero(space | slash)
    number = np.diff(end) - 1
    empty = end[:-1][number == 0]
    good = len(place) == len(lines) and ((byte >= ord("0")) & (byte <= ord("9")) | space | slash).all()
    good &= not (byte[end[:-1] + 1] == ord("0")).any() and (number <= MAX_DIGITS).all()
    good &= (slash[empty] & slash[empty + 1]).all()
    # which numbers are the last ones of their words
    last = np.flatnonzero(space[end[1:]])
    count = np.diff(last, prepend=-1)
    if not good or (count > 3).any():
        raise ValueError
    corner = np.zeros((len(count), 3), int)
    corner[np.arange(3) < count[:, None]] = np.fromstring(text.replace(b"//", b"/0/").replace(b"/", b" "), int, sep=" ")
    return corner - 1, sizes


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
