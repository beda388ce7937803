"""Contacts of two boxes. The rules, the choice between equals included, are those of MuJoCo 3.4.0 (Apache-2.0), whose
box-box collider is by Svetoslav Kolev; seed 000, "Checking".
"""

from ..constants import BOX_SLOTS
from ..slots import dist_at, pos_at, put, put_place
from ..types import *

RIM = 1.01  # a contact farther outside one box than 1 %, and not inside the other by as much, is dropped
SINE = MINVAL if FP == ti.f64 else 1e-4  # sine of the angle below which two edges are parallel
TIE = 1e-12 if FP == ti.f64 else 1e-5  # an edge must beat a face by this share
FAR = 1e10  # larger than any squared distance; the start of a minimum


@ti.func
def outside(x, size, ratio):
    """1 outside the box enlarged by the ratio, -1 inside the box shrunk by it, else 0; x in the box's frame."""
    out = 0
    if ti.abs(x[0]) > size[0] * ratio or ti.abs(x[1]) > size[1] * ratio or ti.abs(x[2]) > size[2] * ratio:
        out = 1
    elif ti.abs(x[0]) < size[0] / ratio and ti.abs(x[1]) < size[1] / ratio and ti.abs(x[2]) < size[2] / ratio:
        out = -1
    return out


@ti.func
def face_frame(axis, sign):
    """Rotation, by rows, of a box's frame that turns the outward normal of a face to +z; signed axes, so exact."""
    Q = mat3(sign, 0, 0, 0, 1, 0, 0, 0, sign)
    if axis == 0:
        Q = mat3(0, 0, -sign, 0, 1, 0, sign, 0, 0)
    elif axis == 1:
        Q = mat3(1, 0, 0, 0, 0, -sign, 0, sign, 0)
    return Q


@ti.func
def column(M, k):
    """Column k, known at run time only."""
    return vec3(M[0, k], M[1, k], M[2, k])


