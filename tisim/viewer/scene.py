"""The list of what is drawn: records of geoms, sites and contact marks, written by kernels from a Data.

The arrays are `pic_*` of tisim/data/arrays.py. Records stand in the order geoms, sites, then two for each contact, then
what tisim/viewer/overlays.py collects.
"""

import weakref

import numpy as np

from tisim.data import varied
from tisim.data.arrays import DATA
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtFrame, mjtLabel, mjtObj, mjtVisFlag
from tisim.errors import Error, UnsupportedError
from tisim.model.tables.colors import GAMMA, geom_colors
from tisim.viewer import overlays, textures
from tisim.viewer.drawing import (
    CONTACT_COLOR,
    checker_colors,
    mark_length,
    site_colors,
)
from tisim.viewer.measures import changes, check_color, color
from tisim.viewer.mjv import MjvOption

GROUPS = (1, 1, 1, 0, 0, 0)  # geoms and sites of groups 0 to 2 are drawn, as in MuJoCo's viewer
PARALLEL = 2000  # records below which one CPU thread writes them
PLANE = 0


class Look:
    """Options of what is drawn.

    color      "geom": the model's colours; "island": what moves is coloured by its island; "asleep": blue if it sleeps,
               orange if not; "speed", "force": by its speed or the normal forces of its contacts, from blue, 0, to red,
               the greatest; "group": all but floors by the geom's group. What sleeps is darker in the others.
    chains     draws rods from the centres of bodies to their contacts, the thicker the more they press.
    contacts   marks contacts with a bead and a stick along the normal.  sites  draws sites.
    alpha      opacity of what moves, times its own.
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
        """What a MjvOption asks to draw of a model.

        Raises UnsupportedError for what pictures do not show; strict  False: that is passed over.
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


def width(name):
    """Numbers of a record in an array."""
    return DATA[f"pic_{name}"].width


def _bits(name, flags):
    flags = np.asarray(flags)
    if flags.shape != (6,):
        raise Error(f"{name}: expected 6 flags, one for each group")
    return int(sum(1 << k for k in range(6) if flags[k]))


KEPT = ("pos", "mat", "size", "kind", "data", "rgba", "second", "tex", "map", "matter")  # arrays of what a record is
PAINTED = "rgba second tex map matter".split()  # those that follow from the model's colours
_owners = weakref.WeakKeyDictionary()  # of each Data: the Scene whose records its arrays hold


