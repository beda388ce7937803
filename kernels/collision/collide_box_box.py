"""Contacts of two boxes. The rules, the choice between equals included, are those of MuJoCo 3.4.0 (Apache-2.0), whose
box-box collider is by Svetoslav Kolev; seed 000, "Checking".
"""

from ..slots import dist_at, normal_at, pos_at, put
from ..types import *
from .box_polygon import Facing, box_polygon

RIM = 1.01  # a contact farther outside one box than 1 %, and not inside the other by as much, is dropped
SINE = (
    MINVAL if FP == ti.f64 else 1e-6 if WIDE == ti.f64 else 1e-4
)  # sine of the angle below which two edges are parallel
LESS = 1.0 - (1e-12 if WIDE == ti.f64 else 1e-5)  # an edge must have less overlap than this share of a face's
FAR = 1e10  # larger than any squared distance; the start of a minimum
ROUNDING = 1e-12 if WIDE == ti.f64 and FP == ti.f64 else 1e-6  # of boxes, by which their distance may be off


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
    Q = wide33(sign, 0, 0, 0, 1, 0, 0, 0, sign)
    if axis == 0:
        Q = wide33(0, 0, -sign, 0, 1, 0, sign, 0, 0)
    elif axis == 1:
        Q = wide33(1, 0, 0, 0, 0, -sign, 0, sign, 0)
    return Q


@ti.func
def column(M, k):
    """Column k, known at run time only."""
    c = wide3(0.0, 0.0, 0.0)
    for r in ti.static(range(3)):
        if ti.static(GPU):
            c[r] = one_of(k, M[r, 0], M[r, 1], M[r, 2])
        else:
            c[r] = M[r, k]
    return c


@ti.func
def row(M, k):
    """Row k, the same."""
    x = wide3(0.0, 0.0, 0.0)
    for c in ti.static(range(3)):
        if ti.static(GPU):
            x[c] = one_of(k, M[0, c], M[1, c], M[2, c])
        else:
            x[c] = M[k, c]
    return x


@func
def axes_of(m, d, i):
    """Axes of the geom placed at i: a rotation to WIDE's digits, which one in f32 is not. Else edges of two boxes in
    line would beat their faces, or not, by its rounding.
    """
    R = ti.cast(d.geom_xmat[i], WIDE)
    if ti.static(FP != WIDE):
        R = 1.5 * R - 0.5 * R @ (R.transpose() @ R)
    return R


@ti.func
def separation(R, delta, e, s1, s2, margin):
    """Axis of least overlap of two boxes; R: axes of box 2 in box 1's frame; delta, e: the other's centre in 1's, 2's.

    Returns the code of the axis (-1: apart by more than the margin; 0-2 faces of 1, 3-5 of 2, 6 + 3 i + j edges i of 1
    and j of 2), for edges the unit normal in box 1's frame, and the overlap.
    """
    code = -1
    normal = wide3(0.0, 0.0, 0.0)
    apart = False
    A = ti.abs(R)
    least = WIDE(FAR)
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
            unit = wide3(0.0, 0.0, 0.0)
            unit[i] = 1.0
            n = unit.cross(wide3(R[0, j], R[1, j], R[2, j]))
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
                elif over < least * WIDE(LESS):  # a face wins a tie
                    least = over
                    code = 6 + ij
                    normal = n
    if apart:
        code = -1
    return code, normal, least


@ti.func
def faces_at_edges(R, i, j):
    """For edges i of box 1 and j of box 2: the axes of box 1 and of box 2 whose faces there are used.

    Of the two faces at either edge it is the one more across the other edge.
    """
    ax = (j + 1) % 3
    other = (j + 2) % 3
    if j == 1:
        ax = 0
        other = 2
    elif j == 2:
        ax = 1
        other = 0
    across = row(R, i)
    if ti.abs(pick(across, ax)) < ti.abs(pick(across, other)):
        ax = other
    one = 1
    axis = 2
    if i == 1:
        one = 0
    elif i == 2:
        axis = 0
    across = column(R, j)
    if ti.abs(pick(across, one)) < ti.abs(pick(across, axis)):
        axis = one
    return axis, ax


