"""Ant, HalfCheetah, Hopper, Walker2d and Swimmer: to get on along x, as gymnasium's v5 environments reward it."""

import numpy as np

from .mujoco_task import MujocoTask, row_sums, side_by_side

INF = float("inf")


class Runner(MujocoTask):
    """Gets on along x: reward forward_reward_weight * speed - ctrl_cost_weight * |action|^2.

    exclude_current_positions_from_observation  leaves where it is, the first `hidden` of qpos, out of what is seen.
    """

    hidden, cost, forward = 1, 1e-3, 1.0

    def __init__(self, num_envs=1, *, forward_reward_weight=None, ctrl_cost_weight=None,
                 exclude_current_positions_from_observation=True, **kwargs):  # fmt: skip
        self.forward_reward_weight = self.forward if forward_reward_weight is None else forward_reward_weight
        self.ctrl_cost_weight = self.cost if ctrl_cost_weight is None else ctrl_cost_weight
        self.exclude_current_positions_from_observation = exclude_current_positions_from_observation
        super().__init__(num_envs, **kwargs)

    def place(self, now):
        """qpos as far as it is seen."""
        return now.qpos[:, self.hidden * bool(self.exclude_current_positions_from_observation) :]

    def observe(self, now):
        return side_by_side(self.place(now), now.qvel)

    def outcome(self, before, now, action):
        speed = (now.qpos[:, 0] - before.qpos[:, 0]) / self.dt
        forward, ctrl = self.forward_reward_weight * speed, self.ctrl_cost_weight * row_sums(np.square(action))
        info = dict(x_position=now.qpos[:, 0], x_velocity=speed, reward_forward=forward, reward_ctrl=-ctrl)
        return forward - ctrl, np.zeros(len(forward), bool), info

    def reset_info(self, now):
        return dict(x_position=now.qpos[:, 0])


class HalfCheetah(Runner):
    """gymnasium's HalfCheetah-v5."""

    xml, normal, cost, look = "half_cheetah.xml", True, 0.1, dict(distance=4.0)


class Swimmer(Runner):
    """gymnasium's Swimmer-v5."""

    xml, skip, hidden, cost = "swimmer.xml", 4, 2, 1e-4

    def outcome(self, before, now, action):
        reward, ended, info = super().outcome(before, now, action)
        info["y_velocity"] = (now.qpos[:, 1] - before.qpos[:, 1]) / self.dt
        return reward, ended, info | self.reset_info(now)

    def reset_info(self, now):
        x, y = now.qpos[:, 0], now.qpos[:, 1]
        return dict(x_position=x, y_position=y, distance_from_origin=np.hypot(x, y))


class Healthy(Runner):
    """A Runner that is rewarded while it is healthy, height and angle of its trunk within bounds, and then ends."""

    z_range, angle_range = (-INF, INF), (-INF, INF)

    def __init__(self, num_envs=1, *, healthy_reward=1.0, terminate_when_unhealthy=True, healthy_z_range=None,
                 healthy_angle_range=None, **kwargs):  # fmt: skip
        self.healthy_reward, self.terminate_when_unhealthy = healthy_reward, terminate_when_unhealthy
        self.healthy_z_range = self.z_range if healthy_z_range is None else healthy_z_range
        self.healthy_angle_range = self.angle_range if healthy_angle_range is None else healthy_angle_range
        super().__init__(num_envs, **kwargs)

    def healthy(self, now):
        """(n,) which are."""
        (low, high), (least, most) = self.healthy_z_range, self.healthy_angle_range
        z, angle = now.qpos[:, 1], now.qpos[:, 2]
        return (low < z) & (z < high) & (least < angle) & (angle < most)

    def observe(self, now):
        return side_by_side(self.place(now), np.clip(now.qvel, -10, 10))

    def outcome(self, before, now, action):
        reward, _, info = super().outcome(before, now, action)
        healthy = self.healthy(now)
        info |= self.reset_info(now) | dict(reward_survive=healthy * self.healthy_reward)
        return reward + info["reward_survive"], ~healthy & bool(self.terminate_when_unhealthy), info

    def reset_info(self, now):
        return dict(x_position=now.qpos[:, 0], z_distance_from_origin=now.qpos[:, 1] - self.model.qpos0[1])


