"""The order of the stages. Seed 000, "Simulation pipeline"; seed 003, "Simulation loop"."""

import itertools

import numpy as np

from tisim.data import asleep, given, impulses, owed, room, varied
from tisim.data.arrays import DATA
from tisim.data.timer import INVERSE_OF
from tisim.data.validate import validate
from tisim.device import build, runtime
from tisim.enums import mjtDisableBit, mjtIntegrator, mjtStage
from tisim.errors import Error, UnsupportedError, brief
from tisim.model import callback, simulable
from tisim.model import lcp as second
from tisim.stages import (
    actuation,
    callbacks,
    collision,
    constraint,
    dynamics,
    integrators,
    lcp,
    needs,
    sensor,
    sleep,
    tendon,
)  # fmt: skip
from tisim.stages import inverse as inverse_stage


def check(m, d):
    """Refuses what is not simulated: the model once, the options, which may change, when they did."""
    d.check(m)
    if not d._checked:
        prepare(m, d)
    simulable.check_options(m)
    if second.chosen(m):
        if d._varied:
            varied.check(d)
        asleep.refuse_removed(d, "dynamics lcp", UnsupportedError)


def check_acceleration(m, d):
    """Everything again where a world was reset."""
    if dynamics.check_acceleration(m, d):
        forward(m, d)


def integrate(m, d):
    """Integration; with TISIM_DEBUG the results are looked at."""
    integrators.integrate(m, d)
    look(m, d)


def rk_last(m, d):
    """The same of RK4, which comes behind three more evaluations of the accelerations."""
    integrators.rk_last(m, d)
    look(m, d)


def lcp_advance(m, d):
    """The second dynamics; with TISIM_DEBUG the results are looked at."""
    lcp.advance(m, d)
    look(m, d)


def look(m, d):
    """With TISIM_DEBUG the results are looked at."""
    if runtime.debug():
        d.program.spoil()
        validate(m, d)


POSE = (sleep.wake_written, dynamics.fwd_position, tendon.tendons, sleep.wake_pulled, collision.collide,
        sleep.wake_touched, sleep.wake_tied)  # fmt: skip
VELOCITY = (dynamics.fwd_velocity, tendon.tendon_passive, callbacks.passive, actuation.transmission,
            constraint.make_constraints)  # fmt: skip
ACCELERATION = (callbacks.control, actuation.fwd_actuation, dynamics.fwd_acceleration, constraint.constrain)
INVERSE = (inverse_stage.inverse,)
BEGIN = (check, dynamics.check_state)
END = (check_acceleration, inverse_stage.compare, sleep.fall_asleep, sleep.settle)


def _evaluation(skip, sensors, last):
    """Stages of an evaluation: those in `last` behind what depends on positions and velocities, as far as that is not
    skipped (mjtStage). Sensors of positions stand behind what others need of velocities, which they do not read."""
    pos, vel = skip < mjtStage.mjSTAGE_POS, skip < mjtStage.mjSTAGE_VEL
    acc = sensor.sensor_inv if last is INVERSE else sensor.sensor_acc
    return (*POSE * pos, *VELOCITY * vel, *(dynamics.energy,) * vel, *(sensor.sensor_pos,) * (pos and sensors),
            *(sensor.sensor_vel,) * (vel and sensors), *last, *(acc,) * sensors)  # fmt: skip


AGAIN = _evaluation(mjtStage.mjSTAGE_NONE, False, ACCELERATION)  # in the further stages of RK4
STEP = (*BEGIN, *_evaluation(mjtStage.mjSTAGE_NONE, True, ACCELERATION), *END, integrate,
        sleep.show_settled)  # fmt: skip
RUNGE_KUTTA = (*STEP[:-2], integrators.rk_first, *AGAIN, integrators.rk_second, *AGAIN, integrators.rk_third, *AGAIN,
               rk_last)  # fmt: skip
# the second dynamics: what depends on positions and velocities, then contacts to poses at once
LCP_FORWARD = (sleep.wake_written, dynamics.fwd_position, collision.collide, sleep.wake_touched, sleep.wake_tied,
               dynamics.fwd_velocity, callbacks.passive, actuation.transmission,
               dynamics.energy, sensor.sensor_pos, sensor.sensor_vel)  # fmt: skip
LCP_STEP = (*BEGIN, *LCP_FORWARD, callbacks.control, actuation.fwd_actuation, lcp.fall_asleep, lcp.settle,
            lcp_advance)  # fmt: skip
SMOOTH = (dynamics.fwd_position, tendon.tendons, dynamics.fwd_velocity, tendon.tendon_passive, actuation.transmission,
          actuation.fwd_actuation)  # fmt: skip
