"""The search for pairs, outside the kernels: who takes part, sizes of its keys, how long its pairs serve."""

import types

import numpy as np

from tisim.device import memory
from tisim.model.tables import midphase

from .colliders import PLANE

LEVEL_BITS = (10, 15)  # least and most bits of the sweep coordinate (15: estimated from body width, not tuned)
SKINS = (0.025, 0.1, 0.2)  # by how much a search enlarges boxes, relative to their mean extent: least, first, most
SHORT_LIFE, LONG_LIFE = 6, 40  # steps that its pairs serve, below and above which the next skin is larger or smaller
SWEEP_FOUND = 64  # boxes that meet, found by the thread of a chunk before their filters are asked
QUIET = 4  # times as long, at most, where a search costs so many times as much beside what its pairs do
# where worlds have few boxes, and all no more pairs than boxes: there long lives cost nothing but a few pairs to ask
FEW_BOXES, WIDEST, MUCH_LONGER = 32, 1.6, 8  # boxes; largest skin; times as long
MOST_TIMES = 31  # that a search is repeated
ALIKE = 0.6  # lives of which one is no smaller part of the other are alike
# numbers of Pairs: steps that the present ones served, and all since `renew`; searches to repeat, and repeated since
AGE, STEPS, LEFT, REPEATED = range(4)
REST = 16  # searches without a skin, where things move so fast that not even the largest one pays


class Members:
    """Who takes part in the search: ids, as arrays.

    box      items that have boxes: the first `ncol` enter the sweep, moving geoms (id) and bodies with many geoms
             (ngeom + place in `bodies`); the rest are the geoms of these bodies.
    bodies   bodies with many geoms;  plane, static  planes and bounded static geoms that can collide.
    listed   (n, 2) different pairs of geoms that the model lists, lower first, sorted.
    exclude  (n,) pairs of bodies that the model excludes, 65536 * lower + higher, sorted.
    """

    def __init__(self, m):
        single, self.bodies, grouped, self.static = midphase.sort_out(m)
        self.box = np.concatenate([single, m.ngeom + np.arange(len(self.bodies)), grouped])
        self.ncol = len(single) + len(self.bodies)
        self.plane = np.flatnonzero(midphase.can_collide(m) & (np.asarray(m.geom_type) == PLANE))
        pairs = np.stack([m.pair_geom1, m.pair_geom2], 1).astype(int)
        self.listed = np.unique(np.sort(pairs, 1), axis=0, return_index=True)[0].reshape(-1, 2)  # else it loads np.ma
        self.exclude = np.sort(np.asarray(m.exclude_signature).astype(np.int64) & 0xFFFFFFFF)

    def some(self):
        """Whether there can be any pair."""
        return len(self.listed) > 0 or (len(self.box) > 0 and len(self.box) + len(self.plane) + len(self.static) > 1)

    def upload(self, d):
        """Writes the ids to the device and makes what has their length."""
        for name, ids in dict(
            box_item=self.box, plane_geom=self.plane, static_geom=self.static, listed_geom1=self.listed[:, 0],
            listed_geom2=self.listed[:, 1], exclude_body1=self.exclude >> 16, exclude_body2=self.exclude & 0xFFFF,
        ).items():  # fmt: skip
            memory.upload(d.scratch(name, len(ids)), np.ascontiguousarray(ids, np.int32))
        for name, count in dict(plane=len(self.plane), group=len(self.bodies)).items():
            d.scratch(f"{name}_pos", d.nworld * count)
            d.scratch(dict(plane="plane_normal", group="group_mat")[name], d.nworld * count)
        d.drop("item_boxlo", "item_boxhi", "item_fatlo", "item_fathi", "item_from", "item_ball")

    @property
    def scalars(self):
        return dict(
            nbox=len(self.box), ncol=self.ncol, ngroup=len(self.bodies), nplane=len(self.plane),
            nstatic=len(self.static), nlisted=len(self.listed), nexclude=len(self.exclude),
        )  # fmt: skip


