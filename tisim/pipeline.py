"""The order of the stages. Seed 000, "Simulation pipeline"; seed 003, "Simulation loop"."""

import numpy as np

from tisim.data import given
from tisim.data.validate import validate
from tisim.device import build, runtime
from tisim.errors import Error
from tisim.model import simulable
from tisim.stages import collision, constraint, dynamics, needs, sleep


def check(m, d):
    """Refuses what is not simulated: the model once, the options, which may change, when they did."""
    d.check(m)
    if not d._checked:
        prepare(m, d)
    simulable.check_options(m)


def check_acceleration(m, d):
    """Everything again where a world was reset."""
    if dynamics.check_acceleration(m, d):
        forward(m, d)


def euler(m, d):
    """Integration; with TISIM_DEBUG the results are looked at."""
    dynamics.euler(m, d)
    if runtime.debug():
        d.program.spoil()
        validate(m, d)


POSITION = (sleep.wake_written, dynamics.fwd_position, collision.collide, sleep.wake_touched, dynamics.fwd_velocity,
            constraint.make_constraints, dynamics.energy)  # fmt: skip
ACCELERATION = (dynamics.fwd_acceleration, constraint.constrain)
STEP = (check, dynamics.check_state, *POSITION, *ACCELERATION, check_acceleration, sleep.fall_asleep, euler)
FORWARD = range(STEP.index(POSITION[0]), STEP.index(check_acceleration))
HALF = STEP.index(ACCELERATION[0])  # what stands before does not depend on controls and applied forces


def step1(m, d):
    """First half of a step: everything that does not depend on controls and applied forces.

    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    _run(m, d, range(HALF))


def step2(m, d):
    """Second half of a step: accelerations with the controls and forces set since step1, then integration."""
    given.check(m, d)
    _run(m, d, range(HALF, len(STEP)))


def step(m, d, nstep=1):
    """Advances every world by nstep timesteps.

    m  Model;  d  Data made from it;  nstep  number of steps.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate, CapacityError if a limit the
    user set is reached; the state is then as before the step.
    """
    if not isinstance(nstep, (int, np.integer)) or isinstance(nstep, bool) or nstep < 0:
        raise Error(f"nstep={nstep!r}: expected a number of steps")
    given.check(m, d)
    _run(m, d, range(len(STEP)), int(nstep))


def forward(m, d):
    """Everything a step computes, without integrating: the results follow from the state and inputs alone.

    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    check(m, d)
    _run(m, d, FORWARD)


def start_asleep(m, d, worlds):
    """After a reset of these worlds: trees with the policy mjSLEEP_INIT fall asleep where they are.

    Raises Error where one cannot, such as one that touches a tree without this policy.
    """
    check(m, d)
    kept = sleep.ready(m, d, worlds)
    _run(m, d, FORWARD)
    sleep.settled(m, d, worlds, kept)


def prepare(m, d, show=None):
    """Loads all kernels that steps of the model can come to need; the first step does it. Seconds if they are new.

    show  a function of (kernels done, kernels to be made), called now and then; None: a bar, if a terminal looks on.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    d.check(m)
    simulable.check(m)
    d._checked = True
    build.prepare(needs.kernels_of(m, d), m.features(), show)


def _run(m, d, stages, times=1):
    """Runs these stages of STEP, so often: by the Data's program while they do what they did before, else by Python."""
    at = stages.start
    while times:
        at, done = d.program.run(m, d, stages, at, times)
        times -= done
        if times:
            d.program.start()
            STEP[at](m, d)
            d.program.keep(at)
            at += 1
            if at == stages.stop:
                at, times = stages.start, times - 1
