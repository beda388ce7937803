"""Contacts of a face of a box with the facing part of another one: corners of the polygon in which they overlap.

The other box's part is a parallelogram, an edge or a corner. Rules and their quirks are those of MuJoCo 3.4.0
(Apache-2.0), whose box-box collider is by Svetoslav Kolev.
"""

from ..constants import BOX_SLOTS
from ..slots import put_place
from ..types import *


@ti.dataclass
class Facing:
    """A face rectangle at z = 0, and the part of the other box that faces it, both in the face's frame.

    half      half sides of the rectangle, and how far it is above the box's centre.
    by_edge   1: found by two edges. Then o, e1, e2 are the projection of uo, ue1, ue2 along the edges' tilted normal,
              and `tilt` turns heights into distances; else they are seen along z, and are the same.
    o, e1, e2   parallelogram: a corner and its edges, of which there are nedge (2; 1: an edge, 0: a corner).
    to_world, origin   the frame's rotation and the box's place.
    """

    half: wide3
    by_edge: ti.i32
    tilt: WIDE
    nedge: ti.i32
    o: wide3
    e1: wide3
    e2: wide3
    uo: wide3
    ue1: wide3
    ue2: wide3
    to_world: wide33
    origin: wide3


@func
def put_corner(m, d, k, face: ti.template(), dist, x):
    """Writes distance and midpoint x, in the face's frame, to slot k."""
    place = face.to_world @ (x + wide3(0.0, 0.0, face.half[2])) + face.origin
    put_place(m, d, k, ti.cast(dist, FP), ti.cast(place, FP))


@func
def box_polygon(m, d, slot, margin, face: ti.template()):
    """All corners of the polygon that are near enough, to the slots; returns their number."""
    ncross = edges_across(m, d, slot, margin, face)
    nface = ncross
    if face.nedge == 2:
        nface = corners_of_rectangle(m, d, slot, margin, face, ncross)
    return corners_of_part(m, d, slot, margin, face, ncross, nface)


@ti.func
def edge_of(face: ti.template(), line):
    """Start and direction of an edge of the parallelogram, projected and not."""
    start = face.o
    along = face.e1
    ustart = face.uo
    ualong = face.ue1
    if line == 1 or line == 2:
        along = face.e2
        ualong = face.ue2
    if line == 2:
        start = face.o + face.e1
        ustart = face.uo + face.ue1
    elif line == 3:
        start = face.o + face.e2
        ustart = face.uo + face.ue2
    return start, along, ustart, ualong


@func
def put_crossing(m, d, k, margin, face: ti.template(), x, y):
    """Writes a contact to slot k, where an edge of the parallelogram, at x, crosses a side of the rectangle, at y; the
    number of contacts, 0 where they are too far apart.
    """
    n = 0
    dist = x[2] * face.tilt
    if dist <= margin:
        pos = wide3(x[0], x[1], 0.5 * x[2])
        if face.by_edge:
            pos = 0.5 * x + 0.5 * y
        put_corner(m, d, k, face, dist, pos)
        n = 1
    return n


@func
def edges_across(m, d, slot, margin, face: ti.template()):
    """Where edges of the parallelogram cross sides of the rectangle."""
    n = 0
    for line in range(ti.select(face.nedge == 2, 4, face.nedge)):
        start, along, ustart, ualong = edge_of(face, line)
        for q in ti.static(range(2)):
            if ti.abs(along[q]) > MINVAL:
                for side in ti.static(range(2)):
                    place = wide3(0.0, 0.0, 0.0)
                    place[q] = (2.0 * side - 1.0) * face.half[q]
                    t = (place[q] - start[q]) * (1.0 / along[q])
                    place[1 - q] = start[1 - q] + along[1 - q] * t
                    if t >= 0.0 and t <= 1.0 and ti.abs(place[1 - q]) <= face.half[1 - q] and n < BOX_SLOTS:
                        n += put_crossing(m, d, slot + n, margin, face, ustart + t * ualong, place)
    return n


@func
def corners_of_rectangle(m, d, slot, margin, face: ti.template(), ncross):
    """Corners of the rectangle inside the parallelogram, behind ncross contacts; returns the new number."""
    n = ncross
    o, e1, e2 = face.o, face.e1, face.e2
    det = e1[0] * e2[1] - e2[0] * e1[1]
    for k in range(4):
        corner = wide3((2.0 * (k >> 1) - 1.0) * face.half[0], (2.0 * (k & 1) - 1.0) * face.half[1], 0.0)
        x = corner[0] - o[0]
        y = corner[1] - o[1]
        u = (x * e2[1] - y * e2[0]) * (1.0 / det)
        v = (y * e1[0] - x * e1[1]) * (1.0 / det)
        inside = u > 0.0 and v > 0.0 and u < 1.0 and v < 1.0
        if face.by_edge:
            inu = u >= 0.0 and u <= 1.0
            inv = v >= 0.0 and v <= 1.0
            inside = (inu and inv) or (ncross == 0 and (inu or inv))
        if inside and n < BOX_SLOTS:
            u = ti.max(0.0, ti.min(1.0, u))
            v = ti.max(0.0, ti.min(1.0, v))
            x3 = face.uo + u * face.ue1 + v * face.ue2
            dist = x3[2]
            keep = dist <= margin
            pos = wide3(corner[0], corner[1], 0.5 * x3[2])
            if face.by_edge:
                gap = (corner - x3).norm_sqr()
                if m.hard == 0:  # MuJoCo 3.4.0 reuses the variable here, and so tests the corners that follow wrongly
                    det = gap
                keep = x3[2] <= 0.0 or gap <= margin * margin
                dist = ti.select(x3[2] < 0.0, -1.0, 1.0) * ti.sqrt(gap)
                pos = 0.5 * (corner + x3)
            if keep:
                put_corner(m, d, slot + n, face, dist, pos)
                n += 1
    return n


@func
def corners_of_part(m, d, slot, margin, face: ti.template(), ncross, nface):
    """Corners of the parallelogram inside the rectangle, behind nface contacts; returns the new number."""
    n = nface
    lx, ly = face.half[0], face.half[1]
    for k in range(1 << face.nedge):
        x = face.o
        ux = face.uo
        if k & 1:
            x += face.e1
            ux += face.ue1
        if k & 2:
            x += face.e2
            ux += face.ue2
        inx = ti.abs(x[0]) < lx
        iny = ti.abs(x[1]) < ly
        keep = (k == 0 or (inx and iny)) and x[2] <= margin
        dist = x[2]
        pos = wide3(x[0], x[1], 0.5 * x[2])
        if face.by_edge:
            inx = ti.abs(x[0]) <= lx
            iny = ti.abs(x[1]) <= ly
            keep = (inx and iny) or (ncross == 0 and (nface == 0 or inx or iny))
            nearest = wide3(ti.max(-lx, ti.min(lx, x[0])), ti.max(-ly, ti.min(ly, x[1])), 0.0)
            gap = (x[0] - nearest[0]) ** 2 + (x[1] - nearest[1]) ** 2 + (ux[2] * face.tilt) ** 2
            keep = keep and (ux[2] <= 0.0 or gap <= margin * margin)
            dist = ti.select(ux[2] < 0.0, -1.0, 1.0) * ti.sqrt(gap)
            pos = 0.5 * (nearest + ux)
        if keep and n < BOX_SLOTS:
            put_corner(m, d, slot + n, face, dist, pos)
            n += 1
    return n
