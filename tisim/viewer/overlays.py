"""What pictures show besides geoms and sites: tendons, contacts and their forces, frames, joints, centres of mass,
inertia boxes, hulls, rays of range finders, cameras and lights. Colours and sizes are the model's `<visual>`.

Kernels list it (kernels/picture/overlays.py, contacts.py): each thing has places for its records, and leaves those
empty that it does not need.
"""

import weakref

import numpy as np

from tisim.data import on_demand, pictures
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtFrame, mjtGeom, mjtJoint, mjtObj
from tisim.errors import Error
from tisim.mjcf.rotations import cross
from tisim.model.tables.colors import GAMMA, geom_colors
from tisim.model.tables.ray import NGROUP
from tisim.viewer import lights, textures
from tisim.viewer.camera import camera_pose
from tisim.viewer.drawing import CONTACT_COLOR, in_groups, mark_length, moving_bodies
from tisim.viewer.few import AXES, BOX, NO_SHADOW, Few, along

THIN = 0.03  # radius of a ray, by the model's mean size
EDGE, EDGE_WIDTH = (0.05, 0.12, 0.4, 1), 0.008  # of a hull: colour; radius, by the model's mean size
FLAT = 1e-6  # cosine of the angle between faces of a hull without an edge between them, below 1
ROD = (0.86, 0.10, 0.10, 1.0)  # colour of a chain
THICK = 0.25  # radius of the rod of the greatest force, in radii of a middling geom
PARALLEL = 2000  # things below which one CPU thread lists all
# whose frames kernels show besides contacts'; of cameras, lights and the world there are few
FRAMES = {
    mjtFrame.mjFRAME_BODY: mjtObj.mjOBJ_XBODY, mjtFrame.mjFRAME_GEOM: mjtObj.mjOBJ_GEOM,
    mjtFrame.mjFRAME_SITE: mjtObj.mjOBJ_SITE,
}  # fmt: skip

_edges = weakref.WeakKeyDictionary()  # of each model: its edits, and what `hull_edges` found of its meshes
_uploaded = weakref.WeakKeyDictionary()  # of each Data: of what its arrays hold the edges


