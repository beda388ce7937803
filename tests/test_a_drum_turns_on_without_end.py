"""A drum keeps bodies moving for long: nothing is lost, nothing grows, nothing is warned of (benchmarks/soak.py)."""

import importlib.util
import pathlib

import numpy as np
import pytest

import tisim

spec = importlib.util.spec_from_file_location(
    "soak", pathlib.Path(__file__).resolve().parent.parent / "benchmarks" / "soak.py"
)
soak = importlib.util.module_from_spec(spec)
spec.loader.exec_module(soak)


def test_a_few_seconds_of_a_small_drum():
    seen = soak.soak(200, 6, 1.0)
    assert len(seen) == 6 and seen[-1]["time"] == pytest.approx(6)
    assert not soak.faults(seen)


@pytest.mark.slow
def test_ten_minutes_of_two_thousand_bodies():
    seen = soak.soak(2000, 600, 20.0)
    assert seen[-1]["time"] == pytest.approx(600) and seen[-1]["bodies"] == 2000
    assert not soak.faults(seen)


def test_what_is_lost_grows_or_rests_is_told():
    m = tisim.Model.from_scene("drum", n=30)
    d = tisim.Data(m)
    tisim.forward(m, d)
    assert soak.outside(m, d) == 0
    d.qpos[1:4] += [0, 0, 3]
    tisim.forward(m, d)
    assert soak.outside(m, d) == 1
    good = dict(process=0, time=1.0, memory=100.0, outside=0, warnings=0, speed=0.5, drift=0.0)
    for change, words in (
        (dict(memory=104.0), "memory grew"), (dict(outside=2), "2 bodies are"), (dict(warnings=1), "1 warnings"),
        (dict(speed=0.001), "do not move"), (dict(speed=np.nan), "do not move"), (dict(drift=0.1), "quaternions"),
    ):  # fmt: skip
        assert any(words in fault for fault in soak.faults([good] * 9 + [{**good, **change}])), words
    assert not soak.faults([good] * 10)
    assert not soak.faults([good] * 10 + [{**good, "process": 1, "memory": 150.0}] * 10)  # each has its own memory


def test_what_was_kept_goes_on_to_the_same_bits(tmp_path):
    whole = soak.soak(50, 3, 1.0, keep=tmp_path / "whole.npz")
    soak.soak(50, 3, 1.0, keep=tmp_path / "parts.npz", show=lambda s: s["time"] > 1.5)
    parts = soak.soak(50, 3, 1.0, keep=tmp_path / "parts.npz")
    assert [s["process"] for s in parts] == [0, 0, 1] and [s["process"] for s in whole] == [0, 0, 0]
    with np.load(tmp_path / "whole.npz") as a, np.load(tmp_path / "parts.npz") as b:
        np.testing.assert_array_equal(a["state"], b["state"])
