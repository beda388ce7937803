"""Lengths and weights of tendons in the reference pose."""

import numpy as np

from . import kinematics
from .solve_m import solve_m
from .tendon_path import tendon_moment


def set_tendons(a, moment, blocks):
    """Adds tendon_length0 and tendon_invweight0, and fills in spring lengths that were not given.

    moment  tendon_moment in qpos0;  blocks  of solve_m.
    """
    a["tendon_length0"], rows, cols, values = moment
    number = len(a["tendon_length0"])
    solved, dof, x = solve_m(blocks, rows, cols, values)
    # J M^-1 J': of the solution only what stands where J stands
    size = np.int64(max(len(a["dof_bodyid"]), 1))
    key, wanted = solved * size + dof, rows * size + cols
    order = np.argsort(key)
    place = order[np.searchsorted(key, wanted, sorter=order)] if len(key) else order
    a["tendon_invweight0"] = np.bincount(rows, values * x[place], number).astype(float)
    unsaid = (a["tendon_lengthspring"] == -1).all(1)
    if unsaid.any():
        at_rest = tendon_moment(a, kinematics.pose(a, a["qpos_spring"]))[0]
        a["tendon_lengthspring"][unsaid] = at_rest[unsaid, None]
