"""Numbers that the window's panels follow from picture to picture: solver and timing, speed, the values of sensors."""

import numpy as np

from tisim.data import groups
from tisim.enums import mjtEnableBit
from tisim.viewer import perturb

HISTORY = 150  # pictures in a curve
CURVES = ("ms per picture", "ms per step", "contacts", "rows", "iterations")
EVERY = 0.5  # between two looks at what need not be looked at for each picture [s]


class Curves:
    """The last values of some numbers, one for each picture."""

    def __init__(self, names):
        self.values = {name: np.zeros(HISTORY, np.float32) for name in names}

    def add(self, **numbers):
        """Adds a value to each curve, with _ for the blanks of its name."""
        for name, number in numbers.items():
            v = self.values[name.replace("_", " ")]
            v[:-1] = v[1:]
            v[-1] = number


class Sensors:
    """Curves of some values of sensors, one after the other as they stand in sensordata."""

    def __init__(self):
        self._whose, self.values = None, np.zeros((0, HISTORY), np.float32)

    def follow(self, c, first, most):
        """Looks at values first to first + most of Controls: [(name, curve (HISTORY,))]."""
        m, now = c.m, np.asarray(perturb.of_world(c.d, "sensordata", c.world), np.float32)[first : first + most]
        whose = id(m), id(c.d), first, most
        if whose != self._whose:  # as if they had always been as they are
            self._whose, self.values = whose, np.repeat(now[:, None], HISTORY, 1)
        self.values[:, :-1] = self.values[:, 1:]
        self.values[:, -1] = now
        adr, dim = np.asarray(m.sensor_adr), np.asarray(m.sensor_dim)
        of = np.searchsorted(adr, np.arange(first, first + len(now)), "right") - 1
        for k, (sensor, curve) in enumerate(zip(of, self.values)):
            name = c.name("sensor", int(sensor))
            yield (f"{name} {first + k - adr[sensor]}" if dim[sensor] > 1 else name), curve


class Gauges:
    """All of these of one window.

    steps, pictures  per second;  memory  of Model and Data on the device [byte]; the latest that is known of each.
    """

    def __init__(self):
        self.curves, self.sensors = Curves(CURVES), Sensors()
        self.steps = self.pictures = 0.0
        self.memory, self._since, self._drawn = 0, None, 0

    def see(self, c, now, elapsed, stepped, done):
        """A picture of Controls was drawn at `now` [s], `elapsed` after the last; what is on an open panel is noted.

        stepped  wall time that went into steps [s];  done  what they simulated [s].
        """
        if c.panels.profiler:
            self._note(c, elapsed, stepped, done)
        if c.panels.info:
            self._rate(c, now)

    def _note(self, c, elapsed, stepped, done):
        steps = max(1, round(done / float(c.m.opt.timestep)))
        niter = np.asarray(c.d.solver_niter)
        self.curves.add(
            ms_per_picture=1e3 * elapsed, ms_per_step=1e3 * stepped / steps if done else 0.0,
            contacts=float(c.d.count("ncon")), rows=float(np.sum(c.d.nefc)), iterations=float(np.max(niter, initial=0)),
        )  # fmt: skip

    def _rate(self, c, now):
        time = _of(c, "time")
        then, before = self._since or (now - EVERY, time)
        self._drawn += 1
        if now - then < EVERY:
            return
        fresh = self._since is None or now - then > 4 * EVERY  # nobody has looked
        self.steps = 0.0 if fresh else max(0.0, (time - before) / float(c.m.opt.timestep) / (now - then))
        self.pictures = 0.0 if fresh else self._drawn / (now - then)
        self.memory = sum(size for size, _ in groups.memory(c.m, c.d).values())
        self._since, self._drawn = (now, time), 0

    def info(self, c):
        """What `simulate` tells beside the picture, of Controls: (name, words)."""
        m, d = c.m, c.d
        yield "time", f"{_of(c, 'time'):.3f} s" + (f", world {c.world} of {d.nworld}" if d.nworld > 1 else "")
        yield "model", f"{m.nbody} bodies, {m.ngeom} geoms, {m.nv} dofs"
        yield "", f"{m.nu} actuators, {m.nsensor} sensors"
        yield "", f"{m.neq} equalities"
        yield "contacts", f"{_of(c, 'ncon'):.0f}"
        yield "rows", f"{d.nefc}, {d.nisland} islands" + (" of all worlds" if d.nworld > 1 else "")
        yield "solver", f"{np.max(np.asarray(d.solver_niter), initial=0):.0f} iterations"
        if int(m.opt.enableflags) & mjtEnableBit.mjENBL_ENERGY:
            potential, kinetic = perturb.of_world(d, "energy", c.world)
            yield "energy", f"{potential + kinetic:.5g} J: {potential:.5g} + {kinetic:.5g}"
        yield "memory", f"{self.memory / 2**20:.1f} MiB"
        yield "speed", f"{self.steps:.0f} steps/s, {self.pictures:.0f} pictures/s"


def _of(c, name):
    """A number that there is one of for each world."""
    return float(np.atleast_1d(getattr(c.d, name))[c.world])
