"""The worlds of all environments, in one Data or in several blocks that are stepped at the same time."""

import numpy as np

from tisim import pipeline
from tisim.data import on_demand
from tisim.data.data import Data
from tisim.data.state import get_state, restart
from tisim.device import hands, runtime

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

    def step(self, ctrl, reads, starts=None, beside=None):
        """An action, of these controls (nworld, nu); copies of the arrays named in `reads` behind them.

        starts  arguments of `reset`, which follows at once;  beside  a function that is called at the same time, of no
                Data of these. Returns these copies by name, and what it returned.
        """
        forces = any(name in on_demand.POST_CONSTRAINT for name in reads)

        def advance(d, ctrl):
            d.ctrl = ctrl[0] if d.nworld == 1 else ctrl
            pipeline.step(self.model, d, self.nstep)
            if forces:
                on_demand.post_constraint(self.model, d)
            copies = [d.host(name) for name in reads]
            if starts is not None:
                self.reset(*starts, only=d)
            return copies

        jobs = [lambda d=d, a=a: advance(d, ctrl[a : a + d.nworld]) for d, a in self._blocks()]
        *found, other = hands.at_once([*jobs, beside]) if beside else (*hands.at_once(jobs), None)
        return dict(zip(reads, found[0] if len(found) == 1 else map(np.concatenate, zip(*found)))), other

    def reset(self, states, worlds, sig, only=None):
        """Resets worlds, by index in ascending order, and sets their states; only: those of a Data."""
        for d, rows, index in self._parts(worlds):
            if only is None or only is d:
                restart(self.model, d, states[rows], index, sig)

    def states(self, worlds):
        """The states of worlds, by index in ascending order."""
        return np.concatenate([np.atleast_2d(get_state(self.model, d, worlds=index))
                               for d, _, index in self._parts(worlds)])  # fmt: skip

    def _blocks(self):
        return zip(self.datas, self.first)

    def _parts(self, worlds):
        """(Data, which of these worlds are in it, their numbers there) of each block that has some."""
        ends = np.searchsorted(worlds, self.first)
        for d, a, begin, end in zip(self.datas, self.first, ends, ends[1:]):
            if end > begin:
                yield d, slice(begin, end), worlds[begin:end] - a
