"""Sensors that look at contacts: their forces, the contacts of each body, then the sensors' values."""

from tisim.device import launch, runtime

from .dynamics import parallel

# kernels and the number in the model without which there is nothing to do
VALUES = (("touch.touch_values", "ntouch"), ("contacts.contact_values", "ncontacts"),
          ("tactile.pressed_geoms", "ntactile"), ("tactile.tactile_values", "ntactile"))  # fmt: skip


def kernels(m, d):
    """Kernels in their order."""
    found = [runtime.kernel_of(f"sensor.{path}") for path, size in VALUES if m.scalar(size)]
    if found:
        k = runtime.kernels("constraint.wrenches")
        forces = k.dual_wrenches if d._info.get("dual") else k.contact_wrenches
        found = [forces, runtime.kernel_of("sensor.lists.sense_lists"), *found]
    return found


def sense(m, d):
    """Values of all sensors of contacts."""
    if found := kernels(m, d):
        launch.run(m, d, found, parallel(m, d))
