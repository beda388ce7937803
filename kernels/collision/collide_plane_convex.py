"""Contacts of a plane with a cylinder, an ellipsoid or the convex hull of a mesh. The rules are those of MuJoCo 3.4.0,
after its engine_collision_primitive.c and engine_collision_convex.c (Apache-2.0); seed 000, "Checking".
"""

from ..constants import MESH, PLANE_CONVEX
from ..slots import put
from ..wide import *
from .boxes import TODO
from .closing import margin_now
from .collide_primitive import axis_of

MAXMESH = 3  # contacts of a mesh
NEAR = 0.3  # a further vertex of a mesh must be farther from the first contact than this many bounding radii
FLAT = MINVAL if FP == ti.f64 else 1e-6  # sine below which a cylinder stands on the plane: rounding decides its side
FAR = 1e10  # larger than any height; the start of a maximum


@func
def plane_cylinder(m, d, slot, margin, i1, i2, g1, g2):
    """Plane against cylinder: the lowest point of the lower rim, the point above it on the upper rim, and the two that
    complete a triangle on the lower one.
    """
    normal = axis_of(m, d, i1)
    R = d.geom_xmat[i2]
    center = d.geom_xpos[i2]
    radius = m.geom_size[i2, g2][0]
    height = (center - d.geom_xpos[i1]).dot(normal)
    # all in the cylinder's frame: the normal, half the axis towards the plane, the radius towards its lowest point
    up = R.transpose() @ normal
    half = ti.select(up[2] > 0.0, -1.0, 1.0) * m.geom_size[i2, g2][1]
    sine = ti.sqrt(up[0] * up[0] + up[1] * up[1])
    down = vec3(radius, 0.0, 0.0)
    if sine >= FLAT:
        down = vec3(-up[0] * (radius / sine), -up[1] * (radius / sine), 0.0)
    across = vec3(down[1], -down[0], 0.0) * ti.select(half > 0.0, 1.0, -1.0) * (0.5 * ti.sqrt(FP(3.0)))
    drop = down.dot(up)
    n = 0
    if height + half * up[2] + drop <= margin:
        for k in range(4):
            x = down
            x[2] = half
            dist = height + half * up[2] + drop
            if k == 1:
                x[2] = -half
                dist = height - half * up[2] + drop
            elif k >= 2:
                x = -0.5 * down + (5.0 - 2.0 * k) * across
                x[2] = half
                dist = height + half * up[2] - 0.5 * drop
            if dist <= margin:
                pos = R @ x + center - 0.5 * dist * normal
                put(m, d, slot + n, dist, pos, normal)
                n += 1
    return n


@ti.func
def ellipsoid_support(direction, size):
    """Point of an ellipsoid, in its frame, that is farthest along a direction."""
    x = direction * size
    length = x.norm()
    unit = vec3(1.0, 0.0, 0.0)
    if length >= MINVAL:
        unit = x / length
    return unit * size


@func
def plane_convex(m, d, slot, margin, i1, i2, g1, g2):
    """Plane against ellipsoid: its lowest point. Meshes are left to plane_mesh."""
    n = TODO
    if m.geom_type[g2] != MESH:
        n = 0
        normal = axis_of(m, d, i1)
        R = d.geom_xmat[i2]
        x = R @ ellipsoid_support(-(R.transpose() @ normal), m.geom_size[i2, g2]) + d.geom_xpos[i2]
        dist = normal.dot(x - d.geom_xpos[i1])
        if dist <= margin:
            put(m, d, slot, dist, x - 0.5 * dist * normal, normal)
            n = 1
    return n


@func
def mesh_support(m, d, mesh, direction):
    """Vertex of a mesh that is farthest along a direction, in the mesh's frame: along the hull's graph from its first
    vertex, or the first of all vertices without a graph. Number in the graph, or in the mesh without one.
    """
    vert = m.mesh_vertadr[mesh]
    graph = m.mesh_graphadr[mesh]
    best = 0
    most = FP(-FAR)
    if graph < 0:
        for i in range(m.mesh_vertnum[mesh]):
            x = direction.dot(m.mesh_vert[vert + i])
            if x > most:
                most = x
                best = i
    else:
        nhull = m.mesh_graph[graph]
        edges = graph + 2 + 2 * nhull
        most = direction.dot(m.mesh_vert[vert + m.mesh_graph[graph + 2 + nhull]])
        climbs = True
        while climbs:
            climbs = False
            e = edges + m.mesh_graph[graph + 2 + best]
            while m.mesh_graph[e] >= 0:
                x = direction.dot(m.mesh_vert[vert + m.mesh_graph[graph + 2 + nhull + m.mesh_graph[e]]])
                if x > most:
                    most = x
                    best = m.mesh_graph[e]
                    climbs = True
                e += 1
    return best


@func
def lowest_vertices(m, d, slot, margin, i1, i2, g2):
    """Writes the contacts of plane i1 and mesh i2, geom g2: its lowest vertex and up to two of that one's neighbours in
    the hull, none near the first contact. Returns their number.
    """
    normal = axis_of(m, d, i1)
    origin = d.geom_xpos[i1]
    center = d.geom_xpos[i2]
    R = d.geom_xmat[i2]
    down = R.transpose() @ (-normal)
    mesh = m.geom_dataid[g2]
    vert = m.mesh_vertadr[mesh]
    graph = m.mesh_graphadr[mesh]
    best = mesh_support(m, d, mesh, down)
    # the vertices to look at: neighbours in the graph up to a -1, or all
    at = 0
    end = m.mesh_vertnum[mesh]
    lowest = vert + best
    edges = 0
    nhull = 0
    if graph >= 0:
        nhull = m.mesh_graph[graph]
        lowest = vert + m.mesh_graph[graph + 2 + nhull + best]
        edges = graph + 2 + 2 * nhull
        at = m.mesh_graph[graph + 2 + best]
        end = at
        while m.mesh_graph[edges + end] >= 0:
            end += 1
    x = R @ m.mesh_vert[lowest] + center
    dist = normal.dot(x - origin)
    n = 0
    if dist <= margin:
        spot = x - 0.5 * dist * normal
        put(m, d, slot, dist, spot, normal)
        n = 1
        threshold = normal.dot(center - origin) - margin
        while at < end and n < MAXMESH:
            v = vert + at
            if graph >= 0:
                v = vert + m.mesh_graph[graph + 2 + nhull + m.mesh_graph[edges + at]]
            if down.dot(m.mesh_vert[v]) > threshold and v != lowest:
                x = R @ m.mesh_vert[v] + center
                if (x - spot).norm() >= FP(NEAR) * m.geom_rbound[i2, g2]:
                    dist = normal.dot(x - origin)
                    put(m, d, slot + n, dist, x - 0.5 * dist * normal, normal)
                    n += 1
            at += 1
    return n


@kernel
def plane_mesh(m, d):
    """Contacts of planes and meshes; parallel over pairs."""
    first = d.bin_adr[PLANE_CONVEX]
    last = d.bin_adr[PLANE_CONVEX + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(first, last):
        p = d.cpair_bin[t]
        if d.cpair_ncon[p] == TODO:
            i1 = d.cpair_geom1[p]
            g2 = d.cpair_geom2[p]
            i2 = i1 // m.ngeom * m.ngeom + g2
            d.cpair_ncon[p] = lowest_vertices(m, d, d.cpair_slot[p], margin_now(m, d, p), i1, i2, g2)
