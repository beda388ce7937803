"""The list of what is drawn: records of geoms, sites and contact marks, written by kernels from a Data.

The arrays are `pic_*` of tisim/data/arrays.py. Records stand in the order geoms, sites, then two for each contact.
"""

import weakref

import numpy as np

from tisim.data.arrays import DATA
from tisim.device import launch, memory, runtime, session
from tisim.enums import mjtObj
from tisim.errors import Error
from tisim.viewer.drawing import (
    ASLEEP,
    CONTACT_COLOR,
    PALETTE,
    checker_colors,
    geom_colors,
    island_of_geom,
    mark_length,
    sleeping_geoms,
)  # fmt: skip
from tisim.viewer.measures import MEASURES, ROD, chains, colors_of

COLORS = ("geom", "island", *MEASURES)
GROUPS = (1, 1, 1, 0, 0, 0)  # geoms and sites of groups 0 to 2 are drawn, as in MuJoCo's viewer
GAMMA = 2.2
PARALLEL = 2000  # records below which one CPU thread writes them
PLANE, CYLINDER = 0, 5


class Look:
    """Options of what is drawn.

    color      "geom": the model's colours; "island": what moves is coloured by its island; "speed", "force": by its
               speed or the normal forces of its contacts, from blue, 0, to red, the greatest. What sleeps is darker.
    chains     draws rods from the centres of bodies to their contacts, the thicker the more they press.
    contacts   marks contacts with a bead and a stick along the normal.  sites  draws sites.
    alpha      opacity of what moves, times its own.
    geomgroup, sitegroup  6 flags: which groups are drawn.  static  draws what cannot move.
    """

    def __init__(
        self, color="geom", contacts=False, sites=False, alpha=1.0, geomgroup=GROUPS, sitegroup=GROUPS, chains=False,
        static=True,
    ):  # fmt: skip
        if color not in COLORS:
            raise Error(f"color={color!r}: expected {', '.join(map(repr, COLORS[:-1]))} or {COLORS[-1]!r}")
        self.chains, self.static = bool(chains), bool(static)
        self.color, self.contacts, self.sites, self.alpha = color, bool(contacts), bool(sites), float(alpha)
        self.geomgroup, self.sitegroup = _bits("geomgroup", geomgroup), _bits("sitegroup", sitegroup)


def _width(name):
    """Numbers of a record in an array."""
    return DATA[f"pic_{name}"].width


def _bits(name, flags):
    flags = np.asarray(flags)
    if flags.shape != (6,):
        raise Error(f"{name}: expected 6 flags, one for each group")
    return int(sum(1 << k for k in range(6) if flags[k]))


KEPT = ("pos", "mat", "size", "kind", "data", "rgba", "second")  # arrays of what a record is
_owners = weakref.WeakKeyDictionary()  # of each Data: the Scene whose records its arrays hold


