"""Users' callbacks, called where MuJoCo calls them. Seed 003, "Simulation loop" and "Forward dynamics".

Taichi code is launched like other kernels, and repeated with them. A Python function is called by the stage itself,
which Python then runs in each step; arrays that it may write are open to it meanwhile.
"""

import contextlib

import numpy as np

from tisim.data import asleep
from tisim.device import flow, launch, memory, runtime
from tisim.device.variant import Kernel
from tisim.enums import mjtBias, mjtDisableBit, mjtDyn, mjtGain
from tisim.errors import Error, brief
from tisim.model import callback
from tisim.model.callback import is_taichi

from .dynamics import parallel

ACT = ("act_dyn", "act_gain", "act_bias")


def control(m, d):
    """The callback control, unless actuation is disabled."""
    if not m.disabled(mjtDisableBit.mjDSBL_ACTUATION):
        always_control(m, d)


def always_control(m, d):
    """The callback control; 3.4.0 calls it in step1 even if actuation is disabled."""
    if f := callback.of(m, "control"):
        _call(m, d, f)


def passive(m, d):
    """The callback passive, unless springs and dampers are disabled, and with them all passive forces."""
    f = callback.of(m, "passive")
    if f and m.nv and not (m.disabled(mjtDisableBit.mjDSBL_SPRING) and m.disabled(mjtDisableBit.mjDSBL_DAMPER)):
        _call(m, d, f, "qfrc_passive")


def sensor_kernels(m):
    """The callback sensor, if it is a kernel: sensors launch it with theirs."""
    return [f] if isinstance(f := callback.of(m, "sensor"), Kernel) else []


def python_sensor(m):
    """The callback sensor, if it is a Python function."""
    return None if sensor_kernels(m) else callback.of(m, "sensor")


def sensor(m, d, stage):
    """Calls that function at an mjtStage."""
    with _open(d, "sensordata"):
        python_sensor(m)(m, d, stage)


def _call(m, d, f, *writes):
    """Calls a callback of a whole stage, which may write these arrays besides inputs."""
    if isinstance(f, Kernel):
        launch.run(m, d, [f], parallel(m, d))
        if asleep.enabled(m) and (bits := _wakes(f, m.features())):
            d.set_counts(nwritten=bits)
    else:
        with _open(d, *writes):
            f(m, d)


def _wakes(f, has):
    """Bits of the count nwritten that say what a kernel of the user writes."""
    writes = flow.flow(f.function, has).writes
    return sum({bit for name, bit in asleep.WRITTEN.items() if f"d.{name}" in writes})


@contextlib.contextmanager
def _open(d, *names):
    """While a Python function of the user runs: it may write these arrays, and may not step."""
    d.program.spoil()
    d._open = names
    try:
        yield
    finally:
        d._open = None
    d.program.spoil()  # what it launched is no part of the stage


# ---- actuators of type user


def actuator_kernels(m):
    """Kernels of act_dyn, act_gain and act_bias where they are Taichi code."""
    given = [f if f is not None and is_taichi(f) else None for f in (callback.of(m, name) for name in ACT)]
    if not m.nu or not m.scalar("nshaped") or not any(given):
        return []
    return [runtime.kernel_of("actuation.user.user_actuators", *given)]


def python_actuators(m):
    """[(callback's name, function, actuators)] that are Python functions and have something to do."""
    found = []
    if m.nu and m.scalar("nshaped") and not m.disabled(mjtDisableBit.mjDSBL_ACTUATION):
        kinds = m.actuator_dyntype == mjtDyn.mjDYN_USER, *_kinds(m)
        for name, kind in zip(ACT, kinds):
            f = callback.of(m, name)
            if f is not None and not is_taichi(f) and kind.any():
                found.append((name, f, np.flatnonzero(kind).tolist()))
    return found


def _kinds(m):
    """(whose gain, whose bias) is the user's, of the actuators that are not switched off."""
    group = np.asarray(m.actuator_group)
    off = (group >= 0) & (group < 31) & (int(m.opt.disableactuator) >> np.clip(group, 0, 30) & 1 != 0)
    return (m.actuator_gaintype == mjtGain.mjGAIN_USER) & ~off, (m.actuator_biastype == mjtBias.mjBIAS_USER) & ~off


def actuators(m, d):
    """act_dot, gains and biases by Python functions, called for one actuator after the other."""
    for name, f, ids in python_actuators(m):
        target = dict(act_dyn="act_dot", act_gain="actuator_gain", act_bias="actuator_bias")[name]
        found = {}
        with _open(d, *["act_dot"] * (name == "act_dyn")):
            for i in ids:
                value = f(m, d, i)
                if name != "act_dyn":
                    found[i] = _value(value, d.nworld, name, i)
                elif m.actuator_actnum[i] == 1:  # of several the function writes act_dot itself
                    found[int(m.actuator_actadr[i])] = _value(value, d.nworld, name, i)
        if found:
            values = d.host(target).copy()
            values[:, list(found)] = np.stack(list(found.values()), axis=-1)
            memory.upload(d.device(target), values.reshape(-1))


def _value(value, nworld, name, i):
    """What a callback returned, for each world."""
    try:
        numbers = np.asarray(() if value is None else value, float)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.shape not in ((), (1,), (nworld,)):
        raise Error(
            f"callback {name} returned {brief(value)} for actuator {i}; expected a number"
            f"{f', or one for each of {nworld} worlds' if nworld > 1 else ''}"
        )
    return np.broadcast_to(numbers, nworld)


def kernels_of(m):
    """The kernels of callbacks that steps of this model launch."""
    found = [f for name in ("control", "passive") if isinstance(f := callback.of(m, name), Kernel)]
    return found + actuator_kernels(m)
