"""Tables of the geoms that collision reads: what pairs and contacts depend on, what holds a geom, climbing of hulls."""

import numpy as np

from tisim.enums import mjtGeom

from .declare import Table, declared

# places in a row of geom_filter
BODY, WELD, PARENT_WELD, CONTYPE, CONAFFINITY = range(5)


def geom_filter(m):
    """(ngeom, 8) whole numbers that decide whether two geoms may collide: the geom's body, the body that this one is
    welded to, the one that the parent of that is welded to, contype, conaffinity. In rows of a power of two: columns
    of their own, or shorter rows, make a search slower by 5 %.
    """
    body, weldid = np.asarray(m.geom_bodyid), np.asarray(m.body_weldid)
    weld = weldid[body]
    parent_weld = weldid[np.asarray(m.body_parentid)[weld]]
    rows = np.zeros((m.ngeom, 8), np.int32)
    rows[:, : CONAFFINITY + 1] = np.stack([body, weld, parent_weld, m.geom_contype, m.geom_conaffinity], 1)
    return rows


def geom_box(m):
    """(ngeom, 9) centre of what holds a geom, in its frame; half sizes of a box; radii of an ellipsoid: the geom is in
    the sum of these two, whose extent along any axis is exact for all primitive shapes.
    """
    aabb, gtype = np.asarray(m.geom_aabb), np.asarray(m.geom_type)
    half, radius = aabb[:, 3:].copy(), np.zeros((m.ngeom, 3))
    for kind, axes in ((mjtGeom.mjGEOM_SPHERE, 3), (mjtGeom.mjGEOM_ELLIPSOID, 3), (mjtGeom.mjGEOM_CYLINDER, 2)):
        radius[gtype == kind, :axes] = half[gtype == kind, :axes]
        half[gtype == kind, :axes] = 0
    capsule = gtype == mjtGeom.mjGEOM_CAPSULE
    radius[capsule] = half[capsule, :1]
    half[capsule] -= radius[capsule]
    return np.concatenate([aabb[:, :3], half, radius], 1)


def geom_reach(m):
    """(ngeom,) radii of spheres around the geoms' positions that hold them: geom_rbound, which for a mesh is half the
    diagonal of its box, or the distance of its farthest vertex.
    """
    reach = np.array(m.geom_rbound)
    if m.nmesh:
        norm = np.linalg.norm(np.asarray(m.mesh_vert), axis=1) * (1 + 1e-6)
        farthest = np.array([norm[a : a + n].max() for a, n in zip(m.mesh_vertadr, m.mesh_vertnum)])
        mesh = np.asarray(m.geom_type) == mjtGeom.mjGEOM_MESH
        reach[mesh] = np.minimum(reach[mesh], farthest[np.asarray(m.geom_dataid)[mesh]])
    return reach


def hull_vert(m):
    """Coordinates of the neighbours that mesh_graph lists, in its places: climbing reads them in a row."""
    graph, out = np.asarray(m.mesh_graph), np.zeros((m.nmeshgraph, 3))
    for adr, first in zip(np.asarray(m.mesh_graphadr), np.asarray(m.mesh_vertadr)):
        if adr >= 0:
            nvert, nface = graph[adr : adr + 2]
            ids, edge = graph[adr + 2 + nvert :][:nvert], slice(adr + 2 + 2 * nvert, adr + 2 + 3 * nvert + 3 * nface)
            out[edge] = m.mesh_vert[first + ids[graph[edge]]]
    return out


# for device_model.DERIVED
TABLES = declared(
    Table("geom_filter", "i", ("ngeom", 8), geom_filter, ("geom_contype", "geom_conaffinity"),
          "body, the body it is welded to, the one its parent is welded to, contype, conaffinity"),
    Table("geom_box", "f", ("ngeom", 3, 3), geom_box, ("geom_aabb", "geom_type"),
          "what holds a geom, in its frame [m]: centre, half sizes of a box, radii of an ellipsoid around each point"),
    Table("geom_reach", "w", ("ngeom",), geom_reach, ("geom_rbound", "geom_type", "geom_dataid", "mesh_vert"),
          "radius of a sphere around the geom's position that holds it [m]"),
    Table("hull_vert", "f", ("nmeshgraph", 3), hull_vert, ("mesh_vert",),
          "coordinates of the neighbours in mesh_graph [m]"),
)  # fmt: skip
