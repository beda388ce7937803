"""Faces and edges at vertices of boxes and meshes, for several contacts of one pair (convex/multiccd.py).

What is found goes to the worker's lists (convex/memory.py): normals of faces, or directions of edges, to NORMALS, and
numbers of faces; far ends of edges to ENDS; corners of a face to FACES. Each function returns how many they are.
"""

from ..constants import BOX
from ..rotation import at3
from ..wide import *
from .memory import (
    DATA,
    ENDS,
    FACES,
    NORMALS,
    POS,
    ROT,
    SIZE,
    list_adr,
    numbers_adr,
    put_item,
    shape_f,
    shape_i,
    type_of,
)
from .support import mesh_vertex, rotation_at

FACE_TOL = 0.99999872  # cosine above which faces are parallel
# corners of the faces +x -x +y -y +z -z, one octal digit each, the last first: 1, 2, 4 where x, y, z is positive
BOX_FACES = (0o5137, 0o0462, 0o6732, 0o0154, 0o4576, 0o1023)


@ti.func
def unit(v):
    return v / ti.max(v.norm(), MINVAL)


@func
def place_of(m, d, mem: ti.template(), s):
    """Rotation and position of shape s."""
    f = shape_f(mem, s)
    return rotation_at(d.ccd_f, f + ROT), at3(d.ccd_f, f + POS)


@func
def mesh_of(m, d, mem: ti.template(), s):
    return d.ccd_i[shape_i(mem, s) + DATA]


# ---- boxes


@ti.func
def box_corner(bits, size):
    """Corner of a box by the signs of its coordinates, bits of a number."""
    return vec3(size[0] if bits & 1 else -size[0], size[1] if bits & 2 else -size[1], size[2] if bits & 4 else -size[2])


@func
def box_normals(m, d, mem: ti.template(), s, v, dim, direction):
    """Normals of the faces that share the corners v (dim of them differ); if these are no face or edge, the face
    nearest to `direction`. A face is numbered by its axis: +x -x +y -y +z -z.
    """
    R, _ = place_of(m, d, mem, s)
    normals = list_adr(m, d, mem, NORMALS + s)
    numbers = numbers_adr(m, d, mem, s)
    both = v[0] & v[1] & v[2]  # coordinates positive in all corners
    none = 7 & ~(v[0] | v[1] | v[2])  # negative in all
    n = 0
    for k in ti.static(range(3)):
        if (both | none) >> k & 1:
            sign = 1 if both >> k & 1 else -1
            put_item(m, d, normals, n, sign * vec3(R[0, k], R[1, k], R[2, k]))
            d.ccd_i[numbers + n] = 2 * k + (1 - sign) // 2
            n += 1
    if n != 4 - dim:
        n = 0
        toward = unit(R.transpose() @ direction)
        for k in ti.static(range(3)):
            if ti.abs(toward[k]) > FP(FACE_TOL):
                sign = 1 if toward[k] > 0.0 else -1
                put_item(m, d, normals, 0, sign * vec3(R[0, k], R[1, k], R[2, k]))
                d.ccd_i[numbers] = 2 * k + (1 - sign) // 2
                n = 1
    return n


@func
def box_edges(m, d, mem: ti.template(), s, v):
    """Directions and far ends of the three edges at corner v."""
    R, x = place_of(m, d, mem, s)
    size = at3(d.ccd_f, shape_f(mem, s) + SIZE)
    p = R @ box_corner(v, size) + x
    for k in range(3):
        q = R @ box_corner(v ^ 1 << k, size) + x
        put_item(m, d, list_adr(m, d, mem, ENDS), k, q)
        put_item(m, d, list_adr(m, d, mem, NORMALS + s), k, unit(q - p))
    return 3


@func
def box_face(m, d, mem: ti.template(), s, face):
    """Corners of a face of a box, clockwise seen from outside."""
    R, x = place_of(m, d, mem, s)
    size = at3(d.ccd_f, shape_f(mem, s) + SIZE)
    bits = 0
    for k, digits in ti.static(enumerate(BOX_FACES)):
        if face == k:
            bits = digits
    for c in range(4):
        put_item(m, d, list_adr(m, d, mem, FACES + s), c, R @ box_corner(bits >> 3 * c & 7, size) + x)
    return 4


# ---- meshes


