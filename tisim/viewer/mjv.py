"""What MuJoCo's viewers hand about, with its names: MjvCamera, MjvOption, MjvPerturb, MjvGeom and MjvScene.

Fields and defaults are those of MuJoCo's structures (mjvisualize.h) as far as tisim's window reads them. A name that is
no field is refused, and so are values that do not fit.
"""

import copy

import numpy as np

from tisim.enums import mjtGeom, mjtVisFlag
from tisim.errors import Error, FieldError, IdError, ValuesError, brief

GROUPS = (1, 1, 1, 0, 0, 0)
SHOWN = ("TEXTURE", "TENDON", "RANGEFINDER", "PERTOBJ", "STATIC", "SKIN", "FLEXEDGE", "FLEXSKIN")
STAY = ("objtype", "objid", "segid", "category")  # of a geom: no matter of how it looks
LINE = int(mjtGeom.mjGEOM_LINE)


class Fields:
    """An object with the fields of _FIELDS: numbers, texts, and arrays of a fixed shape."""

    _FIELDS = {}

    def __init__(self):
        for name, value in self._FIELDS.items():
            object.__setattr__(self, name, value.copy() if isinstance(value, np.ndarray) else value)

    def __getattr__(self, name):
        raise FieldError(f"{type(self).__name__} has no field {brief(name)}; it has {', '.join(self._FIELDS)}")

    def __setattr__(self, name, value):
        kind = type(self).__name__
        if name not in self._FIELDS:
            raise FieldError(f"{kind} has no field {brief(name)}; it has {', '.join(self._FIELDS)}")
        default = self._FIELDS[name]
        try:
            if isinstance(default, np.ndarray):
                getattr(self, name)[...] = np.reshape(value, default.shape)
            else:
                object.__setattr__(self, name, type(default)(value))
        except (TypeError, ValueError):
            what = f"numbers of shape {default.shape}" if isinstance(default, np.ndarray) else type(default).__name__
            raise ValuesError(f"{kind}.{name}: expected {what}, got {brief(value)}") from None

    def __copy__(self):
        new = type(self).__new__(type(self))
        new.__dict__.update({k: copy.deepcopy(v) for k, v in self.__dict__.items()})
        return new

    def __repr__(self):
        lines = (f"  {k}: {getattr(self, k)}" for k in self._FIELDS)
        return "\n".join([f"<{type(self).__name__}", *lines, ">"])


class MjvCamera(Fields):
    """From where a window looks.

    type  mjtCamera: free, tracking or fixed;  fixedcamid, trackbodyid  camera and body of the latter two.
    lookat (3,) [m], distance [m], azimuth, elevation [degree]  of a free or tracking camera.
    """

    _FIELDS = dict(
        type=0, fixedcamid=-1, trackbodyid=-1, lookat=np.zeros(3), distance=2.0, azimuth=90.0, elevation=-45.0,
        orthographic=0,
    )  # fmt: skip


def _flags():
    flags = np.zeros(int(mjtVisFlag.mjNVISFLAG), np.uint8)
    flags[[int(mjtVisFlag[f"mjVIS_{name}"]) for name in SHOWN]] = 1
    return flags


class MjvOption(Fields):
    """What a window draws: groups (6,), flags by mjtVisFlag, whose labels (mjtLabel) and frames (mjtFrame)."""

    _FIELDS = dict(
        label=0, frame=0, **{f"{name}group": np.array(GROUPS, np.uint8)
                             for name in ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")},
        flags=_flags(), bvh_depth=1, flex_layer=0,
    )  # fmt: skip


class MjvPerturb(Fields):
    """Which body the mouse holds, and how.

    select  body id, 0 or less: none;  active, active2  mjtPertBit: pulled, turned.
    localpos (3,)  where it is held, in the body's frame [m];  refselpos (3,)  where that point is pulled to [m].
    refpos (3,), refquat (4,)  where its inertial frame is to be;  localmass  felt at that point [kg];  scale  metres of
    the world for the height of the picture.
    """

    _FIELDS = dict(
        select=0, flexselect=-1, skinselect=-1, active=0, active2=0, refpos=np.zeros(3),
        refquat=np.array([1.0, 0, 0, 0]), refselpos=np.zeros(3), localpos=np.zeros(3), localmass=0.0, scale=1.0,
    )  # fmt: skip


class MjvGeom(Fields):
    """Something drawn beside the model: type (mjtGeom), size (3,), pos (3,), mat (3, 3), rgba (4,), label."""

    _FIELDS = dict(
        type=int(mjtGeom.mjGEOM_NONE), dataid=-1, matid=-1, objtype=0, objid=0, category=0, texcoord=0, segid=0,
        size=np.full(3, 0.1), pos=np.zeros(3), mat=np.eye(3), rgba=np.array([0.5, 0.5, 0.5, 1.0]),
        emission=0.0, specular=0.5, shininess=0.5, reflectance=0.0, label="", transparent=0, camdist=0.0,
        modelrbound=0.0,
    )  # fmt: skip


class _Geoms:
    """The first `maxgeom` geoms of a scene, made when they are asked for."""

    def __init__(self, maxgeom):
        self._max, self._made = maxgeom, []

    def __len__(self):
        return self._max

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._max))]
        if not -self._max <= i < self._max:
            raise IdError(f"geoms[{i}]: this scene holds {self._max}")
        i = int(i) % self._max
        self._made += [MjvGeom() for _ in range(i + 1 - len(self._made))]
        return self._made[i]


