"""Shapes drawn by GGUI with tisim's own shaders: one instanced draw per shape, 48 bytes for each thing.

A record: place (3), half length of a capsule, or a floor's second colour; quaternion (4); size (3), colour as rgba8.
A floor is a box of which only the top is drawn, its third size is -1.
GGUI hands the buffer of its "transforms" to the shaders unread, and loads these from a folder that it is told. Behind
the records of each shape lies the sun's shadow map. All lie in `pic_drawn` of the Data, where a kernel moves them.
"""

import hashlib
import os
import pathlib
import shutil
import tempfile
import weakref

import numpy as np

from tisim.data import pictures, varied
from tisim.data.pictures import WORDS as RECORD
from tisim.device import cache, launch, memory, runtime, session
from tisim.viewer import adorned, shadows, shapes
from tisim.viewer.caster import FADE, PARALLEL, SKY_LIGHT, SUN_LIGHT
from tisim.viewer.drawing import checker_colors, geom_colors, moving_bodies
from tisim.viewer.far import sun_of
from tisim.viewer.measures import changes, color
from tisim.viewer.scene import Look, Scene
from tisim.viewer.shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, HFIELD, MESH, PLANE, SPHERE

SKY = (0.87, 0.91, 0.95)  # as in the shaders
BUDGET = 150_000  # vertices above which round shapes become coarser: a software driver's time goes with their number
SEGMENTS = 32  # straight pieces of a circle
FAR = 40.0  # half side of an unbounded plane, in distances of the camera
ROUND = (SPHERE, CAPSULE, ELLIPSOID)  # shapes of one mesh, drawn at once
_owners = weakref.WeakKeyDictionary()  # of each Data: the Raster whose records its arrays hold


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
    """Room for n words."""
    return np.zeros(max(1, n), np.float32)


def packed(rgba):
    """(n,) f32 whose bits are colours (n, 3 or 4) as rgba8."""
    full = np.ones((len(rgba), 4), np.float32)
    full[:, : np.shape(rgba)[1]] = rgba
    return (np.clip(full, 0, 1) * 255 + 0.5).astype(np.uint8).view("<u4").view(np.float32)[:, 0]


