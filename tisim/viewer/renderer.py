"""`tisim.Renderer`: pictures, depth and segmentation as mujoco.Renderer gives them, of one pass of the caster."""

import contextlib

import numpy as np

from tisim.data import given
from tisim.device import runtime
from tisim.errors import Error, brief
from tisim.viewer import lights
from tisim.viewer.camera import Camera, of_mjv
from tisim.viewer.caster import Caster
from tisim.viewer.far import sky_lamps
from tisim.viewer.mjv import MjvCamera
from tisim.viewer.scene import Scene, look_of
from tisim.viewer.shown import Shown


class Painter:
    """Draws pictures of one size of a model; a film's floor keeps the chequer of its first picture.

    scene  a Scene that lists what is drawn, None: one of its own.
    """

    def __init__(self, m, width, height, scene=None):
        self.caster, self.scene, self.tile = Caster(width, height), scene or Scene(m), None

    def write(self, d, look, world, more=None, quality="sun"):
        """Lists what is drawn of a world as it is now, for a picture of this quality.

        more  further records, as Scene.write takes them.
        """
        runtime.ensure()
        if not 0 <= world < d.nworld:
            raise Error(f"world={world}: this Data has {d.nworld} worlds")
        self.world, self.real = world, quality == "model" and lights.has_lights(self.scene.m)
        self.scene.write(d, look, world, more, self.real)

    def shoot(self, d, camera, quality, smooth=True, color=True, grow=False, geometry=True, floors=True,
              lamps=None):  # fmt: skip
        """Colour, depth and record as Caster.shoot returns them."""
        self.scene.back(d)
        lit = self.lamps(d, camera) if color else None
        return self.caster.shoot(d, self.scene, camera, quality, smooth, self.tile_of(camera), color, grow, lit,
                                 geometry, floors, lamps)  # fmt: skip

    def tile_of(self, camera):
        """Side of the chequer's tiles [m], for the camera of the first picture."""
        if self.tile is None:
            self.tile = camera.tile
        return self.tile

    def lamps(self, d, camera):
        """Lamps and ambient light (lights.lamps) for a picture of what was written; None: a sun shines."""
        return lights.lamps(self.scene.m, d, self.world, camera) if self.real else None


