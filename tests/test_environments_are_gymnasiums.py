"""tisim.gym's environments are gymnasium's own over MuJoCo 3.4.0, many in one batch, with gymnasium's manners.

Solvers are converged on both sides: within 1e-6 of the size of each number, over 200 actions with resets in between.
"""

import importlib
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import tisim
import tisim.gym

NAMES = [name for names in tisim.gym.OF_GYMNASIUM.values() for name in names.split()]
# a contact at an edge parts them: an action behind which they are other episodes
PARTED = {"HalfCheetah": 50}
OTHERWISE = {
    "Ant": dict(include_cfrc_ext_in_observation=False, exclude_current_positions_from_observation=False, main_body=2,
                terminate_when_unhealthy=False, contact_cost_weight=1e-3, healthy_z_range=(0.4, 0.8)),
    "Hopper": dict(healthy_state_range=(-2.0, 2.0), healthy_angle_range=(-0.1, 0.1), healthy_reward=3.0),
    "Humanoid": dict(include_cvel_in_observation=False, include_qfrc_actuator_in_observation=False, frame_skip=3,
                     contact_cost_range=(0.1, 0.3), forward_reward_weight=2.0),
    "HumanoidStandup": dict(include_cinert_in_observation=False, impact_cost_weight=1e-4, ctrl_cost_weight=0.3),
    "InvertedDoublePendulum": dict(healthy_reward=5.0, reset_noise_scale=0.02),
    "Pusher": dict(reward_near_weight=2.0, reward_dist_weight=3.0, reward_control_weight=0.5),
}  # fmt: skip


def converge(opt):
    opt.tolerance, opt.iterations, opt.ls_tolerance, opt.ls_iterations = 1e-15, 200, 1e-6, 100


def pair(name, n=4, mode="NextStep", limit=60, **kwargs):
    """Environments of tisim and of gymnasium, alike."""
    ours = gymnasium.make_vec(f"tisim/{name}-v5", n, autoreset_mode=mode, max_episode_steps=limit, **kwargs)
    theirs = gymnasium.make_vec(f"{name}-v5", n, vectorization_mode="sync", vector_kwargs=dict(autoreset_mode=mode),
                                max_episode_steps=limit, **kwargs)  # fmt: skip
    converge(ours.model.opt)
    for env in theirs.envs:
        converge(env.unwrapped.model.opt)
    theirs.action_space.seed(3)
    return ours, theirs


def agree(a, b, what):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, what
    np.testing.assert_array_less(np.abs(a - b), 1e-6 * np.maximum(1, np.abs(b)), what)


def infos_agree(ours, theirs, what):
    assert set(theirs) <= set(ours), what
    for key, value in theirs.items():
        if key == "final_info":
            infos_agree(ours[key], value, what)
        elif key == "final_obs":
            for a, b in zip(ours[key], value):
                assert (a is None) == (b is None)
                if b is not None:
                    agree(a, b, what)
        else:
            agree(ours[key], value, (what, key))
    assert not any(np.any(v) for k, v in ours.items() if k not in theirs and k.startswith("_")), what


def run(ours, theirs, actions=200):
    """Both through the same actions; returns how many episodes ended."""
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    (a, info_a), (b, info_b) = ours.reset(seed=5), theirs.reset(seed=5)
    agree(a, b, "first observations")
    infos_agree(info_a, info_b, "first infos")
    ended = 0
    for k in range(actions):
        action = theirs.action_space.sample()
        *a, info_a = ours.step(action)
        *b, info_b = theirs.step(action)
        for what, x, y in zip(("observations", "rewards", "terminations", "truncations"), a, b):
            agree(x, y, f"{what} of action {k}")
        infos_agree(info_a, info_b, f"infos of action {k}")
        ended += (a[2] | a[3]).sum()
    return ended


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", NAMES)
def test_observations_rewards_and_ends_are_gymnasiums(name, mode):
    actions = PARTED.get(name, 200)
    assert run(*pair(name, mode=mode, limit=min(60, actions - 10)), actions) >= 4


@pytest.mark.parametrize("name", OTHERWISE)
def test_parameters_mean_what_they_mean_there(name):
    run(*pair(name, **OTHERWISE[name]), 60)


