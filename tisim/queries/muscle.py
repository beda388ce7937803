"""MuJoCo's muscle model as functions of numbers or arrays, which broadcast. Seed 004, "Muscles"; seed 001, "muscle".

kernels/actuation/muscle.py has the same for the step; tests hold the two together. Parameters stand as in
actuator_gainprm: range (2) [optimal lengths], peak force [N] or -1, scale, lmin, lmax, vmax, fpmax, fvmax.
"""

import numpy as np

from tisim.errors import Error, brief
from tisim.model.watched import numbers

MINVAL = 1e-15


def _array(value, name, size=None):
    try:
        out = np.asarray(numbers(value), float)
    except (TypeError, ValueError):
        raise Error(f"{name}={brief(value)}: expected numbers") from None
    if size is not None and (out.ndim != 1 or out.size < size):
        raise Error(f"{name} has shape {out.shape}: expected {size} numbers")
    return out


def _arrays(**named):
    """Arguments as arrays whose shapes fit each other."""
    arrays = [_array(value, name) for name, value in named.items()]
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise Error(f"{', '.join(named)}: the shapes {shapes} do not fit each other") from None
    return arrays


def _floor(x):
    return np.maximum(MINVAL, x)


def muscle_gain_length(length, lmin, lmax):
    """Active force of a muscle by its length: 1 at length 1, 0 outside lmin and lmax, four parabolas between.

    length  in optimal lengths;  lmin < 1 < lmax. Returns an array of length's shape, or a float.
    """
    x, low, high = _arrays(length=length, lmin=lmin, lmax=lmax)
    a, b = 0.5 * (low + 1), 0.5 * (1 + high)
    out = np.where(x <= b, 1 - 0.5 * ((x - 1) / _floor(b - 1)) ** 2, 0.5 * ((high - x) / _floor(high - b)) ** 2)
    out = np.where(x <= 1, 1 - 0.5 * ((1 - x) / _floor(1 - a)) ** 2, out)
    out = np.where(x <= a, 0.5 * ((x - low) / _floor(a - low)) ** 2, out)
    return np.where((low <= x) & (x <= high), out, 0.0)[()]


def _scaled(length, lengthrange, acc0, prm):
    """(length in optimal lengths, optimal length [m], peak force [N])."""
    span, prm = _array(lengthrange, "lengthrange", 2), _array(prm, "prm", 9)
    optimal = (span[1] - span[0]) / _floor(prm[1] - prm[0])
    if prm[2] >= 0:
        length, force = _array(length, "length"), prm[2]
    else:
        length, acc0 = _arrays(length=length, acc0=acc0)
        force = prm[3] / _floor(acc0)
    return prm[0] + (length - span[0]) / _floor(optimal), optimal, force, prm


def muscle_gain(length, velocity, lengthrange, acc0, prm):
    """Force of a muscle per activation [N], negative, since it pulls: mju_muscleGain.

    length [m];  velocity [m/s];  lengthrange (2,) [m];  acc0  acceleration that a unit force makes [1/kg];  prm (9,).
    """
    length, velocity = _arrays(length=length, velocity=velocity)
    x, optimal, force, prm = _scaled(length, lengthrange, acc0, prm)
    v, most = velocity / _floor(optimal * prm[6]), prm[8]
    out = np.where(v <= most - 1, most - (most - 1 - v) ** 2 / _floor(most - 1), most)
    out = np.where(v <= 0, (v + 1) ** 2, out)
    out = np.where(v <= -1, 0.0, out)
    return (-force * muscle_gain_length(x, prm[4], prm[5]) * out)[()]


def muscle_bias(length, lengthrange, acc0, prm):
    """Passive force of a muscle [N], negative: mju_muscleBias. Arguments as in muscle_gain."""
    x, _, force, prm = _scaled(length, lengthrange, acc0, prm)
    b = 0.5 * (1 + prm[5])
    part = (x - 1) / _floor(b - 1)
    out = np.where(x <= b, 0.5 * part**2, 0.5 + (x - b) / _floor(b - 1))
    return (-force * prm[7] * np.where(x <= 1, 0.0, out))[()]


def muscle_dynamics(ctrl, act, prm):
    """Rate of a muscle's activation [1/s]: mju_muscleDynamics.

    ctrl, act  numbers or arrays;  prm (3,) time constants of activation and deactivation [s], width of the smooth
    transition between them, 0 for none.
    """
    prm = _array(prm, "prm", 3)
    ctrl, act = _arrays(ctrl=ctrl, act=act)
    level = 0.5 + 1.5 * np.clip(act, 0, 1)
    gap = np.clip(ctrl, 0, 1) - act
    up, down = prm[0] * level, prm[1] / level
    y = np.clip(gap / _floor(prm[2]) + 0.5, 0, 1)
    smooth = down + (up - down) * y**3 * (10 + y * (6 * y - 15))
    return (gap / _floor(smooth if prm[2] >= MINVAL else np.where(gap > 0, up, down)))[()]
