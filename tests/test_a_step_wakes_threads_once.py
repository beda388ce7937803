"""A step wakes threads once, and at most three times where it searches for pairs anew: its loops are handed to workers
who stay awake (tisim/device/team_code.py).

Contract: a pile of 1,000 that has met, with two workers, but for steps in which a list grows and those behind them; and
none are woken for a small scene.
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
    """How often each step wakes threads, but for those in which lists grew and those behind them."""
    monkeypatch.setattr(session, "workers", 2)
    monkeypatch.setattr(team, "ENOUGH", 1 << 30)  # other processes must not change what is counted
    monkeypatch.setattr(team, "_rest", 0)
    tisim.step(m, d, 3)
    state, found = native.road().team, []
    memory, grew = d.memory(), False
    for _ in range(steps):
        before, last, grew_last = state.woken, memory, grew
        tisim.step(m, d)
        memory = d.memory()
        grew = memory != last
        if not grew and not grew_last:
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
