"""Constants that follow from the reference pose qpos0: masses of subtrees, inverse weights, lengths, statistics."""

import numpy as np

from tisim.enums import mjtGeom, mjtJoint

from .. import rotations
from ..numbers import MINVAL
from ..tree import levels
from .inverse_weights import inverse_weights
from .kinematics import Pose
from .set_equalities import set_equalities
from .set_tendons import set_tendons
from .tendon_path import tendon_moment


def subtree_sum(a, values):
    """Sums of values (nbody, ...) over each body and all below it."""
    total = np.array(values, float)
    for ids in reversed(levels(a["body_parentid"])[1:]):
        np.add.at(total, a["body_parentid"][ids], total[ids])
    return total


def reference_pose(a):
    """(xpos (nbody, 3), xquat (nbody, 4)) in qpos0, world frame [m]. Joints do not move there by definition."""
    xpos, xquat = a["body_pos"].copy(), rotations.normalize(a["body_quat"])
    xpos[0], xquat[0] = 0, rotations.IDENTITY
    for ids in levels(a["body_parentid"])[1:]:
        p = a["body_parentid"][ids]
        xpos[ids], xquat[ids] = rotations.into_parent(xpos[p], xquat[p], xpos[ids], xquat[ids])
    return xpos, rotations.normalize(xquat)


def set_const(a, blocks=None, sparse=False, pose=None):
    """Adds to the dict of model arrays: body_subtreemass, body_invweight0, dof_M0, dof_invweight0, dof_length, the
    tendon_, cam_ and light_ fields of the reference pose; completes eq_data. Returns dict(meaninertia, meanmass,
    meansize, extent, center).

    blocks  a list that receives the inverses of the inertia matrix for solve_m, or None where the model has no tendons.
    sparse  whether MuJoCo would use sparse Jacobians;  pose  in qpos0, where joints may have moved there.
    """
    a["body_subtreemass"] = subtree_sum(a, a["body_mass"])
    if pose is None:
        xpos, xquat = reference_pose(a)
        pose = Pose(a, a["qpos0"], xpos, xquat, *dof_axes(a, xpos, xquat))
        pose.sparse = sparse
    xpos, xquat = pose.xpos, pose.xquat
    xipos = xpos + rotations.rotate(xquat, a["body_ipos"])
    moment = tendon_moment(a, pose)
    diagonal = inverse_weights(a, pose, xipos, moment, blocks)
    if len(moment[0]):
        set_tendons(a, moment, blocks)
    set_equalities(a, pose)
    _cameras_and_lights(a, xpos, xquat, xipos)
    return statistics(a, pose, xipos, diagonal)


def dof_axes(a, xpos, xquat):
    """(axis (nv, 3), anchor (nv, 3), angular (nv,)) of the dofs in qpos0, world frame."""
    joint, body = a["dof_jntid"], a["dof_bodyid"]
    k = np.arange(len(joint)) - a["jnt_dofadr"][joint]
    kind = a["jnt_type"][joint]
    free, ball = kind == mjtJoint.mjJNT_FREE, kind == mjtJoint.mjJNT_BALL
    angular = ball | (kind == mjtJoint.mjJNT_HINGE) | (free & (k >= 3))
    axis = a["jnt_axis"][joint].copy()
    turned = ball | (free & angular)
    axis[turned | free] = np.eye(3)[k[turned | free] % 3]
    axis = np.where((free & ~angular)[:, None], axis, rotations.rotate(xquat[body], axis))
    anchor = xpos[body] + rotations.rotate(xquat[body], a["jnt_pos"][joint])
    return axis, anchor, angular


