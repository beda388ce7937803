"""The pose of many copies of a few trees by matrices: a fraction of the calls that kinematics.pose takes.

For simulations of a thousand steps (lengthrange.py), where all that does not depend on the pose is found once: the
order of the bodies, what turns about what, which joints stand first in their body. Seed 000, "Forward kinematics".
"""

import numpy as np

from tisim.enums import mjtSameFrame

from .. import rotations
from ..reference.kinematics import Pose
from ..tree import BALL, FREE, HINGE, SLIDE


class MatrixPose(Pose):
    """A Pose with xmat (nbody, 3, 3) in place of xquat: for tendons and for what asks for no quaternion."""

    def __init__(self, a, qpos, xpos, xmat, axis, anchor, angular):
        super().__init__(a, qpos, xpos, None, axis, anchor, angular)
        self._xmat = xmat

    xmat = property(lambda self: self._xmat)

    def points(self, ids):
        """Positions of these sites, an array of any shape, world frame."""
        return self.frames("site", ids)[0]

    def frames(self, kind, ids):
        """(pos (..., 3), mat (..., 3, 3)) of some sites or geoms, world frame."""
        a = self._a
        body, mat = a[f"{kind}_bodyid"][ids], self._xmat
        pos = self.xpos[body] + turned(mat[body], a[f"{kind}_pos"][ids])
        return pos, mat[body] @ a["geom_mat"][ids] if kind == "geom" else None


def turned(mat, v):
    """Vectors (..., 3) turned by matrices (..., 3, 3)."""
    return (mat @ v[..., None])[..., 0]


def settled(a):
    """The model arrays with the poses of sites and geoms as their flags mean them, and matrices beside quaternions."""
    a, e = dict(a), mjtSameFrame
    for kind in ("site", "geom"):
        flag, body = a[f"{kind}_sameframe"][:, None], a[f"{kind}_bodyid"]
        pos, quat = a[f"{kind}_pos"], a[f"{kind}_quat"]
        pos = np.where(flag == e.mjSAMEFRAME_BODY, 0.0, pos)
        pos = np.where(flag == e.mjSAMEFRAME_INERTIA, a["body_ipos"][body], pos)
        quat = np.where((flag == e.mjSAMEFRAME_BODY) | (flag == e.mjSAMEFRAME_BODYROT), rotations.IDENTITY, quat)
        inertial = (flag == e.mjSAMEFRAME_INERTIA) | (flag == e.mjSAMEFRAME_INERTIAROT)
        a[f"{kind}_pos"], quat = pos, np.where(inertial, a["body_iquat"][body], quat)
        a[f"{kind}_mat"] = rotations.matrix(rotations.normalize(quat))
    return a


