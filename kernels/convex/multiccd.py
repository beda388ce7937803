"""Several contacts of two polyhedra (boxes, meshes) whose flat faces, or a face and an edge, lie on each other.

EPA ends on a face of the Minkowski difference; its corners tell which vertices of either shape are involved, and those
which faces and edges meet there. If two of these are parallel, one is clipped by the other, and what is left, at most a
quadrangle, gives the contacts, all of the same depth. After MuJoCo 3.4.0 (multicontact in engine_collision_gjk.c,
Apache-2.0), tolerances included.
"""

from ..constants import BOX
from ..rotation import at3
from ..slots import put
from ..types import *
from .gjk import VERT_F, VERT_I
from .support import DATA, POS, ROT, SHAPE_F, SHAPE_I, SIZE, TYPE, mesh_vertex, put3, rotation_at

FACE_TOL = 0.99999872  # cosine above which faces are parallel
EDGE_TOL = 0.00159999931  # sine below which an edge is parallel to a face
# corners of the faces +x -x +y -y +z -z, one octal digit each, the last first: 1, 2, 4 where x, y, z is positive
BOX_FACES = (0o5137, 0o0462, 0o6732, 0o0154, 0o4576, 0o1023)
SAME = 1e-15  # difference of coordinates below which points are one
NPOLY_F, NPOLY_I = 27, 2  # scratch numbers and integers per corner of the largest polygon


@ti.func
def unit(v):
    return v / ti.max(v.norm(), MINVAL)


@ti.func
def box_corner(bits, size):
    """Corner of a box by the signs of its coordinates, bits of a number."""
    return vec3(size[0] if bits & 1 else -size[0], size[1] if bits & 2 else -size[1], size[2] if bits & 4 else -size[2])


@func
def box_normals(m, d, at, index, dim, v1, v2, v3, direction, f):
    """Normals of the faces that share the corners v1 ... (dim of them); if these are no face or edge, the face nearest
    to `direction`. A face is numbered by its axis: +x -x +y -y +z -z.
    """
    R = rotation_at(d.ccd_f, f + ROT)
    both = v1 & v2 & v3  # coordinates positive in all corners
    none = 7 & ~(v1 | v2 | v3)  # negative in all
    n = 0
    for k in ti.static(range(3)):
        if (both | none) >> k & 1:
            s = 1 if both >> k & 1 else -1
            put3(d.ccd_f, at + 3 * n, s * vec3(R[0, k], R[1, k], R[2, k]))
            d.ccd_i[index + n] = 2 * k + (1 - s) // 2
            n += 1
    if n != 4 - dim:
        n = 0
        delta = unit(R.transpose() @ direction)
        for k in ti.static(range(3)):
            if ti.abs(delta[k]) > FACE_TOL:
                s = 1 if delta[k] > 0.0 else -1
                put3(d.ccd_f, at, s * vec3(R[0, k], R[1, k], R[2, k]))
                d.ccd_i[index] = 2 * k + (1 - s) // 2
                n = 1
    return n


@func
def box_edges(m, d, at, ends, v1, f):
    """Directions and far ends of the three edges at a corner."""
    R = rotation_at(d.ccd_f, f + ROT)
    size = at3(d.ccd_f, f + SIZE)
    p = R @ box_corner(v1, size) + at3(d.ccd_f, f + POS)
    for k in range(3):
        q = R @ box_corner(v1 ^ 1 << k, size) + at3(d.ccd_f, f + POS)
        put3(d.ccd_f, ends + 3 * k, q)
        put3(d.ccd_f, at + 3 * k, unit(q - p))
    return 3


@func
def box_face(m, d, at, face, f):
    """Corners of a face of a box, clockwise seen from outside."""
    R = rotation_at(d.ccd_f, f + ROT)
    size = at3(d.ccd_f, f + SIZE)
    bits = 0
    for k, digits in ti.static(enumerate(BOX_FACES)):
        if face == k:
            bits = digits
    for c in range(4):
        put3(d.ccd_f, at + 3 * c, R @ box_corner(bits >> 3 * c & 7, size) + at3(d.ccd_f, f + POS))
    return 4


