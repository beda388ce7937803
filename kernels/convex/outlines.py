"""What a shape turns towards a direction, for several contacts under the second dynamics (convex/manifold.py): a face
of a box or mesh, or its foremost edge; the cap of a cylinder as an octagon, or the line along the side of a cylinder or
capsule. Corners go to the worker's list FACES (convex/memory.py), those of a face clockwise seen from outside.
"""

from ..constants import BOX, CAPSULE, CYLINDER, MESH
from ..rotation import at3
from ..wide import *
from .memory import FACES, NORMALS, SIZE, item, list_adr, numbers_adr, put_item, shape_f, shape_i, type_of
from .multiccd import ivec3
from .polyhedra import find_face, find_normals, place_of
from .sizes import CAP_CORNERS, FOUND
from .support import support

ACROSS = 0.99  # cosine between a direction and the normal of what is turned towards it, below which there is nothing
LINE = 2  # corners of a line
HALF_ROOT = 0.7071067811865476
CAP = ((0, 1), (HALF_ROOT, HALF_ROOT), (1, 0), (HALF_ROOT, -HALF_ROOT),
       (0, -1), (-HALF_ROOT, -HALF_ROOT), (-1, 0), (-HALF_ROOT, HALF_ROOT))  # fmt: skip


@ti.func
def has_faces(gtype):
    """True if the shape is a polyhedron with explicit faces."""
    return gtype == BOX or gtype == MESH


@ti.func
def has_outline(gtype):
    """True if a face or a straight side of it can lie on another shape."""
    return has_faces(gtype) or gtype == CAPSULE or gtype == CYLINDER


@ti.dataclass
class Outline:
    count: ti.i32  # corners; 0: none
    normal: vec3
    across: FP  # cosine between the normal and the direction that it was asked for


@ti.dataclass
class Side:
    centre: vec3
    half: vec3  # the way from there to its end
    radius: FP  # of what lies around it


@func
def foremost_face(m, d, mem: ti.template(), s, direction):
    """The face of box or mesh s that is turned most into a direction, among those at its foremost vertex."""
    support(m, d, mem, s, direction)
    v = d.ccd_i[shape_i(mem, s) + FOUND]
    n = find_normals(m, d, mem, s, ivec3(v, v, v), 1, direction)
    face = Outline(count=0, across=FP(-2.0))
    number = -1
    for k in range(n):
        normal = item(m, d, list_adr(m, d, mem, NORMALS + s), k)
        if dot(normal, direction) > face.across:
            face.across = dot(normal, direction)
            face.normal = normal
            number = d.ccd_i[numbers_adr(m, d, mem, s) + k]
    if number >= 0:
        face.count = find_face(m, d, mem, s, number)
    return face


@func
def cap_or_line(m, d, mem: ti.template(), s, direction):
    """The cap of cylinder s, or the line along its side, or along that of capsule s."""
    R, x = place_of(m, d, mem, s)
    size = at3(d.ccd_f, shape_f(mem, s) + SIZE)
    axis = vec3(R[0, 2], R[1, 2], R[2, 2])
    along = dot(axis, direction)
    corners = list_adr(m, d, mem, FACES + s)
    outline = Outline(count=0, across=FP(-2.0))
    outward = direction - along * axis
    if along * along < FP(1.0 - ACROSS * ACROSS):
        outline.count = LINE
        outline.across = root(dot(outward, outward))
        outline.normal = over(outward, outline.across)
        foremost = outline.normal
        if type_of(m, d, mem, s) == CAPSULE:
            foremost = direction
        for k in range(2):
            put_item(m, d, corners, k, x + (size[1] - 2.0 * k * size[1]) * axis + size[0] * foremost)
    elif type_of(m, d, mem, s) == CYLINDER and ti.abs(along) > FP(ACROSS):
        sign = ti.select(along > 0.0, FP(1.0), FP(-1.0))
        outline.count = CAP_CORNERS
        outline.across = sign * along
        outline.normal = sign * axis
        for k, corner in ti.static(enumerate(CAP)):
            p = vec3(sign * size[0] * corner[0], size[0] * corner[1], sign * size[1])
            put_item(m, d, corners, k, R @ p + x)
    return outline


@func
def outline_of(m, d, mem: ti.template(), s, direction):
    outline = Outline(count=0, across=FP(-2.0))
    gtype = type_of(m, d, mem, s)
    if has_faces(gtype):
        outline = foremost_face(m, d, mem, s, direction)
    elif gtype == CAPSULE or gtype == CYLINDER:
        outline = cap_or_line(m, d, mem, s, direction)
    return outline


@func
def side_of(m, d, mem: ti.template(), s, count, direction):
    """The axis of cylinder or capsule s, or the edge of box or mesh s that is foremost in a direction, among those of
    the face whose corners are in its list, so many.
    """
    R, x = place_of(m, d, mem, s)
    size = at3(d.ccd_f, shape_f(mem, s) + SIZE)
    side = Side(centre=x, half=size[1] * vec3(R[0, 2], R[1, 2], R[2, 2]), radius=size[0])
    if has_faces(type_of(m, d, mem, s)):
        side.radius = 0.0
        corners = list_adr(m, d, mem, FACES + s)
        most = FP(-1e30)
        for e in range(count):
            a, b = item(m, d, corners, e), item(m, d, corners, (e + 1) % count)
            reach = ti.min(dot(a, direction), dot(b, direction))
            if reach > most:
                most = reach
                side.centre, side.half = 0.5 * (a + b), 0.5 * (b - a)
    return side
