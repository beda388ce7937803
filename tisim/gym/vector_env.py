"""Many copies of one task, each a world of one batch, as a gymnasium.vector.VectorEnv."""

import importlib
import operator

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode

from tisim import pipeline
from tisim.data.arrays import DATA
from tisim.data.data import Data
from tisim.data.on_demand import POST_CONSTRAINT  # of the last step's forces: 0 after a reset, as gymnasium's
from tisim.data.state import restart, set_state
from tisim.device import hands, memory
from tisim.enums import mjtState
from tisim.errors import Error, FieldError, brief
from tisim.mjcf.format.names import nearest
from tisim.model.watched import floats

from .batch import Batch
from .pictures import MODES, Pictures
from .vector_info import join

START = mjtState.mjSTATE_QPOS | mjtState.mjSTATE_QVEL
TAKEN = "final_obs", "final_info"  # names of infos that are gymnasium's
FRESH = 4, 32  # worlds in which the quantities of a few starts, and of many, are computed at once


class Seen:
    """What a task looks at: arrays of Data by name, a dict of them, as its attributes; environments in front."""

    def __init__(self, arrays):
        vars(self).update(arrays)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise FieldError(f"{brief(name)} is not seen: the task's `reads` names {', '.join(vars(self)) or 'nothing'}")

    def rows(self, index):
        """The same of some environments, by index or mask."""
        return Seen({name: a[index] for name, a in vars(self).items()})


