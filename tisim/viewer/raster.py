"""Shapes drawn by GGUI with tisim's own shaders: one instanced draw per shape, 48 bytes for each thing.

A record: place (3), half length of a capsule, or a floor's second colour; quaternion (4); size (3), colour as rgba8.
GGUI hands the buffer of its "transforms" to the shaders unread, and loads these from a folder that it is told.
"""

import hashlib
import os
import pathlib
import shutil
import tempfile

import numpy as np

from tisim.data import varied
from tisim.device import cache
from tisim.mjcf import rotations
from tisim.viewer import shapes
from tisim.viewer.caster import FADE, SKY_LIGHT, SUN_LIGHT, sun_of
from tisim.viewer.drawing import checker_colors, geom_colors, removed_geoms
from tisim.viewer.measures import shaded
from tisim.viewer.shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE

RECORD = 12
SKY = (0.87, 0.91, 0.95)  # as in the shaders
BUDGET = 150_000  # vertices above which round shapes become coarser: a software driver's time goes with their number
SEGMENTS = 32  # straight pieces of a circle
FAR = 40.0  # half side of an unbounded plane, in distances of the camera
LEVEL = 1e-6  # a plane turned less casts shadows' copies and is chequered along the world's axes


def folder():
    """Folder with the compiled shaders of Taichi and, in place of its mesh shaders, tisim's; made in the cache."""
    import taichi

    own = pathlib.Path(__file__).parent / "shaders"
    theirs = pathlib.Path(taichi.__file__).parent / "shaders"
    content = {f.name: f for place in (theirs, own) for f in sorted(place.glob("*.spv"))}
    key = hashlib.sha256(b"".join(name.encode() + f.read_bytes() for name, f in content.items())).hexdigest()[:16]
    place = cache.folder() / f"shaders-{key}"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = pathlib.Path(tempfile.mkdtemp(dir=place.parent))
        (made / "shaders").mkdir()
        for name, file in content.items():
            shutil.copyfile(file, made / "shaders" / name)
        try:
            os.replace(made, place)
        except OSError:  # another process was first
            shutil.rmtree(made)
    return place


def words(n):
    """Room for n records."""
    return np.zeros((max(1, n), RECORD), np.float32)


def packed(rgba):
    """(n,) f32 whose bits are colours (n, 3 or 4) as rgba8."""
    full = np.ones((len(rgba), 4), np.float32)
    full[:, : np.shape(rgba)[1]] = rgba
    return (np.clip(full, 0, 1) * 255 + 0.5).astype(np.uint8).view("<u4").view(np.float32)[:, 0]


class Batch:
    """Instances of one mesh: `records` (n, 12) of the things `members` (n,)."""

    def __init__(self, shape, members, size, half=0.0, floor=False, unit=False):
        self.members, self.floor, self.shape = np.asarray(members), floor, shape
        self.vertices = np.zeros((len(shape.points), 12), np.float32)
        self.vertices[:, :3], self.vertices[:, 3:6] = shape.points, shape.normals
        self.vertices[:, 6], self.vertices[:, 7], self.vertices[:, 8:] = shape.side, unit, 1
        self.indices = shape.triangles.reshape(-1).astype(np.int32)
        self.records = words(len(self.members))
        self.records[:, 3], self.records[:, 8:11] = half, size

    def place(self, pos, quat):
        """Moves the members: pos (n, 3), quat (n, 4) of all things."""
        self.records[:, :3] = pos[self.members]
        self.records[:, 4:8] = quat[self.members]

    def draw(self, scene, shadow=False):
        """Draws all members, or their shadows on the floor."""
        from taichi.ui.utils import get_field_info

        if len(self.members):
            scene.scene.mesh_instance(
                get_field_info(self.vertices), False, get_field_info(self.indices), (float(shadow), 0.0, 0.0),
                self.floor, get_field_info(self.records.reshape(-1)), len(self.members), 0, len(self.indices), 0,
                len(self.vertices), 0, False,
            )  # fmt: skip


def _primitive(kind, segments):
    return {BOX: shapes.box, CYLINDER: lambda: shapes.cylinder(segments)}.get(kind, lambda: shapes.sphere(segments))()


