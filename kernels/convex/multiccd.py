"""Several contacts of two polyhedra (boxes, meshes) whose flat faces, or a face and an edge, lie on each other.

EPA ends on a face of the Minkowski difference; its corners tell which vertices of either shape are involved, and those
which faces and edges meet there. If two of these are parallel, one is clipped by the other, and what is left, at most a
quadrangle, gives the contacts, all of the same depth. After MuJoCo 3.4.0 (multicontact in engine_collision_gjk.c,
Apache-2.0), tolerances included.
"""

from ..slots import put
from ..wide import *
from .memory import (
    CUT,
    ENDS,
    FACES,
    NORMALS,
    POLYGON,
    item,
    list_adr,
    number,
    numbers_adr,
    point,
    put_item,
)
from .polyhedra import FACE_TOL, find_edges, find_face, find_normals, unit

EDGE_TOL = 0.00159999931  # sine below which an edge is parallel to a face
SAME = 1e-15  # difference of coordinates below which points are one
ivec2 = ti.types.vector(2, ti.i32)
ivec3 = ti.types.vector(3, ti.i32)
ivec4 = ti.types.vector(4, ti.i32)


@ti.dataclass
class Match:
    # of both shapes
    dim: ivec2  # vertices involved: 1, 2 for an edge, 3 for a face
    first: ivec2  # one of them
    count: ivec2  # faces that meet there
    face: ivec2  # the one that is parallel to the other shape's, in NORMALS; -1: none
    edge: ti.i32  # the shape whose edge lies on the other one's face; -1: none
    end: ti.i32  # that edge, in ENDS


@ti.func
def of(v, s):
    """What a pair says of shape s."""
    return v[0] if s == 0 else v[1]


@ti.func
def tell(v: ti.template(), s, x):
    """Has a pair say x of shape s."""
    if s == 0:
        v[0] = x
    else:
        v[1] = x


# ---- polygons


@func
def quad_area(m, d, polygon, v):
    """Area of the quadrangle of these four corners of a polygon, up to its factor of one half."""
    a = item(m, d, polygon, v[0])
    b = item(m, d, polygon, v[1])
    c = item(m, d, polygon, v[2])
    e = item(m, d, polygon, v[3])
    return (cross(e - a, b - e) + cross(c - b, a - c)).norm()


@func
def largest_quad(m, d, polygon, n):
    """Four corners of a convex polygon that span the largest area, by turning a quadrangle around in it."""
    v = ivec4(0, 1, 2, 3)
    best = v
    most = quad_area(m, d, polygon, v)
    for a in range(n):
        v[0] = a
        moving = 3  # the corner that moves on while the area grows: the last, then the third, then the second
        turning = True
        while turning:
            w = v
            if moving == 3:
                w[3] = (v[3] + 1) % n
            elif moving == 2:
                w[2] = (v[2] + 1) % n
            else:
                w[1] = (v[1] + 1) % n
            area = quad_area(m, d, polygon, w)
            if area > most:
                most = area
                v = w
                best = v
                if moving == 3:
                    moving = 2
            elif moving == 3:
                turning = False
            elif moving == 2:
                moving = 1
            else:
                moving = 3
        if v[1] == a:
            v[1] = (v[1] + 1) % n
            if v[2] == v[1]:
                v[2] = (v[2] + 1) % n
                if v[3] == v[2]:
                    v[3] = (v[3] + 1) % n
    return best


@func
def clip(m, d, face, nface, polygon, npoint, spare, normal):
    """Cuts a polygon with the planes through the edges of a face along its normal; returns where the result is and how
    many corners it has.
    """
    for e in range(nface):
        a = item(m, d, face, e)
        side = cross(item(m, d, face, (e + 1) % nface) - a, a + normal - a)
        level = dot(side, a)
        n = 0
        for i in range(npoint):
            p = item(m, d, polygon, i)
            q = item(m, d, polygon, (i + 1) % npoint)
            inside_p = dot(p - a, side) > -MINVAL
            inside_q = dot(q - a, side) > -MINVAL
            along = dot(side, q - p)
            if inside_p != inside_q and along != 0.0:
                t = (level - dot(side, p)) / along
                if t >= 0.0 and t <= 1.0:
                    put_item(m, d, spare, n, p + t * (q - p))
                    n += 1
            if inside_q:
                put_item(m, d, spare, n, q)
                n += 1
        moved = polygon
        polygon = spare
        spare = moved
        npoint = n
    return polygon, npoint


# ---- faces and edges that lie on each other


@func
def vertices_of(m, d, mem: ti.template(), corner, s):
    """The vertices of shape s at the corners of EPA's face, those that differ first, and how many these are."""
    v = ivec3(number(m, d, mem, corner[0], s), number(m, d, mem, corner[1], s), number(m, d, mem, corner[2], s))
    dim = 3
    if v[0] == v[1] and v[0] == v[2]:
        dim = 1
    elif v[0] == v[1] or v[0] == v[2] or v[1] == v[2]:
        dim = 2
        if v[0] == v[1]:
            v[1] = v[2]
        v[2] = v[0]
    return v, dim