class Batch:
    """Instances of one mesh: `records` (n, 12) of the things `members` (n,), as drawn; `map` the words behind them.

    floors, opaque  how many of the first are floors; how many are opaque, with these.
    """

    def __init__(self, shape, members, size, half=0.0, unit=False, texels=0, floors=0, opaque=0):
        self.members, self.floors, self.opaque = np.asarray(members), floors, opaque
        self.shape, self.texels = shape, texels
        self.vertices = np.zeros((len(shape.points), 12), np.float32)
        self.vertices[:, :3], self.vertices[:, 3:6] = shape.points, shape.normals
        self.vertices[:, 6], self.vertices[:, 7], self.vertices[:, 8:] = shape.side, unit, 1
        self.indices = shape.triangles.reshape(-1).astype(np.int32)
        self._told = None  # what GGUI is told of the arrays
        self.lie_in(words(self.length), 0)
        self.records[:, 3], self.records[:, 8:11] = half, size
        self.records[:floors, 10] = -1

    @classmethod
    def of_words(cls, shape, words):
        """Instances whose records a kernel has written: words (12 n,) f32."""
        batch = cls(shape, np.arange(len(words) // RECORD), 0.0)
        batch.lie_in(words, 0)
        return batch

    @property
    def throws(self):
        """Records of what throws shadows."""
        return self.records[self.floors : self.opaque]

    @property
    def length(self):
        """Words that it needs."""
        return RECORD * len(self.members) + self.texels * self.texels // 2

    def places(self):
        """(n, 3): the geom of each member, its first word, whether it throws a shadow."""
        k = np.arange(len(self.members))
        throws = (k >= self.floors) & (k < self.opaque)
        return np.stack([self.members, self.first + RECORD * k, throws], 1)

    def lie_in(self, words, first):
        """Its words are these (n,) f32 from the first on now."""
        self.first, n = first, RECORD * len(self.members)
        self.words = words[first : first + self.length]
        self.records, self.map = self.words[:n].reshape(-1, RECORD), self.words[n:].view(np.uint32)
        self._told = None

    def draw(self, scene, shadows=False):
        """Draws all members, with the shadows that their map holds."""
        from taichi.ui.utils import get_field_info

        n = len(self.members)
        if not n:
            return
        if self._told is None:
            arrays = self.vertices, self.indices, self.words, self.words[: RECORD * n]
            self._told = [get_field_info(a) for a in arrays]
        vertices, indices, whole, records = self._told
        free = (float(shadows and self.texels), float(RECORD * n), 0.0)
        scene.scene.mesh_instance(
            vertices, False, indices, free, False, whole if shadows else records, n, 0, len(self.indices), 0,
            len(self.vertices), 0, False,
        )  # fmt: skip


def _primitive(kind, segments):
    return {BOX: shapes.box, CYLINDER: lambda: shapes.cylinder(segments)}.get(kind, lambda: shapes.sphere(segments))()


def _scale(kind, size):
    """Scale (n, 3) of the primitives' unit meshes, and half length (n,), of shapes (n,) and sizes (n, 3)."""
    ball, rod = (kind == SPHERE) | (kind == CAPSULE), kind == CYLINDER
    whole = np.where(ball[:, None], size[:, [0, 0, 0]], np.where(rod[:, None], size[:, [0, 0, 1]], size))
    return whole, np.where(kind == CAPSULE, size[:, 1], 0.0)


class Raster:
    """The geoms of a model, as batches: floors, what is opaque, what is not.

    shown (ngeom,) bool: geoms that are drawn;  alpha  opacity of what moves, times its own.
    """

    def __init__(self, m, shown=None, alpha=1.0):
        self.m, self.alpha, self._scene = m, float(alpha), Scene(m)
        self._more, self._decor = ([], []), {}
        self.colors = geom_colors(m)
        moving = moving_bodies(m)[np.asarray(m.geom_bodyid)]
        self.colors[moving, 3] *= alpha
        shown = (np.asarray(m.geom_group) < 3) if shown is None else np.array(shown, bool)
        shown &= self.colors[:, 3] > 0
        kind, clear = np.asarray(m.geom_type), self.colors[:, 3] < 0.999
        count = max(1, int((shown & (kind >= SPHERE) & (kind <= CYLINDER)).sum()))
        self.segments, budget = SEGMENTS, BUDGET
        while self.segments > 8 and count * (self.segments // 2 + 2) * (self.segments + 1) > budget:
            self.segments -= 4
            budget = BUDGET if self.segments > 12 else 10 * BUDGET
        things, floors = shown & (kind != PLANE), np.flatnonzero(shown & (kind == PLANE))
        self.batches = self._batches(floors, things & ~clear, [things & clear & also for also in (moving, ~moving)])
        self.words = words(sum(b.length for b in self.batches))
        self._settle(self.words)
        self.paint(self.colors)
        self._painted = False  # in other colours than the model's
        self._extent, self._moved = np.zeros((4, 3)), True  # of places: all, what throws shadows; since the last map
        self._halves = np.asarray(m.geom_size, np.float32).reshape(-1, 3)[floors, :2]
        self._floors = next((b for b in self.batches if b.floors), None)
        self._place = self._seen = self._map = None
        solid = np.concatenate([np.zeros(0, int), *(b.members[b.floors : b.opaque] for b in self.batches)])
        self._largest = float(np.max(np.asarray(m.geom_rbound)[solid], initial=0.0))

    def _settle(self, room):
        """Moves all words into other memory."""
        room[: len(self.words)] = self.words
        self.words, first = room[: len(self.words)], 0
        for b in self.batches:
            kept = b.words
            b.lie_in(self.words, first)
            b.words[:] = kept
            first += b.length

    def _take(self, d):
        """Makes the Data's arrays those of this Raster; on a CPU its words lie there."""
        place, last = d.scratch("pic_drawn", len(self.words)), _owners.get(d)
        last = last() if last else None
        if place is self._place and last is self:
            return
        if last not in (None, self):
            last._settle(words(len(last.words)))
            last._place = None
        members = np.concatenate([np.zeros((0, 3), int), *(b.places() for b in self.batches)]).astype(np.int32)
        memory.upload(d.scratch("pic_member", max(1, len(members))), members.ravel())
        d.scratch("pic_extent", 5 * (1 + -(-len(members) // pictures.BLOCK)))
        host = memory.host_view(place)
        if host is not None:
            self._settle(host.view(np.float32))
        self._place, self._count, self._moved = place, len(members), True
        _owners[d] = weakref.ref(self)

    def _parts(self, geoms):
        """Geoms that can be drawn at once, by their mesh: [(mesh, geoms)]."""
        m = self.m
        kind, data = np.asarray(m.geom_type)[geoms], np.asarray(m.geom_dataid)[geoms]
        out = [(kinds, geoms[np.isin(kind, kinds)]) for kinds in (ROUND, (CYLINDER,), (BOX,))]
        out += [((HFIELD, int(geom)), np.array([geom])) for geom in geoms[kind == HFIELD]]
        meshes = kind == MESH
        out += [((MESH, int(k)), geoms[meshes & (data == k)]) for k in np.unique(data[meshes])]
        return [(mesh, these) for mesh, these in out if len(these)]

    def _batches(self, floors, solid, glass):
        """Batches of floors (k,), of what is opaque (ngeom,) bool, of what is not: [(ngeom,) bool], in the order drawn.

        Translucent things hide each other in the order drawn: what moves first, so that glass walls come over it. Those
        of one mesh that follow each other are drawn at once, and the first with what is opaque of their mesh: the host
        has more to do for a draw than for many bodies.
        """
        solid, clear, glass = self._parts(np.flatnonzero(solid)), glass, []
        for mesh, geoms in (part for these in clear for part in self._parts(np.flatnonzero(these))):
            before = glass.pop()[1] if glass and glass[-1][0] == mesh else geoms[:0]
            glass.append((mesh, np.concatenate([before, geoms])))
        if len(floors) and (BOX,) not in [mesh for mesh, _ in solid]:
            solid.append(((BOX,), np.zeros(0, int)))
        solid.sort(key=lambda part: bool(glass) and part[0] == glass[0][0])
        out = []
        for k, (mesh, geoms) in enumerate(solid):
            first = floors if mesh == (BOX,) else floors[:0]
            joined = glass.pop(0)[1] if k == len(solid) - 1 and glass and glass[0][0] == mesh else geoms[:0]
            out.append(self._batch(mesh, np.concatenate([first, geoms, joined]), len(first), len(first) + len(geoms)))
        return out + [self._batch(mesh, geoms) for mesh, geoms in glass]

    def _batch(self, mesh, geoms, floors=0, opaque=0):
        m, named = self.m, dict(texels=shadows.SIDE, floors=floors, opaque=opaque)
        if mesh[0] not in (HFIELD, MESH):
            kind, size = np.asarray(m.geom_type)[geoms], np.asarray(m.geom_size, np.float32).reshape(-1, 3)[geoms]
            return Batch(_primitive(mesh[0], self.segments), geoms, *_scale(kind, size), **named)
        if mesh[0] == HFIELD:
            h = int(m.geom_dataid[mesh[1]])
            rows, columns, adr = (int(getattr(m, f"hfield_{a}")[h]) for a in ("nrow", "ncol", "adr"))
            heights = np.asarray(m.hfield_data[adr : adr + rows * columns]).reshape(rows, columns)
            shape = shapes.heightfield(np.asarray(m.hfield_size).reshape(-1, 4)[h], heights)
        else:
            v, f = int(m.mesh_vertadr[mesh[1]]), int(m.mesh_faceadr[mesh[1]])
            points = np.asarray(m.mesh_vert).reshape(-1, 3)[v : v + int(m.mesh_vertnum[mesh[1]])]
            faces = np.asarray(m.mesh_face).reshape(-1, 3)[f : f + int(m.mesh_facenum[mesh[1]])]
            shape = shapes.faceted(points, faces)
        return Batch(shape, geoms, np.ones(3), unit=True, **named)

    def paint(self, colors):
        """Sets the colours of the geoms (ngeom, 4)."""
        for b in self.batches:
            b.records[:, 11] = packed(colors[b.members])
            for record, geom in zip(b.records[: b.floors], b.members):
                record[[11, 3]] = packed(np.stack(checker_colors(self.m, geom)))

    def paint_state(self, d, world, mode):
        """Colours what moves by a mode of `render`; what sleeps is darker."""
        painted = changes(self.m, mode)
        if painted:
            self._take(d)
            color(self.m, d, world, mode)
            if self._count:
                kernel = runtime.kernels("picture.colors").paint_instances
                parallel = session.arch != "cpu" or self._count >= PARALLEL
                launch.run(self.m, d, [kernel], parallel=parallel, npicinstance=self._count, picalpha=self.alpha)
        elif self._painted:
            self.paint(self.colors)
        self._painted = painted

    def place(self, d, world, camera):
        """Moves every geom to where it is; unbounded planes reach far beyond what this camera sees."""
        m = self.m
        varied.refuse(d, "raster", "geom_size")
        self._take(d)
        kernel, parallel = runtime.kernels("picture.instances").place_instances, self._count >= PARALLEL
        if self._count:
            parallel = parallel or session.arch != "cpu"
            launch.run(m, d, [kernel], parallel=parallel, picworld=world, npicinstance=self._count)
            extent = memory.part(d.device("pic_extent"), 0, 15).reshape(5, 3)
            self._extent, self._moved = extent[:4], self._moved or extent[4, 0] > 0
        if memory.host_view(self._place) is None:
            moved = memory.download(self._place)[: len(self.words)].view(np.float32)
            for b in self.batches:
                now = moved[b.first : b.first + RECORD * len(b.members)].reshape(-1, RECORD)
                b.records[:, :3], b.records[:, 4:8] = now[:, :3], now[:, 4:8]
                if self._painted:
                    b.records[b.floors :, 11] = now[b.floors :, 11]
        if self._floors:
            reach = 2.0 * float(max(1.0, np.abs(self._corners(0)).max()))
            far, half = max(FAR * camera.distance, reach), self._halves
            self._floors.records[: len(half), 8:10] = np.where(half > 0, np.minimum(half, far), far)

    def _corners(self, k):
        """Corners (2, 3) of a box around the places of all (0), or of what throws shadows (2); zeros around nothing."""
        corners = self._extent[k : k + 2]
        return corners if (corners[0] <= corners[1]).all() else np.zeros((2, 3))

    def shade(self, d, world, look, camera):
        """Renews the shadow map, where anything has moved or the sun has, which stands beside the camera.

        look  a scene.Look of what is shown.
        """
        seen = np.array([camera.position, camera.lookat])
        if not self._moved and np.array_equal(seen, self._seen):
            return
        self._seen, self._moved = seen, False
        self._map = self._map or shadows.ShadowMap(self.m, self._scene)
        low, high = self._corners(2)
        self._map.shoot(d, world, look, camera, low - self._largest, high + self._largest)
        for b in self.batches:
            b.map[:] = self._map.words

    def adorn(self, d, world, look, more=None):
        """Lists what is drawn besides the geoms, as Scene.write_overlays does, for the next `draw`."""
        self._more = ([], [])
        shown, begin = adorned.sort(self.m, d, self._scene, look, world, more)
        for k, kinds in enumerate(2 * (ROUND, (CYLINDER,), (BOX,))):
            if begin[k + 1] > begin[k]:
                if kinds not in self._decor:
                    self._decor[kinds] = _primitive(kinds[0], 16)
                words = shown[begin[k] : begin[k + 1]].reshape(-1)
                self._more[k // 3].append(Batch.of_words(self._decor[kinds], words))

    def draw(self, scene, camera, tile):
        """Draws all, as last placed, shaded and adorned; tile  side of a chequer's tile [m]."""
        eye, spread, depths = self._map.eye, self._map.spread, self._map.depths
        scene.ambient_light(SKY_LIGHT)
        scene.point_light(tuple(map(float, sun_of(camera))), SUN_LIGHT)
        scene.point_light(tuple(map(float, eye)), (float(tile), FADE * float(camera.distance), spread))
        scene.point_light(depths, (0.0, 0.0, 0.0))
        clear = [b.opaque < len(b.members) for b in self.batches]
        first = clear.index(True) if True in clear else len(clear)
        for b in (*self.batches[:first], *self._more[0], *self.batches[first:], *self._more[1]):
            b.draw(scene, b.texels > 0)


def ready(m, d, camera, look=None, world=0):
    """A Raster with records and shadows of a simulation, as its poses were last computed; look  a scene.Look."""
    raster = Raster(m)
    raster.place(d, world, camera)
    raster.shade(d, world, look or Look(tendons=False, textures=False), camera)
    return raster
