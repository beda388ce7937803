"""A few kinematic trees, copied many times, with dense dynamics: kinematics, inertia matrix and bias force in NumPy.

For the short simulations that the compiler itself needs (lengthrange.py). All copies move at once: arrays are
(copies, ...), and matrices (copies, n, n) are dense, because the trees are few and the copies many. For what is written
for a whole model (transmissions, tendons), `arrays` holds a model made of the static bodies and all copies.
"""

import numpy as np

from tisim.enums import mjtTrn, mjtWrap

from .. import rotations
from ..numbers import MINVAL
from ..reference.kinematics import pose
from ..reference.tendon_path import Layout
from ..tree import FREE, NQ, NV, SLIDE, levels
from .dense_pose import Posing, settled, turned

# arrays of ids -> the attribute of Copies that tells their new numbers
REFERS = dict(
    body_parentid="body", body_weldid="body", body_dofadr="dof", body_jntadr="joint", dof_parentid="dof",
    dof_bodyid="body", dof_jntid="joint", site_bodyid="body", geom_bodyid="body", jnt_bodyid="body", jnt_dofadr="dof",
    tendon_adr="wrap",
)  # fmt: skip


class Part:
    """Which elements of a kind the copies have: ids of static ones, present once, and of moving ones, per copy."""

    def __init__(self, total, fixed, moving, copies):
        self.fixed, self.moving, self.copies = fixed, moving, copies
        self.place = np.full(total, -1, np.int64)
        self.place[fixed] = np.arange(len(fixed))
        self.place[moving] = len(fixed) + np.arange(len(moving))

    def take(self, values):
        """The rows of a model array for all copies."""
        tiled = np.tile(values[self.moving], (self.copies,) + (1,) * (values.ndim - 1))
        return np.concatenate([values[self.fixed], tiled])

    def renumber(self, ids, copy):
        """New ids of old ones in copies (the same shape as ids, or one that broadcasts); -1 stays."""
        place = np.where(ids < 0, -1, self.place[ids])
        return np.where(place >= len(self.fixed), place + copy * len(self.moving), place)

    def refer(self, ids, target):
        """The rows of a model array of ids of `target`, for all copies and with their new ids."""
        copy = np.arange(self.copies).reshape((-1,) + (1,) * ids.ndim)
        tiled = target.renumber(ids[self.moving][None], copy).reshape((-1,) + ids.shape[1:])
        return np.concatenate([target.renumber(ids[self.fixed], 0), tiled]).astype(np.int64)


