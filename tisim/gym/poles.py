"""InvertedPendulum and InvertedDoublePendulum: poles on a cart, as gymnasium's v5 environments reward them."""

import numpy as np

from .mujoco_task import MujocoTask, row_sums, side_by_side


class InvertedPendulum(MujocoTask):
    """gymnasium's InvertedPendulum-v5."""

    xml, skip, noise, look = "inverted_pendulum.xml", 2, 0.01, dict(trackbodyid=0, distance=2.04)

    def observe(self, now):
        return side_by_side(now.qpos, now.qvel)

    def outcome(self, before, now, action):
        seen = self.observe(now)
        ended = ~np.isfinite(seen).all(axis=1) | (np.abs(seen[:, 1]) > 0.2)
        return 1.0 * ~ended, ended, dict(reward_survive=1 * ~ended)


class InvertedDoublePendulum(MujocoTask):
    """gymnasium's InvertedDoublePendulum-v5."""

    reads = ("qpos", "qvel", "site_xpos", "qfrc_constraint")
    xml, normal = "inverted_double_pendulum.xml", True
    look = dict(trackbodyid=0, distance=4.1225, lookat=(0.0, 0.0, 0.1225))

    def __init__(self, num_envs=1, *, healthy_reward=10.0, **kwargs):
        self.healthy_reward = healthy_reward
        super().__init__(num_envs, **kwargs)

    def observe(self, now):
        angles = now.qpos[:, 1:]
        force = np.clip(now.qfrc_constraint[:, :1], -10, 10)
        return side_by_side(now.qpos[:, :1], np.sin(angles), np.cos(angles), np.clip(now.qvel, -10, 10), force)

    def outcome(self, before, now, action):
        x, y = now.site_xpos[:, 0, 0], now.site_xpos[:, 0, 2]
        ended = y <= 1
        far = 0.01 * x**2 + (y - 2) ** 2
        fast = row_sums(np.square(now.qvel[:, 1:3]) * (1e-3, 5e-3))
        info = dict(reward_survive=self.healthy_reward * ~ended, distance_penalty=-far, velocity_penalty=-fast)
        return sum(info.values()), ended, info
