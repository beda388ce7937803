"""Where the time of a step goes: while a Data's clock is on, time is charged, piece by piece, to what was just done.

There is one place for each kernel of each stage. A tick charges all time since the last one to a place, so nothing is
left out or counted twice. While the clock is on lists of kernels are launched one by one (launch.py), and behind each
stands a tick: in a stage that Python runs one of Python, in a recorded one a row of its table, of machine code, which
reads the same clock and takes some 30 ns. While it is off no table has such a row.
"""

import contextlib
import time

import numpy as np

from . import memory, session

PLACES = 1024  # kernels of stages that have a place of their own; what comes later is counted as OTHER
PYTHON = "Python"  # what a stage does beside its launches
END = "end"  # behind a stage's last launch
OTHER = ("other", END)


class Clock:
    """Times of one Data.

    on     whether time is taken;  stage  name of the stage that Python runs, None between stages.
    words  int64: time of the last tick, then of each place its time and how often it was charged [ns].
    steps  [time, number] of whole steps, begun and ended by Python [ns].
    """

    def __init__(self):
        self.on = self.running = False
        self.stage = None
        self.words = np.zeros(1 + 2 * PLACES, np.int64)
        self.steps = [0, 0]
        self._places = {OTHER: 0}

    def clear(self):
        """Begins anew with no time at all."""
        self.words[1:] = 0
        self.steps[:] = 0, 0

    def place(self, what):
        """Number of the place of what the stage at hand does: PYTHON, END, or a kernel's path."""
        key = self.stage, what
        if key not in self._places and len(self._places) < PLACES:
            self._places[key] = len(self._places)
        return self._places.get(key, 0)

    def tick(self, what):
        """Charges what has passed since the last tick; returns the place."""
        if session.arch != "cpu":
            memory.sync()
        place, now = self.place(what), time.perf_counter_ns()
        self.words[1 + 2 * place] += now - self.words[0]
        self.words[2 + 2 * place] += 1
        self.words[0] = now
        return place

    def enter(self, stage):
        """Python begins to run a stage."""
        self.tick(PYTHON)
        self.stage = stage

    @contextlib.contextmanager
    def run(self, step, number):
        """While stages run. step: whether they are parts of a step;  number: how many steps they complete."""
        self.running, self.stage, self.words[0] = True, None, (began := time.perf_counter_ns())
        try:
            yield
            self.tick(PYTHON)
            if step:
                self.steps[1] += number
        finally:
            self.running, self.stage = False, None
            if step:
                self.steps[0] += int(self.words[0]) - began

    def times(self):
        """{(stage, what): (seconds, how often)}; stage None: Python's work between stages."""
        words = self.words[1:].reshape(-1, 2).tolist()
        return {key: (1e-9 * ns, n) for key, (ns, n) in zip(self._places, words) if n}
