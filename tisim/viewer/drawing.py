"""What is drawn: the geoms of one world as triangles in NumPy arrays that GGUI reads directly.

GGUI's own instancing does not turn normals, so vertices are placed here, all geoms of one shape in one batch. No
Taichi field is made: fields are never freed, and each new one would cost a compilation.
"""

import colorsys

import numpy as np

from tisim.data.asleep import GONE
from tisim.viewer import shapes
from tisim.viewer.shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE

BUDGET = 150_000  # vertices above which round shapes become coarser: a software driver's time goes with their number
SEGMENTS = 32  # straight pieces of a circle
SHOWN_GROUPS = 3  # geoms of groups 0 to 2 are drawn, as in MuJoCo's viewer
CONTACT_COLOR = (1.0, 0.45, 0.05, 1.0)
DEFAULT_RGBA = 0.5


def palette(n):
    """n well separated colours (n, 3)."""
    hue = (0.58 + np.arange(n) * 0.61803399) % 1.0
    value = 0.95 - 0.2 * ((np.arange(n) // 5) % 3) / 2
    return np.array([colorsys.hsv_to_rgb(h, 0.55, v) for h, v in zip(hue, value)], np.float32).reshape(n, 3)


PALETTE = palette(48)
ASLEEP = 0.4  # brightness of what sleeps, of what is awake


def own_colors(m, rgba, material):
    """(n, 4) colours of things: their own, or their material's where their own is the default."""
    rgba, material = np.array(rgba, np.float32).reshape(-1, 4), np.asarray(material)
    plain = (material >= 0) & (rgba == [DEFAULT_RGBA] * 3 + [1]).all(1)
    if plain.any():
        rgba[plain] = np.asarray(m.mat_rgba, np.float32).reshape(-1, 4)[material[plain]]
    return rgba


def geom_colors(m):
    """Colour of each geom (ngeom, 4)."""
    return own_colors(m, m.geom_rgba, m.geom_matid)


def site_colors(m):
    """Colour of each site (nsite, 4)."""
    return own_colors(m, m.site_rgba, m.site_matid)


def tree_of_geom(m):
    """Kinematic tree of each geom (ngeom,), -1 for what cannot move."""
    return np.asarray(m.body_treeid)[np.asarray(m.geom_bodyid)]


def island_of_geom(m, d, world=0):
    """Island of each geom (ngeom,), -1 for what cannot move; its tree where the engine labels no islands."""
    tree = tree_of_geom(m)
    if not m.ntree or not getattr(d, "nisland", 0):
        return tree
    island = np.asarray(d.tree_island).reshape(-1, m.ntree)[world]
    labels = np.where(tree >= 0, island[np.maximum(tree, 0)], -1)
    # a tree without contacts has no island: it is drawn in its own colour, a sleeping island in that of its first tree
    first = m.ntree + _first_of_sleeping(_asleep(m, d, world))
    return np.where((tree >= 0) & (labels < 0), first[np.maximum(tree, 0)], labels)


def _first_of_sleeping(asleep):
    """(ntree,) first tree of the sleeping island of each tree, of one that is awake itself."""
    first = np.arange(len(asleep))
    following = np.where((asleep >= 0) & (asleep < len(asleep)), asleep, first)
    for _ in range(max(1, int(len(asleep)).bit_length())):
        first, following = np.minimum(first, first[following]), following[following]
    return first


def _asleep(m, d, world):
    """(ntree,) tree_asleep of a world; all awake where the engine does not tell."""
    if not hasattr(d, "tree_asleep"):
        return np.full(m.ntree, -1)
    return np.asarray(d.tree_asleep).reshape(-1, m.ntree)[world]


def sleeping_geoms(m, d, world=0):
    """(ngeom,) bool: geoms of trees that sleep."""
    tree = tree_of_geom(m)
    if not m.ntree:
        return np.zeros(m.ngeom, bool)
    return (tree >= 0) & (_asleep(m, d, world)[np.maximum(tree, 0)] >= 0)


def removed_geoms(m, d, world=0):
    """(ngeom,) bool: geoms of trees that were removed."""
    tree = tree_of_geom(m)
    if not m.ntree:
        return np.zeros(m.ngeom, bool)
    return (tree >= 0) & (_asleep(m, d, world)[np.maximum(tree, 0)] == GONE)


def checker_colors(m, geom):
    """Two colours (3,) of a plane: those of its material's chequer texture, or shades of its own colour."""
    own = geom_colors(m)[geom, :3]
    material = int(m.geom_matid[geom])
    if material >= 0:
        for texture in np.asarray(m.mat_texid).reshape(m.nmat, -1)[material]:
            if texture >= 0 and "rgb1" in m.textures[texture]:
                t = m.textures[texture]
                return own * np.float32(t["rgb1"]), own * np.float32(t["rgb2"])
    return own, own * 0.86


class _Batch:
    """The geoms that share one shape: their ids and where their vertices are."""

    def __init__(self, shape, geoms, scale, half):
        self.shape, self.geoms = shape, np.asarray(geoms)
        ends = shape.side[:, None] * np.float32([0, 0, 1])
        self.local = scale[:, None, :] * shape.points + half[:, None, None] * ends
        inverse = 1 / np.maximum(scale, 1e-9)
        normals = inverse[:, None, :] * shape.normals
        self.normals = normals / np.maximum(np.linalg.norm(normals, axis=2, keepdims=True), 1e-30)
        self.local, self.normals = self.local.astype(np.float32), self.normals.astype(np.float32)


class Drawing:
    """Triangles of a model's geoms: `vertices` (n, 12: position, normal, texture, colour) and `indices`.

    m       the model.  positions  (ngeom, 3) at which an unbounded plane is made large enough.
    alpha   factor on the opacity of what moves, below 1 to look inside.  segments  of round shapes, at most.
    `opaque` is the number of indices before the transparent ones.
    """

    def __init__(self, m, positions, alpha=1.0, segments=SEGMENTS):
        self.m, self.segments = m, segments
        self.colors = geom_colors(m)
        moving = np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0
        self.colors[moving, 3] *= alpha
        shown = (np.asarray(m.geom_group) < SHOWN_GROUPS) & (self.colors[:, 3] > 0)
        clear = self.colors[:, 3] < 0.999
        # translucent things hide each other in the order drawn: what moves first, so that glass walls come over it
        layers = (shown & ~clear, shown & clear & moving, shown & clear & ~moving)
        batches = [b for keep in layers for b in self._batches(np.flatnonzero(keep), positions)]
        self.batches, start, triangles, self.opaque = batches, 0, [], 0
        for b in batches:
            count, v = len(b.geoms), len(b.shape.points)
            b.start, b.stop = start, start + count * v
            offsets = start + v * np.arange(count)
            triangles.append((offsets[:, None, None] + b.shape.triangles).reshape(-1))
            if not clear[b.geoms[0]]:
                self.opaque += triangles[-1].size
            start = b.stop
        self.vertices = np.zeros((max(1, start), 12), np.float32)
        self.indices = np.concatenate(triangles).astype(np.int32) if triangles else np.zeros(0, np.int32)
        self.paint(self.colors)
        self.painted = False  # in other colours than the model's

    def _batches(self, geoms, positions):
        m = self.m
        if not len(geoms):
            return
        kind, size = np.asarray(m.geom_type)[geoms], np.asarray(m.geom_size, np.float32).reshape(-1, 3)
        nround = max(1, int(((kind >= SPHERE) & (kind <= CYLINDER)).sum()))
        segments, budget = self.segments, BUDGET
        while segments > 8 and nround * (segments // 2 + 2) * (segments + 1) > budget:
            segments -= 4
            budget = BUDGET if segments > 12 else 10 * BUDGET
        ball = shapes.sphere(segments)
        for t in (SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
            of = geoms[kind == t]
            if len(of):
                s = size[of]
                scale = {SPHERE: s[:, [0, 0, 0]], CAPSULE: s[:, [0, 0, 0]], CYLINDER: s[:, [0, 0, 1]]}.get(t, s)
                half = s[:, 1] if t == CAPSULE else 0 * s[:, 0]
                shape = {BOX: shapes.box, CYLINDER: lambda: shapes.cylinder(segments)}.get(t, lambda: ball)()
                yield _Batch(shape, of, scale, half)
        for g in geoms[kind == PLANE]:
            yield self._single(self._plane(g, size[g], positions), g)
        for g in geoms[kind == HFIELD]:
            h = m.geom_dataid[g]
            nrow, ncol, start = int(m.hfield_nrow[h]), int(m.hfield_ncol[h]), int(m.hfield_adr[h])
            data = np.asarray(m.hfield_data)[start : start + nrow * ncol].reshape(nrow, ncol)
            yield self._single(shapes.heightfield(np.asarray(m.hfield_size).reshape(-1, 4)[h], data), g)
        meshes = geoms[kind == MESH]
        for mesh in np.unique(np.asarray(m.geom_dataid)[meshes]):
            of = meshes[np.asarray(m.geom_dataid)[meshes] == mesh]
            v, f = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
            points = np.asarray(m.mesh_vert).reshape(-1, 3)[v : v + int(m.mesh_vertnum[mesh])]
            faces = np.asarray(m.mesh_face).reshape(-1, 3)[f : f + int(m.mesh_facenum[mesh])]
            yield _Batch(shapes.faceted(points, faces), of, np.ones((len(of), 3), np.float32), np.zeros(len(of)))

    @staticmethod
    def _single(shape, geom):
        return _Batch(shape, [geom], np.ones((1, 3), np.float32), np.zeros(1))

    def _plane(self, geom, size, positions):
        """Chequered rectangle of a plane; an unbounded one reaches far beyond everything else."""
        bounded = np.asarray(self.m.geom_type) > HFIELD
        points = positions[bounded] - positions[geom] if bounded.any() else np.zeros((1, 3))
        finite = np.abs(points[np.isfinite(points).all(1)])
        reach = float(np.quantile(finite.max(1), 0.99)) if finite.size else 1.0
        far = 30 * max(reach, 1.0)
        half = [min(float(s), far) if s > 0 else far for s in size[:2]]
        tile = 0.25 * 2.0 ** np.floor(np.log2(max(reach, 1.0)))
        while max(half) / tile > 80:
            tile *= 2
        return shapes.checker(half[0], half[1], tile, *checker_colors(self.m, geom))

    def paint(self, colors):
        """Sets the colours of the geoms (ngeom, 4); planes keep their chequer."""
        for b in self.batches:
            rgba = np.repeat(colors[b.geoms], len(b.shape.points), axis=0)
            if b.shape.tint is not None:
                rgba[:, :3] = b.shape.tint
            self.vertices[b.start : b.stop, 8:12] = rgba

    def paint_islands(self, labels, dark=False):
        """Colours what moves by its island, labels (ngeom,) with -1 for what keeps its colour.

        dark  (ngeom,) bool: geoms that are darker.
        """
        colors = self.colors.copy()
        colors[labels >= 0, :3] = PALETTE[labels[labels >= 0] % len(PALETTE)]
        colors[:, :3] *= np.where(dark, ASLEEP, 1.0).reshape(-1, 1)
        self.paint(colors)

    def paint_state(self, m, d, world, islands):
        """Colours what moves, if `islands` says so by its island; what sleeps is darker."""
        dark = sleeping_geoms(m, d, world)
        if islands or dark.any() or self.painted:
            self.paint_islands(island_of_geom(m, d, world) if islands else np.full(m.ngeom, -1), dark)
        self.painted = islands or dark.any()

    def place(self, positions, rotations, camera=None, height=0):
        """Moves every vertex: geom positions (ngeom, 3) [m], rotations (ngeom, 3, 3).

        With a camera, what is smaller than a pixel of a picture of that height is drawn as large as one.
        """
        growth = np.ones(len(positions), np.float32)
        if camera is not None:
            away = (positions - camera.position) @ camera.forward
            pixel = 2 * np.tan(0.5 * np.radians(camera.fovy)) / height * np.where(np.isfinite(away), away, 0)
            radius = np.asarray(self.m.geom_rbound)
            growth[radius > 0] = np.maximum(1, pixel[radius > 0] / radius[radius > 0])
        positions, rotations = positions.astype(np.float32), rotations.astype(np.float32)
        positions[~rotations.any((1, 2))] = 0.0  # what is nowhere is a point
        for b in self.batches:
            turn = rotations[b.geoms].transpose(0, 2, 1) * growth[b.geoms, None, None]
            out = self.vertices[b.start : b.stop]
            out[:, 0:3] = (b.local @ turn + positions[b.geoms][:, None]).reshape(-1, 3)
            out[:, 3:6] = (b.normals @ turn).reshape(-1, 3)
            if growth[b.geoms].max() > 1:
                out[:, 3:6] /= np.maximum(np.linalg.norm(out[:, 3:6], axis=1, keepdims=True), 1e-30)


def contact_marks(positions, normals, length):
    """A bead and a stick along the normal at each contact: vertices (n, 12) and indices.

    positions (k, 3) [m];  normals (k, 3);  length of a stick [m].
    """
    shape = shapes.arrow()
    helper = np.where(np.abs(normals[:, :1]) < 0.9, [[1.0, 0, 0]], [[0, 1.0, 0]])
    first = np.cross(normals, helper)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-30)
    frames = np.stack([first, np.cross(normals, first), normals], 1).astype(np.float32)
    vertices = np.zeros((len(positions), len(shape.points), 12), np.float32)
    vertices[..., 0:3] = (shape.points * np.float32([0.1, 0.1, 1]) * length) @ frames + positions[:, None]
    vertices[..., 3:6] = shape.normals @ frames
    vertices[..., 8:12] = CONTACT_COLOR
    offsets = len(shape.points) * np.arange(len(positions))
    indices = (offsets[:, None, None] + shape.triangles).reshape(-1).astype(np.int32)
    return vertices.reshape(-1, 12), indices


def poses(m, d, world=0):
    """Geom positions (ngeom, 3) and rotations (ngeom, 3, 3) of one world; what was removed is nowhere, and a point."""
    n = m.ngeom
    positions = np.array(d.geom_xpos, float).reshape(-1, n, 3)[world]
    rotations = np.array(d.geom_xmat, float).reshape(-1, n, 3, 3)[world]
    gone = removed_geoms(m, d, world)
    positions[gone], rotations[gone] = np.nan, 0.0
    return positions, rotations


def contacts(m, d, world=0):
    """Positions (k, 3) and normals (k, 3) of one world's contacts."""
    positions = np.asarray(d.contact.pos, np.float32).reshape(-1, 3)
    normals = np.asarray(d.contact.frame, np.float32).reshape(-1, 9)[:, :3]
    if getattr(d, "nworld", 1) > 1:
        mine = np.asarray(d.contact.worldid) == world
        positions, normals = positions[mine], normals[mine]
    return positions, normals


def mark_length(m):
    """Length of a contact stick [m]: about the size of a typical geom."""
    size = np.asarray(m.geom_rbound)[np.asarray(m.geom_type) > HFIELD]
    return float(np.median(size)) if size.size else 0.1
