"""Volume, inertia, bounds and added mass of the geom shapes, many geoms at once.

`size` is (n, 3) as in `geom_size`: half-lengths in the geom's frame [m].
"""

import numpy as np

from tisim.enums import mjtGeom

PLANE, SPHERE, CAPSULE = mjtGeom.mjGEOM_PLANE, mjtGeom.mjGEOM_SPHERE, mjtGeom.mjGEOM_CAPSULE
ELLIPSOID, CYLINDER, BOX = mjtGeom.mjGEOM_ELLIPSOID, mjtGeom.mjGEOM_CYLINDER, mjtGeom.mjGEOM_BOX

# how many sizes a type needs, each positive
SIZES = {SPHERE: 1, CAPSULE: 2, ELLIPSOID: 3, CYLINDER: 2, BOX: 3}

# mjMAXVAL: what an unbounded direction extends to
UNBOUNDED = 1e10


def by_type(kind, size, functions, width):
    """Evaluates functions[type](a, b, c) on the rows of each type; other types get zeros. Returns (n, width)."""
    out = np.zeros((len(kind), width))
    for geom_type, function in functions.items():
        rows = kind == geom_type
        if rows.any():
            out[rows] = np.stack(np.broadcast_arrays(*function(*size[rows].T)), -1)
    return out


def volume(kind, size):
    """(n,) volumes [m^3]."""
    pi = np.pi
    return by_type(kind, size, {
        SPHERE: lambda a, b, c: (4 * pi * a**3 / 3,),
        CAPSULE: lambda a, b, c: (pi * (2 * a * a * b + 4 * a**3 / 3),),
        ELLIPSOID: lambda a, b, c: (4 * pi * a * b * c / 3,),
        CYLINDER: lambda a, b, c: (2 * pi * a * a * b,),
        BOX: lambda a, b, c: (8 * a * b * c,),
    }, 1)[:, 0]  # fmt: skip


def area(kind, size):
    """(n,) surface areas [m^2]; the ellipsoid's by Thomsen's approximation, exponent 1.6075 (error below 1.1%)."""
    pi, p = np.pi, 1.6075
    return by_type(kind, size, {
        SPHERE: lambda a, b, c: (4 * pi * a * a,),
        CAPSULE: lambda a, b, c: (4 * pi * a * (a + b),),
        ELLIPSOID: lambda a, b, c: (4 * pi * (((a * b)**p + (b * c)**p + (c * a)**p) / 3)**(1 / p),),
        CYLINDER: lambda a, b, c: (2 * pi * a * (a + 2 * b),),
        BOX: lambda a, b, c: (8 * (a * b + b * c + c * a),),
    }, 1)[:, 0]  # fmt: skip


