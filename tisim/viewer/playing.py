"""Time in a window: running in real time or slower, pause, steps, back to recorded states, reset, keyframes."""

import collections
import time

import numpy as np

import tisim.data.state as state
from tisim.data import asleep
from tisim.pipeline import forward

LAG = 0.25  # most time of simulation per picture, where drawing is slow [s]
PATIENCE = 0.1  # wall time spent on steps before a picture is drawn anyway [s]
SPEEDS = (100, 80, 66, 50, 40, 33, 25, 20, 16, 13, 10, 8, 6.6, 5, 4, 3.3, 2.5, 2, 1.6, 1.3, 1)  # [percent]
KEPT, BYTES = 2000, 64 << 20  # recorded states, at most, and their memory


def advance(m, d, step, seconds, patience=PATIENCE):
    """Steps for `seconds` of simulation or `patience` of wall time, whichever ends first; returns seconds done."""
    start, done, h = time.perf_counter(), 0.0, float(m.opt.timestep)
    while done + 0.5 * h < seconds and time.perf_counter() - start < patience:
        step(m, d)
        done += h
    return done


class Clock:
    """When a simulation is stepped, and what of its past is kept.

    step, restart  called as f(m, d).  A state is recorded before each step that is asked for, and before the steps of
    each picture while it runs; `back` returns to the last one.
    """

    def __init__(self, m, d, step, restart, running=True):
        self.m, self.d, self._step, self._restart = m, d, step, restart
        self.running, self.notch, self.factor, self.key = running, 0, 0.0, -1
        self._owed, self._moved = 0.0, False  # moved: what is shown is of the state before the last step
        self._past = collections.deque(maxlen=KEPT)
        self._room = None

    frames = frame = 0  # that can be gone to, and which is shown: none but in a Replay

    @property
    def speed(self):
        """Part of real time that is aimed at."""
        return SPEEDS[self.notch] / 100

    def slower(self, notches=1):
        """Goes to the next slower speed, or with -1 to the next faster one."""
        self.notch = min(max(self.notch + notches, 0), len(SPEEDS) - 1)

    def record(self):
        """Keeps the present state, and who was removed."""
        now = state.get_state(self.m, self.d)
        if self._room is None:
            self._room = max(2, min(KEPT, BYTES // max(1, now.nbytes)))
        if len(self._past) >= self._room:
            self._past.popleft()
        self._past.append((now, asleep.body_present(self.m, self.d) if self.m.comes_and_goes else None))

    @property
    def recorded(self):
        """How many states there are to go back to."""
        return len(self._past)

    def toggle(self):
        """Goes on or pauses."""
        self.running = not self.running

    def run(self, elapsed, before=None):
        """Steps for what passed of real time [s]; before(): called before each step. Returns seconds simulated.

        Where time stands still, what a step leaves behind is brought up to the state (forward), as `simulate` does.
        """
        if not self.running:
            self.factor = self._owed = 0.0
            if self._moved:
                self._look()
            return 0.0
        wanted = self._owed + min(elapsed, LAG) * self.speed
        h = float(self.m.opt.timestep)
        if wanted < 0.5 * h:
            self._owed = wanted
            return 0.0
        self.record()
        done = advance(self.m, self.d, lambda m, d: self.one(before), wanted)
        self._owed = wanted - done if wanted - done < h else 0.0
        self.factor += 0.1 * (done / max(elapsed, 1e-6) - self.factor)
        return done

    def one(self, before=None):
        """One step."""
        if before:
            before()
        self._step(self.m, self.d)
        self._moved = True

    def _look(self):
        """Computes what the state looks like."""
        self._moved = False
        forward(self.m, self.d)

    def single(self, before=None):
        """Stops, and makes one step."""
        self.running = False
        self.record()
        self.one(before)

    def back(self):
        """Stops, and returns to the last recorded state; False if there is none."""
        self.running = False
        if not self._past:
            return False
        then, present = self._past.pop()
        if self.m.comes_and_goes:
            _bring_back(self.m, self.d, present)
        state.set_state(self.m, self.d, then)
        self._look()
        return True

    def reset(self):
        """Begins again."""
        self._past.clear()
        self._owed = 0.0
        self._restart(self.m, self.d)

    def keyframe(self, key=None):
        """Takes the state of a keyframe, None: of the next one; returns its number, -1 where the model has none."""
        if not self.m.nkey:
            return -1
        self.key = (self.key + 1) % self.m.nkey if key is None else key
        self.record()
        state.reset_keyframe(self.m, self.d, self.key)
        self._look()
        return self.key


def bring_up(m, d):
    """Computes where everything is, of a Data that may not have been stepped yet; its state stays as it is."""
    kept = state.get_state(m, d)
    forward(m, d)
    if m.opt.dynamics == "convex":  # the other one changes nothing, and would begin anew
        state.set_state(m, d, kept)


def start_again(m, d):
    """The model's first state."""
    state.reset(m, d)
    forward(m, d)


def _bring_back(m, d, present):
    """Adds and removes bodies until those are there that were: present (nworld, nbody) bool, None: all."""
    from tisim.stages import coming

    now, first = asleep.body_present(m, d), np.asarray(m.tree_bodyadr)
    then = np.ones_like(now) if present is None else present
    for world in np.flatnonzero((now != then).any(axis=1)):
        coming.add(m, d, first[(then[world] & ~now[world])[first]], worlds=world)
        coming.remove(m, d, first[(now[world] & ~then[world])[first]], worlds=world)
