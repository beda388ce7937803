"""Pictures by rays through tiles, computed by Taichi: colour, depth and ids of one pass, without Vulkan.

Each record's box is projected; each tile of the picture lists the records that may cover it, nearest first, and the
rays of a tile's samples try its list until the next record begins behind what all of them met. A far lamp has tiles of
its own, so that shadow rays are exact. Nothing is sampled at random and nothing depends on threads.
"""

import weakref

import numpy as np

from tisim.device import launch, memory, runtime, session
from tisim.errors import CapacityError, Error, brief
from tisim.model.tables.faces import bits
from tisim.stages.rays import ray_types
from tisim.viewer import textures
from tisim.viewer.far import axes_to, sky, sky_lamps, sun_of
from tisim.viewer.samples import Samples

SUN_LIGHT, SKY_LIGHT = (1.50, 1.42, 1.28), (0.42, 0.46, 0.53)
SKY_LOW, SKY_CHANGE = (0.87, 0.91, 0.95), (-0.20, -0.15, -0.07)
DIGIT = 1 << 12  # numbers that a view needs to sort its records
TILE, LAMP_TILE = 8, 4  # side of a tile of the camera and of a lamp [pixel]
LAMP_SIDE = 512  # pixels of a lamp's view
FADE = 6.0  # far ground fades over so many distances of the camera
CURVE = (1 - np.exp(-1.25 * (np.arange(3 * 2048 + 2) / 2048) ** 2)) ** (1 / 2.2)
LIGHT = np.array([SUN_LIGHT, SKY_LIGHT, SKY_LOW, SKY_CHANGE])
TONE = bits(CURVE)
# arrays of a number of each sample
SAMPLED = (
    "x y depth record face before last nx ny nz r g b alpha fade tile cosine shine lit weight red green blue through "
    "front away"
).split()
PARALLEL = 2000  # records or samples below which one CPU thread does all
MOST, LONGEST = 2**24, 2**14  # pixels of a picture, and of a side

_drawn = weakref.WeakKeyDictionary()  # of each Data: the Caster whose samples and constants its arrays hold
_textured = weakref.WeakKeyDictionary()  # of each Data: which textures its arrays hold


def check_size(width, height):
    """Refuses a size of a picture that cannot be drawn."""
    for side in (width, height):
        if isinstance(side, bool) or not isinstance(side, (int, np.integer)) or side <= 0:
            raise Error(f"size {brief(width)} x {brief(height)}: each side must be a positive whole number")
        if side > LONGEST:
            raise Error(f"size {width}x{height}: each side must be at most {LONGEST}")
    if width * height > MOST:
        raise CapacityError(f"size {width}x{height}: at most {MOST} pixels")


