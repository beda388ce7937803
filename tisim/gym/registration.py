"""Tasks by name, for gymnasium.make and gymnasium.make_vec."""

import inspect
import numbers

import gymnasium

from tisim.errors import Error, FieldError, brief
from tisim.mjcf.format.names import nearest

from .vector_env import check_task, positive

OWN = ("id", "entry_point", "vector_entry_point")  # arguments of gymnasium.register that are tisim's to give
SWITCHES = ("nondeterministic", "order_enforce", "disable_env_checker")


def register(name, task, *, max_episode_steps=None, reward_threshold=None, kwargs=None, **others):
    """Registers a task, "module:Class" of a VectorEnv, for gymnasium.make_vec and gymnasium.make.

    name  such as "mine/Sort-v0";  task  as "mine.tasks:Sort", which is imported when an environment is made.
    max_episode_steps  actions after which an episode is truncated;  reward_threshold  of a task that is solved.
    kwargs  a dict of arguments of the task;  others  whatever else gymnasium.register takes.
    Raises Error, which names the argument, for what does not fit.
    """
    if not isinstance(name, str):
        raise Error(f"name={brief(name)}: expected a name as 'mine/Sort-v0'")
    check_task(task)
    if max_episode_steps is not None:
        positive("max_episode_steps", max_episode_steps)
    if reward_threshold is not None and not isinstance(reward_threshold, numbers.Real):
        raise Error(f"reward_threshold={brief(reward_threshold)}: expected a number")
    if kwargs is not None and not (isinstance(kwargs, dict) and all(isinstance(key, str) for key in kwargs)):
        raise Error(f"kwargs={brief(kwargs)}: expected a dict of arguments of the task")
    if "task" in (kwargs or {}):
        raise Error("kwargs: 'task' is the second argument")
    known = [key for key in inspect.signature(gymnasium.register).parameters if key not in OWN]
    for key, value in others.items():
        if key not in known:
            raise FieldError(f"register takes no {brief(key)}{nearest(key, known)}")
        if key in SWITCHES and not isinstance(value, bool):
            raise Error(f"{key}={brief(value)}: expected True or False")
    try:
        gymnasium.register(name, entry_point="tisim.gym.single_env:SingleEnv",
                           vector_entry_point="tisim.gym.vector_env:make", max_episode_steps=max_episode_steps,
                           reward_threshold=reward_threshold, kwargs=dict(kwargs or {}, task=task),
                           **others)  # fmt: skip
    except gymnasium.error.Error as e:  # a name that gymnasium does not take
        raise Error(f"name={brief(name)}: {e}") from None
