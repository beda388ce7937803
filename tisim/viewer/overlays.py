"""What pictures show besides geoms, sites and marks, as records: tendons, contacts and their forces, frames, joints,
centres of mass, inertia boxes, rays of range finders, cameras and lights. Colours and sizes are the model's `<visual>`.
"""

import weakref

import numpy as np

from tisim.data.asleep import GONE
from tisim.enums import mjtEq, mjtFrame, mjtGeom, mjtJoint, mjtObj, mjtSensor
from tisim.mjcf.rotations import cross
from tisim.queries.motion import contact_force
from tisim.viewer import lights
from tisim.viewer.camera import camera_pose
from tisim.viewer.drawing import own_colors
from tisim.viewer.measures import ROD, chains

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = (
    int(mjtGeom[f"mjGEOM_{name}"]) for name in "SPHERE CAPSULE ELLIPSOID CYLINDER BOX".split()
)
AXES = np.array([[0.9, 0.1, 0.1, 1], [0.1, 0.8, 0.1, 1], [0.15, 0.3, 0.95, 1]])  # colours of x, y and z
HEAD = 3.0  # width of an arrow's head, by that of its shaft
NO_SHADOW = 0.999  # opacity of what hides all behind it and throws no shadow: SOLID of kernels/picture/surface.py
THIN = 0.03  # radius of a ray, by the model's mean size
EDGE, EDGE_WIDTH = np.array([0.05, 0.12, 0.4, 1]), 0.008  # of a hull: colour; radius, by the model's mean size
FLAT = 1e-6  # cosine of the angle between faces of a hull without an edge between them, below 1
SHORT = 1e-12  # what is shorter has no direction [m]


class Decor:
    """Records that are collected: pos (n, 3), mat (n, 9), size (n, 3), kind (n,), rgba (n, 4), object (n, 2)."""

    def __init__(self):
        self.parts = []

    def add(self, kind, pos, mat, size, rgba, obj=None):
        """Records of one shape; what is the same for all may be given once. obj  their ids and type."""
        pos = np.asarray(pos, float).reshape(-1, 3)
        n = len(pos)
        if n:
            rgba = np.array(np.broadcast_to(np.asarray(rgba, float).reshape(-1, 4), (n, 4)))
            if obj is None:  # what is no thing of the model
                rgba[:, 3] = np.minimum(rgba[:, 3], NO_SHADOW)
            obj = np.full((n, 2), -1) if obj is None else np.column_stack([obj[0], np.full(n, int(obj[1]))])
            self.parts.append((
                pos, np.broadcast_to(np.asarray(mat, float).reshape(-1, 9), (n, 9)),
                np.broadcast_to(np.asarray(size, float).reshape(-1, 3), (n, 3)), np.full(n, kind),
                rgba, obj,
            ))  # fmt: skip

    def rods(self, begin, end, radius, rgba, kind=CYLINDER, obj=None):
        """Rods from points (n, 3) to points (n, 3) [m]."""
        begin, end = np.reshape(begin, (-1, 3)).astype(float), np.reshape(end, (-1, 3)).astype(float)
        length = np.linalg.norm(end - begin, axis=1)
        size = np.column_stack([np.broadcast_to(radius, len(length)), 0.5 * length, np.zeros(len(length))])
        rgba, long = np.broadcast_to(np.reshape(rgba, (-1, 4)), (len(length), 4)), length > SHORT
        begin, end, obj = begin[long], end[long], obj and (np.asarray(obj[0])[long], obj[1])
        self.add(kind, 0.5 * (begin + end), along(end - begin), size[long], rgba[long], obj)

    def arrows(self, begin, vector, radius, rgba):
        """Arrows from points (n, 3) by vectors (n, 3) [m]."""
        begin, vector = np.reshape(begin, (-1, 3)).astype(float), np.reshape(vector, (-1, 3)).astype(float)
        length = np.linalg.norm(vector, axis=1)
        begin, vector, length = begin[length > SHORT], vector[length > SHORT], length[length > SHORT]
        head = np.minimum(HEAD * radius, 0.25 * length)
        size = np.column_stack([head, head, np.minimum(2 * head, 0.25 * length)])
        neck = begin + vector * (1 - size[:, 2:] / length[:, None])
        self.rods(begin, neck, radius, rgba)
        self.add(ELLIPSOID, neck, along(vector), size, rgba)

    def frames(self, pos, mat, m, scale=1.0):
        """Three axes at each place (n, 3), rotations (n, 3, 3)."""
        pos, mat = np.reshape(pos, (-1, 3)), np.reshape(mat, (-1, 3, 3))
        long, wide = (float(s) * m.stat.meansize for s in (m.vis.scale.framelength, m.vis.scale.framewidth))
        for k in range(3):
            self.rods(pos, pos + scale * long * mat[:, :, k], 0.5 * wide, AXES[k])

    def arrays(self):
        """The six arrays of all."""
        if not self.parts:
            return np.zeros((0, 3)), np.zeros((0, 9)), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 4)), np.zeros((0, 2))
        return tuple(np.concatenate(column) for column in zip(*self.parts))

    def records(self):
        """kind (n,), pos (n, 3), mat (n, 3, 3), size (n, 3), rgba (n, 4) of what has a place."""
        pos, mat, size, kind, rgba, _ = self.arrays()
        there = np.isfinite(pos).all(1) & np.isfinite(mat).all(1)
        return kind[there], pos[there], mat[there].reshape(-1, 3, 3), size[there], rgba[there]


