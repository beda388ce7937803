"""One environment of a task, as a gymnasium.Env."""

import gymnasium

from tisim.errors import Error, brief

from .pictures import MODES
from .vector_env import as_seed, make


class SingleEnv(gymnasium.Env):
    """A task alone: a VectorEnv of one environment, without the axis in front.

    task  "module:Class";  other arguments are the task's.
    """

    metadata = dict(render_modes=list(MODES))

    def __init__(self, task, **kwargs):
        for name in ("num_envs", "autoreset_mode"):
            if name in kwargs:
                raise Error(f"{name}={brief(kwargs[name])}: this is one environment; gymnasium.make_vec takes {name}")
        self.worlds = make(task, autoreset_mode="Disabled", **kwargs)
        self.observation_space = self.worlds.single_observation_space
        self.action_space = self.worlds.single_action_space
        self.metadata = {k: v for k, v in self.worlds.metadata.items() if k != "autoreset_mode"}
        self.render_mode = self.worlds.render_mode

    @property
    def model(self):
        """The Model."""
        return self.worlds.model

    @property
    def data(self):
        """The Data."""
        return self.worlds.data

    @property
    def dt(self):
        """Time of one action [s]."""
        return self.worlds.dt

    def reset(self, *, seed=None, options=None):
        try:
            seed = None if seed is None else as_seed(seed)
        except TypeError:
            raise Error(f"seed={brief(seed)}: expected a whole number") from None
        super().reset(seed=seed)
        self.worlds.rngs = [self.np_random]
        seen, infos = self.worlds.reset(options=options)
        return seen[0], _of_one(infos)

    def step(self, action):
        seen, reward, terminated, truncated, infos = self.worlds.step([action])
        self.worlds.ended[:] = False  # as in gymnasium's environments one may go on
        return seen[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), _of_one(infos)

    def render(self):
        pictures = self.worlds.render()
        return pictures and pictures[0]

    def close(self):
        self.worlds.close()


def _of_one(infos):
    return {name: a[0] for name, a in infos.items() if not name.startswith("_")}
