"""Soft constraints on copies of a few trees: rows of joint and tendon limits, and the accelerations under them.

For the compiler's own simulations (lengthrange.py). Seed 000, "Constraint model" and "Parameters"; after MuJoCo's
mj_instantiateLimit and mj_makeImpedance (3.4.0, Apache-2.0).
"""

import numpy as np

from tisim.enums import mjtJoint

from .. import rotations
from ..numbers import MINVAL
from ..reference.transmission import rotation_vector

MINIMP, MAXIMP = 0.0001, 0.9999
MAX_NEWTON, MAX_SEARCH = 100, 200
SOLREF = np.array([0.02, 1.0])


class Rows:
    """Rows of constraints of all copies: J (copies, n, nv), pos, margin, weight (copies, n), solref and solimp.

    weight  the inverse inertia along the row;  exists (copies, n) bool;  equality (n,) bool: pulls both ways.
    """

    def __init__(self):
        self._parts = []

    def add(self, jacobian, pos, margin, weight, solref, solimp, equality=False, norm=None):
        """n rows; arrays are (copies, n, ...) or broadcast to that. norm  what the impedance depends on, else pos."""
        count, n = pos.shape
        norm = pos if norm is None else norm
        margin, weight = np.broadcast_to(margin, (count, n)), np.broadcast_to(weight, (count, n))
        solref, solimp = np.broadcast_to(solref, (n, 2)), np.broadcast_to(solimp, (n, 5))
        self._parts.append((jacobian, pos, margin, weight, norm, solref, solimp, np.full(n, equality)))

    def reference(self, qvel, step):
        """(J, D, aref, exists, equality): what the solver needs. step [s] bounds the stiffness."""
        jacobian, pos, margin, weight, norm = (np.concatenate(p, 1) for p in list(zip(*self._parts))[:5])
        solref, solimp, equality = (np.concatenate(p) for p in list(zip(*self._parts))[5:])
        exists = equality | (pos < margin)
        gap = pos - margin
        imp = _impedance(norm - margin, solimp)
        stiffness, damping = _spring(solref, np.clip(solimp[:, 1], MINIMP, MAXIMP), step)
        resistance = np.maximum(MINVAL, (1 - imp) * weight / imp)
        speed = (jacobian @ qvel[..., None])[..., 0]
        return jacobian, 1 / resistance, -damping * speed - stiffness * imp * gap, exists, equality

    def __len__(self):
        return sum(part[1].shape[1] for part in self._parts)


def _impedance(distance, solimp):
    """Impedance (copies, n) at a distance from where the constraint begins."""
    low, high = np.clip(solimp[:, :2], MINIMP, MAXIMP).T
    width = np.maximum(MINVAL, solimp[:, 2])
    middle, power = np.clip(solimp[:, 3], MINIMP, MAXIMP), np.maximum(1.0, solimp[:, 4])
    x = np.minimum(np.abs(distance) / width, 1.0)
    below = x**power / middle ** (power - 1)
    above = 1 - (1 - x) ** power / (1 - middle) ** (power - 1)
    y = np.where(power == 1, x, np.where(x <= middle, below, above))
    flat = (low == high) | (solimp[:, 2] <= MINVAL)
    return np.where(flat, 0.5 * (low + high), low + y * (high - low))


def _spring(solref, high, step):
    """Stiffness and damping (n,) per unit mass of reference accelerations."""
    mixed = (solref[:, 0] > 0) != (solref[:, 1] > 0)
    solref = np.where(mixed[:, None], SOLREF, solref)
    time, ratio = np.maximum(solref[:, 0], 2 * step), solref[:, 1]
    standard = solref[:, 0] > 0
    stiffness = 1 / np.maximum(MINVAL, high * high * time * time * ratio * ratio)
    damping = 2 / np.maximum(MINVAL, high * time)
    direct = -solref / np.stack([np.maximum(MINVAL, high * high), np.maximum(MINVAL, high)], 1)
    return np.where(standard, stiffness, direct[:, 0]), np.where(standard, damping, direct[:, 1])


def joint_limits(c, a, rows):
    """Adds the limits of the joints to the Rows. c  Copies;  a  dict of the model's own arrays."""
    joint = c.joint.moving
    limited = np.flatnonzero(a["jnt_limited"][joint])
    scalar = limited[c.kind[limited] >= mjtJoint.mjJNT_SLIDE]
    if len(scalar):
        ids, unit = joint[scalar], np.zeros((c.count, len(scalar), c.nv))
        unit[:, np.arange(len(scalar)), c.dofadr[scalar]] = 1
        _two_sides(rows, c.qpos[:, c.qposadr[scalar]], unit, a["jnt_range"][ids], a["jnt_margin"][ids],
                   a["dof_invweight0"][a["jnt_dofadr"][ids]], a["jnt_solref"][ids], a["jnt_solimp"][ids])  # fmt: skip
    for j in limited[c.kind[limited] == mjtJoint.mjJNT_BALL]:
        i, adr = joint[j], c.qposadr[j]
        turn = rotation_vector(rotations.normalize(c.qpos[:, adr : adr + 4]))
        angle = np.linalg.norm(turn, axis=1, keepdims=True)
        axis = np.where(angle < MINVAL, [1.0, 0.0, 0.0], turn / np.where(angle < MINVAL, 1.0, angle))
        jacobian = np.zeros((c.count, 1, c.nv))
        jacobian[:, 0, c.dofadr[j] : c.dofadr[j] + 3] = -axis
        rows.add(jacobian, a["jnt_range"][i].max() - angle, a["jnt_margin"][i],
                 a["dof_invweight0"][a["jnt_dofadr"][i]], a["jnt_solref"][i], a["jnt_solimp"][i])  # fmt: skip


