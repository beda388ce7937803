"""Rows of equality constraints on copies of a few trees; see soft_constraints.py.

Seed 004, "Equality constraints"; after MuJoCo's mj_instantiateEquality and mj_diagApprox (3.4.0, Apache-2.0).
"""

import numpy as np

from tisim.enums import mjtEq, mjtObj

from .. import rotations
from ..reference.kinematics import chains


def trees_of(a, i):
    """Ids of the trees that equality constraint i joins; a  has wrap_tree."""
    first, second = int(a["eq_obj1id"][i]), int(a["eq_obj2id"][i])
    kind, ends = a["eq_type"][i], [k for k in (first, second) if k >= 0]
    if kind == mjtEq.mjEQ_TENDON:
        parts = [a["wrap_tree"][a["tendon_adr"][t] : a["tendon_adr"][t] + a["tendon_num"][t]] for t in ends]
        trees = np.concatenate(parts)
    else:
        by_site = a["eq_objtype"][i] == mjtObj.mjOBJ_SITE
        owner = "jnt_bodyid" if kind == mjtEq.mjEQ_JOINT else "site_bodyid" if by_site else None
        trees = a["body_treeid"][a[owner][ends] if owner else ends]
    return sorted({int(t) for t in trees if t >= 0})


def tendons_of(a, ids):
    """Ids of the tendons that these equality constraints join."""
    ids = [i for i in ids if a["eq_type"][i] == mjtEq.mjEQ_TENDON]
    ends = np.stack([a["eq_obj1id"][ids], a["eq_obj2id"][ids]]).ravel()
    return ends[ends >= 0].tolist()


def equalities(c, a, rows, ids):
    """Adds the equality constraints `ids` to the Rows. c  Copies;  a  dict of the model's own arrays."""
    for i in ids:
        kind = a["eq_type"][i]
        if kind in (mjtEq.mjEQ_JOINT, mjtEq.mjEQ_TENDON):
            jacobian, pos, weight = _polynomial(c, a, i, kind == mjtEq.mjEQ_JOINT)
        else:
            jacobian, pos, weight = _attachment(c, a, i, kind == mjtEq.mjEQ_WELD)
        norm = np.linalg.norm(pos, axis=1, keepdims=True)
        rows.add(jacobian, pos, 0.0, weight, a["eq_solref"][i], a["eq_solimp"][i], True,
                 np.broadcast_to(norm, pos.shape))  # fmt: skip


def _polynomial(c, a, i, joint):
    """The first joint or tendon follows a polynomial of the second one, both measured from the reference pose."""
    ends = [k for k in (int(a["eq_obj1id"][i]), int(a["eq_obj2id"][i])) if k >= 0]
    values, gradients, weight = [], [], 0.0
    for k in ends:
        if joint:
            place = c.joint.place[k]
            gradient = np.zeros((c.count, 1, c.nv))
            gradient[:, 0, c.dofadr[place]] = 1
            values.append(c.qpos[:, c.qposadr[place]] - a["qpos0"][a["jnt_qposadr"][k]])
            weight += a["dof_invweight0"][a["jnt_dofadr"][k]]
        else:
            length, *entries = c.pose.tendons
            place, n = c.tendon.place[k], len(c.tendon.moving)
            gradient = c.dense(*entries, n)[:, place : place + 1]
            values.append(length.reshape(c.count, n)[:, place] - a["tendon_length0"][k])
            weight += a["tendon_invweight0"][k]
        gradients.append(gradient)
    coef = a["eq_data"][i, :5]
    if len(ends) == 1:
        return gradients[0], values[0][:, None] - coef[0], weight
    wanted, slope = np.polyval(coef[::-1], values[1]), np.polyval((coef[1:] * [1, 2, 3, 4])[::-1], values[1])
    return gradients[0] - slope[:, None, None] * gradients[1], (values[0] - wanted)[:, None], weight


def _attachment(c, a, i, weld):
    """Two points are one; in a weld, two frames as well."""
    ends, data = (int(a["eq_obj1id"][i]), int(a["eq_obj2id"][i])), a["eq_data"][i]
    by_site = a["eq_objtype"][i] == mjtObj.mjOBJ_SITE
    copies = np.arange(c.count)
    points, quats, linear, angular, weight = [], [], [], [], np.zeros(2)
    for end, k in enumerate(ends):
        owner = int(a["site_bodyid"][k]) if by_site else k
        weight += a["body_invweight0"][owner]
        body = c.body.renumber(np.full(c.count, owner), copies)
        quat = c.pose.xquat[body]
        if by_site:
            point = c.pose.sites[0][c.site.renumber(np.full(c.count, k), copies)]
            quat = rotations.mul(quat, a["site_quat"][k])
        else:
            anchor = data[3 * (end == (0 if weld else 1)) :][:3]
            point = c.pose.xpos[body] + rotations.rotate(quat, anchor)
        points.append(point)
        quats.append(quat)
        index, dof = chains(c.arrays, body)
        parts = c.pose.jacobian(index, dof, point)
        for out, part in zip((linear, angular), parts):
            full = np.zeros((c.count, c.nv, 3))
            full[index, dof % max(c.nv, 1)] = part
            out.append(full)
    pos, jacobian = points[0] - points[1], (linear[0] - linear[1]).swapaxes(1, 2)
    if not weld:
        return jacobian, pos, weight[0]
    scale = data[10]
    quat = quats[0] if by_site else rotations.mul(quats[0], data[6:10])
    back = rotations.conjugate(quats[1])
    turned = rotations.mul(back, quat)[:, 1:]
    turn = np.concatenate([np.zeros((c.count, c.nv, 1)), angular[0] - angular[1]], 2)
    rate = 0.5 * rotations.mul(rotations.mul(back[:, None], turn), quat[:, None])[..., 1:]
    jacobian = np.concatenate([jacobian, scale * rate.swapaxes(1, 2)], 1)
    return jacobian, np.concatenate([pos, scale * turned], 1), np.repeat(weight, 3)