class Copies:
    """State and dynamics of copies of the trees `trees` (ids) of a model.

    actuators  (copies,) id of the actuator that drives each copy;  tendons  ids of the tendons that matter.
    by_matrices  whether nothing asks for quaternions.
    qpos (copies, nq) and qvel (copies, nv) start at qpos0 and rest.
    """

    def __init__(self, a, trees, actuators, tendons, by_matrices):
        self.count = count = len(actuators)
        inside = np.isin(a["body_treeid"], trees)
        fixed = a["body_treeid"] < 0
        nothing = np.zeros(0, int)

        def below(name):
            owner = a[f"{name}_bodyid"]
            still = np.flatnonzero(fixed[owner]) if name in ("site", "geom") else nothing
            return Part(len(owner), still, np.flatnonzero(inside[owner]), count)

        self.body = Part(len(inside), np.flatnonzero(fixed), np.flatnonzero(inside), count)
        self.joint, self.dof, self.site, self.geom = (below(name) for name in ("jnt", "dof", "site", "geom"))
        self.tendon = Part(len(a["tendon_adr"]), nothing, tendons, count)
        wraps = [np.arange(a["tendon_adr"][t], a["tendon_adr"][t] + a["tendon_num"][t]) for t in tendons]
        self.wrap = Part(len(a["wrap_type"]), nothing, np.concatenate([nothing, *wraps]), count)
        self.nv, self.nq = len(self.dof.moving), int(NQ[a["jnt_type"][self.joint.moving]].sum())
        self._tables(a)
        self.arrays = self._model(a, actuators)
        order = levels(self.arrays["body_parentid"])
        still = pose(self.arrays, self.arrays["qpos0"], order)
        if by_matrices:
            self._posing = Posing(settled(self.arrays), order, still, len(self.body.fixed))
        else:
            self._posing = lambda qpos: pose(self.arrays, qpos, order)
        self.qpos, self.qvel = self.arrays["qpos0"].reshape(count, -1).copy(), np.zeros((count, self.nv))

    def _tables(self, a):
        """What is the same in all copies: inertias, addresses, and which dofs move what."""
        body, joint, dof = self.body.moving, self.joint.moving, self.dof.moving
        self.kind = kind = a["jnt_type"][joint]
        self.qposadr, self.dofadr = (np.cumsum(n[kind]) - n[kind] for n in (NQ, NV))
        self.armature = a["dof_armature"][dof]
        self.mass, self.inertia = a["body_mass"][body], a["body_inertia"][body]
        self.ipos = a["body_ipos"][body]
        self.imat = rotations.matrix(rotations.normalize(a["body_iquat"][body]))

        n = self.nv
        above = np.where(a["dof_parentid"][dof] < 0, -1, self.dof.place[a["dof_parentid"][dof]])
        self.ancestor = np.eye(n, dtype=bool)  # [i, j]: i is j or above it
        for j in range(n):
            if above[j] >= 0:
                self.ancestor[:, j] |= self.ancestor[:, above[j]]
        weld = a["body_weldid"][body]
        last = a["body_dofadr"][weld] + a["body_dofnum"][weld] - 1
        self.moves = self.ancestor[:, self.dof.place[last]].T.astype(float)  # [body, dof]
        # an axis turns with the dofs before its joint; the axes of a free joint's translation stay
        owner = np.repeat(np.arange(len(kind)), NV[kind])
        start = self.dofadr[owner]
        start = np.where((kind[owner] == FREE) & (np.arange(n) - start >= 3), start + 3, start)
        self.before = (self.ancestor.T & (np.arange(n)[None] < start[:, None])).astype(float)  # [dof, earlier dof]

    def _model(self, a, actuators):
        """dict of model arrays of the static bodies and all copies, as far as transmissions and tendons read them."""
        count, out = self.count, {}
        parts = dict(body=self.body, jnt=self.joint, dof=self.dof, site=self.site, geom=self.geom, tendon=self.tendon,
                     wrap=self.wrap)  # fmt: skip
        for kind, part in parts.items():
            for name, values in a.items():
                if name.startswith(f"{kind}_") and len(values) == len(part.place):
                    target = REFERS.get(name)
                    out[name] = part.refer(values, getattr(self, target)) if target else part.take(values)
        steps = np.arange(count)[:, None]
        out["jnt_qposadr"] = (steps * self.nq + self.qposadr).ravel()
        old = np.repeat(a["jnt_qposadr"][self.joint.moving] - self.qposadr, NQ[self.kind]) + np.arange(self.nq)
        out["qpos0"] = np.tile(a["qpos0"][old], count)

        # what a wrap names depends on its type; of a geom, the parameter is the side site
        kind, ids, prm = (a[f"wrap_{name}"][self.wrap.moving] for name in ("type", "objid", "prm"))
        target = np.tile(ids, (count, 1))
        for part, types in ((self.joint, (mjtWrap.mjWRAP_JOINT,)), (self.site, (mjtWrap.mjWRAP_SITE,)),
                            (self.geom, (mjtWrap.mjWRAP_SPHERE, mjtWrap.mjWRAP_CYLINDER))):  # fmt: skip
            mine = np.isin(kind, types)
            target[:, mine] = part.renumber(ids[mine], steps)
        out["wrap_objid"], geom = target.ravel(), np.isin(kind, (mjtWrap.mjWRAP_SPHERE, mjtWrap.mjWRAP_CYLINDER))
        prm = np.tile(prm, (count, 1))
        prm[:, geom] = self.site.renumber(np.rint(prm[0, geom]).astype(int), steps) if count else 0
        out["wrap_prm"] = prm.ravel()

        kind = a["actuator_trntype"][actuators]
        for name in ("trntype", "gear", "cranklength"):
            out[f"actuator_{name}"] = a[f"actuator_{name}"][actuators]
        trnid = out["actuator_trnid"] = a["actuator_trnid"][actuators].astype(int)
        target = {mjtTrn.mjTRN_JOINT: self.joint, mjtTrn.mjTRN_JOINTINPARENT: self.joint,
                  mjtTrn.mjTRN_TENDON: self.tendon, mjtTrn.mjTRN_BODY: self.body}  # fmt: skip
        for c in range(count):
            trnid[c] = target.get(int(kind[c]), self.site).renumber(trnid[c], c)
        return out

    def keep_tendons(self, everywhere, own):
        """Leaves in `paths` the tendons that matter: ids `everywhere` in all copies, own (copies,) in one, -1: none."""
        n = len(self.tendon.moving)
        needed = np.zeros((self.count, n), bool)
        needed[:, self.tendon.place[everywhere]] = True
        mine = np.flatnonzero(own >= 0)
        needed[mine, self.tendon.place[own[mine]]] = True
        self.kept, a = np.flatnonzero(needed.ravel()), self.arrays
        num = a["tendon_num"][self.kept]
        adr = np.cumsum(num) - num
        wrap = np.repeat(a["tendon_adr"][self.kept] - adr, num) + np.arange(num.sum())
        self.paths = {**a, "tendon_adr": adr, "tendon_num": num}
        self.paths |= {name: a[name][wrap] for name in ("wrap_type", "wrap_objid", "wrap_prm")}
        self.layout = Layout(self.paths)
        copy = self.kept // max(n, 1)
        self._rows = np.repeat(self.kept, self.nv)
        self._cols = (copy[:, None] * self.nv + np.arange(self.nv)).ravel()
        self._copy = copy[self.layout.tendon]
        # which dofs of its copy move a body of `arrays`
        self._moves = np.concatenate([np.zeros((len(self.body.fixed), self.nv)), np.tile(self.moves, (self.count, 1))])

    def tendons(self):
        """As tendon_moment, of all tendons of `arrays`, those that do not matter with length 0 and no moment.

        A piece of a path pulls its ends along itself: a wrench that is the same for both, so that what it does to a dof
        follows from the dof's motion alone, if this moves one end only.
        """
        layout, pose = self.layout, self.pose
        length, rows, cols, coef = layout.joints(pose)
        moment = np.zeros((len(self.kept), self.nv))
        if len(rows):
            moment[rows, cols % self.nv] = coef
        if len(layout.first):
            x, bodies, arc = layout.spans(pose)
            length = length + layout.lengths(x, arc)
            along = np.diff(x, axis=1)
            norm = np.sqrt((along * along).sum(2, keepdims=True))
            along = np.where(norm < MINVAL, [1.0, 0.0, 0.0], along / np.where(norm < MINVAL, 1.0, norm))
            wrench = np.concatenate([rotations.cross(x[:, :3], along), along], 2)
            spin, axis = self.angular[:, None], self.axis
            motion = np.concatenate(
                [np.where(spin, axis, 0.0), np.where(spin, rotations.cross(self.anchor, axis), axis)], 2
            )
            one = self._moves[bodies[:, 1:]] - self._moves[bodies[:, :-1]]
            pull = (one * (wrench @ motion[self._copy].swapaxes(1, 2))).sum(1) / layout.divisor[:, None]
            np.add.at(moment, layout.tendon, pull)
        every = np.zeros(len(self.arrays["tendon_adr"]))
        every[self.kept] = length
        return every, self._rows, self._cols, moment.ravel()

    def refresh(self):
        """Sets `pose` (kinematics.Pose of all copies) and xpos, xmat, axis, anchor (copies, ...) from qpos."""
        self.pose = p = self._posing(self.qpos.ravel())
        still = len(self.body.fixed)
        self.xpos, self.xmat = (x[still:].reshape(self.count, -1, *x.shape[1:]) for x in (p.xpos, p.xmat))
        self.axis, self.anchor = (x.reshape(self.count, -1, 3) for x in (p.axis, p.anchor))
        self.angular = p.angular[: self.nv]

    def dense(self, rows, cols, values, number):
        """(copies, number, nv) of sparse rows that are numbered copy by copy."""
        place = rows * self.nv + cols % max(self.nv, 1)
        out = np.bincount(place, values, self.count * number * self.nv).astype(float)
        return out.reshape(self.count, number, self.nv)

    def dynamics(self):
        """(M (copies, nv, nv), bias (copies, nv)): inertia matrix, and forces that velocities alone need."""
        spin = self.angular[:, None]
        self.centre = self.xpos.mean(1, keepdims=True)  # moments are taken about it
        linear = np.where(spin, rotations.cross(self.anchor - self.centre, self.axis), self.axis)
        motion = np.concatenate([np.where(spin, self.axis, 0.0), linear], -1)  # (copies, nv, 6), about `centre`
        inertia = self._spatial_inertia()
        composite = (self.moves.T @ inertia.reshape(self.count, -1, 36)).reshape(self.count, -1, 6, 6)
        wrench = (composite @ motion[..., None])[..., 0]
        half = np.where(self.ancestor, motion @ wrench.swapaxes(1, 2), 0.0)
        m = half + np.triu(half, 1).swapaxes(1, 2)
        n = np.arange(self.nv)
        m[:, n, n] += self.armature

        self._motion, self._inertia = motion, inertia
        return m, self.bias(self.qvel)

    def bias(self, qvel):
        """Forces that velocities (..., copies, nv) alone need, after dynamics()."""
        motion = self._motion
        given = motion * qvel[..., None]
        rate = _cross_motion(self.before @ given, motion) * qvel[..., None]
        velocity, acceleration = self.moves @ given, self.moves @ rate
        momentum = (self._inertia @ velocity[..., None])[..., 0]
        force = (self._inertia @ acceleration[..., None])[..., 0] + _cross_force(velocity, momentum)
        return (motion * (self.moves.T @ force)).sum(-1)

    def bias_derivative(self):
        """(copies, nv, nv) derivative of the bias force by the velocities; exact, since that force is quadratic."""
        unit = np.eye(self.nv)[:, None]
        return np.moveaxis(0.5 * (self.bias(self.qvel + unit) - self.bias(self.qvel - unit)), 0, -1)

    def _spatial_inertia(self):
        """(copies, bodies, 6, 6) inertias about `centre`, for (angular, linear) velocities."""
        frame = self.xmat @ self.imat
        turn = (frame * self.inertia[:, None, :]) @ frame.swapaxes(-1, -2)
        c = self.xpos + turned(self.xmat, self.ipos) - self.centre
        skew = np.zeros(c.shape[:2] + (3, 3))
        skew[..., 0, 1], skew[..., 0, 2], skew[..., 1, 2] = -c[..., 2], c[..., 1], -c[..., 0]
        skew -= skew.swapaxes(-1, -2)
        m = self.mass[:, None, None]
        out = np.zeros(c.shape[:2] + (6, 6))
        square = (c * c).sum(-1)[..., None, None] * np.eye(3) - c[..., None] * c[..., None, :]
        out[..., :3, :3] = turn + m * square
        out[..., :3, 3:], out[..., 3:, :3] = m * skew, -m * skew
        out[..., 3:, 3:] = m * np.eye(3)
        return out

    def integrate(self, qacc, step):
        """Semi-implicit Euler: velocities first."""
        self.qvel += step * qacc
        for kind, q, v in zip(self.kind.tolist(), self.qposadr.tolist(), self.dofadr.tolist()):
            if kind >= SLIDE:
                self.qpos[:, q] += step * self.qvel[:, v]
                continue
            if kind == FREE:
                self.qpos[:, q : q + 3] += step * self.qvel[:, v : v + 3]
                q, v = q + 3, v + 3
            turn = self.qvel[:, v : v + 3]
            speed = np.linalg.norm(turn, axis=1, keepdims=True)
            axis = turn / np.where(speed > 0, speed, 1.0)
            turned = rotations.mul(self.qpos[:, q : q + 4], rotations.from_axis_angle(axis, step * speed[:, 0]))
            self.qpos[:, q : q + 4] = rotations.normalize(turned)


def _cross_motion(v, m):
    """Rate of motion vectors m (..., 6) that move with v."""
    w = v[..., :3]
    linear = rotations.cross(w, m[..., 3:]) + rotations.cross(v[..., 3:], m[..., :3])
    return np.concatenate([rotations.cross(w, m[..., :3]), linear], -1)


def _cross_force(v, f):
    """Rate of wrenches f (..., 6) that move with v."""
    w = v[..., :3]
    torque = rotations.cross(w, f[..., :3]) + rotations.cross(v[..., 3:], f[..., 3:])
    return np.concatenate([torque, rotations.cross(w, f[..., 3:])], -1)
