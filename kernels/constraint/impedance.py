"""Stiffness, damping and impedance of a constraint from its solver parameters. Seed 000, "Parameters"."""

from ..constants import DSBL_REFSAFE
from ..types import MINVAL, func, ti, vec3

MINIMP = 0.0001  # mjMINIMP, mjMAXIMP: impedance stays inside
MAXIMP = 0.9999


@ti.func
def raised(x, power):
    """x to a power, most often the second."""
    y = x * x
    if power != 2.0:
        y = ti.pow(x, power)
    return y


@func
def stiffness_damping_impedance(m, d, pos, ref0, ref1, imp):
    """K [1/s2], B [1/s] of the reference acceleration and the impedance at distance pos from the margin."""
    r0 = ref0
    r1 = ref1
    if (r0 > 0.0) != (r1 > 0.0):  # mixed formats: the default, as MuJoCo does
        r0 = 0.02
        r1 = 1.0
    if r0 > 0.0 and m.opt.disableflags & DSBL_REFSAFE == 0:
        r0 = ti.max(r0, 2.0 * m.opt.timestep)
    dmin = ti.min(ti.max(imp[0], MINIMP), MAXIMP)
    dmax = ti.min(ti.max(imp[1], MINIMP), MAXIMP)
    width = ti.max(imp[2], 0.0)
    mid = ti.min(ti.max(imp[3], MINIMP), MAXIMP)
    power = ti.max(imp[4], 1.0)
    delta = 0.5 * (dmin + dmax)
    if dmin != dmax and width > MINVAL:
        x = ti.min(ti.abs(pos) / width, 1.0)
        y = x
        if power != 1.0 and x < 1.0 and x > 0.0:
            if x <= mid:
                y = raised(x / mid, power) * mid
            else:
                y = 1.0 - raised((1.0 - x) / (1.0 - mid), power) * (1.0 - mid)
        delta = dmin + y * (dmax - dmin)
    k = -r0 / ti.max(MINVAL, dmax * dmax)
    b = -r1 / ti.max(MINVAL, dmax)
    if r0 > 0.0:
        k = 1.0 / ti.max(MINVAL, dmax * dmax * r0 * r0 * r1 * r1)
        b = 2.0 / ti.max(MINVAL, dmax * r0)
    return vec3(k, b, delta)
