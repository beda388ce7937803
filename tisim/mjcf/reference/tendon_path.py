"""Lengths and moments of tendons in any pose: sums of joints, and paths through sites, round spheres and cylinders.

A path is cut into spans between two sites; a span may have a geom in between. The path touches the geom in two points,
so a span is one straight piece or two with an arc. All spans of a model are treated at once, row by row of an array.
The rules are those of MuJoCo's mj_tendon and mju_wrap (3.4.0, Apache-2.0); seed 000, "Tendon length and moment".
"""

import numpy as np

from tisim.enums import mjtWrap

from .. import rotations
from ..numbers import MINVAL
from .kinematics import chains, merged

SITE, PULLEY, CYLINDER = mjtWrap.mjWRAP_SITE, mjtWrap.mjWRAP_PULLEY, mjtWrap.mjWRAP_CYLINDER

# Newton's method for inner wrapping: most iterations, start, tolerance [rad]; MuJoCo's, to end where MuJoCo ends
MAX_ITERATIONS, START, TOLERANCE = 20, 1 - 1e-7, 1e-6


def tendon_moment(a, pose):
    """(length (ntendon,) [m or rad], rows, cols, values): the lengths and their sparse gradient by the dofs.

    a  dict of model arrays;  pose  kinematics.Pose. Rows are sorted, each (row, column) occurs once.
    """
    adr, num, kind = a["tendon_adr"], a["tendon_num"], a["wrap_type"]
    owner = np.repeat(np.arange(len(adr)), num)
    length = np.zeros(len(adr))
    joint = np.flatnonzero(kind == mjtWrap.mjWRAP_JOINT)
    coef, ids = a["wrap_prm"][joint], a["wrap_objid"][joint]
    np.add.at(length, owner[joint], coef * pose.qpos[a["jnt_qposadr"][ids]])
    dof = a["jnt_dofadr"][ids].astype(np.int64)
    if not pose.sparse:
        # of a joint that a path names twice, only the last coefficient is in a dense moment; the length has both
        last = len(joint) - 1 - np.unique((owner[joint] * np.int64(len(pose.axis)) + dof)[::-1], return_index=True)[1]
        joint, dof, coef = joint[last], dof[last], coef[last]
    entries = [(owner[joint], dof, coef)]
    if (kind == SITE).any():
        tendon, divisor, x, bodies, arc = _spans(a, pose, owner)
        straight = np.diff(x, axis=1)  # (n, 3 pieces, 3)
        piece = np.linalg.norm(straight, axis=2)
        np.add.at(length, tendon, (piece[:, 0] + piece[:, 2] + np.where(arc < 0, piece[:, 1], arc)) / divisor)
        for i in range(3):
            between = np.flatnonzero(bodies[:, i] != bodies[:, i + 1])
            x_i, b_i = x[between, i : i + 2], bodies[between, i : i + 2]
            entries.append(_piece(a, pose, tendon[between], 1 / divisor[between], x_i, b_i))
    rows, cols, values = (np.concatenate(column) for column in zip(*entries))
    return length, *merged(rows, cols, values, len(pose.axis))


def _spans(a, pose, owner):
    """The spans between neighbouring sites of a path.

    Returns (tendon (n,), divisor (n,), points (n, 4, 3), bodies (n, 4), arc (n,)); where nothing is wrapped, arc is -1
    and the second and third point are the first and last, so that the middle piece is the straight line.
    """
    kind, ids, prm = a["wrap_type"], a["wrap_objid"], a["wrap_prm"]
    place = np.arange(len(kind))
    tendon_start = a["tendon_adr"][owner]
    pulley = np.maximum.accumulate(np.where(kind == PULLEY, place, -1))
    divisor = np.where(pulley >= tendon_start, prm[pulley], 1.0)

    # what follows a site in its own tendon: the next site, or a geom and then a site
    follows = np.append(np.where(owner[1:] == owner[:-1], kind[1:], 0), 0)
    wrapped = (follows == mjtWrap.mjWRAP_SPHERE) | (follows == CYLINDER)
    first = np.flatnonzero((kind == SITE) & ((follows == SITE) | wrapped))
    has_geom = wrapped[first]
    ends = np.stack([ids[first], ids[first + 1 + has_geom]], 1)
    body = a["site_bodyid"]
    x = pose.points(ends)[:, [0, 0, 1, 1]]
    bodies = body[ends][:, [0, 0, 1, 1]]
    arc = np.full(len(first), -1.0)
    rows = np.flatnonzero(has_geom)
    if len(rows):
        at = first[rows] + 1
        geom, side = ids[at], np.rint(prm[at]).astype(int)
        center, turn = pose.place("geom", geom)
        frame = rotations.matrix(rotations.normalize(turn))
        side_pos = pose.points(np.maximum(side, 0))
        found, points = wrap(x[rows, 0], x[rows, 3], center, frame, a["geom_size"][geom, 0], kind[at] == CYLINDER,
                             side_pos, side >= 0)  # fmt: skip
        touches = found >= 0
        rows = rows[touches]
        arc[rows], x[rows, 1:3] = found[touches], points[touches]
        bodies[rows, 1:3] = a["geom_bodyid"][geom[touches], None]
    return owner[first], divisor[first], x, bodies, arc


