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
def separation(R, delta, e, s1, s2, margin):
    """Axis of least overlap of two boxes; R: axes of box 2 in box 1's frame; d, e: the other's centre in 1's, 2's.

    Returns the code of the axis (-1: apart by more than the margin; 0-2 faces of 1, 3-5 of 2, 6 + 3 i + j edges i of 1
    and j of 2) and, for edges, the unit normal in box 1's frame.
    """
    code = -1
    normal = vec3(0.0, 0.0, 0.0)
    apart = False
    A = ti.abs(R)
    least = FAR
    # boxes in line tie two faces: the order of these sums, MuJoCo's, decides
    over1 = -ti.abs(delta) + s1 + A @ s2
    over2 = -ti.abs(e) + s2 + A.transpose() @ s1
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
                over -= ti.abs(delta.dot(n))
                if over < -margin:
                    apart = True
                elif over < least * (1.0 - TIE):  # a face wins a tie
                    least = over
                    code = 6 + ij
                    normal = n
    if apart:
        code = -1
    return code, normal


@func
def box_polygons(m, d, by_edge, tilt, lx, ly, hz, o, e1, e2, uo, ue1, ue2, nedge, margin, W, origin, slot):
    """Contacts of a face rectangle (half sides lx, ly, at z = 0) with the parallelogram o, e1, e2 of the other box.

    By a face: the normal is z, the parallelogram (nedge = 2; 1: an edge, 0: a corner) is seen along it. By an edge: o,
    e1, e2 are the projection along the tilted normal of uo, ue1, ue2, and `tilt` turns heights into distances.
    Writes distance and midpoint (to the world by W, origin) to the slots; returns their number.
    """
    n = 0
    margin2 = margin * margin
    # edges of the parallelogram across sides of the rectangle
    nline = ti.select(nedge == 2, 4, nedge)
    for line in range(nline):
        start = o
        along = e1
        ustart = uo
        ualong = ue1
        if line == 1 or line == 2:
            along = e2
            ualong = ue2
        if line == 2:
            start = o + e1
            ustart = uo + ue1
        elif line == 3:
            start = o + e2
            ustart = uo + ue2
        for q in ti.static(range(2)):
            if ti.abs(along[q]) > MINVAL:
                for side in ti.static(range(2)):
                    limit = (2.0 * side - 1.0) * ti.select(q == 0, lx, ly)
                    t = (limit - start[q]) * (1.0 / along[q])
                    other = start[1 - q] + along[1 - q] * t
                    if t >= 0.0 and t <= 1.0 and ti.abs(other) <= ti.select(q == 0, ly, lx) and n < BOX_SLOTS:
                        x = ustart + t * ualong
                        dist = x[2] * tilt
                        if dist <= margin:
                            if by_edge:
                                x = 0.5 * x
                                x[q] += 0.5 * limit
                                x[1 - q] += 0.5 * other
                            else:
                                x[2] = 0.5 * x[2]
                            put_place(m, d, slot + n, dist, W @ (x + vec3(0.0, 0.0, hz)) + origin)
                            n += 1
    ncross = n
    # corners of the rectangle inside the parallelogram
    if nedge == 2:
        det = e1[0] * e2[1] - e2[0] * e1[1]
        for k in range(4):
            corner = vec3((2.0 * (k >> 1) - 1.0) * lx, (2.0 * (k & 1) - 1.0) * ly, 0.0)
            x = corner[0] - o[0]
            y = corner[1] - o[1]
            u = (x * e2[1] - y * e2[0]) * (1.0 / det)
            v = (y * e1[0] - x * e1[1]) * (1.0 / det)
            inside = u > 0.0 and v > 0.0 and u < 1.0 and v < 1.0
            if by_edge:
                inu = u >= 0.0 and u <= 1.0
                inv = v >= 0.0 and v <= 1.0
                inside = (inu and inv) or (ncross == 0 and (inu or inv))
            if inside and n < BOX_SLOTS:
                u = ti.max(0.0, ti.min(1.0, u))
                v = ti.max(0.0, ti.min(1.0, v))
                x3 = uo + u * ue1 + v * ue2
                dist = x3[2]
                keep = dist <= margin
                pos = vec3(corner[0], corner[1], 0.5 * x3[2])
                if by_edge:
                    gap = (corner - x3).norm_sqr()
                    det = gap  # MuJoCo reuses the variable here, and so tests the corners that follow wrongly
                    keep = x3[2] <= 0.0 or gap <= margin2
                    dist = ti.select(x3[2] < 0.0, -1.0, 1.0) * ti.sqrt(gap)
                    pos = 0.5 * (corner + x3)
                if keep:
                    put_place(m, d, slot + n, dist, W @ (pos + vec3(0.0, 0.0, hz)) + origin)
                    n += 1
    nface = n
    # corners of the parallelogram inside the rectangle
    for k in range(1 << nedge):
        x = o
        ux = uo
        if k & 1:
            x += e1
            ux += ue1
        if k & 2:
            x += e2
            ux += ue2
        inx = ti.abs(x[0]) < lx
        iny = ti.abs(x[1]) < ly
        keep = (k == 0 or (inx and iny)) and x[2] <= margin
        dist = x[2]
        pos = vec3(x[0], x[1], 0.5 * x[2])
        if by_edge:
            inx = ti.abs(x[0]) <= lx
            iny = ti.abs(x[1]) <= ly
            keep = (inx and iny) or (ncross == 0 and (nface == 0 or inx or iny))
            nearest = vec3(ti.max(-lx, ti.min(lx, x[0])), ti.max(-ly, ti.min(ly, x[1])), 0.0)
            gap = (x[0] - nearest[0]) ** 2 + (x[1] - nearest[1]) ** 2 + (ux[2] * tilt) ** 2
            keep = keep and (ux[2] <= 0.0 or gap <= margin2)
            dist = ti.select(ux[2] < 0.0, -1.0, 1.0) * ti.sqrt(gap)
            pos = 0.5 * (nearest + ux)
        if keep and n < BOX_SLOTS:
            put_place(m, d, slot + n, dist, W @ (pos + vec3(0.0, 0.0, hz)) + origin)
            n += 1
    return n


