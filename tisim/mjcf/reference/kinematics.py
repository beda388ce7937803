"""The pose of a model in any configuration, and the sparse Jacobians of points in it, in NumPy.

Seed 000, "Forward kinematics"; the order of operations is MuJoCo's.
"""

import numpy as np

from tisim.enums import mjtSameFrame

from .. import rotations
from ..tree import BALL, FREE, HINGE, SLIDE, levels


class Pose:
    """Where bodies and dof axes stand, world frame.

    qpos (nq,);  xpos (nbody, 3) [m];  xquat (nbody, 4);  axis, anchor (nv, 3) and angular (nv,) of the dofs, as
    setconst.dof_axes gives them in qpos0 and pose() anywhere;  sparse  whether MuJoCo's Jacobians are (mj_isSparse);
    tendons  what tendon_moment gives here, where somebody has it already.
    """

    sparse, tendons = False, None

    def __init__(self, a, qpos, xpos, xquat, axis, anchor, angular):
        self.qpos, self.xpos, self.xquat = qpos, xpos, xquat
        self.axis, self.anchor, self.angular = axis, anchor, angular
        self._a, self._sites = a, None

    @property
    def xmat(self):
        """(nbody, 3, 3) orientations of the bodies."""
        return rotations.matrix(self.xquat)

    @property
    def sites(self):
        """(pos (nsite, 3), quat (nsite, 4)) of the sites, world frame."""
        if self._sites is None:
            self._sites = self.place("site", slice(None))
        return self._sites

    def points(self, ids):
        """Positions of these sites, an array of any shape, world frame."""
        if self._sites is not None:
            return self._sites[0][ids]
        return self.place("site", ids.ravel())[0].reshape(*ids.shape, 3)

    def place(self, kind, ids):
        """(pos (n, 3), quat (n, 4)) of some sites or geoms, world frame.

        What is flagged as coinciding with a frame of its body is put right there, as MuJoCo's kinematics do; the flags
        allow for 1e-6.
        """
        a, e = self._a, mjtSameFrame
        body, flag = a[f"{kind}_bodyid"][ids], a[f"{kind}_sameframe"][ids][:, None]
        xpos, xquat = self.xpos[body], self.xquat[body]
        pos, quat = rotations.into_parent(xpos, xquat, a[f"{kind}_pos"][ids], a[f"{kind}_quat"][ids])
        if not flag.any():
            return pos, quat
        pos = np.where(flag == e.mjSAMEFRAME_BODY, xpos, pos)
        quat = np.where((flag == e.mjSAMEFRAME_BODY) | (flag == e.mjSAMEFRAME_BODYROT), xquat, quat)
        rows = np.flatnonzero((flag == e.mjSAMEFRAME_INERTIA) | (flag == e.mjSAMEFRAME_INERTIAROT))
        if len(rows):
            own = body[rows]
            place = xpos[rows], xquat[rows], a["body_ipos"][own], a["body_iquat"][own]
            ipos, quat[rows] = rotations.into_parent(*place)
            pos[rows] = np.where(flag[rows] == e.mjSAMEFRAME_INERTIA, ipos, pos[rows])
        return pos, quat

    def frames(self, kind, ids):
        """(pos (n, 3), mat (n, 3, 3)) of some sites or geoms, world frame."""
        pos, quat = self.place(kind, ids)
        return pos, rotations.matrix(rotations.normalize(quat))

    def jacobian(self, index, dof, point):
        """(linear, angular) velocity (k, 3) that each dof gives to a point; index picks the point of each entry."""
        spin, axis = self.angular[dof][:, None], self.axis[dof]
        linear = np.where(spin, rotations.cross(axis, point[index] - self.anchor[dof]), axis)
        return linear, np.where(spin, axis, 0.0)


