"""On the (software) device, too, world k of a Data whose parameters vary is the same world alone, bit for bit."""

import json

import pytest

from .software import HERE, needs_compiler, start


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_worlds_alone(precision):
    told = start(HERE / "varied.py", environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION=precision))
    assert json.loads(told.splitlines()[-1]) == dict(equal=[True] * 3, apart=True)