# what these write, by the stage that data/arrays/ names
SMOOTH_WRITES = {"kinematics", "tendon", "comPos", "crb", "factorM", "comVel", "rne", "passive", "transmission",
                 "actuation"}  # fmt: skip
SKIPS = mjtStage.mjSTAGE_NONE, mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL
WAYS = list(itertools.product((ACCELERATION, INVERSE), SKIPS, (True, False)))  # of evaluations
SEQUENCES = [
    STEP,
    RUNGE_KUTTA,
    LCP_STEP,
    LCP_FORWARD,
    SMOOTH,
    *(_evaluation(skip, sensors, last) for last, skip, sensors in WAYS),
]
STAGES = tuple(itertools.chain(*SEQUENCES))
_ends = list(itertools.accumulate(map(len, SEQUENCES)))
# places in STAGES
_ranges = [range(end - len(stages), end) for stages, end in zip(SEQUENCES, _ends)]
SINGLE, RK4, LCP, LCP_EVALUATION, WITHOUT_CONTACTS, *_others = _ranges
EVALUATIONS = dict(zip(WAYS, _others))
FORWARD = EVALUATIONS[ACCELERATION, mjtStage.mjSTAGE_NONE, True]
WHOLE = SINGLE.stop, RK4.stop, LCP.stop  # where a step is over
HALF = STEP.index(actuation.fwd_actuation)  # what stands before does not depend on controls and applied forces
MOST_STEPS = 10**15  # more do not end in a lifetime
LAST = STEP.index(END[0])  # from here on a step is more than an evaluation
FIRST_INVERSE = EVALUATIONS[INVERSE, mjtStage.mjSTAGE_NONE, True].start
HARD = LCP, LCP_EVALUATION
# how many of the stages that say forces of constraints stand before each place
FORCES = list(itertools.accumulate((s in (constraint.constrain, *INVERSE) for s in STAGES), initial=0))


def step1(m, d):
    """First half of a step: everything that does not depend on controls and applied forces.

    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    _refuse_halves(m)
    _run(m, d, range(HALF))
    if m.disabled(mjtDisableBit.mjDSBL_ACTUATION):
        callbacks.always_control(m, d)


def step2(m, d):
    """Second half of a step: accelerations with the controls and forces set since step1, then integration."""
    given.check(m, d)
    _refuse_halves(m)
    impulses.outdate(d)
    _run(m, d, SINGLE[HALF:])


def _refuse_halves(m):
    _refuse_second(m, "halves of a step")
    if m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise UnsupportedError("integrator RK4 has no halves, since it evaluates forces four times in a step: use step")


def _refuse_second(m, what):
    if second.chosen(m):
        raise UnsupportedError(f"dynamics lcp has no {what}: its forces are impulses within a step")


def step(m, d, nstep=1):
    """Advances every world by nstep timesteps.

    m  Model;  d  Data made from it;  nstep  number of steps.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate, CapacityError if a limit the
    user set is reached; the state is then as before the step.
    """
    if not isinstance(nstep, (int, np.integer)) or isinstance(nstep, bool) or nstep < 0:
        raise Error(f"nstep={brief(nstep)}: expected a number of steps")
    if nstep > MOST_STEPS:
        raise Error(f"nstep: more than {MOST_STEPS:,} steps do not end")
    given.check(m, d)
    option = m.opt._values  # without a call of Python
    if option["dynamics"] == second.NAME:
        d._info[impulses.HELD] = True
        _run(m, d, LCP, int(nstep))
        return
    if impulses.HELD in d._info:
        impulses.outdate(d)
    if option["integrator"] != mjtIntegrator.mjINT_RK4:
        _run(m, d, SINGLE, int(nstep))
        return
    try:
        _run(m, d, RK4, int(nstep))
    finally:
        integrators.restore(d)


def forward(m, d):
    """Everything a step computes, without integrating: the results follow from the state and inputs alone.

    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    check(m, d)
    _run(m, d, LCP_EVALUATION if second.chosen(m) else FORWARD)


def forward_for(m, d, names):
    """forward, as far as these arrays of Data need it."""
    needs_all = second.chosen(m) or asleep.listed(m) or any(callback.of(m, name) for name in callback.FORMS)
    inputs = {name for name in names if DATA[name].role in ("state", "input")} - {"qacc"}
    if needs_all or any(DATA[name].stage not in SMOOTH_WRITES for name in {*names} - inputs):
        forward(m, d)
    else:
        check(m, d)
        _run(m, d, WITHOUT_CONTACTS)


