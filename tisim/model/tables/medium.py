"""Tables of what the medium acts on: boxes of the bodies' inertia, half axes of geoms."""

import numpy as np

from tisim.enums import mjtGeom

from .declare import Table, declared

MINVAL = 1e-15  # mjMINVAL


def medium_geoms(m):
    """(nbody,) geoms that the medium acts on, where some of a body's have a fluid shape; 0: on the box of the body's
    inertia; -1: on nothing, since the body has no mass.
    """
    adr, num = np.asarray(m.body_geomadr), np.asarray(m.body_geomnum)
    shaped = np.concatenate([[0], np.cumsum(np.asarray(m.geom_fluid).reshape(-1, 12)[:, 0] > 0)])
    some = shaped[np.maximum(adr, 0) + num] > shaped[np.maximum(adr, 0)]
    return np.where(np.asarray(m.body_mass) < MINVAL, -1, np.where(some, num, 0))


def medium_box(m):
    """(nbody, 3) edges of the box that has a body's mass and inertia."""
    inertia, mass = np.asarray(m.body_inertia), np.asarray(m.body_mass)
    others = inertia.sum(1, keepdims=True) - 2 * inertia
    return np.sqrt(np.maximum(others, MINVAL) / np.maximum(mass, MINVAL)[:, None] * 6)


def geom_semiaxes(m):
    """(ngeom, 3) half axes of the ellipsoid that stands for a geom."""
    kind, size = np.asarray(m.geom_type), np.array(m.geom_size)
    sphere, capsule = kind == mjtGeom.mjGEOM_SPHERE, kind == mjtGeom.mjGEOM_CAPSULE
    cylinder = kind == mjtGeom.mjGEOM_CYLINDER
    length = size[:, 1] + np.where(capsule, size[:, 0], 0)
    size[:, 2] = np.where(capsule | cylinder, length, np.where(sphere, size[:, 0], size[:, 2]))
    size[:, 1] = np.where(capsule | cylinder | sphere, size[:, 0], size[:, 1])
    return size


# for device_model.DERIVED
TABLES = declared(
    Table("medium_geoms", "i", ("nbody",), medium_geoms, ("geom_fluid", "body_mass"),
          "geoms of the body that the medium acts on, 0: on the box of its inertia, -1: on nothing"),
    Table("medium_box", "f", ("nbody", 3), medium_box, ("body_inertia", "body_mass"),
          "edges of the box of a body's inertia [m]"),
    Table("geom_semiaxes", "f", ("ngeom", 3), geom_semiaxes, ("geom_type", "geom_size"),
          "half axes of the ellipsoid that stands for a geom [m]"),
)  # fmt: skip