def along(z):
    """Rotations (n, 9) whose z axes point along vectors (n, 3)."""
    z = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-30)
    x = cross(np.where(np.abs(z[:, 2:]) > 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]]), z)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
    return np.stack([x, cross(z, x), z], 2).reshape(-1, 9)


def collect(m, d, world, look):
    """The Decor of a world as a Look wants it; poses and forces are those that the Data holds."""
    out = Decor()
    if look.hulls and m.nmesh:
        _hulls(out, m, d, world, look.geomgroup)
    if look.equalities and m.neq:
        _equalities(out, m, d, world)
    if look.chains:
        middle, turn, radius, half = chains(m, d, world)
        out.add(CYLINDER, middle, turn.reshape(-1, 9), np.column_stack([radius, half, 0 * half]), ROD)
    if look.tendons and m.ntendon:
        _tendons(out, m, d, world, look.tendongroup)
    if look.contactpoints or look.contactforces:
        _contacts(out, m, d, world, look)
    if look.rangefinders and m.nsensor:
        _rangefinders(out, m, d, world)
    if look.frame or look.joints or look.com or look.inertia:
        _bodies(out, m, d, world, look)
    if look.cameras or look.lights or look.frame in (mjtFrame.mjFRAME_CAMERA, mjtFrame.mjFRAME_LIGHT):
        _views(out, m, d, world, look)
    return out


def _of(m, d, name, n, world, width=3):
    return np.asarray(getattr(d, name), float).reshape(d.nworld, n, width)[world]


_edges = weakref.WeakKeyDictionary()  # of each model: its edits, and what `hull_edges` found of its meshes


def hull_edges(m, mesh):
    """Begin and end (n, 3) of the edges of a mesh's convex hull, in the mesh's frame [m]; none if it has no hull."""
    known = _edges.get(m)
    if known is None or known[0] != m.edits:
        known = _edges[m] = m.edits, {}
    if mesh not in known[1]:
        known[1][mesh] = _edges_of(m, mesh)
    return known[1][mesh]


def _edges_of(m, mesh):
    adr = int(m.mesh_graphadr[mesh])
    if adr < 0:
        return np.zeros((2, 0, 3))
    graph, first = np.asarray(m.mesh_graph), int(m.mesh_vertadr[mesh])
    nvert, nface = int(graph[adr]), int(graph[adr + 1])
    faces = graph[adr + 2 + 3 * nvert + 3 * nface :][: 3 * nface].reshape(-1, 3)
    vert = np.asarray(m.mesh_vert, float).reshape(-1, 3)[first:]
    a, b, c = (vert[faces[:, k]] for k in range(3))
    normal = cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    order = np.lexsort(pairs.T)
    pairs, owner = pairs[order], np.tile(np.arange(nface), 3)[order]
    same = (pairs[1:] == pairs[:-1]).all(1)  # the two faces of an edge stand side by side
    flat = (normal[owner[1:]] * normal[owner[:-1]]).sum(1) > 1 - FLAT
    kept = np.append(True, ~same)
    kept[:-1] &= ~(same & flat)
    return np.stack([vert[pairs[kept, 0]], vert[pairs[kept, 1]]])


