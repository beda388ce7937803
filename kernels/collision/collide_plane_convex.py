"""Contacts of a plane with a cylinder, an ellipsoid or the convex hull of a mesh. The rules are those of MuJoCo 3.4.0,
after its engine_collision_primitive.c and engine_collision_convex.c (Apache-2.0); seed 000, "Checking". But under the
second dynamics (tisim/LCP.md) a mesh has vertices all around what it stands on, and a cylinder that stands or leans has
points of its rim that do not wander.
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
UPRIGHT = 1e-3  # and below which its contacts stay where they are on it, under the second dynamics
LEANING = 0.14  # and below which it leans, and would come to stand
FAR = 1e10  # larger than any height; the start of a maximum
STEEP = 20.0  # a vertex that is farther out by this much is taken if it is less than 1 higher over the foremost face
ivec4 = ti.types.vector(4, ti.i32)


@ti.dataclass
class Hull:
    """The hull of a mesh, in its frame."""

    graph: ti.i32  # where it begins in mesh_graph
    count: ti.i32  # of its vertices
    vert: ti.i32  # where the mesh's vertices begin
    down: vec3  # towards the plane
    least: FP  # how far down a vertex is within the margin
    normal: vec3  # of the face at the lowest vertex that is turned most towards the plane


@ti.func
def steady_point(k, up, radius, half, leans):
    """Of four points that stay on a cylinder's rim, in its frame, number k; where it leans, the lowest for 1, and its
    neighbours for 2 and 3. `up` is the plane's normal.
    """
    sign = (1.0 - 2.0 * (k & 1)) * radius
    x = vec3(sign, 0.0, half) if k < 2 else vec3(0.0, sign, half)
    if leans:
        lowest = vec3(ti.select(up[0] > 0.0, -radius, radius), 0.0, 0.0)
        if ti.abs(up[1]) > ti.abs(up[0]):
            lowest = vec3(0.0, ti.select(up[1] > 0.0, -radius, radius), 0.0)
        side = 2.0 * k - 5.0
        x = lowest if k == 1 else vec3(-side * lowest[1], side * lowest[0], 0.0)
        x[2] = half
    return x


@func
def plane_cylinder(m, d, slot, margin, i1, i2, g1, g2):
    """Plane against cylinder: the lowest point of the lower rim, the point above it on the upper rim, and the two that
    complete a triangle on the lower one. Under the second dynamics a cylinder that stands has four points of its lower
    rim, since a triangle that turns with the last digits of its axis shakes what stands on it; one that leans has the
    lowest three of them beside its lowest point, on which alone it would roll round for ever.
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
    stands, leans = False, False
    if ti.static(m.has.closing):
        stands = sine < FP(UPRIGHT)
        leans = not stands and sine < FP(LEANING)
    across = vec3(down[1], -down[0], 0.0) * ti.select(half > 0.0, 1.0, -1.0) * (0.5 * ti.sqrt(FP(3.0)))
    drop = down.dot(up)
    n = 0
    if height + half * up[2] + drop <= margin:
        for k in range(4):
            x = down
            x[2] = half
            dist = height + half * up[2] + drop
            if stands or leans and k > 0:
                x = steady_point(k, up, radius, half, leans)
                dist = height + x.dot(up)
            elif k == 1:
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


@func
def hull_place(m, hull: ti.template(), v):
    """Place of a vertex of a hull, in the mesh's frame."""
    return m.mesh_vert[hull.vert + m.mesh_graph[hull.graph + 2 + hull.count + v]]


@func
def foremost_normal(m, d, mesh, v, direction):
    """The normal at vertex v of a mesh, of all its polygons there, that is turned most into a direction."""
    found = direction
    most = FP(-2.0)
    for j in range(m.mesh_polymapnum[v]):
        normal = m.mesh_polynormal[m.mesh_polyadr[mesh] + m.mesh_polymap[m.mesh_polymapadr[v] + j]]
        if direction.dot(normal) > most:
            most = direction.dot(normal)
            found = normal
    return found


@func
def outermost(m, d, hull: ti.template(), v, direction):
    """The vertex that is farthest along a direction, but not far above the foremost face: from vertex v on along the
    hull's graph through those within the margin.
    """
    toward = direction / ti.max(direction.norm(), MINVAL) + FP(STEEP) * hull.normal
    most = toward.dot(hull_place(m, hull, v))
    climbs = True
    while climbs:
        climbs = False
        e = hull.graph + 2 + 2 * hull.count + m.mesh_graph[hull.graph + 2 + v]
        while m.mesh_graph[e] >= 0:
            x = hull_place(m, hull, m.mesh_graph[e])
            if toward.dot(x) > most and hull.down.dot(x) >= hull.least:
                most = toward.dot(x)
                v = m.mesh_graph[e]
                climbs = True
            e += 1
    return v


@func
def widest(m, d, hull: ti.template(), a):
    """Vertex a of a hull and up to three more that span much with it: the one across, the two beside this diagonal, and
    both once more.
    """
    place = hull_place(m, hull, a)
    b = outermost(m, d, hull, a, hull.down * hull.down.dot(place) - place)
    c, e = b, b
    for _ in range(2):
        across = hull.down.cross(hull_place(m, hull, b) - place)
        c = outermost(m, d, hull, b, across)
        e = outermost(m, d, hull, b, -across)
        beyond = hull.down.cross(hull_place(m, hull, c) - hull_place(m, hull, e))
        if beyond.dot(hull_place(m, hull, c) - place) < 0.0:
            beyond = -beyond
        b = outermost(m, d, hull, b, beyond)
    return ivec4(a, b, c, e)


@func
def spread_vertices(m, d, slot, margin, i1, i2, g2):
    """Writes the contacts of plane i1 and mesh i2, geom g2, which has a hull: its lowest vertex and up to three more
    around what it stands on. Returns their number.
    """
    normal = axis_of(m, d, i1)
    center = d.geom_xpos[i2]
    R = d.geom_xmat[i2]
    mesh = m.geom_dataid[g2]
    hull = Hull(graph=m.mesh_graphadr[mesh], vert=m.mesh_vertadr[mesh], down=R.transpose() @ (-normal))
    hull.count = m.mesh_graph[hull.graph]
    hull.least = normal.dot(center - d.geom_xpos[i1]) - margin
    a = mesh_support(m, d, mesh, hull.down)
    n = 0
    if hull.down.dot(hull_place(m, hull, a)) >= hull.least:
        vertex = hull.vert + m.mesh_graph[hull.graph + 2 + hull.count + a]
        hull.normal = foremost_normal(m, d, mesh, vertex, hull.down)
        chosen = widest(m, d, hull, a)
        for k in ti.static(range(4)):
            again = False
            for j in ti.static(range(k)):
                again = again or chosen[j] == chosen[k]
            if not again:
                x = R @ hull_place(m, hull, chosen[k]) + center
                dist = normal.dot(x - d.geom_xpos[i1])
                put(m, d, slot + n, dist, x - 0.5 * dist * normal, normal)
                n += 1
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
            spread = False
            if ti.static(m.has.closing):
                spread = m.mesh_graphadr[m.geom_dataid[g2]] >= 0
                if spread:
                    d.cpair_ncon[p] = spread_vertices(m, d, d.cpair_slot[p], margin_now(m, d, p), i1, i2, g2)
            if not spread:
                d.cpair_ncon[p] = lowest_vertices(m, d, d.cpair_slot[p], margin_now(m, d, p), i1, i2, g2)
