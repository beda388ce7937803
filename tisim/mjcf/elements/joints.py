"""Joints: from merged attributes to model arrays, a whole column at a time."""

import numpy as np

from tisim.enums import mjtJoint

from .. import rotations
from ..numbers import EPS
from ..scene.items import apply_frames, column, first, limits, setting, user_data


def compile_joints(items, width):
    """(arrays jnt_* and their per-joint dof values, springdamper (n, 2)) of the joints. Angles become radians."""
    kind = column(items, "type", dtype=np.int32)
    free, ball = kind == mjtJoint.mjJNT_FREE, kind == mjtJoint.mjJNT_BALL
    hinge = kind == mjtJoint.mjJNT_HINGE
    spring_damper = column(items, "springdamper", 2)
    bad = (spring_damper != 0).any(1) & (spring_damper <= 0).any(1)
    first(items, bad, "both values of 'springdamper' must be positive")

    ranges, limited, force, force_limited = joint_limits(items, free, ball)
    pos, axis = places(items, free, ball)
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
    first(items, dofs["frictionloss"] < 0, "'frictionloss' cannot be negative: it would push")
    dofs |= dict(solref=column(items, "solreffriction", 2), solimp=column(items, "solimpfriction", 5))
    return arrays, dofs, ref, spring_ref, spring_damper


def joint_limits(items, free, ball):
    """(range, limited, actuatorfrcrange, actuatorfrclimited) of the joints, ranges as they are written."""
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
    return ranges, limited, force, force_limited


def places(items, free, ball):
    """(position, unit axis) of the joints in their bodies."""
    axis = column(items, "axis", 3)
    axis[free | ball] = [0, 0, 1]
    norm = np.linalg.norm(axis, axis=1, keepdims=True)
    first(items, norm[:, 0] < EPS, "'axis' is too short")
    axis /= norm
    pos = column(items, "pos", 3)
    rows = np.array(apply_frames(items, pos, None), int)
    rows = rows[~(free | ball)[rows]]
    axis[rows] = rotations.rotate(np.array([items[i].frame[1] for i in rows]).reshape(-1, 4), axis[rows])
    pos[free] = 0
    return pos, axis
