"""Contacts of two polyhedra (boxes, meshes) under the second dynamics (tisim/LCP.md), each as deep as the shapes are
there.

Of each shape that face counts which is turned most against the other shape, among those at its foremost vertex. The
one that is more across the normal cuts the other by the planes through its edges; the corners of what is left that are
near enough to its plane are the contacts. So shapes that rest on each other have all their corners, also while they
are turned a little or apart, where MuJoCo's rules (multiccd.py) know one of them, or all as deep as the deepest.
"""

from ..slots import put
from ..wide import *
from .memory import CUT, FACES, NORMALS, POLYGON, item, list_adr, numbers_adr, put_item, shape_i
from .multiccd import clip, ivec2, ivec3, ivec4, largest_quad, of
from .polyhedra import find_face, find_normals
from .sizes import FOUND
from .support import support

ACROSS = 0.99  # cosine between the normal and that of the face that cuts, below which there are no contacts of faces
SAME = 1e-6  # difference of these cosines below which shape 0's face cuts


@ti.dataclass
class Face:
    number: ti.i32  # -1: none
    normal: vec3
    across: FP  # cosine between the normal and the direction that it was asked for


@func
def foremost_face(m, d, mem: ti.template(), s, direction):
    """The face of shape s that is turned most into a direction, among those at its foremost vertex."""
    support(m, d, mem, s, direction)
    v = d.ccd_i[shape_i(mem, s) + FOUND]
    n = find_normals(m, d, mem, s, ivec3(v, v, v), 1, direction)
    face = Face(number=-1, across=FP(-2.0))
    for k in range(n):
        normal = item(m, d, list_adr(m, d, mem, NORMALS + s), k)
        if dot(normal, direction) > face.across:
            face.across = dot(normal, direction)
            face.normal = normal
            face.number = d.ccd_i[numbers_adr(m, d, mem, s) + k]
    return face


@func
def cut_face(m, d, mem: ti.template(), cutter, first: ti.template(), second: ti.template()):
    """Where the polygon is that the cutter's face leaves of the other shape's, how many corners it has, and a point of
    the cutter's face.
    """
    count = ivec2(find_face(m, d, mem, 0, first.number), find_face(m, d, mem, 1, second.number))
    polygon = list_adr(m, d, mem, POLYGON)
    n = of(count, 1 - cutter)
    for k in range(n):
        put_item(m, d, polygon, k, item(m, d, list_adr(m, d, mem, FACES + 1 - cutter), k))
    outward = first.normal if cutter == 0 else second.normal
    face = list_adr(m, d, mem, FACES + cutter)
    polygon, n = clip(m, d, face, of(count, cutter), polygon, n, list_adr(m, d, mem, CUT), outward)
    return polygon, n, item(m, d, face, 0)


@func
def keep_near(m, d, polygon, n, margin, base, outward, slope):
    """Keeps the corners of a polygon that are within the margin of a plane, as measured along the contacts' normal, to
    which it is inclined by the cosine `slope`; returns how many, and the deepest one's number and distance.
    """
    kept, deepest, least = 0, 0, FP(1e30)
    for k in range(n):
        x = item(m, d, polygon, k)
        dist = dot(x - base, outward) / slope
        if dist <= margin:
            put_item(m, d, polygon, kept, x)
            if dist < least:
                least, deepest = dist, kept
            kept += 1
    return kept, deepest, least


@func
def put_corner(m, d, slot, x, base, outward, slope, normal, side):
    """A contact at a corner of the shape on this side of the normal: 1 where the normal ends, -1 where it begins."""
    dist = dot(x - base, outward) / slope
    put(m, d, slot, dist, x - (0.5 * side * dist) * normal, normal)


@func
def face_contacts(m, d, mem: ti.template(), slot, dist, margin, normal, missed):
    """Replaces the contact in `slot`, of this distance, by those of two faces; returns their number. It stays where
    there are no such faces, or the deepest corner of what is left is less deep by more than `missed`.
    """
    ncon = 1
    first = foremost_face(m, d, mem, 0, normal)
    second = foremost_face(m, d, mem, 1, -normal)
    cutter = 1 if second.across > first.across + FP(SAME) else 0
    slope = second.across if cutter == 1 else first.across
    if first.number >= 0 and second.number >= 0 and slope > FP(ACROSS):
        outward = first.normal if cutter == 0 else second.normal
        polygon, n, base = cut_face(m, d, mem, cutter, first, second)
        n, deepest, least = keep_near(m, d, polygon, n, margin, base, outward, slope)
        if n > 0 and least - dist < missed:
            side = FP(1.0) if cutter == 0 else FP(-1.0)
            chosen = ivec4(0, 1, 2, 3)
            if n > 4:
                chosen = largest_quad(m, d, polygon, n)
            ncon = 0
            missing = n > 4
            for k in ti.static(range(4)):
                if k < n:
                    missing = missing and chosen[k] != deepest
                    put_corner(m, d, slot + ncon, item(m, d, polygon, chosen[k]), base, outward, slope, normal, side)
                    ncon += 1
            if missing:
                put_corner(m, d, slot + ncon, item(m, d, polygon, deepest), base, outward, slope, normal, side)
                ncon += 1
    return ncon
