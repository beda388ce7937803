"""Humanoid, to get on along x, and HumanoidStandup, to rise, as gymnasium's v5 environments reward it."""

import numpy as np

from .mujoco_task import MujocoTask, row_sums, side_by_side

INF = float("inf")
PARTS = ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")


class HumanoidTask(MujocoTask):
    """What both see: qpos without where it is, qvel, and the parts asked for, each of all bodies but the world."""

    reads = ("qpos", "qvel", "xipos", "ten_length", "ten_velocity", *PARTS)
    noise = 1e-2

    def __init__(
        self, num_envs=1, *, ctrl_cost_weight=0.1, exclude_current_positions_from_observation=True,
        include_cinert_in_observation=True, include_cvel_in_observation=True,
        include_qfrc_actuator_in_observation=True, include_cfrc_ext_in_observation=True, **kwargs,
    ):  # fmt: skip
        self.ctrl_cost_weight = ctrl_cost_weight
        self.exclude_current_positions_from_observation = exclude_current_positions_from_observation
        include = (include_cinert_in_observation, include_cvel_in_observation, include_qfrc_actuator_in_observation,
                   include_cfrc_ext_in_observation)  # fmt: skip
        self.parts = [name for name, yes in zip(PARTS, include) if yes]
        super().__init__(num_envs, **kwargs)

    def observe(self, now):
        parts = [getattr(now, name)[:, 6 if name == "qfrc_actuator" else 1 :] for name in self.parts]
        hidden = 2 * bool(self.exclude_current_positions_from_observation)
        return side_by_side(now.qpos[:, hidden:], now.qvel, *parts)

    def tendons(self, now):
        """Infos of where it is, and of its tendons."""
        return dict(x_position=now.qpos[:, 0], y_position=now.qpos[:, 1], tendon_length=now.ten_length,
                    tendon_velocity=now.ten_velocity)  # fmt: skip

    def costs(self, now, action, weight, bounds):
        """Costs (n,) of the action, and of contact forces within bounds."""
        forces = np.clip(weight * row_sums(np.square(now.cfrc_ext)), *bounds)
        return self.ctrl_cost_weight * row_sums(np.square(action)), forces


class Humanoid(HumanoidTask):
    """gymnasium's Humanoid-v5: the speed is that of its centre of mass."""

    xml = "humanoid.xml"
    look = dict(trackbodyid=1, distance=4.0, lookat=(0.0, 0.0, 2.0), elevation=-20.0)

    def __init__(self, num_envs=1, *, forward_reward_weight=1.25, contact_cost_weight=5e-7,
                 contact_cost_range=(-INF, 10.0), healthy_reward=5.0, terminate_when_unhealthy=True,
                 healthy_z_range=(1.0, 2.0), **kwargs):  # fmt: skip
        self.forward_reward_weight, self.contact_cost_weight = forward_reward_weight, contact_cost_weight
        self.contact_cost_range, self.healthy_reward = contact_cost_range, healthy_reward
        self.terminate_when_unhealthy, self.healthy_z_range = terminate_when_unhealthy, healthy_z_range
        super().__init__(num_envs, **kwargs)

    def centre(self, now):
        """(n, 2) of the centre of mass in the plane [m]."""
        mass = np.asarray(self.model.body_mass)
        return np.einsum("b,nbj->nj", mass, now.xipos)[:, :2] / mass.sum()

    def outcome(self, before, now, action):
        speed = (self.centre(now) - self.centre(before)) / self.dt
        low, high = self.healthy_z_range
        healthy = (low < now.qpos[:, 2]) & (now.qpos[:, 2] < high)
        ctrl, contact = self.costs(now, action, self.contact_cost_weight, self.contact_cost_range)
        forward, survive = self.forward_reward_weight * speed[:, 0], healthy * self.healthy_reward
        info = self.reset_info(now) | dict(
            x_velocity=speed[:, 0], y_velocity=speed[:, 1], reward_survive=survive, reward_forward=forward,
            reward_ctrl=-ctrl, reward_contact=-contact,
        )  # fmt: skip
        return forward + survive - ctrl - contact, ~healthy & bool(self.terminate_when_unhealthy), info

    def reset_info(self, now):
        return self.tendons(now) | dict(distance_from_origin=np.hypot(now.qpos[:, 0], now.qpos[:, 1]))


class HumanoidStandup(HumanoidTask):
    """gymnasium's HumanoidStandup-v5: its height by a time step is the reward."""

    xml = "humanoidstandup.xml"
    look = dict(trackbodyid=1, distance=4.0, lookat=(0.0, 0.0, 0.8925), elevation=-20.0)

    def __init__(self, num_envs=1, *, uph_cost_weight=1, impact_cost_weight=5e-7, impact_cost_range=(-INF, 10.0),
                 **kwargs):  # fmt: skip
        self.uph_cost_weight = uph_cost_weight  # unused, as in gymnasium
        self.impact_cost_weight, self.impact_cost_range = impact_cost_weight, impact_cost_range
        super().__init__(num_envs, **kwargs)

    def outcome(self, before, now, action):
        up = now.qpos[:, 2] / self.model.opt.timestep
        ctrl, impact = self.costs(now, action, self.impact_cost_weight, self.impact_cost_range)
        info = self.reset_info(now) | dict(reward_linup=up, reward_quadctrl=-ctrl, reward_impact=-impact)
        return up - ctrl - impact + 1, np.zeros(len(up), bool), info

    def reset_info(self, now):
        return self.tendons(now) | dict(z_distance_from_origin=now.qpos[:, 2] - self.model.qpos0[2])