def _upload(d, name, values):
    values = np.ascontiguousarray(values)
    kind = np.int32 if values.dtype.kind in "iub" else session.numpy_float()
    width = 1 if values.ndim == 1 else values.shape[-1]
    place = d.scratch(name, max(1, values.size // width))
    memory.upload(place, values.reshape(-1).astype(kind, copy=False))


def _shown(light):
    """Light as a picture shows it, from 0 to 1."""
    return np.interp(np.sqrt(light), np.arange(len(CURVE)) / 2048, CURVE)


def _most(values):
    """(2, k) between which most of values (n, k) are: without a 500th at either end of each column."""
    place = np.array([0.002, 0.998]) * (len(values) - 1)
    first = place.astype(int)
    second = np.minimum(first + 1, len(values) - 1)
    rows = np.partition(np.ascontiguousarray(values.T), np.unique([first, second]))
    return (rows[:, first] + (rows[:, second] - rows[:, first]) * (place - first)).T


class Caster:
    """Pictures of one size: width, height [pixel]."""

    def __init__(self, width, height):
        check_size(width, height)
        self.width, self.height = int(width), int(height)
        self._across, self._down = -(-self.width // TILE), -(-self.height // TILE)
        self._grids = {}
        self._room = 1 << 14  # entries of the lists of a view
        self._half = self._across * TILE // 2
        self._places = self._sized = self._last = self._step = None
        self._held = {}  # of arrays of the Data that this Caster drew last: what they hold

    def _prepare(self):
        """Samples of all pixels, and of each second row and column."""
        if self._places is not None and self._places[0] == session.arch:
            return
        found = []
        for step in (1, 2):
            side = TILE // step
            tile, lane = np.divmod(np.arange(self._across * self._down * side * side), side * side)
            x = tile % self._across * TILE + lane % side * step + 0.5 * step
            y = tile // self._across * TILE + lane // side * step + 0.5 * step
            found.append(Samples(x, y, tile.astype(np.int32)))
        self._places = session.arch, *found

    def _set_grid(self, lamps):
        self._nview = 2 + lamps  # of the camera, of a lamp and of those of the sky
        if self._nview not in self._grids:
            side, ntile = -(-LAMP_SIDE // LAMP_TILE), self._across * self._down
            rows = [(side, side, LAMP_TILE, ntile + 1 + k * (side * side + 1)) for k in range(self._nview - 1)]
            self._grids[self._nview] = np.int32([(self._across, self._down, TILE, 0), *rows])
        self._grid = self._grids[self._nview]

    def _flat(self, values):
        """Numbers of all tiles' samples as rows of the picture, without what is beyond it."""
        rows = values.reshape(self._down, self._across, TILE, TILE).swapaxes(1, 2).reshape(self._down * TILE, -1)
        return rows[: self.height, : self.width]

    def shoot(self, d, scene, camera, quality="sun", smooth=True, tile=0.25, color=True, grow=False, lit=None,
              geometry=True, floors=True, lamps=None):  # fmt: skip
        """One pass over the records of a scene.

        camera   a Camera;  quality  "plain": no shadows; "sun", "model": its shadows; "sky": also lamps of the sky.
        smooth   four more rays for each pixel on an edge;  tile  side of the chequer of planes [m].
        color    False: depth and records only.
        lit      lamps of the model and ambient light, of lights.lamps, instead of a sun.
        grow     what is smaller than a pixel is drawn as large as one; the records are changed.
        geometry  False: colour only, and None for the others.
        lamps    how many the sky has in quality "sky", None: 14.
        floors   False: the chequer of a floor, which is the mean over a pixel already, gets no further rays.
        Returns colour (height, width, 3) uint8 or None, depth along the view (height, width) f32 [m], infinite where
        nothing is, and record (height, width) int32, -1 for none.
        """
        lamps = sky_lamps(quality, lamps) if color else 0
        self._d, self._m, self._scene, self._lit = d, scene.m, scene, lit
        last = _drawn.get(d)
        if last is None or last() is not self:
            self._held = {}
            _drawn[d] = weakref.ref(self)
        self._kinds = ray_types(scene.m)
        self._npic = scene.n
        self._prepare()
        w, h = self.width, self.height
        _, full, halved = self._places
        self._set_grid(lamps)
        self._views(camera, tile, first=grow or not color or lit is not None)
        if not floors and lit is None and color:
            self._leave_chequers(camera, quality != "plain")
        if grow:
            self._run("records", "grow", parallel=session.arch != "cpu" or self._npic >= PARALLEL)
        half = self._half if lamps else 0
        if color:
            self._bounds(camera)
        if color and lit is None:
            toward = sun_of(camera)
            self._far_lamps(1, toward[None], axes_to(toward)[None])
            if lamps:
                self._far_lamps(2, *sky(lamps))
            self._set_views()
        self._lists(0, 2 + lamps if color and lit is None and quality != "plain" else 1)
        if lamps:
            self._samples(halved)
            self._by_chunks(halved, [("shading", "see_sky", self._kinds)], picend=2 + lamps)
        if not color:
            self._samples(full)
            self._see(0)
            depth, record = (self._flat(x) for x in self._found())
            return None, np.where(record < 0, np.float32(np.inf), depth), record
        edges = [("finish", "find_edges")] if smooth else []
        self._draw(full, quality != "plain", half, then=[("finish", "to_bytes"), *edges])
        depth = self._flat(self._of_samples("away")) if geometry else None
        record = self._flat(self._of_samples("front", np.int32)) if geometry else None
        if smooth:
            self._smooth(quality != "plain", half)
        words = memory.part(d.device("pic_word"), 0, 3 * len(full) // 4)
        rows = words.view(np.uint8).reshape(self._down * TILE, -1, 3)[:h, :w]
        return np.ascontiguousarray(rows), depth, record

    def _smooth(self, shadows, half):
        """Gives pixels that differ from a neighbour the mean colour of four rays."""
        d, ntile = self._d, self._across * self._down
        count = self._on_edges(ntile)
        first = np.zeros(ntile + 1, np.int32)
        np.cumsum(count + (count & 1), out=first[1:])
        n = int(first[-1])
        if not n:
            return
        _upload(d, "pic_first", first)
        samples = Samples.of_tiles(4 * first)
        d.scratch("pic_pick", n)
        pick, mean = ("finish", "pick_edges"), ("finish", "mean_of_four")
        if self._lit is None:
            return self._draw(samples, shadows, half, first=[pick], then=[mean])
        self._samples(samples)
        self._run(*pick)
        samples.x, samples.y = self._of_samples("x"), self._of_samples("y")  # mirrors choose among them
        self._draw(samples, shadows, half, then=[mean])

    def _on_edges(self, ntile):
        """(ntile,) pixels on edges of each tile."""
        return memory.part(self._d.device("pic_first"), 0, ntile)

    def _run(self, file, name, *given, parallel=None, **scalars):
        self._run_all([(file, name, *given)], parallel, **scalars)

    def _run_all(self, kernels, parallel=None, **scalars):
        """Launches kernels (file, name, what `Kernel.of` takes) together: threads are woken once."""
        found = []
        for file, name, *given in kernels:
            kernel = getattr(runtime.kernels(f"picture.{file}"), name)
            found.append(kernel.of(*given) if given else kernel)
        if parallel is None:
            parallel = session.arch != "cpu" or self._nsample >= PARALLEL
        scalars = dict(dict(npic=self._npic, npicplane=self._nplane, nblock=self._nblock), **scalars)
        launch.run(self._m, self._d, found, parallel=parallel, **scalars)

    def _hold(self, name, values):
        """Uploads what no kernel changes, where an array does not hold it from the picture before."""
        values_held, place = self._held.get(name, (None, None))
        if values_held is not values or place is not self._d.scratch(name, len(values)):
            _upload(self._d, name, values)
            self._held[name] = values, self._d.device(name)

    def _views(self, camera, tile, first):
        """Uploads the camera, if that is needed first of all, and what does not change in this picture."""
        d, n = self._d, max(1, self._npic)
        self._kind = memory.part(d.device("pic_kind"), 0, self._npic)
        planes = np.flatnonzero(self._kind == 0).astype(np.int32)
        self._nplane, self._nsample, self._nblock = len(planes), 0, 0
        _upload(d, "pic_plane", planes if len(planes) else np.zeros(1, np.int32))
        focal = 0.5 * self.height / np.tan(0.5 * np.radians(camera.fovy))
        self._eye, self._axes, self._lens = (np.zeros((self._nview, k)) for k in (3, 9, 4))
        self._eye[0], self._axes[0] = camera.position, np.ravel(camera.axes)
        self._lens[0] = focal, self.width, self.height, 0
        if first:
            self._set_views()
        self._hold("pic_grid", self._grid)
        _upload(d, "pic_look", np.array([tile, FADE * camera.distance, 0.0]))
        self._hold("pic_light", LIGHT)
        self._hold("pic_tone", TONE)
        d.scratch("pic_seen", n)
        d.scratch("pic_span", self._nview * n)
        d.scratch("pic_order", 2 * self._nview * n)
        d.scratch("pic_aim", self._nview * n)
        d.scratch("pic_need", self._nview)
        d.scratch("pic_beam", self._nview)
        d.scratch("pic_digit", self._nview * DIGIT)
        d.scratch("pic_start", int(self._grid[-1, 3] + self._grid[-1, 0] * self._grid[-1, 1] + 1))
        if self._lit is not None:
            _upload(d, "pic_lamp", np.zeros((6, 3)))
        if self._scene.textured or self._lit is not None:
            self._texels()
        for name in ("sky", "owner", "word", "edge"):
            d.scratch(f"pic_{name}", self._places[1].places)
        d.scratch("pic_first", self._across * self._down + 1)

    def _leave_chequers(self, camera, shadows):
        """Lets steps of colour between tiles of the first plane be no edges, where those of shadows are greater."""
        d = self._d
        if not self._nplane:
            return
        j = int(memory.part(d.device("pic_plane"), 0, 1)[0])
        both = (("rgba", 4), ("second", 3))
        colors = [memory.part(d.device(f"pic_{name}"), n * j, 3).astype(float) for name, n in both]
        up = memory.part(d.device("pic_mat"), 9 * j, 9)[2::3].astype(float)
        key = *(x.tobytes() for x in (*colors, up)), camera.azimuth, shadows
        if self._step is None or self._step[0] != key:
            self._step = key, self._chequer_step(colors, up, sun_of(camera), shadows)
        if self._step[1] is not None:
            memory.upload(d.device("pic_look"), np.array([self._step[1]], session.numpy_float()), 2)

    @staticmethod
    def _chequer_step(colors, up, toward, shadows):
        """Step between tiles of these colours on a plane with this normal, None where one of shadows may be less."""
        sun = max(0.0, float(up @ toward)) * np.array(SUN_LIGHT)
        sky = 0.06 + (0.55 + 0.45 * float(up[2])) * np.array(SKY_LIGHT)
        shown = np.array([[_shown(color * light) for light in (sun + sky, sky)] for color in colors])
        between_tiles = 1.05 * np.abs(shown[0] - shown[1]).sum(-1).max()
        if not shadows or between_tiles < 0.7 * np.abs(shown[:, 0] - shown[:, 1]).sum(-1).min():
            return between_tiles
        return None

    def _texels(self):
        """Uploads the textures, where that has not been done."""
        key = self._m.edits, session.generation
        if _textured.get(self._d) != key:
            for name, values in zip(("texinfo", "texel"), textures.pyramid(self._m)):
                _upload(self._d, f"pic_{name}", values)
            _textured[self._d] = key

    def _set_views(self):
        for name, values in (("eye", self._eye), ("axes", self._axes), ("lens", self._lens)):
            _upload(self._d, f"pic_{name}", values)

    def _lists(self, first, end):
        """Makes the lists of the tiles of the views from first to end - 1."""
        d, n = self._d, self._npic
        parallel = session.arch != "cpu" or n >= PARALLEL
        self._run("records", "project", parallel=parallel, view=first, picend=end)
        while True:
            d.scratch("pic_item", self._nview * self._room)
            self._list(first, end, end - first > 2 or (parallel and end - first > 1))
            need = int(memory.part(d.device("pic_need"), first, end - first).max())
            if need <= self._room:
                return
            if need >= 2**27:
                raise CapacityError(f"a picture of {n} records needs lists of {need} entries")
            self._room, first = 2 * need, 0  # all are at other places now

    def _list(self, first, end, parallel):
        """One try of it."""
        self._run("records", "list_records", parallel=parallel, view=first, picend=end, picroom=self._room)

    def _bounds(self, camera):
        """The ball in which shadows are computed: most of what is bounded and opaque."""
        d, n = self._d, self._npic
        solid = self._kind > 0
        if not solid.any():
            self._center, self._radius = np.asarray(camera.lookat, float), camera.distance
            return
        places, sizes = (memory.part(d.device(f"pic_{name}"), 0, 3 * n).reshape(-1, 3) for name in ("pos", "size"))
        low, high = _most(places[solid].astype(float, copy=False))
        self._center = 0.5 * (low + high)
        size = float(sizes[solid].max())
        self._radius = float(min(0.6 * np.linalg.norm(high - low) + 2 * size + 1e-3, 30 * camera.distance))

    def _far_lamps(self, view, directions, axes):
        """Points views from this one on at the scene from afar; directions towards their lamps (n, 3), axes (n, 9)."""
        views = slice(view, view + len(directions))
        self._axes[views] = axes
        self._eye[views] = self._center + 2 * self._radius * directions
        self._lens[views] = 0.5 * LAMP_SIDE / self._radius, LAMP_SIDE, LAMP_SIDE, 1

    def _room_for(self, places, more=()):
        """Makes the arrays of samples, those of these names too, where they are not as long yet."""
        last = self._d.scratch(f"pic_{SAMPLED[-1]}", places)  # they are made at once: one tells of all
        if last is not self._last or more != self._sized:
            for name in (*SAMPLED, *more):
                self._d.scratch(f"pic_{name}", last.numbers)
            self._sized, self._last = more, last

    def _samples(self, samples):
        self._nsample = len(samples)
        lamps = ("gain", "gloss", "tint") if self._lit is not None else ()
        self._room_for(samples.places, lamps)
        self._rays(samples)
        self._blocks(samples.blocks)

    def _rays(self, samples):
        """Uploads where the samples' rays go, of all pixels only what others have written over since."""
        whole = samples is self._places[1]
        places = [self._d.device(f"pic_{name}") for name in "xy"]
        held, spoiled = self._held.get("rays", (None, 0))
        if held != places:
            spoiled = len(samples) if whole else self._places[1].places
        if samples.x is not None:
            count = spoiled if whole else len(samples)
            for place, values in zip(places, (samples.x, samples.y)):
                memory.upload(place, bits(values[:count]))
        self._held["rays"] = places, 0 if whole else max(spoiled, samples.places)

    def _blocks(self, blocks):
        """What the next kernels work on."""
        self._nblock = len(blocks)
        if len(blocks):
            _upload(self._d, "pic_block", blocks)

    def _see(self, layer):
        self._run("rays", "see", self._kinds, layer=layer)

    def _paint(self):
        lamps = self._lit is not None
        self._run("surface", "paint", self._kinds, self._scene.textured or lamps, lamps)

    def _lamps(self, shadows):
        """The light of the model's lamps on what the samples show."""
        lamps, ambient = self._lit
        self._run("lamps", "dim")
        for lamp in lamps:
            _upload(self._d, "pic_lamp", lamp.rows(ambient))
            shaded = shadows and lamp.shadows
            if lamp.far:
                toward = -np.asarray(lamp.direction, float)
                self._far_lamps(1, toward[None], axes_to(toward)[None])
                self._set_views()
                if shaded:
                    self._lists(1, 2)
                self._run("lamps", "lamp", self._kinds, shadows=int(shaded))
                continue
            views = lamp.views(self._center, self._radius)
            for axes, half in views if shaded else views[:1]:
                self._axes[1], self._eye[1] = np.ravel(axes), lamp.place
                self._lens[1] = 0.5 * LAMP_SIDE / np.tan(half), LAMP_SIDE, LAMP_SIDE, 0
                self._set_views()
                if shaded:
                    self._lists(1, 2)
                mode = (2 if len(views) > 1 else 1) if shaded else 0
                self._run("lamps", "lamp", self._kinds, shadows=mode)

    def _of_samples(self, name, kind=np.float32):
        return memory.part(self._d.device(f"pic_{name}"), 0, self._nsample).view(kind)

    def _found(self):
        return self._of_samples("depth"), self._of_samples("record", np.int32)

    def _by_chunks(self, samples, kernels, **scalars):
        """Launches kernels of which some go over chunks of the samples' blocks."""
        scalars |= dict(picslot=len(samples), picmost=samples.most, picchunk=samples.chunk)
        self._run_all(kernels, **scalars)

    def _draw(self, samples, shadows, half, mirrored=(), first=(), then=()):
        """Colours of samples through all layers, in the arrays of their numbers.

        first, then  further kernels before (in the light of a sun) and behind;
        mirrored  depth and record of the mirror in which each sample is seen: behind it begins what it shows.
        """
        self._samples(samples)
        scene = self._scene
        if self._lit is None:
            kernels = [*first, ("shading", "draw", self._kinds, scene.textured), *then]
            return self._by_chunks(samples, kernels, shadows=int(shadows), half_wide=half)
        self._draw_lit(samples, shadows, mirrored)
        if then:
            self._run_all(then)

    def _draw_lit(self, samples, shadows, mirrored):
        """The same in the light of the model's lamps."""
        scene = self._scene
        layer, blocks = 0, samples.blocks
        if mirrored:
            layer = 1
            self._behind(mirrored)
        while True:
            self._see(layer)
            self._paint()
            self._lamps(shadows)
            self._run("shading", "shade", layer=layer, skybox=scene.skybox)
            layer += 1
            if not scene.translucent:
                break
            more = np.append(0, np.cumsum(self._of_samples("through") > 0))
            blocks = blocks[more[blocks[:, 1]] > more[blocks[:, 0]]]
            if not len(blocks):
                break
            self._blocks(blocks)
        if layer > 1:
            self._blocks(samples.blocks)
        if mirrored or not scene.mirrors:
            return
        color, found = self._colors(), (self._of_samples("away"), self._of_samples("front", np.int32))
        for mirror, share in scene.mirrors:
            mine = np.flatnonzero(found[1] == mirror)
            if len(mine):
                shown = self._mirrored(mirror, samples.take(mine), [x[mine] for x in found], shadows)
                for part, more in zip(color, shown):
                    part[mine] += share * more
        self._samples(samples)
        for name, values in zip(("red", "green", "blue", "away", "front"), (*color, *found)):
            _upload(self._d, f"pic_{name}", values.view(np.int32))

    def _colors(self):
        return [self._of_samples(name) for name in ("red", "green", "blue")]

    def _behind(self, mirrored):
        """Begins what the samples show behind a depth and a record (n,) each, without any colour so far."""
        n = len(mirrored[0])
        _upload(self._d, "pic_depth", bits(mirrored[0]))
        _upload(self._d, "pic_record", mirrored[1])
        _upload(self._d, "pic_through", bits(np.ones(n)))
        for name in ("red", "green", "blue"):
            _upload(self._d, f"pic_{name}", np.zeros(n, np.int32))

    def _mirrored(self, mirror, samples, found, shadows):
        """Colours (3, n) that a plane mirrors at samples where it is seen, by a camera behind it; none of the sky."""
        pos = memory.download(self._d.device("pic_pos"))[3 * mirror : 3 * mirror + 3].astype(float)
        normal = (
            memory.download(self._d.device("pic_mat"))[9 * mirror : 9 * mirror + 9].reshape(3, 3)[:, 2].astype(float)
        )
        eye, axes = self._eye[0].copy(), self._axes[0].copy()
        self._eye[0] = eye - 2 * normal * (normal @ (eye - pos))
        rows = axes.reshape(3, 3)
        self._axes[0] = np.ravel(rows - 2 * np.outer(rows @ normal, normal))
        self._set_views()
        self._lists(0, 1)
        self._samples(samples)
        self._behind(found)
        self._see(1)
        met = np.flatnonzero(self._found()[1] >= 0)
        shown = np.zeros((3, len(samples)), np.float32)
        if len(met):
            self._draw(samples.take(met), shadows, 0, [x[met] for x in found])
            shown[:, met] = self._colors()
        self._eye[0], self._axes[0] = eye, axes
        self._set_views()
        self._lists(0, 1)
        return shown