class VectorEnv(gymnasium.vector.VectorEnv):
    """num_envs environments of one model. A task is a subclass that says, for all environments at once:

        reads                            names of the arrays of Data that the others look at
        start(rng)                       qpos (nq,) and qvel (nv,) of an episode, drawn from a NumPy Generator
        observe(now)                     (n, size) what an agent sees; shape and dtype are always the same
        outcome(before, now, action)     rewards (n,), which have ended (n,), and a dict of (n, ...) infos
        reset_info(now)                  a dict of (n, ...) infos of a reset

    before and now hold the arrays of `reads` of n environments as they were when an action came and `frame_skip` steps
    later, each with n in front; forces are those of the last step, and 0 after a reset. An environment's numbers depend
    on its seed and its actions alone, not on how many there are beside it.

    m                  the Model;  num_envs  how many.
    frame_skip         steps for each action.
    blocks             in how many Data the environments lie, as many threads step them at the same time; None: as many
                       as there are processors for, where that pays. `datas` are these, `data` is the one of blocks=1.
    max_episode_steps  actions after which an episode is truncated, None: never.
    autoreset_mode     gymnasium's AutoresetMode or its value: "NextStep", "SameStep", "Disabled".
    render_mode        None, "rgb_array", "depth_array" or "rgbd_tuple": what `render` returns for each environment.
    width, height      of its pictures [pixel];  camera  a dict of fields of a tisim.MjvCamera, None: the model's
                       free one;  camera_id, camera_name  one of the model's in its place.
    """

    reads = ("qpos", "qvel")

    def __init__(self, m, num_envs=1, *, frame_skip=1, blocks=None, max_episode_steps=None,
                 autoreset_mode=AutoresetMode.NEXT_STEP, render_mode=None, width=480, height=480, camera=None,
                 camera_id=None, camera_name=None):  # fmt: skip
        self.num_envs, self.frame_skip = positive("num_envs", num_envs), positive("frame_skip", frame_skip)
        if max_episode_steps is not None:
            positive("max_episode_steps", max_episode_steps)
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise Error(f"autoreset_mode={brief(autoreset_mode)}: expected one of {modes}") from None
        self.max_episode_steps, self.render_mode = max_episode_steps, render_mode
        self.model = m
        self._batch = Batch(m, self.num_envs, self.frame_skip, None if blocks is None else positive("blocks", blocks))
        self._fresh = {}  # {worlds: Data}
        self.metadata = dict(
            render_modes=list(MODES), render_fps=int(np.round(1.0 / self.dt)), autoreset_mode=self.autoreset_mode
        )
        self._pictures = Pictures(m, render_mode, width, height, camera, camera_id, camera_name)
        self.rngs, self._seeded = [None] * self.num_envs, [None] * self.num_envs
        self._elapsed = np.zeros(self.num_envs, int)
        self.ended = np.ones(self.num_envs, bool)  # until the first reset
        self.seen = None
        self._make_spaces()

    def _make_spaces(self):
        low, high = np.where(np.asarray(self.model.actuator_ctrllimited, bool)[:, None],
                             self.model.actuator_ctrlrange, (-np.inf, np.inf)).T.astype(np.float32)  # fmt: skip
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self._check_reads()
        first = self._observed(self._look_at(self._drawn([np.random.default_rng(0)])), 1)
        low, high = (-np.inf, np.inf) if first.dtype.kind == "f" else _range(first.dtype)
        self.single_observation_space = gymnasium.spaces.Box(low, high, first.shape[1:], first.dtype)
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, self.num_envs)
        self.observation_space = batch(self.single_observation_space, self.num_envs)

    def _check_reads(self):
        """Raises Error for names in `reads` that are no arrays of each world."""
        if isinstance(self.reads, str):
            raise Error(f"reads={brief(self.reads)}: expected several names")
        kept = [name for name, a in DATA.items() if not (a.hidden or a.is_list or a.is_shared)]
        for name in self.reads:
            if name not in kept:
                raise FieldError(f"reads: Data keeps no array {brief(name)} for each world{nearest(str(name), kept)}")

    @property
    def datas(self):
        """The Data of the environments, those of the first ones first; none when they are closed."""
        return self._batch.datas if self._batch else ()

    @property
    def data(self):
        """The Data of all environments. Raises Error where there are several."""
        if len(self.datas) > 1:
            raise Error(f"the environments lie in {len(self.datas)} Data, `datas`; with blocks=1 they lie in one")
        return self.datas[0] if self.datas else None

    @property
    def dt(self):
        """Time of one action [s]."""
        return float(self.model.opt.timestep) * self.frame_skip

    def start(self, rng):
        """qpos (nq,) and qvel (nv,) at the start of an episode, drawn from a NumPy Generator; a task's own."""
        raise NotImplementedError

    def observe(self, now):
        """What an agent sees (n, size), of a Seen; a task's own."""
        raise NotImplementedError

    def outcome(self, before, now, action):
        """Rewards (n,), which episodes have ended (n,), and a dict of infos (n, ...), of an action (n, nu) and what was
        Seen before it and is now; a task's own."""
        raise NotImplementedError

    def reset_info(self, now):
        """A dict of infos (n, ...) where episodes start."""
        return {}

    @property
    def np_random(self):
        """The environments' generators, a tuple."""
        return tuple(map(self._rng, range(self.num_envs)))

    @property
    def np_random_seed(self):
        """Their seeds, a tuple."""
        return tuple(self._seeded[k] for k, _ in enumerate(self.np_random))

    def _rng(self, k):
        """The generator of environment k."""
        if self.rngs[k] is None:
            self.rngs[k], self._seeded[k] = seeding.np_random()
        return self.rngs[k]

    def reset(self, *, seed=None, options=None):
        """Starts an episode in each environment, or in those of options["reset_mask"], a (num_envs,) array of bool.

        seed  a number: environment k draws from seed + k; or one for each, None among them, which go on as they are,
              as do those that are not reset.
        """
        self._check("reset")
        index = self._masked(options)
        if self.seen is None and len(index) < self.num_envs:
            raise Error("the first reset is of all environments")
        made = [one if one is None else seeding.np_random(one) for one in self._seeds(seed)]  # raises before any is set
        for k in index:
            if made[k] is not None:
                self.rngs[k], self._seeded[k] = made[k]
        self._begin(index)
        infos = join({}, self._infos_of(index), index, self.num_envs)
        return self._observed(self.seen, self.num_envs), infos

    def step(self, actions):
        """Takes an action (num_envs, nu) in each environment: observations (num_envs, size), rewards, terminations and
        truncations (num_envs,), and infos as gymnasium's vector environments give them.
        """
        self._check("step")
        if self.seen is None:
            raise gymnasium.error.ResetNeeded("step: call reset first")
        again = np.flatnonzero(self.ended)
        if len(again) and self.autoreset_mode == AutoresetMode.DISABLED:
            raise gymnasium.error.ResetNeeded(
                f"the episodes of environments {again.tolist()} have ended: reset them, by options['reset_mask']"
            )
        action = self._action(actions)
        before, index = self.seen, np.flatnonzero(~self.ended)
        begun = self._drawn(map(self._rng, again))
        copies, fresh = self._batch.step(
            action, self.reads, (begun, again, START) if len(again) else None, self._beside(begun)
        )
        self.seen = Seen(copies)
        self._elapsed += 1
        reward, terminated, info = self._judged(before, action)
        truncated = self._elapsed >= (self.max_episode_steps or np.inf)
        reward[again], terminated[again], truncated[again] = 0, False, False  # they are reset in this step
        self.ended = terminated | truncated
        infos = join({}, {name: a[index] for name, a in info.items()}, index, self.num_envs)
        if len(again):
            self._begun(again, fresh or self._look_at(begun))
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self.ended.any():
            index = np.flatnonzero(self.ended)
            infos = self._finish(infos, index)
            self._begin(index)
            again = np.union1d(again, index)  # those that an error kept from being reset in the last step, too
        if len(again):
            infos = join(infos, self._infos_of(again), again, self.num_envs)
        return self._observed(self.seen, self.num_envs), reward, terminated, truncated, infos

    def render(self):
        """A picture of each environment, a tuple; None without a render_mode. Raises Error before the first reset."""
        self._check("render")
        if self.seen is None:
            raise gymnasium.error.ResetNeeded("render: call reset first")
        if self.render_mode is None:
            return None
        pictures = []
        for part in self._parts(np.arange(self.num_envs)):  # poses of Data are those before the last step's end
            copied = self._batch.states(part)
            fresh = self._fresh_for(len(part))
            set_state(self.model, fresh, copied, worlds=np.arange(len(part)))
            pipeline.forward(self.model, fresh)
            pictures += self._pictures.take(fresh, len(part))
        return tuple(pictures)

    def _check(self, what):
        """Raises gymnasium's error where the environments are closed."""
        if self._batch is None:
            raise gymnasium.error.ClosedEnvironmentError(f"{what}: the environments are closed")

    def close_extras(self, **_):
        """Lets go of the worlds; called by close()."""
        self._pictures.close()
        self._batch = self.seen = None
        self._fresh = {}

    def _begin(self, index):
        """Starts episodes in some environments."""
        states = self._drawn(map(self._rng, index))
        self._batch.reset(states, index, START)
        self._begun(index, self._look_at(states))

    def _begun(self, index, seen):
        """Episodes have started in some environments: what is seen there."""
        if self.seen is None:
            self.seen = seen
        else:
            for name, a in vars(seen).items():
                getattr(self.seen, name)[index] = a
        self._elapsed[index], self.ended[index] = 0, False

    def _parts(self, index):
        """Environments in groups that fit the worlds in which starts are computed."""
        return [index[first : first + FRESH[-1]] for first in range(0, len(index), FRESH[-1])]

    def _fresh_for(self, n):
        """A Data of n worlds or more that nothing goes on from, which may be at work beside those of the batch."""
        size = min(self.num_envs, next(size for size in FRESH if size >= n))
        if size not in self._fresh:
            self._fresh[size] = Data(self.model, nworld=size)
            if self._batch.by_hands:
                hands.give(self._fresh[size], len(self._batch.datas))
        return self._fresh[size]

    def _drawn(self, rngs):
        """A start drawn from each generator, (n, nq + nv)."""
        starts = list(map(self._started, rngs))
        return np.array(starts, np.float64).reshape(len(starts), self.model.nq + self.model.nv)

    def _started(self, rng):
        """The same of one, looked at."""
        start, wanted = self.start(rng), ((self.model.nq,), (self.model.nv,))
        shapes = tuple(map(np.shape, start)) if isinstance(start, (tuple, list)) else type(start)
        if shapes != wanted:
            raise Error(f"start: gave {shapes}, expected qpos and qvel of shapes {wanted}")
        return np.concatenate([_given("start: qpos and qvel", part) for part in start])

    def _observed(self, seen, n):
        """What agents see of n environments, looked at."""
        a, space = _given("observe", self.observe(seen)), vars(self).get("single_observation_space")
        if a.shape[:1] != (n,):
            raise Error(f"observe: gave shape {a.shape} for {n} environments, expected them in front")
        if space is not None:
            if a.shape[1:] != space.shape or not np.can_cast(a.dtype, space.dtype, "same_kind"):
                raise Error(f"observe: gave {a.dtype}{list(a.shape)}, at first {space.dtype}{[n, *space.shape]}")
            a = a.astype(space.dtype, copy=False)
        kept = any(np.may_share_memory(a, b) for b in vars(seen).values())  # and resets write into what is kept
        return a.copy() if kept else a

    def _judged(self, before, action):
        """The outcome of an action in all environments, looked at; arrays that are nobody else's."""
        found, n = self.outcome(before, self.seen, action), self.num_envs
        if not isinstance(found, (tuple, list)) or len(found) != 3:
            raise Error("outcome: expected rewards, which have ended, and a dict of infos")
        reward = np.array(_given("outcome: rewards", found[0]), np.float64)
        terminated = np.array(_given("outcome: terminations", found[1]), bool)
        for what, a in (("rewards", reward), ("terminations", terminated)):
            if a.shape != (n,):
                raise Error(f"outcome: {what} have shape {a.shape}, expected ({n},)")
        return reward, terminated, _infos("outcome", found[2], n)

    def _infos_of(self, index):
        """Infos where episodes start in some environments, looked at."""
        return _infos("reset_info", self.reset_info(self.seen.rows(index)), len(index))

    def _beside(self, states):
        """A function that looks at these starts while others are stepped, None where there is nothing to compute."""
        if not len(states) or self._only_states():
            return None
        for part in self._parts(states):
            self._fresh_for(len(part))
        return lambda: self._look_at(states)

    def _only_states(self):
        return set(self.reads) <= {"qpos", "qvel"}

    def _look_at(self, states):
        """What is seen where episodes start in these states."""
        if self._only_states():
            parts = dict(zip(("qpos", "qvel"), np.split(states, [self.model.nq], axis=1)))
            kinds = {name: memory.number_type(self._batch.datas[0].device(name)) for name in self.reads}
            return Seen({name: parts[name].astype(kinds[name]) for name in self.reads})
        found = [self._computed(part) for part in self._parts(states)]
        return Seen({name: np.concatenate([seen[name] for seen in found]) for name in self.reads})

    def _computed(self, states):
        """The same of as many states as fit, computed."""
        fresh = self._fresh_for(len(states))
        restart(self.model, fresh, states, np.arange(len(states)), START)
        pipeline.forward_for(self.model, fresh, [name for name in self.reads if name not in POST_CONSTRAINT])
        seen = {name: fresh.host(name)[: len(states)] for name in self.reads}
        return {name: np.zeros_like(a) if name in POST_CONSTRAINT else a for name, a in seen.items()}

    def _finish(self, infos, index):
        """Infos with the last observation and infos of episodes that have ended in this step."""
        if not len(index):
            return infos
        mask = np.zeros(self.num_envs, bool)
        mask[index] = True
        last = np.full(self.num_envs, None, object)
        for k, seen in zip(index, self._observed(self.seen.rows(index), len(index))):
            last[k] = seen
        of_steps = {name: a[index] for name, a in infos.items() if not name.startswith("_")}
        final = join({}, of_steps, index, self.num_envs)
        rest = {name: np.where(_like(mask, a), np.zeros_like(a), a) for name, a in infos.items()}
        return rest | dict(final_obs=last, _final_obs=mask, final_info=final, _final_info=mask.copy())

    def _action(self, actions):
        a = floats("actions", actions)
        if a.shape != (shape := (self.num_envs, self.model.nu)):
            raise Error(f"actions have shape {a.shape}, expected {shape}")
        return a

    def _seeds(self, seed):
        try:
            if seed is None or np.ndim(seed) == 0:
                return [None if seed is None else as_seed(seed) + k for k in range(self.num_envs)]
            found = [None if one is None else as_seed(one) for one in seed]
        except (TypeError, ValueError):
            raise Error(f"seed={brief(seed)}: expected a whole number, or one or None for each environment") from None
        if len(found) != self.num_envs:
            raise Error(f"seed: {len(found)} for {self.num_envs} environments")
        return found

    def _masked(self, options):
        if options is not None and not isinstance(options, dict):
            raise Error(f"options={brief(options)}: expected a dict, or None")
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise Error(f"reset_mask: expected ({self.num_envs},) bool, one of them at least true")
        return np.flatnonzero(mask)