def chains(a, body):
    """(index, dof): the dofs that move each body of a list, as pairs of a place in the list and a dof."""
    weld = a["body_weldid"][body]
    dof = np.where(weld > 0, a["body_dofadr"][weld] + a["body_dofnum"][weld] - 1, -1)
    index = np.flatnonzero(dof >= 0)
    dof = dof[index]
    indices, dofs = [index], [dof]
    while len(dof):
        dof = a["dof_parentid"][dof]
        index, dof = index[dof >= 0], dof[dof >= 0]
        indices.append(index)
        dofs.append(dof)
    return np.concatenate(indices), np.concatenate(dofs)


def merged(rows, cols, values, ncol):
    """Entries sorted by row and column, those of the same place added."""
    key, place = np.unique(rows * np.int64(max(ncol, 1)) + cols, return_inverse=True)
    return key // max(ncol, 1), key % max(ncol, 1), np.bincount(place, values, len(key))


def pose(a, qpos, order=None):
    """Pose in the configuration qpos (nq,): places of bodies, axes and anchors of dofs, world frame.

    order  tree.levels of the bodies, for who calls this often.
    """
    xpos, xquat = a["body_pos"].copy(), rotations.normalize(a["body_quat"])
    xpos[0], xquat[0] = 0, rotations.IDENTITY
    axis, anchor = np.zeros((len(a["jnt_type"]), 3)), np.zeros((len(a["jnt_type"]), 3))
    for ids in (order or levels(a["body_parentid"]))[1:]:
        p = a["body_parentid"][ids]
        xpos[ids], xquat[ids] = rotations.into_parent(xpos[p], xquat[p], xpos[ids], xquat[ids])
        number = a["body_jntnum"][ids]
        for i in range(int(number.max())):  # one joint of each body after the other
            body = ids[number > i]
            joint = a["body_jntadr"][body] + i
            _move(a, qpos, body, joint, xpos, xquat, axis, anchor)
        xquat[ids] = rotations.normalize(xquat[ids])

    joint, body = a["dof_jntid"], a["dof_bodyid"]
    k = np.arange(len(joint)) - a["jnt_dofadr"][joint]
    kind = a["jnt_type"][joint]
    turns = (kind == BALL) | ((kind == FREE) & (k >= 3))
    frame = rotations.matrix(xquat[body])[np.arange(len(k)), :, k % 3]
    shifts = (kind == FREE) & (k < 3)
    dof_axis = np.where(turns[:, None], frame, np.where(shifts[:, None], np.eye(3)[k % 3], axis[joint]))
    return Pose(a, qpos, xpos, xquat, dof_axis, anchor[joint], turns | (kind == HINGE))


def _move(a, qpos, body, joint, xpos, xquat, axis, anchor):
    """Applies one joint (n,) to each body (n,), in place."""
    kind, adr = a["jnt_type"][joint], a["jnt_qposadr"][joint]
    free = kind == FREE
    if free.any():
        place = adr[free, None]
        xpos[body[free]] = qpos[place + np.arange(3)]
        xquat[body[free]] = rotations.normalize(qpos[place + np.arange(3, 7)])
    anchor[joint] = xpos[body] + rotations.rotate(xquat[body], a["jnt_pos"][joint])
    axis[joint] = rotations.rotate(xquat[body], a["jnt_axis"][joint])
    shift = np.where(kind >= SLIDE, qpos[adr] - a["qpos0"][adr], 0.0)
    slide = kind == SLIDE
    xpos[body[slide]] += axis[joint[slide]] * shift[slide, None]
    turns = np.flatnonzero((kind == HINGE) | (kind == BALL))
    if len(turns):
        b, j = body[turns], joint[turns]
        turn = rotations.from_axis_angle(a["jnt_axis"][j], shift[turns])
        ball = np.flatnonzero(kind[turns] == BALL)
        turn[ball] = rotations.normalize(qpos[adr[turns[ball], None] + np.arange(4)])
        xquat[b] = rotations.mul(xquat[b], turn)
        xpos[b] = anchor[j] - rotations.rotate(xquat[b], a["jnt_pos"][j])
