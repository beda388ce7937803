"""A launch of workers ends, with the same result, whatever runs them: as many threads as they ask for, fewer, one that
runs all chunks one after the other, a forked child, a pool on shared processors, numbers that are not numbers.

Contract: the toy kernel below, in processes of their own with a time limit; sums are exact, so any order gives them.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.device import session, team, threads

COMMON = """
import os, signal, sys, time
import numpy as np
import tisim
from tisim.device import launch, runtime, session, team
from shared import golden, toy_team

tisim.init(arch="cpu", threads={threads})
m = tisim.Model.from_scene("dominos", n=60)
d = tisim.Data(m)

def check(hands, workers, parallel=True, rounds=50):
    return toy_team.run(m, d, hands, workers, rounds, parallel)
"""


def process(code, threads=None, timeout=120, **environment):
    here = str(pathlib.Path(__file__).parent)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])} | environment
    out = subprocess.run(
        [sys.executable, "-c", COMMON.format(threads=threads) + code], capture_output=True, text=True, timeout=timeout,
        env=env,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr[-2000:]
    return out.stdout.split()


@pytest.mark.parametrize("native", ["1", "0"])
def test_any_pool_ends(native):
    """More workers than threads, more than processors, one after the other: each launch ends and sums are right."""
    code = """
for hands, workers in ((1, 1), (2, 2), (3, 3), (8, 8), (32, 32), (8, 2), (2, 8), (4, 0)):
    size = check(hands, workers, rounds=5)
    assert size <= max(0, min(hands, workers, 2)) and (size > 0) == (workers > 0), (hands, workers, size)
    assert check(hands, workers, parallel=False, rounds=5) == min(1, workers)
print("ok")
"""
    assert process(code, threads=2, TISIM_NATIVE=native) == ["ok"]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_loops_of_a_table_are_done_once(threads):
    """Each chunk is one worker's, whether there are as many threads as workers or not, and none is left."""
    code = """
m = tisim.Model.from_scene("pile", n=700)
d = tisim.Data(m, nworld=4)
for workers in (1, 2, 3, 8, 32):
    with golden.force(workers=workers):
        print(all(toy_team.run_loops(m, d, times) for times in (1, 3, 100)))
"""
    assert process(code, threads=threads) == 5 * ["True"]


def test_more_threads_than_processors_end():
    """Eight threads, free to move: slices of time pass at the barriers, but they pass."""
    assert process("print(max(check(8, 8, rounds=3) for _ in range(5)) >= 1)", threads=8) == ["True"]


def test_a_forked_child_works_alone():
    code = """
check(2, 2)
tisim.step(m, d, 5)
child = os.fork()
if not child:
    ok = session.workers == 1 and check(2, 2) == 1
    tisim.step(m, d, 5)
    os._exit(0 if ok else 3)
print(os.waitpid(child, 0)[1])
print(check(2, 2) >= 1)
"""
    assert process(code) == ["0", "True"]


def test_an_interrupt_comes_after_the_launch():
    code = """
waiting = False

def interrupt(*_):  # only a launch is interrupted, once, never the loop around it
    global waiting
    if waiting:
        waiting = False
        raise KeyboardInterrupt

check(2, 2)  # its kernel is there
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
seen, end = 0, time.monotonic() + 2
while seen < 4 or time.monotonic() < end:
    try:
        waiting = True
        check(2, 2, rounds=2000)
        waiting = False
    except KeyboardInterrupt:
        seen += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(check(2, 2) >= 1)
"""
    assert process(code, timeout=600) == ["True"]  # where others have the processors a launch takes many seconds