def _piece(a, pose, tendon, scale, x, bodies):
    """Entries (rows, cols, values) of straight pieces between points x (n, 2, 3) of bodies (n, 2): scale d|x1 - x0|/dq.

    Dofs that move both ends do not change the distance and get no entry.
    """
    along = _unit(x[:, 1] - x[:, 0])
    parts = []
    for end, sign in ((0, -1.0), (1, 1.0)):
        index, dof = chains(a, bodies[:, end])
        linear, _ = pose.jacobian(index, dof, x[:, end])
        parts.append((index, dof, sign * scale[index] * (along[index] * linear).sum(1)))
    index, dof, value = (np.concatenate(column) for column in zip(*parts))
    _, place, count = np.unique(index * np.int64(len(pose.axis)) + dof, return_inverse=True, return_counts=True)
    own = count[place] == 1
    return tendon[index[own]], dof[own].astype(np.int64), value[own]


def wrap(x0, x1, center, frame, radius, cylinder, side, has_side):
    """The shortest paths from x0 to x1 (n, 3) round spheres and cylinders, on the side of a side site if there is one.

    center (n, 3), frame (n, 3, 3), radius (n,), cylinder (n,) bool  describe the geoms;  side (n, 3), has_side (n,).
    A side site inside the geom makes the path pass through the inside: it touches the surface in one point, arc 0.
    Returns (arc (n,) [m], points (n, 2, 3)); arc is -1 where the straight line is free.
    """
    local = np.stack([x0 - center, x1 - center, side - center], 1)
    local = np.einsum("nki,nij->nkj", local, frame)
    p0, p1, s = np.moveaxis(local, 1, 0)
    far = (np.linalg.norm(p0, axis=1) >= MINVAL) & (np.linalg.norm(p1, axis=1) >= MINVAL)

    # the plane of a sphere's path has the first point on its x axis; a cylinder's is its own xy plane
    plane = _plane(p0, p1)
    plane[cylinder] = np.eye(3)[:2]
    d0, d1, ds = (np.einsum("nai,ni->na", plane, p) for p in (p0, p1, s))
    ds = _unit(ds) * radius[:, None]
    inside = has_side & (np.linalg.norm(s, axis=1) < radius)
    arc, points = _outside(d0, d1, ds, has_side, radius)
    rows = np.flatnonzero(inside)
    arc[rows], points[rows] = _inside(d0[rows], d1[rows], radius[rows])
    arc = np.where(far, arc, -1.0)

    # back into space; on a cylinder the path is a helix, straight when the surface is unrolled
    found = np.einsum("nka,nai->nki", points, plane)
    before = np.linalg.norm((p0 - found[:, 0])[:, :2], axis=1)
    after = np.linalg.norm((p1 - found[:, 1])[:, :2], axis=1)
    total = before + arc + after
    rise = (p1 - p0)[:, 2] / np.where(total == 0, 1.0, total)
    height = np.stack([p0[:, 2] + rise * before, p0[:, 2] + rise * (before + arc)], 1)
    found[..., 2] = np.where(cylinder[:, None], height, found[..., 2])
    helix = np.hypot(arc, height[:, 1] - height[:, 0])
    arc = np.where(cylinder & (arc >= 0), helix, arc)
    return arc, center[:, None] + np.einsum("nij,nkj->nki", frame, found)


def _unit(v):
    """Unit vectors (n, k); those without length become the first axis."""
    norm = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.where(norm < MINVAL, np.eye(v.shape[-1])[0], v / np.where(norm < MINVAL, 1.0, norm))


def _plane(p0, p1):
    """Two axes (n, 2, 3) that span the plane of the origin and two points; the first one points to p0."""
    x = _unit(p0)
    normal = rotations.cross(p0, p1)
    flat = np.linalg.norm(normal, axis=1) < MINVAL
    other = np.ones(x.shape)
    other[np.arange(len(x)), np.argmax(np.abs(x), axis=1)] = 0
    normal = _unit(np.where(flat[:, None], rotations.cross(x, other), normal))
    return np.stack([x, _unit(rotations.cross(normal, x))], 1)