@ti.func
def part_at_face(S, c, size):
    """What of a box faces a face: a corner, edges (those across the normal), their number. S: its axes, c: centre."""
    o = c
    e1 = wide3(0.0, 0.0, 0.0)
    e2 = wide3(0.0, 0.0, 0.0)
    nedge = 0
    z = wide3(S[2, 0], S[2, 1], S[2, 2])
    for k in range(3):
        low = pick(z, k) < 0.0
        o += column(S, k) * pick(size, k) * ti.select(low, 1.0, -1.0)
        if ti.abs(pick(z, k)) < 0.5:
            v = column(S, k) * pick(size, k) * ti.select(low, -2.0, 2.0)
            if nedge == 0:
                e1 = v
            else:
                e2 = v
            nedge += 1
    return o, e1, e2, nedge


@ti.func
def part_at_edge(R, S, c, size, j, ax, outward):
    """The edge j of box 2 nearest to box 1, and the parallelogram of its face across axis ax that holds it."""
    o = c
    e2 = wide3(0.0, 0.0, 0.0)
    for k in range(3):
        if k != j:
            # sign of along . axis k = (edge i x edge j) . axis k, without its rounding
            high = ((pick(R, 3 - k - j) > 0.0) == outward) == ((k - j + 3) % 3 != 1)
            o += column(S, k) * pick(size, k) * ti.select(high, 1.0, -1.0)
            if k == ax:
                e2 = column(S, k) * pick(size, k) * ti.select(high, -2.0, 2.0)
    e1 = column(S, j) * (-2.0 * pick(size, j))
    o += column(S, j) * pick(size, j)
    return o, e1, e2


@func
def drop_doubles(m, d, slot, n, i1, i2, s1, s2, to2):
    """Drops of n contacts those off both boxes (half sizes s1, s2 with the margin) and what comes twice: of equals the
    last stays. Gives the others their normal; returns their number.
    """
    kept = 0
    for k in range(n):
        x = pos_at(m, d, slot + k)
        out1 = outside(d.geom_xmat[i1].transpose() @ (x - d.geom_xpos[i1]), s1, RIM)
        out2 = outside(d.geom_xmat[i2].transpose() @ (x - d.geom_xpos[i2]), s2, RIM)
        keep = not ((out1 == 1 and out2 != -1) or (out2 == 1 and out1 != -1))
        for q in range(k + 1, n):
            y = pos_at(m, d, slot + q)
            if x[0] == y[0] and x[1] == y[1] and x[2] == y[2]:
                keep = False
        if keep:
            put(m, d, slot + kept, dist_at(m, d, slot + k), x, to2)
            kept += 1
    return kept


@func
def keep_apart(m, d, slot, n, gap):
    """Drops of n contacts of boxes that are `gap` apart, but for rounding, those that are nearer: what of a box is
    beside the other one's face is beneath its plane, not in it. Returns the number of the others."""
    kept = 0
    for k in range(n):
        if dist_at(m, d, slot + k) >= gap:
            if kept < k:
                put(m, d, slot + kept, dist_at(m, d, slot + k), pos_at(m, d, slot + k), normal_at(m, d, slot + k))
            kept += 1
    return kept


@ti.func
def between_edges(R, delta, s1, s2, i, j, out):
    """In box 1's frame, the middle between its edge along axis i and the one of box 2 along axis j that are nearest to
    each other along `out`."""
    u, v = wide3(0.0, 0.0, 0.0), column(R, j)
    p, q = wide3(0.0, 0.0, 0.0), delta
    for k in ti.static(range(3)):
        side = wide3(R[0, k], R[1, k], R[2, k])
        if k == i:
            u[k] = 1.0
        else:
            p[k] = ti.select(out[k] > 0.0, s1[k], -s1[k])
        if k != j:
            q -= side * ti.select(out.dot(side) > 0.0, s2[k], -s2[k])
    b, x, y = u.dot(v), u.dot(q - p), v.dot(q - p)
    det = 1.0 - b * b
    s = ti.max(-pick(s1, i), ti.min(pick(s1, i), (x - b * y) / det))
    t = ti.max(-pick(s2, j), ti.min(pick(s2, j), (b * x - y) / det))
    return 0.5 * (p + s * u + q + t * v)


