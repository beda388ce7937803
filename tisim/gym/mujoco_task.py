"""What gymnasium's MuJoCo environments have in common: their models and how an episode starts."""

import importlib.util
import numbers
import os

import numpy as np

from tisim.errors import Error, brief
from tisim.model.model import Model

from .vector_env import VectorEnv


def asset(name):
    """Path of a model that gymnasium brings; a path is left as it is."""
    if not isinstance(name, (str, os.PathLike)):
        raise Error(f"xml_file={brief(name)}: expected a path, or the name of a model that gymnasium brings")
    if os.path.dirname(name) or os.path.exists(name):
        return os.path.expanduser(name)
    folder = os.path.dirname(importlib.util.find_spec("gymnasium").origin)
    path = os.path.join(folder, "envs", "mujoco", "assets", name)
    if not os.path.exists(path):
        raise Error(f"xml_file={brief(name)}: no such file, and gymnasium brings no model of this name")
    return path


class MujocoTask(VectorEnv):
    """A task of one of gymnasium's models.

    xml_file     a path, or the name of a model that gymnasium brings;  frame_skip  steps for each action.
    reset_noise_scale  half width of the uniform noise on qpos, and on qvel, where an episode starts; `normal` tasks
                 have it as the deviation of normal noise on qvel.
    camera, default_camera_config  fields of a tisim.MjvCamera that pictures are taken with; the latter is gymnasium's
                 name of it.
    """

    xml, skip, noise, normal, look = None, 5, 0.1, False, None

    def __init__(self, num_envs=1, *, xml_file=None, frame_skip=None, reset_noise_scale=None,
                 default_camera_config=None, camera=None, **kwargs):  # fmt: skip
        self.reset_noise_scale = self.noise if reset_noise_scale is None else reset_noise_scale
        for name, value in vars(self).items():
            _check_parameter(name, value)
        if not 0 <= self.reset_noise_scale < np.inf:
            raise Error(f"reset_noise_scale={brief(reset_noise_scale)}: expected a finite number, not negative")
        m = Model.from_xml_path(asset(self.xml if xml_file is None else xml_file))
        looks = [look for look in (default_camera_config, camera) if look is not None]
        if len(looks) > 1:
            raise Error("default_camera_config and camera are two names of one thing: give one of them")
        look = looks[0] if looks else self.look
        super().__init__(m, num_envs, frame_skip=self.skip if frame_skip is None else frame_skip, camera=look, **kwargs)

    def start(self, rng):
        m, noise = self.model, self.reset_noise_scale
        qpos = np.asarray(m.qpos0) + rng.uniform(-noise, noise, m.nq)
        if self.normal:
            return qpos, noise * rng.standard_normal(m.nv)
        return qpos, rng.uniform(-noise, noise, m.nv)

    def body(self, name):
        """Id of a body given by name or id."""
        if isinstance(name, str):
            return self.model.name2id("body", name)
        whole = isinstance(name, numbers.Integral) and not isinstance(name, bool)
        if not whole or not 0 <= name < self.model.nbody:
            raise Error(f"body {brief(name)}: expected a name, or an id below {self.model.nbody}")
        return int(name)


def _check_parameter(name, value):
    """Raises Error for a range or a weight of a task that is none."""
    pair = isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2
    if name.endswith("_range") and not (pair and all(isinstance(x, numbers.Real) for x in value)):
        raise Error(f"{name}={brief(value)}: expected two numbers, the least and the most")
    if name.endswith(("_weight", "_reward", "_scale")) and not isinstance(value, numbers.Real):
        raise Error(f"{name}={brief(value)}: expected a number")


def row_sums(a):
    """Sums over all axes but the first."""
    return a.reshape(len(a), -1).sum(axis=1)


def side_by_side(*arrays):
    """(n, size) of arrays (n, ...)."""
    return np.concatenate([a.reshape(len(a), -1) for a in arrays], axis=1)
