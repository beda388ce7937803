"""Curves of muscles: activation, force by length and velocity, passive force. Seed 004, "Muscles"; seed 001, "muscle".

Parameters stand as in actuator_gainprm: range 0 1, force 2, scale 3, lmin 4, lmax 5, vmax 6, fpmax 7, fvmax 8.
tisim/queries/muscle.py has the same for users, in NumPy; tests hold the two together.
"""

from ..constants import BIAS_MUSCLE, DSBL_ACTUATION, DYN_MUSCLE, DYN_USER, GAIN_MUSCLE, TASK_SHAPED
from ..sleep.awake import task_at, task_count
from ..types import FP, MINVAL, SERIAL, func, kernel, ti


@ti.func
def clip(x, low, high):
    """x between two numbers; NaN stays."""
    y = x
    if x < low:
        y = low
    elif x > high:
        y = high
    return y


@ti.func
def smooth_step(x):
    """From 0 to 1 with two continuous derivatives, for x from 0 to 1."""
    y = clip(x, FP(0.0), FP(1.0))
    return y * y * y * (10.0 + y * (6.0 * y - 15.0))


@ti.func
def activation_rate(ctrl, act, up, down, width):
    """Rate of a muscle's activation; time constants up and down [s], blended over a width of ctrl - act."""
    level = 0.5 + 1.5 * clip(act, FP(0.0), FP(1.0))
    gap = clip(ctrl, FP(0.0), FP(1.0)) - act
    share = ti.cast(gap > 0.0, FP)
    if width >= MINVAL:
        share = smooth_step(gap / width + 0.5)
    slow = down / level
    tau = up * level
    if width >= MINVAL:
        tau = slow + (tau - slow) * share
    elif share == 0.0:
        tau = slow
    return gap / ti.max(MINVAL, tau)


@ti.func
def bump(length, low, high):
    """Force by normalised length: 1 at 1, 0 outside low and high, four parabolas."""
    a, b = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
    y = FP(0.0)
    if length >= low and length <= high:
        if length <= a:
            x = (length - low) / ti.max(MINVAL, a - low)
            y = 0.5 * x * x
        elif length <= 1.0:
            x = (1.0 - length) / ti.max(MINVAL, 1.0 - a)
            y = 1.0 - 0.5 * x * x
        elif length <= b:
            x = (length - 1.0) / ti.max(MINVAL, b - 1.0)
            y = 1.0 - 0.5 * x * x
        else:
            x = (high - length) / ti.max(MINVAL, high - b)
            y = 0.5 * x * x
    return y


@ti.func
def slowed(velocity, most):
    """Force by normalised velocity, positive when the muscle lengthens; `most` is reached at most - 1."""
    y = most
    if velocity <= -1.0:
        y = FP(0.0)
    elif velocity <= 0.0:
        y = (velocity + 1.0) * (velocity + 1.0)
    elif velocity <= most - 1.0:
        x = most - 1.0 - velocity
        y = most - x * x / ti.max(MINVAL, most - 1.0)
    return y


@ti.func
def stretched(length, high):
    """Passive force by normalised length: from 1 on a parabola, then its tangent."""
    b = 0.5 * (1.0 + high)
    y = FP(0.0)
    if length > b:
        y = 0.5 + (length - b) / ti.max(MINVAL, b - 1.0)
    elif length > 1.0:
        x = (length - 1.0) / ti.max(MINVAL, b - 1.0)
        y = 0.5 * x * x
    return y


@ti.func
def normal_length(prm: ti.template(), w, i, length, low, high):
    """(normalised length, optimal length [m]) of actuator i of world w, whose lengths are from low to high."""
    optimal = (high - low) / ti.max(MINVAL, prm[w, i][1] - prm[w, i][0])
    return prm[w, i][0] + (length - low) / ti.max(MINVAL, optimal), optimal


@ti.func
def peak_force(prm: ti.template(), w, i, acc0):
    """Peak force at rest [N]: given, or scale over the acceleration that a unit force makes."""
    force = prm[w, i][2]
    if force < 0.0:
        force = prm[w, i][3] / ti.max(MINVAL, acc0)
    return force


@func
def gain_of(m, d, w, k, i):
    """Force of actuator i per activation, negative: a muscle pulls."""
    low, high = m.actuator_lengthrange[i][0], m.actuator_lengthrange[i][1]
    length, optimal = normal_length(m.actuator_gainprm, w, i, d.actuator_length[k], low, high)
    velocity = d.actuator_velocity[k] / ti.max(MINVAL, optimal * m.actuator_gainprm[w, i][6])
    force = peak_force(m.actuator_gainprm, w, i, m.actuator_acc0[w, i])
    force *= bump(length, m.actuator_gainprm[w, i][4], m.actuator_gainprm[w, i][5])
    return -force * slowed(velocity, m.actuator_gainprm[w, i][8])


@func
def bias_of(m, d, w, k, i):
    """Passive force of actuator i."""
    low, high = m.actuator_lengthrange[i][0], m.actuator_lengthrange[i][1]
    length, _ = normal_length(m.actuator_biasprm, w, i, d.actuator_length[k], low, high)
    force = peak_force(m.actuator_biasprm, w, i, m.actuator_acc0[w, i]) * m.actuator_biasprm[w, i][7]
    return -force * stretched(length, m.actuator_biasprm[w, i][5])


@kernel
def shaped_actuators(m, d):
    """Activation rates, gains and biases of muscles; of what users compute, what holds without them: no rate, gain 1,
    bias 0. Parallel over (world, actuator of that kind).
    """
    n_task = task_count(m, d, TASK_SHAPED, m.nshaped)
    ti.loop_config(serialize=SERIAL)
    for place in range(n_task):
        x = task_at(m, d, TASK_SHAPED, place)
        w = x // m.nshaped
        i = m.shaped_actuator[x % m.nshaped]
        k = w * m.nu + i
        adr = w * m.na + m.actuator_actadr[i]
        if m.actuator_dyntype[i] == DYN_MUSCLE:
            a = adr + m.actuator_actnum[i] - 1
            up, down, width = m.actuator_dynprm[i][0], m.actuator_dynprm[i][1], m.actuator_dynprm[i][2]
            if m.opt.disableflags & DSBL_ACTUATION == 0:
                d.act_dot[a] = activation_rate(d.actuator_ctrl[k], d.act[a], up, down, width)
        elif m.actuator_dyntype[i] == DYN_USER:
            for a in range(adr, adr + m.actuator_actnum[i]):
                d.act_dot[a] = 0.0
        gain = FP(1.0)
        bias = FP(0.0)
        if m.actuator_gaintype[i] == GAIN_MUSCLE:
            gain = gain_of(m, d, w, k, i)
        if m.actuator_biastype[i] == BIAS_MUSCLE:
            bias = bias_of(m, d, w, k, i)
        d.actuator_gain[k] = gain
        d.actuator_bias[k] = bias
