"""Lengths and moments of actuators: how each acts on the joints, in any pose.

A moment is a sparse row: the gradient of the actuator's length by the dofs, or its wrench projected on them. After
MuJoCo's mj_transmission (3.4.0, Apache-2.0); seed 000, "Actuation model".
"""

import numpy as np

from tisim.enums import mjtTrn

from .. import rotations
from ..numbers import MINVAL
from ..tree import BALL, FREE, SLIDE
from .kinematics import chains, merged
from .tendon_path import tendon_moment


def transmission(a, pose):
    """(length (nu,), rows, cols, values) of the actuators: lengths in their own units, sparse moments.

    An adhesion actuator acts through contacts; without any its moment is empty.
    """
    kind = a["actuator_trntype"]
    length, entries = np.zeros(len(kind)), []
    joint = (kind == mjtTrn.mjTRN_JOINT) | (kind == mjtTrn.mjTRN_JOINTINPARENT)
    second = a["actuator_trnid"][:, 1]
    for rows, part in (
        (joint, _joints),
        (kind == mjtTrn.mjTRN_SLIDERCRANK, _slider_cranks),
        (kind == mjtTrn.mjTRN_TENDON, _tendons),
        ((kind == mjtTrn.mjTRN_SITE) & (second < 0), _sites),
        ((kind == mjtTrn.mjTRN_SITE) & (second >= 0), _sites_in_sites),
    ):
        rows = np.flatnonzero(rows)
        if len(rows):
            length[rows], index, dof, value = part(a, pose, rows)
            entries.append((rows[index], dof, value))
    if not entries:
        return length, np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    return length, *merged(*(np.concatenate(column) for column in zip(*entries)), len(pose.axis))


def _joints(a, pose, rows):
    """Scalar joints: gear[0] q. Balls: the rotation vector along gear. Free joints have no length."""
    joint, gear = a["actuator_trnid"][rows, 0], a["actuator_gear"][rows]
    in_parent = a["actuator_trntype"][rows] == mjtTrn.mjTRN_JOINTINPARENT
    kind, adr, first = a["jnt_type"][joint], a["jnt_qposadr"][joint], a["jnt_dofadr"][joint]
    length = np.where(kind >= SLIDE, gear[:, 0] * pose.qpos[adr], 0.0)
    one = np.flatnonzero(kind >= SLIDE)
    entries = [(one, first[one], gear[one, 0])]
    for wanted, turn, count in ((BALL, 0, 3), (FREE, 3, 6)):
        i = np.flatnonzero(kind == wanted)
        quat = rotations.normalize(pose.qpos[adr[i, None] + turn + np.arange(4)])
        wrench = gear[i, :count].copy()
        turned = rotations.rotate(rotations.conjugate(quat), wrench[:, turn:])
        wrench[:, turn:] = np.where(in_parent[i, None], turned, wrench[:, turn:])
        if wanted == BALL:
            length[i] = (rotation_vector(quat) * wrench).sum(1)
        entries.append((np.repeat(i, count), (first[i, None] + np.arange(count)).ravel(), wrench.ravel()))
    return length, *(np.concatenate(column) for column in zip(*entries))


def rotation_vector(quat):
    """Axis times angle (n, 3) [rad], the shorter way round."""
    axis, w = quat[:, 1:], quat[:, 0]
    sine = np.linalg.norm(axis, axis=1)
    angle = 2 * np.arctan2(sine, w)
    angle = np.where(angle > np.pi, angle - 2 * np.pi, angle)
    return axis * np.where(sine < MINVAL, 0.0, angle / np.where(sine < MINVAL, 1.0, sine))[:, None]