def tendon_limits(c, a, rows):
    """Adds the limits of the tendons to the Rows; c.pose.tendons  must be there."""
    limited = np.flatnonzero(a["tendon_limited"][c.tendon.moving])
    if len(limited):
        length, *entries = c.pose.tendons
        n = len(c.tendon.moving)
        length, gradient = length.reshape(c.count, n), c.dense(*entries, n)
        i = c.tendon.moving[limited]
        _two_sides(rows, length[:, limited], gradient[:, limited], a["tendon_range"][i], a["tendon_margin"][i],
                   a["tendon_invweight0"][i], a["tendon_solref_lim"][i], a["tendon_solimp_lim"][i])  # fmt: skip


def _two_sides(rows, value, gradient, ranges, margin, weight, solref, solimp):
    rows.add(gradient, value - ranges[:, 0], margin, weight, solref, solimp)
    rows.add(-gradient, ranges[:, 1] - value, margin, weight, solref, solimp)


def accelerations(m, smooth, rows, qvel, step, start, scale, option):
    """(qacc, gradient), each (copies, nv), where `smooth` (copies, nv) are those without the Rows.

    qacc is where a convex, piecewise quadratic cost is least, and `gradient` what is left of its gradient there.

    m  (copies, nv, nv) inertia;  start  qacc to begin with, where it is better than the one without constraints;
    option  mjOption's fields. Newton's method with exact line search. It ends where MuJoCo's ends, when the cost times
    `scale` falls by less than the tolerance, or its gradient is smaller: in lengths that can be seen, by some 1e-9.
    """
    if not len(rows):
        return smooth, np.zeros(smooth.shape)
    jacobian, d, aref, exists, equality = rows.reference(qvel, step)

    def state(qacc, i=slice(None)):
        """(cost, gradient, residual, weight of the rows that act) of the copies i."""
        away = qacc - smooth[i]
        pull = (m[i] @ away[..., None])[..., 0]
        x = (jacobian[i] @ qacc[..., None])[..., 0] - aref[i]
        weight = d[i] * (exists[i] & (equality | (x < 0)))
        force = weight * x
        gradient = pull + (force[:, None] @ jacobian[i])[:, 0]
        return 0.5 * ((away * pull).sum(1) + (force * x).sum(1)), gradient, x, weight

    tolerance = option["tolerance"]
    one, other = state(start), state(smooth)
    better = one[0] <= other[0]
    qacc = np.where(better[:, None], start, smooth)
    at = [np.where(better if a.ndim == 1 else better[:, None], a, b) for a, b in zip(one, other)]
    residue = at[1].copy()
    todo = np.flatnonzero(residue.any(1))
    at = [a[todo] for a in at]
    for _ in range(min(option["iterations"], MAX_NEWTON)):
        if not len(todo):
            break
        these = slice(None) if len(todo) == len(m) else todo
        cost, gradient, x, weight = at
        j = jacobian[these]
        hessian = m[these] + j.swapaxes(1, 2) @ (weight[..., None] * j)
        move = -np.linalg.solve(hessian, gradient[..., None])[..., 0]
        along = (j @ move[..., None])[..., 0]
        after = exists[todo] & (equality | (x + along < 0))
        late = np.flatnonzero((after != (weight > 0)).any(1))
        if len(late):
            i = todo[late]
            pull = (m[i] @ move[late, :, None])[..., 0]
            slope = ((qacc[i] - smooth[i]) * pull).sum(1)
            curve = (move[late] * pull).sum(1)
            move[late] *= _line_search(curve, slope, x[late], along[late], d[i], exists[i], equality)[:, None]
        qacc[todo] += move
        at = state(qacc[these], these)
        residue[todo] = at[1]
        going = (scale * (cost - at[0]) >= tolerance) & (scale * np.linalg.norm(at[1], axis=1) >= tolerance)
        todo = todo[going]
        at = [a[going] for a in at]
    return qacc, residue


def _line_search(curve, slope, x, along, d, acting, equality):
    """Steps (n,) to the zero of the cost's derivative along a line; it grows with the step, piece by piece linear."""

    def derivative(size):
        at = x + size[:, None] * along
        on = acting & (equality | (at < 0))
        first = slope + size * curve + np.where(on, d * at * along, 0.0).sum(1)
        return first, curve + np.where(on, d * along * along, 0.0).sum(1)

    low, high = np.zeros(len(x)), np.full(len(x), np.inf)
    size = np.ones(len(x))
    for _ in range(MAX_SEARCH):
        first, second = derivative(size)
        low, high = np.where(first <= 0, size, low), np.where(first >= 0, size, high)
        after = size - first / np.where(second > 0, second, 1.0)
        outside = ~((after > low) & (after < high))
        after = np.where(outside, np.where(np.isinf(high), 2 * size, 0.5 * (low + high)), after)
        if (np.abs(after - size) <= 1e-14 * np.maximum(size, 1e-14)).all():
            break
        size = np.where(first == 0, size, after)
    return size
