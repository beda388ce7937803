"""Constants that follow from the reference pose qpos0: masses of subtrees, inverse weights, lengths, statistics.

The inertia matrix is block-diagonal over trees. Trees of the same shape (same parents, joints and addresses) are
treated together, as one batch of small dense matrices; ten thousand free bodies are one batch. No array grows with the
square of the model.
"""

import numpy as np

from tisim.enums import mjtGeom, mjtJoint

from .. import rotations
from ..tree import levels
from .kinematics import Pose
from .set_equalities import set_equalities
from .set_tendons import set_tendons
from .tendon_path import tendon_moment

MINVAL = 1e-15

# entries of one batch of inertia matrices; larger batches are cut to keep memory bounded
BATCH = 4_000_000
# trees with more dofs are factored by LAPACK, which is much faster for them
LAPACK = 100


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


def set_const(a, blocks=None, sparse=False):
    """Adds to the dict of model arrays: body_subtreemass, body_invweight0, dof_M0, dof_invweight0, dof_length, the
    tendon_, cam_ and light_ fields of the reference pose; completes eq_data. Returns dict(meaninertia, meanmass,
    meansize, extent, center).

    blocks  a list that receives the inverses of the inertia matrix for solve_m, or None where the model has no tendons.
    sparse  whether MuJoCo would use sparse Jacobians.
    """
    a["body_subtreemass"] = subtree_sum(a, a["body_mass"])
    xpos, xquat = reference_pose(a)
    xipos = xpos + rotations.rotate(xquat, a["body_ipos"])
    pose = Pose(a, a["qpos0"], xpos, xquat, *dof_axes(a, xpos, xquat))
    pose.sparse = sparse
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


