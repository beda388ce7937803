"""Flat sides of a mesh: polygons merged from triangles whose normals are equal within a tolerance.

MuJoCo keeps the sides in a C++ set ordered by normal. With a tolerance that order is not transitive, so which triangles
meet depends on the shape of the set's red-black tree; it is built here in the same way (Cormen et al., "Introduction to
Algorithms", chapter 13). Rules: MuJoCo's user_mesh.cc (Apache-2.0).
"""

import numpy as np

from tisim.device.garbage import unsearched

from ..numbers import EPS, MINVAL
from ..rotations import cross
from .mesh_inertia import dot

# two triangles are of one side when the cosine between their normals is larger
FLAT = 0.99999872
APART = 0.002  # no two unit normals are that differ by more in a coordinate: they are sqrt(2 - 2 FLAT) = 0.0016 apart


def unit_normals(vert, face):
    """(f, 3) unit normals of triangles; x where a triangle has no area."""
    a, b, c = np.moveaxis(vert[face], 1, 0)
    normal = cross(b - a, c - a)
    length = np.sqrt(dot(normal, normal))
    flat = length < EPS
    normal /= np.where(flat, 1.0, length)[:, None]
    normal[flat] = [1, 0, 0]
    return normal


def polygons(vert, face):
    """List of the polygons (lists of vertex ids, counterclockwise) of a mesh, in MuJoCo's order: by decreasing normals.

    vert  (n, 3);  face  (f, 3). Sides of equal normals that do not touch are separate polygons.
    """
    sides = Sides()
    with unsearched():
        for corners, normal in zip(face.tolist(), unit_normals(vert, face).tolist()):
            sides.add(normal, corners)
        return [path for side in sides.in_order() for path in side.paths() if len(path) >= 3]


def _order(p, q):
    """Negative where a side of normal p stands before one of normal q, 0 where they are one side."""
    x, y = p[0], q[0]
    if abs(p[1] - q[1]) <= APART and x * y + p[1] * q[1] + p[2] * q[2] > FLAT:
        return 0
    if abs(x - y) <= MINVAL:
        x, y = p[1], q[1]
        if abs(x - y) <= MINVAL:
            x, y = p[2], q[2]
            if abs(x - y) <= MINVAL:
                return 0
    return -1 if x > y else 1


class Sides:
    """Red-black tree normal -> Side. Nodes are numbers; number 0 is the empty leaf."""

    def __init__(self):
        self.normal, self.side = [None], [None]
        self.first = [0.0]  # x of the normals
        self.left, self.right, self.parent, self.red = [0], [0], [0], [False]
        self.root = 0

    def add(self, normal, corners):
        """Joins a triangle to the side of its normal, or to a new one.

        One way down serves the search and the insertion, which part at the first side that cannot be told apart from
        the normal: insertion ends there and search goes on, so a triangle for which it finds none is left out.
        """
        at, above, here, new, go_left = self.root, 0, 0, True, True
        x, first, left, right = normal[0], self.first, self.left, self.right
        low, high = x - APART, x + APART
        while at:
            above, other = at, first[at]
            if other > high:
                go_left = False
            elif other < low:
                go_left, here = True, 0
            else:
                order = _order(normal, self.normal[at])
                go_left = order <= 0
                if order == 0:
                    here, new = at, False
                elif go_left:
                    here = 0
            at = left[at] if go_left else right[at]
        if here:
            self.side[here].join(corners)
        elif new:
            self._insert(above, go_left, normal, Side(corners))

    def _insert(self, above, go_left, normal, side):
        new = len(self.normal)
        for column, value in (
            (self.normal, normal), (self.first, normal[0]), (self.side, side), (self.left, 0), (self.right, 0),
            (self.parent, above), (self.red, True),
        ):  # fmt: skip
            column.append(value)
        if not above:
            self.root = new
        elif go_left:
            self.left[above] = new
        else:
            self.right[above] = new
        self._balance(new)

    def _rotate(self, at, down, up):
        """Puts a node below its child in `down`; `up` is the other one of left and right."""
        child, above = down[at], self.parent[at]
        down[at] = up[child]
        if up[child]:
            self.parent[up[child]] = at
        self.parent[child], self.parent[at], up[child] = above, child, at
        if not above:
            self.root = child
        elif self.left[above] == at:
            self.left[above] = child
        else:
            self.right[above] = child

    def _balance(self, at):
        while at != self.root and self.red[self.parent[at]]:
            above = self.parent[at]
            top = self.parent[above]
            near, far = (self.left, self.right) if self.left[top] == above else (self.right, self.left)
            other = far[top]
            if other and self.red[other]:
                self.red[above] = self.red[other] = False
                self.red[top] = True
                at = top
                continue
            if far[above] == at:
                self._rotate(above, far, near)
                above = at
            self.red[above], self.red[top] = False, True
            self._rotate(top, near, far)
            break
        self.red[self.root] = False

    def in_order(self):
        """The sides from the first normal to the last."""
        stack, at = [], self.root
        while stack or at:
            while at:
                stack.append(at)
                at = self.left[at]
            at = stack.pop()
            yield self.side[at]
            at = self.right[at]


class Side:
    """The outline of triangles of one normal: directed edges, each of one of the connected pieces.

    edges  dict (from, to) -> piece;  merged  piece -> the piece it became part of, or itself.
    """

    def __init__(self, corners):
        a, b, c = corners
        self.edges, self.merged = {(a, b): 0, (b, c): 0, (c, a): 0}, [0]

    def _piece(self, piece):
        """The piece that a piece is part of by now."""
        merged = self.merged
        while merged[piece] != piece:
            merged[piece] = piece = merged[merged[piece]]
        return piece

    def join(self, corners):
        """Adds a triangle: edges that it shares with the outline vanish."""
        a, b, c = corners
        new, pieces = [], []
        for edge in ((a, b), (b, c), (c, a)):
            piece = self.edges.pop((edge[1], edge[0]), None)
            if piece is None:
                new.append(edge)
            else:
                pieces.append(self._piece(piece))
        if not pieces:
            pieces.append(len(self.merged))
            self.merged.append(pieces[0])
        here = min(pieces)
        for piece in pieces:
            self.merged[piece] = here
        for edge in new:
            self.edges[edge] = here

    def paths(self):
        """The closed outlines, one per connected piece."""
        if len(self.edges) == 3:
            return [[edge[0] for edge in self.edges]]
        following, first = {}, {}
        for at, ((a, b), piece) in enumerate(self.edges.items()):
            piece = self._piece(piece)
            if at:
                following.setdefault((piece, a), b)
            first.setdefault(piece, [a, b])
        out = []
        for piece in sorted(first):
            path, after = first[piece], None
            for _ in range(len(self.edges)):
                after = following.get((piece, path[-1]))
                if after is None or after == path[0]:
                    break
                path.append(after)
            if after == path[0]:
                out.append(path)
        return out
