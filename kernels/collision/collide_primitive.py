"""Contacts of planes, spheres and capsules, and of a plane with a box. A sphere is a capsule of no length.

Each function takes a pair, writes distance, midpoint and normal (from geom 1 to geom 2) of each contact to the pair's
slots, and returns their number; collision/narrowphase.py calls them. Seed 000, "Checking"; the rules are those of
MuJoCo 3.4.0.
"""

from ..constants import CAPSULE
from ..slots import put
from ..wide import *

# squared sine below which lines are parallel besides MuJoCo's MINVAL: what rounding leaves of it in f32
PARALLEL = 0.0 if FP == ti.f64 else 1e-6
# and below which capsules that are pressed together have two contacts under the second dynamics: 8 degrees; way between
# these, of half a length
ALONG, SHORT_WAY = 0.02, 0.05


@func
def axis_of(m, d, i):
    """The geom's z axis: normal of a plane, axis of a capsule."""
    return vec3(d.geom_xmat[i][0, 2], d.geom_xmat[i][1, 2], d.geom_xmat[i][2, 2])


@func
def half_axis(m, d, i, g):
    """Half axis of a capsule, zero for a sphere."""
    h = vec3(0.0, 0.0, 0.0)
    if m.geom_type[g] == CAPSULE:
        h = m.geom_size[i, g][1] * axis_of(m, d, i)
    return h


@func
def plane_round(m, d, slot, margin, i1, i2, g1, g2):
    """Plane against sphere (1 contact) or capsule (one at each end)."""
    normal = axis_of(m, d, i1)
    radius = m.geom_size[i2, g2][0]
    h = half_axis(m, d, i2, g2)
    nend = 1
    if m.geom_type[g2] == CAPSULE:
        nend = 2
    n = 0
    for e in range(nend):
        x = d.geom_xpos[i2] + (1.0 - 2.0 * e) * h
        height = (x - d.geom_xpos[i1]).dot(normal)
        dist = height - radius
        if height <= margin + radius:
            put(m, d, slot + n, dist, x - (0.5 * dist + radius) * normal, normal)
            n += 1
    return n


@func
def plane_box(m, d, slot, margin, i1, i2, g1, g2):
    """Plane against box: the first 4 of its corners (x fastest) that are in the lower half and within the margin."""
    normal = axis_of(m, d, i1)
    R = d.geom_xmat[i2]
    center = d.geom_xpos[i2]
    height = (center - d.geom_xpos[i1]).dot(normal)
    size = m.geom_size[i2, g2]
    n = 0
    for c in range(8):
        sign = vec3(2.0 * (c & 1) - 1.0, 2.0 * ((c >> 1) & 1) - 1.0, 2.0 * (c >> 2) - 1.0)
        corner = R @ (sign * size)
        below = normal.dot(corner)
        if below <= 0.0 and height + below <= margin and n < 4:
            dist = height + below
            put(m, d, slot + n, dist, corner + center - 0.5 * dist * normal, normal)
            n += 1
    return n


@ti.func
def nearest_on_lines(h1, h2, delta):
    """Parameters in [-1, 1] of the nearest points of the segments x1 + s h1 and x2 + u h2, d = x1 - x2.

    Not for parallel ones. Solved for the lines, then clipped in the order s, u, s.
    """
    a = h1.dot(h1)
    b = -h1.dot(h2)
    c = h2.dot(h2)
    v1 = -h1.dot(delta)
    v2 = h2.dot(delta)
    det = a * c - b * b
    s = (c * v1 - b * v2) / det
    u = (a * v2 - b * v1) / det
    if s > 1.0:
        s = 1.0
        u = (v2 - b) / c
    elif s < -1.0:
        s = -1.0
        u = (v2 + b) / c
    if u > 1.0:
        u = 1.0
        s = ti.max(-1.0, ti.min(1.0, (v1 - b) / a))
    elif u < -1.0:
        u = -1.0
        s = ti.max(-1.0, ti.min(1.0, (v1 + b) / a))
    return s, u


