"""Support points of convex shapes: the point of a shape that is farthest in a direction. A capsule is a segment and a
sphere a point, both inflated by their radius; every shape may be inflated further, by half the margin of its pair.

A worker keeps the two shapes of its pair in scratch memory, `ccd_f` and `ccd_i`; sf and si say where shape 0 starts.
Which of several equal vertices is taken, and how a hull is climbed, follows MuJoCo 3.4.0 (engine_collision_convex.c,
Apache-2.0), because the place of a contact between parallel faces depends on it.
"""

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, SPHERE
from ..rotation import at3
from ..types import *

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
def put_rotation(a: ti.template(), i, n):
    for r in ti.static(range(3)):
        for c in ti.static(range(3)):
            a[i + 3 * r + c] = n[r, c]


@func
def enter_shape(m, d, s, sf, si, R, x, gtype, size, dataid):
    """Writes a geom as shape s of a worker."""
    f = sf + s * SHAPE_F
    i = si + s * SHAPE_I
    put_rotation(d.ccd_f, f + ROT, R)
    put3(d.ccd_f, f + POS, x)
    put3(d.ccd_f, f + SIZE, size)
    d.ccd_f[f + RADIUS] = size[0] if gtype == SPHERE or gtype == CAPSULE else 0.0
    d.ccd_f[f + ROUND] = 0.0
    d.ccd_f[f + INFLATE] = 0.0
    d.ccd_i[i + TYPE] = gtype
    d.ccd_i[i + HINT] = -1
    d.ccd_i[i + VERTEX] = -1
    d.ccd_i[i + DATA] = dataid
    if gtype == MESH:
        d.ccd_i[i + VERTADR] = m.mesh_vertadr[dataid]
        d.ccd_i[i + VERTNUM] = m.mesh_vertnum[dataid]
        d.ccd_i[i + GRAPHADR] = m.mesh_graphadr[dataid] if m.mesh_vertnum[dataid] >= CLIMB else -1


@ti.func
def mesh_vertex(k, mesh_vert: ti.template()):
    return vec3(mesh_vert[k][0], mesh_vert[k][1], mesh_vert[k][2])


@func
def support(m, d, s, direction, sf, si):
    """World point of shape s farthest along a unit direction; notes a polyhedron's vertex in the shape."""
    f = sf + s * SHAPE_F
    i = si + s * SHAPE_I
    gtype = d.ccd_i[i + TYPE]
    R = rotation_at(d.ccd_f, f + ROT)
    size = at3(d.ccd_f, f + SIZE)
    delta = R.transpose() @ direction
    p = vec3(0.0, 0.0, 0.0)
    if gtype == CAPSULE:
        p = d.ccd_f[f + ROUND] * delta
        p[2] += size[1] if delta[2] >= 0.0 else -size[1]
    elif gtype == ELLIPSOID:
        q = delta * size
        length = q.norm()
        p = vec3(size[0], 0.0, 0.0)
        if length >= MINVAL:
            p = q * ((1.0 / length) * size)
    elif gtype == CYLINDER:
        r = delta[0] * delta[0] + delta[1] * delta[1]
        if r > MINVAL * MINVAL:
            r = size[0] / ti.sqrt(r)
            p[0] = delta[0] * r
            p[1] = delta[1] * r
        p[2] = size[1] if delta[2] >= 0.0 else -size[1]
    elif gtype == BOX:
        corner = 0
        for k in ti.static(range(3)):
            p[k] = -size[k]
            if delta[k] >= 0.0:
                p[k] = size[k]
                corner += 1 << k
        d.ccd_i[i + VERTEX] = corner
    elif gtype == HFIELD:
        first = 3 if delta[2] >= 0.0 else 0  # the upper or the lower triangle
        best = LOWEST
        for k in range(3):
            q = at3(d.ccd_f, f + TOP + 3 * k)
            if first == 0:
                q[2] = d.ccd_f[f + BOTTOM]
            if q.dot(delta) > best:
                best = q.dot(delta)
                p = q
    elif gtype == MESH:
        adr = d.ccd_i[i + VERTADR]
        graph = d.ccd_i[i + GRAPHADR]
        best = LOWEST
        at = d.ccd_i[i + HINT]
        if graph < 0:
            if at >= 0:
                best = delta.dot(mesh_vertex(adr + at, m.mesh_vert))
            else:
                at = 0
            for k in range(d.ccd_i[i + VERTNUM]):
                along = delta.dot(mesh_vertex(adr + k, m.mesh_vert))
                if along > best:
                    best = along
                    at = k
            d.ccd_i[i + HINT] = at
        else:
            nvert = m.mesh_graph[graph]
            globalid = graph + 2 + nvert
            edge = globalid + nvert
            at = ti.max(0, at)
            before = -1
            while at != before:
                before = at
                e = edge + m.mesh_graph[graph + 2 + at]
                neighbor = m.mesh_graph[e]
                while neighbor >= 0:
                    along = delta.dot(mesh_vertex(e, m.hull_vert))
                    if along > best:
                        best = along
                        at = neighbor
                    e += 1
                    neighbor = m.mesh_graph[e]
            d.ccd_i[i + HINT] = at
            at = m.mesh_graph[globalid + at]
        d.ccd_i[i + VERTEX] = at
        p = mesh_vertex(adr + at, m.mesh_vert)
    x = R @ p + at3(d.ccd_f, f + POS)
    if gtype == SPHERE:
        x += d.ccd_f[f + ROUND] * direction
    if d.ccd_f[f + INFLATE] > 0.0:
        x += d.ccd_f[f + INFLATE] * direction
    return x
