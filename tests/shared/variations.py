"""Draws of each field that may differ between worlds, small enough for any model to stay what it is."""

import numpy as np

from tisim.data.varied import VARIABLE
from tisim.mjcf.elements import shapes

FIELDS = tuple(VARIABLE)
PLANE, HFIELD, MESH = 0, 1, 7


def draw(m, field):
    """A function of (generator, values of the model) that gives values of one world: Data.vary takes it.

    Frames are moved only where they move anyhow: static ones stand in a tree of boxes that all worlds share.
    """
    moving = np.asarray(m.body_treeid) >= 0
    moving = moving[np.asarray(m.geom_bodyid)] if field.startswith("geom") else moving
    if field in ("body_pos", "body_quat"):  # a free joint's frame is in qpos0, which does not vary
        moving = moving & (np.asarray(m.body_treeid)[np.asarray(m.body_parentid)] >= 0)
    if field.startswith("body_i"):  # where inertia is compiled as diagonal there is no room for more
        moving = moving & (np.asarray(m.body_simple) == 0)

    def factors(rng, x, low=0.8, high=1.25):
        return x * rng.uniform(low, high, (*x.shape[:-1], 1) if x.ndim > 1 else x.shape)

    def shifts(rng, x, size=0.01):
        return x + np.where(moving[:, None], rng.uniform(-size, size, x.shape), 0)

    def turned(rng, x):
        x = shifts(rng, x, 0.05)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    if field == "geom_size":  # of bodies with one geom, whose sizes are their own
        kind, body = np.asarray(m.geom_type), np.asarray(m.geom_bodyid)
        free = (kind != PLANE) & (kind != HFIELD) & (kind != MESH) & moving & (np.asarray(m.body_geomnum)[body] == 1)
        return lambda rng, x: x * np.where(free, rng.uniform(0.9, 1.1, len(x)), 1)[:, None]
    if field == "eq_data":
        return lambda rng, x: x * rng.uniform(0.99, 1.01, (len(x), 1))
    if field == "geom_solimp":
        return lambda rng, x: x * [*rng.uniform(0.85, 1, 2), *np.ones(3)]
    if field == "qpos_spring":  # of hinges and slides
        plain = np.zeros(m.nq, bool)
        plain[np.asarray(m.jnt_qposadr)[np.asarray(m.jnt_type) >= 2]] = True
        return lambda rng, x: x + np.where(plain, rng.uniform(-0.1, 0.1, x.shape), 0)
    if field in ("body_mass", "body_inertia", "dof_armature"):
        return lambda rng, x: x * rng.uniform(0.9, 1.1, (len(x), *(1,) * (x.ndim - 1)))
    if field.endswith("quat"):
        return turned
    return shifts if field.endswith("pos") else factors


def bound(m):
    """Bounds of geoms follow from their sizes."""
    own = ~np.isin(m.geom_type, (1, 7))
    kind, size = np.asarray(m.geom_type)[own], np.asarray(m.geom_size)[own]
    m.geom_aabb[own], m.geom_rbound[own] = shapes.bounding_box(kind, size), shapes.bounding_radius(kind, size)