def _scale(kind, size):
    """Scale (n, 3) of a primitive's unit mesh, and half length (n,), of sizes (n, 3)."""
    if kind in (SPHERE, CAPSULE):
        return size[:, [0, 0, 0]], size[:, 1] if kind == CAPSULE else np.zeros(len(size))
    return (size[:, [0, 0, 1]] if kind == CYLINDER else size), np.zeros(len(size))


def _product(a, b):
    """Quaternion products, (4, n) f32 each: in rows, half as long as in columns and f64."""
    w, x, y, z = a
    e, f, g, h = b
    return np.stack([w * e - x * f - y * g - z * h, w * f + x * e + y * h - z * g,
                     w * g - x * h + y * e + z * f, w * h + x * g - y * f + z * e])  # fmt: skip


class Raster:
    """The geoms of a model, as batches: floors, what is opaque, what is not.

    shown (ngeom,) bool: geoms that are drawn;  alpha  opacity of what moves, times its own.
    """

    def __init__(self, m, shown=None, alpha=1.0):
        self.m, self._decor = m, {}
        self.colors = geom_colors(m)
        moving = np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0
        self.colors[moving, 3] *= alpha
        shown = (np.asarray(m.geom_group) < 3) if shown is None else np.array(shown, bool)
        shown &= self.colors[:, 3] > 0
        kind, clear = np.asarray(m.geom_type), self.colors[:, 3] < 0.999
        count = max(1, int((shown & (kind >= SPHERE) & (kind <= CYLINDER)).sum()))
        self.segments, budget = SEGMENTS, BUDGET
        while self.segments > 8 and count * (self.segments // 2 + 2) * (self.segments + 1) > budget:
            self.segments -= 4
            budget = BUDGET if self.segments > 12 else 10 * BUDGET
        self.floors = [self._floor(g) for g in np.flatnonzero(shown & (kind == PLANE))]
        things = shown & (kind != PLANE)
        self.solid = self._batches(np.flatnonzero(things & ~clear))
        # translucent things hide each other in the order drawn: what moves first, so that glass walls come over it
        self.glass = [b for also in (moving, ~moving) for b in self._batches(np.flatnonzero(things & clear & also))]
        self.paint(self.colors)
        self._own_quat = np.ascontiguousarray(np.asarray(m.geom_quat, np.float32).reshape(-1, 4).T)
        self._painted = False  # in other colours than the model's

    def _floor(self, geom):
        x = np.linspace(-1, 1, 33)
        points = np.stack([*np.meshgrid(x, x, indexing="ij"), np.zeros((33, 33))], -1).reshape(-1, 3)
        shape = shapes.made(points, np.tile([0, 0, 1.0], (len(points), 1)), shapes.grid_triangles(33, 33))
        return Batch(shape, [geom], np.ones(3), floor=True)

    def _batches(self, geoms):
        m = self.m
        kind, size = np.asarray(m.geom_type)[geoms], np.asarray(m.geom_size, np.float32).reshape(-1, 3)
        out = []
        for k in (SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX):
            of = geoms[kind == k]
            if len(of):
                out.append(Batch(_primitive(k, self.segments), of, *_scale(k, size[of])))
        for geom in geoms[kind == HFIELD]:
            h = int(m.geom_dataid[geom])
            rows, columns, adr = (int(getattr(m, f"hfield_{a}")[h]) for a in ("nrow", "ncol", "adr"))
            heights = np.asarray(m.hfield_data[adr : adr + rows * columns]).reshape(rows, columns)
            shape = shapes.heightfield(np.asarray(m.hfield_size).reshape(-1, 4)[h], heights)
            out.append(Batch(shape, [geom], np.ones(3), unit=True))
        meshes = np.asarray(m.geom_dataid)[geoms]
        for mesh in np.unique(meshes[kind == MESH]):
            v, f = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
            points = np.asarray(m.mesh_vert).reshape(-1, 3)[v : v + int(m.mesh_vertnum[mesh])]
            faces = np.asarray(m.mesh_face).reshape(-1, 3)[f : f + int(m.mesh_facenum[mesh])]
            of = geoms[(kind == MESH) & (meshes == mesh)]
            out.append(Batch(shapes.faceted(points, faces), of, np.ones(3), unit=True))
        return out

    @property
    def batches(self):
        """All batches."""
        return [*self.floors, *self.solid, *self.glass]

    def paint(self, colors):
        """Sets the colours of the geoms (ngeom, 4)."""
        for b in self.batches:
            b.records[:, 11] = packed(colors[b.members])
        for b in self.floors:
            first, second = checker_colors(self.m, b.members[0])
            b.records[:, 11], b.records[:, 3] = packed(first[None]), packed(second[None])

    def paint_state(self, d, world, mode):
        """Colours what moves by a mode of `render`; what sleeps is darker, what was removed cannot be seen."""
        colors = shaded(self.m, d, world, mode, self.colors)
        if colors is not self.colors or self._painted:
            self.paint(colors)
        self._painted = colors is not self.colors

    def place(self, d, world, camera):
        """Moves every geom to where it is; unbounded planes reach far beyond what this camera sees."""
        m = self.m
        varied.refuse(d, "raster", "geom_size")
        pos = np.asarray(d.geom_xpos).reshape(d.nworld, m.ngeom, 3)[world].astype(np.float32)
        xquat = np.asarray(d.xquat).reshape(-1, m.nbody, 4)[world].astype(np.float32)
        quat = _product(xquat.T[:, np.asarray(m.geom_bodyid)], self._own_quat).T
        gone = removed_geoms(m, d, world) | ~np.isfinite(pos.sum(1)) | ~np.isfinite(quat.sum(1))
        pos[gone], quat[gone] = 1e9, rotations.IDENTITY
        for b in self.batches:
            b.place(pos, quat)
        for b in self.floors:
            half = np.array(np.asarray(m.geom_size).reshape(-1, 3)[b.members[0]])
            far = max(FAR * camera.distance, 2.0 * float(np.abs(pos[~gone]).max(initial=1.0)))
            b.records[:, 8:10] = np.where(half[:2] > 0, np.minimum(half[:2], far), far)
            b.turn, b.at = rotations.matrix(quat[b.members[0]]), pos[b.members[0]]

    def draw(self, scene, camera, tile, decor=None):
        """Draws all, as last placed; tile  side of a chequer's tile [m];  decor  records of decor.Decor."""
        sun = sun_of(camera)
        level = [b for b in self.floors if np.abs(b.turn - np.eye(3)).max() < LEVEL]
        ground = level[0] if level else None
        scene.ambient_light(SKY_LIGHT)
        scene.point_light(tuple(map(float, sun)), SUN_LIGHT)
        at = ground.at if ground else np.zeros(3)
        scene.point_light(tuple(map(float, at)), (float(tile), FADE * float(camera.distance), 0.0))
        first, second = checker_colors(self.m, ground.members[0]) if ground else (np.ones(3), np.ones(3))
        scene.point_light(tuple(map(float, first)), tuple(map(float, second)))
        more = self._of_decor(*decor) if decor is not None else ([], [])
        for b in self.floors:
            b.draw(scene)
        if ground:
            for b in self.solid:
                b.draw(scene, shadow=True)
        for b in (*self.solid, *more[0], *self.glass, *more[1]):
            b.draw(scene)

    def _of_decor(self, kind, pos, mat, size, rgba):
        """Batches of records: what is opaque, what is not."""
        out = [], []
        quat = rotations.from_matrix(mat) if len(mat) else np.zeros((0, 4))
        for clear in (False, True):
            for k in np.unique(kind):
                these = (kind == k) & ((rgba[:, 3] < 0.999) == clear)
                if these.any():
                    if k not in self._decor:
                        self._decor[k] = _primitive(int(k), 16)
                    b = Batch(self._decor[k], np.flatnonzero(these), *_scale(int(k), size[these]))
                    b.place(pos, quat)
                    b.records[:, 11] = packed(rgba[these])
                    out[clear].append(b)
        return out
