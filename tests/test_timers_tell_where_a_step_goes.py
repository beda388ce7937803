"""d.timer takes the time of each stage, as mjData's: by mjtTimer, in seconds, added up until a reset. The times of the
stages are all of a step's time. While it is off it costs nothing; whether it is on changes no bit."""

import os
import subprocess
import sys
import time

import mujoco
import numpy as np
import pytest
from shared.cost import calls

import tisim
from tisim import pipeline, scenes
from tisim.cli import recording
from tisim.data import timer
from tisim.device import native
from tisim.enums import mjtTimer

STEP, FORWARD, POSITION = mjtTimer.mjTIMER_STEP, mjtTimer.mjTIMER_FORWARD, mjtTimer.mjTIMER_POSITION
COLLISION = mjtTimer.mjTIMER_POS_COLLISION


@pytest.fixture(scope="module")
def pile():
    m = tisim.Model.from_xml_string(scenes.build("pile", n=20))
    d = tisim.Data(m)
    tisim.step(m, d, 150)
    return m, d


@pytest.fixture(autouse=True)
def off(pile):
    yield
    pile[1].timer.on = False
    pile[1].timer.clear()


def test_timers_are_those_of_mujoco():
    assert {t.name: int(t) for t in mjtTimer} == {
        name: int(value) for name, value in mujoco.mjtTimer.__members__.items()
    }
    d = mujoco.MjData(mujoco.MjModel.from_xml_string("<mujoco/>"))
    ours = tisim.Data(tisim.Model.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")).timer
    assert len(ours) == len(d.timer) and ours.duration.shape == d.timer.duration.shape
    assert ours[STEP].number == d.timer[mujoco.mjtTimer.mjTIMER_STEP].number == 0
    with pytest.raises(tisim.Error):
        ours[len(ours)]
    with pytest.raises(tisim.Error):
        ours.duration = 0


def test_times_of_the_stages_are_the_time_of_a_step(pile):
    m, d = pile
    d.timer.on = True
    tisim.step(m, d, 5)
    d.timer.clear()
    began = time.perf_counter()
    tisim.step(m, d, 40)
    for _ in range(20):
        tisim.step(m, d)
    tisim.step1(m, d)
    tisim.step2(m, d)
    wall = time.perf_counter() - began
    duration, number = d.timer.duration, d.timer.number
    assert number[STEP] == number[FORWARD] == number[COLLISION] == number[mjtTimer.mjTIMER_ADVANCE] == 61
    assert 0.5 * wall < duration[STEP] < wall
    pieces = d.timer.pieces()
    assert sum(s for s, _ in pieces.values()) == pytest.approx(duration[STEP], rel=0.02)
    parts = [t for t, parent in timer.PARENT.items() if parent == STEP]
    beside = sum(s for (stage, what), (s, _) in pieces.items() if timer.timer_of(stage, what) == STEP)
    assert duration[parts].sum() + beside == pytest.approx(duration[STEP], rel=0.02)
    for parent in (FORWARD, POSITION, COLLISION):
        inside = duration[[t for t, p in timer.PARENT.items() if p == parent]]
        assert (inside >= 0).all() and 0 < inside.sum() <= duration[parent] * (1 + 1e-9), parent
    solver = [s for (_, what), (s, _) in pieces.items() if "solve_islands" in what]
    assert 0 < sum(solver) <= duration[mjtTimer.mjTIMER_CONSTRAINT]


def test_forward_is_no_step_and_a_reset_begins_anew(pile):
    m, d = pile
    d.timer.on = True
    tisim.forward(m, d)
    assert d.timer[FORWARD].number == 1 and d.timer[STEP].number == 0 and d.timer[STEP].duration == 0
    assert d.timer[FORWARD].duration > 0
    before = tisim.get_state(m, d)
    tisim.reset(m, d)
    assert not d.timer.duration.any() and not d.timer.number.any() and d.timer.on
    tisim.set_state(m, d, before)


def test_inverse_dynamics_and_rk4_have_their_times(pile):
    m, d = pile
    d.timer.on = True
    tisim.inverse(m, d)
    number, duration = d.timer.number, d.timer.duration
    assert (number[STEP], number[FORWARD], number[mjtTimer.mjTIMER_INVERSE], number[POSITION]) == (0, 0, 1, 1)
    assert duration[FORWARD] == 0 < duration[POSITION] < duration[mjtTimer.mjTIMER_INVERSE]
    d.timer.clear()
    m.opt.integrator = tisim.mjtIntegrator.mjINT_RK4
    tisim.step(m, d, 3)
    m.opt.integrator = tisim.mjtIntegrator.mjINT_EULER
    assert (d.timer.number[[STEP, FORWARD, mjtTimer.mjTIMER_ADVANCE]] == (3, 12, 3)).all()
    assert sum(s for s, _ in d.timer.pieces().values()) == pytest.approx(d.timer[STEP].duration, rel=0.05)


def test_what_is_off_takes_no_time_and_costs_nothing(pile):
    m, d = pile
    other = tisim.Data(m)
    tisim.set_state(m, other, tisim.get_state(m, d))
    tisim.step(m, d, 20)
    tisim.step(m, other, 20)
    never = calls(lambda: tisim.step(m, other))
    d.timer.on = True
    tisim.step(m, d, 20)
    d.timer.on = False
    tisim.step(m, d, 20)
    d.timer.clear()
    assert calls(lambda: tisim.step(m, d)) == never
    assert not d.timer.duration.any() and not d.timer.number.any()
    if native.road():
        rows = [d.program._tables[pipeline.SINGLE]._rows for d in (d, other)]
        assert len(rows[0]) == len(rows[1]) and native.road().tick not in rows[0][:, 0]


def test_times_change_no_bit(pile):
    m, d = pile
    start, ends = tisim.get_state(m, d), []
    for on in (False, True):
        tisim.set_state(m, d, start)
        d.timer.on = on
        tisim.step(m, d, 50)
        ends.append(tisim.get_state(m, d))
    np.testing.assert_array_equal(*ends)


def test_every_stage_has_its_timer_and_the_files_are_there():
    assert {s.__name__ for s in pipeline.STAGES} == set(timer.STAGES)
    steps = [step for _, steps in recording.record().values() for step in steps if step.kernel]
    assert {step.file.removesuffix(".py").replace("/", ".") for step in steps} >= set(timer.FILES)
    assert timer.timer_of("collide", "collision.boxes.update_boxes") == mjtTimer.mjTIMER_COL_BROAD
    assert timer.timer_of("collide", "collision.narrowphase.narrowphase") == mjtTimer.mjTIMER_COL_NARROW
    assert timer.timer_of("fwd_position", "smooth.inertia.tree_inertia") == mjtTimer.mjTIMER_POS_INERTIA


def test_taichis_launcher_is_timed_too():
    """Also where no machine code is on disk: each kernel has its time, and they add up."""
    program = """
import tisim
from tisim.enums import mjtTimer
m = tisim.Model.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
d = tisim.Data(m)
tisim.step(m, d)
d.timer.on = True
tisim.step(m, d, 3)
pieces = d.timer.pieces()
assert [n for (_, what), (_, n) in pieces.items() if what.endswith("tree_euler")] == [3]
assert abs(sum(s for s, _ in pieces.values()) / d.timer[0].duration - 1) < 0.02 and d.timer[0].number == 3
"""
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | {"TISIM_NATIVE": "0"}, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
