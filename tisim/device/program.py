"""The stages of a step as one table that machine code works through: recorded while Python runs them, then repeated.

What a stage launches follows from the model and from a few counts: is a list long enough, are there islands? While
Python runs a stage, its launches are noted, and between them what it asked of counts (`Data.exceeds`, `Data.some`) with
the answers, and what it wrote (`Data.set_counts`, `Data.fill`). The table launches the same and asks the same; at
another answer it stops, Python runs that stage from its beginning, and the table goes on behind it. So every stage is
one that can be done again. One that did what no table holds, such as letting a list grow, says so (`spoil`).

All else that stages depend on is in the token: records are dropped when the model, its options or an array changes.
Only the CPU's machine code (native.py) is repeated; elsewhere Python runs all stages of every step.
"""

import bisect
import contextlib
import functools
import time

import numpy as np

from . import native, team
from .clock import END, PYTHON, Clock

STEPS = 256  # of a single body that one call repeats at first, and where processors are shared
SECONDS, MANY = 0.01, 1 << 16  # that a call takes at most, as far as one can tell: an interrupt waits so long; steps
LEAST, MOST = -(1 << 31), (1 << 31) - 1
_outdated = 0  # counts changes of what records depend on beside a model and its Data


def outdate():
    """Lets no record that there is be used again, of any Data."""
    global _outdated
    _outdated += 1