class Walker2d(Healthy):
    """gymnasium's Walker2d-v5."""

    xml, skip, noise, z_range, angle_range = "walker2d_v5.xml", 4, 5e-3, (0.8, 2.0), (-1.0, 1.0)
    look = dict(trackbodyid=2, distance=4.0, lookat=(0.0, 0.0, 1.15), elevation=-20.0)


class Hopper(Healthy):
    """gymnasium's Hopper-v5, healthy only while all of its state but where it is lies within healthy_state_range."""

    xml, skip, noise, z_range, angle_range = "hopper.xml", 4, 5e-3, (0.7, INF), (-0.2, 0.2)
    look = dict(trackbodyid=2, distance=3.0, lookat=(0.0, 0.0, 1.15), elevation=-20.0)

    def __init__(self, num_envs=1, *, healthy_state_range=(-100.0, 100.0), **kwargs):
        self.healthy_state_range = healthy_state_range
        super().__init__(num_envs, **kwargs)

    def healthy(self, now):
        low, high = self.healthy_state_range
        state = side_by_side(now.qpos[:, 2:], now.qvel)
        return super().healthy(now) & ((low < state) & (state < high)).all(axis=1)


class Ant(Runner):
    """gymnasium's Ant-v5: contact forces are seen, clipped, and cost."""

    reads = ("qpos", "qvel", "xpos", "cfrc_ext")
    xml, normal, hidden, cost, look = "ant.xml", True, 2, 0.5, dict(distance=4.0)

    def __init__(self, num_envs=1, *, contact_cost_weight=5e-4, healthy_reward=1.0, main_body=1,
                 terminate_when_unhealthy=True, healthy_z_range=(0.2, 1.0), contact_force_range=(-1.0, 1.0),
                 include_cfrc_ext_in_observation=True, **kwargs):  # fmt: skip
        self.contact_cost_weight, self.healthy_reward, self.main_body = contact_cost_weight, healthy_reward, main_body
        self.terminate_when_unhealthy, self.healthy_z_range = terminate_when_unhealthy, healthy_z_range
        self.contact_force_range = contact_force_range
        self.include_cfrc_ext_in_observation = include_cfrc_ext_in_observation
        super().__init__(num_envs, **kwargs)

    def observe(self, now):
        forces = [np.clip(now.cfrc_ext[:, 1:], *self.contact_force_range)] * bool(self.include_cfrc_ext_in_observation)
        return side_by_side(self.place(now), now.qvel, *forces)

    def outcome(self, before, now, action):
        body, (low, high) = self.body(self.main_body), self.healthy_z_range
        speed = (now.xpos[:, body] - before.xpos[:, body]) / self.dt
        state = side_by_side(now.qpos, now.qvel)
        healthy = np.isfinite(state).all(axis=1) & (low <= now.qpos[:, 2]) & (now.qpos[:, 2] <= high)
        forward, survive = self.forward_reward_weight * speed[:, 0], healthy * self.healthy_reward
        ctrl = self.ctrl_cost_weight * row_sums(np.square(action))
        contact = self.contact_cost_weight * row_sums(np.square(np.clip(now.cfrc_ext, *self.contact_force_range)))
        info = self.reset_info(now) | dict(
            x_velocity=speed[:, 0], y_velocity=speed[:, 1], reward_forward=forward, reward_ctrl=-ctrl,
            reward_contact=-contact, reward_survive=survive,
        )  # fmt: skip
        return forward + survive - ctrl - contact, ~healthy & bool(self.terminate_when_unhealthy), info

    def reset_info(self, now):
        x, y = now.qpos[:, 0], now.qpos[:, 1]
        return dict(x_position=x, y_position=y, distance_from_origin=np.hypot(x, y))