def statistics(a, pose, xipos, diagonal):
    """Mean inertia, mass and size, and the box of the model in qpos0; adds dof_length [m]."""
    xpos, xquat, nbody = pose.xpos, pose.xquat, len(xipos)
    owner, joint_body = a["geom_bodyid"], a["jnt_bodyid"]
    geom_pos, site_pos = pose.place("geom", slice(None))[0], pose.sites[0]
    anchor = xpos[joint_body] + rotations.rotate(xquat[joint_body], a["jnt_pos"])
    size, radius = a["geom_size"], a["geom_rbound"].copy()
    plane = (radius <= 0) & (a["geom_type"] == mjtGeom.mjGEOM_PLANE)
    widest = size[:, :2].max(1, initial=0)
    radius[plane] = np.where(widest[plane] > 0, 0.1 * widest[plane], 1.0)
    points = np.concatenate([xpos[1:], xipos[1:], anchor, site_pos, geom_pos])
    reach = np.concatenate([np.zeros(len(points) - len(radius)), radius])[:, None]
    stat = dict(meaninertia=1.0, meanmass=1.0, meansize=0.2, extent=2.0, center=np.zeros(3))
    if len(points):
        low, high = (points - reach).min(0), (points + reach).max(0)
        stat["center"] = 0.5 * (low + high)
        if high[0] > low[0]:
            stat["extent"] = max(1e-5, float((high - low).max()))

    length = np.zeros(nbody)
    for body in (joint_body, a["body_parentid"][joint_body]):
        np.maximum.at(length, body, np.linalg.norm(xipos[body] - anchor, axis=1))
    length[0] = 0
    bound = a["geom_rbound"] > 0
    far = a["geom_rbound"] + np.linalg.norm(xipos[owner] - geom_pos, axis=1)
    np.maximum.at(length, owner[bound], far[bound])
    if nbody > 1:
        length[1:] = np.maximum(length[1:], 1e-5)
        stat["meansize"] = float(np.sum(length[1:]) / (nbody - 1))
        stat["meanmass"] = float(np.sum(a["body_mass"][1:]) / (nbody - 1))
    stat["extent"] = max(stat["extent"], 2 * stat["meansize"])
    if len(diagonal):
        stat["meaninertia"] = float(np.mean(diagonal))
    a["dof_length"] = np.where(pose.angular, length[a["dof_bodyid"]], 1.0)
    return stat


def _cameras_and_lights(a, xpos, xquat, xipos):
    """Adds cam_pos0, cam_poscom0, cam_mat0, light_pos0, light_poscom0 and light_dir0."""
    moment = subtree_sum(a, a["body_mass"][:, None] * xipos)
    mass = a["body_subtreemass"][:, None]
    com = np.where(mass < MINVAL, xipos, moment / np.maximum(mass, MINVAL))
    for kind in ("cam", "light"):
        body, target = a[f"{kind}_bodyid"], a[f"{kind}_targetbodyid"]
        offset = rotations.rotate(xquat[body], a[f"{kind}_pos"])
        a[f"{kind}_pos0"] = offset
        a[f"{kind}_poscom0"] = xpos[body] + offset - com[np.where(target >= 0, target, body)]
    a["cam_mat0"] = rotations.matrix(rotations.mul(xquat[a["cam_bodyid"]], a["cam_quat"])).reshape(-1, 9)
    a["light_dir0"] = rotations.rotate(xquat[a["light_bodyid"]], a["light_dir"])


def spring_damper(a, values):
    """Stiffness and damping of joints from (time constant, damping ratio) (njnt, 2); rows of zeros are left alone."""
    rows = np.flatnonzero((values > 0).all(1))
    for j in rows.tolist():
        dofs = slice(a["jnt_dofadr"][j], a["jnt_dofadr"][j] + (6, 3, 1, 1)[a["jnt_type"][j]])
        weight = a["dof_invweight0"][dofs]
        inertia = len(weight) / max(MINVAL, float(weight.sum()))
        time, ratio = values[j]
        a["jnt_stiffness"][j] = inertia / max(MINVAL, time * time * ratio * ratio)
        a["dof_damping"][dofs] = 2 * inertia / max(MINVAL, time)
