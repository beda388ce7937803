"""Volume, centre of mass and inertia of triangle meshes, by MuJoCo's formulas and in MuJoCo's order of summing.

The order matters: a regular mesh has almost equal principal inertias, and rounding decides about its axes. Sources:
MuJoCo's user_mesh.cc (Apache-2.0); products of inertia of a tetrahedron as in Blow & Binstock 2004, "How to find the
inertia tensor (or other mass properties) of a 3D solid body represented by a triangle mesh".
"""

import numpy as np

from ..numbers import MINVAL
from ..rotations import cross


def total(values):
    """Sum over the first axis, one after the other, where np.sum would add in pairs."""
    return np.add.accumulate(values, axis=0)[-1] if len(values) else np.zeros(values.shape[1:])


def dot(a, b):
    """Products (n,) of rows of three, summed from the left."""
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]


def triangles(corner):
    """(area (f,), normal (f, 3), centre (f, 3)) of triangles, corner (3, f, 3); without area below mjMINVAL."""
    a, b, c = corner
    normal = cross(b - a, c - a)
    length = np.sqrt(dot(normal, normal))
    small = length < MINVAL
    unit = normal / np.where(small, 1.0, length)[:, None]
    return np.where(small, 0.0, 0.5 * length), unit, (a + b + c) / 3


def face_centroid(vert, face):
    """(area, centre (3,)) of a surface."""
    area, _, centre = triangles(np.moveaxis(vert[face], 1, 0))
    whole = total(area)
    at = total(area[:, None] * centre)
    return whole, at / whole if whole >= MINVAL else at


def extent(vert, face, centroid, kind):
    """(volume or area, centre of mass (3,)) of a mesh.

    kind  "shell": area; "legacy": the volumes of all pyramids over `centroid` count as positive; else signed volumes.
    """
    area, normal, centre = triangles(np.moveaxis(vert[face], 1, 0))
    size = area
    if kind != "shell":
        size = dot(centre - centroid, normal) * area / 3
        if kind == "legacy":
            size = np.abs(size)
    whole = total(size)
    com = total(size[:, None] * (centre * 3.0 / 4.0 + centroid / 4.0))
    return whole, com / whole if whole >= MINVAL else com


def inertia(vert, face, com, kind):
    """(volume or area, full inertia (3, 3) of unit density) about the centre of mass."""
    corner = np.moveaxis((vert - com)[face], 1, 0)
    area, normal, centre = triangles(corner)
    size, share = area, 12
    if kind != "shell":
        size, share = dot(centre, normal) * area / 3, 20
        if kind == "legacy":
            size = np.abs(size)
    d, e, f = corner
    products = []
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        same = 2 * (d[:, i] * d[:, j] + e[:, i] * e[:, j] + f[:, i] * f[:, j])
        mixed = same + d[:, i] * e[:, j] + d[:, j] * e[:, i] + d[:, i] * f[:, j] + d[:, j] * f[:, i]
        products.append(size / share * (mixed + e[:, i] * f[:, j] + e[:, j] * f[:, i]))
    xx, yy, zz, xy, xz, yz = total(np.stack(products, 1))
    full = np.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])
    return total(size), full
