"""Few records, made on the host: what a mouse holds, a user's geoms, the model's cameras and lights.

What there is much of is listed by kernels (overlays.py).
"""

import numpy as np

from tisim.enums import mjtGeom
from tisim.mjcf.rotations import cross

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(mjtGeom[f"mjGEOM_{name}"]) for name in "SPHERE CAPSULE ELLIPSOID CYLINDER BOX".split()
)
AXES = np.array([[0.9, 0.1, 0.1, 1], [0.1, 0.8, 0.1, 1], [0.15, 0.3, 0.95, 1]])  # colours of x, y and z
HEAD = 3.0  # width of an arrow's head, by that of its shaft
NO_SHADOW = 0.999  # opacity of what hides all behind it and throws no shadow: SOLID of kernels/picture/surface.py
SHORT = 1e-12  # what is shorter has no direction [m]


class Few:
    """Records that are collected one by one: kind (n,), pos (n, 3), mat (n, 9), size (n, 3), rgba (n, 4)."""

    def __init__(self):
        self.parts = []

    def add(self, kind, pos, mat, size, rgba):
        """Records of one shape; what is the same for all may be given once."""
        pos = np.asarray(pos, float).reshape(-1, 3)
        n = len(pos)
        if n:
            self.parts.append((
                np.full(n, kind), pos, np.broadcast_to(np.asarray(mat, float).reshape(-1, 9), (n, 9)),
                np.broadcast_to(np.asarray(size, float).reshape(-1, 3), (n, 3)),
                np.broadcast_to(np.asarray(rgba, float).reshape(-1, 4), (n, 4)),
            ))  # fmt: skip

    def rods(self, begin, end, radius, rgba):
        """Rods from points (n, 3) to points (n, 3) [m]."""
        begin, end = np.reshape(begin, (-1, 3)).astype(float), np.reshape(end, (-1, 3)).astype(float)
        length = np.linalg.norm(end - begin, axis=1)
        size = np.column_stack([np.broadcast_to(radius, len(length)), 0.5 * length, np.zeros(len(length))])
        rgba, long = np.broadcast_to(np.reshape(rgba, (-1, 4)), (len(length), 4)), length > SHORT
        begin, end = begin[long], end[long]
        self.add(CYLINDER, 0.5 * (begin + end), along(end - begin), size[long], rgba[long])

    def arrows(self, begin, vector, radius, rgba):
        """Arrows from points (n, 3) by vectors (n, 3) [m]."""
        begin, vector = np.reshape(begin, (-1, 3)).astype(float), np.reshape(vector, (-1, 3)).astype(float)
        length = np.linalg.norm(vector, axis=1)
        begin, vector, length = begin[length > SHORT], vector[length > SHORT], length[length > SHORT]
        head = np.minimum(HEAD * radius, 0.25 * length)
        size = np.column_stack([head, head, np.minimum(2 * head, 0.25 * length)])
        neck = begin + vector * (1 - size[:, 2:] / length[:, None])
        self.rods(begin, neck, radius, rgba)
        self.add(ELLIPSOID, neck, along(vector), size, rgba)

    def frames(self, pos, mat, m, scale=1.0):
        """Three axes at each place (n, 3), rotations (n, 3, 3)."""
        pos, mat = np.reshape(pos, (-1, 3)), np.reshape(mat, (-1, 3, 3))
        long, wide = (float(s) * m.stat.meansize for s in (m.vis.scale.framelength, m.vis.scale.framewidth))
        for k in range(3):
            self.rods(pos, pos + scale * long * mat[:, :, k], 0.5 * wide, AXES[k])

    def arrays(self):
        """The five arrays of what has a place."""
        if not self.parts:
            return np.zeros(0, int), np.zeros((0, 3)), np.zeros((0, 9)), np.zeros((0, 3)), np.zeros((0, 4))
        kind, pos, mat, size, rgba = (np.concatenate(column) for column in zip(*self.parts))
        there = np.isfinite(pos).all(1) & np.isfinite(mat).all(1)
        return kind[there], pos[there], mat[there], size[there], np.minimum(rgba[there], [1e9, 1e9, 1e9, NO_SHADOW])


def along(z):
    """Rotations (n, 9) whose z axes point along vectors (n, 3)."""
    z = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-30)
    x = cross(np.where(np.abs(z[:, 2:]) > 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]]), z)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
    return np.stack([x, cross(z, x), z], 2).reshape(-1, 9)
