"""Sine and cosine on the (software) CUDA device, which has its own: to the last digit of f64 up to 10^6 rad and beside
multiples of a quarter turn, in f32 rounded from there. What has no place in a turn is told: NaN where an angle is not
finite, and no turn beyond 10^15 rad, where an angle has no digits for one.
"""

import json
import math

import pytest

from .software import HERE, needs_compiler, start


@needs_compiler
@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_angles(precision):
    given = dict(TISIM_ARCH="cuda", TISIM_PRECISION=precision)
    told = json.loads(start(HERE / "sines.py", environment=given).splitlines()[-1])
    assert max(told["f64"]) <= 1.0 and max(told["f32"]) <= 0.51
    sines, cosines = told["odd"]
    assert all(map(math.isnan, sines[:3] + cosines[:3]))
    assert sines[3:] == [0.0, 0.0, 0.0] and cosines[3:] == [1.0, 1.0, 1.0]
