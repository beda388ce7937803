"""The list of what is drawn: records of geoms, sites and overlays, written by kernels from a Data.

The arrays are `pic_*` of tisim/data/arrays/pictures.py. Records stand in the order geoms, sites, what
tisim/viewer/overlays.py lists, and a few that the host makes.
"""

import weakref

import numpy as np

from tisim.data import varied
from tisim.data.arrays import DATA
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtFrame, mjtLabel, mjtVisFlag
from tisim.errors import Error, UnsupportedError
from tisim.model.tables.colors import GAMMA, geom_colors, site_colors
from tisim.viewer import overlays, textures
from tisim.viewer.drawing import checker_colors, moving_bodies
from tisim.viewer.measures import changes, check_color, color
from tisim.viewer.mjv import MjvOption

GROUPS = (1, 1, 1, 0, 0, 0)  # geoms and sites of groups 0 to 2 are drawn, as in MuJoCo's viewer
PARALLEL = 2000  # records below which one CPU thread writes them
PLANE = 0
CLEAR = 0.999  # opacity below which something may be seen through


class Look:
    """Options of what is drawn.

    color      "geom": the model's colours; "island": what moves is coloured by its island; "asleep": blue if it sleeps,
               orange if not; "speed", "force": by its speed or the normal forces of its contacts, from blue, 0, to red,
               the greatest; "group": all but floors by the geom's group. What sleeps is darker in the others.
    chains     draws rods from the centres of bodies to their contacts, the thicker the more they press.
    contacts   marks contacts with a bead and a stick along the normal.  sites  draws sites.
    alpha      opacity of what moves and of tendons, times their own.
    geomgroup, sitegroup  6 flags: which groups are drawn.
    tendons    draws tendons;  textures  shows textures;  hulls  draws edges of the convex hulls of meshes.
    `Look.of(option, m)` makes one of a MjvOption.
    """

    static = True  # draws what cannot move
    contactpoints = contactforces = contactsplit = rangefinders = joints = com = inertia = equalities = False
    cameras = lights = hulls = False
    frame = int(mjtFrame.mjFRAME_NONE)
    tendongroup = jointgroup = np.array(GROUPS, bool)

    def __init__(
        self, color="geom", contacts=False, sites=False, alpha=1.0, geomgroup=GROUPS, sitegroup=GROUPS, chains=False,
        tendons=True, textures=True, hulls=False,
    ):  # fmt: skip
        check_color(color)
        self.chains, self.tendons, self.textures = bool(chains), bool(tendons), bool(textures)
        self.hulls = bool(hulls)
        self.color, self.contacts, self.sites, self.alpha = color, bool(contacts), bool(sites), float(alpha)
        self.geomgroup, self.sitegroup = _bits("geomgroup", geomgroup), _bits("sitegroup", sitegroup)

    @classmethod
    def of(cls, option, m, strict=True):
        """What is to be drawn of a model.

        option  a MjvOption;  strict  False: what pictures do not show is passed over.
        Raises UnsupportedError for what pictures do not show.
        """
        asked = {VISIBLE[k] for k in np.flatnonzero(option.flags)}
        for flag in UNSEEN_FLAGS:
            if strict and mjtVisFlag[f"mjVIS_{flag}"] in asked:
                raise UnsupportedError(f"scene_option: pictures do not show mjVIS_{flag}; set its flag to 0")
        if strict and option.label != mjtLabel.mjLABEL_NONE:
            raise UnsupportedError("scene_option: pictures have no labels; set label to mjtLabel.mjLABEL_NONE")
        if not 0 <= option.frame < mjtFrame.mjNFRAME:
            raise Error(f"scene_option: frame={option.frame} is none of mjtFrame")
        shown = {name: flag in asked for name, flag in FLAGS.items()}
        look = cls("island" if mjtVisFlag.mjVIS_ISLAND in asked else "geom", sites=True,
                   alpha=m.vis.map.alpha if mjtVisFlag.mjVIS_TRANSPARENT in asked else 1.0,
                   geomgroup=option.geomgroup, sitegroup=option.sitegroup)  # fmt: skip
        look.frame = int(option.frame)
        look.tendongroup, look.jointgroup = (np.array(g, bool) for g in (option.tendongroup, option.jointgroup))
        for name, value in shown.items():
            setattr(look, name, value)
        return look


