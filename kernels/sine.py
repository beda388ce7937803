"""Sine and cosine on CUDA without a stack, on which CUDA's library keeps what it needs for large angles.

The angle's distance from the nearest quarter of a turn, by pi / 2 in three parts of which two have 33 bits, so that
their products with less than 2^20 quarters are exact; then Taylor's series, whose rest is below 2^-57. All of it is
f64. W. J. Cody, W. Waite, "Software manual for the elementary functions" (1980).
"""

import math

from tisim.kernels.types import WIDE, ti

from tisim.device import session

CUDA = session.arch == "cuda"
QUARTER = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # of a turn [rad], in parts
MOST = 1e15  # rad: beyond, an angle has no digits that tell its place in a turn
LEAST = -1e300  # no number here is smaller, which a compiler does not know: it keeps differences as they stand
ODD = tuple((-1) ** n / math.factorial(2 * n + 1) for n in range(1, 9))
EVEN = tuple((-1) ** n / math.factorial(2 * n) for n in range(2, 9))


def is_wide(x):
    """Whether Taichi's expression x is f64."""
    return x.ptr.get_rvalue_type().to_string() == "f64"


@ti.func
def sin_cos(x):
    """(sin x, cos x) of an angle [rad], in x's precision."""
    s, c = x, x
    if ti.static(CUDA):
        sine, cosine = _wide(ti.cast(x, WIDE))
        if ti.static(is_wide(x)):
            s, c = sine, cosine
        else:
            s, c = ti.cast(sine, ti.f32), ti.cast(cosine, ti.f32)
    else:
        s, c = ti.sin(x), ti.cos(x)
    return s, c


@ti.func
def _wide(x):
    """The same in f64. Of an angle that is not finite they are NaN."""
    n = ti.round(x * WIDE(2.0 / math.pi))
    part = n * WIDE(QUARTER[1])
    far = x - n * WIDE(QUARTER[0])
    near = ti.max(far - part, WIDE(LEAST))
    lost = n * WIDE(QUARTER[2]) - ((far - near) - part)
    r = ti.max(near - lost, WIDE(LEAST))
    t = (near - r) - lost  # what r has no digits for
    z = r * r
    s, c = WIDE(ODD[7]), WIDE(EVEN[6])
    for k in ti.static(range(7)):
        s = WIDE(ODD[6 - k]) + z * s
    for k in ti.static(range(6)):
        c = WIDE(EVEN[5 - k]) + z * c
    half = WIDE(0.5) * z
    one = WIDE(1.0) - half
    s = r + (t + r * z * s - half * t)
    c = one + (((WIDE(1.0) - one) - half) + (z * z * c - r * t))
    quarter = ti.cast(n - WIDE(4.0) * ti.floor(n * WIDE(0.25)), ti.i32)
    sine, cosine = s, c
    if quarter % 2 == 1:
        sine, cosine = c, s
    if quarter >= 2:
        sine = -sine
    if quarter == 1 or quarter == 2:
        cosine = -cosine
    if not ti.abs(x) <= WIDE(MOST):
        sine, cosine = x - x, (x - x) + WIDE(1.0)
    return sine, cosine