def _outside(d0, d1, side, has_side, radius):
    """Wraps round circles in the plane: (arc (n,) or -1, touching points (n, 2, 2))."""
    square = radius * radius
    s0, s1 = (d0 * d0).sum(1), (d1 * d1).sum(1)
    along = d1 - d0
    dd = (along * along).sum(1)
    free = (s0 < square) | (s1 < square) | (radius < MINVAL) | (dd < MINVAL)
    nearest = d0 + along * np.clip(-(along * d0).sum(1) / np.where(dd < MINVAL, 1.0, dd), 0, 1)[:, None]
    right_side = ~has_side | ((side * nearest).sum(1) >= 0)
    free |= ((nearest * nearest).sum(1) > square) & right_side
    r0, r1 = np.sqrt(np.maximum(s0 - square, 0)), np.sqrt(np.maximum(s1 - square, 0))

    # two pairs of tangents, one round each way
    points, good = [], []
    for sign in (1.0, -1.0):
        t0 = (d0 * square[:, None] + (sign * radius * r0)[:, None] * np.stack([d0[:, 1], -d0[:, 0]], 1)) / s0[:, None]
        t1 = (d1 * square[:, None] - (sign * radius * r1)[:, None] * np.stack([d1[:, 1], -d1[:, 0]], 1)) / s1[:, None]
        by_side = (_unit(t0 + t1) * side).sum(1)
        good.append(np.where(has_side, by_side, -((t0 - t1) ** 2).sum(1)))
        good[-1] = np.where(_crosses(d0, t0, d1, t1), -10000.0, good[-1])
        points.append(np.stack([t0, t1], 1))
    second = ~(good[0] > good[1])
    points = np.where(second[:, None, None], points[1], points[0])
    t0, t1 = points[:, 0], points[:, 1]
    free |= _crosses(d0, t0, d1, t1)
    angle = np.arccos(np.clip((_unit(t0) * _unit(t1)).sum(1), -1, 1))
    cross = t0[:, 1] * t1[:, 0] - t0[:, 0] * t1[:, 1]
    angle = np.where(((cross > 0) & second) | ((cross < 0) & ~second), 2 * np.pi - angle, angle)
    return np.where(free, -1.0, radius * angle), points


def _crosses(p1, p2, p3, p4):
    """(n,) bool: whether the segments p1 p2 and p3 p4 meet."""
    a, b, c = p2 - p1, p4 - p3, p1 - p3
    det = b[:, 1] * a[:, 0] - b[:, 0] * a[:, 1]
    parallel = np.abs(det) < MINVAL
    det = np.where(parallel, 1.0, det)
    s = (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]) / det
    t = (a[:, 0] * c[:, 1] - a[:, 1] * c[:, 0]) / det
    return ~parallel & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)


def _inside(d0, d1, radius):
    """Paths that touch circles from the outer side of a point inside: (0 or -1 (n,), the point twice (n, 2, 2)).

    The touching point is where the angles of both pieces to the radius are equal, sin of which is found by Newton's
    method; where it fails, it is the direction halfway between the ends.
    """
    l0, l1 = np.linalg.norm(d0, axis=1), np.linalg.norm(d1, axis=1)
    along = d1 - d0
    dd = (along * along).sum(1)
    free = (l0 <= radius) | (l1 <= radius) | (radius < MINVAL)
    part = -(along * d0).sum(1) / np.where(dd > MINVAL, dd, 1.0)
    middle = np.linalg.norm(d0 + along * part[:, None], axis=1)
    free |= (dd > MINVAL) & (part > 0) & (part < 1) & (middle <= radius)
    l0, l1 = np.where(free, 1.0, l0), np.where(free, 1.0, l1)
    a, b = np.where(free, 0.5, radius / l0), np.where(free, 0.5, radius / l1)
    cosine = np.where(free, 0.0, (l0 * l0 + l1 * l1 - dd) / (2 * l0 * l1))
    free |= cosine < -1 + MINVAL
    gap = np.arccos(np.clip(cosine, -1, 1))

    def excess(z):
        return np.arcsin(a * z) + np.arcsin(b * z) - 2 * np.arcsin(z) + gap

    z = np.full(len(l0), START)
    f = excess(z)
    works = (cosine <= 1 - MINVAL) & (f <= 0)
    for _ in range(MAX_ITERATIONS):
        active = works & (np.abs(f) > TOLERANCE)
        if not active.any():
            break
        slopes = [k / np.maximum(MINVAL, np.sqrt(np.maximum(1 - (z * r) ** 2, 0))) for k, r in ((a, a), (b, b), (2, 1))]
        slope = slopes[0] + slopes[1] - slopes[2]
        works &= ~active | (slope <= -MINVAL)
        active &= works
        step = np.where(active, f / np.where(active, slope, 1.0), 0.0)
        works &= ~active | (step >= 0)
        z = np.where(active & works, z - step, z)
        f = excess(z)
        works &= ~active | (f <= TOLERANCE)
    works &= np.abs(f) <= TOLERANCE
    left = d0[:, 0] * d1[:, 1] - d0[:, 1] * d1[:, 0] > 0
    start = _unit(np.where(left[:, None], d0, d1))
    angle = np.arcsin(np.clip(z, -1, 1)) - np.arcsin(np.where(left, a, b) * z)
    c, s = np.cos(angle), np.sin(angle)
    turned = np.stack([c * start[:, 0] - s * start[:, 1], s * start[:, 0] + c * start[:, 1]], 1)
    point = radius[:, None] * np.where(works[:, None], turned, _unit(0.5 * (d0 + d1)))
    return np.where(free, -1.0, 0.0), np.stack([point, point], 1)
