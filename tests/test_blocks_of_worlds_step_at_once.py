"""Worlds that lie in several blocks, each one thread's through whole steps, have the bits of one batch.

Contract: rollouts and environments give the same numbers in one Data, in blocks by threads, and in blocks one by one;
an error in one block is raised when all have ended, and what was begun ends at an interrupt.
"""

import threading

import numpy as np
import pytest

import tisim
from tisim import rollout, scenes
from tisim.device import hands, native, session

FULL = int(tisim.mjtState.mjSTATE_FULLPHYSICS)


@pytest.fixture
def threads(monkeypatch):
    """Two threads, whatever the machine has."""
    tisim.init()
    if native.road() is None:
        pytest.skip("blocks are for machine code")
    monkeypatch.setattr(session, "workers", 2)


def falling(nworld, name="pile", n=4):
    m = tisim.Model.from_xml_string(scenes.build(name, n=n))
    d = tisim.Data(m, nworld=nworld)
    d.qvel[...] = 0.3 * np.random.default_rng(1).normal(size=(nworld, m.nv))
    return m, d, tisim.get_state(m, d, FULL)


@pytest.mark.parametrize("name", ["pile", "ragdolls"])
def test_a_rollout_in_blocks_has_the_bits_of_one_batch(threads, monkeypatch, name):
    """60 steps with searches, lists that grow and blocks of unequal length."""
    m, d, start = falling(21, name, 2)
    whole, _ = rollout.rollout(m, d, start, nstep=60)
    names, work, both = set(), rollout._Task.run, threading.Barrier(2)

    def run(*args):
        if (name := threading.current_thread().name) not in names:
            names.add(name)
            with hands.aside():  # until the other has begun, too
                both.wait(60)
        work(*args)

    monkeypatch.setattr(rollout, "CACHED", 4)
    monkeypatch.setattr(rollout._Task, "run", run)
    parts, _ = rollout.rollout(m, None, start, nstep=60)
    assert len(names) == 2 and threading.current_thread().name in names
    np.testing.assert_array_equal(parts, whole)
    monkeypatch.setattr(session, "workers", 1)
    monkeypatch.setattr(rollout._Task, "run", work)
    np.testing.assert_array_equal(rollout.rollout(m, None, start, nstep=60)[0], whole)


def test_environments_in_blocks_have_the_bits_of_one_batch(threads):
    gymnasium = pytest.importorskip("gymnasium")
    pytest.importorskip("tisim.gym")
    envs = [gymnasium.make_vec("tisim/Ant-v5", 10, blocks=b, max_episode_steps=7) for b in (1, 2, 3)]
    for env in envs:
        env.reset(seed=3)
        env.action_space.seed(3)
    assert [len(env.unwrapped.datas) for env in envs] == [1, 2, 3]
    with pytest.raises(tisim.Error, match="2 Data"):
        _ = envs[1].unwrapped.data
    for _ in range(20):
        first, *others = [env.step(env.action_space.sample()) for env in envs]
        for other in others:
            for a, b in zip(first[:4], other[:4]):
                np.testing.assert_array_equal(a, b)
            assert first[4].keys() == other[4].keys()
    for env in envs:
        env.close()


def test_an_error_in_one_block_is_raised_when_all_have_ended(threads):
    done = []

    def fails():
        raise ValueError("one")

    with pytest.raises(ValueError, match="one"):
        hands.at_once([fails, lambda: done.append(1), lambda: done.append(2)])
    assert sorted(done) == [1, 2]


def test_an_interrupt_ends_all_blocks(threads, monkeypatch):
    """It comes to the caller, in a step of its own block; others end where their machine code next does."""
    m, _, start = falling(8)
    write, calls = rollout.write_rows, []

    def interrupted(*args):
        if threading.current_thread() is threading.main_thread():
            calls.append(1)
            if len(calls) == 20:
                raise KeyboardInterrupt
        write(*args)

    monkeypatch.setattr(rollout, "write_rows", interrupted)
    with rollout.Rollout() as some:
        state = np.full((8, 20000, start.shape[1]), np.nan)
        with pytest.raises(KeyboardInterrupt):
            some.rollout(m, None, start, state=state)
        assert np.isnan(state[:, -1]).all()
        assert np.isfinite(some.rollout(m, None, start, nstep=3)[0]).all()
