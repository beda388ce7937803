"""Contacts of a sphere or capsule with a box. The rules, the choice between equals included, are those of MuJoCo 3.4.0
(Apache-2.0); seed 000, "Checking".
"""

from ..constants import CAPSULE
from ..slots import put
from ..wide import *
from .collide_primitive import PARALLEL, axis_of

NEAR = 1.001  # slack of the early test of a capsule's box, in the frame of the other
CLOSER = 0.9999  # slack of the bound that lets edges be left out
FAR = 1e10  # larger than any step along a segment
TIE = 0.0 if FP == ti.f64 else 1e-6  # share by which an edge must be nearer than what was found: rounding of f32


@ti.func
def sphere_in_box_frame(c, radius, size):
    """Sphere at c against a box at the origin: distance, midpoint and normal; from inside, out through the nearest
    face.
    """
    clamped = ti.max(-size, ti.min(size, c))
    normal = clamped - c
    dist = normal.norm()
    pos = c
    if dist <= MINVAL:
        depth = 2.0 * (size[0] + size[1] + size[2])
        normal = vec3(0.0, 0.0, 0.0)
        for k in ti.static(range(3)):
            if size[k] + c[k] < depth:
                depth = size[k] + c[k]
                normal = vec3(0.0, 0.0, 0.0)
                normal[k] = 1.0
            if size[k] - c[k] < depth:
                depth = size[k] - c[k]
                normal = vec3(0.0, 0.0, 0.0)
                normal[k] = -1.0
        pos = c + 0.5 * (radius - depth) * normal
        dist = -depth
    else:
        normal = normal / dist
        pos = 0.5 * (clamped + c + radius * normal)
    return dist - radius, pos, normal


@ti.func
def nearest_end(c, h, size, limit):
    """Which end of the segment c + s h, |s| <= 1, is nearest to a box at the origin, of those inside or above a face.

    Returns the squared distance, s, and the axis of the face (-1: inside); the limit if none is nearer.
    """
    best = limit
    s = FP(0.0)
    face = -1
    for e in range(2):
        x = c + (2.0 * e - 1.0) * h
        outside = 0
        axis = -1
        for k in ti.static(range(3)):
            if ti.abs(x[k]) > size[k]:
                outside += 1
                axis = k
        gap = x - ti.max(-size, ti.min(size, x))
        if outside < 2 and gap.dot(gap) < best:
            best = gap.dot(gap)
            s = 2.0 * e - 1.0
            face = axis
    return best, s, face


@ti.func
def nearest_places(a, b, cc, per_cc, det, u, v):
    """Where an edge of squared half length a and the segment, of cc, are nearest; b is minus the product of the two.

    Returns the places on the edge and on the segment, both in [-1, 1], and the end of the edge (-1, 1, 0: none) at
    which its place was last clipped.
    """
    per_det = 1.0 / det
    x1 = (cc * u - b * v) * per_det
    x2 = (a * v - b * u) * per_det
    end = 0
    if ti.abs(x1) > 1.0:
        end = ti.select(x1 > 1.0, 1, -1)
        x1 = ti.cast(end, FP)
        x2 = (v - end * b) * per_cc
    if ti.abs(x2) > 1.0:
        x2 = ti.select(x2 > 1.0, 1.0, -1.0)
        x1 = (u - x2 * b) / a
        if ti.abs(x1) > 1.0:
            end = ti.select(x1 > 1.0, 1, -1)
            x1 = ti.cast(end, FP)
    return x1, x2, end


@ti.func
def nearest_to_box(c, h, half, size, limit):
    """Where the segment c + s h, |s| <= 1, is nearest to a box at the origin, at a squared distance below the limit.

    half  length of h. Returns s, what is nearest (-1 a face or the inside, 0 a corner, 1 an edge, -2 nothing), the
    face's axis (-1: inside), the edge's axis, the corner or lower end of the edge as bits of its positive coordinates,
    and the place on the edge in [-1, 1].
    """
    best, s, face = nearest_end(c, h, size, limit)
    what = ti.select(best < limit, -1, -2)
    edge = 0
    corner = 0
    place = FP(0.0)
    # the twelve edges
    cc = half * half  # not h.dot(h): along an edge the rounding of det decides whether they are parallel
    per_cc = 1.0 / ti.max(cc, MINVAL)
    for j in ti.static(range(3)):
        a = size[j] * size[j]
        b = -size[j] * h[j]
        det = a * cc - b * b
        for q in ti.static(range(4)):
            bits = ti.static((q & ((1 << j) - 1)) | ((q >> j) << (j + 1)))
            middle = vec3(
                ti.static(2.0 * (bits & 1) - 1.0) * size[0],
                ti.static(2.0 * ((bits >> 1) & 1) - 1.0) * size[1],
                ti.static(2.0 * ((bits >> 2) & 1) - 1.0) * size[2],
            )
            middle[j] = 0.0
            delta = middle - c
            # an edge cannot be nearest that is farther along the other axes already
            gap = ti.max(ti.abs(delta) - ti.abs(h), 0.0)
            gap[j] = 0.0
            if CLOSER * gap.norm_sqr() < best and ti.abs(det) >= ti.max(MINVAL, PARALLEL * a * cc):
                x1, x2, end = nearest_places(a, b, cc, per_cc, det, -size[j] * delta[j], h.dot(delta))
                delta -= x2 * h
                delta[j] += size[j] * x1
                nearer = best - MINVAL
                if ti.static(FP == ti.f32):
                    nearer -= TIE * best
                if delta.dot(delta) < nearer:
                    best = delta.dot(delta)
                    s = x2
                    place = x1
                    edge = j
                    what = ti.select(end == 0, 1, 0)
                    corner = bits + ti.select(end == 1, 1 << j, 0)
    return s, what, face, edge, corner, place