def test_an_environment_depends_on_its_seed_and_actions_alone():
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (40, 70, 8))
    many, few = (gymnasium.make_vec("tisim/Ant-v5", n, max_episode_steps=25) for n in (70, 2))
    seen = [many.reset(seed=list(range(100, 170)))[0][[3, 68]], few.reset(seed=[103, 168])[0]]
    for action in actions:
        assert np.array_equal(*seen)
        a, b = many.step(action), few.step(action[[3, 68]])
        seen = [a[0][[3, 68]], b[0]]
        assert np.array_equal(a[1][[3, 68]], b[1]) and np.array_equal(a[2][[3, 68]], b[2])


@pytest.mark.parametrize("name", ["Hopper", "InvertedPendulum"])
def test_gymnasiums_own_checker_finds_nothing(name):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        env = gymnasium.make(f"tisim/{name}-v5", render_mode="rgb_array", width=64, height=48)
        check_env(env.unwrapped)
    known = "minimum value is -infinity", "maximum value is infinity", "symmetric and normalized space"
    assert not [str(w.message) for w in said if not any(k in str(w.message) for k in known)], "but what theirs get, too"
    assert env.unwrapped.dt == pytest.approx(env.unwrapped.data.model.opt.timestep * env.unwrapped.worlds.frame_skip)


def test_one_environment_is_gymnasiums_too():
    ours, theirs = gymnasium.make("tisim/Hopper-v5"), gymnasium.make("Hopper-v5")
    converge(ours.unwrapped.model.opt)
    converge(theirs.unwrapped.model.opt)
    theirs.action_space.seed(1)
    for seed in (4, None, None):
        (a, info_a), (b, info_b) = ours.reset(seed=seed), theirs.reset(seed=seed)
        agree(a, b, "first observation")
        for _ in range(10):
            action = theirs.action_space.sample()
            *a, info_a = ours.step(action)
            *b, info_b = theirs.step(action)
            agree(a[0], b[0], "observation")
            agree(a[1:], b[1:], "the rest")
            assert info_a.keys() == info_b.keys()


def test_without_autoreset_the_user_resets_those_that_ended():
    env = gymnasium.make_vec("tisim/InvertedPendulum-v5", 3, autoreset_mode="Disabled", max_episode_steps=4)
    assert env.metadata["autoreset_mode"] == AutoresetMode.DISABLED
    action = np.zeros((3, 1), np.float32)
    env.reset(seed=1)
    for _ in range(4):
        seen, _, _, truncated, _ = env.step(action)
    assert truncated.all()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"environments \[0, 1, 2\]"):
        env.step(action)
    mask = np.array([True, False, False])
    again, _ = env.reset(seed=7, options=dict(reset_mask=mask))
    assert np.array_equal(again[1:], seen[1:]) and not np.array_equal(again[0], seen[0])
    env.reset(options=dict(reset_mask=~mask))
    env.step(action)


def test_seeds_are_for_those_that_are_reset():
    """Once a seed with a mask set the generators of the others as well, whose next episodes were then not their own."""
    ours, theirs = pair("InvertedPendulum", 3, mode="Disabled")
    mask, first, second = np.array([True, False, False]), [], []
    for env, seen in ((ours, first), (theirs, second)):
        env.reset(seed=5)
        seen += [env.reset(seed=9, options=dict(reset_mask=mask.copy()))[0], env.reset()[0]]
    agree(first, second, "observations")
    assert ours.np_random_seed == theirs.np_random_seed == (9, 6, 7)


def test_wrappers_of_gymnasium_take_them():
    env = gymnasium.make_vec("tisim/HalfCheetah-v5", 5, max_episode_steps=10)
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    env = gymnasium.wrappers.vector.NormalizeObservation(gymnasium.wrappers.vector.ClipAction(env))
    env.reset(seed=0)
    for _ in range(10):
        *_, truncated, info = env.step(env.action_space.sample())
    assert truncated.all() and (info["episode"]["l"] == 10).all()


