"""The stages of a step as one table that machine code works through: recorded while Python runs them, then repeated.

What a stage launches follows from the model and from a few counts: is a list long enough, are there islands? While
Python runs a stage, its launches are noted, and between them what it asked of counts (`Data.exceeds`, `Data.some`) with
the answers, and what it wrote (`Data.set_counts`, `Data.fill`). The table launches the same and asks the same; at an
answer that is new it stops, Python runs that stage from its beginning, and the table goes on behind it. From then on it
knows both ways and goes on by the one or the other: there are contacts in this step, and none in the next. So every
stage is one that can be done again, and what it does is said by what it asks: where it does something else at the same
answers, all that was known of it is forgotten. One that did what no table holds, such as letting a list grow, says so
(`spoil`).

All else that stages depend on is in the token: records are dropped when the model, its options or an array changes.
Only the CPU's machine code (native.py) is repeated; elsewhere Python runs all stages of every step.
"""

import contextlib
import time

from . import native, team
from .clock import END, PYTHON, Clock
from .record import Record, Table

STEPS = 256  # of a single body that one call repeats at first, and where processors are shared
SECONDS, MANY = 0.01, 1 << 16  # that a call takes at most, as far as one can tell: an interrupt waits so long; steps
_outdated = 0  # counts changes of what records depend on beside a model and its Data


def outdate():
    """Lets no record that there is be used again, of any Data."""
    global _outdated
    _outdated += 1


class Program:
    """Records of the stages of one Data, by the stage's place in a step."""

    def __init__(self, d):
        self._records, self._tables = {}, {}  # {stage: Record}, {range of stages: Table}
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
        if notes is None:
            self._drop([stage])
            return
        record = self._records.get(stage)
        if record is None or not record.knows(notes):
            self._tables.clear()
            self._records[stage] = Record(notes, record)

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

        Of several numbers each has to be where the answer was always yes: that only one is would change unnoticed.
        """
        if self._notes is not None:
            self._notes.append((array.host, native.road().outside, first, n, limit, bool(answer)))

    def wrote(self, array, first, n, value):
        """Notes that a stage wrote a value to n numbers of an array."""
        if self._notes is not None:
            self._notes.append((array.host, native.road().fill, first, n, value))

    def added(self, array, first, n, value):
        """Notes that a stage added a value to n numbers of an array."""
        if self._notes is not None:
            self._notes.append((array.host, native.road().add, first, n, value))

    def tick(self, what):
        """Notes that time was charged here, and charges it."""
        place = self.clock.tick(what)
        if self._notes is not None:
            self._notes.append((self.clock.words, native.road().tick, 0, place, 0))

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
            self._drop([s for s, record in self._records.items() if record.launches(bound)])

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
            table = self._tables[stages] = Table(self._records, stages)
        if self.clock.running:
            self.clock.tick(PYTHON)
        place, began = table.first[at - stages.start], time.perf_counter()
        reached = table.call(d, place, times)
        if reached == place:  # it begins with a question whose answer is another now
            return at, 0
        done, place = divmod(reached, table.length)
        self._pace(done, time.perf_counter() - began)
        return table.stage_of(place) if place else stages.start, done

    def _pace(self, done, seconds):
        """Chooses how many steps a call repeats at most, behind one that did so many in so long."""
        if done == self._steps and seconds < SECONDS / 2:
            self._steps = min(2 * self._steps, MANY)
        elif seconds > SECONDS:
            self._steps = max(self._steps // 2, self._few)
