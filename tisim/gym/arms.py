"""Reacher and Pusher: arms that bring their tip, or a cylinder, to a goal, as gymnasium's v5 environments reward it."""

import numpy as np

from .mujoco_task import MujocoTask, row_sums, side_by_side


class Arm(MujocoTask):
    """An arm with costs of distances and of its action."""

    reads = ("qpos", "qvel", "xpos")

    def __init__(self, num_envs=1, *, reward_dist_weight=1.0, reward_control_weight=None, **kwargs):
        self.reward_dist_weight = reward_dist_weight
        self.reward_control_weight = self.control if reward_control_weight is None else reward_control_weight
        super().__init__(num_envs, **kwargs)

    def between(self, now, body1, body2):
        """(n, 3) from the second to the first body [m]."""
        return now.xpos[:, self.body(body1)] - now.xpos[:, self.body(body2)]

    def rewards(self, now, action):
        """Parts of the reward by name."""
        first, second = self.pair
        dist = np.linalg.norm(self.between(now, first, second), axis=1) * self.reward_dist_weight
        return dict(reward_dist=-dist, reward_ctrl=-row_sums(np.square(action)) * self.reward_control_weight)

    def outcome(self, before, now, action):
        info = self.rewards(now, action)
        return sum(info.values()), np.zeros(len(now.qpos), bool), info


class Reacher(Arm):
    """gymnasium's Reacher-v5."""

    xml, skip, control, pair, look = "reacher.xml", 2, 1.0, ("fingertip", "target"), dict(trackbodyid=0)

    def start(self, rng):
        m = self.model
        qpos = rng.uniform(-0.1, 0.1, m.nq) + m.qpos0
        goal = np.full(2, np.inf)
        while np.linalg.norm(goal) >= 0.2:
            goal = rng.uniform(-0.2, 0.2, 2)
        qpos[-2:] = goal
        qvel = rng.uniform(-0.005, 0.005, m.nv)
        qvel[-2:] = 0
        return qpos, qvel

    def observe(self, now):
        angles = now.qpos[:, :2]
        to_goal = self.between(now, *self.pair)[:, :2]
        return side_by_side(np.cos(angles), np.sin(angles), now.qpos[:, 2:], now.qvel[:, :2], to_goal)


class Pusher(Arm):
    """gymnasium's Pusher-v5."""

    xml, skip, control, pair, look = "pusher_v5.xml", 5, 0.1, ("object", "goal"), dict(trackbodyid=-1, distance=4.0)

    def __init__(self, num_envs=1, *, reward_near_weight=0.5, **kwargs):
        self.reward_near_weight = reward_near_weight
        super().__init__(num_envs, **kwargs)

    def start(self, rng):
        m = self.model
        qpos, place = np.array(m.qpos0), np.zeros(2)
        while np.linalg.norm(place) <= 0.17:
            place = np.array([rng.uniform(-0.3, 0), rng.uniform(-0.2, 0.2)])
        qpos[-4:] = *place, 0, 0
        qvel = rng.uniform(-0.005, 0.005, m.nv)
        qvel[-4:] = 0
        return qpos, qvel

    def observe(self, now):
        places = now.xpos[:, [self.body(name) for name in ("tips_arm", "object", "goal")]]
        return side_by_side(now.qpos[:, :7], now.qvel[:, :7], places)

    def rewards(self, now, action):
        near = np.linalg.norm(self.between(now, "object", "tips_arm"), axis=1) * self.reward_near_weight
        return super().rewards(now, action) | dict(reward_near=-near)
