"""Timers of the stages, as mjData's: d.timer[mjtTimer.mjTIMER_STEP].duration."""

import numpy as np

from tisim.device.clock import END, PYTHON
from tisim.enums import mjtTimer
from tisim.enums.members import integer
from tisim.errors import Error, IdError, brief

from .stat import Stat

T = mjtTimer
INVERSE_OF = "inverse "  # before the name of a stage where it is one of inverse dynamics
# the timer of each stage of tisim.pipeline; what none names is counted in the whole step alone
STAGES = dict(
    check=T.mjTIMER_STEP, check_state=T.mjTIMER_STEP, fwd_position=T.mjTIMER_POS_KINEMATICS,
    collide=T.mjTIMER_POS_COLLISION, fwd_velocity=T.mjTIMER_VELOCITY, make_constraints=T.mjTIMER_POS_MAKE,
    energy=T.mjTIMER_FORWARD, fwd_acceleration=T.mjTIMER_FORWARD, constrain=T.mjTIMER_CONSTRAINT,
    tendons=T.mjTIMER_POSITION, tendon_passive=T.mjTIMER_VELOCITY, transmission=T.mjTIMER_POSITION,
    control=T.mjTIMER_FORWARD, passive=T.mjTIMER_VELOCITY, fwd_actuation=T.mjTIMER_ACTUATION,
    wake_written=T.mjTIMER_POSITION, wake_touched=T.mjTIMER_POSITION, wake_pulled=T.mjTIMER_POSITION,
    wake_tied=T.mjTIMER_POSITION, fall_asleep=T.mjTIMER_STEP, settle=T.mjTIMER_STEP,
    show_settled=T.mjTIMER_STEP, sensor_pos=T.mjTIMER_FORWARD, sensor_vel=T.mjTIMER_FORWARD,
    sensor_acc=T.mjTIMER_FORWARD, sensor_inv=T.mjTIMER_FORWARD,
    check_acceleration=T.mjTIMER_STEP, compare=T.mjTIMER_STEP, integrate=T.mjTIMER_ADVANCE, rk_first=T.mjTIMER_ADVANCE,
    rk_second=T.mjTIMER_ADVANCE, rk_third=T.mjTIMER_ADVANCE, rk_last=T.mjTIMER_ADVANCE,
    lcp_advance=T.mjTIMER_CONSTRAINT, inverse=T.mjTIMER_FORWARD,
)  # fmt: skip
# files of kernels below kernels/ that a part of such a stage is timed by; other kernels of `collide` are narrow phase
FILES = {
    **dict.fromkeys(("smooth.inertia", "smooth.inertia_abreast"), T.mjTIMER_POS_INERTIA),
    **dict.fromkeys("collision.boxes collision.broadphase collision.midphase collision.candidates sort".split(),
                    T.mjTIMER_COL_BROAD),
}  # fmt: skip
# the timer that a timer is a part of
PARENT = {
    T.mjTIMER_FORWARD: T.mjTIMER_STEP, T.mjTIMER_INVERSE: T.mjTIMER_STEP, T.mjTIMER_ADVANCE: T.mjTIMER_STEP,
    **dict.fromkeys((T.mjTIMER_POSITION, T.mjTIMER_VELOCITY, T.mjTIMER_ACTUATION, T.mjTIMER_CONSTRAINT),
                    T.mjTIMER_FORWARD),
    **dict.fromkeys((T.mjTIMER_POS_KINEMATICS, T.mjTIMER_POS_INERTIA, T.mjTIMER_POS_COLLISION, T.mjTIMER_POS_MAKE,
                     T.mjTIMER_POS_PROJECT), T.mjTIMER_POSITION),
    **dict.fromkeys((T.mjTIMER_COL_BROAD, T.mjTIMER_COL_NARROW), T.mjTIMER_POS_COLLISION),
}  # fmt: skip
# the stages whose ends count for a timer; those of inverse dynamics do, too, but for mjTIMER_FORWARD
ENDS = {
    T.mjTIMER_FORWARD: ("constrain",), T.mjTIMER_INVERSE: (INVERSE_OF + "inverse",),
    T.mjTIMER_POSITION: ("make_constraints",), T.mjTIMER_VELOCITY: ("fwd_velocity",),
    T.mjTIMER_ACTUATION: ("fwd_actuation",), T.mjTIMER_CONSTRAINT: ("constrain",),
    T.mjTIMER_ADVANCE: ("integrate", "rk_last"),
    T.mjTIMER_POS_KINEMATICS: ("fwd_position",), T.mjTIMER_POS_INERTIA: ("fwd_position",),
    T.mjTIMER_POS_MAKE: ("make_constraints",),
    **dict.fromkeys((T.mjTIMER_POS_COLLISION, T.mjTIMER_COL_BROAD, T.mjTIMER_COL_NARROW), ("collide",)),
}  # fmt: skip