def test_a_picture_of_each_environment():
    env = gymnasium.make_vec("tisim/Ant-v5", 2, render_mode="rgb_array", width=64, height=48)
    env.reset(seed=0)
    first, second = env.render()
    assert first.shape == (48, 64, 3) and first.dtype == np.uint8 and not np.array_equal(first, second)
    env = gymnasium.make_vec("tisim/Walker2d-v5", 1, render_mode="rgbd_tuple", width=64, height=48)
    env.reset(seed=0)
    ((rgb, depth),) = env.render()
    assert rgb.shape == (48, 64, 3) and depth.shape == (48, 64)
    assert 1 < depth.min() < 4, "the walker is before the camera"
    far = dict(distance=30.0, lookat=(0, 0, 1), trackbodyid=-1)
    for name in ("camera", "default_camera_config"):  # tisim's name and gymnasium's
        env = gymnasium.make_vec("tisim/Walker2d-v5", 1, render_mode="depth_array", width=64, height=48, **{name: far})
        env.reset(seed=0)
        assert env.render()[0].min() > 20


def test_what_does_not_fit_is_said():
    for wrong, message in ((dict(num_envs=0), "num_envs=0"), (dict(frame_skip=0.5), "frame_skip=0.5"),
                           (dict(render_mode="human"), "render_mode='human'"),
                           (dict(xml_file="anteater.xml"), "anteater.xml"),
                           (dict(autoreset_mode="Never"), "autoreset_mode='Never': expected one of 'NextStep', 'Same"),
                           (dict(max_episode_steps=-1), "max_episode_steps=-1"),
                           (dict(reset_noise_scale="a"), "reset_noise_scale='a': expected a number"),
                           (dict(reset_noise_scale=-0.1), "reset_noise_scale=-0.1: expected a finite number, not neg"),
                           (dict(healthy_z_range=1.0), "healthy_z_range=1.0: expected two numbers"),
                           (dict(contact_force_range=None), "contact_force_range=None: expected two numbers"),
                           (dict(forward_reward_weight=[1, 2]), r"forward_reward_weight=\[1, 2\]: expected a number"),
                           (dict(camera=3), "camera=3: expected a dict"), (dict(xml_file=5), "xml_file=5: expected a"),
                           ):  # fmt: skip
        with pytest.raises(tisim.Error, match=message):
            gymnasium.make_vec("tisim/Ant-v5", **{"num_envs": 2, **wrong})
    for body in (14, -1, 1.5, None):
        env = gymnasium.make_vec("tisim/Ant-v5", 2, main_body=body)
        env.reset(seed=0)
        with pytest.raises(tisim.Error, match=f"body {body}: expected a name, or an id below 14"):
            env.step(np.zeros((2, 8)))
    env = gymnasium.make_vec("tisim/Hopper-v5", 2)
    action = np.zeros((2, 3))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)
    with pytest.raises(tisim.Error, match="reset_mask"):
        env.reset(options=dict(reset_mask=[True, False]))
    with pytest.raises(tisim.Error, match="seed: 3 for 2"):
        env.reset(seed=[1, 2, 3])
    for seed in (1.5, "12", [1.5, 2], ["1", "2"], {0: 1}):
        with pytest.raises(tisim.Error, match="seed=.*expected a whole number"):
            env.reset(seed=seed)
    with pytest.raises(tisim.Error, match="options=.*expected a dict"):
        env.reset(options=[True, False])
    env.reset(seed=np.array(1))
    with pytest.raises(gymnasium.error.Error):
        env.reset(seed=[7, -1])
    assert env.unwrapped.np_random_seed == (1, 2)
    with pytest.raises(tisim.Error, match=r"shape \(2, 4\), expected \(2, 3\)"):
        env.step(np.zeros((2, 4)))
    with pytest.raises(tisim.Error, match="expected numbers"):
        env.step([[None, 0, 0], [0, 0, 0]])
    env.step(action)


class Swing(tisim.gym.VectorEnv):
    """A task that a test changes."""

    def start(self, rng):
        return np.zeros(1), rng.normal(size=1)

    def observe(self, now):
        return np.concatenate([now.qpos, now.qvel], axis=1)

    def outcome(self, before, now, action):
        return now.qvel[:, 0], now.qpos[:, 0] > 9, {}


def pendulum():
    return tisim.Model.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='.1' pos='.2 0 0'/></body></worldbody></mujoco>"
    )


