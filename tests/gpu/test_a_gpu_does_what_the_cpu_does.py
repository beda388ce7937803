"""From one settled state a GPU finds the contacts and velocities that the CPU does, and the same bits each time, by
Taichi's launches and by own ones.

Contract: equal contact lists, distances within 1e-7 m of f32 and f64 on the CPU, velocities of f32 within 1e-4 m/s or
of the largest; equal hashes of three steps for processes that compile, find PTX in the cache, or let Taichi launch; a
pile of 1,000 comes as near to rest as on the CPU, and as deep.

    python -m pytest -m gpu tests/gpu/test_a_gpu_does_what_the_cpu_does.py
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from .compared import check_same_step
from .software import HERE, on_cpu

SCENES = dict(
    dominos=(20, 60), pile=(300, 300), ragdolls=(3, 1000), bowl=(12, 1000), terrain=(12, 1000), wall=(60, 200)
)
pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module", autouse=True)
def device():
    import tisim.device.taichi_import as taichi_import

    taichi_import.load()
    from taichi._lib import core

    if not core.with_cuda():
        pytest.skip("no CUDA device")


def on_gpu(name, n, steps, out, *state, own="1", precision="f32"):
    """What scene.py tells of steps on the GPU."""
    given = os.environ | dict(TISIM_ARCH="cuda", TISIM_PRECISION=precision, TISIM_OWN_LAUNCHES=own)
    words = [sys.executable, HERE / "scene.py", *map(str, (name, n, steps, out, *state))]
    done = subprocess.run(words, env=given, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", SCENES)
def test_a_step_is_the_cpus(name, tmp_path):
    n, steps = SCENES[name]
    settled, *files = (tmp_path / f"{what}.npz" for what in ("settled", "device", "cpu", "cpu64"))
    on_cpu(name, n, steps, settled)
    on_gpu(name, n, 1, files[0], settled)
    for file, precision in zip(files[1:], ("f32", "f64")):
        on_cpu(name, n, 1, file, settled, precision=precision)
    check_same_step(*files)


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_bits_are_the_same_whoever_launches(precision, tmp_path):
    on_cpu("pile", 300, 300, tmp_path / "settled.npz")
    told = [on_gpu("pile", 300, 3, tmp_path / "out.npz", tmp_path / "settled.npz", own=own, precision=precision)
            for own in "101"]  # fmt: skip
    assert len({t["hash"] for t in told}) == 1, told


def test_a_pile_comes_to_rest_as_on_the_cpu(tmp_path):
    ends = {}
    for where, steps in (("gpu", on_gpu), ("cpu", on_cpu)):
        steps("pile", 1000, 1500, tmp_path / f"{where}.npz")
        ends[where] = np.load(tmp_path / f"{where}.npz")
    speeds = {where: float(np.median(np.abs(end["qvel"]))) for where, end in ends.items()}
    depths = {where: float(-end["dist"].min()) for where, end in ends.items()}
    assert speeds["gpu"] < 2 * speeds["cpu"] < 0.01, speeds
    assert depths["gpu"] < 2 * depths["cpu"], depths