def _hulls(out, m, d, world, groups):
    """Edges of the convex hulls of the meshes of these groups, which are what collides."""
    mesh, body, kind = (np.asarray(x) for x in (m.geom_dataid, m.geom_bodyid, m.geom_type))
    shown = (kind == mjtGeom.mjGEOM_MESH) & (groups >> np.asarray(m.geom_group) & 1 == 1) & present(m, d, world)[body]
    at, turn = _of(m, d, "geom_xpos", m.ngeom, world), _of(m, d, "geom_xmat", m.ngeom, world, 9).reshape(-1, 3, 3)
    for which in np.unique(mesh[shown]):
        geoms, ends = np.flatnonzero(shown & (mesh == which)), hull_edges(m, which)
        begin, end = (np.einsum("gij,nj->gni", turn[geoms], e) + at[geoms, None] for e in ends)
        out.rods(begin, end, EDGE_WIDTH * m.stat.meansize, EDGE)


def _equalities(out, m, d, world):
    """The two points of each connect or weld that is active, and a rod between them."""
    kind, on = np.asarray(m.eq_type), _of(m, d, "eq_active", m.neq, world, 1)[:, 0] != 0
    weld = kind == mjtEq.mjEQ_WELD
    these = np.flatnonzero(on & (weld | (kind == mjtEq.mjEQ_CONNECT)))
    data = np.asarray(m.eq_data, float).reshape(m.neq, -1)[these]
    of_bodies = (np.asarray(m.eq_objtype)[these] == mjtObj.mjOBJ_BODY)[:, None]
    xpos, xmat = _of(m, d, "xpos", m.nbody, world), _of(m, d, "xmat", m.nbody, world, 9).reshape(-1, 3, 3)
    sites = _of(m, d, "site_xpos", m.nsite, world) if m.nsite else np.zeros((1, 3))
    first, second = np.asarray(m.eq_obj1id)[these], np.asarray(m.eq_obj2id)[these]
    own = np.where(weld[these, None], data[:, 3:6], data[:, :3])
    other = np.where(weld[these, None], data[:, :3], data[:, 3:6])
    ends = []
    for which, local in ((first, own), (second, other)):
        b = np.minimum(which, m.nbody - 1)
        at = xpos[b] + np.einsum("ijk,ik->ij", xmat[b], local)
        ends.append(np.where(of_bodies, at, sites[np.minimum(which, len(sites) - 1)]))
    wide = m.vis.scale.constraint * m.stat.meansize
    for end in ends:
        out.add(SPHERE, end, np.eye(3), 3 * [wide], m.vis.rgba.constraint)
    out.rods(*ends, 0.5 * wide, m.vis.rgba.constraint)


def _tendons(out, m, d, world, groups):
    """Capsules between the points of each path."""
    adr, num = (np.asarray(getattr(d, a)).reshape(d.nworld, -1)[world] for a in ("ten_wrapadr", "ten_wrapnum"))
    point = np.asarray(d.wrap_xpos, float).reshape(d.nworld, -1, 3)[world]
    obj = np.asarray(d.wrap_obj).reshape(d.nworld, -1)[world]
    owner = np.repeat(np.arange(m.ntendon), num)
    place = np.arange(len(owner)) + np.repeat(adr - (np.cumsum(num) - num), num)
    joined = (owner[1:] == owner[:-1]) & (obj[place[1:]] != -2) & (obj[place[:-1]] != -2)
    joined &= groups[np.clip(np.asarray(m.tendon_group), 0, 5)][owner[:-1]]
    a, b, t = place[:-1][joined], place[1:][joined], owner[:-1][joined]
    rgba = own_colors(m, m.tendon_rgba, m.tendon_matid)
    long = np.linalg.norm(point[b] - point[a], axis=1) > 0
    a, b, t = a[long], b[long], t[long]
    out.rods(point[a], point[b], np.asarray(m.tendon_width)[t], rgba[t], CAPSULE, (t, mjtObj.mjOBJ_TENDON))


