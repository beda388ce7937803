"""Triangle meshes of the primitive shapes at unit size, placed by scale, shift and rotation.

A vertex of a geom is R (scale * point + (0, 0, half) * side) + position: `side` is -1 or 1 on the two ends of a
capsule and 0 elsewhere, so one formula places every shape.
"""

import dataclasses

import numpy as np

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)


@dataclasses.dataclass(frozen=True)
class Shape:
    """points (v, 3), normals (v, 3), side (v,), triangles (t, 3)."""

    points: np.ndarray
    normals: np.ndarray
    side: np.ndarray
    triangles: np.ndarray


def made(points, normals, triangles, side=0.0):
    """Shape of arrays; side as there."""
    side = np.broadcast_to(np.float32(side), len(points))
    triangles = np.asarray(triangles, np.int32).reshape(-1, 3)
    return Shape(np.asarray(points, np.float32), np.asarray(normals, np.float32), side, triangles)


def grid_triangles(rows, columns):
    """Triangles of a grid of rows x columns vertices, counter-clockwise seen from +z with rows along x."""
    r, c = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = (r * columns + c).ravel()
    b, e, f = a + columns, a + columns + 1, a + 1
    return np.concatenate([np.stack([a, b, e], 1), np.stack([a, e, f], 1)])


def sphere(segments):
    """Unit sphere; its two halves are split at the equator, so that a capsule can pull them apart."""
    rings = max(2, segments // 4)
    polar = np.concatenate([np.linspace(0, 0.5, rings + 1), np.linspace(0.5, 1, rings + 1)]) * np.pi
    around = np.linspace(0, 2 * np.pi, segments + 1)
    p, a = np.meshgrid(polar, around, indexing="ij")
    points = np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)], -1).reshape(-1, 3)
    side = np.repeat(np.r_[np.ones(rings + 1), -np.ones(rings + 1)], segments + 1)
    return made(points, points, grid_triangles(2 * rings + 2, segments + 1), side)


def cylinder(segments):
    """Cylinder of radius 1 and half height 1 along z."""
    a = np.linspace(0, 2 * np.pi, segments + 1)
    ring = np.stack([np.cos(a), np.sin(a), 0 * a], 1)
    up = np.array([0, 0, 1.0])
    points = np.concatenate([ring + up, ring - up, ring + up, [up], ring - up, [-up]])
    normals = np.concatenate([ring, ring, np.tile(up, (segments + 2, 1)), np.tile(-up, (segments + 2, 1))])
    k, n = np.arange(segments), segments + 1
    top, bottom = 2 * n, 3 * n + 1
    fans = [np.stack([top + k, top + k + 1, 0 * k + top + n], 1),
            np.stack([bottom + k + 1, bottom + k, 0 * k + bottom + n], 1)]  # fmt: skip
    return made(points, normals, np.concatenate([grid_triangles(2, n), *fans]))


def box():
    """Cube from -1 to 1 with flat faces."""
    corners = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]], float)
    turns = [np.roll(corners, axis, axis=1) for axis in range(3)]
    points = np.concatenate([face for t in turns for face in (t, -t[::-1])])
    normals = np.concatenate([np.tile(np.eye(3)[axis] * s, (4, 1)) for axis in range(3) for s in (1, -1)])
    quad = np.array([0, 1, 2, 0, 2, 3])
    return made(points, normals, np.concatenate([quad + 4 * f for f in range(6)]))


def faceted(vertices, faces):
    """Any triangle mesh with flat faces."""
    corners = np.asarray(vertices, float)[np.asarray(faces, int)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return made(corners.reshape(-1, 3), np.repeat(normals, 3, axis=0), np.arange(3 * len(faces)))


def heightfield(size, heights):
    """Surface of a height field: size (4,) as in MuJoCo [m], heights (nrow, ncol) from 0 to 1."""
    nrow, ncol = heights.shape
    x, y = np.linspace(-size[0], size[0], ncol), np.linspace(-size[1], size[1], nrow)
    gx, gy = np.meshgrid(x, y)
    slope_y, slope_x = np.gradient(heights * size[2], y, x)
    normals = np.stack([-slope_x, -slope_y, np.ones_like(gx)], -1).reshape(-1, 3)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    points = np.stack([gx, gy, heights * size[2]], -1).reshape(-1, 3)
    return made(points, normals, grid_triangles(nrow, ncol)[:, ::-1])
