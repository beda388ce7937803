"""Geoms that take their shape from an asset: meshes, primitives fitted to a mesh, height fields."""

import numpy as np

from tisim.enums import mjtGeom, mjtObj

from .. import rotations

MESH, SDF, HFIELD = mjtGeom.mjGEOM_MESH, mjtGeom.mjGEOM_SDF, mjtGeom.mjGEOM_HFIELD


class Assets:
    """What geoms refer to: meshes (list of mesh.Mesh), hfield_size (nhfield, 4), and the ids by name of both."""

    def __init__(self, meshes, hfield_size, names):
        self.meshes, self.hfield_size = meshes, hfield_size
        self.mesh_ids, self.hfield_ids = (
            {name: i for i, name in enumerate(names[kind])} for kind in (mjtObj.mjOBJ_MESH, mjtObj.mjOBJ_HFIELD)
        )


def link(items, kind, assets):
    """(dataid (n,) int32, mesh rows (k,)): which asset each geom refers to, -1 for none; MjcfError where it cannot."""
    dataid, rows = np.full(len(items), -1, np.int32), []
    for i, (item, shape) in enumerate(zip(items, kind.tolist())):  # NumPy's numbers compare with enums in microseconds
        attrib = item.attrib
        if attrib["mesh"]:
            dataid[i] = item.find(assets.mesh_ids, attrib["mesh"], "mesh")
            rows.append(i)
        elif attrib["hfield"]:
            dataid[i] = item.find(assets.hfield_ids, attrib["hfield"], "hfield")
        if shape == SDF:
            raise item.node.unsupported("geoms of type sdf, signed distance fields, are not supported", "sdf")
        if shape == MESH and not attrib["mesh"]:
            raise item.node.error("a geom of type 'mesh' needs the name of a mesh asset")
        if (shape == HFIELD) != bool(attrib["hfield"]):
            raise item.node.error("a geom has type 'hfield' and the name of a hfield asset, or neither")
        if attrib["mesh"] and shape in (mjtGeom.mjGEOM_PLANE, HFIELD):
            raise item.node.error("a plane or height field cannot be fitted to a mesh")
        if attrib["mesh"] and attrib["fromto"] is not None:
            raise item.node.error("'fromto' and 'mesh' exclude each other")
        if shape == MESH and attrib["shellinertia"]:
            raise item.node.error('the mesh asset says whether a mesh is a shell: inertia="shell"')
    return dataid, np.array(rows, int)


def mesh_materials(rows, dataid, assets):
    """dict geom -> Item of its mesh, for the geoms of `rows` whose mesh names a material."""
    found = {int(i): assets.meshes[dataid[i]].item for i in rows}
    return {i: item for i, item in found.items() if item.attrib["material"]}


def place(items, kind, dataid, rows, assets, pos, quat, size):
    """Moves mesh geoms into the principal axes of their meshes, and fits primitives, in place. rows  from `link`."""
    if not len(rows):
        return
    meshes = [assets.meshes[i] for i in dataid[rows]]
    mesh_pos, mesh_quat = np.array([m.pos for m in meshes]), np.array([m.quat for m in meshes])
    pos[rows], quat[rows] = rotations.into_parent(pos[rows], quat[rows], mesh_pos, mesh_quat)
    for row, mesh in zip(rows, meshes):
        if kind[row] == MESH:
            size[row] = np.maximum(np.abs(mesh.low), np.abs(mesh.high))
            continue
        half = mesh.box
        if items[row].compiler["fitaabb"]:
            half = (mesh.high - mesh.low) / 2
            pos[row] += rotations.rotate(quat[row], (mesh.low + mesh.high) / 2)
        size[row] = _fitted(kind[row], half, items[row].compiler["fitaabb"]) * items[row].attrib["fitscale"]


def _fitted(shape, half, around):
    """(3,) sizes of a primitive for a box of half sizes `half`.

    around  whether the box is the mesh's bounding box, which the primitive's own must contain, or that of its inertia.
    """
    x, y, z = half
    if shape == mjtGeom.mjGEOM_SPHERE:
        return np.array([max(x, y, z) if around else (x + y + z) / 3, 0, 0])
    if shape in (mjtGeom.mjGEOM_CAPSULE, mjtGeom.mjGEOM_CYLINDER):
        radius = max(x, y) if around else (x + y) / 2
        length = z
        if shape == mjtGeom.mjGEOM_CAPSULE:
            length = z - radius if around else max(0.0, z - radius / 2)
        return np.array([radius, length, 0])
    return np.array([x, y, z])


def hfield_sizes(kind, dataid, assets, size):
    """Sizes of height field geoms, in place: a box that stands for the mean of the field and its base."""
    rows = kind == HFIELD
    x, y, top, base = assets.hfield_size[dataid[rows]].T
    size[rows] = np.stack([x, y, 0.25 * top + 0.5 * base], 1)


def bounds(kind, dataid, assets, aabb, rbound):
    """Bounding boxes (n, 6) and radii (n,) of mesh and height field geoms, in place."""
    rows = kind == HFIELD
    x, y, top, base = assets.hfield_size[dataid[rows]].T
    zero = np.zeros(len(x))
    aabb[rows] = np.stack([zero, zero, (top - base) / 2, x, y, (top + base) / 2], 1)
    rbound[rows] = np.sqrt(x * x + y * y + np.maximum(top * top, base * base))
    for row in np.flatnonzero(kind == MESH):
        mesh = assets.meshes[dataid[row]]
        aabb[row] = [*(mesh.low + mesh.high) / 2, *(mesh.high - mesh.low) / 2]
        rbound[row] = np.linalg.norm(np.maximum(np.abs(mesh.low), np.abs(mesh.high)))


def extents(kind, dataid, assets, extent, per_mass):
    """Volumes or areas (n,) and inertias of unit mass (n, 3) of mesh geoms, in place."""
    box, rows = np.zeros((len(kind), 3)), kind == MESH
    for row in np.flatnonzero(rows):
        mesh = assets.meshes[dataid[row]]
        box[row], extent[row] = mesh.box, mesh.extent
    x, y, z = (box[rows] ** 2).T
    per_mass[rows] = np.stack([y + z, x + z, x + y], 1) / 3