@ti.func
def separation(R, to2, to1, s1, s2, margin):
    """Axis of least overlap of two boxes; R: axes of box 2 in box 1's frame; to2, to1: the other's centre in that of
    box 1, of box 2.

    Returns the code of the axis (-1: apart by more than the margin; 0-2 faces of 1, 3-5 of 2, 6 + 3 i + j edges i of 1
    and j of 2) and, for edges, the unit normal in box 1's frame.
    """
    code = -1
    normal = vec3(0.0, 0.0, 0.0)
    apart = False
    A = ti.abs(R)
    least = FAR
    # boxes in line tie two faces: the order of these sums, MuJoCo's, decides
    over1 = -ti.abs(to2) + s1 + A @ s2
    over2 = -ti.abs(to1) + s2 + A.transpose() @ s1
    for k in ti.static(range(3)):
        if over1[k] < -margin or over2[k] < -margin:
            apart = True
        if over1[k] < least:
            least = over1[k]
            code = k
        if over2[k] < least:
            least = over2[k]
            code = 3 + k
    for ij in ti.static(range(9)):
        i = ti.static(ij // 3)
        j = ti.static(ij % 3)
        if not apart:
            unit = vec3(0.0, 0.0, 0.0)
            unit[i] = 1.0
            n = unit.cross(vec3(R[0, j], R[1, j], R[2, j]))
            length = n.norm()
            if length >= SINE:
                n = n / length
                over = s1.dot(ti.abs(n))
                for k in ti.static(range(3)):
                    if ti.static(k != j):
                        over += s2[k] * A[i, 3 - k - j] / length
                over -= ti.abs(to2.dot(n))
                if over < -margin:
                    apart = True
                elif over < least * (1.0 - TIE):  # a face wins a tie
                    least = over
                    code = 6 + ij
                    normal = n
    if apart:
        code = -1
    return code, normal


@ti.dataclass
class Polygons:
    """Two boxes in the frame of a face of one: the rectangle of this face, at z = 0, and the face of the other box that
    is turned to it, a parallelogram. The normal is z, and the parallelogram is seen along it; or the boxes meet at two
    edges, and it is seen along their tilted normal.
    """

    by_edge: ti.i32  # 1: the boxes meet at edges
    half: vec3  # half sides of the rectangle, and its height over the centre of its box
    nedge: ti.i32  # 2; 1: the other's face is seen from the side, an edge; 0: it is a corner
    corner: vec3  # of the parallelogram
    side1: vec3
    side2: vec3
    o: vec3  # corner and sides as they are seen along the normal
    e1: vec3
    e2: vec3
    normal: vec3
    tilt: FP  # turns heights into distances
    W: mat3  # rotation to the world
    origin: vec3  # centre of the rectangle's box there
    n: ti.i32  # contacts so far


@ti.func
def faces_at_edges(R, i, j):
    """Of the two faces at edge i of box 1, and at edge j of box 2, the one more across the other edge: their axes."""
    face1 = 2
    other = 1
    if i == 1:
        other = 0
    elif i == 2:
        face1 = 0
    if ti.abs(R[other, j]) < ti.abs(R[face1, j]):
        face1 = other
    face2 = 1
    other = 2
    if j == 1:
        face2 = 0
    elif j == 2:
        other = 0
    if ti.abs(R[i, face2]) < ti.abs(R[i, other]):
        face2 = other
    return face1, face2


@ti.func
def turn_face(poly: ti.template(), S, size):
    """Makes the parallelogram the face of the other box that is turned to the rectangle. S: its axes; size: its own."""
    for k in range(3):
        low = S[2, k] < 0.0
        poly.corner += column(S, k) * size[k] * ti.select(low, 1.0, -1.0)
        if ti.abs(S[2, k]) < 0.5:
            side = column(S, k) * size[k] * ti.select(low, -2.0, 2.0)
            if poly.nedge == 0:
                poly.side1 = side
            else:
                poly.side2 = side
            poly.nedge += 1
    poly.o = poly.corner
    poly.e1 = poly.side1
    poly.e2 = poly.side2


@ti.func
def turn_edge(poly: ti.template(), R, S, size, i, j, face, outward):
    """Makes the parallelogram the face of box 2 that holds its edge j nearest to box 1, seen along the normal."""
    for k in range(3):
        if k != j:
            # sign of along . axis k = (edge i x edge j) . axis k, without its rounding
            high = ((R[i, 3 - k - j] > 0.0) == outward) == ((k - j + 3) % 3 != 1)
            poly.corner += column(S, k) * size[k] * ti.select(high, 1.0, -1.0)
            if k == face:
                poly.side2 = column(S, k) * size[k] * ti.select(high, -2.0, 2.0)
    poly.side1 = column(S, j) * (-2.0 * size[j])
    poly.corner += column(S, j) * size[j]
    poly.nedge = 2
    inverse = 1.0 / poly.normal[2]
    poly.tilt = ti.select(outward, 1.0, -1.0) * inverse
    poly.o = poly.corner - poly.corner[2] * inverse * poly.normal
    poly.e1 = poly.side1 - poly.side1[2] * inverse * poly.normal
    poly.e2 = poly.side2 - poly.side2[2] * inverse * poly.normal


@func
def put_contact(m, d, slot, dist, x, poly: ti.template()):
    """Writes distance and place, given from the rectangle's centre, to the next slot if there is one."""
    if poly.n < BOX_SLOTS:
        put_place(m, d, slot + poly.n, dist, poly.W @ (x + vec3(0.0, 0.0, poly.half[2])) + poly.origin)
        poly.n += 1


@func
def put_crossing(m, d, slot, margin, poly: ti.template(), x, y):
    """A contact where a side of the parallelogram, at x, crosses a side of the rectangle, at y."""
    dist = x[2] * poly.tilt
    if dist <= margin:
        pos = vec3(x[0], x[1], 0.5 * x[2])
        if poly.by_edge:
            pos = 0.5 * x + 0.5 * y
        put_contact(m, d, slot, dist, pos, poly)


@func
def cross_sides(m, d, slot, margin, poly: ti.template()):
    """Contacts where sides of the parallelogram cross sides of the rectangle."""
    for line in range(ti.select(poly.nedge == 2, 4, poly.nedge)):
        start = poly.o
        along = poly.e1
        ustart = poly.corner
        ualong = poly.side1
        if line == 1 or line == 2:
            along = poly.e2
            ualong = poly.side2
        if line == 2:
            start = poly.o + poly.e1
            ustart = poly.corner + poly.side1
        elif line == 3:
            start = poly.o + poly.e2
            ustart = poly.corner + poly.side2
        for q in ti.static(range(2)):
            if ti.abs(along[q]) > MINVAL:
                for end in ti.static(range(2)):
                    crossing = vec3(0.0, 0.0, 0.0)
                    crossing[q] = (2.0 * end - 1.0) * poly.half[q]
                    t = (crossing[q] - start[q]) * (1.0 / along[q])
                    crossing[1 - q] = start[1 - q] + along[1 - q] * t
                    if t >= 0.0 and t <= 1.0 and ti.abs(crossing[1 - q]) <= poly.half[1 - q]:
                        put_crossing(m, d, slot, margin, poly, ustart + t * ualong, crossing)


@func
def rectangle_corners(m, d, slot, margin, poly: ti.template()):
    """Contacts at corners of the rectangle that are inside the parallelogram."""
    ncross = poly.n
    det = poly.e1[0] * poly.e2[1] - poly.e2[0] * poly.e1[1]
    for k in range(ti.select(poly.nedge == 2, 4, 0)):
        corner = vec3((2.0 * (k >> 1) - 1.0) * poly.half[0], (2.0 * (k & 1) - 1.0) * poly.half[1], 0.0)
        x = corner - poly.o
        u = (x[0] * poly.e2[1] - x[1] * poly.e2[0]) * (1.0 / det)
        v = (x[1] * poly.e1[0] - x[0] * poly.e1[1]) * (1.0 / det)
        inside = u > 0.0 and v > 0.0 and u < 1.0 and v < 1.0
        if poly.by_edge:
            inu = u >= 0.0 and u <= 1.0
            inv = v >= 0.0 and v <= 1.0
            inside = (inu and inv) or (ncross == 0 and (inu or inv))
        if inside:
            u = ti.max(0.0, ti.min(1.0, u))
            v = ti.max(0.0, ti.min(1.0, v))
            above = poly.corner + u * poly.side1 + v * poly.side2
            dist = above[2]
            keep = dist <= margin
            pos = vec3(corner[0], corner[1], 0.5 * above[2])
            if poly.by_edge:
                gap = (corner - above).norm_sqr()
                det = gap  # MuJoCo reuses the variable here, and so tests the corners that follow wrongly
                keep = above[2] <= 0.0 or gap <= margin * margin
                dist = ti.select(above[2] < 0.0, -1.0, 1.0) * ti.sqrt(gap)
                pos = 0.5 * (corner + above)
            if keep:
                put_contact(m, d, slot, dist, pos, poly)


@func
def parallelogram_corners(m, d, slot, margin, ncross, poly: ti.template()):
    """Contacts at corners of the parallelogram inside the rectangle. ncross: contacts where sides cross."""
    nface = poly.n
    for k in range(1 << poly.nedge):
        seen = poly.o
        corner = poly.corner
        if k & 1:
            seen += poly.e1
            corner += poly.side1
        if k & 2:
            seen += poly.e2
            corner += poly.side2
        inx = ti.abs(seen[0]) < poly.half[0]
        iny = ti.abs(seen[1]) < poly.half[1]
        keep = (k == 0 or (inx and iny)) and seen[2] <= margin
        dist = seen[2]
        pos = vec3(seen[0], seen[1], 0.5 * seen[2])
        if poly.by_edge:
            inx = ti.abs(seen[0]) <= poly.half[0]
            iny = ti.abs(seen[1]) <= poly.half[1]
            keep = (inx and iny) or (ncross == 0 and (nface == 0 or inx or iny))
            nearest = ti.max(-poly.half, ti.min(poly.half, seen))
            nearest[2] = 0.0
            gap = (seen[0] - nearest[0]) ** 2 + (seen[1] - nearest[1]) ** 2 + (corner[2] * poly.tilt) ** 2
            keep = keep and (corner[2] <= 0.0 or gap <= margin * margin)
            dist = ti.select(corner[2] < 0.0, -1.0, 1.0) * ti.sqrt(gap)
            pos = 0.5 * (nearest + corner)
        if keep:
            put_contact(m, d, slot, dist, pos, poly)


@func
def clean_up(m, d, slot, margin, i1, i2, g1, g2, poly: ti.template()):
    """Drops contacts that are off both boxes, and what comes twice (of equals the last stays)."""
    n = poly.n
    poly.n = 0
    for k in range(n):
        x = pos_at(m, d, slot + k)
        out1 = outside(d.geom_xmat[i1].transpose() @ (x - d.geom_xpos[i1]), m.geom_size[g1] + margin, RIM)
        out2 = outside(d.geom_xmat[i2].transpose() @ (x - d.geom_xpos[i2]), m.geom_size[g2] + margin, RIM)
        keep = not ((out1 == 1 and out2 != -1) or (out2 == 1 and out1 != -1))
        for q in range(k + 1, n):
            y = pos_at(m, d, slot + q)
            if x[0] == y[0] and x[1] == y[1] and x[2] == y[2]:
                keep = False
        if keep:
            put(m, d, slot + poly.n, dist_at(m, d, slot + k), x, poly.normal)
            poly.n += 1


@func
def box_box(m, d, slot, margin, i1, i2, g1, g2):
    """Two boxes: axis of least overlap, then the polygon of a face of one and the facing face of the other."""
    R1 = d.geom_xmat[i1]
    R2 = d.geom_xmat[i2]
    s1 = m.geom_size[g1]
    s2 = m.geom_size[g2]
    R = R1.transpose() @ R2
    to2 = R1.transpose() @ (d.geom_xpos[i2] - d.geom_xpos[i1])
    to1 = R2.transpose() @ (d.geom_xpos[i1] - d.geom_xpos[i2])
    code, along = separation(R, to2, to1, s1, s2, margin)
    n = 0
    if code >= 0:
        by_edge = code >= 6
        swap = code >= 3 and code < 6  # the face is box 2's: it takes the part of box 1
        outward = along.dot(to2) >= 0.0  # the edges' normal points to box 2
        i = (code - 6) // 3
        j = (code - 6) % 3
        axis = code % 3
        face2 = 0  # box 2's face that is used at its edge j
        sign = 1.0
        if by_edge:
            axis, face2 = faces_at_edges(R, i, j)
            sign = ti.select((along[axis] > 0.0) == outward, 1.0, -1.0)
        elif (to1[axis] if swap else to2[axis]) < 0.0:
            sign = -1.0
        Q = face_frame(axis, sign)
        S = Q @ R
        size = s2
        poly = Polygons(
            by_edge=by_edge,
            half=ti.abs(Q @ s1),
            corner=Q @ to2,
            normal=vec3(0.0, 0.0, 1.0),
            tilt=1.0,
            W=R1 @ Q.transpose(),
            origin=d.geom_xpos[i1],
        )
        if swap:
            S = Q @ R.transpose()
            size = s1
            poly.half = ti.abs(Q @ s2)
            poly.corner = Q @ to1
            poly.W = R2 @ Q.transpose()
            poly.origin = d.geom_xpos[i2]
        poly.corner[2] -= poly.half[2]
        ok = True
        if by_edge:
            poly.normal = Q @ along
            ok = ti.abs(poly.normal[2]) >= MINVAL
            turn_edge(poly, R, S, size, i, j, face2, outward)
        else:
            turn_face(poly, S, size)
        if ok:
            cross_sides(m, d, slot, margin, poly)
            ncross = poly.n
            rectangle_corners(m, d, slot, margin, poly)
            parallelogram_corners(m, d, slot, margin, ncross, poly)
            poly.normal = (poly.W @ poly.normal) * ti.select(swap or (by_edge and not outward), -1.0, 1.0)
            clean_up(m, d, slot, margin, i1, i2, g1, g2, poly)
            n = poly.n
    return n