# attributes of a Look by the flag of mjtVisFlag; flags that need what pictures have not; the rest show nothing here:
# skins and flexes, and what a mouse has selected
FLAGS = dict(
    textures="TEXTURE", tendons="TENDON", rangefinders="RANGEFINDER", contactpoints="CONTACTPOINT",
    contactforces="CONTACTFORCE", contactsplit="CONTACTSPLIT", joints="JOINT", com="COM", inertia="INERTIA",
    cameras="CAMERA", lights="LIGHT", static="STATIC", equalities="CONSTRAINT", hulls="CONVEXHULL",
)  # fmt: skip
VISIBLE = [k for k in mjtVisFlag if k != mjtVisFlag.mjNVISFLAG]
FLAGS = {name: mjtVisFlag[f"mjVIS_{flag}"] for name, flag in FLAGS.items()}
UNSEEN_FLAGS = "ACTUATOR ACTIVATION SCLINERTIA AUTOCONNECT FLEXVERT FLEXFACE BODYBVH MESHBVH SDFITER".split()


def look_of(option, m):
    """A Look of what a user gave: None, a Look or a MjvOption."""
    if option is None or isinstance(option, MjvOption):
        return Look.of(option or MjvOption(), m)
    if not isinstance(option, Look):
        raise Error(f"scene_option: expected a MjvOption or a tisim.viewer.Look, got {type(option).__name__}")
    return option


def everything():
    """Looks that show all that there is: all but frames of contacts, and those."""
    look, other = Look(contacts=True, sites=True, chains=True), Look()
    for name in FLAGS:
        setattr(look, name, True)
    look.frame, other.frame = int(mjtFrame.mjFRAME_BODY), int(mjtFrame.mjFRAME_CONTACT)
    return look, other


def width(name):
    """Numbers of a record in an array."""
    return DATA[f"pic_{name}"].width


def _bits(name, flags):
    flags = np.asarray(flags)
    if flags.shape != (6,):
        raise Error(f"{name}: expected 6 flags, one for each group")
    return int(sum(1 << k for k in range(6) if flags[k]))


KEPT = "pos mat size kind data thing rgba second tex map matter".split()  # arrays of what a record is
PAINTED = "rgba second tex map matter".split()  # those that follow from the model's colours
_owners = weakref.WeakKeyDictionary()  # of each Data: the Scene whose records its arrays hold