def _contacts(out, m, d, world, look):
    """A disc in the plane of each contact; arrows of its force on the second geom, by `<map force>` and mean mass."""
    places = np.flatnonzero(np.asarray(d.contact.worldid) == world)
    pos = np.asarray(d.contact.pos, float).reshape(-1, 3)[places]
    frame = np.asarray(d.contact.frame, float).reshape(-1, 3, 3)[places]
    if look.contactpoints:
        wide, high = (float(s) * m.stat.meansize for s in (m.vis.scale.contactwidth, m.vis.scale.contactheight))
        out.add(CYLINDER, pos, along(frame[:, 0]), (wide, high, 0), m.vis.rgba.contactpoint)
    if look.contactforces and len(places):
        force = contact_force(m, d, places)[:, :3] * (m.vis.map.force / max(m.stat.meanmass, 1e-12))
        force = force * np.where(force[:, :1] > 0, 1.0, 0.0)
        radius = 0.5 * m.vis.scale.forcewidth * m.stat.meansize
        normal = force[:, :1] * frame[:, 0]
        rest = force[:, 1:2] * frame[:, 1] + force[:, 2:] * frame[:, 2]
        parts = [(normal, m.vis.rgba.contactforce), (rest, m.vis.rgba.contactfriction)]
        for vector, rgba in parts if look.contactsplit else [(normal + rest, m.vis.rgba.contactforce)]:
            some = np.linalg.norm(vector, axis=1) > 0
            out.arrows(pos[some], vector[some], radius, rgba)


def _rangefinders(out, m, d, world):
    """Rays of range finders that meet something, from their sites along z."""
    mine = (np.asarray(m.sensor_type) == mjtSensor.mjSENS_RANGEFINDER) & (
        np.asarray(m.sensor_objtype) == mjtObj.mjOBJ_SITE
    )
    if not mine.any():
        return
    site, adr = np.asarray(m.sensor_objid)[mine], np.asarray(m.sensor_adr)[mine]
    far = np.asarray(d.sensordata, float).reshape(d.nworld, -1)[world][adr]
    site, far = site[far > 0], far[far > 0]
    begin = _of(m, d, "site_xpos", m.nsite, world)[site]
    z = _of(m, d, "site_xmat", m.nsite, world, 9)[site].reshape(-1, 3, 3)[:, :, 2]
    out.rods(begin, begin + far[:, None] * z, THIN * m.stat.meansize, m.vis.rgba.rangefinder)


def present(m, d, world):
    """(nbody,) bool: bodies that were not removed."""
    tree = np.asarray(m.body_treeid)
    if not m.ntree:
        return np.ones(m.nbody, bool)
    asleep = np.asarray(d.tree_asleep).reshape(d.nworld, m.ntree)[world]
    return (tree < 0) | (asleep[np.maximum(tree, 0)] != GONE)