@func
def match_faces(m, d, mem: ti.template(), o: ti.template()):
    """Looks for the first two parallel faces."""
    for i in range(o.count[0]):
        for j in range(o.count[1]):
            normal1 = item(m, d, list_adr(m, d, mem, NORMALS), i)
            normal2 = item(m, d, list_adr(m, d, mem, NORMALS + 1), j)
            if o.face[0] < 0 and dot(normal1, normal2) < FP(-FACE_TOL):
                o.face = ivec2(i, j)


@func
def match_edge(m, d, mem: ti.template(), o: ti.template(), corner):
    """Looks for an edge of shape o.edge that is parallel to a face of the other shape."""
    s = o.edge
    v = of(o.first, s)
    n = 1
    if of(o.dim, s) == 2:
        other = corner[1]
        if number(m, d, mem, other, s) == v:
            other = corner[2]
        end = point(m, d, mem, other, s)
        put_item(m, d, list_adr(m, d, mem, ENDS), 0, end)
        put_item(m, d, list_adr(m, d, mem, NORMALS + s), 0, unit(end - point(m, d, mem, corner[0], s)))
    else:
        n = find_edges(m, d, mem, s, v)
    for j in range(of(o.count, 1 - s)):
        normal = item(m, d, list_adr(m, d, mem, NORMALS + 1 - s), j)
        for i in range(n):
            along = item(m, d, list_adr(m, d, mem, NORMALS + s), i)
            if o.face[0] < 0 and ti.abs(dot(along, normal)) < FP(EDGE_TOL):
                o.end = i
                o.face = ivec2(j, j)


@func
def match(m, d, mem: ti.template(), corner, across):
    """What of the two shapes lies on each other; `across` leads from shape 1's deepest point to shape 0's."""
    o = Match(face=ivec2(-1, -1), edge=-1)
    for s in range(2):
        v, dim = vertices_of(m, d, mem, corner, s)
        tell(o.dim, s, dim)
        tell(o.first, s, v[0])
        tell(o.count, s, find_normals(m, d, mem, s, v, dim, (1.0 - 2.0 * s) * across))
    match_faces(m, d, mem, o)
    if o.face[0] < 0:
        if o.dim[0] < 3 and o.dim[0] <= o.dim[1]:
            o.edge = 0
        elif o.dim[1] < 3:
            o.edge = 1
    if o.edge >= 0:
        match_edge(m, d, mem, o, corner)
    return o


@func
def enter_faces(m, d, mem: ti.template(), o: ti.template(), corner):
    """Writes the corners of the two faces, of an edge its ends; returns their numbers."""
    count = ivec2(2, 2)
    for s in range(2):
        if s == o.edge:
            put_item(m, d, list_adr(m, d, mem, FACES + s), 0, point(m, d, mem, corner[0], s))
            put_item(m, d, list_adr(m, d, mem, FACES + s), 1, item(m, d, list_adr(m, d, mem, ENDS), o.end))
        else:
            face = d.ccd_i[numbers_adr(m, d, mem, s) + of(o.face, s)]
            tell(count, s, find_face(m, d, mem, s, face))
    return count


@func
def put_corners(m, d, slot, polygon, n, dist, offset, normal):
    """Makes the corners of a polygon, moved by an offset, contacts; of more than four those that span most."""
    chosen = ivec4(0, 1, 2, 3)
    pruned = n > 4
    if pruned:
        chosen = largest_quad(m, d, polygon, n)
    ncon = 0
    for k in ti.static(range(4)):
        if k < n:
            x = item(m, d, polygon, chosen[k])
            again = False
            for j in ti.static(range(k)):
                again = again or ti.abs(x - item(m, d, polygon, j)).max() < SAME
            if pruned or not again:
                put(m, d, slot + ncon, dist, x + offset, normal)
                ncon += 1
    return ncon


@func
def multicontact(m, d, mem: ti.template(), slot, dist, p1, p2, corner):
    """Replaces the contact in `slot` by those of parallel faces, or of a face and an edge, if there are; returns their
    number. corner are the EPA face's vertices, p1 and p2 its witness points.
    """
    ncon = 1
    o = match(m, d, mem, corner, p1 - p2)
    if o.face[0] >= 0:
        count = enter_faces(m, d, mem, o, corner)
        cutter = 1 if o.edge == 0 else 0  # the face that cuts; the other one, or the edge, is cut
        npoint = of(count, 1 - cutter)
        if of(count, cutter) >= 3:
            polygon = list_adr(m, d, mem, POLYGON)
            for c in range(npoint):
                put_item(m, d, polygon, c, item(m, d, list_adr(m, d, mem, FACES + 1 - cutter), c))
            outward = item(m, d, list_adr(m, d, mem, NORMALS + cutter), of(o.face, cutter))
            normal = outward  # from shape 0 to shape 1: against the normal of 1's face, or along that of 0's
            if o.edge != 1:
                normal = -item(m, d, list_adr(m, d, mem, NORMALS + 1), o.face[1])
            face = list_adr(m, d, mem, FACES + cutter)
            spare = list_adr(m, d, mem, CUT)
            polygon, npoint = clip(m, d, face, of(count, cutter), polygon, npoint, spare, outward)
            if npoint > 0:
                ncon = put_corners(m, d, slot, polygon, npoint, dist, 0.5 * (p2 - p1).norm() * normal, normal)
    return ncon