@func
def box_box(m, d, slot, margin, i1, i2, g1, g2):
    """Two boxes: axis of least overlap, then the polygon of a face of one and the facing face of the other."""
    R1 = d.geom_xmat[i1]
    R2 = d.geom_xmat[i2]
    x1 = d.geom_xpos[i1]
    x2 = d.geom_xpos[i2]
    s1 = m.geom_size[g1]
    s2 = m.geom_size[g2]
    R = R1.transpose() @ R2
    delta = R1.transpose() @ (x2 - x1)
    e = R2.transpose() @ (x1 - x2)
    code, along = separation(R, delta, e, s1, s2, margin)
    n = 0
    if code >= 0:
        by_edge = code >= 6
        swap = code >= 3 and code < 6  # the face is box 2's: it takes the part of box 1
        outward = along.dot(delta) >= 0.0  # the edges' normal points to box 2
        i = (code - 6) // 3
        j = (code - 6) % 3
        axis = code % 3
        side = delta
        if swap:
            side = e
        ax = 0  # box 2's axis whose face meets at the edge j and is used
        flip = 1.0
        if by_edge:
            # of the two faces at either edge, the one more across the other edge
            ax = (j + 1) % 3
            other = (j + 2) % 3
            if j == 1:
                ax = 0
                other = 2
            elif j == 2:
                ax = 1
                other = 0
            if ti.abs(R[i, ax]) < ti.abs(R[i, other]):
                ax = other
            pick = 1
            axis = 2
            if i == 1:
                pick = 0
            elif i == 2:
                axis = 0
            if ti.abs(R[pick, j]) < ti.abs(R[axis, j]):
                axis = pick
            if not outward:
                flip = -1.0
        sign = 1.0
        if by_edge:
            sign = ti.select((along[axis] > 0.0) == outward, 1.0, -1.0)
        elif side[axis] < 0.0:
            sign = -1.0
        Q = face_frame(axis, sign)
        S = Q @ R
        c = Q @ delta
        size = s2
        W = R1 @ Q.transpose()
        origin = x1
        l3 = ti.abs(Q @ s1)
        if swap:
            S = Q @ R.transpose()
            c = Q @ e
            size = s1
            W = R2 @ Q.transpose()
            origin = x2
            l3 = ti.abs(Q @ s2)
        c[2] -= l3[2]
        normal = vec3(0.0, 0.0, 1.0)
        tilt = 1.0
        o = c
        e1 = vec3(0.0, 0.0, 0.0)
        e2 = vec3(0.0, 0.0, 0.0)
        nedge = 0
        ok = True
        if by_edge:
            normal = Q @ along
            ok = ti.abs(normal[2]) >= MINVAL
            # the edge of box 2 nearest to box 1, and the parallelogram of its face that holds it
            for k in range(3):
                if k != j:
                    # sign of along . axis k = (edge i x edge j) . axis k, without its rounding
                    high = ((R[i, 3 - k - j] > 0.0) == outward) == ((k - j + 3) % 3 != 1)
                    o += column(S, k) * size[k] * ti.select(high, 1.0, -1.0)
                    if k == ax:
                        e2 = column(S, k) * size[k] * ti.select(high, -2.0, 2.0)
            e1 = column(S, j) * (-2.0 * size[j])
            o += column(S, j) * size[j]
            nedge = 2
        else:
            for k in range(3):
                low = S[2, k] < 0.0
                o += column(S, k) * size[k] * ti.select(low, 1.0, -1.0)
                if ti.abs(S[2, k]) < 0.5:
                    v = column(S, k) * size[k] * ti.select(low, -2.0, 2.0)
                    if nedge == 0:
                        e1 = v
                    else:
                        e2 = v
                    nedge += 1
        if ok:
            uo = o
            ue1 = e1
            ue2 = e2
            if by_edge:
                inverse = 1.0 / normal[2]
                tilt = flip * inverse
                o = uo - uo[2] * inverse * normal
                e1 = ue1 - ue1[2] * inverse * normal
                e2 = ue2 - ue2[2] * inverse * normal
            n = box_polygons(
                m, d, by_edge, tilt, l3[0], l3[1], l3[2], o, e1, e2, uo, ue1, ue2, nedge, margin, W, origin, slot
            )
        to2 = (W @ normal) * ti.select(swap, -1.0, flip)
        # drop what lies off both boxes and what comes twice (of equals the last stays)
        kept = 0
        for k in range(n):
            x = pos_at(m, d, slot + k)
            out1 = outside(R1.transpose() @ (x - x1), s1 + margin, RIM)
            out2 = outside(R2.transpose() @ (x - x2), s2 + margin, RIM)
            keep = not ((out1 == 1 and out2 != -1) or (out2 == 1 and out1 != -1))
            for q in range(k + 1, n):
                y = pos_at(m, d, slot + q)
                if x[0] == y[0] and x[1] == y[1] and x[2] == y[2]:
                    keep = False
            if keep:
                put(m, d, slot + kept, dist_at(m, d, slot + k), x, to2)
                kept += 1
        n = kept
    return n