def timer_of(stage, what):
    """The mjtTimer that a piece of time belongs to: what a stage did, PYTHON, END, or a kernel by its path."""
    if stage is not None and stage.startswith(INVERSE_OF):
        timer = timer_of(stage.removeprefix(INVERSE_OF), what)
        return T.mjTIMER_INVERSE if timer in (T.mjTIMER_FORWARD, T.mjTIMER_CONSTRAINT) else timer
    timer = STAGES.get(stage, T.mjTIMER_STEP)
    if timer == T.mjTIMER_POS_KINEMATICS or (timer == T.mjTIMER_POS_COLLISION and what not in (PYTHON, END)):
        file = what.partition("(")[0].rpartition(".")[0]
        return FILES.get(file, T.mjTIMER_COL_NARROW if timer == T.mjTIMER_POS_COLLISION else timer)
    return timer


def timers_of(stage, what):
    """The timers that a piece of time is counted in, but that of whole steps, which is measured on its own."""
    timer, found = timer_of(stage, what), []
    while timer != T.mjTIMER_STEP:
        inverse = timer == T.mjTIMER_FORWARD and stage.startswith(INVERSE_OF)
        found.append(T.mjTIMER_INVERSE if inverse else timer)
        timer = PARENT[timer]
    return found


class TimerStat(Stat):
    """One timer: duration, the time so far [s], and number, how often it was stopped."""

    __slots__ = ("duration", "number")
    told = "a timer is measured; d.timer.clear() sets all to 0"

    def __repr__(self):
        return f"TimerStat(duration={self.duration:.6g}, number={self.number})"


class Timers:
    """Times of the stages by mjtTimer, as mujoco's mjData.timer, added up from step to step until the next reset.

    They are taken while `on` is True; it is False at first, and then they cost nothing. A step of any number of worlds
    counts once. mjTIMER_STEP is the wall time of step, step1 and step2; others are parts of it, of forward and inverse.
    duration  (15,) [s];  number  (15,).
    """

    def __init__(self, data):
        object.__setattr__(self, "_data", data)

    @property
    def _clock(self):
        return self._data.program.clock

    @property
    def on(self):
        """Whether times are taken."""
        return self._clock.on

    @on.setter
    def on(self, value):
        if not isinstance(value, (bool, np.bool_)):
            raise Error(f"timer.on = {brief(value)}: expected True or False")
        if bool(value) != self._clock.on:
            self._data.program.drop()  # records with times are others
            self._clock.on = bool(value)

    def __setattr__(self, name, value):
        if name != "on":
            raise Error(f"timer.{name} is measured; only timer.on can be written")
        object.__setattr__(self, name, value)

    def clear(self):
        """Sets all durations and numbers to 0, as a reset does."""
        self._clock.clear()

    def pieces(self):
        """{(stage, what): (seconds, how often)}: what is a kernel, or "Python", or "end" behind the last kernel."""
        return self._clock.times()

    def _values(self):
        duration, number = np.zeros(len(self)), np.zeros(len(self), int)
        pieces = self.pieces()
        for (stage, what), (seconds, _) in pieces.items():
            for timer in timers_of(stage, what):
                duration[timer] += seconds
        for timer, stages in ENDS.items():
            for before in ("",) if timer == T.mjTIMER_FORWARD else ("", INVERSE_OF):
                number[timer] += sum(pieces.get((before + stage, END), (0, 0))[1] for stage in stages)
        duration[T.mjTIMER_STEP], number[T.mjTIMER_STEP] = 1e-9 * self._clock.steps[0], self._clock.steps[1]
        return duration, number

    @property
    def duration(self):
        """Time of each timer so far [s], (15,)."""
        return self._values()[0]

    @property
    def number(self):
        """How often each timer was stopped, (15,)."""
        return self._values()[1]

    def __len__(self):
        return int(T.mjNTIMER)

    def __getitem__(self, timer):
        timer = integer(timer)
        if not isinstance(timer, (int, np.integer)) or not -len(self) <= timer < len(self):
            raise IdError(f"no timer {brief(timer)}: there are {len(self)}, by mjtTimer")
        duration, number = self._values()
        return TimerStat(float(duration[timer]), int(number[timer]))

    def __repr__(self):
        rows = [f"{'timer':<24}{'duration [s]':>14}{'number':>10}"]
        for timer, duration, number in zip(T, *self._values()):
            rows.append(f"{timer.name:<24}{duration:>14.6g}{number:>10}")
        return "\n".join(rows if self.on else [*rows, "(off; d.timer.on = True takes times)"])
