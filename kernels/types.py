"""Types and small functions that every kernel file shares.

Element (w, i) of a quantity with n items per world is at w*n + i, a number, vector or matrix as declared in
tisim/data/arrays/. `SERIAL` is replaced by True in the variant a small scene runs: write
`ti.loop_config(serialize=SERIAL)` above every outermost loop that may run in parallel.
"""

import taichi as ti

from tisim.device import neighbours, session, unpaired
from tisim.device.bundle import func
from tisim.device.called import called
from tisim.device.variant import kernel

__all__ = [
    "ti",
    "func",
    "called",
    "kernel",
    "FP",
    "WIDE",
    "GPU",
    "SERIAL",
    "SPREAD",
    "HAND",
    "SHORT",
    "CHUNK",
    "VECTORS",
    "ABREAST",
    "MINVAL",
    "EPSILON",
    "vec2",
    "vec3",
    "vec4",
    "vec6",
    "mat3",
    "wide3",
    "wide33",
    "at6",
    "put6",
    "six",
    "subtract",
    "store",
    "pick",
    "one_of",
    "narrow",
    "apart",
    "root",
    "over",
    "dot",
    "times",
    "product",
    "cross",
]

FP = ti.f64 if session.precision == "f64" else ti.f32
WIDE = ti.f64 if session.arch in ("cpu", "cuda") else FP  # where f32 decides wrongly; not all other devices have f64
GPU = session.arch != "cpu"
SERIAL = False
SHORT = False  # True on a CPU: a loop over few, light items stays on one thread there
SPREAD = 1  # loop iterations per unit of heavy work, see variant.Kernel.special
HAND = 512  # loop iterations per worker, see kernels/team.py: what a CPU thread takes at once; 1 on a GPU
VECTORS = (
    unpaired.VERSION
)  # a kernel that names it has inner loops whose turns a CPU does several at once, see compile_ir
ABREAST = 100 * unpaired.VERSION + neighbours.VERSION  # a kernel with vectors of things side by side, see these
CHUNK = 32  # neighbours in a list that one thread works through, and reserves places for at once: 4 on a GPU
LEAST = -1e300 if FP == ti.f64 else -1e30  # no product is smaller, which a compiler does not know
MINVAL = 1e-15  # mjMINVAL: smallest number a division accepts
EPSILON = 2.0**-52 if FP == ti.f64 else 2.0**-23  # of FP: between 1 and the next number

vec2 = ti.types.vector(2, FP)
vec3 = ti.types.vector(3, FP)
vec4 = ti.types.vector(4, FP)
vec6 = ti.types.vector(6, FP)
mat3 = ti.types.matrix(3, 3, FP)
wide3 = ti.types.vector(3, WIDE)
wide33 = ti.types.matrix(3, 3, WIDE)


@ti.func
def at6(a: ti.template(), i):
    """Six elements from position i."""
    return vec6(a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5])


@ti.func
def put6(a: ti.template(), i, v):
    for c in ti.static(range(6)):
        a[i + c] = v[c]


@ti.func
def six(v):
    """The first six numbers of a vector of eight."""
    return vec6(v[0], v[1], v[2], v[3], v[4], v[5])


@ti.func
def subtract(a: ti.template(), to, e, begin, n):
    """a[to:to + n] -= e * a[begin:begin + n], which do not overlap; four at a time, of which LLVM makes vectors."""
    whole = n // 4 * 4
    k = 0
    while k < whole:
        x = vec4(0.0)
        for c in ti.static(range(4)):
            x[c] = a[to + k + c] - e * a[begin + k + c]
        for c in ti.static(range(4)):
            a[to + k + c] = x[c]
        k += 4
    while k < n:
        a[to + k] = a[to + k] - e * a[begin + k]
        k += 1


@ti.func
def store(a: ti.template(), i, v):
    """a[i] = v, where elements of a have room for more numbers than v has."""
    for c in ti.static(range(v.n)):
        a[i][c] = v[c]


@ti.func
def pick(v: ti.template(), k):
    """v[k] of a vector of three, where k is known at run time only. A GPU's thread would need a stack for that."""
    x = v[0]
    if ti.static(GPU):
        x = one_of(k, v[0], v[1], v[2])
    else:
        x = v[k]
    return x


@ti.func
def one_of(k, a, b, c):
    """a, b or c, for 0, 1 or 2."""
    return ti.select(k == 0, a, ti.select(k == 1, b, c))


@ti.func
def narrow(x):
    """x in the running precision: what was reckoned in f64 (wide.py) becomes a number, vector or matrix of FP."""
    return ti.cast(x, FP)


@ti.func
def apart(x):
    """A product that is kept out of a fused product-sum: a GPU's compiler makes those whatever it is told, and then
    a * b - b * a is not 0. Where a sign or a zero decides something its products go through here."""
    y = x
    if ti.static(GPU):
        y = ti.max(x, FP(LEAST))
    return y


@ti.func
def root(x):
    """ti.sqrt(x), kept apart from a division by it, for which a GPU's compiler takes an approximation."""
    y = ti.sqrt(x)
    if ti.static(GPU):
        y = ti.max(y, FP(LEAST))
    return y


@ti.func
def over(v, x):
    """Vector v / x by divisions, where a GPU's compiler would multiply by 1 / x."""
    y = v / x
    if ti.static(GPU):
        for c in ti.static(range(v.n)):
            y[c] = v[c] / ti.max(x, FP(LEAST * (1.0 - 0.1 * c)))  # of which none knows that they are the same
    return y


@ti.func
def dot(a, b):
    """a.dot(b), with products that are kept apart."""
    s = a.dot(b)
    if ti.static(GPU):
        s = apart(a[0] * b[0]) + apart(a[1] * b[1]) + apart(a[2] * b[2])
    return s


@ti.func
def times(R, v):
    """R @ v, with products that are kept apart."""
    y = R @ v
    if ti.static(GPU):
        for r in ti.static(range(3)):
            y[r] = apart(R[r, 0] * v[0]) + apart(R[r, 1] * v[1]) + apart(R[r, 2] * v[2])
    return y


@ti.func
def product(A, B):
    """A @ B, with products that are kept apart."""
    C = A @ B
    if ti.static(GPU):
        for r in ti.static(range(3)):
            for c in ti.static(range(3)):
                C[r, c] = apart(A[r, 0] * B[0, c]) + apart(A[r, 1] * B[1, c]) + apart(A[r, 2] * B[2, c])
    return C


@ti.func
def cross(a, b):
    """a.cross(b), with products that are kept apart."""
    n = a.cross(b)
    if ti.static(GPU):
        n = ti.Vector(
            [
                apart(a[1] * b[2]) - apart(a[2] * b[1]),
                apart(a[2] * b[0]) - apart(a[0] * b[2]),
                apart(a[0] * b[1]) - apart(a[1] * b[0]),
            ]
        )
    return n
