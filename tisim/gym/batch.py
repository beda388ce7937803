"""The worlds of all environments, in one Data or in several blocks that are stepped at the same time."""

import numpy as np

from tisim import pipeline
from tisim.data import on_demand
from tisim.data.data import Data
from tisim.data.state import get_state, restart, write_worlds
from tisim.device import hands, memory, runtime

LEAST = 8  # worlds that are worth a thread of their own
BODIES = 1000  # of all worlds and steps of an action that are worth handing them to threads


class Batch:
    """nworld worlds of a model, numbered from 0 on.

    nstep   steps of an action.
    blocks  in how many Data they lie, None: as many as there are threads for, where that pays.
    datas   these;  first  the number of each block's first world, and of all behind the last.
    by_hands  whether one thread each steps them.
    """

    def __init__(self, m, nworld, nstep, blocks):
        runtime.ensure()
        self.by_hands = hands.number() > 1 if blocks is None else blocks > 1
        if blocks is None:
            pays = nworld >= LEAST * hands.number() and nworld * m.nbody * nstep >= BODIES
            blocks = hands.number() if pays else 1
        blocks = min(blocks, nworld)
        self.model, self.nstep = m, nstep
        self.first = [nworld * k // blocks for k in range(blocks + 1)]
        self.datas = tuple(Data(m, nworld=b - a) for a, b in zip(self.first, self.first[1:]))
        if self.by_hands:
            for hand, d in enumerate(self.datas):
                hands.give(d, hand)
        self._views = {}  # d -> (number of changes, names, their arrays)

    def step(self, ctrl, reads, starts=None, beside=None):
        """An action, of these controls (nworld, nu); copies of the arrays named in `reads` behind them.

        starts  arguments of `reset`, which follows at once;  beside  a function that is called at the same time, of no
                Data of these. Returns these copies by name, and what it returned.
        """
        for name in reads:
            on_demand.check(self.model, name)
        forces = any(name in on_demand.POST_CONSTRAINT for name in reads)
        copies = {name: np.empty((self.first[-1], *a.shape[1:]), a.dtype)
                  for name, a in zip(reads, self._look_at(self.datas[0], reads))}  # fmt: skip
        parts = self._parts(starts[1]) if starts else [None] * len(self.datas)

        def advance(d, first, part):
            pipeline.step(self.model, d, self.nstep)
            if forces:
                on_demand.accelerations(self.model, d)
            for copy, a in zip(copies.values(), self._look_at(d, reads)):
                copy[first : first + d.nworld] = a
            if part:
                restart(self.model, d, starts[0][part[0]], part[1], starts[2])

        for d, first in zip(self.datas, self.first):
            write_worlds(d, "ctrl", np.arange(d.nworld), ctrl[first : first + d.nworld])
        jobs = [lambda args=args: advance(*args) for args in zip(self.datas, self.first, parts)]
        found = hands.at_once([*jobs, beside] if beside else jobs)
        return copies, found[-1] if beside else None

    def reset(self, states, worlds, sig):
        """Resets worlds, by index in ascending order, and sets their states."""
        for d, part in zip(self.datas, self._parts(worlds)):
            if part:
                restart(self.model, d, states[part[0]], part[1], sig)

    def states(self, worlds):
        """The states of worlds, by index in ascending order."""
        return np.concatenate([np.atleast_2d(get_state(self.model, d, worlds=part[1]))
                               for d, part in zip(self.datas, self._parts(worlds)) if part])  # fmt: skip

    def _parts(self, worlds):
        """For each block which of these worlds are in it, and their numbers there; None where there are none."""
        ends = np.searchsorted(worlds, self.first)
        return [(slice(begin, end), worlds[begin:end] - first) if end > begin else None
                for first, begin, end in zip(self.first, ends, ends[1:])]  # fmt: skip

    def _look_at(self, d, names):
        """These arrays of a Data, with the worlds in front; on a CPU its memory, without a copy."""
        if memory.host_view(d.device("counts")) is None:
            return [d.host(name) for name in names]
        changes, kept, views = self._views.get(d, (None, None, None))
        if (changes, kept) != (d._changes, names):
            views = [d.on_host(name) for name in names]  # which may make one
            self._views[d] = d._changes, names, views
        return views
