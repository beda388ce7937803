"""Joint positions moved by velocities, differences of joint positions, and poses of bodies' frames in the world. Seed
003, "Coordinate frames and transformations".
"""

import numpy as np

from tisim.data import given
from tisim.enums import mjtJoint, mjtSameFrame
from tisim.errors import Error, brief
from tisim.mjcf import rotations
from tisim.mjcf.numbers import MINVAL

from .arguments import element, number, numbers, of_worlds, part, shaped, start

FREE, BALL = mjtJoint.mjJNT_FREE, mjtJoint.mjJNT_BALL


def integrate_pos(m, qpos, qvel, dt):
    """Joint positions after moving at a velocity for a time.

    qpos  (nq,) or any shape that ends in nq [m, rad, -];  qvel  (nv,), or of as many leading axes [m/s, rad/s];
    dt  [s].  Returns positions of the shape of both together. Quaternions come out unit.
    """
    given.model(m)
    qpos, qvel, dt = _joints("qpos", qpos, m.nq), _joints("qvel", qvel, m.nv), number("dt", dt)
    qpos, qvel = _together(("qpos", qpos), ("qvel", qvel))
    out = np.array(qpos)
    adr, dof, quat, turn = _addresses(m)
    out[..., adr] += dt * qvel[..., dof]
    spin = qvel[..., turn[:, None] + np.arange(3)]
    speed = np.linalg.norm(spin, axis=-1)
    axis = np.where((speed < MINVAL)[..., None], [1.0, 0.0, 0.0], spin / np.maximum(speed, MINVAL)[..., None])
    at = quat[:, None] + np.arange(4)
    half = 0.5 * dt * speed[..., None]
    moved = np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)
    out[..., at] = rotations.normalize(rotations.mul(rotations.normalize(out[..., at]), moved))
    return out


def differentiate_pos(m, dt, qpos1, qpos2):
    """Velocity that leads from qpos1 to qpos2 in a time dt, by finite differences.

    dt  [s], not 0;  qpos1, qpos2  (nq,) or any shapes that end in nq and fit each other [m, rad, -].
    Returns velocities (..., nv) [m/s, rad/s].
    """
    given.model(m)
    dt = number("dt", dt)
    if abs(dt) < MINVAL:
        raise Error("dt=0: expected a time, in s")
    first, second = _together(("qpos1", _joints("qpos1", qpos1, m.nq)), ("qpos2", _joints("qpos2", qpos2, m.nq)))
    out = np.zeros((*first.shape[:-1], m.nv))
    adr, dof, quat, turn = _addresses(m)
    out[..., dof] = (second[..., adr] - first[..., adr]) / dt
    at = quat[:, None] + np.arange(4)
    out[..., turn[:, None] + np.arange(3)] = _rotation(first[..., at], second[..., at]) / dt
    return out


def local_to_global(m, d, pos, quat, body, sameframe=mjtSameFrame.mjSAMEFRAME_NONE):
    """Pose in the world of what is fixed to a body.

    pos  (3,) [m], quat  (4,), in the body's frame, with several worlds also (nworld, ...);  body  id or name.
    sameframe  mjtSameFrame: the frame, or its orientation alone, that is taken from the body as it is.
    Returns xpos (3,) [m] and xmat (9,), with several worlds (nworld, ...).
    """
    start(m, d)
    i = element(m, "body", body)
    pos, quat = of_worlds(d, "pos", pos, 3), of_worlds(d, "quat", quat, 4)
    try:
        same = mjtSameFrame(sameframe)
    except ValueError:
        raise Error(f"sameframe={brief(sameframe)}: expected a mjtSameFrame") from None
    e = mjtSameFrame
    xquat, xmat = (part(d, name, i) for name in ("xquat", "xmat"))
    if same == e.mjSAMEFRAME_BODY:
        xpos = part(d, "xpos", i)
    elif same == e.mjSAMEFRAME_INERTIA:
        xpos = part(d, "xipos", i)
    else:
        xpos = np.einsum("wij,wj->wi", xmat.reshape(-1, 3, 3), pos) + part(d, "xpos", i)
    if same in (e.mjSAMEFRAME_BODY, e.mjSAMEFRAME_BODYROT):
        mat = xmat
    elif same in (e.mjSAMEFRAME_INERTIA, e.mjSAMEFRAME_INERTIAROT):
        mat = part(d, "ximat", i)
    else:
        mat = rotations.matrix(rotations.mul(xquat, quat)).reshape(-1, 9)
    return shaped(d, np.array(xpos)), shaped(d, np.array(mat))


def _joints(name, value, size):
    a = numbers(name, value)
    if not a.ndim or a.shape[-1] != size:
        raise Error(f"{name} has shape {a.shape}: expected ({size},) or (..., {size})")
    return a


def _together(*named):
    """The arrays with leading axes broadcast against each other."""
    try:
        lead = np.broadcast_shapes(*(a.shape[:-1] for _, a in named))
    except ValueError:
        raise Error(" and ".join(f"{n} {a.shape}" for n, a in named) + ": their leading axes do not fit") from None
    return (np.broadcast_to(a, (*lead, a.shape[-1])) for _, a in named)


def _addresses(m):
    """(places in qpos, in qvel) of what adds up, (places of quaternions, of the velocities that turn them)."""
    kind, adr, dof = (np.asarray(a) for a in (m.jnt_type, m.jnt_qposadr, m.jnt_dofadr))
    free, ball, one = kind == FREE, kind == BALL, (kind != FREE) & (kind != BALL)
    places = [(a[free, None] + np.arange(3)).ravel() for a in (adr, dof)]
    return (
        np.concatenate([adr[one], places[0]]), np.concatenate([dof[one], places[1]]),
        np.concatenate([adr[ball], adr[free] + 3]), np.concatenate([dof[ball], dof[free] + 3]),
    )  # fmt: skip


def _rotation(first, second):
    """Rotation vectors [rad], of length at most pi, in the frame of the first quaternions, that lead to the second."""
    turn = rotations.mul(rotations.conjugate(first), second)
    sine = np.linalg.norm(turn[..., 1:], axis=-1)
    angle = 2 * np.arctan2(sine, turn[..., 0])
    angle = np.where(angle > np.pi, angle - 2 * np.pi, angle)
    scale = np.where(sine < MINVAL, 0.0, angle / np.where(sine < MINVAL, 1.0, sine))
    return turn[..., 1:] * scale[..., None]