def _slider_cranks(a, pose, rows):
    """A rod of given length joins the crank's pin to the slider, which moves along the z axis of its site."""
    crank, slider = a["actuator_trnid"][rows].T
    rod, gear = a["actuator_cranklength"][rows], a["actuator_gear"][rows, 0]
    xpos, xquat = pose.sites
    axis, vec = rotations.matrix(xquat[slider])[:, :, 2], xpos[crank] - xpos[slider]
    along = (vec * axis).sum(1)
    square = along * along + rod * rod - (vec * vec).sum(1)
    reaches = square > 0
    root = np.sqrt(np.where(reaches, square, 1.0))
    length = np.where(reaches, along - root, along) * gear
    ratio = np.where(reaches, 1 - along / root, 1.0)[:, None]
    by_axis = vec * ratio
    by_vec = axis * ratio + np.where(reaches[:, None], vec / root[:, None], 0.0)
    index, dof = chains(a, a["site_bodyid"][crank])
    linear, _ = pose.jacobian(index, dof, xpos[crank])
    entries = [(index, dof, (by_vec[index] * linear).sum(1))]
    index, dof = chains(a, a["site_bodyid"][slider])
    linear, turn = pose.jacobian(index, dof, xpos[slider])
    value = (by_axis[index] * rotations.cross(turn, axis[index])).sum(1) - (by_vec[index] * linear).sum(1)
    entries.append((index, dof, value))
    index, dof, value = (np.concatenate(column) for column in zip(*entries))
    return length, index, dof, value * gear[index]


def _tendons(a, pose, rows):
    tendon, gear = a["actuator_trnid"][rows, 0], a["actuator_gear"][rows, 0]
    length, of, dof, value = pose.tendons or tendon_moment(a, pose)
    order = np.argsort(of, kind="stable")
    of, dof, value = of[order], dof[order], value[order]
    start, end = np.searchsorted(of, tendon), np.searchsorted(of, tendon, side="right")
    count = end - start
    index = np.repeat(np.arange(len(rows)), count)
    place = np.arange(len(index)) + np.repeat(start - (np.cumsum(count) - count), count)
    return length[tendon] * gear, index, dof[place], value[place] * gear[index]


def _sites(a, pose, rows):
    """A force and torque in the site's frame; such an actuator has no length."""
    site, gear = a["actuator_trnid"][rows, 0], a["actuator_gear"][rows]
    xpos, xquat = pose.sites
    force, torque = rotations.rotate(xquat[site], gear[:, :3]), rotations.rotate(xquat[site], gear[:, 3:])
    index, dof = chains(a, a["site_bodyid"][site])
    linear, turn = pose.jacobian(index, dof, xpos[site])
    return np.zeros(len(rows)), index, dof, (force[index] * linear).sum(1) + (torque[index] * turn).sum(1)


def _sites_in_sites(a, pose, rows):
    """Position and rotation of a site in the frame of another one; dofs that move both do not count."""
    site, ref = a["actuator_trnid"][rows].T
    gear = a["actuator_gear"][rows]
    xpos, xquat = pose.sites
    offset = rotations.rotate(rotations.conjugate(xquat[ref]), xpos[site] - xpos[ref])
    length = (offset * gear[:, :3]).sum(1)
    # MuJoCo 3.4.0 multiplies these two quaternions in this order
    both = [rotations.mul(a["site_quat"][s], pose.xquat[a["site_bodyid"][s]]) for s in (site, ref)]
    turned = rotation_vector(rotations.mul(rotations.conjugate(both[1]), both[0]))
    length += (turned * gear[:, 3:]).sum(1)

    force, torque = rotations.rotate(xquat[ref], gear[:, :3]), rotations.rotate(xquat[ref], gear[:, 3:])
    entries = []
    for s, sign in ((site, 1), (ref, -1)):
        index, dof = chains(a, a["site_bodyid"][s])
        linear, turn = pose.jacobian(index, dof, xpos[s])
        entries.append((index, dof, sign * ((force[index] * linear).sum(1) + (torque[index] * turn).sum(1))))
    key = [index * np.int64(len(pose.axis)) + dof for index, dof, _ in entries]
    own = [~np.isin(key[0], key[1]), ~np.isin(key[1], key[0])]
    entries = [tuple(column[keep] for column in entry) for entry, keep in zip(entries, own)]
    return length, *(np.concatenate(column) for column in zip(*entries))
