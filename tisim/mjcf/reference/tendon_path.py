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
    layout = Layout(a)
    length, *entries = layout.joints(pose)
    entries = [tuple(entries)]
    if len(layout.first):
        x, bodies, arc = layout.spans(pose)
        length += layout.lengths(x, arc)
        for i in range(3):
            between = np.flatnonzero(bodies[:, i] != bodies[:, i + 1])
            x_i, b_i = x[between, i : i + 2], bodies[between, i : i + 2]
            entries.append(_piece(a, pose, layout.tendon[between], 1 / layout.divisor[between], x_i, b_i))
    rows, cols, values = (np.concatenate(column) for column in zip(*entries))
    return length, *merged(rows, cols, values, len(pose.axis))


class Layout:
    """What of the paths does not depend on the pose: the spans between neighbouring sites, and what they wrap round.

    tendon, divisor (n,)  of the spans;  ends (n, 2)  their sites;  rows  those that have a geom in between.
    """

    def __init__(self, a):
        self.a = a
        adr, num, kind, ids, prm = (a[n] for n in "tendon_adr tendon_num wrap_type wrap_objid wrap_prm".split())
        self.number, self.owner = len(adr), np.repeat(np.arange(len(adr)), num)
        place = np.arange(len(kind))
        pulley = np.maximum.accumulate(np.where(kind == PULLEY, place, -1))
        divisor = np.where(pulley >= adr[self.owner], prm[pulley], 1.0) if len(kind) else np.zeros(0)

        # what follows a site in its own tendon: the next site, or a geom and then a site
        follows = np.zeros(len(kind), int)
        follows[:-1] = np.where(self.owner[1:] == self.owner[:-1], kind[1:], 0)
        wrapped = (follows == mjtWrap.mjWRAP_SPHERE) | (follows == CYLINDER)
        self.first = first = np.flatnonzero((kind == SITE) & ((follows == SITE) | wrapped))
        has_geom = wrapped[first]
        self.tendon, self.divisor = self.owner[first], divisor[first]
        self.ends = np.stack([ids[first], ids[first + 1 + has_geom]], 1).astype(int)
        self.bodies = a["site_bodyid"][self.ends][:, [0, 0, 1, 1]]
        self.rows = np.flatnonzero(has_geom)
        at = first[self.rows] + 1
        self.geom, self.side = ids[at].astype(int), np.rint(prm[at]).astype(int)
        self.cylinder, self.radius = kind[at] == CYLINDER, a["geom_size"][self.geom, 0]

    def joints(self, pose):
        """(length (ntendon,), rows, cols, values) of the parts that are sums of joints."""
        a = self.a
        joint = np.flatnonzero(a["wrap_type"] == mjtWrap.mjWRAP_JOINT)
        coef, ids = a["wrap_prm"][joint], a["wrap_objid"][joint]
        length = np.bincount(self.owner[joint], coef * pose.qpos[a["jnt_qposadr"][ids]], self.number).astype(float)
        dof = a["jnt_dofadr"][ids].astype(np.int64)
        if not pose.sparse:
            # of a joint that a path names twice, only the last coefficient is in a dense moment; the length has both
            key = (self.owner[joint] * np.int64(len(pose.axis)) + dof)[::-1]
            last = len(joint) - 1 - np.unique(key, return_index=True)[1]
            joint, dof, coef = joint[last], dof[last], coef[last]
        return length, self.owner[joint], dof, coef

    def spans(self, pose):
        """(points (n, 4, 3), bodies (n, 4), arc (n,)) of the spans; where nothing is wrapped, arc is -1 and the second
        and third point are the first and last, so that the middle piece is the straight line.
        """
        x = pose.points(self.ends)[:, [0, 0, 1, 1]]
        bodies, arc, rows = self.bodies, np.full(len(x), -1.0), self.rows
        if len(rows):
            center, frame = pose.frames("geom", self.geom)
            side = pose.points(np.maximum(self.side, 0))
            found, points = wrap(
                x[rows, 0], x[rows, 3], center, frame, self.radius, self.cylinder, side, self.side >= 0
            )
            touches = found >= 0
            rows = rows[touches]
            arc[rows], x[rows, 1:3] = found[touches], points[touches]
            bodies = bodies.copy()
            bodies[rows, 1:3] = self.a["geom_bodyid"][self.geom[touches], None]
        return x, bodies, arc

    def lengths(self, x, arc):
        """(ntendon,) lengths of the paths through these points."""
        piece = np.sqrt((np.diff(x, axis=1) ** 2).sum(2))
        whole = (piece[:, 0] + piece[:, 2] + np.where(arc < 0, piece[:, 1], arc)) / self.divisor
        return np.bincount(self.tendon, whole, self.number).astype(float)


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
    local = local @ frame
    p0, p1, s = np.moveaxis(local, 1, 0)
    far = (np.sqrt((local[:, :2] ** 2).sum(2)) >= MINVAL).all(1)

    # the plane of a sphere's path has the first point on its x axis; a cylinder's is its own xy plane
    plane = np.tile(np.eye(3)[:2], (len(p0), 1, 1))
    sphere = np.flatnonzero(~cylinder)
    if len(sphere):
        plane[sphere] = _plane(p0[sphere], p1[sphere])
    d0, d1, ds = np.moveaxis(local @ plane.swapaxes(1, 2), 1, 0)
    ds = _unit(ds) * radius[:, None]
    inside = has_side & (np.linalg.norm(s, axis=1) < radius)
    arc, points = _outside(d0, d1, ds, has_side, radius)
    rows = np.flatnonzero(inside)
    if len(rows):
        arc[rows], points[rows] = _inside(d0[rows], d1[rows], radius[rows])
    arc = np.where(far, arc, -1.0)

    # back into space; on a cylinder the path is a helix, straight when the surface is unrolled
    found = points @ plane
    before, after = np.sqrt(((local[:, :2] - found)[..., :2] ** 2).sum(2)).T
    total = before + arc + after
    rise = (p1 - p0)[:, 2] / np.where(total == 0, 1.0, total)
    height = np.stack([p0[:, 2] + rise * before, p0[:, 2] + rise * (before + arc)], 1)
    found[..., 2] = np.where(cylinder[:, None], height, found[..., 2])
    helix = np.hypot(arc, height[:, 1] - height[:, 0])
    arc = np.where(cylinder & (arc >= 0), helix, arc)
    return arc, center[:, None] + found @ frame.swapaxes(1, 2)


def _unit(v):
    """Unit vectors (n, k); those without length become the first axis."""
    norm = np.sqrt((v * v).sum(-1, keepdims=True))
    short = norm < MINVAL
    if not short.any():
        return v / norm
    return np.where(short, np.eye(v.shape[-1])[0], v / np.where(short, 1.0, norm))


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