@ti.func
def sphere_sphere(x1, r1, axis1, x2, r2, axis2):
    """Distance, midpoint and normal of two spheres; around the same point the normal is across both axes."""
    normal = x2 - x1
    length = normal.norm()
    dist = length - r1 - r2
    if length < MINVAL:
        normal = axis1.cross(axis2)
        length = normal.norm()
        if length < MINVAL:
            normal = vec3(1.0, 0.0, 0.0)
            length = 1.0
    normal = normal / length
    return dist, x1 + (r1 + 0.5 * dist) * normal, normal


@func
def round_round(m, d, slot, margin, i1, i2, g1, g2):
    """Spheres and capsules with each other: nearest points of two segments; parallel capsules may touch at two ends.

    Under the second dynamics nearly parallel ones do, too, where they are pressed together: each would be tipped by the
    one contact at an end of the other, now here, now there, and be pressed into it farther (tisim/LCP.md).
    """
    x1 = d.geom_xpos[i1]
    x2 = d.geom_xpos[i2]
    h1 = half_axis(m, d, i1, g1)
    h2 = half_axis(m, d, i2, g2)
    delta = x1 - x2
    aa = h1.dot(h1)
    cc = h2.dot(h2)
    b = -h1.dot(h2)
    v1 = -h1.dot(delta)
    v2 = h2.dot(delta)
    parallel = m.geom_type[g1] == CAPSULE and ti.abs(aa * cc - b * b) < ti.max(MINVAL, PARALLEL * aa * cc)
    ntry = 1
    if parallel:
        ntry = 4
    n = 0
    for k in range(ntry):
        s = FP(0.0)
        u = FP(0.0)
        if parallel:  # an end of one against the other's nearest point: both ends of 1, then both of 2
            end = 1.0 - 2.0 * (k & 1)
            if k < 2:
                s = end
                u = ti.max(-1.0, ti.min(1.0, (v2 - end * b) / ti.max(cc, MINVAL)))
            else:
                u = end
                s = ti.max(-1.0, ti.min(1.0, (v1 - end * b) / ti.max(aa, MINVAL)))
        elif m.geom_type[g1] == CAPSULE:
            s, u = nearest_on_lines(h1, h2, delta)
        y2 = x2 + u * h2
        if m.geom_type[g1] != CAPSULE and m.geom_type[g2] == CAPSULE:
            half = m.geom_size[i2, g2][1]
            axis = axis_of(m, d, i2)
            y2 = x2 + ti.max(-half, ti.min(half, axis.dot(delta))) * axis
        dist, pos, normal = sphere_sphere(
            x1 + s * h1, m.geom_size[i1, g1][0], axis_of(m, d, i1), y2, m.geom_size[i2, g2][0], axis_of(m, d, i2)
        )
        if dist <= margin and n < 2:
            put(m, d, slot + n, dist, pos, normal)
            n += 1
            if ti.static(m.has.closing):
                if not parallel and aa * cc - b * b < FP(ALONG) * aa * cc:
                    end, near_end = other_end(aa, b, cc, v1, v2, s)
                    dist, pos, normal = sphere_sphere(
                        x1 + end * h1, m.geom_size[i1, g1][0], h1, x2 + near_end * h2, m.geom_size[i2, g2][0], h2
                    )
                    if dist <= 0.0 and ti.abs(end - s) > FP(SHORT_WAY):
                        put(m, d, slot + n, dist, pos, normal)
                        n += 1
    return n


@ti.func
def other_end(aa, b, cc, v1, v2, s):
    """Where two segments that lie along each other end to do so, at the end that is farther from parameter s of the
    first: parameters as of nearest_on_lines."""
    ends = (v1 - b) / aa, (v1 + b) / aa
    low, high = ti.max(-1.0, ti.min(ends[0], ends[1])), ti.min(1.0, ti.max(ends[0], ends[1]))
    end = ti.select(high - s > s - low, high, low)
    return end, ti.max(-1.0, ti.min(1.0, (v2 - end * b) / cc))