@pytest.mark.parametrize("name", ["start", "observe", "outcome", "reset_info"])
def test_behind_an_error_of_a_task_one_goes_on(name):
    """Once the next step showed worlds that had begun anew as they were before, in an episode that was over."""
    env = type("Wrong", (Swing,), {})(pendulum(), 3, autoreset_mode="SameStep", max_episode_steps=4)
    env.reset(seed=0)
    for wrong in [False] * 3 + [True] + [False] * 8:
        if wrong:  # where episodes end and begin
            setattr(env, name, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                env.step(np.zeros((3, 0)))
            delattr(env, name)
            continue
        seen, _, _, truncated, _ = env.step(np.zeros((3, 0)))
        assert np.array_equal(seen, np.concatenate([env.data.qpos, env.data.qvel], axis=1))
        assert truncated.all() or (np.asarray(env.data.time) < 3.5 * env.dt).all()


def test_an_action_whose_outcome_is_an_error_counts():
    env = type("Wrong", (Swing,), {})(pendulum(), 3, max_episode_steps=4)
    env.reset(seed=0)
    env.outcome = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        env.step(np.zeros((3, 0)))
    del env.outcome
    assert [bool(env.step(np.zeros((3, 0)))[3].all()) for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool])
def test_observations_are_of_the_declared_space(dtype):
    """Once the space was of float64, whatever a task gave."""
    env = type("Other", (Swing,), dict(observe=lambda self, now: now.qvel.astype(dtype)))(pendulum(), 3)
    for seen in (env.reset(seed=0)[0], env.step(np.zeros((3, 0)))[0]):
        assert seen.dtype == env.observation_space.dtype == dtype and seen in env.observation_space


def test_what_an_agent_saw_stays_as_it_was():
    """Once an observation that a task took as it is was the environment's own: a reset wrote into what an agent kept,
    and what an agent wrote changed what the task saw."""
    env = type("Plain", (Swing,), dict(observe=lambda self, now: now.qvel))(pendulum(), 3, autoreset_mode="Disabled")
    first, _ = env.reset(seed=0)
    before = first.copy()
    again, _ = env.reset(options=dict(reset_mask=np.array([True, False, False])))
    assert np.array_equal(first, before) and not np.array_equal(again, first)
    again[:] = 7
    assert not np.any(env.seen.qvel == 7)


def test_infos_of_steps_and_of_starts_are_one_array():
    """Once 0.5 of an episode's start became 0 beside the whole numbers of steps."""
    change = dict(
        outcome=lambda self, before, now, action: (np.zeros(3), np.arange(3) == 1, dict(x=np.arange(3))),
        reset_info=lambda self, now: dict(x=np.full(len(now.qpos), 0.5)),
        observe=lambda self, now: now.qpos.tolist(),
    )
    for mode, wanted in (("SameStep", [0, 0.5, 2]), ("NextStep", [0, 0.5, 2])):
        env = type("Changed", (Swing,), change)(pendulum(), 3, autoreset_mode=mode)
        env.reset(seed=0)
        for _ in range(1 if mode == "SameStep" else 2):
            seen, *_, infos = env.step(np.zeros((3, 0)))
        assert infos["x"].tolist() == wanted and seen.shape == (3, 1)


def test_words_of_steps_and_numbers_of_starts_stay_what_they_are():
    """Once the numbers became words."""
    change = dict(
        outcome=lambda self, before, now, action: (np.zeros(3), np.arange(3) == 1, dict(x=["a", "b", "c"])),
        reset_info=lambda self, now: dict(x=np.full(len(now.qpos), 0.5)),
    )
    env = type("Worded", (Swing,), change)(pendulum(), 3, autoreset_mode="SameStep")
    env.reset(seed=0)
    infos = env.step(np.zeros((3, 0)))[-1]
    assert infos["x"].tolist() == ["a", 0.5, "c"] and infos["final_info"]["x"].tolist() == ["", "b", ""]


def test_actions_with_a_mask_are_refused():
    env = Swing(pendulum(), 3)
    env.reset(seed=0)
    with pytest.raises(tisim.Error, match="^actions: expected numbers, got a masked array: its .filled"):
        env.step(np.ma.masked_all((3, 0)))