def start_asleep(m, d, worlds):
    """After a reset of these worlds: trees with the policy mjSLEEP_INIT fall asleep where they are.

    Raises Error where one cannot, such as one that touches a tree without this policy.
    """
    check(m, d)
    kept = sleep.ready(m, d, worlds)
    _run(m, d, FORWARD)
    sleep.settled(m, d, worlds, kept)


def step_skip(m, d, skipstage):
    """step of a single-stage integrator without what is already known, for derivatives; skipstage as forward_skip's."""
    given.check(m, d)
    _refuse_second(m, "derivatives")
    check(m, d)
    _run(m, d, EVALUATIONS[ACCELERATION, skipstage, True])
    _run(m, d, SINGLE[LAST:])


def forward_skip(m, d, skipstage, skipsensor=False):
    """forward without what is already known.

    skipstage  mjtStage: mjSTAGE_POS leaves out what depends on positions alone, mjSTAGE_VEL also what depends on
               velocities, as where only forces were written; mjSTAGE_NONE nothing.
    skipsensor  True: leaves out sensors.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    _refuse_second(m, "evaluation in parts")
    check(m, d)
    _run(m, d, _places(ACCELERATION, skipstage, skipsensor))


def inverse(m, d):
    """Inverse dynamics: qfrc_inverse, the force that has to be applied for the acceleration d.qacc, and the
    qfrc_constraint that goes with it, from positions, velocities and accelerations alone.

    qfrc_inverse = M qacc + qfrc_bias - qfrc_passive - qfrc_constraint; where forward dynamics gave qacc it is the sum
    of qfrc_applied, qfrc_actuator and J' xfrc_applied. With the flag invdiscrete, qacc is the difference of the
    velocities before and after a step over the timestep. Seed 000, "Inverse dynamics".
    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    inverse_skip(m, d, mjtStage.mjSTAGE_NONE)


def inverse_skip(m, d, skipstage, skipsensor=False):
    """inverse without what is already known: arguments and errors of forward_skip."""
    given.check(m, d)
    _refuse_second(m, "inverse dynamics")
    check(m, d)
    inverse_stage.check(m)
    _run(m, d, _places(INVERSE, skipstage, skipsensor))


def _places(last, skipstage, skipsensor):
    """Places in STAGES of an evaluation without what is skipped."""
    if isinstance(skipstage, (bool, np.ndarray)) or skipstage not in SKIPS:
        raise Error(f"skipstage={brief(skipstage)}: expected mjSTAGE_NONE, mjSTAGE_POS or mjSTAGE_VEL of mjtStage")
    if not isinstance(skipsensor, (bool, int, np.bool_, np.integer)):
        raise Error(f"skipsensor={brief(skipsensor)}: expected True or False")
    return EVALUATIONS[last, skipstage, not skipsensor]


def prepare(m, d, show=None):
    """Loads all kernels that steps of the model can come to need; the first step does it. Seconds if they are new.

    show  a function of (kernels done, kernels to be made), called now and then; None: a bar, if a terminal looks on.
    Raises UnsupportedError if the model uses a feature that the engine does not simulate.
    """
    given.check(m, d)
    d.check(m)
    simulable.check(m)
    if second.chosen(m):
        lcp.check(m)
    kernels = needs.kernels_of(m, d)
    room.check(m, d, kernels)
    d._checked = True
    build.prepare(kernels, d.features(), show)


def _run(m, d, stages, times=1):
    """Runs these of STAGES, so often: by the Data's program while they do what they did before, else by Python."""
    if d._open is not None:
        raise Error("a callback of this Data runs within a step, and cannot step it")
    if d._shared:
        asleep.look_at_shared(m, d)
    if FORCES[stages.start] < FORCES[stages.stop]:
        d._info["inverse"] = stages.start >= FIRST_INVERSE
    clock = d.program.clock
    if clock.on and not clock.running:
        with clock.run(stages.start == 0 or stages.stop in WHOLE, times if stages.stop in WHOLE else 0):
            return _run(m, d, stages, times)
    at, makes = stages.start, stages in HARD or None
    if FORCES[at] < FORCES[stages.stop]:
        makes = False
    if stages is LCP and times:
        owed.begin(d)
    elif d._owes:
        d.pay()
    try:
        while times:
            at, done = d.program.run(m, d, stages, at, times)
            times -= done
            if makes is not None and (done or at > stages.start):
                d._info[impulses.LAST] = makes
            if times and (at > stages.start or not done):  # else it stopped only because it had repeated so many
                if clock.running:
                    clock.enter(INVERSE_OF * (at >= FIRST_INVERSE) + STAGES[at].__name__)
                d.program.start()
                STAGES[at](m, d)
                d.program.keep(at)
                at += 1
                if at == stages.stop:
                    at, times = stages.start, times - 1
    finally:
        if d._leaves:
            owed.end(d)
