"""Geoms: from merged attributes to model arrays, a whole column at a time."""

import numpy as np

from tisim.enums import mjtGeom

from .. import rotations
from ..numbers import EPS
from ..scene.items import apply_frames, column, first, poses, user_data
from . import geom_assets, shapes
from .materials import material_ids


def from_to(items, kind, pos, quat, size):
    """Shapes given by their two end points, in place."""
    rows = [i for i, item in enumerate(items) if item.attrib["fromto"] is not None]
    if not rows:
        return
    some = [items[i] for i in rows]
    allowed = [mjtGeom.mjGEOM_CAPSULE, mjtGeom.mjGEOM_CYLINDER, mjtGeom.mjGEOM_ELLIPSOID, mjtGeom.mjGEOM_BOX]
    first(some, ~np.isin(kind[rows], allowed), "'fromto' needs a capsule, cylinder, ellipsoid or box")
    first(some, np.any(pos[rows] != 0, 1), "'pos' and 'fromto' exclude each other")
    ends = np.array([item.attrib["fromto"] for item in some])
    axis = ends[:, :3] - ends[:, 3:]
    half = np.linalg.norm(axis, axis=1) / 2
    first(some, half < EPS, "the two points of 'fromto' are too close")
    pos[rows] = (ends[:, :3] + ends[:, 3:]) / 2
    quat[rows] = rotations.from_z(axis)
    three = np.isin(kind[rows], [mjtGeom.mjGEOM_ELLIPSOID, mjtGeom.mjGEOM_BOX])
    radius = size[rows, 0]
    size[rows, 1] = np.where(three, radius, half)
    size[rows, 2] = np.where(three, half, size[rows, 2])


def check_sizes(items, kind, size):
    """MjcfError where a shape of geoms or sites lacks a size."""
    plane = kind == mjtGeom.mjGEOM_PLANE
    first(items, plane & (size[:, 2] <= 0), "the third size of a plane must be positive")
    for geom_type, number in shapes.SIZES.items():
        bad = (kind == geom_type) & ~(size[:, :number] > 0).all(1)
        name = geom_type.name.removeprefix("mjGEOM_").lower()
        first(items, bad, f"a {name} needs {number} positive size{'s' * (number > 1)}")


def compile_geoms(items, assets, materials, width, weldid, infer):
    """(arrays geom_*, mass (n,), inertia (n, 3)) of the geoms.

    assets  geom_assets.Assets;  weldid  (nbody,) says which bodies are static;  infer  (nbody,) which take their
    inertia from geoms. Masses follow MuJoCo's rule: `mass` if given, else density times volume, or times area for a
    shell.
    """
    n = len(items)
    kind = column(items, "type", dtype=np.int32)
    body = np.array([item.body for item in items], np.int32)
    dataid, of_mesh = geom_assets.link(items, kind, assets)
    pos, quat = poses(items)
    size = column(items, "size", 3)
    from_to(items, kind, pos, quat, size)
    geom_assets.place(items, kind, dataid, of_mesh, assets, pos, quat, size)
    check_sizes(items, kind, size)
    geom_assets.hfield_sizes(kind, dataid, assets, size)
    aabb, rbound = shapes.bounding_box(kind, size), shapes.bounding_radius(kind, size)
    geom_assets.bounds(kind, dataid, assets, aabb, rbound)
    first(items, (kind == mjtGeom.mjGEOM_PLANE) & (weldid[body] != 0), "a plane can only be in a static body")
    condim = column(items, "condim", dtype=np.int32)
    first(items, ~np.isin(condim, [1, 3, 4, 6]), "'condim' is 1, 3, 4 or 6")

    group = column(items, "group", dtype=np.int32)
    used = infer[body] & in_inertia_group(items, group)
    mass, inertia = masses(items, kind, size, dataid, assets, used)
    apply_frames(items, pos, quat)

    arrays = dict(
        geom_type=kind, geom_contype=column(items, "contype", dtype=np.int32),
        geom_conaffinity=column(items, "conaffinity", dtype=np.int32), geom_condim=condim, geom_bodyid=body,
        geom_dataid=dataid,
        geom_matid=material_ids(items, materials, geom_assets.mesh_materials(of_mesh, dataid, assets)),
        geom_group=group, geom_priority=column(items, "priority", dtype=np.int32),
        geom_plugin=np.full(n, -1, np.int32), geom_solmix=column(items, "solmix"),
        geom_solref=column(items, "solref", 2), geom_solimp=column(items, "solimp", 5), geom_size=size,
        geom_aabb=aabb, geom_rbound=rbound, geom_pos=pos, geom_quat=quat,
        geom_friction=column(items, "friction", 3), geom_margin=column(items, "margin"),
        geom_gap=column(items, "gap"), geom_fluid=fluid_coefficients(items, kind, size),
        geom_user=user_data(items, width, "geom"), geom_rgba=column(items, "rgba", 4, np.float32),
    )  # fmt: skip
    return arrays, mass, inertia


def masses(items, kind, size, dataid, assets, used):
    """(mass (n,), principal inertia (n, 3)) of the geoms; used  (n,) bool: a body has them from its geom."""
    shell = column(items, "shellinertia", dtype=bool)
    density = column(items, "density")
    solid = np.where(kind == mjtGeom.mjGEOM_HFIELD, mjtGeom.mjGEOM_BOX, kind)  # as large as its mean height
    extent = np.where(shell, shapes.area(solid, size), shapes.volume(solid, size))
    hollow, full = shapes.shell_inertia_per_mass(solid, size), shapes.inertia_per_mass(solid, size)
    per_mass = np.where(shell[:, None], hollow, full)
    geom_assets.extents(kind, dataid, assets, extent, per_mass)
    given = np.array([np.nan if item.attrib["mass"] is None else item.attrib["mass"] for item in items], float)
    mass = np.where(np.isnan(given), density * extent, np.where(extent > EPS, given, 0.0))
    bad = used & ((mass < 0) | (np.isnan(given) & (density < 0)))
    first(items, bad, "mass and density cannot be negative")
    return mass, mass[:, None] * per_mass


def fluid_coefficients(items, kind, size):
    """(n, 12) geom_fluid: of geoms with a fluidshape whether, their coefficients and added mass."""
    fluid = np.zeros((len(items), 12))
    wet = column(items, "fluidshape", dtype=bool)
    if wet.any():
        fluid[wet, 0] = 1
        fluid[wet, 1:6] = column([item for item in items if item.attrib["fluidshape"]], "fluidcoef", 5)
        fluid[wet, 6:] = shapes.added_mass(kind[wet], size[wet])
    return fluid


def in_inertia_group(items, group):
    """(n,) bool: which geoms' groups count for the inertia of their bodies, by compiler/inertiagrouprange."""
    ranges = np.array([item.compiler["inertiagrouprange"] for item in items], int).reshape(-1, 2)
    return (group >= ranges[:, 0]) & (group <= ranges[:, 1])