class Posing:
    """Poses of a model of static bodies, in places that do not change, and moving ones.

    a  dict of model arrays, `settled`;  order  tree.levels of its bodies;  still  Pose, of which the places of the
    static bodies are taken;  nfixed  how many these are.
    """

    def __init__(self, a, order, still, nfixed):
        self.a, self._nfixed = a, nfixed
        self._pos, self._mat = a["body_pos"], rotations.matrix(rotations.normalize(a["body_quat"]))
        self._xpos, self._xmat = still.xpos.copy(), rotations.matrix(still.xquat)
        parent = a["body_parentid"]
        moving = [ids[ids >= nfixed] for ids in order]
        self._levels = [(ids, parent[ids]) for ids in moving if len(ids)]
        number = a["body_jntnum"]
        self._ranks = [
            _Rank(a, ids := np.flatnonzero(number > i), a["body_jntadr"][ids] + i)
            for i in range(int(number.max(initial=0)))
        ]
        self._of_joint = parent[a["jnt_bodyid"]]
        self._dofs()

    def _dofs(self):
        """Which dofs are axes of joints, columns of their body's matrix, or axes of the world."""
        a = self.a
        self._joint, self._body = a["dof_jntid"], a["dof_bodyid"]
        self._column = (np.arange(len(self._joint)) - a["jnt_dofadr"][self._joint]) % 3
        kind, k = a["jnt_type"][self._joint], np.arange(len(self._joint)) - a["jnt_dofadr"][self._joint]
        self._turns = np.flatnonzero((kind == BALL) | ((kind == FREE) & (k >= 3)))
        self._shifts = np.flatnonzero((kind == FREE) & (k < 3))
        self._angular = (kind == HINGE) | (kind == BALL) | ((kind == FREE) & (k >= 3))

    def __call__(self, qpos):
        """MatrixPose in a configuration (nq,)."""
        pos, mat = self._pos.copy(), self._mat.copy()
        anchor, axis = np.empty((2, len(self._of_joint), 3))
        for rank in self._ranks:
            rank.move(qpos, pos, mat, anchor, axis)
        xpos, xmat = self._xpos.copy(), self._xmat.copy()
        for ids, up in self._levels:
            frame = xmat[up]
            xmat[ids] = frame @ mat[ids]
            xpos[ids] = xpos[up] + turned(frame, pos[ids])
        up, frame = xpos[self._of_joint], xmat[self._of_joint]
        anchor, axis = up + turned(frame, anchor), turned(frame, axis)[self._joint]
        turns = self._turns
        if len(turns):
            axis[turns] = xmat[self._body[turns], :, self._column[turns]]
            axis[self._shifts] = np.eye(3)[self._column[self._shifts]]
        return MatrixPose(self.a, qpos, xpos, xmat, axis, anchor[self._joint], self._angular)


class _Rank:
    """The first, second, ... joint of each body that has one: how it moves the body in its parent's frame."""

    def __init__(self, a, body, joint):
        self.body, self.joint = body, joint
        kind, adr = a["jnt_type"][joint], a["jnt_qposadr"][joint]
        self.pos, self.axis = a["jnt_pos"][joint], a["jnt_axis"][joint]
        self.off = bool(self.pos.any())
        self.slide, self.hinge, self.ball, self.free = (np.flatnonzero(kind == k) for k in (SLIDE, HINGE, BALL, FREE))
        self.adr, self.zero = adr, a["qpos0"][adr]
        x, y, z = self.axis[self.hinge].T
        none = np.zeros(len(x))
        self.skew = np.moveaxis(np.array([[none, -z, y], [z, none, -x], [-y, x, none]]), 2, 0).reshape(-1, 3, 3)
        self.square = self.skew @ self.skew

    def move(self, qpos, pos, mat, anchor, axis):
        """Applies the joints to pos, mat of their bodies, in place; anchors and axes are those before they turn."""
        frame = mat[self.body]
        place = pos[self.body]
        if len(self.free):
            at = self.adr[self.free, None]
            place[self.free] = qpos[at + np.arange(3)]
            frame[self.free] = rotations.matrix(rotations.normalize(qpos[at + np.arange(3, 7)]))
        about = place + turned(frame, self.pos) if self.off else place
        anchor[self.joint], axis[self.joint] = about, turned(frame, self.axis)
        if len(self.slide):
            s = self.slide
            place[s] = place[s] + axis[self.joint[s]] * (qpos[self.adr[s]] - self.zero[s])[:, None]
        if len(self.hinge):
            h = self.hinge
            angle = (qpos[self.adr[h]] - self.zero[h])[:, None, None]
            frame[h] = frame[h] @ (np.eye(3) + np.sin(angle) * self.skew + (1 - np.cos(angle)) * self.square)
        if len(self.ball):
            quat = rotations.normalize(qpos[self.adr[self.ball, None] + np.arange(4)])
            frame[self.ball] = frame[self.ball] @ rotations.matrix(quat)
        if self.off:
            round_ = np.concatenate([self.hinge, self.ball])
            place[round_] = about[round_] - turned(frame[round_], self.pos[round_])
        pos[self.body], mat[self.body] = place, frame
