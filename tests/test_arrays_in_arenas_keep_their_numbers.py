"""Where a task binds few buffers (Vulkan, Metal) arrays are parts of an arena, and nobody sees it: no two share an
element, new ones are 0, room is used again, and an arena that grows keeps what is in it.

Contract: random arrays made, written, read, filled and freed hold what was written, on Vulkan where a driver is
installed; arrays of a type that need more than 2 GiB are refused by name. 20 dominos that step on Vulkan are within
1e-6 of f32 on the CPU (slow; by the lavapipe of Mesa 25: that of 22.3 loses
pairs of bodies, and is refused by name).
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.device import arena, session
from tisim.stages import collision
from tisim.viewer import vulkan

GPU = pathlib.Path(__file__).resolve().parent / "gpu"
needs_vulkan = pytest.mark.skipif(bool(vulkan.missing()), reason=str(vulkan.missing()))


def run(program, *arguments, arch):
    env = os.environ | dict(TISIM_ARCH=arch, TISIM_PRECISION="f32")
    done = subprocess.run(
        [sys.executable, GPU / program, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


class Buffer:
    """An arena's memory, and the kernels on it, by NumPy."""

    def __init__(self, numbers):
        self.numbers = numbers

    def fill(self, buffer, first, count, value):
        buffer[first : first + count] = value


@pytest.fixture
def made(monkeypatch):
    """An Arena of numbers whose memory is NumPy's."""
    monkeypatch.setattr(session, "arch", "vulkan")
    a = arena.Arena("arena_i32_1", "i32", 1, None)
    a.buffer, a.length = np.zeros(1 << 16, np.int32), 1 << 16
    monkeypatch.setattr(a, "copiers", lambda: Buffer(a.buffer))
    return a


def test_no_two_arrays_share_an_element(made):
    rng, kept = np.random.default_rng(0), {}
    for k in range(1, 3000):
        if kept and rng.random() < 0.48:
            first, count = kept.pop(int(rng.choice(list(kept))))
            made.give(first, count)
        count = int(rng.integers(1, 60))
        first = made.take(count)
        assert not made.buffer[first : first + count].any()
        made.buffer[first : first + count] = k
        kept[k] = first, count
    for k, (first, count) in kept.items():
        assert (made.buffer[first : first + count] == k).all()
    used = sum(count for _, count in kept.values())
    assert used + sum(count for _, count in made.holes) == made.end
    assert all(sum(a) < b[0] for a, b in zip(made.holes, made.holes[1:])), "holes side by side are one"
    for first, count in kept.values():
        made.give(first, count)
    assert made.end == 0 and made.holes == []


def test_more_than_two_gigabytes_of_a_type_are_refused(made):
    with pytest.raises(tisim.CapacityError, match="arrays of 1 i32 need 2.0 GiB; on vulkan those of one type have 2"):
        made.take(1 << 29)


@needs_vulkan
def test_arrays_hold_what_was_written():
    taken = run("arenas.py", 0, arch="vulkan")
    assert len(taken) == 9 and all(0 < end <= length for length, end in taken.values())
    assert max(length for length, _ in taken.values()) > 4 * arena.FIRST, "none has grown"


@pytest.mark.parametrize(
    "devices, refused",
    [
        ([(3, 0x10005, 4)], True),
        ([(4, 0x10005, 4)], False),
        ([(3, 0x10005, 2)], False),  # Mesa's driver of a GPU
        ([(3, 0x10005, 4), (3, 0x10DE, 2)], False),  # a GPU is there as well, which Taichi takes
        ([], False),
    ],
)
def test_drivers_that_lose_pairs_are_refused_by_name(devices, refused, monkeypatch):
    told = [(1 << 22 | minor << 12, 1, vendor, 0, kind) for minor, vendor, kind in devices]
    monkeypatch.setattr(vulkan, "_devices", ["a device"])
    monkeypatch.setattr(vulkan, "_told", told)
    assert bool(vulkan.loses_pairs()) == refused
    m = tisim.Model.from_xml_string("<mujoco/>")
    d = tisim.Data(m)
    monkeypatch.setattr(session, "arch", "vulkan")
    if refused:
        with pytest.raises(tisim.UnsupportedError, match="Mesa before version 25 in software loses pairs of bodies"):
            collision.Stage(m, d)


@needs_vulkan
@pytest.mark.slow
@pytest.mark.skipif(bool(vulkan.loses_pairs()), reason=str(vulkan.loses_pairs()))
def test_dominos_step_as_on_the_cpu(tmp_path):
    files = {arch: tmp_path / f"{arch}.npz" for arch in ("settled", "vulkan", "cpu")}
    run("scene.py", "dominos", 20, 60, files["settled"], arch="cpu")
    for arch in ("vulkan", "cpu"):
        run("scene.py", "dominos", 20, 5, files[arch], files["settled"], arch=arch)
    ours, theirs = np.load(files["vulkan"]), np.load(files["cpu"])
    assert np.array_equal(ours["geom"], theirs["geom"]) and len(ours["geom"]) > 40
    assert np.abs(ours["qpos"] - theirs["qpos"]).max() < 1e-6