def test_nobody_leaves_alone_where_numbers_are_none():
    """A pile whose state is not a number is solved, or given up, by all workers alike."""
    code = """
m = tisim.Model.from_scene("pile", n=300)
d = tisim.Data(m)
with golden.force("team"):
    tisim.step(m, d, 60)
    for bad in (np.nan, np.inf, 1e200):
        d.qvel[6 * 40] = bad
        tisim.forward(m, d)
        d.qvel[6 * 40] = 0
        d.qacc_warmstart[:] = bad
        tisim.forward(m, d)
        d.qacc_warmstart[:] = 0
print("ok")
"""
    assert process(code) == ["ok"]


@pytest.mark.parametrize("environment", [dict(TISIM_PIN="0"), dict(TISIM_DEBUG="1"), dict(TISIM_THREADS="1")])
def test_one_works_where_threads_are_free(environment):
    assert process("print(session.workers, team.workers())", **environment) == ["1", "1"]


def test_shared_processors_are_noticed(monkeypatch):
    """After some calls in which much time was lost, by whomever it was, the next ten have one worker; twice as many if
    it is still so then, and so on."""
    monkeypatch.setattr(session, "workers", 2)
    monkeypatch.setattr(team, "_rest", 0)
    monkeypatch.setattr(team, "_doubt", 0)
    monkeypatch.setattr(team, "_next", team.BRIEF)
    good, waited, late = (np.zeros(66 * 32, np.int32) for _ in range(3))
    waited[3 * 32 + 64] = late[33] = 1_500_000
    losses = dict(waited=(waited, 0, 0), late=(late, 0, 0), asleep=(good, 0.6, 0), chunks=(good, 0.2, 0.4))
    for lines, asleep, idle in (*losses.values(), (good, 0.1, 0.1)):
        for _ in range(2):
            team.look(lines, 2, 0.01, asleep, idle)
            assert team.workers() == 2
        for _ in range(6):
            team.look(good, 2, 0.01, 0.1, 0.1)
    for _ in range(3):
        team.look(good, 2, 0.01, 0.2, 0.4)
    for many in (10, 20, 40, 80, 160, 160):
        for expected in [1] * many + [2]:
            assert team.workers() == expected
            team.rest()
        team.look(waited, 2, 1e-4, 0, 0)
        team.look(good, 2, 0.01, 0, 0)
        assert team.workers() == 2, "a short call tells nothing"
        team.look(late, 2, 0.01, 0, 0)
        assert team.workers() == 1, "it is still so"
    for _ in range(160):
        team.rest()
    for _ in range(8):
        team.look(good, 2, 0.01, 0, 0)
    for _ in range(3):
        team.look(late, 2, 0.01, 0, 0)
    for expected in [1] * 10 + [2]:
        assert team.workers() == expected, "after a good time"
        team.rest()


def test_looks_are_counted_anew_for_each_call():
    lines = np.ones(66 * 32, np.int32)
    team.ask(lines)
    assert not lines[33] and not lines[3 * 32 :: 64].any()


def test_a_quota_counts(monkeypatch):
    monkeypatch.setattr(team, "_quota", lambda: 2.5)
    assert team.most({10 + k: k for k in range(8)}) == 2 == team.most({}, 8)
    monkeypatch.setattr(team, "_quota", lambda: 0.5)
    assert team.most({1: 0, 2: 1}) == 1
    assert team.most({}) == 1
    monkeypatch.setattr(team, "_quota", lambda: float("inf"))
    assert team.most({}, 6) == 6 and team.most({}) == 1


def test_threads_that_are_fewer_than_processors_make_a_team(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    assert [threads.roaming(n) for n in (None, 1, 8, 16)] == [0, 1, 8, 0]
    monkeypatch.setenv("TISIM_PIN", "0")
    assert threads.roaming(8) == 0


def test_the_machine_s_own_limit_is_read(tmp_path):
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert team._limit(tmp_path) == 1.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert team._limit(tmp_path) == float("inf")
    assert team._limit(tmp_path / "none") == float("inf")


def test_the_suite_s_own_session_is_within_its_processors():
    tisim.init(arch="cpu")
    assert 1 <= session.workers <= len(os.sched_getaffinity(0))
