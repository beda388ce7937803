"""The order of the stages. Seed 000, "Simulation pipeline"; seed 003, "Simulation loop"."""

import numpy as np

from tisim.data.validate import validate
from tisim.device import build, runtime
from tisim.errors import Error
from tisim.model import simulable
from tisim.stages import collision, constraint, dynamics, needs


def step1(m, d):
    """First half of a step: everything that does not depend on controls and applied forces.

    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    _check(m, d)
    dynamics.check_state(m, d)
    _position_and_velocity(m, d)


def step2(m, d):
    """Second half of a step: accelerations with the controls and forces set since step1, then integration."""
    _acceleration(m, d)
    if dynamics.check_acceleration(m, d):
        forward(m, d)
    dynamics.euler(m, d)
    if runtime.debug():
        validate(m, d)


def step(m, d, nstep=1):
    """Advances every world by nstep timesteps.

    m  Model;  d  Data made from it;  nstep  number of steps.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate, CapacityError if a limit the
    user set is reached; the state is then as before the step.
    """
    if not isinstance(nstep, (int, np.integer)) or nstep < 0:
        raise Error(f"nstep={nstep!r}: expected a number of steps")
    for _ in range(nstep):
        step1(m, d)
        step2(m, d)


def forward(m, d):
    """Everything a step computes, without integrating: the results follow from the state and inputs alone.

    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    _check(m, d)
    _position_and_velocity(m, d)
    _acceleration(m, d)


def prepare(m, d, show=None):
    """Loads all kernels that steps of the model can come to need; the first step does it. Seconds if they are new.

    show  a function of (kernels done, kernels to be made), called now and then; None: a bar, if a terminal looks on.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    simulable.check(m)
    d._checked = True
    m.refresh()
    build.prepare(needs.kernels_of(m, d), m.features(), show)


def _check(m, d):
    """Refuses what is not simulated: the model once, the options, which may change, every time."""
    if not d._checked:
        prepare(m, d)
    simulable.check_options(m)


def _position_and_velocity(m, d):
    dynamics.fwd_position(m, d)
    collision.collide(m, d)
    dynamics.fwd_velocity(m, d)
    constraint.make_constraints(m, d)
    dynamics.energy(m, d)


def _acceleration(m, d):
    dynamics.fwd_acceleration(m, d)
    constraint.constrain(m, d)