@func
def box_box(m, d, slot, margin, i1, i2, g1, g2):
    """Two boxes: axis of least overlap, then the polygon of a face of one and the facing face of the other."""
    R1 = axes_of(m, d, i1)
    R2 = axes_of(m, d, i2)
    x1 = ti.cast(d.geom_xpos[i1], WIDE)
    x2 = ti.cast(d.geom_xpos[i2], WIDE)
    s1 = ti.cast(m.geom_size[i1, g1], WIDE)
    s2 = ti.cast(m.geom_size[i2, g2], WIDE)
    R = R1.transpose() @ R2
    to2_in1 = R1.transpose() @ (x2 - x1)
    to1_in2 = R2.transpose() @ (x1 - x2)
    code, along, overlap = separation(R, to2_in1, to1_in2, s1, s2, margin)
    n = 0
    if code >= 0:
        by_edge = code >= 6
        swap = code >= 3 and code < 6  # the face is box 2's: it takes the part of box 1
        outward = along.dot(to2_in1) >= 0.0  # the edges' normal points to box 2
        i = (code - 6) // 3
        j = (code - 6) % 3
        axis = code % 3
        ax = 0  # box 2's axis whose face meets at the edge j and is used
        flip = 1.0
        sign = 1.0
        if by_edge:
            axis, ax = faces_at_edges(R, i, j)
            if not outward:
                flip = -1.0
            sign = ti.select((pick(along, axis) > 0.0) == outward, 1.0, -1.0)
        elif pick(to1_in2 if swap else to2_in1, axis) < 0.0:
            sign = -1.0
        Q = face_frame(axis, sign)
        face = Facing(by_edge=ti.cast(by_edge, ti.i32), tilt=1.0, to_world=R1 @ Q.transpose(), origin=x1)
        S = Q @ R
        c = Q @ to2_in1
        size = s2
        face.half = ti.abs(Q @ s1)
        if swap:
            S = Q @ R.transpose()
            c = Q @ to1_in2
            size = s1
            face.to_world = R2 @ Q.transpose()
            face.origin = x2
            face.half = ti.abs(Q @ s2)
        c[2] -= face.half[2]
        normal = wide3(0.0, 0.0, 1.0)
        if by_edge:
            normal = Q @ along
            face.uo, face.ue1, face.ue2 = part_at_edge(row(R, i), S, c, size, j, ax, outward)
            face.nedge = 2
        else:
            face.uo, face.ue1, face.ue2, face.nedge = part_at_face(S, c, size)
        face.o = face.uo
        face.e1 = face.ue1
        face.e2 = face.ue2
        if not by_edge or ti.abs(normal[2]) >= MINVAL:
            if by_edge:
                inverse = 1.0 / normal[2]
                face.tilt = flip * inverse
                face.o = face.uo - face.uo[2] * inverse * normal
                face.e1 = face.ue1 - face.ue1[2] * inverse * normal
                face.e2 = face.ue2 - face.ue2[2] * inverse * normal
            n = box_polygon(m, d, slot, margin, face)
        to2 = ti.cast((face.to_world @ normal) * ti.select(swap, -1.0, flip), FP)
        n = drop_doubles(m, d, slot, n, i1, i2, m.geom_size[i1, g1] + margin, m.geom_size[i2, g2] + margin, to2)
        if ti.static(m.has.closing):
            if by_edge and overlap < 0.0:
                n = keep_apart(m, d, slot, n, -overlap - ROUNDING * (s1.norm() + s2.norm()))
                if n == 0:
                    out = ti.select(outward, along, -along)
                    place = between_edges(R, to2_in1, s1, s2, i, j, out)
                    put(m, d, slot, ti.cast(-overlap, FP), ti.cast(R1 @ place + x1, FP), ti.cast(R1 @ out, FP))
                    n = 1
    return n