@pytest.mark.parametrize("change, words", [
    (dict(reads=("qposs",)), "reads: .* no array 'qposs' for each world .did you mean 'qpos'"),
    (dict(reads=("qpos", "contact_dist")), "no array 'contact_dist' for each world"),
    (dict(reads="qpos"), "reads='qpos': expected several names"),
    (dict(reads=("qpos",)), "'qvel' is not seen: the task's `reads` names qpos"),
    (dict(start=lambda self, rng: (np.zeros(0), np.zeros(2))), r"start: gave ..0,., .2,.., expected .* ..1,., .1,.."),
    (dict(start=lambda self, rng: np.zeros(2)), "start: gave .*ndarray"),
    (dict(observe=lambda self, now: now.qpos[:1]), r"observe: gave shape \(1, 1\) for 3 environments"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(1), np.zeros(3, bool), {})), r"rewards .* \(1,\)"),
    (dict(outcome=lambda self, before, now, action: (now.qpos, np.zeros(3, bool), {})), r"rewards .* \(3, 1\)"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), False, {})), r"terminations have shape \(\)"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), np.zeros(3, bool))), "outcome: expected rewards"),
    (dict(outcome=lambda self, before, now, action: (["a"] * 3, np.zeros(3, bool), {})), "rewards: gave .* <U1"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), np.zeros(3, bool), None)), "infos are None"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), np.zeros(3, bool), dict(x=np.zeros(4)))),
     r"outcome: info 'x' has shape \(4,\) for 3 environments"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), np.zeros(3, bool), dict(x=1.0))), "'x' has shape .."),
    (dict(reset_info=lambda self, now: dict(x=np.zeros(2))), r"reset_info: info 'x' has shape \(2,\) for 3"),
    (dict(observe=lambda self, now: np.full((len(now.qpos), 1), None)), "observe: gave an array of object"),
    (dict(observe=lambda self, now: np.zeros((len(now.qpos), len(now.qpos)))),
     r"observe: gave float64\[3, 3\], at first float64\[3, 1\]"),
    (dict(observe=lambda self, now: np.zeros((len(now.qpos), 1), float if len(now.qpos) > 1 else int)),
     r"observe: gave float64\[3, 1\], at first int64\[3, 1\]"),
    (dict(start=lambda self, rng: (["a"], [0.0])), "start: qpos and qvel: gave an array of <U1, expected numbers"),
    (dict(start=lambda self, rng: ([1j], [0.0])), "start: qpos and qvel: gave an array of complex128"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3) * 1j, np.zeros(3, bool), {})), "rewards: .* complex"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), ["", "a", ""], {})), "terminations: .* <U1"),
    (dict(outcome=lambda self, before, now, action: ([0, [1], 2], np.zeros(3, bool), {})), "rewards are no array"),
    (dict(outcome=lambda self, before, now, action: (np.zeros(3), np.zeros(3, bool), dict(x=[[1], [1, 2], []]))),
     "outcome: info 'x' is no array"),
    *((dict(outcome=lambda self, before, now, action, name=name: (np.zeros(3), np.zeros(3, bool), {name: np.zeros(3)})),
       f"outcome: info {name!r}: expected another name") for name in ("_x", 3, "final_obs")),
])  # fmt: skip
def test_a_task_that_does_not_fit_is_told_what_was_expected(change, words):
    """Once a task's rewards and observations of another shape were handed on, or NumPy's error told of them."""
    m = pendulum()
    env = Swing(m, 3)
    env.reset(seed=0)
    assert env.step(np.zeros((3, 0)))[0].shape == (3, 2)
    with pytest.raises(tisim.Error, match=words):
        env = type("Changed", (Swing,), change)(m, 3)
        env.reset(seed=0)
        env.step(np.zeros((3, 0)))
    with pytest.raises(tisim.Error, match="task='tisim.gym:Swing': expected 'module:Class'"):
        tisim.gym.vector_env.make("tisim.gym:Swing")


TASK = "tisim.gym.objects:ClearPile"


