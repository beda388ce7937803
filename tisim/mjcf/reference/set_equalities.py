"""What equality constraints take from the reference pose."""

import numpy as np

from tisim.enums import mjtEq, mjtObj

from .. import rotations
from ..numbers import MINVAL


def set_equalities(a, pose):
    """Fills in eq_data what follows from the reference pose: the second anchor of connect, the relative pose of weld.

    pose  kinematics.Pose in qpos0. A weld whose quaternion is zero keeps the bodies as they are there.
    """
    data, kind = a["eq_data"], a["eq_type"]
    by_body = a["eq_objtype"] == mjtObj.mjOBJ_BODY
    connect, weld = kind == mjtEq.mjEQ_CONNECT, (kind == mjtEq.mjEQ_WELD) & by_body
    data[connect & ~by_body] = 0
    given = weld & (data[:, 6:10] != 0).any(1)
    off = given & (np.abs(np.linalg.norm(data[:, 6:10], axis=1) - 1) > MINVAL)
    data[off, 6:10] = rotations.normalize(data[off, 6:10])
    # the anchor is given in the frame of one body and wanted in that of the other
    for rows, own, other in ((connect & by_body, "eq_obj1id", "eq_obj2id"), (weld & ~given, "eq_obj2id", "eq_obj1id")):
        rows = np.flatnonzero(rows)
        own, other = a[own][rows], a[other][rows]
        back = rotations.conjugate(pose.xquat[other])
        anchor = pose.xpos[own] + rotations.rotate(pose.xquat[own], data[rows, :3])
        data[rows, 3:6] = rotations.rotate(back, anchor - pose.xpos[other])
        turned = rows[kind[rows] == mjtEq.mjEQ_WELD]
        if len(turned):
            data[turned, 6:10] = rotations.mul(back, pose.xquat[own])
