"""A body in the mouse's hand: selected by a ray, pulled by a spring or turned, by the laws of MuJoCo's mjv_ functions.

Those of mjv_initPerturb, mjv_movePerturb, mjv_applyPerturbForce and mjv_applyPerturbPose; here they take a Camera in
place of an mjvScene, and a world.
"""

import numpy as np

from tisim.data.arrays import DATA
from tisim.device import memory
from tisim.enums import mjtJoint, mjtPertBit
from tisim.mjcf import rotations
from tisim.mjcf.rotations import cross
from tisim.queries.inertia import solve_m
from tisim.queries.jacobians import jac
from tisim.queries.rays import ray
from tisim.viewer.moving import height_at, shift

PULL, TURN = int(mjtPertBit.mjPERT_TRANSLATE), int(mjtPertBit.mjPERT_ROTATE)
TINY = 1e-15
MOST = 0.5 * np.pi  # of a turn away from where the body is [rad]


def of_world(d, name, world):
    """An array of the Data, that of one world: (n, ...)."""
    values = np.asarray(getattr(d, name))
    return values[world] if d.nworld > 1 else values


def of_body(d, name, world, body):
    """The numbers of one body of a world in an array of the Data, (n,); the others are not copied."""
    n = DATA[name].shape[1]
    return memory.part(d.device(name), (world * d.model.nbody + body) * n, n)


def place(d, world, *index):
    """Index of an element of one world in an array of the Data."""
    return (world, *index) if d.nworld > 1 else index


def _turn(d, body, world):
    return np.asarray(of_body(d, "xmat", world, body), float).reshape(3, 3)


def select(m, d, point, direction, groups=None, world=0):
    """Body that a ray meets first and where, in its frame: (body, localpos (3,)); (-1, None) where it meets none.

    point, direction (3,) [m];  groups  6 flags: which groups of geoms are there to meet, None: all.
    """
    dist, geom = ray(m, d, point, direction, geomgroup=groups)
    if d.nworld > 1:
        dist, geom = dist[world], int(geom[world])
    if geom < 0:
        return -1, None
    body = int(m.geom_bodyid[geom])
    hit = point + dist * direction
    return body, _turn(d, body, world).T @ (hit - of_body(d, "xpos", world, body))


def selected(m, pert):
    """The body that is selected, 0 if none."""
    return pert.select if 0 < pert.select < m.nbody else 0


def held_point(m, d, pert, world=0):
    """Where in the world (3,) the selected body is held."""
    body = pert.select
    return of_body(d, "xpos", world, body) + _turn(d, body, world) @ pert.localpos


def begin(m, d, camera, pert, world=0):
    """Takes the selected body into the hand: its references are where it is."""
    body = selected(m, pert)
    if not body:
        return
    at = held_point(m, d, pert, world)
    jacp = jac(m, d, at, body)[0]
    moved = solve_m(m, d, jacp)
    if d.nworld > 1:
        jacp, moved = jacp[world], moved[world]
    pert.localmass = 3.0 / max(float((jacp * moved).sum()), TINY)
    pert.scale = height_at(camera, float((at - camera.position) @ camera.forward))
    pert.refselpos, pert.refpos = at, of_body(d, "xipos", world, body)
    pert.refquat = _inertial_quat(m, d, body, world)


def _inertial_quat(m, d, body, world):
    return rotations.mul(of_body(d, "xquat", world, body), np.asarray(m.body_iquat)[body])


def move(m, d, camera, pert, dx, dy, turning=False, level=False, world=0):
    """Moves the references by a drag of the mouse, parts of the picture's height rightwards and downwards.

    turning  turns instead;  level  along the ground instead of upright.
    """
    body = selected(m, pert)
    if not body:
        return
    if not turning:
        away = pert.scale * shift(camera, dx, dy, level)
        pert.refpos, pert.refselpos = pert.refpos + away, pert.refselpos + away
        return
    right = camera.axes[0]
    other = np.array([-right[1], right[0], 0.0]) if level else np.array([0, 0, 1.0])
    vector = 2 * np.pi * (dy * right + dx * other)
    now = _inertial_quat(m, d, body, world)
    turn = rotations.mul(rotations.mul(_of_vector(vector), pert.refquat), rotations.conjugate(now))
    angle = _to_vector(turn)
    size = float(np.linalg.norm(angle))
    if size > MOST:
        angle *= MOST / size
    pert.refquat = rotations.normalize(rotations.mul(_of_vector(angle), now))


def _of_vector(v):
    """Quaternion of a turn by |v| about v."""
    angle = float(np.linalg.norm(v))
    return rotations.from_axis_angle(v / angle, angle) if angle > TINY else np.array([1.0, 0, 0, 0])


def _to_vector(q):
    """Vector of a turn, at most half a turn long."""
    q = np.asarray(q, float) * (1.0 if q[0] >= 0 else -1.0)
    side = float(np.linalg.norm(q[1:]))
    return q[1:] / side * 2 * np.arctan2(side, q[0]) if side > TINY else np.zeros(3)