@ti.func
def second_place(c, h, size, s, what, face, edge, corner, place):
    """Step along h from the nearest point to where the segment leaves the face or edge it lies along; -FAR: it does not
    lie along one.
    """
    step = FP(-FAR)
    length = h.norm()
    toward = ti.cast(h[0] > 0, ti.i32) + 2 * ti.cast(h[1] > 0, ti.i32) + 4 * ti.cast(h[2] > 0, ti.i32)
    size_over_h = vec3(FAR, FAR, FAR)
    for k in ti.static(range(3)):
        if h[k] != 0.0:
            size_over_h[k] = size[k] / ti.abs(h[k])
    if what == 0:
        # signs in which the segment leaves the corner: one or two of three, else it points into it or away
        along = toward ^ corner
        if along != 0 and along != 7:
            sign = 1.0
            if along == 3 or along == 5 or along == 6:
                sign = -1.0
                along = 7 - along
            for k in ti.static(range(3)):
                if along == 1 << k:
                    if h[k] * h[k] > 0.5 * length * length:  # along the edge k
                        step = sign * ti.min(1.0 - sign * s, 2.0 * size_over_h[k])
                    else:  # along a face
                        step = -sign * ti.min(
                            1.0 + sign * s, 2.0 * ti.min(size_over_h[(k + 1) % 3], size_over_h[(k + 2) % 3])
                        )
    elif what == 1:
        along = (toward ^ corner) & (7 - (1 << edge))
        if along == 1 or along == 2 or along == 4:
            # of the two faces at the edge, the one that makes the smaller angle with the segment
            k = (edge + 1) % 3
            if ti.abs(pick(h, k)) <= ti.abs(pick(h, (edge + 2) % 3)):
                k = (edge + 2) % 3
            sign = ti.select((along >> k) & 1, 1.0, -1.0)
            rest = ti.select(((toward >> edge) & 1) == ((along >> k) & 1), 1.0 - place, 1.0 + place)
            step = sign * ti.min(1.0 - sign * s, 2.0 * pick(size_over_h, k), pick(size_over_h, edge) * rest)
    elif what == -1 and face >= 0:
        # an end is above a face: go on until the segment is no longer above it
        step = 2.0
        x = c + s * h
        for k in ti.static(range(3)):
            if k != face and h[k] != 0.0:
                for e in ti.static(range(2)):
                    t = -s * ((1.0 - 2.0 * e) * size[k] - x[k]) / h[k]
                    if t > 0.0 and t < step:
                        step = t
        step = -s * step
    return step


@func
def round_box(m, d, slot, margin, i1, i2, g1, g2):
    """Sphere (1 contact) or capsule (2: spheres at its nearest point and at the end of where it lies along the box)
    against box.
    """
    R = d.geom_xmat[i2]
    origin = d.geom_xpos[i2]
    size = m.geom_size[i2, g2]
    radius = m.geom_size[i1, g1][0]
    c = R.transpose() @ (d.geom_xpos[i1] - origin)
    h = vec3(0.0, 0.0, 0.0)
    s = FP(0.0)
    step = FP(-FAR)
    ntry = 1
    if m.geom_type[g1] == CAPSULE:
        h = R.transpose() @ axis_of(m, d, i1) * m.geom_size[i1, g1][1]
        reach = (radius + margin) * NEAR
        ntry = 0
        if ti.max(ti.abs(c) - ti.abs(h) - size, 0.0).norm_sqr() <= reach * reach:
            # MuJoCo's limit, a length compared with squares: shapes of many metres that touch may get no contact
            limit = margin + 2.0 * (radius + m.geom_size[i1, g1][1] + size[0] + size[1] + size[2])
            s, what, face, edge, corner, place = nearest_to_box(c, h, m.geom_size[i1, g1][1], size, limit)
            step = second_place(c, h, size, s, what, face, edge, corner, place)
            ntry = ti.select(what == -2, 0, ti.select(step > -FAR, 2, 1))
    n = 0
    for k in range(ntry):
        dist, pos, normal = sphere_in_box_frame(c + (s + k * step) * h, radius, size)
        if dist <= margin:
            put(m, d, slot + n, dist, R @ pos + origin, R @ normal)
            n += 1
    return n
