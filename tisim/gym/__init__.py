"""Environments for gymnasium, thousands in one batch. Importing this module registers them:

import gymnasium
import tisim.gym

envs = gymnasium.make_vec("tisim/Ant-v5", num_envs=1024)
"""

from tisim.errors import Error

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode  # noqa: F401  of gymnasium 1.1
except ImportError:
    raise Error("tisim.gym needs gymnasium 1.1 or newer: pip install 'tisim[gym]'") from None

from .registration import register
from .vector_env import Seen, VectorEnv

__all__ = ["Seen", "VectorEnv", "register"]

# environments that are gymnasium's own of the same name, by the file of their tasks
OF_GYMNASIUM = {
    "runners": "Ant HalfCheetah Hopper Swimmer Walker2d",
    "humanoids": "Humanoid HumanoidStandup",
    "arms": "Pusher Reacher",
    "poles": "InvertedDoublePendulum InvertedPendulum",
}

for _file, _names in OF_GYMNASIUM.items():
    for _name in _names.split():
        _spec = gymnasium.spec(f"{_name}-v5")
        register(f"tisim/{_name}-v5", f"tisim.gym.{_file}:{_name}", max_episode_steps=_spec.max_episode_steps,
                 reward_threshold=_spec.reward_threshold)  # fmt: skip
register("tisim/ClearPile-v0", "tisim.gym.objects:ClearPile", max_episode_steps=120)
register("tisim/BuildTower-v0", "tisim.gym.objects:BuildTower", max_episode_steps=300)
