"""Five kernels, four of them faulty, on the software device: prints for each, as JSON, the kinds of conflicts that were
seen and whether the order of the threads changes what it computes; then how often a * b - b * a is not 0.
"""

import ctypes
import json
import os
import sys
import tempfile

import numpy as np
import taichi as ti

device = ctypes.CDLL("libcuda.so")
order = ctypes.c_int.in_dll(device, "softgpu_order")
ti.init(arch=ti.cuda, offline_cache=False, log_level=ti.ERROR, advanced_optimization=False,
        cache_loop_invariant_global_vars=False, fast_math=False)  # fmt: skip
FLOATS, INTS = ti.types.ndarray(ti.f32, 1), ti.types.ndarray(ti.i32, 1)
N = 500


@ti.kernel
def sound(n: ti.i32, a: FLOATS, b: FLOATS):
    for i in range(n):
        b[i] = a[i] + a[(i + 1) % n]


@ti.kernel
def reads_its_neighbour(n: ti.i32, a: FLOATS):
    for i in range(n):
        a[i] = a[(i + 1) % n] + 1.0


@ti.kernel
def two_write_one_place(n: ti.i32, a: FLOATS):
    for i in range(n):
        a[i // 2] = ti.cast(i, ti.f32)


@ti.kernel
def sums_floats(n: ti.i32, a: FLOATS, b: FLOATS):
    for i in range(n):
        b[0] += a[i]


@ti.kernel
def appends(n: ti.i32, count: INTS, out: INTS):
    for i in range(n):
        out[ti.atomic_add(count[0], 1)] = i


@ti.kernel
def cross(n: ti.i32, a: FLOATS, b: FLOATS):
    for i in range(n):
        b[i] = a[i] * a[i + 1] - a[i + 1] * a[i]


@ti.kernel
def cross_apart(n: ti.i32, a: FLOATS, b: FLOATS):
    """As `apart` of kernels/types.py keeps products."""
    for i in range(n):
        b[i] = ti.max(a[i] * a[i + 1], -1e30) - ti.max(a[i + 1] * a[i], -1e30)


def kinds():
    with tempfile.NamedTemporaryFile() as file:
        device.softgpu_report(file.name.encode())
        return sorted({int(line.split()[2]) for line in open(file.name) if line.startswith("race")})


def arrays_of(kernel, values):
    out = []
    for argument in list(kernel._primal.arguments)[1:]:
        integer = argument.annotation.dtype == ti.i32
        out.append(ti.ndarray(ti.i32 if integer else ti.f32, (N + 1,)))
        if not integer:
            out[-1].from_numpy(values)
    return out


def main():
    values = np.random.default_rng(0).uniform(0.1, 1, N + 1).astype(np.float32)
    told = {}
    for kernel in (sound, reads_its_neighbour, two_write_one_place, sums_floats, appends):
        results = []
        for order.value in (0, 1, 7):
            arrays = arrays_of(kernel, values)
            device.softgpu_clear()
            kernel(N, *arrays)
            seen = kinds()
            results.append(np.concatenate([a.to_numpy() for a in arrays]))
        told[kernel.__name__] = [seen, any((r != results[0]).any() for r in results)]
    for name, kernel in dict(contracted=cross, apart=cross_apart).items():
        arrays = arrays_of(kernel, values)
        kernel(N, *arrays)
        told[name] = int((arrays[1].to_numpy()[:N] != 0).sum())
    print(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


main()