@func
def mesh_normals(m, d, at, index, dim, v1, v2, v3, vertadr, polyadr, f):
    """Normals of the polygons that share the vertices v1 ... (dim of them): up to two for an edge, one for three."""
    R = rotation_at(d.ccd_f, f + ROT)
    adr1 = m.mesh_polymapadr[vertadr + v1]
    adr2 = m.mesh_polymapadr[vertadr + v2]
    adr3 = m.mesh_polymapadr[vertadr + v3]
    most = d.npoly
    if dim > 1:
        most = 2
    n = 0
    for i in range(m.mesh_polymapnum[vertadr + v1]):
        polygon = m.mesh_polymap[adr1 + i]
        shared = dim == 1
        if dim > 1:
            for j in range(m.mesh_polymapnum[vertadr + v2]):
                shared = shared or m.mesh_polymap[adr2 + j] == polygon
        if shared and n < most:
            d.ccd_i[index + n] = polygon
            n += 1
    if dim == 3:
        found = -1
        for i in range(n):
            for j in range(m.mesh_polymapnum[vertadr + v3]):
                if found < 0 and m.mesh_polymap[adr3 + j] == d.ccd_i[index + i]:
                    found = d.ccd_i[index + i]
        d.ccd_i[index] = found
        n = 1 if found >= 0 else 0
    for i in range(n):
        put3(d.ccd_f, at + 3 * i, R @ m.mesh_polynormal[polyadr + d.ccd_i[index + i]])
    return n


@func
def mesh_edges(m, d, at, ends, v1, vertadr, polyadr, f):
    """Directions and far ends of the edges at a vertex, one for each polygon there."""
    R = rotation_at(d.ccd_f, f + ROT)
    x = at3(d.ccd_f, f + POS)
    p = R @ mesh_vertex(vertadr + v1, m.mesh_vert) + x
    n = ti.min(d.npoly, m.mesh_polymapnum[vertadr + v1])
    for i in range(n):
        polygon = polyadr + m.mesh_polymap[m.mesh_polymapadr[vertadr + v1] + i]
        adr = m.mesh_polyvertadr[polygon]
        nvert = m.mesh_polyvertnum[polygon]
        for j in range(nvert):
            if m.mesh_polyvert[adr + j] == v1:
                before = m.mesh_polyvert[adr + (j + nvert - 1) % nvert]
                q = R @ mesh_vertex(vertadr + before, m.mesh_vert) + x
                put3(d.ccd_f, ends + 3 * i, q)
                put3(d.ccd_f, at + 3 * i, unit(q - p))
    return n


@func
def mesh_face(m, d, at, face, vertadr, polyadr, f):
    """Corners of a polygon of a mesh, clockwise seen from outside."""
    R = rotation_at(d.ccd_f, f + ROT)
    x = at3(d.ccd_f, f + POS)
    adr = m.mesh_polyvertadr[polyadr + face]
    n = ti.min(d.npoly, m.mesh_polyvertnum[polyadr + face])
    for i in range(n):
        put3(d.ccd_f, at + 3 * i, R @ mesh_vertex(vertadr + m.mesh_polyvert[adr + n - 1 - i], m.mesh_vert) + x)
    return n


@func
def quad_area(m, d, a, b, c, delta):
    """Area of a quadrangle, up to its factor of one half."""
    pa = at3(d.ccd_f, a)
    pb = at3(d.ccd_f, b)
    pc = at3(d.ccd_f, c)
    pd = at3(d.ccd_f, delta)
    return ((pd - pa).cross(pb - pd) + (pc - pb).cross(pa - pc)).norm()


