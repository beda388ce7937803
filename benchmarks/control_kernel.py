"""The control callback in Taichi of benchmarks/arms.py: in a file of its own, since types follow from its imports."""

import tisim


@tisim.kernel
def damp(m, d):
    """A motor at each joint brakes it; parallel over (world, actuator)."""
    for k in range(d.nworld * m.nu):
        d.ctrl[k] = -0.1 * d.qvel[k]
