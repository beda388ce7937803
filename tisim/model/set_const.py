"""The constants of a model that follow from others, made anew after these were written. Seed 003, "Changing models"."""

import warnings

import numpy as np

from tisim.enums import mjtJacobian, mjtJoint, mjtSleepPolicy
from tisim.errors import Error
from tisim.mjcf import rotations, tree
from tisim.mjcf.elements import bodies
from tisim.mjcf.elements.actuator import stay_awake
from tisim.mjcf.elements.tendon import keep_awake
from tisim.mjcf.reference import kinematics, setconst
from tisim.mjcf.reference.set_actuators import set_actuators


def set_const(m, d=None):
    """Makes anew what follows from the reference pose qpos0, masses, inertias, frames, armature, gears and the like.

    These are body_subtreemass, body_invweight0, dof_M0, dof_invweight0, dof_length, the lengths and weights of tendons
    and actuators, damping from a damping ratio, what connect and weld take from the reference pose, frames of cameras
    and lights, tree_sleep_policy, and m.stat. Sizes, frames and bounds of geoms do not follow.
    d  is not needed and stays as it is; in MuJoCo, which computes in it, it is at qpos0 afterwards.
    Raises Error where an argument is no Model, what was written does not fit the rest of it, or a body whose part of
    the inertia matrix was diagonal would need more room there; the model then keeps its constants.
    MuJoCo passes over a body_ipos or body_iquat that was written where it was zero before; here it counts.
    """
    from .model import Model

    if not isinstance(m, Model):
        raise Error(f"the first argument is a tisim.Model, got a {type(m).__name__}")
    m.validate()
    a = {name: np.array(array) for name, array in m._arrays.items()}
    stat = constants(m, a)
    for name, values in a.items():
        if values.tobytes() != m._arrays[name].tobytes():
            m._arrays[name][...] = values
    for name, value in stat.items():
        setattr(m.stat, name, value)
    m._sizes["ngravcomp"] = int((a["body_gravcomp"] > 0).sum())


def warn_unless_followed(m):
    """A Python warning where masses of free bodies are not those of dof_M0, their part of M: contacts take the masses.

    MuJoCo's contacts take dof_M0 there, its gravity the masses. What moves with others has M of the masses as they are.
    """
    a = m._arrays
    free = np.flatnonzero(a["jnt_type"] == mjtJoint.mjJNT_FREE)
    free = free[a["dof_simplenum"][a["jnt_dofadr"][free]] > 0]
    body, dofs = a["jnt_bodyid"][free], a["jnt_dofadr"][free, None] + np.arange(6)
    mass = np.concatenate([np.repeat(a["body_mass"][body, None], 3, axis=1), a["body_inertia"][body]], axis=1)
    wrong = np.abs(mass + a["dof_armature"][dofs] - a["dof_M0"][dofs]) > 1e-6 * a["dof_M0"][dofs]
    if wrong.any():
        i = int(body[wrong.any(axis=1)][0])
        warnings.warn(
            f"mass, inertia or armature of body {m.id2name('body', i) or f'number {i}'} was written, and M has the old "
            "one still: call tisim.set_const(m) after writing, as mj_setConst for MuJoCo, or contacts take the new one"
        )


def constants(m, a):
    """Makes anew in `a`, arrays like those of the model m, what follows from others; returns numbers of m.stat."""
    _check_simple(m, a)
    pose = kinematics.pose(a, a["qpos0"]) if _has_moved(a) else None
    jacobian = m.opt.jacobian
    sparse = jacobian == mjtJacobian.mjJAC_SPARSE or (jacobian == mjtJacobian.mjJAC_AUTO and m.nv >= 60)
    if pose is not None:
        pose.sparse = sparse
    blocks = [] if m.nu or m.ntendon else None
    stat = setconst.set_const(a, blocks, sparse, pose)
    if m.nu:
        set_actuators(a, None, blocks, sparse, pose)
    automatic = a["tree_sleep_policy"] == mjtSleepPolicy.mjSLEEP_AUTO_NEVER
    a["tree_sleep_policy"][automatic] = mjtSleepPolicy.mjSLEEP_AUTO_ALLOWED
    if m.ntendon:
        keep_awake(a)
    if m.nu:
        stay_awake(a)
    return stat


def _has_moved(a):
    """Whether joints may have moved in qpos0 since the model was compiled: free ones and balls."""
    adr, body = a["jnt_qposadr"], a["jnt_bodyid"]
    free, ball = a["jnt_type"] == mjtJoint.mjJNT_FREE, a["jnt_type"] == mjtJoint.mjJNT_BALL
    there = np.concatenate([a["body_pos"], a["body_quat"]], axis=1)[body[free]]
    return (a["qpos0"][adr[free, None] + np.arange(7)] != there).any() or (
        a["qpos0"][adr[ball, None] + np.arange(4)] != rotations.IDENTITY
    ).any()


def _check_simple(m, a):
    """Refuses inertial and joint frames for which the inertia matrix, laid out when the model was compiled, is too
    small."""
    now = dict(a)
    nbody = m.nbody
    own = np.zeros((nbody, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (nbody, 1))
    now["body_sameframe"] = bodies.same_frame(a["body_ipos"], a["body_iquat"], *own)
    tree.simplify(now, [])
    lost = np.flatnonzero((a["body_simple"] > 0) & (now["body_simple"] == 0) & (a["body_dofnum"] > 0))
    if len(lost):
        i = int(lost[0])
        raise Error(
            f"body {m.id2name('body', i) or f'number {i}'}: when the model was compiled its inertial frame and joints "
            "lay so that its inertia is diagonal, and there is no room for more; change m.spec() and compile that"
        )
