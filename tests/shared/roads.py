"""Which road kernels take in this run of the tests, see tisim/device/launch.py."""

import os

import pytest

from tisim.device import images, machine_code, native


def need_machine_code():
    """Skips where there is meant to be no machine code on disk; fails where there should be and is not."""
    if os.environ.get("TISIM_NATIVE") == "0":
        pytest.skip("this run takes the road of Taichi's launcher")
    if images.target() is None or not machine_code.available():
        pytest.skip("no machine code can be made here")
    assert native.road() is not None, native.why
