"""The two tasks with passive objects: rewards add up to what was moved, rules solve one, and PPO learns the other."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from shared.examples import load

import tisim.gym  # noqa: F401  registers them


def paddles(env):
    """Actions (n, 3) that drive each paddle at the object nearest to the middle, the next one once it is off."""
    places, tool = env.places(env.seen)[:, :, :2], env.seen.qpos[:, :2]
    far = np.linalg.norm(places, axis=2)
    nearest = np.where(far > env.radius, np.inf, far).argmin(axis=1)
    way = places[np.arange(len(places)), nearest] - tool
    return np.column_stack([np.clip(8 * way, -1, 1), np.zeros(len(way))])


def clear(act, n=6, actions=110):
    """Rewards and infos of an episode that is not ended early: rewards (n,), outwards before and behind (n,)."""
    env = gymnasium.make_vec("tisim/ClearPile-v0", n, autoreset_mode="Disabled", ctrl_cost_weight=0.0).unwrapped
    env.reset(seed=2)
    first, score = env.outwards(env.seen), np.zeros(n)
    for _ in range(actions):
        _, reward, _, _, info = env.step(act(env))
        score += reward
        env.ended[:] = False
    return score, first, env.outwards(env.seen), info


def test_the_reward_of_a_pile_is_how_far_it_was_moved_outwards():
    score, first, last, info = clear(paddles)
    np.testing.assert_allclose(score, 10 * (last - first), atol=1e-12)
    assert np.median(score) > 2, "driving at the objects pushes them outwards"
    assert info["reward_ctrl"].max() == 0 and (info["cleared"] >= 0).all()
    idle, *_ = clear(lambda env: np.zeros((env.num_envs, 3)))
    assert np.abs(idle).max() < 0.05, "the heaps are at rest"


def test_an_episode_ends_when_the_disc_is_clear():
    env = gymnasium.make_vec("tisim/ClearPile-v0", 2, autoreset_mode="Disabled").unwrapped
    env.reset(seed=0)
    for k in range(env.nobject):  # all but one of world 1 stand outside
        at = env.ntool + 7 * k
        env.data.qpos[0, at : at + 3] = env.data.qpos[1, at : at + 3] = 0.5 + 0.2 * k, 0.5, 0.05
    env.data.qpos[1, env.ntool : env.ntool + 3] = 0, 0, 0.05
    _, _, terminated, _, info = env.step(np.zeros((2, 3)))
    assert terminated.tolist() == [True, False] and info["cleared"].tolist() == [8, 7]


def test_piles_are_the_same_for_the_same_seed_beside_any_others():
    actions = np.random.default_rng(1).uniform(-1, 1, (50, 40, 3))
    many, few = (gymnasium.make_vec("tisim/ClearPile-v0", n, max_episode_steps=20) for n in (40, 1))
    many.reset(seed=list(range(40)))
    few.reset(seed=[33])
    for action in actions:
        a, b = many.step(action), few.step(action[33:34])
        assert np.array_equal(a[0][33], b[0][0]) and a[1][33] == b[1][0]


def test_a_crane_by_rules_builds_every_tower():
    score, stood, pictures = load("build_tower").build(n=12, seed=3, size=64)
    assert (stood > 100).all() and (stood < 300).all()
    assert ((3.1 < score) & (score < 3.6)).all(), "three levels, and what was missing of 0.6 at the start"
    assert len(pictures) == 4 and not np.array_equal(pictures[0], pictures[3])


@pytest.mark.parametrize("name", ["ClearPile", "BuildTower"])
def test_gymnasiums_checker_finds_nothing(name):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(gymnasium.make(f"tisim/{name}-v0").unwrapped, skip_render_check=True)
    known = "minimum value is -infinity", "maximum value is infinity", "symmetric and normalized space"
    assert not [str(w.message) for w in said if not any(k in str(w.message) for k in known)]


def test_ppo_takes_an_environment(tmp_path):
    pytest.importorskip("torch")
    learn = load("learn")
    agent, scores = learn.learn(actions=4 * learn.LENGTH * 16, num_envs=16, report=None)
    assert len(scores) == 4 and np.isfinite(scores[-1])
    learn.picture(agent, "tisim/ClearPile-v0", scores, tmp_path / "a.png", seconds=(0, 0.2))


@pytest.mark.slow  # some minutes
def test_ppo_learns_to_clear_a_pile():
    pytest.importorskip("torch")
    _, scores = load("learn").learn(actions=300_000, num_envs=128, report=None)
    begun, learnt = np.nanmean(scores[: len(scores) // 8]), np.nanmean(scores[-len(scores) // 8 :])
    assert begun < 1 < 3 < learnt