def key_bits(m, nworld, ncol):
    """Bits of the parts of a sweep's key, world, strip, row and place, and of the keys of pairs, as scalars."""
    stripbit = max(0, min(10, int(np.ceil(np.log2(max(1.0, ncol**0.5))))))
    worldbit = int(nworld - 1).bit_length()
    stripbit = min(stripbit, max(0, 31 - LEVEL_BITS[0] - worldbit))
    rowbit = min(stripbit // 2 + 1, max(0, 31 - LEVEL_BITS[0] - worldbit - stripbit))
    cellbit = worldbit + stripbit + rowbit
    levelbit = max(1, min(LEVEL_BITS[1], max(LEVEL_BITS[0], 22 - cellbit), 31 - cellbit))
    return dict(
        nstripbit=stripbit, nrowbit=rowbit, nlevelbit=levelbit, entrybits=cellbit + levelbit,
        geombits=max(1, int(m.ngeom - 1).bit_length()), worldgeombits=max(1, int(m.ngeom * nworld - 1).bit_length()),
    )  # fmt: skip


class Pairs:
    """How long the pairs of the last search have served, and by how much it enlarged boxes.

    of        what they depend on besides poses; None: there are none that may serve.
    age       steps that they have served;  last_age  about how many those of earlier searches did, 0: there were none.
    skin      by how much the search enlarged boxes, relative to their mean extent.

    A search is chosen by Python (`renew`), and then done again as it was (`repeat`), which the Data's program can do,
    too, some times before Python looks again how long pairs serve on the average.
    """

    def __init__(self):
        self.of = None
        self._state = types.SimpleNamespace(host=np.zeros(4, np.int32))  # where a program finds it
        self._times = 0  # how often a search is repeated
        self.last_age = 0
        self.skin = 0.0
        self._chosen, self._widest = SKINS[1], WIDEST
        self._lives = (0, 0, 0)  # steps that the pairs of the last three searches served; 0: there were none
        self._rest = 0  # searches until a skin is tried again

    def renew(self, keep, quiet=1, few=False):
        """Before a search.

        keep   its pairs are meant to serve again.
        quiet  boxes for each that is awake, or twice the boxes for each pair: a search costs for all boxes, a step for
               pairs of which one is awake.
        few    worlds have FEW_BOXES at most, and all no more pairs than boxes.
        """
        if not few and self.skin > SKINS[-1]:  # by this skin they are too many
            self._widest = max(SKINS[-1], 0.5 * self.skin)
        longer, most = (MUCH_LONGER, self._widest) if few else (min(quiet, QUIET), SKINS[-1])
        state, before = self._state.host, self.skin
        number = 1 + int(state[REPEATED])
        life = int(state[STEPS]) // number
        self.skin = self._next_skin(life, number, longer, most) if keep else 0.0
        # behind repeats, launches keep their numbers while lives are alike
        if not keep or number == 1 or not ALIKE * life < self.last_age < life / ALIKE:
            self.last_age = life if keep else 0
        self._times = min(MOST_TIMES, 2 * self._times + 1) if self.skin == before else self._times // 4
        state[:] = 0
        state[LEFT], self.of = self._times, None

    @property
    def alike(self):
        """Whether the next search is to be as the last one was; else it is Python's turn to choose one."""
        return self._state.host[LEFT] > 0

    def repeat(self, d):
        """Before a search alike."""
        state, program = self._state, d.program
        program.asked(state, LEFT, 1, 0, True)
        for place, value in ((LEFT, -1), (REPEATED, 1)):
            state.host[place] += value
            program.added(state, place, 1, value)
        state.host[AGE] = 0
        program.wrote(state, AGE, 1, 0)

    @property
    def age(self):
        return int(self._state.host[AGE])

    def serve(self, d):
        """They have served one more step."""
        self._state.host[: STEPS + 1] += 1
        d.program.added(self._state, AGE, STEPS + 1, 1)

    def _next_skin(self, life, number, longer, most):
        """Skin of the next search, `most` at most, from how long pairs served: those of the last `number` searches for
        `life` steps each; longer: than in an awake heap."""
        self._chosen = min(self._chosen, most)
        if self._rest:
            self._rest = max(0, self._rest - number)
            return 0.0
        self._lives = (*self._lives[1:], life)
        if self._chosen == most and self._lives == (1, 1, 1):
            self._rest = REST
        elif 0 < min(self._lives[1:]) and max(self._lives[1:]) < SHORT_LIFE * longer:
            self._chosen = min(most, 2 * self._chosen)
        elif life > LONG_LIFE * longer:
            self._chosen = max(SKINS[0], 0.5 * self._chosen)
        return self._chosen
