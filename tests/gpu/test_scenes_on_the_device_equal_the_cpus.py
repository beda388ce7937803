"""From one settled state, f32 on the (software) device finds the contacts that f32 and f64 on the CPU do, whatever the
order of its threads and the number of its blocks.

Contract: equal contact lists, distances within 1e-7 m, velocities within 1e-4 m/s after the step, or of the largest
where things still roll; equal hashes of the state for threads forward, backward and shuffled, and for 2 and 64
multiprocessors. In f64 shapes of meshes and height fields have the CPU's distances within 1e-12 m, since a search of a
depth that rounding lets stop a turn later ends up to ccd_tolerance away.
"""

import json

import numpy as np
import pytest

from .compared import check_same_step
from .software import HERE, needs_compiler, on_cpu, start

SCENES = dict(dominos=(20, 60), pile=(40, 300), ragdolls=(3, 1000), bowl=(12, 1000), terrain=(12, 1000))
ORDERS = dict(forward={}, backward=dict(order=1), shuffled=dict(order=7), few=dict(sm=2), many=dict(sm=64))
HOT = [pytest.param(name, marks=() if name == "dominos" else pytest.mark.slow) for name in SCENES]


@needs_compiler
@pytest.mark.parametrize("name", HOT)
def test_contacts_are_equal_and_order_does_not_show(name, tmp_path):
    n, steps = SCENES[name]
    on_cpu(name, n, steps, tmp_path / "settled.npz", precision="f64")
    on_cpu(name, n, 1, tmp_path / "cpu.npz", tmp_path / "settled.npz", precision="f32")
    hashes = {}
    for order, options in ORDERS.items():
        told = start(
            HERE / "scene.py", name, n, 1, tmp_path / "device.npz", tmp_path / "settled.npz",
            environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION="f32"), **options,
        )  # fmt: skip
        hashes[order] = json.loads(told.splitlines()[-1])["hash"]
    assert len(set(hashes.values())) == 1, hashes
    on_cpu(name, n, 1, tmp_path / "cpu64.npz", tmp_path / "settled.npz", precision="f64")
    check_same_step(*(tmp_path / file for file in ("device.npz", "cpu.npz", "cpu64.npz")))


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("name", ["bowl", "terrain"])
def test_depths_are_the_cpus_in_f64(name, tmp_path):
    n, steps = SCENES[name]
    on_cpu(name, n, steps, tmp_path / "settled.npz", precision="f64")
    on_cpu(name, n, 1, tmp_path / "cpu.npz", tmp_path / "settled.npz", precision="f64")
    start(
        HERE / "scene.py", name, n, 1, tmp_path / "device.npz", tmp_path / "settled.npz",
        environment=dict(TISIM_ARCH="cuda", TISIM_PRECISION="f64"),
    )  # fmt: skip
    ours, theirs = np.load(tmp_path / "device.npz"), np.load(tmp_path / "cpu.npz")
    assert len(ours["geom"]) > 20 and np.array_equal(ours["geom"], theirs["geom"])
    assert np.abs(ours["dist"] - theirs["dist"]).max() < 1e-12
