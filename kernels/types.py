"""Types and small functions that every kernel file shares.

Arrays are flat and world-major: element (w, i) of a quantity with n items per world is at w*n + i, and component c
of a 3-vector at 3*(w*n + i) + c. `SERIAL` is replaced by True in the variant a small scene runs: write
`ti.loop_config(serialize=SERIAL)` above every outermost loop that may run in parallel.
"""

import taichi as ti

from tisim.device import session
from tisim.device.bundle import func
from tisim.device.launch import kernel

__all__ = [
    "ti",
    "func",
    "kernel",
    "FP",
    "F",
    "I",
    "SERIAL",
    "SPREAD",
    "SHORT",
    "CHUNK",
    "MINVAL",
    "vec2",
    "vec3",
    "vec4",
    "vec6",
    "mat3",
    "ld3",
    "st3",
    "ld4",
    "st4",
    "ld6",
    "st6",
    "at6",
    "put6",
    "ldm",
    "stm",
]

FP = ti.f64 if session.precision == "f64" else ti.f32
F = ti.types.ndarray(dtype=FP, ndim=1)
I = ti.types.ndarray(dtype=ti.i32, ndim=1)  # noqa: E741
SERIAL = False
SHORT = False  # True on a CPU: a loop over few, light items stays on one thread there
SPREAD = 1  # loop iterations per unit of heavy work, see launch.Kernel.variant
CHUNK = 32  # neighbours in a list that one thread works through: 4 on a GPU
MINVAL = 1e-15  # mjMINVAL: smallest number a division accepts

vec2 = ti.types.vector(2, FP)
vec3 = ti.types.vector(3, FP)
vec4 = ti.types.vector(4, FP)
vec6 = ti.types.vector(6, FP)
mat3 = ti.types.matrix(3, 3, FP)


@ti.func
def ld3(a: ti.template(), i):
    return vec3(a[3 * i], a[3 * i + 1], a[3 * i + 2])


@ti.func
def st3(a: ti.template(), i, v):
    a[3 * i] = v[0]
    a[3 * i + 1] = v[1]
    a[3 * i + 2] = v[2]


@ti.func
def ld4(a: ti.template(), i):
    return vec4(a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3])


@ti.func
def st4(a: ti.template(), i, v):
    for c in ti.static(range(4)):
        a[4 * i + c] = v[c]


@ti.func
def ld6(a: ti.template(), i):
    return vec6(a[6 * i], a[6 * i + 1], a[6 * i + 2], a[6 * i + 3], a[6 * i + 4], a[6 * i + 5])


@ti.func
def st6(a: ti.template(), i, v):
    for c in ti.static(range(6)):
        a[6 * i + c] = v[c]


@ti.func
def at6(a: ti.template(), i):
    """Six elements from position i."""
    return vec6(a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5])


@ti.func
def put6(a: ti.template(), i, v):
    for c in ti.static(range(6)):
        a[i + c] = v[c]


@ti.func
def ldm(a: ti.template(), i):
    """Matrix i (3 x 3, row major)."""
    return mat3(
        a[9 * i],
        a[9 * i + 1],
        a[9 * i + 2],
        a[9 * i + 3],
        a[9 * i + 4],
        a[9 * i + 5],
        a[9 * i + 6],
        a[9 * i + 7],
        a[9 * i + 8],
    )


@ti.func
def stm(a: ti.template(), i, n):
    for r in ti.static(range(3)):
        for c in ti.static(range(3)):
            a[9 * i + 3 * r + c] = n[r, c]
