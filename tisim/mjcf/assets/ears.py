"""Polygons -> triangles, cut off one after the other, in tinyobjloader's (MIT) order.

A polygon is looked at along the axis closest to the normal of its first real corner. A corner is cut off where it turns
the way of the whole polygon and no other lies in its triangle. How many lie there is kept for each corner: a cut
changes the triangles of two corners, and takes one point from the others.
"""

import numpy as np

# polygons of up to so many corners stand together in arrays
WIDTHS = (4, 8, 16, 32, 100)
# numbers of one array: what stands in memory at once
MAX_NUMBERS = 1_000_000


def cut(point, start, size):
    """(face (t,), triangle (t, 3)): the triangles of polygons, each polygon's in order; corners count through all.

    point  (c, 3) float32 corners of all polygons;  start, size  (n,) where a polygon's stand. None has more than
    WIDTHS[-1] corners; those of fewer than four are left out.
    """
    faces, triangles = [np.zeros(0, int)], [np.zeros((0, 3), int)]
    for low, width in zip((3, *WIDTHS), WIDTHS):
        rows = np.flatnonzero((size > low) & (size <= width))
        step = MAX_NUMBERS // width**2
        for some in (rows[i : i + step] for i in range(0, len(rows), step)):
            corner = start[some][:, None] + np.minimum(np.arange(width), size[some][:, None] - 1)
            for which, triangle in Polygons(point[corner], size[some]).ears():
                faces.append(some[which])
                triangles.append(start[some[which]][:, None] + triangle)
    return np.concatenate(faces), np.concatenate(triangles)


class Polygons:
    """n polygons of up to k corners, and what is left of them.

    face  (n,) which polygon;  flat  (n, k, 2) its corners in the plane;  size, left  (n,) corners at first and now;
    rest  (n, k) those that are left, in order;  guess  (n,) where in `rest` the search goes on.
    Of each corner: alive  (n, k) is it left;  ear  (n, k, 3, 2) its triangle;  turns  (n, k) the way of the whole;
    inside  (n, k) how many corners lie in the triangle.
    """

    def __init__(self, point, size):
        n, k = point.shape[:2]
        row, here = np.arange(n)[:, None], np.arange(k)
        after, before = (here + 1) % size[:, None], (here - 1) % size[:, None]
        self.flat = point[row[:, None], here[:, None], _axes(point, after, size)[:, None]]
        self.alive = here < size[:, None]
        (x, y), (u, v) = np.moveaxis(self.flat, 2, 0), np.moveaxis(self.flat[row, after], 2, 0)
        self.area = np.add.accumulate((x * v - y * u) * np.float32(0.5), axis=1)[row[:, 0], size - 1]
        self.ear = np.stack([self.flat[row, before], self.flat, self.flat[row, after]], 2)
        self.turns = ~(_cross(self.ear) * self.area[:, None] < 0)
        other = self.alive[:, None] & (here != here[:, None])
        other &= (here != before[:, :, None]) & (here != after[:, :, None])
        self.inside = (_inside(self.ear, self.flat[:, None]) & other).sum(2)
        self.face, self.size, self.left = row[:, 0], size, size.copy()
        self.rest, self.guess = np.tile(here, (n, 1)), np.zeros(n, int)

    def ears(self):
        """Yields (face, triangle): one triangle of each polygon that still can be cut, and what remains at the end."""
        here = np.arange(self.rest.shape[1])
        while len(self.face):
            good = np.take_along_axis(self.turns & (self.inside == 0), self._at(self.guess[:, None] + 1 + here), 1)
            good &= here < self.left[:, None]
            attempt, found = good.argmax(1), good.any(1)
            self._keep(found)
            attempt = attempt[found]
            self.guess = (self.guess + attempt) % self.left
            corners = self._at(self.guess[:, None] + np.arange(3))
            yield self.face, corners
            # tinyobjloader gives up after the last corner of the whole polygon, even if it was an ear
            goes_on = (attempt < self.left - 1) | (self.left == 4) | (self.left < self.size)
            self._keep(goes_on)
            self._remove(corners[goes_on, 1])
            last = self.left == 3
            yield self.face[last], self.rest[last, :3]
            self._keep(~last)

    def _at(self, place):
        """The corners at places (n, m) of what is left, counted round."""
        return np.take_along_axis(self.rest, place % self.left[:, None], 1)

    def _keep(self, which):
        if not which.all():
            for name, value in vars(self).items():
                setattr(self, name, value[which])

    def _remove(self, corner):
        """Takes the corner after the guess out of each polygon."""
        row, here = np.arange(len(corner)), np.arange(self.rest.shape[1])
        self.alive[row, corner] = False
        self.inside -= _inside(self.ear, self.flat[row, corner][:, None, None])[..., 0]
        place = (self.guess + 1) % self.left
        self.rest = np.take_along_axis(self.rest, np.minimum(here + (here >= place[:, None]), here[-1]), 1)
        self.left = self.left - 1
        around = self._at((place - 2)[:, None] + np.arange(4))
        # a place after the last one is the first
        self.guess = self.guess % self.left
        for i in range(2):
            self._renew(row, around[:, i : i + 3], here)

    def _renew(self, row, corners, here):
        """The triangle of the middle one of three corners (n, 3) that follow each other by now."""
        ear, middle = self.flat[row[:, None], corners], corners[:, 1]
        self.ear[row, middle] = ear
        self.turns[row, middle] = ~(_cross(ear) * self.area < 0)
        other = self.alive & (here != corners[:, :, None]).all(1)
        self.inside[row, middle] = (_inside(ear, self.flat) & other).sum(1)


def _axes(point, after, size):
    """(n, 2) coordinates that polygons (n, k, 3) are looked at in;  after  (n, k) the corner after each."""
    row = np.arange(len(point))
    edge = point[row[:, None], after] - point
    turn = np.abs(np.cross(edge, edge[row[:, None], after]))
    real = (turn > np.finfo(np.float32).eps).any(2) & (np.arange(point.shape[1]) < size[:, None])
    x, y, z = turn[row, real.argmax(1)].T
    out = np.where(((z > x) & (z > y))[:, None], [0, 1], [0, 2])
    return np.where((((x > y) & (x > z)) | ~real.any(1))[:, None], [1, 2], out)


def _cross(ear):
    """How triangles (..., 3, 2) turn in their middle."""
    a, b, c = np.moveaxis(ear, -2, 0)
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - b[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - b[..., 0])


def _inside(triangle, point):
    """(..., m) whether points (..., m, 2) lie in triangles (..., 3, 2): how often a ray from them crosses the sides."""
    odd, x, y = False, point[..., 0], point[..., 1]
    with np.errstate(all="ignore"):
        for i in range(3):
            (xi, yi), (xj, yj) = (np.moveaxis(triangle[..., j, :, None], -2, 0) for j in (i, i - 1))
            odd = odd ^ (((yi > y) != (yj > y)) & (x < (xj - xi) * (y - yi) / (yj - yi) + xi))
    return odd
