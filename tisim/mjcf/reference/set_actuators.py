"""Lengths and accelerations of actuators in the reference pose, and damping from damping ratios."""

import numpy as np

from ..numbers import MINVAL
from ..scene.items import first
from . import setconst
from .kinematics import Pose
from .solve_m import solve_m
from .transmission import transmission


def set_actuators(a, items, blocks, sparse, pose=None):
    """Adds actuator_length0 and actuator_acc0, and turns damping ratios of position actuators into damping.

    items   at which a stiffness below zero is an error, or None.
    blocks  of solve_m;  sparse  whether MuJoCo's Jacobians are;  pose  in qpos0, where joints may have moved there.
    Seed 004, "Actuators".
    """
    if pose is None:
        xpos, xquat = setconst.reference_pose(a)
        pose = Pose(a, a["qpos0"], xpos, xquat, *setconst.dof_axes(a, xpos, xquat))
        pose.sparse = sparse
    a["actuator_length0"], rows, cols, values = transmission(a, pose)
    nu = len(a["actuator_trntype"])
    solved, _, x = solve_m(blocks, rows, cols, values)
    a["actuator_acc0"] = np.sqrt(np.bincount(solved, x * x, nu)[:nu])

    gain, bias = a["actuator_gainprm"][:, 0], a["actuator_biasprm"]
    ratio = (gain == -bias[:, 1]) & (bias[:, 2] > 0)
    if items is not None:
        first(items, ratio & (gain < 0), "'dampratio' needs a 'kp' that is not negative")
    # the inertia that the actuator feels at each dof, by its moment there
    square = values * values
    felt = np.where(square > MINVAL, a["dof_M0"][cols] / np.where(square > MINVAL, square, 1.0), 0.0)
    mass = np.bincount(rows, felt, nu)[:nu]
    damping = 2 * bias[:, 2] * np.sqrt(np.where(ratio, gain * mass, 0.0))
    bias[ratio, 2] = -damping[ratio]
