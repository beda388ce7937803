"""Geoms, joints and sites: from merged attributes to model arrays, a whole column at a time."""

import numpy as np

from tisim.enums import mjtGeom, mjtJoint, mjtSameFrame
from tisim.errors import each

from .. import rotations
from ..scene.items import TINY, apply_frames, column, first, limits, poses, setting, user_data
from . import geom_assets, shapes


def same_frame(pos, quat, ipos, iquat):
    """mjtSameFrame (n,) of frames in a body whose inertial frame is (ipos, iquat)."""

    def near(a, b):
        return np.abs(a - b).max(-1, initial=0) < 1e-6

    def turned(a, b):
        return near(a, b) | near(a, -b)

    upright = turned(quat, rotations.IDENTITY)
    along = turned(quat, iquat)
    choices = [upright & near(pos, 0.0), upright, along & near(pos, ipos), along]
    e = mjtSameFrame
    values = [e.mjSAMEFRAME_BODY, e.mjSAMEFRAME_BODYROT, e.mjSAMEFRAME_INERTIA, e.mjSAMEFRAME_INERTIAROT]
    return np.select(choices, [int(v) for v in values], int(e.mjSAMEFRAME_NONE)).astype(np.uint8)


def _from_to(items, kind, pos, quat, size):
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
    first(some, half < TINY, "the two points of 'fromto' are too close")
    pos[rows] = (ends[:, :3] + ends[:, 3:]) / 2
    quat[rows] = rotations.from_z(axis)
    three = np.isin(kind[rows], [mjtGeom.mjGEOM_ELLIPSOID, mjtGeom.mjGEOM_BOX])
    radius = size[rows, 0]
    size[rows, 1] = np.where(three, radius, half)
    size[rows, 2] = np.where(three, half, size[rows, 2])


def _check_sizes(items, kind, size):
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
    _from_to(items, kind, pos, quat, size)
    geom_assets.place(items, kind, dataid, of_mesh, assets, pos, quat, size)
    _check_sizes(items, kind, size)
    geom_assets.hfield_sizes(kind, dataid, assets, size)
    aabb, rbound = shapes.bounding_box(kind, size), shapes.bounding_radius(kind, size)
    geom_assets.bounds(kind, dataid, assets, aabb, rbound)
    first(items, (kind == mjtGeom.mjGEOM_PLANE) & (weldid[body] != 0), "a plane can only be in a static body")
    condim = column(items, "condim", dtype=np.int32)
    first(items, ~np.isin(condim, [1, 3, 4, 6]), "'condim' is 1, 3, 4 or 6")

    # mass and principal inertia
    shell = column(items, "shellinertia", dtype=bool)
    density = column(items, "density")
    extent = np.where(shell, shapes.area(kind, size), shapes.volume(kind, size))
    per_mass = np.where(shell[:, None], shapes.shell_inertia_per_mass(kind, size), shapes.inertia_per_mass(kind, size))
    geom_assets.extents(kind, dataid, assets, size, extent, per_mass)
    given = np.array([np.nan if item.attrib["mass"] is None else item.attrib["mass"] for item in items], float)
    mass = np.where(np.isnan(given), density * extent, np.where(extent > TINY, given, 0.0))
    group = column(items, "group", dtype=np.int32)
    used = infer[body] & in_inertia_group(items, group)
    bad = used & ((mass < 0) | (np.isnan(given) & (density < 0)))
    first(items, bad, "mass and density cannot be negative")
    inertia = mass[:, None] * per_mass

    fluid = np.zeros((n, 12))
    wet = column(items, "fluidshape", dtype=bool)
    if wet.any():
        fluid[wet, 0] = 1
        fluid[wet, 1:6] = column([item for item in items if item.attrib["fluidshape"]], "fluidcoef", 5)
        fluid[wet, 6:] = shapes.added_mass(kind[wet], size[wet])
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
        geom_gap=column(items, "gap"), geom_fluid=fluid, geom_user=user_data(items, width, "geom"),
        geom_rgba=column(items, "rgba", 4, np.float32),
    )  # fmt: skip
    return arrays, mass, inertia


def in_inertia_group(items, group):
    """(n,) bool: which geoms' groups count for the inertia of their bodies, by compiler/inertiagrouprange."""
    ranges = np.array([item.compiler["inertiagrouprange"] for item in items], int).reshape(-1, 2)
    return (group >= ranges[:, 0]) & (group <= ranges[:, 1])