def force(m, d, pert, world=0):
    """Force at the centre of mass and torque (6,) of the hand on the selected body [N, N m]; zeros if it is not held.

    A spring of the model's `<visual><map stiffness, stiffnessrot>`, per mass, and its damping; a body that is only
    pulled is kept from spinning about the line of the pull, and one that is also turned feels no torque of it.
    """
    body, active = selected(m, pert), pert.active | pert.active2
    out = np.zeros(6)
    if not body or not active & (PULL | TURN):
        return out
    at, centre = held_point(m, d, pert, world), of_body(d, "xipos", world, body)
    twist = np.asarray(of_body(d, "cvel", world, body), float)  # about the subtree's centre of mass
    spin = twist[:3]
    light = max(float(np.asarray(m.body_invweight0).reshape(-1, 2)[body, 1]), TINY)
    k, turned = float(m.vis.map.stiffness), float(m.vis.map.stiffnessrot)
    if active & PULL:
        about = of_body(d, "subtree_com", world, int(m.body_rootid[body]))
        velocity = twist[3:] + cross(spin, at - about)
        away = pert.refselpos - at
        out[:3] = pert.localmass * (k * away - np.sqrt(k) * velocity)
        out[3:] = cross(at - centre, out[:3])
        far = float(np.linalg.norm(away))
        line = away / far if far > TINY else np.array([1.0, 0, 0])  # as mju_normalize3 has it
        out[3:] -= np.sqrt(turned) / light * (spin @ line) * line
    if active & TURN:
        now = _inertial_quat(m, d, body, world)
        angle = _to_vector(rotations.mul(pert.refquat, rotations.conjugate(now)))
        out[3:] = (turned * angle - np.sqrt(turned) * spin) / light
    return out


def mjv_apply_perturb_force(m, d, pert):
    """Writes the force and torque [N, N m] of pert, a MjvPerturb, on the selected body into d.xfrc_applied."""
    body = selected(m, pert)
    if body and (pert.active | pert.active2) & (PULL | TURN):
        for world in range(d.nworld):
            d.xfrc_applied[place(d, world, body)] = force(m, d, pert, world)


def mjv_apply_perturb_pose(m, d, pert, flg_paused, world=0):
    """Puts a selected mocap body, and with flg_paused also a free body or one below it, where the hand has it.

    pert  a MjvPerturb;  world  which one of the Data.
    """
    body = selected(m, pert)
    if not body or not (pert.active | pert.active2) & (PULL | TURN):
        return
    pos, quat = _frame_of(pert.refpos, pert.refquat, np.asarray(m.body_ipos)[body], np.asarray(m.body_iquat)[body])
    mocap, root = int(m.body_mocapid[body]), int(m.body_rootid[body])
    if mocap >= 0:
        d.mocap_pos[place(d, world, mocap)] = pos
        d.mocap_quat[place(d, world, mocap)] = rotations.normalize(quat)
        return
    joint = int(m.body_jntadr[root])
    if not flg_paused or int(m.body_jntnum[root]) != 1 or m.jnt_type[joint] != int(mjtJoint.mjJNT_FREE):
        return
    if root != body:  # the root moves so that the body comes there
        at, root_at = (of_body(d, "xpos", world, b) for b in (body, root))
        turn, root_turn = (of_body(d, "xquat", world, b) for b in (body, root))
        back = rotations.conjugate(root_turn)
        local_pos = rotations.rotate(back, at - root_at)
        local_quat = rotations.mul(back, turn)
        pos, quat = _frame_of(pos, quat, local_pos, local_quat)
    adr = int(m.jnt_qposadr[joint])
    d.qpos[place(d, world, slice(adr, adr + 7))] = np.r_[pos, rotations.normalize(quat)]


def _frame_of(pos, quat, local_pos, local_quat):
    """Pose of a frame in which a pose (pos, quat) has local_pos and local_quat."""
    turn = rotations.mul(quat, rotations.conjugate(local_quat))
    return pos - rotations.rotate(turn, local_pos), turn


class Hand:
    """Adds the force of a perturbation to what the user applies, and takes it back.

    What is found in xfrc_applied is the user's, unless it is what was written here last.
    """

    def __init__(self):
        self._where = self._own = self._written = None

    def apply(self, m, d, pert, world=0):
        """Puts the force of now in place of the last."""
        body = selected(m, pert)
        if not body or not (pert.active | pert.active2) & (PULL | TURN):
            return self.release(d)
        where = place(d, world, body)
        if self._where != where:
            self.release(d)
        now = np.array(d.xfrc_applied[where], float)
        if self._written is None or not np.array_equal(now, self._written):
            self._own = now
        d.xfrc_applied[where] = self._own + force(m, d, pert, world)
        self._where, self._written = where, np.array(d.xfrc_applied[where], float)

    def release(self, d):
        """Leaves xfrc_applied as the user has it."""
        if self._where is not None and np.array_equal(np.array(d.xfrc_applied[self._where], float), self._written):
            d.xfrc_applied[self._where] = self._own
        self._where = self._own = self._written = None