@func
def has_polygon(m, d, v, polygon):
    """True if a polygon meets a vertex; v counts through the vertices of all meshes."""
    adr = m.mesh_polymapadr[v]
    found = False
    for j in range(m.mesh_polymapnum[v]):
        found = found or m.mesh_polymap[adr + j] == polygon
    return found


@func
def mesh_normals(m, d, mem: ti.template(), s, v, dim):
    """Normals of the polygons that share the vertices v, dim of which differ: up to two for an edge, one for three."""
    R, _ = place_of(m, d, mem, s)
    normals = list_adr(m, d, mem, NORMALS + s)
    numbers = numbers_adr(m, d, mem, s)
    mesh = mesh_of(m, d, mem, s)
    first = m.mesh_vertadr[mesh] + v[0]
    most = 2 if dim > 1 else d.npoly
    n = 0
    for i in range(m.mesh_polymapnum[first]):
        polygon = m.mesh_polymap[m.mesh_polymapadr[first] + i]
        shared = dim == 1
        if dim > 1:
            shared = has_polygon(m, d, m.mesh_vertadr[mesh] + v[1], polygon)
        if shared and n < most:
            d.ccd_i[numbers + n] = polygon
            n += 1
    if dim == 3:
        found = -1
        for i in range(n):
            if found < 0 and has_polygon(m, d, m.mesh_vertadr[mesh] + v[2], d.ccd_i[numbers + i]):
                found = d.ccd_i[numbers + i]
        d.ccd_i[numbers] = found
        n = 1 if found >= 0 else 0
    for i in range(n):
        put_item(m, d, normals, i, R @ m.mesh_polynormal[m.mesh_polyadr[mesh] + d.ccd_i[numbers + i]])
    return n


@func
def mesh_edges(m, d, mem: ti.template(), s, v):
    """Directions and far ends of the edges at vertex v, one for each polygon there."""
    R, x = place_of(m, d, mem, s)
    mesh = mesh_of(m, d, mem, s)
    vertadr = m.mesh_vertadr[mesh]
    p = R @ mesh_vertex(vertadr + v, m.mesh_vert) + x
    n = ti.min(d.npoly, m.mesh_polymapnum[vertadr + v])
    for i in range(n):
        polygon = m.mesh_polyadr[mesh] + m.mesh_polymap[m.mesh_polymapadr[vertadr + v] + i]
        adr = m.mesh_polyvertadr[polygon]
        nvert = m.mesh_polyvertnum[polygon]
        for j in range(nvert):
            if m.mesh_polyvert[adr + j] == v:
                before = m.mesh_polyvert[adr + (j + nvert - 1) % nvert]
                q = R @ mesh_vertex(vertadr + before, m.mesh_vert) + x
                put_item(m, d, list_adr(m, d, mem, ENDS), i, q)
                put_item(m, d, list_adr(m, d, mem, NORMALS + s), i, unit(q - p))
    return n


@func
def mesh_face(m, d, mem: ti.template(), s, face):
    """Corners of a polygon of a mesh, clockwise seen from outside."""
    R, x = place_of(m, d, mem, s)
    mesh = mesh_of(m, d, mem, s)
    polygon = m.mesh_polyadr[mesh] + face
    adr = m.mesh_polyvertadr[polygon]
    n = ti.min(d.npoly, m.mesh_polyvertnum[polygon])
    for i in range(n):
        q = mesh_vertex(m.mesh_vertadr[mesh] + m.mesh_polyvert[adr + n - 1 - i], m.mesh_vert)
        put_item(m, d, list_adr(m, d, mem, FACES + s), i, R @ q + x)
    return n


# ---- either


@func
def find_normals(m, d, mem: ti.template(), s, v, dim, direction):
    n = 0
    if type_of(m, d, mem, s) == BOX:
        n = box_normals(m, d, mem, s, v, dim, direction)
    else:
        n = mesh_normals(m, d, mem, s, v, dim)
    return n


@func
def find_edges(m, d, mem: ti.template(), s, v):
    n = 0
    if type_of(m, d, mem, s) == BOX:
        n = box_edges(m, d, mem, s, v)
    else:
        n = mesh_edges(m, d, mem, s, v)
    return n


@func
def find_face(m, d, mem: ti.template(), s, face):
    n = 0
    if type_of(m, d, mem, s) == BOX:
        n = box_face(m, d, mem, s, face)
    else:
        n = mesh_face(m, d, mem, s, face)
    return n
