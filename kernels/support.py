"""Support points of convex shapes: the point of a shape that is farthest in a direction. A capsule is a segment and a
sphere a point, both inflated by their radius; every shape may be inflated further, by half the margin of its pair.

A worker keeps the two shapes of its pair in scratch memory, `ccd_f` and `ccd_i`; sf and si say where shape 0 starts.
Which of several equal vertices is taken, and how a hull is climbed, follows MuJoCo 3.4.0 (engine_collision_convex.c,
Apache-2.0), because the place of a contact between parallel faces depends on it.
"""

from tisim.kernels.constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, SPHERE
from tisim.kernels.rotation import at3
from tisim.kernels.types import *

# a shape's numbers: rotation, position, size, radius of a round shape, the same or 0 for the shape's core, inflation,
# upper corners of a prism, its bottom
ROT, POS, SIZE, RADIUS, ROUND, INFLATE, TOP, BOTTOM, SHAPE_F = 0, 9, 12, 15, 16, 17, 18, 27, 28
# type, first vertex, vertices, graph (-1: none), where climbing starts, the vertex found last, mesh
TYPE, VERTADR, VERTNUM, GRAPHADR, HINT, VERTEX, DATA, SHAPE_I = range(8)
CLIMB = 10  # vertices from which on a mesh is climbed, mjMESH_HILLCLIMB_MIN
LOWEST = -3e38  # below any projection


@ti.func
def put3(a: ti.template(), i, v):
    a[i] = v[0]
    a[i + 1] = v[1]
    a[i + 2] = v[2]


@ti.func
def rotation_at(a: ti.template(), i):
    return mat3(a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8])


@ti.func
def put_rotation(a: ti.template(), i, m):
    for r in ti.static(range(3)):
        for c in ti.static(range(3)):
            a[i + 3 * r + c] = m[r, c]


@ti.func
def enter_shape(
    s, sf, si, R, x, gtype, size, dataid, ccd_f: ti.template(), ccd_i: ti.template(),
    mesh_vertadr: ti.template(), mesh_vertnum: ti.template(), mesh_graphadr: ti.template(),
):  # fmt: skip
    """Writes a geom as shape s of a worker."""
    f = sf + s * SHAPE_F
    i = si + s * SHAPE_I
    put_rotation(ccd_f, f + ROT, R)
    put3(ccd_f, f + POS, x)
    put3(ccd_f, f + SIZE, size)
    ccd_f[f + RADIUS] = size[0] if gtype == SPHERE or gtype == CAPSULE else 0.0
    ccd_f[f + ROUND] = 0.0
    ccd_f[f + INFLATE] = 0.0
    ccd_i[i + TYPE] = gtype
    ccd_i[i + HINT] = -1
    ccd_i[i + VERTEX] = -1
    ccd_i[i + DATA] = dataid
    if gtype == MESH:
        ccd_i[i + VERTADR] = mesh_vertadr[dataid]
        ccd_i[i + VERTNUM] = mesh_vertnum[dataid]
        ccd_i[i + GRAPHADR] = mesh_graphadr[dataid] if mesh_vertnum[dataid] >= CLIMB else -1


@ti.func
def mesh_vertex(k, mesh_vert: ti.template()):
    return vec3(mesh_vert[3 * k], mesh_vert[3 * k + 1], mesh_vert[3 * k + 2])


@ti.func
def support(
    s, direction, sf, si, ccd_f: ti.template(), ccd_i: ti.template(), mesh_vert: ti.template(),
    mesh_graph: ti.template(), hull_vert: ti.template(),
):  # fmt: skip
    """World point of shape s farthest along a unit direction; notes a polyhedron's vertex in the shape."""
    f = sf + s * SHAPE_F
    i = si + s * SHAPE_I
    gtype = ccd_i[i + TYPE]
    R = rotation_at(ccd_f, f + ROT)
    size = at3(ccd_f, f + SIZE)
    d = R.transpose() @ direction
    p = vec3(0.0, 0.0, 0.0)
    if gtype == CAPSULE:
        p = ccd_f[f + ROUND] * d
        p[2] += size[1] if d[2] >= 0.0 else -size[1]
    elif gtype == ELLIPSOID:
        q = d * size
        length = q.norm()
        p = vec3(size[0], 0.0, 0.0)
        if length >= MINVAL:
            p = q * ((1.0 / length) * size)
    elif gtype == CYLINDER:
        r = d[0] * d[0] + d[1] * d[1]
        if r > MINVAL * MINVAL:
            r = size[0] / ti.sqrt(r)
            p[0] = d[0] * r
            p[1] = d[1] * r
        p[2] = size[1] if d[2] >= 0.0 else -size[1]
    elif gtype == BOX:
        corner = 0
        for k in ti.static(range(3)):
            p[k] = -size[k]
            if d[k] >= 0.0:
                p[k] = size[k]
                corner += 1 << k
        ccd_i[i + VERTEX] = corner
    elif gtype == HFIELD:
        first = 3 if d[2] >= 0.0 else 0  # the upper or the lower triangle
        best = LOWEST
        for k in range(3):
            q = at3(ccd_f, f + TOP + 3 * k)
            if first == 0:
                q[2] = ccd_f[f + BOTTOM]
            if q.dot(d) > best:
                best = q.dot(d)
                p = q
    elif gtype == MESH:
        adr = ccd_i[i + VERTADR]
        graph = ccd_i[i + GRAPHADR]
        best = LOWEST
        at = ccd_i[i + HINT]
        if graph < 0:
            if at >= 0:
                best = d.dot(mesh_vertex(adr + at, mesh_vert))
            else:
                at = 0
            for k in range(ccd_i[i + VERTNUM]):
                along = d.dot(mesh_vertex(adr + k, mesh_vert))
                if along > best:
                    best = along
                    at = k
            ccd_i[i + HINT] = at
        else:
            nvert = mesh_graph[graph]
            globalid = graph + 2 + nvert
            edge = globalid + nvert
            at = ti.max(0, at)
            before = -1
            while at != before:
                before = at
                e = edge + mesh_graph[graph + 2 + at]
                neighbor = mesh_graph[e]
                while neighbor >= 0:
                    along = d.dot(mesh_vertex(e, hull_vert))
                    if along > best:
                        best = along
                        at = neighbor
                    e += 1
                    neighbor = mesh_graph[e]
            ccd_i[i + HINT] = at
            at = mesh_graph[globalid + at]
        ccd_i[i + VERTEX] = at
        p = mesh_vertex(adr + at, mesh_vert)
    x = R @ p + at3(ccd_f, f + POS)
    if gtype == SPHERE:
        x += ccd_f[f + ROUND] * direction
    if ccd_f[f + INFLATE] > 0.0:
        x += ccd_f[f + INFLATE] * direction
    return x