class Scene:
    """The records of one model. They lie in the Data; what another Scene writes over is kept here meanwhile.

    n  records;  translucent  whether one may be seen through;  textured  whether textures are shown;  skybox  that of
    the sky, or -1;  mirrors  planes that mirror: record, share.
    """

    def __init__(self, m):
        self.m, self._key, self._kept = m, None, None
        self.translucent = self._clear = self.textured = False
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

        more  further ones: shapes (n,), places (n, 3), rotations (n, 3, 3), sizes (n, 3), colours (n, 4).
        real  colours are those of MuJoCo's pictures, for the light of the model's lamps.
        """
        m = self.m
        self._take(d)
        self._kept = None
        n = m.ngeom + m.nsite
        marks = int(d.count("ncon")) if look.contacts else 0
        pos, mat, size, kind, rgba, self._objects = overlays.collect(m, d, world, look).arrays()
        if more is not None:
            further = more[1], np.reshape(more[2], (-1, 9)), more[3], more[0], more[4], np.full((len(more[0]), 2), -1)
            shown = (pos, mat, size, kind, rgba, self._objects)
            pos, mat, size, kind, rgba, self._objects = (np.concatenate(pair) for pair in zip(shown, further))
        self.marks = n
        self.decor = n + 2 * marks  # behind the marks
        self.n = self.decor + len(pos)
        for name in (*KEPT, "order", "plane"):
            d.scratch(f"pic_{name}", max(1, self.n))
        self._paint(d, look, world, rgba, real)
        k = runtime.kernels("picture.records")
        scalars = dict(picworld=world, picmark=n, piclong=mark_length(m))
        parallel = session.arch != "cpu" or self.n >= PARALLEL
        if m.ngeom:
            launch.run(m, d, [k.list_geoms], parallel=parallel, groups=look.geomgroup, **scalars)
        if m.nsite:
            launch.run(m, d, [k.list_sites], parallel=parallel, groups=look.sitegroup * look.sites, **scalars)
        if marks:
            launch.run(m, d, [k.list_contacts], parallel=parallel, **scalars)
        if len(pos):
            real_type = session.numpy_float()
            for name, values in (("pos", pos), ("mat", mat), ("size", size)):
                memory.upload(d.device(f"pic_{name}"), values.ravel().astype(real_type), self.decor * width(name))
            for name, values in (("kind", kind), ("data", np.full(len(pos), -1))):
                memory.upload(d.device(f"pic_{name}"), values.astype(np.int32), self.decor)

    def _paint(self, d, look, world, decor_rgba, real):
        """Colours, textures and materials of all records; those of the model's own are uploaded once."""
        m = self.m
        changing = changes(m, look.color)
        places = tuple(d.device(f"pic_{name}") for name in PAINTED)
        key = (m.edits, look.alpha, look.static, look.textures, real, changing, self.n, self.decor, *map(id, places),
               session.generation)  # fmt: skip
        if key != self._key:
            self._key = key
            self._paint_model(d, world, look, real)
        if changing and m.ngeom:
            color(m, d, world, look.color)
            scalars = dict(piclit=int(real), picalpha=look.alpha, picstatic=int(look.static))
            parallel = session.arch != "cpu" or m.ngeom >= PARALLEL
            launch.run(m, d, [runtime.kernels("picture.colors").paint_records], parallel=parallel, **scalars)
        self._paint_decor(d, decor_rgba, real)
        self.translucent = self._clear or bool((decor_rgba[:, 3] < 0.999).any())

    def _paint_model(self, d, world, look, real):
        """Uploads what follows from the model: geoms are in their own colours."""
        m = self.m
        rgba, second = np.zeros((max(1, self.n), 4)), np.zeros((max(1, self.n), 3))
        rgba[: m.ngeom] = geom_colors(m)
        moving = np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0
        rgba[: m.ngeom][moving, 3] *= look.alpha
        if not look.static:
            rgba[: m.ngeom][~moving, 3] = 0.0
        rgba[m.ngeom : self.marks] = site_colors(m)
        rgba[self.marks : self.decor] = CONTACT_COLOR
        planes = np.flatnonzero(np.asarray(m.geom_type) == PLANE)
        tex = self._dress(d, world, look, planes, real)
        for g in planes:
            if not real and tex[g] < 0:
                rgba[g, :3], second[g] = checker_colors(m, g)
            else:
                second[g] = rgba[g, :3]
        gamma = 1.0 if real else GAMMA
        rgba[:, :3] **= gamma
        self._upload(d, rgba=rgba, second=second**gamma)
        self._clear = bool((rgba[: self.decor, 3] < 0.999).any())

    def _upload(self, d, **values):
        for name, rows in values.items():
            kind = np.int32 if name == "tex" else session.numpy_float()
            memory.upload(d.device(f"pic_{name}"), rows.reshape(-1).astype(kind))

    def _paint_decor(self, d, rgba, real):
        if len(rgba):
            rgba = np.array(rgba)
            rgba[:, :3] **= 1.0 if real else GAMMA
            memory.upload(d.device("pic_rgba"), rgba.ravel().astype(session.numpy_float()), 4 * self.decor)

    def _dress(self, d, world, look, planes, real):
        """Textures and materials of all records; (n,) texture of each. A plane's chequer is a texture in `real`."""
        m, n = self.m, max(1, self.n)
        material = np.full(n, -1)
        material[: m.ngeom], material[m.ngeom : self.marks] = m.geom_matid, m.site_matid
        tex = textures.of_materials(m, material)
        if not look.textures:
            tex[:] = -1
        if not real:
            chequered = [g for g in planes if tex[g] >= 0 and "rgb1" in m.textures[tex[g]]]
            tex[chequered] = -1
        kind, size, mesh = np.full(n, -1), np.zeros((n, 3)), np.full(n, -1)
        kind[: m.ngeom], kind[m.ngeom : self.marks] = m.geom_type, m.site_type
        size[: m.ngeom], size[m.ngeom : self.marks] = varied.of_world(d, "geom_size", world), m.site_size
        mesh[: m.ngeom] = m.geom_dataid
        self._upload(d, tex=tex, map=textures.maps(m, tex, material, kind, size, mesh))
        self._upload(d, matter=textures.matter(m, material))
        mirrors = textures.reflectance(m, material[planes]) if real else np.zeros(0)
        self.mirrors = [(int(g), float(r)) for g, r in zip(planes, mirrors) if r > 0]
        self.skybox = textures.skybox(m) if real and look.textures else -1
        self.textured = bool((tex >= 0).any()) or self.skybox >= 0
        return tex

    def objects(self):
        """Object id and type (n + 1, 2) int32 of each record; -1 of marks, and of none, which stands last."""
        m = self.m
        out = np.full((self.n + 1, 2), -1, np.int32)
        out[: m.ngeom, 0], out[: m.ngeom, 1] = np.arange(m.ngeom), int(mjtObj.mjOBJ_GEOM)
        out[self.decor : self.n] = self._objects
        out[m.ngeom : self.marks, 0], out[m.ngeom : self.marks, 1] = np.arange(m.nsite), int(mjtObj.mjOBJ_SITE)
        return out