@func
def largest_quad(m, d, at, n):
    """Four corners of a convex polygon that span the largest area, by turning a quadrangle around in it."""
    v = ti.Vector([0, 1, 2, 3], ti.i32)
    best = v
    most = quad_area(m, d, at, at + 3, at + 6, at + 9)
    for a in range(n):
        v[0] = a
        moving = 3  # the corner that moves on while the area grows: d, then c, then b
        turning = True
        while turning:
            w = v
            if moving == 3:
                w[3] = (v[3] + 1) % n
            elif moving == 2:
                w[2] = (v[2] + 1) % n
            else:
                w[1] = (v[1] + 1) % n
            area = quad_area(m, d, at + 3 * w[0], at + 3 * w[1], at + 3 * w[2], at + 3 * w[3])
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
def clip(m, d, face, nface, poly, npoint, spare, normal):
    """Cuts the polygon `poly` with the planes through the edges of `face` along its normal; returns where the result
    is and how many corners it has.
    """
    for e in range(nface):
        a = at3(d.ccd_f, face + 3 * e)
        side = (at3(d.ccd_f, face + 3 * ((e + 1) % nface)) - a).cross(a + normal - a)
        level = side.dot(a)
        n = 0
        for i in range(npoint):
            p = at3(d.ccd_f, poly + 3 * i)
            q = at3(d.ccd_f, poly + 3 * ((i + 1) % npoint))
            inside_p = (p - a).dot(side) > -MINVAL
            inside_q = (q - a).dot(side) > -MINVAL
            if inside_p != inside_q:
                along = side.dot(q - p)
                if along != 0.0:
                    t = (level - side.dot(p)) / along
                    if t >= 0.0 and t <= 1.0:
                        put3(d.ccd_f, spare + 3 * n, p + t * (q - p))
                        n += 1
            if inside_q:
                put3(d.ccd_f, spare + 3 * n, q)
                n += 1
        moved = poly
        poly = spare
        spare = moved
        npoint = n
    return poly, npoint