class Overlays:
    """What a Look shows of a world besides geoms and sites, or nothing if there is no Look.

    n  records;  ncontact  contacts of the world, if some are shown;  few  a Few, of what stands behind these records.
    """

    def __init__(self, m, d, world, look):
        self.m, self.d, self.world, self.n, self.ncontact = m, d, world, 0, 0
        self._lists, self._inks, self.few = [], [], Few()
        if look is not None:
            self._plan(look)

    def _add(self, kernel, records, things, *inks, **scalars):
        """A kernel that lists this many things in as many records, in these colours."""
        if records:
            self._lists.append((kernel, self.n, things, dict(scalars, picink=1 + len(self._inks))))
            self._inks += [(*rgba[:3], min(float(rgba[3]), NO_SHADOW)) for rgba in inks]
            self.n += records

    def _plan(self, look):
        m, size, scale, rgba = self.m, self.m.stat.meansize, self.m.vis.scale, self.m.vis.rgba
        file, contacts = runtime.kernels("picture.overlays"), runtime.kernels("picture.contacts")
        of_contacts = look.contacts or look.contactpoints or look.contactforces or look.chains
        if of_contacts or look.frame == mjtFrame.mjFRAME_CONTACT:
            self._choose()
        n = self.ncontact
        if look.contacts:
            self._add(contacts.list_marks, 2 * n, n, CONTACT_COLOR, piclong=mark_length(m))
        if look.hulls and m.nmesh:
            self._add(file.list_hulls, self._hulls(look), m.ngeom, EDGE, picwide=EDGE_WIDTH * size)
        if look.equalities and m.neq:
            self._add(file.list_equalities, 3 * m.neq, m.neq, rgba.constraint, picwide=scale.constraint * size)
        if look.chains:
            self._chains(contacts)
        if look.tendons and m.ntendon:
            self._add(file.list_tendons, 2 * m.nwrap, m.ntendon, groups=_mask(look.tendongroup), picalpha=look.alpha)
        if look.contactpoints:
            wide, high = scale.contactwidth * size, scale.contactheight * size
            self._add(contacts.list_discs, n, n, rgba.contactpoint, picwide=wide, piclong=high)
        if look.contactforces:
            self._forces(contacts, look.contactsplit)
        if look.rangefinders and (rays := m.scalar("nrange")):
            self._add(file.list_rays, rays, rays, rgba.rangefinder, picwide=THIN * size)
        self._frames(file, contacts, look)
        bodies = m.nbody - 1
        if look.com:
            self._add(file.list_centres, bodies, bodies, rgba.com, picwide=scale.com * size)
        if look.inertia:
            self._add(file.list_inertia, bodies, bodies, rgba.inertia, picstatic=int(look.static))
        if look.joints and m.njnt:
            heads = m.njnt if (np.asarray(m.jnt_type) == mjtJoint.mjJNT_SLIDE).any() else 0
            self._add(file.list_joints, m.njnt + heads, m.njnt, rgba.joint, groups=_mask(look.jointgroup), nhead=heads,
                      picwide=scale.jointwidth * size, piclong=scale.jointlength * size)  # fmt: skip
        self._views(look)

    def _run(self, kernel, things, **scalars):
        parallel = session.arch != "cpu" or things >= PARALLEL
        launch.run(self.m, self.d, [kernel], parallel=parallel, picworld=self.world, npiccontact=self.ncontact,
                   **scalars)  # fmt: skip

    def _choose(self):
        """Finds the contacts of the world."""
        d, n = self.d, self.d.count("ncon")
        blocks = -(-n // pictures.BLOCK)
        for name, length in (("chunk", blocks + 1), ("contact", n), ("press", n)):
            room(d, f"pic_{name}", length)
        if n:
            self._run(runtime.kernels("picture.contacts").choose_contacts, n)
            self.ncontact = self._chosen(blocks)

    def _chosen(self, blocks):
        """Contacts that were found in these blocks."""
        return int(memory.part(self.d.device("pic_chunk"), blocks, 1)[0])

    def _forces(self, contacts, split):
        """Arrows of forces on the second geom, by `<map force>` and mean mass."""
        m, n = self.m, self.ncontact
        if n:
            find_forces(m, self.d)
        by_force = m.vis.map.force / max(m.stat.meanmass, 1e-12)
        wide, rgba = 0.5 * m.vis.scale.forcewidth * m.stat.meansize, m.vis.rgba
        inks = (rgba.contactforce, rgba.contactfriction)[: 2 if split else 1]
        self._add(contacts.list_forces, 2 * len(inks) * n, n, *inks, picwide=wide, piclong=by_force,
                  picsplit=int(split))  # fmt: skip

    def _chains(self, contacts):
        """Rods from the centres of bodies to their contacts."""
        m, d, n = self.m, self.d, self.ncontact
        if n:
            find_forces(m, d)
            self._run(contacts.contact_presses, n)
            self._run(contacts.find_strongest, n)
        radius = np.asarray(m.geom_rbound, float)
        thick = THICK * np.median(radius[radius > 0]) if (radius > 0).any() else 0.0
        self._add(contacts.list_chains, 2 * n, n, ROD, picwide=thick)

    def _frames(self, file, contacts, look):
        m, frame = self.m, look.frame
        long, wide = (float(s) * m.stat.meansize for s in (m.vis.scale.framelength, m.vis.scale.framewidth))
        if frame in FRAMES:
            kind = FRAMES[frame]
            n = {mjtObj.mjOBJ_XBODY: m.nbody - 1, mjtObj.mjOBJ_GEOM: m.ngeom, mjtObj.mjOBJ_SITE: m.nsite}[kind]
            groups = {mjtObj.mjOBJ_GEOM: look.geomgroup, mjtObj.mjOBJ_SITE: look.sitegroup}.get(kind, 1)
            groups |= int(look.static) << NGROUP
            self._add(
                file.list_frames, 3 * n, n, *AXES, picof=int(kind), piclong=long, picwide=0.5 * wide, groups=groups
            )
        elif frame == mjtFrame.mjFRAME_CONTACT:
            n = self.ncontact
            self._add(contacts.list_contact_frames, 3 * n, n, *AXES, piclong=long, picwide=0.5 * wide)

    def _views(self, look):
        """Cameras as boxes and lights as short rods, or their frames; the frame of the world."""
        m, d, world, size = self.m, self.d, self.world, self.m.stat.meansize
        if look.frame == mjtFrame.mjFRAME_WORLD:
            self.few.frames(np.zeros(3), np.eye(3), m)
        if look.cameras or look.frame == mjtFrame.mjFRAME_CAMERA:
            seen = [camera_pose(m, d, k, world) for k in range(m.ncam)]
            places, axes = np.array([p for p, _ in seen]).reshape(-1, 3), np.array([a.T for _, a in seen])
            if look.frame == mjtFrame.mjFRAME_CAMERA:
                self.few.frames(places, axes, m)
            if look.cameras:
                half = 0.5 * m.vis.scale.camera * size
                self.few.add(BOX, places, axes, (half, half, 1.5 * half), m.vis.rgba.camera)
        if look.lights or look.frame == mjtFrame.mjFRAME_LIGHT:
            at, direction = lights.poses(m, d, world)
            if look.frame == mjtFrame.mjFRAME_LIGHT:
                self.few.frames(at, along(direction), m)
            if look.lights:
                long = m.vis.scale.light * size
                self.few.rods(at - 0.5 * long * direction, at + 0.5 * long * direction, 0.5 * long, m.vis.rgba.light)

    def _hulls(self, look):
        """Uploads the edges of the convex hulls of the meshes that are shown and collide, if that has not been done;
        their number in all geoms."""
        m, d = self.m, self.d
        key = m.edits, look.geomgroup, look.static, session.generation
        if _uploaded.get(d, (None,))[0] != key:
            found = [np.concatenate(hull_edges(m, k), axis=1) for k in range(m.nmesh)]
            first = np.append(0, np.cumsum([len(e) for e in found]))
            kind, mesh = np.asarray(m.geom_type), np.maximum(np.asarray(m.geom_dataid), 0)
            shown = (kind == mjtGeom.mjGEOM_MESH) & _with_hull(m, look)
            number = np.where(shown, np.diff(first)[np.minimum(mesh, m.nmesh - 1)], 0)
            begin = np.where(shown, np.cumsum(number) - number, -1)
            for name, values, kind in (("hull", first, np.int32), ("edged", begin, np.int32),
                                       ("rim", np.concatenate(found).ravel(), session.numpy_float())):  # fmt: skip
                width = 6 if name == "rim" else 1
                memory.upload(d.scratch(f"pic_{name}", max(1, len(values) // width)), values.astype(kind))
            _uploaded[d] = key, int(number.sum())
        return _uploaded[d][1]

    def clear(self):
        """Whether one of them may be seen through."""
        rgba = [ink[3] for ink in self._inks]
        for kernel, _, _, scalars in self._lists:
            if kernel.__name__ == "list_tendons":
                rgba += (scalars["picalpha"] * self.m.derived("tendon_color")[:, 3]).tolist()
        return bool((np.array(rgba) < NO_SHADOW).any())

    def list(self, at, lit):
        """Writes the records from place `at` on; lit  their colours are not made light."""
        upload_inks(self.d, self._inks, lit)
        for kernel, first, things, scalars in self._lists:
            self._run(kernel, things, picat=at + first, piclit=int(lit), **scalars)


def upload_inks(d, inks, lit):
    """The table of colours that kernels take, behind the look of what has no material."""
    rows = np.zeros((1 + len(inks), 4))
    rows[0, :3] = 0.0, textures.SPECULAR, 128 * textures.SHININESS
    rows[1:] = np.reshape(inks, (-1, 4))
    rows[1:, :3] **= 1.0 if lit else GAMMA
    memory.upload(room(d, "pic_ink", len(rows)), rows.ravel().astype(session.numpy_float()))


def room(d, name, length):
    """An array of the Data with at least this many rows."""
    return d.scratch(name, max(1, length))


def _with_hull(m, look):
    """(ngeom,) bool: geoms that are shown and collide."""
    collides = (np.asarray(m.geom_contype) != 0) | (np.asarray(m.geom_conaffinity) != 0)
    there = (geom_colors(m)[:, 3] > 0) & in_groups(look.geomgroup >> np.arange(NGROUP) & 1, m.geom_group)
    return collides & there & (look.static | moving_bodies(m)[np.asarray(m.geom_bodyid)])


def _mask(flags):
    """Flags of groups as bits."""
    return int(sum(1 << k for k, on in enumerate(flags) if on))


def find_forces(m, d):
    """Makes con_force that of the contacts. Raises Error where the second dynamics has found it for another pose."""
    if not on_demand.hard(d):
        return on_demand.contact_wrenches(m, d)
    kernel = runtime.kernels("lcp.matches").note_strangers
    launch.run(m, d, [kernel], parallel=session.arch != "cpu" or d.count("ncon") >= PARALLEL)
    if memory.download(d.device("lcp_stranger"))[0]:
        raise Error(on_demand.OTHER_POSE)


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