class Renderer:
    """Pictures of a model's Data.

    height, width  [pixel].
    quality  "model": the light of the model's lamps with shadows, planes that mirror and its sky, as MuJoCo's pictures
             have them; as "sun" where it has no lamps.  "sun": a sun beside the camera, with shadows;  "plain": without
             them;  "sky": also light of the sky.
    max_geom  what `scene.maxgeom` tells; any number is drawn.
    lamps    of the sky in quality "sky", from 0, where its light is even, to 32; None: 14.
    Raises Error for sizes that are not positive whole numbers, and where a quality or a number of lamps does not exist.
    """

    def __init__(self, model, height=240, width=320, max_geom=10000, *, quality="model", lamps=None):
        sky_lamps(quality, lamps)
        given.model(model)
        self._model, self._quality, self._lamps = model, quality, lamps
        self._painter, self._scene = Painter(model, width, height), Shown(max_geom)
        self._size = self._painter.caster.height, self._painter.caster.width
        self._data = self._camera = None
        self._mode = "color"

    @property
    def model(self):
        """The Model."""
        return self._model

    @property
    def height(self):
        """Rows of a picture."""
        return self._size[0]

    @property
    def width(self):
        """Columns of a picture."""
        return self._size[1]

    @property
    def scene(self):
        """What update_scene took over, and what is drawn besides: a tisim.viewer.shown.Shown, always the same."""
        self._check()
        return self._scene

    def update_scene(self, data, camera=-1, scene_option=None, *, world=0):
        """Takes over what is to be drawn: poses as they were last computed (forward, step).

        camera  -1: MuJoCo's free camera; the id or name of one of the model's; a MjvCamera or a tisim.viewer.Camera.
        scene_option  a MjvOption or a tisim.viewer.Look: what is drawn;  world  which one of the Data.
        """
        self._check()
        given.check(self._model, data)
        data.check(self._model)
        look = look_of(scene_option, self._model)
        if isinstance(world, bool) or not isinstance(world, (int, np.integer)):
            raise Error(f"world={brief(world)}: expected a whole number")
        found = self._camera_of(data, camera, world)
        self._painter.write(data, look, int(world), quality=self._quality)
        self._data, self._camera = data, found
        self._scene.take(self._painter.scene, data, found)

    def _camera_of(self, data, camera, world):
        m = self._model
        if isinstance(camera, Camera):
            return camera
        if isinstance(camera, MjvCamera):
            return of_mjv(m, data, camera, world)
        if isinstance(camera, (bool, np.bool_)) or not isinstance(camera, (str, int, np.integer)):
            raise Error(f"camera={brief(camera)}: expected -1, the id or name of a camera, or a tisim.MjvCamera")
        if not isinstance(camera, str) and camera == -1:
            return Camera.default(m)
        if not isinstance(camera, str) and not 0 <= camera < m.ncam:
            raise Error(f"camera={camera}: the model has {m.ncam} cameras; -1 is the free one")
        return Camera.of_model(m, data, camera if isinstance(camera, str) else int(camera), world)

    def render(self, *, out=None):
        """The picture of what update_scene took over, and of the geoms added to `scene` since; black before that.

        Returns RGB (height, width, 3) uint8; with depth rendering the depth along the view (height, width) f32 [m],
        infinite where nothing is; with segmentation rendering object id and type (height, width, 2) int32, -1 for
        nothing. out  an array of that shape and type to write into.
        """
        index = ("color", "depth", "segmentation").index(self._mode)
        found = self._shoot(color=index == 0, geometry=index > 0)[index]
        if out is None:
            return found
        if not isinstance(out, np.ndarray) or out.shape != found.shape or out.dtype != found.dtype:
            what = f"{out.dtype}{out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise Error(f"out: expected an array {found.dtype}{found.shape}, got {what}")
        out[...] = found
        return out

    def render_all(self):
        """RGB, depth and segmentation, each as `render` returns it, of one pass."""
        return self._shoot(color=True, geometry=True)

    def _shoot(self, color, geometry):
        self._check()
        size = self.height, self.width
        if self._data is None:
            nothing = np.full((*size, 2), -1, np.int32)
            return np.zeros((*size, 3), np.uint8), np.full(size, np.inf, np.float32), nothing
        painter, shown, d = self._painter, self._scene, self._data
        painter.scene.append(d, shown.records(self._camera, self.height, ids=not color))
        with self._flagged(color) as (quality, lamps):
            found = painter.shoot(d, self._camera, quality, color=color, geometry=geometry, lamps=lamps)
        picture, depth, record = found
        if not geometry:
            return picture, None, None
        pairs = painter.scene.objects(d).view(np.int64)[:, 0]  # of one number each, which are found sooner
        return picture, depth, pairs[record].view(np.int32).reshape(*record.shape, 2)

    @contextlib.contextmanager
    def _flagged(self, color):
        """Quality and lamps of the sky by the scene's flags; meanwhile mirrors and a sky are there as they say."""
        shown, scene = self._scene, self._painter.scene
        quality, lamps = self._quality, self._lamps
        held = scene.mirrors, scene.skybox
        if color:
            shown.check()
            scene.mirrors = scene.mirrors if shown.has("REFLECTION") else []
            scene.skybox = scene.skybox if shown.has("SKYBOX") else -1
            if not shown.has("SHADOW"):
                quality, lamps = "plain", None
        try:
            yield quality, lamps
        finally:
            scene.mirrors, scene.skybox = held

    def enable_depth_rendering(self):
        """`render` returns depths from now on."""
        self._mode = "depth"

    def disable_depth_rendering(self):
        """`render` returns colours again."""
        self._mode = "color"

    def enable_segmentation_rendering(self):
        """`render` returns object ids and types from now on."""
        self._mode = "segmentation"

    def disable_segmentation_rendering(self):
        """`render` returns colours again."""
        self._mode = "color"

    def close(self):
        """Lets go of the pictures' memory; the Renderer cannot be used any more."""
        self._painter = self._data = None

    def _check(self):
        if self._painter is None:
            raise Error("this Renderer is closed")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
