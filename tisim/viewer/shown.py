"""`renderer.scene`: from where a picture is seen, what is drawn in it, and the geoms that a user adds."""

import operator

import numpy as np

from tisim.device import memory
from tisim.enums import mjtRndFlag
from tisim.errors import Error, FieldError, IdError, UnsupportedError, brief
from tisim.model.tables.colors import GAMMA
from tisim.viewer import added
from tisim.viewer.mjv import MjvGeom
from tisim.viewer.scene import width

ROOM = 1000  # geoms for which there is always room, whatever max_geom says
ON = "SHADOW REFLECTION SKYBOX HAZE CULL_FACE".split()  # what is drawn unless it is forbidden
UNSEEN = "WIREFRAME ADDITIVE FOG SEGMENT".split()  # what pictures in colour cannot be


class View:
    """Where a picture is taken from: pos (3,) [m], forward, up (3,); the frustum at its near plane [m]."""

    def __init__(self, m=None, camera=None):
        self.pos, self.forward, self.up = np.zeros((3, 3))
        self.orthographic, self.frustum_center, self.frustum_width = 0, 0.0, 0.0
        self.frustum_near = self.frustum_far = self.frustum_top = self.frustum_bottom = 0.0
        if camera is not None:
            self.pos, self.forward = (np.array(x, float) for x in (camera.position, camera.forward))
            self.up = np.array(camera.axes[1], float)
            self.frustum_near, self.frustum_far = (float(z * m.stat.extent) for z in (m.vis.map.znear, m.vis.map.zfar))
            self.frustum_top = float(self.frustum_near * np.tan(0.5 * np.radians(camera.fovy)))
            self.frustum_bottom = -self.frustum_top


class DrawnGeom(MjvGeom):
    """A record of what is drawn of a model, as a MjvGeom that is read."""

    def __init__(self, **values):
        super().__init__()
        for name, value in values.items():
            default = self._FIELDS[name]
            value = np.reshape(value, default.shape) if isinstance(default, np.ndarray) else type(default)(value)
            object.__setattr__(self, name, value)
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __setattr__(self, name, value):
        raise FieldError(f"{name} of a geom of the model: it is read here; write the model's, m.geom_rgba and so on, "
                         "and call update_scene")  # fmt: skip


class Shown:
    """What a Renderer draws, with the names of mujoco's MjvScene: `camera`, a View for each eye, which are the same.

    ngeom, geoms  the first are those that update_scene took over, sites and marks among them (a mark may be several),
    which are read; ngeom grows by writing it: those behind are a user's, drawn until the next update_scene.
    maxgeom  how many there is room for, as Renderer was told, or more; it is not a limit.
    flags  by mjtRndFlag: mjRND_SHADOW, mjRND_REFLECTION and mjRND_SKYBOX are drawn unless they are 0; mjRND_HAZE,
    mjRND_CULL_FACE and mjRND_IDCOLOR change nothing, the others are refused when a picture is drawn.
    """

    def __init__(self, max_geom):
        if isinstance(max_geom, (bool, np.bool_)) or not isinstance(max_geom, (int, np.integer)) or max_geom < 0:
            raise Error(f"max_geom={brief(max_geom)}: expected for how many geoms there is to be room")
        self.camera, self.geoms = (View(), View()), Geoms(self)
        self.flags = np.zeros(int(mjtRndFlag.mjNRNDFLAG), np.uint8)
        self.flags[[int(mjtRndFlag[f"mjRND_{name}"]) for name in ON]] = 1
        self._told, self._extra, self._scene, self._data, self._drawn = int(max_geom), 0, None, None, None
        self._own = []  # a user's geoms, made when they are asked for

    def take(self, scene, d, camera):
        """Takes what update_scene took over. scene  a Scene;  d  its Data;  camera  a Camera."""
        self._scene, self._data, self._drawn, self._extra = scene, d, None, 0
        self.camera = View(scene.m, camera), View(scene.m, camera)

    def has(self, flag):
        """Whether a flag of mjtRndFlag is set, by its name without mjRND_."""
        return bool(self.flags[int(mjtRndFlag[f"mjRND_{flag}"])])

    def check(self):
        """Refuses what pictures in colour cannot show."""
        for name in UNSEEN:
            if self.has(name):
                raise UnsupportedError(f"scene.flags: pictures cannot do mjRND_{name}; set its flag to 0")

    @property
    def drawn(self):
        """Places of the records of the model that are drawn."""
        if self._scene is None:
            return np.zeros(0, int)
        if self._drawn is None:
            self._scene.back(self._data)
            n = self._scene.own
            kind, rgba = (memory.part(self._data.device(f"pic_{x}"), 0, n * width(x)) for x in ("kind", "rgba"))
            self._drawn = np.flatnonzero((kind >= 0) & (rgba.reshape(n, 4)[:, 3] > 0))
        return self._drawn

    @property
    def ngeom(self):
        """How many geoms are drawn."""
        return len(self.drawn) + self._extra

    @ngeom.setter
    def ngeom(self, n):
        n, least = operator.index(n), len(self.drawn)
        if n < least:
            raise IdError(f"ngeom={n}: the first {least} are the model's; scene_option tells what of it is drawn")
        self._extra = n - least

    @property
    def maxgeom(self):
        """For how many there is room."""
        return max(self._told, len(self.drawn) + ROOM)

    def records(self, camera, height, ids):
        """The Added of a user's geoms for a picture of this height by a camera; ids  True: those with a segid."""
        geoms = [self.geoms[len(self.drawn) + k] for k in range(self._extra)] if self._extra else []
        if any(g.label for g in geoms):
            raise UnsupportedError("scene.geoms: pictures have no labels; set label to ''")
        if ids:
            geoms = [g for g in geoms if g.segid >= 0]
        per_pixel = 2 * np.tan(0.5 * np.radians(camera.fovy)) / height
        return added.of(geoms, "scene", len(self._drawn) if geoms else 0,
                        lambda at: per_pixel * np.maximum((at - camera.position) @ camera.forward, 0.0))  # fmt: skip

    def _of_model(self, k):
        """Geom k, of the model."""
        place = int(self._drawn[k])
        kind, pos, mat, size, rgba, thing = (
            memory.part(self._data.device(f"pic_{x}"), place * width(x), width(x))
            for x in ("kind", "pos", "mat", "size", "rgba", "thing")
        )
        rgba, size = rgba.astype(float), added.of_mjv(kind[0], size.astype(float))
        rgba[:3] **= 1.0 if self._scene.real else 1 / GAMMA
        return DrawnGeom(type=kind[0], pos=pos.astype(float), mat=mat.astype(float), size=size, rgba=rgba,
                         objid=thing[0], objtype=thing[1], segid=k)  # fmt: skip

    def _of_user(self, k):
        self._own += [MjvGeom() for _ in range(k + 1 - len(self._own))]
        return self._own[k]


class Geoms:
    """The geoms of a Shown, as many as it has room for or draws."""

    def __init__(self, shown):
        self._shown = shown

    def __len__(self):
        return max(self._shown.maxgeom, self._shown.ngeom)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(len(self))))
        i, n = operator.index(i), len(self)
        if not -n <= i < n:
            raise IdError(f"geoms[{i}]: this scene has room for {n}")
        i, first = i % n, len(self._shown.drawn)
        if i >= first:
            return self._shown._of_user(i - first)
        self._shown._scene.back(self._shown._data)
        return self._shown._of_model(i)