@func
def multicontact(m, d, slot, dist, p1, p2, corner, fb, ib, sf, si, tail_f, tail_i):
    """Replaces the contact in `slot` by those of parallel faces, or of a face and an edge, if there are; returns their
    number. corner are the EPA face's vertices, p1 and p2 its witness points.
    """
    half = 3 * d.npoly
    normals = tail_f  # of both shapes' faces, or directions of edges
    ends = tail_f + 2 * half
    faces = tail_f + 3 * half
    polys = tail_f + 5 * half
    dim = ti.Vector([0, 0], ti.i32)
    count = ti.Vector([0, 0], ti.i32)
    first = ti.Vector([0, 0], ti.i32)
    for s in ti.static(range(2)):
        v1 = d.ccd_i[ib + VERT_I * corner[0] + s]
        v2 = d.ccd_i[ib + VERT_I * corner[1] + s]
        v3 = d.ccd_i[ib + VERT_I * corner[2] + s]
        dim[s] = 3
        if v1 == v2 and v1 == v3:
            dim[s] = 1
        elif v1 == v2 or v1 == v3 or v2 == v3:
            dim[s] = 2
        first[s] = v1
    # faces that meet the corners
    for s in range(2):
        f = sf + SHAPE_F * s
        v1 = d.ccd_i[ib + VERT_I * corner[0] + s]
        v2 = d.ccd_i[ib + VERT_I * corner[1] + s]
        v3 = d.ccd_i[ib + VERT_I * corner[2] + s]
        delta = dim[0] if s == 0 else dim[1]
        if delta == 2 and v1 == v2:
            v2 = v3
        n = 0
        if d.ccd_i[si + SHAPE_I * s + TYPE] == BOX:
            n = box_normals(
                m,
                d,
                normals + half * s,
                tail_i + d.npoly * s,
                delta,
                v1,
                v2,
                v3 if delta == 3 else v1,
                (1.0 - 2.0 * s) * (p1 - p2),
                f,
            )
        else:
            mesh = d.ccd_i[si + SHAPE_I * s + DATA]
            n = mesh_normals(
                m,
                d,
                normals + half * s,
                tail_i + d.npoly * s,
                delta,
                v1,
                v2,
                v3,
                m.mesh_vertadr[mesh],
                m.mesh_polyadr[mesh],
                f,
            )
        if s == 0:
            count[0] = n
        else:
            count[1] = n
    # two parallel faces
    take = ti.Vector([-1, -1], ti.i32)
    for i in range(count[0]):
        for j in range(count[1]):
            if take[0] < 0 and at3(d.ccd_f, normals + 3 * i).dot(at3(d.ccd_f, normals + half + 3 * j)) < -FACE_TOL:
                take[0] = i
                take[1] = j
    # an edge parallel to a face
    edge = -1  # the shape whose edge it is
    end = 0
    if take[0] < 0:
        if dim[0] < 3 and dim[0] <= dim[1]:
            edge = 0
        elif dim[1] < 3:
            edge = 1
    if edge >= 0:
        f = sf + SHAPE_F * edge
        v1 = first[0] if edge == 0 else first[1]
        n = 1
        if (dim[0] if edge == 0 else dim[1]) == 2:
            c2 = corner[1]
            if d.ccd_i[ib + VERT_I * c2 + edge] == v1:
                c2 = corner[2]
            q = at3(d.ccd_f, fb + VERT_F * c2 + 3 + 3 * edge)
            put3(d.ccd_f, ends, q)
            put3(d.ccd_f, normals + half * edge, unit(q - at3(d.ccd_f, fb + VERT_F * corner[0] + 3 + 3 * edge)))
        elif d.ccd_i[si + SHAPE_I * edge + TYPE] == BOX:
            n = box_edges(m, d, normals + half * edge, ends, v1, f)
        else:
            mesh = d.ccd_i[si + SHAPE_I * edge + DATA]
            n = mesh_edges(m, d, normals + half * edge, ends, v1, m.mesh_vertadr[mesh], m.mesh_polyadr[mesh], f)
        for j in range(count[1] if edge == 0 else count[0]):
            for i in range(n):
                v = at3(d.ccd_f, normals + half * edge + 3 * i)
                if take[0] < 0 and ti.abs(v.dot(at3(d.ccd_f, normals + half * (1 - edge) + 3 * j))) < EDGE_TOL:
                    end = i
                    take[0] = j
                    take[1] = j
    ncon = 1
    if take[0] >= 0:
        nface = ti.Vector([0, 0], ti.i32)
        for s in range(2):
            f = sf + SHAPE_F * s
            n = 2
            chosen = d.ccd_i[tail_i + d.npoly * s + (take[0] if s == 0 else take[1])]
            if s == edge:
                put3(d.ccd_f, faces + half * s, at3(d.ccd_f, fb + VERT_F * corner[0] + 3 + 3 * s))
                put3(d.ccd_f, faces + half * s + 3, at3(d.ccd_f, ends + 3 * end))
            elif d.ccd_i[si + SHAPE_I * s + TYPE] == BOX:
                n = box_face(m, d, faces + half * s, chosen, f)
            else:
                mesh = d.ccd_i[si + SHAPE_I * s + DATA]
                n = mesh_face(m, d, faces + half * s, chosen, m.mesh_vertadr[mesh], m.mesh_polyadr[mesh], f)
            if s == 0:
                nface[0] = n
            else:
                nface[1] = n
        cutter = 1 if edge == 0 else 0  # the face that cuts; the other one, or the edge, is cut
        ncut = nface[1] if edge == 0 else nface[0]
        npoint = nface[0] if edge == 0 else nface[1]
        if ncut >= 3:
            for c in range(3 * npoint):
                d.ccd_f[polys + c] = d.ccd_f[faces + half * (1 - cutter) + c]
            outward = at3(d.ccd_f, normals + half * cutter + 3 * (take[0] if cutter == 0 else take[1]))
            normal = outward  # from shape 1 to shape 2: against the normal of 2's face, or along that of 1's
            if edge != 1:
                normal = -at3(d.ccd_f, normals + half + 3 * take[1])
            poly, npoint = clip(m, d, faces + half * cutter, ncut, polys, npoint, polys + 2 * half, outward)
            depth = (p2 - p1).norm()
            if npoint > 0:
                chosen = ti.Vector([0, 1, 2, 3], ti.i32)
                pruned = npoint > 4
                if pruned:
                    chosen = largest_quad(m, d, poly, npoint)
                    npoint = 4
                ncon = 0
                for k in ti.static(range(4)):
                    if k < npoint:
                        x = at3(d.ccd_f, poly + 3 * chosen[k])
                        again = False
                        for j in ti.static(range(k)):
                            again = again or ti.abs(x - at3(d.ccd_f, poly + 3 * j)).max() < SAME
                        if pruned or not again:
                            pos = x + 0.5 * depth * normal
                            put(m, d, slot + ncon, dist, pos, normal)
                            ncon += 1
    return ncon