def _bodies(out, m, d, world, look):
    """Frames, joints, centres of mass, and boxes of the same inertia, of bodies that are there."""
    there = present(m, d, world)
    xpos, xmat = _of(m, d, "xpos", m.nbody, world), _of(m, d, "xmat", m.nbody, world, 9)
    scale = m.stat.meansize
    if look.frame == mjtFrame.mjFRAME_BODY:
        out.frames(xpos[there][1:], xmat[there][1:], m)
    elif look.frame == mjtFrame.mjFRAME_WORLD:
        out.frames(np.zeros(3), np.eye(3), m)
    elif look.frame == mjtFrame.mjFRAME_GEOM:
        mine = there[np.asarray(m.geom_bodyid)]
        out.frames(_of(m, d, "geom_xpos", m.ngeom, world)[mine], _of(m, d, "geom_xmat", m.ngeom, world, 9)[mine], m)
    elif look.frame == mjtFrame.mjFRAME_SITE and m.nsite:
        mine = there[np.asarray(m.site_bodyid)]
        out.frames(_of(m, d, "site_xpos", m.nsite, world)[mine], _of(m, d, "site_xmat", m.nsite, world, 9)[mine], m)
    elif look.frame == mjtFrame.mjFRAME_CONTACT:
        mine = np.asarray(d.contact.worldid) == world
        frame = np.asarray(d.contact.frame, float).reshape(-1, 3, 3)[mine]  # its rows are the normal and two tangents
        out.frames(np.asarray(d.contact.pos, float).reshape(-1, 3)[mine], frame.transpose(0, 2, 1), m)
    if look.com:
        root = np.flatnonzero(there & (np.asarray(m.body_parentid) == 0))[1:]
        out.add(SPHERE, _of(m, d, "subtree_com", m.nbody, world)[root], np.eye(3), 3 * [m.vis.scale.com * scale],
                m.vis.rgba.com)  # fmt: skip
    if look.inertia:
        mass, inertia = np.asarray(m.body_mass, float), np.asarray(m.body_inertia, float).reshape(-1, 3)
        heavy = there & (mass > 0) & (np.arange(m.nbody) > 0)
        side = np.maximum(inertia.sum(1, keepdims=True) - 2 * inertia, 0)[heavy]
        size = 0.5 * np.sqrt(6 * side / mass[heavy][:, None])
        out.add(BOX, _of(m, d, "xipos", m.nbody, world)[heavy], _of(m, d, "ximat", m.nbody, world, 9)[heavy], size,
                m.vis.rgba.inertia)  # fmt: skip
    if look.joints and m.njnt:
        _joints(out, m, d, world, look.jointgroup & there[np.asarray(m.jnt_bodyid)][:, None], xmat)


def _joints(out, m, d, world, shown, xmat):
    """A box for a free joint, a ball for a ball, a rod for a hinge and an arrow for a slider, at their anchors."""
    kind, group = np.asarray(m.jnt_type), np.clip(np.asarray(m.jnt_group), 0, 5)
    shown = shown[np.arange(m.njnt), group]
    at, axis = _of(m, d, "xanchor", m.njnt, world), _of(m, d, "xaxis", m.njnt, world)
    long, wide = (float(s) * m.stat.meansize for s in (m.vis.scale.jointlength, m.vis.scale.jointwidth))
    rgba = m.vis.rgba.joint
    free, ball, slide, hinge = (shown & (kind == mjtJoint[f"mjJNT_{name}"]) for name in "FREE BALL SLIDE HINGE".split())
    out.add(BOX, at[free], xmat[np.asarray(m.jnt_bodyid)[free]], 3 * [0.3 * long], rgba)
    out.add(SPHERE, at[ball], np.eye(3), 3 * [0.3 * long], rgba)
    out.rods(at[hinge] - 0.5 * long * axis[hinge], at[hinge] + 0.5 * long * axis[hinge], wide, rgba)
    out.arrows(at[slide], long * axis[slide], wide, rgba)


def _views(out, m, d, world, look):
    """Cameras as boxes and lights as short rods; or their frames."""
    size = m.stat.meansize
    seen = [camera_pose(m, d, k, world) for k in range(m.ncam)]
    places, axes = np.array([p for p, _ in seen]).reshape(-1, 3), np.array([a.T for _, a in seen]).reshape(-1, 9)
    at, direction = lights.poses(m, d, world)
    if look.frame == mjtFrame.mjFRAME_CAMERA:
        out.frames(places, axes, m)
    elif look.frame == mjtFrame.mjFRAME_LIGHT:
        out.frames(at, along(direction), m)
    if look.cameras:
        half = 0.5 * m.vis.scale.camera * size
        out.add(BOX, places, axes, (half, half, 1.5 * half), m.vis.rgba.camera)
    if look.lights:
        long = m.vis.scale.light * size
        out.rods(at - 0.5 * long * direction, at + 0.5 * long * direction, 0.5 * long, m.vis.rgba.light)