def inverse_weights(a, pose, xipos, moment, blocks=None):
    """Adds dof_M0, dof_invweight0 and body_invweight0, tree by tree; the inverses to the list of blocks.

    moment  of the tendons (tendon_moment), whose armature is part of the inertia. Returns the diagonal of M (nv,).
    """
    nv = len(a["dof_bodyid"])
    axis, anchor, angular = pose.axis, pose.anchor, pose.angular
    heavy = _armature(a, moment)
    frame = rotations.matrix(rotations.mul(pose.xquat, rotations.normalize(a["body_iquat"])))
    inertia = np.einsum("nij,nj,nkj->nik", frame, a["body_inertia"], frame)
    a["dof_M0"], a["dof_invweight0"] = np.zeros(nv), np.zeros(nv)
    a["body_invweight0"] = np.zeros((len(xipos), 2))
    diagonal = np.zeros(nv)
    for trees, parents, owners in _shapes(a):
        n = len(owners)
        step = max(1, BATCH // (n * n))
        for start in range(0, len(trees), step):
            part = trees[start : start + step]
            inverse = _tree_batch(a, part, parents, owners, axis, anchor, angular, inertia, xipos, heavy, diagonal)
            if blocks is not None:
                blocks.append((a["tree_dofadr"][part][:, None] + np.arange(n), inverse))
    _slide_only(a)
    return diagonal


def _armature(a, moment):
    """dict tree -> (rows, dofs, values) of the moments of tendons with armature."""
    _, rows, dof, value = moment
    armature = a["tendon_armature"][rows]
    some = np.flatnonzero(armature != 0)
    if not len(some):
        return {}
    tree = a["dof_treeid"][dof[some]]
    some = some[np.argsort(tree, kind="stable")]
    trees, start = np.unique(np.sort(tree), return_index=True)
    parts = np.split(some, start[1:])
    return {int(t): (rows[i], dof[i], value[i]) for t, i in zip(trees, parts)}


def _add_armature(a, m, parents, rows, dof, value):
    """Adds the armature of tendons to the inertia matrix m (n, n) of a tree, where m may differ from zero.

    As in MuJoCo, what a tendon would couple besides (dofs of which neither moves the other's body) is left out.
    """
    n, first = len(m), int(a["tree_dofadr"][a["dof_treeid"][dof[0]]])
    ids, row = np.unique(rows, return_inverse=True)
    moment = np.zeros((len(ids), n))
    moment[row, dof - first] = value
    added = moment.T @ (moment * a["tendon_armature"][ids, None])
    above = np.eye(n, dtype=bool)
    for i, p in enumerate(parents.tolist()):
        if p >= 0 and not a["dof_simplenum"][first + i]:
            above[i] |= above[p]
    m += np.where(above | above.T, added, 0)


def _shapes(a):
    """Yields (tree ids, parent of each dof, body of each dof), both local to the tree, for each shape of tree."""
    groups = {}
    dofs, bodies = a["tree_dofadr"], a["tree_bodyadr"]
    parent = np.maximum(a["dof_parentid"].astype(np.int64) - dofs[a["dof_treeid"]], -1)
    owner = a["dof_bodyid"].astype(np.int64) - bodies[a["dof_treeid"]]
    above = a["body_weldid"] - bodies[a["body_treeid"]] if len(bodies) else a["body_weldid"]
    # the place of each dof in its joint, and the joint's type
    place = 4 * (np.arange(len(parent)) - a["jnt_dofadr"][a["dof_jntid"]]) + a["jnt_type"][a["dof_jntid"]]
    start, number = dofs.tolist(), a["tree_dofnum"].tolist()
    first, many = bodies.tolist(), a["tree_bodynum"].tolist()
    for tree in range(len(start)):
        d, b = slice(start[tree], start[tree] + number[tree]), slice(first[tree], first[tree] + many[tree])
        key = (parent[d].tobytes(), owner[d].tobytes(), place[d].tobytes(), above[b].tobytes())
        groups.setdefault(key, []).append(tree)
    for trees in groups.values():
        d = slice(start[trees[0]], start[trees[0]] + number[trees[0]])
        yield np.array(trees), parent[d], owner[d]


def _tree_batch(a, trees, parents, owners, axis, anchor, angular, inertia, xipos, heavy, total):
    """The three fields for trees of one shape: M by Jacobians of the bodies, then its inverse, which is returned."""
    n, nbody = len(owners), int(a["tree_bodynum"][trees[0]])
    dof = a["tree_dofadr"][trees][:, None] + np.arange(n)
    body = a["tree_bodyadr"][trees][:, None] + np.arange(nbody)
    m = np.zeros((len(trees), n, n))
    chains = []
    last = {int(b): i for i, b in enumerate(owners)}
    first_body = int(body[0, 0])
    for local in range(nbody):
        i = last.get(int(a["body_weldid"][first_body + local]) - first_body, -1)
        chain = []
        while i >= 0:
            chain.append(i)
            i = int(parents[i])
        chain = np.array(chain[::-1])
        chains.append(chain)
        turn, shift = _jacobian(dof[:, chain], axis, anchor, angular, xipos[body[:, local]])
        mass = a["body_mass"][body[:, local]]
        block = np.matmul(shift, shift.swapaxes(1, 2)) * mass[:, None, None]
        block += np.matmul(np.matmul(turn, inertia[body[:, local]]), turn.swapaxes(1, 2))
        m[_square(chain)] += block
    diagonal = np.arange(n)
    m[:, diagonal, diagonal] += a["dof_armature"][dof]
    a["dof_M0"][dof] = m[:, diagonal, diagonal]
    for i, tree in enumerate(trees.tolist() if heavy else ()):
        if tree in heavy:
            _add_armature(a, m[i], parents, *heavy[tree])
    total[dof] = m[:, diagonal, diagonal]
    inverse = _inverse(m)
    a["dof_invweight0"][dof] = _averaged(a, dof[0], inverse[:, diagonal, diagonal])
    for local, chain in enumerate(chains):
        turn, shift = _jacobian(dof[:, chain], axis, anchor, angular, xipos[body[:, local]])
        part = inverse[_square(chain)]
        a["body_invweight0"][body[:, local], 0] = np.sum(shift * np.matmul(part, shift), (1, 2)) / 3
        a["body_invweight0"][body[:, local], 1] = np.sum(turn * np.matmul(part, turn), (1, 2)) / 3
    return inverse


def _square(chain):
    """Index of the rows and columns `chain` in an array (t, n, n); slices where they are consecutive, for speed."""
    if len(chain) and chain[-1] - chain[0] == len(chain) - 1:
        run = slice(int(chain[0]), int(chain[-1]) + 1)
        return slice(None), run, run
    return slice(None), chain[:, None], chain


def _inverse(m):
    """Inverses of symmetric matrices (t, n, n) by L'DL from the last row up, as MuJoCo factors M.

    A pivot of zero (four hinges in one body) is replaced by mjMINVAL: a huge inverse weight, where MuJoCo has nan.
    """
    n = m.shape[1]
    if n > LAPACK:
        from scipy import linalg  # 0.2 s to import, and few models need it

        try:
            # the same order of elimination: from the last row up
            return np.array([linalg.cho_solve(linalg.cho_factor(x[::-1, ::-1]), np.eye(n))[::-1, ::-1] for x in m])
        except linalg.LinAlgError:
            pass
    m = m.copy()
    pivot = np.empty(m.shape[:2])
    lower = np.broadcast_to(np.eye(n), m.shape).copy()
    for k in range(n - 1, -1, -1):
        pivot[:, k] = np.where(np.abs(m[:, k, k]) < MINVAL, MINVAL, m[:, k, k])
        row = m[:, k, :k] / pivot[:, k, None]
        m[:, :k, :k] -= row[:, :, None] * m[:, k, None, :k]
        lower[:, k, :k] = row
    # M = L' D L, so M^-1 = L^-1 D^-1 L^-T
    solved = np.broadcast_to(np.eye(n), m.shape).copy()
    for k in range(1, n):
        solved[:, k] -= np.einsum("ti,tij->tj", lower[:, k, :k], solved[:, :k])
    return np.einsum("tik,tk,tjk->tij", solved, 1 / pivot, solved)


def _jacobian(dof, axis, anchor, angular, point):
    """Rotational and translational Jacobians (t, n, 3) of points (t, 3) for the dofs (t, n) that move them."""
    spin = angular[dof][..., None]
    turn = np.where(spin, axis[dof], 0.0)
    return turn, np.where(spin, np.cross(axis[dof], point[:, None] - anchor[dof]), axis[dof])


def _averaged(a, dof, values):
    """Averages values (t, n) over the three linear and three angular dofs of free joints and those of ball joints."""
    joint = a["dof_jntid"][dof]
    k = dof - a["jnt_dofadr"][joint]
    free = a["jnt_type"][joint] == mjtJoint.mjJNT_FREE
    group = np.cumsum((k == 0) | (free & (k == 3))) - 1
    sums = np.zeros((len(values), group[-1] + 1))
    for i, g in enumerate(group):
        sums[:, g] += values[:, i]
    return (sums / np.bincount(group))[:, group]


def _slide_only(a):
    """MuJoCo's shortcut for simple bodies with slides only: the inverse weight is 1 / mass, armature or not."""
    rows = np.flatnonzero((a["body_simple"] == 2) & (a["body_weldid"] != 0))
    weight = 1 / np.maximum(MINVAL, a["body_mass"])
    a["body_invweight0"][rows] = np.stack([weight[rows], np.zeros(len(rows))], 1)
    mine = a["body_simple"][a["dof_bodyid"]] == 2
    a["dof_invweight0"][mine] = weight[a["dof_bodyid"][mine]]


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
