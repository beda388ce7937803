"""Sensors: which kernels make their values, stage by stage. Models without sensors launch nothing here.

A family of sensors is a line in FAMILIES of tisim/model/tables/sensor.py, a kernel over its table in kernels/sensor/,
and a line in KERNELS here. Cutoffs are applied behind all of a stage.
"""

from tisim.device import launch, runtime
from tisim.enums import mjtDisableBit, mjtStage

from . import contact_sensors, distances, rangefinders
from .dynamics import parallel

# by stage: kernels, and the number in the model without which there is nothing to do
KERNELS = {
    mjtStage.mjSTAGE_POS: (("value.position_values", "nposvalue"),),
    mjtStage.mjSTAGE_VEL: (("value.velocity_values", "nvelvalue"),),
    mjtStage.mjSTAGE_ACC: (("value.force_values", "naccvalue"),),
}

# by stage: what more than one list of kernels is needed for
OTHERS = {
    mjtStage.mjSTAGE_POS: (rangefinders, distances),
    mjtStage.mjSTAGE_VEL: (),
    mjtStage.mjSTAGE_ACC: (contact_sensors,),
}


def kernels(m, stage):
    """Kernels of a stage (mjtStage) that have something to do in this model."""
    if not m._sizes["nsensor"] or m.disabled(mjtDisableBit.mjDSBL_SENSOR):
        return []
    found = [runtime.kernel_of(f"sensor.{path}") for path, size in KERNELS[stage] if m.scalar(size)]
    at = m.sensor_needstage == stage
    if m.scalar("nuservalue") and at[m.derived("uservalue_sensor")].any():
        found.append(runtime.kernel_of("sensor.output.clear_user"))
    if m.scalar("ncut") and at[m.derived("cut_sensor")].any():
        found.append(runtime.kernel_of("sensor.output.cut_off"))
    return found


def _sense(m, d, stage):
    if m._sizes["nsensor"] and not m.disabled(mjtDisableBit.mjDSBL_SENSOR):
        for family in OTHERS[stage]:
            family.sense(m, d)
    if found := kernels(m, stage):
        launch.run(m, d, found, parallel(m, d), sensorstage=int(stage))


def sensor_pos(m, d):
    """Sensors of positions, in sensordata."""
    _sense(m, d, mjtStage.mjSTAGE_POS)


def sensor_vel(m, d):
    """Sensors of velocities."""
    _sense(m, d, mjtStage.mjSTAGE_VEL)


def sensor_acc(m, d):
    """Sensors of accelerations and forces."""
    _sense(m, d, mjtStage.mjSTAGE_ACC)


def all_kernels(m):
    """Kernels that steps of this model launch."""
    return [kernel for stage in KERNELS for kernel in kernels(m, stage)]