def material_ids(items, materials, others=None):
    """(n,) ids of the materials of geoms or sites, -1 where there is none.

    others  dict row -> Item whose material counts where the row names none.
    """
    ids = {item.name: i for i, item in enumerate(materials)}

    def find(i):
        item = others[i] if others and i in others and not items[i].attrib["material"] else items[i]
        name = item.attrib["material"]
        return item.find(ids, name, "material") if name else -1

    return np.array(each(find, range(len(items))), np.int32)


def compile_sites(items, materials, width):
    """Arrays site_* of the sites."""
    kind = column(items, "type", dtype=np.int32)
    pos, quat = poses(items)
    size = column(items, "size", 3)
    allowed = [int(t) for t in shapes.SIZES]
    first(items, ~np.isin(kind, allowed), "a site is a sphere, capsule, ellipsoid, cylinder or box")
    _from_to(items, kind, pos, quat, size)
    _check_sizes(items, kind, size)
    apply_frames(items, pos, quat)
    return dict(
        site_type=kind, site_bodyid=np.array([item.body for item in items], np.int32),
        site_matid=material_ids(items, materials), site_group=column(items, "group", dtype=np.int32), site_size=size,
        site_pos=pos, site_quat=quat, site_user=user_data(items, width, "site"),
        site_rgba=column(items, "rgba", 4, np.float32),
    )  # fmt: skip


def compile_joints(items, width):
    """(arrays jnt_* and their per-joint dof values, springdamper (n, 2)) of the joints. Angles become radians."""
    kind = column(items, "type", dtype=np.int32)
    free, ball = kind == mjtJoint.mjJNT_FREE, kind == mjtJoint.mjJNT_BALL
    hinge = kind == mjtJoint.mjJNT_HINGE
    spring_damper = column(items, "springdamper", 2)
    bad = (spring_damper != 0).any(1) & (spring_damper <= 0).any(1)
    first(items, bad, "both values of 'springdamper' must be positive")

    ranges = column(items, "range", 2)
    flags = np.where(free, 0, column(items, "limited", dtype=np.int32))
    limited = limits(items, "limited", flags, ranges)
    first(items, (limited > 0) & ~ball & (ranges[:, 0] >= ranges[:, 1]), "range[0] must be smaller than range[1]")
    first(items, (limited > 0) & ball & (ranges[:, 0] != 0), "range[0] of a ball joint must be 0")
    force = column(items, "actuatorfrcrange", 2)
    flags = np.where(free | ball, 0, column(items, "actuatorfrclimited", dtype=np.int32))
    force_limited = limits(items, "actuatorfrclimited", flags, force)
    bad = (force_limited > 0) & (force[:, 0] >= force[:, 1])
    first(items, bad, "actuatorfrcrange[0] must be smaller than actuatorfrcrange[1]")

    axis = column(items, "axis", 3)
    axis[free | ball] = [0, 0, 1]
    norm = np.linalg.norm(axis, axis=1, keepdims=True)
    first(items, norm[:, 0] < TINY, "'axis' is too short")
    axis /= norm
    pos = column(items, "pos", 3)
    rows = np.array(apply_frames(items, pos, None), int)
    rows = rows[~(free | ball)[rows]]
    axis[rows] = rotations.rotate(np.array([items[i].frame[1] for i in rows]).reshape(-1, 4), axis[rows])
    pos[free] = 0

    ref, spring_ref = column(items, "ref"), column(items, "springref")
    degree = setting(items, "angle", bool)
    ranges[degree & (limited > 0) & (hinge | ball)] *= np.pi / 180
    ref[degree & hinge] *= np.pi / 180
    spring_ref[degree & hinge] *= np.pi / 180
    arrays = dict(
        jnt_type=kind, jnt_bodyid=np.array([item.body for item in items], np.int32),
        jnt_group=column(items, "group", dtype=np.int32), jnt_limited=limited, jnt_actfrclimited=force_limited,
        jnt_actgravcomp=column(items, "actuatorgravcomp", dtype=np.uint8), jnt_solref=column(items, "solreflimit", 2),
        jnt_solimp=column(items, "solimplimit", 5), jnt_pos=pos, jnt_axis=axis,
        jnt_stiffness=column(items, "stiffness"), jnt_range=ranges, jnt_actfrcrange=force,
        jnt_margin=column(items, "margin"), jnt_user=user_data(items, width, "jnt"),
    )  # fmt: skip
    dofs = {name: column(items, name) for name in ("armature", "damping", "frictionloss")}
    dofs |= dict(solref=column(items, "solreffriction", 2), solimp=column(items, "solimpfriction", 5))
    return arrays, dofs, ref, spring_ref, spring_damper
