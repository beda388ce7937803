"""Small Taichi functions over bundles, for tests of how kernels are put together."""

import taichi as ti

from tisim.device.bundle import func


@func
def speed(m, d, i):
    return d.qvel[i]


@func
def mass(m, d, i):
    return m.body_mass[i]


@ti.func
def scale(i, factor, a: ti.template(), b: ti.template()):
    """Reads a, writes b; factor is a copy."""
    factor = 2.0 * factor
    b[i] = factor * a[i]


@ti.func
def clear_first(v: ti.template()):
    v[0] = 0.0
