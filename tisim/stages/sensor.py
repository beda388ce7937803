"""Sensors: which kernels make their values, stage by stage. Models without sensors launch nothing here.

A family of sensors is a line in FAMILIES of tisim/model/tables/sensor.py, a kernel over its table in kernels/sensor/,
and a line in KERNELS here. Cutoffs are applied behind all of a stage.
"""

import numpy as np

from tisim.data import on_demand
from tisim.device import launch, runtime
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtSensor, mjtStage

from . import callbacks, distances, dual, rangefinders
from .dynamics import energy_kernels, parallel

# by stage: kernels, and the number in the model without which there is nothing to do
KERNELS = {
    mjtStage.mjSTAGE_POS: (
        ("value.position_values", "nposvalue"), ("pose.poses", "npose"),
        ("pose.projections", "nprojection"), ("limit.limit_positions", "nlimitpos"), ("energy.energies", "nenergy"),
        ("inside.inside_values", "ninside"),
    ),
    mjtStage.mjSTAGE_VEL: (
        ("value.velocity_values", "nvelvalue"), ("motion.velocities", "nvelocity"), ("motion.momenta", "nmomentum"),
        ("limit.limit_velocities", "nlimitvel"),
    ),
    mjtStage.mjSTAGE_ACC: (
        ("value.force_values", "naccvalue"), ("motion.accelerations", "nacceleration"), ("motion.wrenches", "nwrench"),
        ("limit.limit_forces", "nlimitfrc"), ("lists.sense_lists", "nsensed"), ("touch.touch_values", "ntouch"),
        ("contacts.contact_values", "ncontacts"), ("tactile.pressed_geoms", "ntactile"),
        ("tactile.tactile_values", "ntactile"),
    ),
}  # fmt: skip
# by stage: what needs launches of its own
ALONE = {mjtStage.mjSTAGE_POS: (rangefinders, distances)}


def before(m, stage, inverse):
    """Kernels of what sensors of a stage need and no other stage makes."""
    if stage == mjtStage.mjSTAGE_POS:
        return energy_kernels(m) if m.scalar("nenergy") and not _has_energy(m) else []
    if stage == mjtStage.mjSTAGE_VEL:
        return on_demand.momentum_kernels() if m.scalar("nmomentum") else []
    forces = on_demand.wrench_kernels(dual.is_dual(m) and not inverse, inverse)
    whole = m.scalar("ncontacts") and (m.derived("match_lists")[:, 0] < 0).any()  # these look through all contacts
    balls = [runtime.kernel_of("sensor.lists.enclose_contacts")] if whole else []
    if m.scalar("nwrench"):
        return balls + forces
    contacts = forces[:1] if m.scalar("ntouch") or m.scalar("ncontacts") else []
    rates = [k for k in forces if k.__name__.endswith("_accelerations")] if m.scalar("nacceleration") else []
    return balls + contacts + rates


def kernels(m, stage, inverse=False):
    """Kernels of a stage (mjtStage) that have something to do in this model.  inverse: behind inverse dynamics."""
    if not m._sizes["nsensor"] or m.disabled(mjtDisableBit.mjDSBL_SENSOR):
        return []
    found = [runtime.kernel_of(f"sensor.{path}") for path, size in KERNELS[stage] if m.scalar(size)]
    found = [*before(m, stage, inverse), *found]
    if _asked(m, stage, "uservalue"):
        found += [runtime.kernel_of("sensor.output.clear_user"), *callbacks.sensor_kernels(m)]
    if _asked(m, stage, "cut"):
        found.append(runtime.kernel_of("sensor.output.cut_off"))
    if _silences(m, stage):
        found.append(runtime.kernel_of("sensor.output.silence"))
    return found


def _silences(m, stage):
    """Whether trees can be removed that a sensor of a stage names."""
    return m.comes_and_goes and _asked(m, stage, "bound")


def _asked(m, stage, table):
    """Whether a sensor of this table belongs to a stage."""
    return bool(m.scalar(f"n{table}")) and bool((m.sensor_needstage == stage)[m.derived(f"{table}_sensor")].any())


def _has_energy(m):
    """Whether the energies are computed in any case."""
    return bool(m.opt.enableflags & mjtEnableBit.mjENBL_ENERGY)


def _kept(m):
    """What stays in d.energy, as bits of d.keep_energy: as in 3.4.0, without the flag no more than sensors ask for, and
    nothing where none asks for the potential energy."""
    if _has_energy(m):
        return 3
    potential = np.any(m.sensor_type == mjtSensor.mjSENS_E_POTENTIAL)
    return int(potential) * (1 + 2 * int(np.any(m.sensor_type == mjtSensor.mjSENS_E_KINETIC)))


def _sense(m, d, stage, inverse=False):
    if m._sizes["nsensor"] and not m.disabled(mjtDisableBit.mjDSBL_SENSOR):
        for family in ALONE.get(stage, ()):
            family.sense(m, d)
    found = kernels(m, stage, inverse)
    if found and _asked(m, stage, "uservalue") and callbacks.python_sensor(m):
        n = len(found) - _asked(m, stage, "cut") - _silences(m, stage)
        _launch(m, d, found[:n], stage)
        callbacks.sensor(m, d, stage)
        found = found[n:]
    _launch(m, d, found, stage)


def _launch(m, d, found, stage):
    if found:
        launch.run(m, d, found, parallel(m, d), sensorstage=int(stage), keep_energy=_kept(m))


def sensor_pos(m, d):
    """Sensors of positions, in sensordata."""
    _sense(m, d, mjtStage.mjSTAGE_POS)


def sensor_vel(m, d):
    """Sensors of velocities."""
    _sense(m, d, mjtStage.mjSTAGE_VEL)


def sensor_acc(m, d):
    """Sensors of accelerations and forces."""
    _sense(m, d, mjtStage.mjSTAGE_ACC)


def sensor_inv(m, d):
    """The same behind inverse dynamics, at the acceleration that these were taken of."""
    _sense(m, d, mjtStage.mjSTAGE_ACC, True)


def lay_down_kernels(m):
    """Kernels behind the sensors of the step in which some fell asleep."""
    wrenches = [runtime.kernels("constraint.wrenches").slept_wrenches] if m.scalar("nwrench") else []
    return [*wrenches, runtime.kernels("sleep.falling").forget_slept]


def lay_down(m, d):
    """Those that fell asleep in this step sleep for sensors, too, from now on."""
    launch.run(m, d, lay_down_kernels(m), parallel(m, d))


def all_kernels(m, d):
    """Kernels that steps of this model launch."""
    found = [kernel for stage in KERNELS for kernel in kernels(m, stage)]
    if found or m._sizes["nsensor"]:
        found += [kernel for families in ALONE.values() for family in families for kernel in family.kernels(m, d)]
    return list(dict.fromkeys(found))