class MjvScene:
    """Geoms that a user adds to what is drawn: the first `ngeom` of `geoms`, of which there are `maxgeom`."""

    def __init__(self, model=None, maxgeom=1000):
        if isinstance(maxgeom, bool) or not isinstance(maxgeom, (int, np.integer)) or maxgeom < 0:
            raise Error(f"maxgeom={brief(maxgeom)}: expected how many geoms the scene can hold")
        self.maxgeom, self.geoms, self._ngeom = int(maxgeom), _Geoms(int(maxgeom)), 0

    @property
    def ngeom(self):
        """How many are drawn."""
        return self._ngeom

    @ngeom.setter
    def ngeom(self, n):
        if not isinstance(n, (int, np.integer)):
            raise ValuesError(f"ngeom={brief(n)}: expected how many geoms are drawn")
        if not 0 <= n <= self.maxgeom:
            raise IdError(f"ngeom={n}: this scene holds {self.maxgeom} geoms")
        self._ngeom = int(n)


def mjv_init_geom(geom, type, size, pos, mat, rgba):
    """Sets a geom of a scene; what is None keeps its default. objtype, objid, segid and category stay.

    type  mjtGeom;  size (3,) [m];  pos (3,) [m];  mat (9,) or (3, 3);  rgba (4,).
    """
    fresh = MjvGeom()
    fresh.type = int(type)
    for name, value in dict(size=size, pos=pos, mat=mat, rgba=rgba).items():
        if value is not None:
            setattr(fresh, name, value)
    geom.__dict__.update({name: value for name, value in vars(fresh).items() if name not in STAY})


def mjv_initGeom(geom, type, size, pos, mat, rgba):
    """mjv_init_geom by MuJoCo's name; arguments as in mjv_init_geom."""
    mjv_init_geom(geom, type, size, pos, mat, rgba)


def mjv_defaultCamera(cam):
    """Gives cam, a MjvCamera, the values that a new one has."""
    _renew(cam, MjvCamera)


def mjv_defaultOption(opt):
    """Gives opt, a MjvOption, the values that a new one has."""
    _renew(opt, MjvOption)


def mjv_defaultPerturb(pert):
    """Gives pert, a MjvPerturb, the values that a new one has."""
    _renew(pert, MjvPerturb)


def _renew(given, kind):
    if not isinstance(given, kind):
        raise Error(f"expected a {kind.__name__}, got {type(given).__name__}")
    for name, value in kind._FIELDS.items():
        setattr(given, name, value)


def mjv_connector(geom, type, width, from_, to):
    """Makes a geom of a scene go from one point to another.

    type  mjtGeom: a capsule, cylinder, arrow or line;  width  its radius [m], a line's [pixel];  from_, to  (3,) [m].
    """
    from tisim.mjcf import rotations

    a, b = np.reshape(from_, 3).astype(float), np.reshape(to, 3).astype(float)
    length = float(np.linalg.norm(b - a))
    long = int(type) in (int(mjtGeom.mjGEOM_ARROW), int(mjtGeom.mjGEOM_ARROW1), int(mjtGeom.mjGEOM_ARROW2), LINE)
    geom.type = int(type)
    geom.size = [width, width, length if long else 0.5 * length]
    geom.pos = a if long else 0.5 * (a + b)
    geom.mat = rotations.matrix(rotations.from_z(b - a if length > 0 else np.array([0, 0, 1.0])))
