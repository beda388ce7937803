"""Sines and cosines on the device against the CPU's: prints, as JSON, the largest errors in units of the last digit,
and what becomes of angles that have no place in a turn.
"""

import json
import os
import sys

import numpy as np

import tisim

tisim.init()

from tisim.kernels.sine import sin_cos  # noqa: E402
from tisim.kernels.types import ti  # noqa: E402

F64, F32 = ti.types.ndarray(ti.f64, 1), ti.types.ndarray(ti.f32, 1)


@ti.kernel
def in_f64(n: ti.i32, x: F64, s: F64, c: F64):
    for i in range(n):
        s[i], c[i] = sin_cos(x[i])


@ti.kernel
def in_f32(n: ti.i32, x: F32, s: F32, c: F32):
    for i in range(n):
        s[i], c[i] = sin_cos(x[i])


def computed(act, kind, angles):
    arrays = [ti.ndarray(kind, (len(angles),)) for _ in range(3)]
    arrays[0].from_numpy(angles)
    act(len(angles), *arrays)
    return [a.to_numpy() for a in arrays[1:]]


def main():
    rng = np.random.default_rng(0)
    angles = np.concatenate(
        [rng.uniform(-4, 4, 9000), rng.uniform(-1e3, 1e3, 9000), rng.uniform(-1e6, 1e6, 9000),
         np.arange(1, 600) * (np.pi / 4), 10.0 ** rng.uniform(-30, -1, 600)]
    )  # fmt: skip
    told = {}
    for name, act, kind, given in (("f64", in_f64, ti.f64, angles), ("f32", in_f32, ti.f32, angles.astype(np.float32))):
        exact = [f(given.astype(np.float64)) for f in (np.sin, np.cos)]
        digits = [np.spacing(np.abs(x).astype(given.dtype)) for x in exact]
        pairs = zip(computed(act, kind, given), exact, digits)
        told[name] = [float((np.abs(x.astype(np.float64) - y) / u).max()) for x, y, u in pairs]
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, 4e15, -1e300])
    told["odd"] = [x.tolist() for x in computed(in_f64, ti.f64, odd)]
    print(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


main()