class Scene:
    """The records of one model. They lie in the Data; what another Scene writes over is kept here meanwhile.

    n  records, own  of them those of `write`;  real  colours are those of MuJoCo's pictures;  translucent  whether one
    may be seen through;  textured  whether textures are shown;  skybox  that of the sky, or -1;  mirrors  planes that
    mirror: record, share.
    """

    def __init__(self, m):
        self.m, self._key, self._kept, self.n, self.own, self.real = m, None, None, 0, 0, False
        self.translucent = self._clear = self._through = self.textured = False
        self.skybox, self.mirrors = -1, []

    def _take(self, d):
        """Makes the Data's arrays those of this Scene."""
        last = _owners.get(d)
        last = last() if last else None
        if last is not self:
            if last is not None:
                last._kept = {name: memory.download(d.device(f"pic_{name}")).copy() for name in KEPT}
            self._key = None
            _owners[d] = weakref.ref(self)

    def back(self, d):
        """Brings the records that `write` wrote back, if another Scene has written since."""
        self._take(d)
        if self._kept:
            for name, values in self._kept.items():
                memory.upload(d.scratch(f"pic_{name}", max(1, self.n)), values[: width(name) * max(1, self.n)])
            self._kept = None

    def write(self, d, look, world=0, more=None, real=False):
        """Writes the records of a world of the Data; self.n is their number.

        more  further ones: shapes (n,), places (n, 3), rotations (n, 9), sizes (n, 3), colours (n, 4).
        real  colours are those of MuJoCo's pictures, for the light of the model's lamps.
        """
        m, self.real = self.m, real
        shown, more = self._begin(d, look, world, more)
        self._room(d, m.ngeom + m.nsite + shown.n + sum(len(part[0]) for part in more))
        self._paint(d, look, world, real)
        k = runtime.kernels("picture.records")
        parallel = session.arch != "cpu" or self.n >= PARALLEL
        if m.ngeom:
            launch.run(m, d, [k.list_geoms], parallel=parallel, groups=look.geomgroup, picworld=world)
        if m.nsite:
            groups = look.sitegroup * look.sites
            launch.run(m, d, [k.list_sites], parallel=parallel, groups=groups, picworld=world, picat=m.ngeom)
        self._list(d, shown, more, m.ngeom + m.nsite, real)
        self._through = self._clear or shown.clear() or any((part[4][:, 3] < CLEAR).any() for part in more)
        self.translucent = self._through

    def append(self, d, more):
        """Puts the records of an Added (added.py) behind those of `write`, in place of those of the last call."""
        self.back(d)
        self.n = self.own + len(more.kind)
        self.translucent = self._through or bool((more.rgba[:, 3] < CLEAR).any())
        if self.n == self.own:
            return
        for name in (*KEPT, "plane"):
            place = d.device(f"pic_{name}")
            if place.numbers < self.n * width(name):
                own = memory.part(place, 0, self.own * width(name))
                memory.upload(d.scratch(f"pic_{name}", self.n), own)
        self._put(d, self.own, more.part, self.real, thing=more.thing, matter=more.matter)

    def write_overlays(self, d, look, world=0, more=None):
        """Writes what stands besides the geoms only, as write does, behind the places of geoms and sites, and returns
        the first such place; colours are as they are, and sites are listed there once more.

        look  None: only what is in `more`.
        """
        m = self.m
        shown, more = self._begin(d, look, world, more)
        first = m.ngeom + m.nsite
        sites = m.nsite if look is not None and look.sites else 0
        at = first + shown.n
        self.n = at + sites + sum(len(part[0]) for part in more)
        if self.n == first:
            return first
        self._room(d, self.n)
        self._list(d, shown, more, first, True, sites)
        if sites:
            scalars = dict(picworld=world, picat=at, groups=look.sitegroup, piclit=1, picalpha=look.alpha,
                           picstatic=int(look.static))  # fmt: skip
            kernels = [runtime.kernels("picture.overlays").dress_sites, runtime.kernels("picture.records").list_sites]
            launch.run(m, d, kernels, parallel=session.arch != "cpu" or sites >= PARALLEL, **scalars)
        return first

    def _begin(self, d, look, world, more):
        """What overlays there are, and the further records."""
        self._take(d)
        self._kept = None
        shown = overlays.Overlays(self.m, d, world, look)
        return shown, [part for part in (shown.few.arrays(), more) if part is not None and len(part[0])]

    def _room(self, d, n):
        """Makes room for n records."""
        self.n = self.own = n
        for name in (*KEPT, "plane"):
            d.scratch(f"pic_{name}", max(1, n))

    def _list(self, d, shown, more, at, real, between=0):
        """Overlays from place `at` on, and, behind as many places as `between`, further records."""
        shown.list(at, real)
        at += shown.n + between
        for part in more:
            self._put(d, at, part, real)
            at += len(part[0])

    def _put(self, d, at, part, real, **others):
        """Writes records that the host made from a place on; others  arrays that are not those of marks."""
        kind, pos, mat, size, rgba = part
        n, rgba = len(kind), np.array(rgba, float)
        rgba[:, :3] **= 1.0 if real else GAMMA
        values = dict(kind=kind, pos=pos, mat=mat, size=size, rgba=rgba, second=np.zeros((n, 3)),
                      map=np.zeros((n, 3)), matter=textures.matter(self.m, np.full(n, -1)), tex=np.full(n, -1),
                      data=np.full(n, -1), thing=np.full((n, 2), -1))  # fmt: skip
        for name, rows in (values | others).items():
            self._upload(d, at, name, rows)

    def _paint(self, d, look, world, real):
        """Colours, textures and materials of geoms and sites; those of the model's own are uploaded once."""
        m = self.m
        changing = changes(m, look.color)
        places = tuple(d.device(f"pic_{name}") for name in PAINTED)
        key = (m.edits, look.alpha, look.static, look.textures, real, changing, *map(id, places), session.generation)
        if key != self._key:
            self._key = key
            self._paint_model(d, world, look, real)
        if changing and m.ngeom:
            color(m, d, world, look.color)
            scalars = dict(piclit=int(real), picalpha=look.alpha, picstatic=int(look.static))
            parallel = session.arch != "cpu" or m.ngeom >= PARALLEL
            launch.run(m, d, [runtime.kernels("picture.colors").paint_records], parallel=parallel, **scalars)

    def _paint_model(self, d, world, look, real):
        """Uploads what follows from the model: geoms are in their own colours."""
        m, n = self.m, self.m.ngeom + self.m.nsite
        rgba, second = np.zeros((max(1, n), 4)), np.zeros((max(1, n), 3))
        rgba[: m.ngeom], rgba[m.ngeom : n] = geom_colors(m), site_colors(m)
        moving = moving_bodies(m)[np.append(m.geom_bodyid, m.site_bodyid)]
        rgba[:n][moving, 3] *= look.alpha
        if not look.static:
            rgba[:n][~moving, 3] = 0.0
        planes = np.flatnonzero(np.asarray(m.geom_type) == PLANE)
        tex = self._dress(d, world, look, planes, real)
        for g in planes:
            if not real and tex[g] < 0:
                rgba[g, :3], second[g] = checker_colors(m, g)
            else:
                second[g] = rgba[g, :3]
        gamma = 1.0 if real else GAMMA
        rgba[:, :3] **= gamma
        self._upload(d, 0, "rgba", rgba)
        self._upload(d, 0, "second", second**gamma)
        self._clear = bool((rgba[:n, 3] < CLEAR).any())

    def _upload(self, d, at, name, rows):
        """Writes an array's rows from a record on."""
        kind = session.numpy_float() if DATA[f"pic_{name}"].dtype == "f" else np.int32
        rows = np.ascontiguousarray(rows).reshape(-1).astype(kind)
        memory.upload(d.device(f"pic_{name}"), rows, at * width(name))

    def _dress(self, d, world, look, planes, real):
        """Textures and materials of geoms and sites; (n,) texture of each. A plane's chequer is a texture in `real`."""
        m, n = self.m, max(1, self.m.ngeom + self.m.nsite)
        material, sites = np.full(n, -1), slice(m.ngeom, m.ngeom + m.nsite)
        material[: m.ngeom], material[sites] = m.geom_matid, m.site_matid
        tex = textures.of_materials(m, material)
        if not look.textures:
            tex[:] = -1
        if not real:
            chequered = [g for g in planes if tex[g] >= 0 and "rgb1" in m.textures[tex[g]]]
            tex[chequered] = -1
        kind, size, mesh = np.full(n, -1), np.zeros((n, 3)), np.full(n, -1)
        kind[: m.ngeom], kind[sites] = m.geom_type, m.site_type
        size[: m.ngeom], size[sites] = varied.of_world(d, "geom_size", world), m.site_size
        mesh[: m.ngeom] = m.geom_dataid
        self._upload(d, 0, "tex", tex)
        self._upload(d, 0, "map", textures.maps(m, tex, material, kind, size, mesh))
        self._upload(d, 0, "matter", textures.matter(m, material))
        mirrors = textures.reflectance(m, material[planes]) if real else np.zeros(0)
        self.mirrors = [(int(g), float(r)) for g, r in zip(planes, mirrors) if r > 0]
        self.skybox = textures.skybox(m) if real and look.textures else -1
        self.textured = bool((tex >= 0).any()) or self.skybox >= 0
        return tex

    def objects(self, d):
        """Object id and type (n + 1, 2) int32 of each record; -1 of marks, and of none, which stands last."""
        out = np.full((self.n + 1, 2), -1, np.int32)
        out[: self.n] = memory.part(d.device("pic_thing"), 0, 2 * self.n).reshape(-1, 2)
        return out