class Scene:
    """The records of one model. They lie in the Data; what another Scene writes over is kept here meanwhile."""

    def __init__(self, m):
        self.m, self._key, self._kept = m, None, None
        self.translucent = False

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
                memory.upload(d.scratch(f"pic_{name}", max(1, self.n)), values[: _width(name) * max(1, self.n)])
            self._kept = None

    def write(self, d, look, world=0, more=None):
        """Writes the records of a world of the Data; self.n is their number.

        more  further ones: shapes (n,), places (n, 3), rotations (n, 3, 3), sizes (n, 3), colours (n, 4).
        """
        m = self.m
        self._take(d)
        self._kept = None
        n = m.ngeom + m.nsite
        marks = int(d.count("ncon")) if look.contacts else 0
        rods = chains(m, d, world) if look.chains else None
        self.marks = n
        self.rods = n + 2 * marks  # behind the marks
        self.more = self.rods + (len(rods[0]) if rods else 0)  # behind the rods
        self.n = self.more + (len(more[0]) if more else 0)
        for name in ("pos", "mat", "size", "kind", "data", "rgba", "second", "order", "plane"):
            d.scratch(f"pic_{name}", max(1, self.n))
        self._paint(d, look, world, more)
        k = runtime.kernels("picture.records")
        scalars = dict(picworld=world, picmark=n, piclong=mark_length(m))
        parallel = session.arch != "cpu" or self.n >= PARALLEL
        if m.ngeom:
            launch.run(m, d, [k.list_geoms], parallel=parallel, groups=look.geomgroup, **scalars)
        if m.nsite:
            launch.run(m, d, [k.list_sites], parallel=parallel, groups=look.sitegroup * look.sites, **scalars)
        if marks:
            launch.run(m, d, [k.list_contacts], parallel=parallel, **scalars)
        if rods:
            middle, turn, radius, half = rods
            size = np.column_stack([radius, half, np.zeros(len(middle))])
            self._list(d, self.rods, np.full(len(middle), CYLINDER), middle, turn, size)
        if more:
            self._list(d, self.more, *more[:4])

    @staticmethod
    def _list(d, first, kind, pos, mat, size):
        """Records that come from the host, from a place on."""
        if not len(kind):
            return
        real = session.numpy_float()
        for name, values in (("pos", pos), ("mat", mat), ("size", size)):
            memory.upload(d.device(f"pic_{name}"), values.reshape(-1).astype(real), first * _width(name))
        for name, values in (("kind", kind), ("data", np.full(len(kind), -1))):
            memory.upload(d.device(f"pic_{name}"), values.astype(np.int32), first)

    def _paint(self, d, look, world, more=None):
        """Colours of all records; those of the model's own are uploaded once."""
        m = self.m
        dark = sleeping_geoms(m, d, world)
        changing = look.color != "geom" or bool(dark.any()) or bool(more)
        rgba_place, second_place = d.device("pic_rgba"), d.device("pic_second")
        key = (m.edits, look.alpha, look.static, self.n, id(rgba_place), id(second_place), session.generation)
        if key == self._key and not changing:
            return
        self._key = None if changing else key
        rgba, second = np.zeros((max(1, self.n), 4)), np.zeros((max(1, self.n), 3))
        rgba[: m.ngeom] = geom_colors(m)
        if look.color == "island":
            labels = island_of_geom(m, d, world)
            rgba[: m.ngeom][labels >= 0, :3] = PALETTE[labels[labels >= 0] % len(PALETTE)]
        elif look.color in MEASURES:
            shades = colors_of(MEASURES[look.color](m, d, world))[np.asarray(m.geom_bodyid)]
            moves = np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] > 0
            rgba[: m.ngeom][moves, :3] = shades[moves]
        rgba[: m.ngeom][dark, :3] *= ASLEEP
        moving = np.asarray(m.body_weldid)[np.asarray(m.geom_bodyid)] != 0
        rgba[: m.ngeom][moving, 3] *= look.alpha
        rgba[: m.ngeom][~moving, 3] *= look.static
        rgba[m.ngeom : self.marks] = np.asarray(m.site_rgba).reshape(-1, 4)
        rgba[self.marks : self.rods] = CONTACT_COLOR
        rgba[self.rods : self.more] = ROD
        if more:
            rgba[self.more : self.n] = more[4]
        for g in np.flatnonzero(np.asarray(m.geom_type) == PLANE):
            rgba[g, :3], second[g] = checker_colors(m, g)
        rgba[:, :3] **= GAMMA
        real = session.numpy_float()
        memory.upload(rgba_place, rgba.reshape(-1).astype(real))
        memory.upload(second_place, (second**GAMMA).reshape(-1).astype(real))
        self.translucent = bool((rgba[: self.n, 3] < 0.999).any())

    def objects(self):
        """Object id and type (n + 1, 2) int32 of each record; -1 of marks, and of none, which stands last."""
        m = self.m
        out = np.full((self.n + 1, 2), -1, np.int32)
        out[: m.ngeom, 0], out[: m.ngeom, 1] = np.arange(m.ngeom), int(mjtObj.mjOBJ_GEOM)
        out[m.ngeom : self.marks, 0], out[m.ngeom : self.marks, 1] = np.arange(m.nsite), int(mjtObj.mjOBJ_SITE)
        return out
