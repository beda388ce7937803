"""A step wakes threads once, and at most three times where it searches for pairs anew: its loops are handed to workers
who stay awake (tisim/device/team_code.py).

Contract: a pile of 1,000 that has met, so that its lists grow no more, with two workers; and none are woken for a small
scene.
"""

import pytest

import tisim
from tisim.device import native, session, team


@pytest.fixture(autouse=True)
def start():
    tisim.init(arch="cpu", threads=2)
    if native.road() is None:
        pytest.skip(f"another road: {native.why}")
    yield
    tisim.init(arch="cpu")


def wakes(m, d, steps, monkeypatch):
    """How often each step wakes threads."""
    monkeypatch.setattr(session, "workers", 2)
    monkeypatch.setattr(team, "ENOUGH", 1 << 30)  # other processes must not change what is counted
    monkeypatch.setattr(team, "_rest", 0)
    tisim.step(m, d, 3)
    state, found = native.road().team, []
    for _ in range(steps):
        before = state.woken
        tisim.step(m, d)
        found.append(state.woken - before)
    return found


def test_a_pile(monkeypatch):
    m = tisim.Model.from_scene("pile", n=1000)
    d = tisim.Data(m)
    tisim.step(m, d, 220)
    found = wakes(m, d, 80, monkeypatch)
    assert d.count("nlarge") > 0
    assert max(found) <= 3
    assert found.count(1) > 60


def test_a_small_scene(monkeypatch):
    m = tisim.Model.from_scene("dominos", n=10)
    assert max(wakes(m, tisim.Data(m), 40, monkeypatch)) == 0
