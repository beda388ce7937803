"""Support points of convex shapes: the point of a shape that is farthest in a direction. A capsule is a segment and a
sphere a point, both inflated by their radius; every shape may be inflated further, by half the margin of its pair.

A worker keeps the two shapes of its pair in its memory (convex/memory.py). Which of several equal vertices is taken,
and how a hull is climbed, follows MuJoCo 3.4.0 (engine_collision_convex.c, Apache-2.0), because the place of a contact
between parallel faces depends on it.
"""

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, SPHERE
from ..rotation import at3
from ..wide import *
from .memory import (
    BOTTOM,
    DATA,
    FOUND,
    GRAPHADR,
    HINT,
    INFLATE,
    POS,
    RADIUS,
    ROT,
    ROUND,
    SIZE,
    TOP,
    TYPE,
    VERTADR,
    VERTNUM,
    put3,
    shape_f,
    shape_i,
)

CLIMB = 10  # vertices from which on a mesh is climbed, mjMESH_HILLCLIMB_MIN
LOWEST = -3e38  # below any projection


@ti.func
def rotation_at(a: ti.template(), i):
    return mat3(a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5], a[i + 6], a[i + 7], a[i + 8])


@ti.func
def put_rotation(a: ti.template(), i, n):
    for r in ti.static(range(3)):
        for c in ti.static(range(3)):
            a[i + 3 * r + c] = n[r, c]


@func
def enter_shape(m, d, mem: ti.template(), s, R, x, i, g):
    """Writes geom g, whose place is i, turned by R and at x, as shape s of a worker."""
    f = shape_f(mem, s)
    h = shape_i(mem, s)
    gtype = m.geom_type[g]
    size = m.geom_size[i, g]
    mesh = m.geom_dataid[g]
    put_rotation(d.ccd_f, f + ROT, R)
    put3(d.ccd_f, f + POS, x)
    put3(d.ccd_f, f + SIZE, size)
    d.ccd_f[f + RADIUS] = size[0] if gtype == SPHERE or gtype == CAPSULE else 0.0
    d.ccd_f[f + ROUND] = 0.0
    d.ccd_f[f + INFLATE] = 0.0
    d.ccd_i[h + TYPE] = gtype
    d.ccd_i[h + HINT] = -1
    d.ccd_i[h + FOUND] = -1
    d.ccd_i[h + DATA] = mesh
    if gtype == MESH:
        d.ccd_i[h + VERTADR] = m.mesh_vertadr[mesh]
        d.ccd_i[h + VERTNUM] = m.mesh_vertnum[mesh]
        d.ccd_i[h + GRAPHADR] = m.mesh_graphadr[mesh] if m.mesh_vertnum[mesh] >= CLIMB else -1


@ti.func
def mesh_vertex(k, mesh_vert: ti.template()):
    return vec3(mesh_vert[k][0], mesh_vert[k][1], mesh_vert[k][2])


@ti.func
def half_length(size, toward):
    """Support of the segment of a capsule or cylinder along its axis."""
    return size[1] if toward >= 0.0 else -size[1]


@ti.func
def ellipsoid_support(size, toward):
    q = toward * size
    length = root(dot(q, q))
    p = vec3(size[0], 0.0, 0.0)
    if length >= MINVAL:
        p = q * ((1.0 / length) * size)
    return p


@ti.func
def cylinder_support(size, toward):
    p = vec3(0.0, 0.0, half_length(size, toward[2]))
    r = apart(toward[0] * toward[0]) + apart(toward[1] * toward[1])
    if r > MINVAL * MINVAL:
        r = size[0] / root(r)
        p[0] = toward[0] * r
        p[1] = toward[1] * r
    return p


@ti.func
def box_support(size, toward):
    """The corner, and its number: bit k is set where its coordinate k is positive."""
    p = -size
    corner = 0
    for k in ti.static(range(3)):
        if toward[k] >= 0.0:
            p[k] = size[k]
            corner += 1 << k
    return p, corner


@func
def prism_support(m, d, f, toward):
    """Of the prism that the numbers from f on describe."""
    first = 3 if toward[2] >= 0.0 else 0  # the upper or the lower triangle
    best = FP(LOWEST)
    p = vec3(0.0, 0.0, 0.0)
    for k in range(3):
        q = at3(d.ccd_f, f + TOP + 3 * k)
        if first == 0:
            q[2] = d.ccd_f[f + BOTTOM]
        along = dot(q, toward)
        if along > best:
            best = along
            p = q
    return p


@func
def search_vertices(m, d, i, toward):
    """The vertex of the mesh that the integers from i on describe, by trying all; the last one found goes first."""
    adr = d.ccd_i[i + VERTADR]
    at = d.ccd_i[i + HINT]
    best = FP(LOWEST)
    if at >= 0:
        best = dot(toward, mesh_vertex(adr + at, m.mesh_vert))
    else:
        at = 0
    for k in range(d.ccd_i[i + VERTNUM]):
        along = dot(toward, mesh_vertex(adr + k, m.mesh_vert))
        if along > best:
            best = along
            at = k
    d.ccd_i[i + HINT] = at
    return at


@func
def climb_hull(m, d, i, toward):
    """The same by steps to better neighbours on its hull, from the vertex found last."""
    graph = d.ccd_i[i + GRAPHADR]
    nvert = m.mesh_graph[graph]
    globalid = graph + 2 + nvert
    edge = globalid + nvert
    at = ti.max(0, d.ccd_i[i + HINT])
    best = FP(LOWEST)
    before = -1
    while at != before:
        before = at
        e = edge + m.mesh_graph[graph + 2 + at]
        neighbor = m.mesh_graph[e]
        while neighbor >= 0:
            along = dot(toward, mesh_vertex(e, m.hull_vert))
            if along > best:
                best = along
                at = neighbor
            e += 1
            neighbor = m.mesh_graph[e]
    d.ccd_i[i + HINT] = at
    return m.mesh_graph[globalid + at]


@func
def support(m, d, mem: ti.template(), s, direction):
    """World point of shape s farthest along a unit direction; notes a polyhedron's vertex in the shape."""
    f = shape_f(mem, s)
    i = shape_i(mem, s)
    gtype = d.ccd_i[i + TYPE]
    R = rotation_at(d.ccd_f, f + ROT)
    size = at3(d.ccd_f, f + SIZE)
    toward = times(R.transpose(), direction)
    p = vec3(0.0, 0.0, 0.0)
    if gtype == CAPSULE:
        p = apart(d.ccd_f[f + ROUND] * toward)
        p[2] += half_length(size, toward[2])
    elif gtype == ELLIPSOID:
        p = ellipsoid_support(size, toward)
    elif gtype == CYLINDER:
        p = cylinder_support(size, toward)
    elif gtype == BOX:
        p, corner = box_support(size, toward)
        d.ccd_i[i + FOUND] = corner
    elif gtype == HFIELD:
        p = prism_support(m, d, f, toward)
    elif gtype == MESH:
        at = 0
        if d.ccd_i[i + GRAPHADR] < 0:
            at = search_vertices(m, d, i, toward)
        else:
            at = climb_hull(m, d, i, toward)
        d.ccd_i[i + FOUND] = at
        p = mesh_vertex(d.ccd_i[i + VERTADR] + at, m.mesh_vert)
    x = times(R, p) + at3(d.ccd_f, f + POS)
    if gtype == SPHERE:
        x += apart(d.ccd_f[f + ROUND] * direction)
    if d.ccd_f[f + INFLATE] > 0.0:
        x += apart(d.ccd_f[f + INFLATE] * direction)
    return x