@pytest.mark.parametrize("arguments, words", [
    (dict(name=None), "name=None: expected a name as 'mine/Sort-v0'"),
    (dict(name="a b"), "name='a b': Malformed environment ID"),
    (dict(task=3), "task=3: expected 'module:Class'"), (dict(task=Swing), "task=.*Swing.*: expected 'module:Class'"),
    (dict(task="tasks"), "task='tasks': expected"), (dict(task=".tasks:Sort"), "task='.tasks:Sort': expected"),
    (dict(max_episode_steps=2.5), "max_episode_steps=2.5: expected a positive whole number"),
    (dict(reward_threshold="9"), "reward_threshold='9': expected a number"),
    (dict(order_enforce="no"), "order_enforce='no': expected True or False"),
    (dict(max_episode_step=9), r"register takes no 'max_episode_step' \(did you mean 'max_episode_steps'"),
    (dict(entry_point="a:b"), "register takes no 'entry_point'"),
    (dict(kwargs=3), "kwargs=3: expected a dict"), (dict(kwargs=dict(task=TASK)), "kwargs: 'task' is the second argu"),
])  # fmt: skip
def test_a_task_that_cannot_be_registered_is_told_by_its_argument(arguments, words):
    with pytest.raises(tisim.Error, match=words):
        tisim.gym.register(**dict(name="tests/Wrong-v0", task=TASK) | arguments)
    assert "tests/Wrong-v0" not in gymnasium.registry


def test_a_registered_task_has_its_arguments_and_is_told_when_it_is_not_there():
    """Once what a name stood for was called whatever it was, and two environments were made where one was seen."""
    tisim.gym.register("tests/ShortAnt-v0", "tisim.gym.runners:Ant", kwargs=dict(frame_skip=3))
    assert gymnasium.make_vec("tests/ShortAnt-v0", 2).frame_skip == 3
    assert gymnasium.make("tests/ShortAnt-v0", frame_skip=2).unwrapped.worlds.frame_skip == 2
    for task, words in (
        ("json:dumps", "expected 'module:Class' of a tisim.gym.VectorEnv"),
        ("json:JSONDecoder", "expected 'module:Class' of a tisim.gym.VectorEnv"),
        ("tasks_of_nobody.sort:Sort", "there is no module 'tasks_of_nobody'"),
    ):
        tisim.gym.register("tests/Absent-v0", task)
        for make in (gymnasium.make, gymnasium.make_vec):
            with pytest.raises(tisim.Error, match=f"task='{task}': {words}"):
                make("tests/Absent-v0")
        del gymnasium.registry["tests/Absent-v0"]
    for name, value in (("num_envs", 2), ("autoreset_mode", "NextStep")):
        with pytest.raises(tisim.Error, match=f"{name}={value!r}: this is one environment"):
            gymnasium.make("tisim/Hopper-v5", **{name: value})


def test_without_gymnasium_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(tisim.Error, match=r"pip install 'tisim\[gym\]'"):
        importlib.reload(tisim.gym)


def test_seeds_are_told_and_what_is_closed_says_so():
    ours, theirs = pair("InvertedPendulum", 3)
    for seed in (7, [4, None, 5]):
        for env in (ours, theirs):
            env.reset(seed=seed)
        assert ours.np_random_seed == theirs.np_random_seed
    fresh = gymnasium.make_vec("tisim/InvertedPendulum-v5", 2, render_mode="rgb_array")
    assert len(set(fresh.np_random_seed)) == 2 and [g.random() for g in fresh.np_random] == [
        np.random.Generator(np.random.PCG64(seed)).random() for seed in fresh.np_random_seed
    ]
    fresh.close()
    for act in (fresh.reset, fresh.render, lambda: fresh.step(np.zeros((2, 1)))):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="are closed"):
            act()
    fresh.close()


def test_a_single_environment_takes_the_seeds_that_a_batch_does():
    env = gymnasium.make("tisim/InvertedPendulum-v5").unwrapped
    wanted, _ = env.reset(seed=7)
    for seed in (np.int64(7), np.uint8(7), np.array(7)):
        assert np.array_equal(env.reset(seed=seed)[0], wanted)
    for seed in (True, np.bool_(1), 1.0, "7", [7]):
        with pytest.raises(tisim.Error, match="expected a whole number"):
            env.reset(seed=seed)
    with pytest.raises(tisim.Error, match="expected a dict"):
        env.reset(options="low")