def inertia_per_mass(kind, size):
    """(n, 3) principal inertias of solids of unit mass [m^2]."""

    def capsule(a, b, c):
        ball = 2 * a / (2 * a + 3 * b)  # share of the two half balls in the mass
        side = (1 - ball) * (a * a / 4 + b * b / 3) + ball * (2 * a * a / 5 + b * b + 3 * a * b / 4)
        return side, side, (1 - ball) * a * a / 2 + ball * 2 * a * a / 5

    def sphere(a, b, c):
        return (2 * a * a / 5,) * 3

    def cylinder(a, b, c):
        side = a * a / 4 + b * b / 3
        return side, side, a * a / 2

    return by_type(kind, size, {
        SPHERE: sphere,
        CAPSULE: capsule,
        ELLIPSOID: lambda a, b, c: ((b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5),
        CYLINDER: cylinder,
        BOX: lambda a, b, c: ((b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3),
    }, 3)  # fmt: skip


def shell_inertia_per_mass(kind, size):
    """(n, 3) principal inertias of thin closed shells of unit mass [m^2]."""

    def sphere(a, b, c):
        return (2 * a * a / 3,) * 3

    def capsule(a, b, c):
        ball = a / (a + b)
        side = (1 - ball) * (a * a / 2 + b * b / 3) + ball * (2 * a * a / 3 + b * b + a * b)
        return side, side, (1 - ball) * a * a + ball * 2 * a * a / 3

    def cylinder(a, b, c):
        lids = a / (a + 2 * b)
        side = (1 - lids) * (a * a / 2 + b * b / 3) + lids * (a * a / 4 + b * b)
        return side, side, (1 - lids) * a * a + lids * a * a / 2

    def ellipsoid(a, b, c):
        # a solid grown by 1e-6 minus the solid itself, as MuJoCo does; the digits lost are part of its answer
        eps = 1e-6
        grown = (a + eps, b + eps, c + eps)
        inner, outer = 4 * np.pi * a * b * c / 3, 4 * np.pi * grown[0] * grown[1] * grown[2] / 3
        density = 1 / (outer - inner)

        def solid(mass, x, y, z):
            return mass * (y * y + z * z) / 5, mass * (x * x + z * z) / 5, mass * (x * x + y * y) / 5

        large, small = solid(outer * density, *grown), solid(inner * density, a, b, c)
        return tuple(x - y for x, y in zip(large, small))

    def box(a, b, c):
        total = a * b + b * c + c * a
        z, x, y = a * b / total, b * c / total, c * a / total  # shares of the faces normal to each axis
        aa, bb, cc = a * a, b * b, c * c
        return (
            z * (cc + bb / 3) + y * (bb + cc / 3) + x * (bb + cc) / 3,
            z * (cc + aa / 3) + x * (aa + cc / 3) + y * (aa + cc) / 3,
            x * (aa + bb / 3) + y * (bb + aa / 3) + z * (aa + bb) / 3,
        )

    functions = {SPHERE: sphere, CAPSULE: capsule, ELLIPSOID: ellipsoid, CYLINDER: cylinder, BOX: box}
    return by_type(kind, size, functions, 3)


def bounding_radius(kind, size):
    """(n,) radii of bounding spheres about the geom's centre [m]; 0 for a plane, which has none."""
    return by_type(kind, size, {
        SPHERE: lambda a, b, c: (a,),
        CAPSULE: lambda a, b, c: (a + b,),
        ELLIPSOID: lambda a, b, c: (np.maximum(np.maximum(a, b), c),),
        CYLINDER: lambda a, b, c: (np.sqrt(a * a + b * b),),
        BOX: lambda a, b, c: (np.sqrt(a * a + b * b + c * c),),
    }, 1)[:, 0]  # fmt: skip


def bounding_box(kind, size):
    """(n, 6) boxes in the geom's frame: centre, then half-lengths [m]."""
    half = by_type(kind, size, {
        PLANE: lambda a, b, c: (UNBOUNDED, UNBOUNDED, np.full_like(a, UNBOUNDED / 2)),
        SPHERE: lambda a, b, c: (a, a, a),
        CAPSULE: lambda a, b, c: (a, a, a + b),
        ELLIPSOID: lambda a, b, c: (a, b, c),
        CYLINDER: lambda a, b, c: (a, a, b),
        BOX: lambda a, b, c: (a, b, c),
    }, 3)  # fmt: skip
    out = np.concatenate([np.zeros_like(half), half], 1)
    out[kind == PLANE, 2] = -UNBOUNDED / 2
    return out


def added_mass(kind, size):
    """(n, 6) virtual mass and virtual inertia of the equivalent ellipsoid in a fluid of unit density.

    Tuckerman 1926, "Inertia factors of ellipsoids for use in airship design", with the kappa integrals by the 15-point
    Gauss-Kronrod rule MuJoCo uses, after the substitution l = x^3 / (1 - x)^2.
    """
    semi = by_type(kind, size, {
        SPHERE: lambda a, b, c: (a, a, a),
        CAPSULE: lambda a, b, c: (a, a, a + b),
        ELLIPSOID: lambda a, b, c: (a, b, c),
        CYLINDER: lambda a, b, c: (a, a, b),
        BOX: lambda a, b, c: (a, b, c),
        PLANE: lambda a, b, c: (a, b, c),
        mjtGeom.mjGEOM_MESH: lambda a, b, c: (a, b, c),
        mjtGeom.mjGEOM_HFIELD: lambda a, b, c: (a, b, c),
    }, 3)  # fmt: skip
    out = np.zeros((len(kind), 6))
    ok = (semi > 0).all(1)
    x, y, z = semi[ok].T
    volume = 4 / 3 * np.pi * x * y * z
    kx, ky, kz = _kappa(x, y, z), _kappa(y, z, x), _kappa(z, x, y)
    eps = 1e-14

    def factor(p, q, kp, kq):
        difference, total = p * p - q * q, p * p + q * q
        return difference**2 * np.abs(kq - kp) / np.maximum(eps, np.abs(2 * difference + total * (kp - kq)))

    mass = [volume * k / np.maximum(eps, 2 - k) for k in (kx, ky, kz)]
    inertia = [volume / 5 * f for f in (factor(y, z, ky, kz), factor(z, x, kz, kx), factor(x, y, kx, ky))]
    out[ok] = np.stack(mass + inertia, -1)
    return out


# the 15-point Gauss-Kronrod rule on [0, 1], lower half, in the eight digits the reference carries
_KRONROD_X = np.array([0.00427231, 0.02544604, 0.06756779, 0.12923441, 0.20695638, 0.29707742, 0.39610752, 0.5])
_KRONROD_W = np.array([0.01146766, 0.03154605, 0.05239501, 0.07032663, 0.08450236, 0.09517529, 0.10221647, 0.10474107])


def _kappa(x, y, z):
    """x y z * integral over l from 0 of 1 / sqrt((x^2 + l)^3 (y^2 + l) (z^2 + l)), as MuJoCo evaluates it."""
    node = np.concatenate([_KRONROD_X, 1 - _KRONROD_X[-2::-1]])
    weight = np.concatenate([_KRONROD_W, _KRONROD_W[-2::-1]])
    slope = node**2 * (3 - node) / (1 - node) ** 3
    scale = (x**3 * y * z) ** 0.4
    length = scale[:, None] * node**3 / (1 - node) ** 2
    a, b, c = (1 + length / (d * d)[:, None] for d in (x, y, z))
    return np.sum(scale[:, None] * slope * weight / (a * np.sqrt(a * b * c)), 1) / (x * x)
