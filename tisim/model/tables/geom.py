"""Tables of the geoms that collision reads: what pairs and contacts depend on, what holds a geom, climbing of hulls."""

import numpy as np

from tisim.enums import mjtGeom

from .declare import Table, declared


def geom_filter(m):
    """(ngeom, 8) whole numbers of the geoms that decide on pairs and contacts: body, the body it is welded to, that of
    its parent, contype, conaffinity; condim, priority, type.
    """
    body = np.asarray(m.geom_bodyid)
    weld = np.asarray(m.body_weldid)
    above = weld[np.asarray(m.body_parentid)[weld[body]]]
    bits, rest = (m.geom_contype, m.geom_conaffinity), (m.geom_condim, m.geom_priority, m.geom_type)
    return np.stack([body, weld[body], above, *bits, *rest], 1)


def geom_contact(m):
    """(ngeom, 12) real numbers of the geoms that contacts are mixed from: solref, solimp, friction, solmix, gap."""
    return np.concatenate([m.geom_solref, m.geom_solimp, m.geom_friction, np.stack([m.geom_solmix, m.geom_gap], 1)], 1)


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
    Table("geom_filter", "i", ("ngeom", 8), geom_filter,
          ("geom_contype", "geom_conaffinity", "geom_condim", "geom_priority", "geom_type"),
          "body, the body it is welded to, that of its parent, contype, conaffinity, condim, priority, type"),
    Table("geom_contact", "f", ("ngeom", 12), geom_contact,
          ("geom_solref", "geom_solimp", "geom_friction", "geom_solmix", "geom_gap"),
          "solref, solimp, friction, solmix, gap"),
    Table("geom_box", "f", ("ngeom", 3, 3), geom_box, ("geom_aabb", "geom_type"),
          "what holds a geom, in its frame [m]: centre, half sizes of a box, radii of an ellipsoid around each point"),
    Table("geom_reach", "f", ("ngeom",), geom_reach, ("geom_rbound", "mesh_vert"),
          "radius of a sphere around the geom's position that holds it [m]"),
    Table("hull_vert", "f", ("nmeshgraph", 3), hull_vert, ("mesh_vert",),
          "coordinates of the neighbours in mesh_graph [m]"),
)  # fmt: skip