class Program:
    """Records of the stages of one Data, by the stage's place in a step."""

    def __init__(self, d):
        self._records, self._tables = {}, {}  # {stage: _Record}, {range of stages: _Table}
        self._notes = None  # of the stage that runs, if it is one to be repeated
        self._token = None
        self.clock = Clock()
        self._few = self._steps = max(1, STEPS // (d.nworld * d.model.nbody))

    # ---- a record is made

    def start(self):
        """Begins the record of a stage."""
        self._notes = [] if native.road() else None

    def keep(self, stage):
        """Ends the record of this stage."""
        if self.clock.running:
            self.tick(END)
            self.clock.stage = None
        notes, self._notes = self._notes, None
        if notes is None or stage not in self._records or not self._records[stage].says(notes):
            self._drop([stage])
            if notes is not None:
                self._tables.clear()
                self._records[stage] = _Record(notes)

    def spoil(self):
        """The stage that runs does what no record holds: Python runs it in the next step, too."""
        self._notes = None

    @contextlib.contextmanager
    def aside(self):
        """What is noted within it is no part of what is repeated."""
        notes = self._notes
        self._notes = None if notes is None else [*notes]
        yield
        if self._notes is not None:
            self._notes = notes

    def launched(self, bound, parallel):
        """Notes a launch."""
        if self._notes is not None:
            if isinstance(bound, native.Bound):
                self._notes.append((bound, bool(parallel)))
            else:
                self.spoil()

    def asked(self, array, first, n, limit, answer):
        """Notes that a stage asked whether one of n numbers of an array, of int32, is above a limit, with the answer.

        Of several numbers each has to be if the answer is yes: that only one is can change without being noticed.
        """
        if self._notes is not None:
            limit = min(limit, MOST - 1)
            a, b = (limit + 1, MOST) if answer else (LEAST, limit)
            self._notes.append((array.host, native.road().outside, first, n, a, b, 1))

    def wrote(self, array, first, n, value):
        """Notes that a stage wrote a value to n numbers of an array."""
        if self._notes is not None:
            self._notes.append((array.host, native.road().fill, first, n, value, 0, 0))

    def counted(self, numbers):
        """Notes that a stage added 1 to each number of a NumPy array of int32."""
        if self._notes is not None:
            self._notes.append((numbers, native.road().add, 0, len(numbers), 1, 0, 0))

    def tick(self, what):
        """Notes that time was charged here, and charges it."""
        place = self.clock.tick(what)
        if self._notes is not None:
            self._notes.append((self.clock.words, native.road().tick, 0, place, 0, 0, 0))

    # ---- records are dropped

    def drop(self):
        """Drops all records, that of the stage that runs, too."""
        self._notes = None
        self._drop(list(self._records))

    def drop_uses(self, bound):
        """Drops records in which these launches stand: their numbers are others from now on."""
        if any(note[0] is bound for note in self._notes or ()):
            self.spoil()
        if bound.recorded:
            self._drop([s for s, record in self._records.items() if any(note[0] is bound for note in record.notes)])

    def _drop(self, stages):
        for stage in stages:
            if stage in self._records:
                self._tables.clear()
                del self._records[stage]

    # ---- records are repeated

    def run(self, m, d, stages, at, times):
        """Repeats records of `stages`, a range, so often in all, beginning at one of them.

        Returns (the stage that Python is to run now, how often the last one was reached).
        """
        token = d.check(m), m.decisions(), _outdated, team.workers()
        if token != self._token:
            self.drop()
            self._token = token
        if at not in self._records:
            return at, 0
        table, times = self._tables.get(stages), min(times, self._few if team.rests() else self._steps)
        if table is None:
            table = self._tables[stages] = _Table(self._records, stages)
        if self.clock.running:
            self.clock.tick(PYTHON)
        place, began = table.first[at - stages.start], time.perf_counter()
        called = table.call(d, place, table.length * times - place)
        if not called:  # it begins with a question whose answer is another now
            return at, 0
        place += called
        done, place = divmod(place, table.length)
        self._pace(done, time.perf_counter() - began)
        return table.stage_of(place) if place else stages.start, done

    def _pace(self, done, seconds):
        """Chooses how many steps a call repeats at most, behind one that did so many in so long."""
        if done == self._steps and seconds < SECONDS / 2:
            self._steps = min(2 * self._steps, MANY)
        elif seconds > SECONDS:
            self._steps = max(self._steps // 2, self._few)


class _Record:
    """What a stage launched, asked and wrote: notes that begin with a Bound, or with the numbers in question."""

    def __init__(self, notes):
        self.notes = notes
        for what, *_ in notes:
            if isinstance(what, native.Bound):
                what.recorded = True

    @property
    def parallel(self):
        """Whether one of its launches is worth waking threads."""
        return any(note[1] for note in self.notes if isinstance(note[0], native.Bound))

    def says(self, notes):
        """Whether these are the same notes."""
        both = zip(self.notes, notes)
        return len(self.notes) == len(notes) and all(a[0] is b[0] and a[1:] == b[1:] for a, b in both)

    @functools.cached_property
    def rows(self):
        """Rows of a table: address of a function, of its context, whether its answer is looked at."""
        rows = []
        self._contexts = np.zeros((len(self.notes), 3), np.uint64)
        for context, (what, *rest) in zip(self._contexts, self.notes):
            if isinstance(what, native.Bound):
                rows.append(what.tables[rest[0]])
                continue
            function, first, n, a, b, asks = rest
            context[:] = what.ctypes.data + 4 * first, n, (a & 0xFFFFFFFF) | (b & 0xFFFFFFFF) << 32
            rows.append(np.array([[function, context.ctypes.data, asks]], np.uint64))
        return np.concatenate([np.zeros((0, 3), np.uint64), *rows])


class _Table:
    """The records of stages, one behind the other; it stops where there is none.

    first  place of each stage's first entry;  length  entries in all.
    """

    def __init__(self, records, stages):
        self.stages, road = stages, native.road()
        stop = _Record([(np.ones(1, np.int32), road.outside, 0, 1, 0, 0, 1)])
        self._records = [records.get(s, stop) for s in stages]
        parts = [record.rows for record in self._records]
        self._parallel = any(record.parallel for record in self._records)
        self.first = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).tolist()
        self.length, self._rows = self.first[-1], np.concatenate(parts)
        self._call, self._address = road.call, self._rows.ctypes.data

    def call(self, d, place, total):
        """Calls so many entries from a place on, or fewer; returns how many."""
        return self._call(d, self._parallel, self._address, place, self.length, total)

    def stage_of(self, place):
        """The stage that an entry belongs to."""
        return self.stages.start + bisect.bisect_right(self.first, place) - 1