def _given(what, values):
    """What a task gave, as an array. Raises Error for what are no numbers."""
    try:
        a = np.asarray(values)
    except ValueError as e:  # rows of different lengths
        raise Error(f"{what} are no array: {e}") from None
    if a.dtype.kind not in "biuf":
        raise Error(f"{what}: gave an array of {a.dtype}, expected numbers")
    return a


def _range(dtype):
    """The least and the greatest of whole numbers, or of bool."""
    return (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def _infos(what, found, n):
    """Infos of n environments, looked at."""
    if not isinstance(found, dict):
        raise Error(f"{what}: infos are {brief(found)}, expected a dict")
    out = {}
    for name, value in found.items():
        if not isinstance(name, str) or name.startswith("_") or name in TAKEN:
            raise Error(f"{what}: info {brief(name)}: expected another name, without _ in front")
        try:
            out[name] = np.asarray(value)
        except ValueError as e:  # rows of different lengths
            raise Error(f"{what}: info {brief(name)} is no array: {e}") from None
    for name, a in out.items():
        if a.shape[:1] != (n,):
            raise Error(f"{what}: info {brief(name)} has shape {a.shape} for {n} environments, expected them in front")
    return out


def as_seed(seed):
    """A seed as an int. Raises TypeError where it is no whole number."""
    if isinstance(seed, (bool, np.bool_)):
        raise TypeError
    return operator.index(seed)


def _like(mask, a):
    return mask.reshape(-1, *(1,) * (a.ndim - 1))


def positive(name, value):
    """The value of an argument; raises Error for what is no positive whole number."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise Error(f"{name}={brief(value)}: expected a positive whole number")
    return int(value)


def check_task(task):
    """Module and class of a task named as "module:Class"; raises Error for what is no such name."""
    module, _, name = task.partition(":") if isinstance(task, str) else ("", "", "")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise Error(f"task={brief(task)}: expected 'module:Class'")
    return module, name


def make(task, num_envs=1, **kwargs):
    """A VectorEnv of a task named as "module:Class", for gymnasium's registry."""
    module, name = check_task(task)
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as e:
        if not f"{module}.".startswith(f"{e.name}."):  # the module is there, and misses another
            raise
        raise Error(f"task={brief(task)}: there is no module {e.name!r}") from None
    if not (isinstance(found, type) and issubclass(found, VectorEnv)):
        raise Error(f"task={brief(task)}: expected 'module:Class' of a tisim.gym.VectorEnv")
    return found(num_envs=num_envs, **kwargs)
