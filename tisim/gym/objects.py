"""Two tasks with passive objects: to clear a pile off a place, and to build a tower."""

import os

import numpy as np

from tisim import pipeline
from tisim.data.data import Data
from tisim.data.state import reset_state
from tisim.model.model import Model

from .mujoco_task import row_sums, side_by_side
from .vector_env import START, VectorEnv


def shipped(name):
    """Path of a model that tisim brings."""
    import tisim.models

    return os.path.join(os.path.dirname(tisim.models.__file__), "environments", name)


class ObjectsTask(VectorEnv):
    """A tool moves objects, each with a free joint behind the tool's joints.

    xml_file  a path, by default the model of this name that tisim brings;  frame_skip  steps for each action.
    """

    reads, xml, ntool = ("qpos", "qvel"), None, 3

    def __init__(self, num_envs=1, *, xml_file=None, frame_skip=8, **kwargs):
        m = Model.from_xml_path(shipped(self.xml) if xml_file is None else xml_file)
        self.nobject = (m.nq - self.ntool) // 7
        super().__init__(m, num_envs, frame_skip=frame_skip, **kwargs)

    def places(self, now):
        """Where the objects are (n, nobject, 3) [m]."""
        return now.qpos[:, self.ntool :].reshape(-1, self.nobject, 7)[:, :, :3]

    def turned(self, now):
        """The vertical axis of each object in the world (n, nobject, 3)."""
        w, x, y, z = np.moveaxis(now.qpos[:, self.ntool :].reshape(-1, self.nobject, 7)[:, :, 3:], 2, 0)
        return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=-1)


class ClearPile(ObjectsTask):
    """A paddle pushes eight objects off a disc: as far as they move outwards, up to its rim, is the reward.

    An episode starts from one of `piles` heaps that were dropped and came to rest, and ends when the disc is clear:
    the reward of all objects from the middle to the rim is 10; ctrl_cost_weight * |action|^2 is taken off.
    """

    xml, radius = "clear_pile.xml", 0.3
    camera = dict(distance=1.3, azimuth=90.0, elevation=-50.0, lookat=(0.0, 0.0, 0.0))

    def __init__(self, num_envs=1, *, piles=32, ctrl_cost_weight=0.002, xml_file=None, camera=None, **kwargs):
        self.ctrl_cost_weight, self.heaps, self.piles = ctrl_cost_weight, None, piles
        super().__init__(num_envs, xml_file=xml_file, camera=camera or self.camera, **kwargs)

    def start(self, rng):
        if self.heaps is None:
            self.heaps = self.dropped()
        qpos = np.array(self.heaps[rng.integers(self.piles)])
        angle = rng.uniform(-np.pi, np.pi)
        qpos[: self.ntool] = 0.45 * np.cos(angle), 0.45 * np.sin(angle), rng.uniform(-np.pi, np.pi)
        return qpos, np.zeros(self.model.nv)

    def dropped(self, seconds=2.5):
        """qpos (piles, nq) of heaps that fell onto the disc, the same ones always."""
        m = self.model
        rng, states = np.random.default_rng(7), []
        for _ in range(self.piles):
            qpos = np.array(m.qpos0)
            qpos[0] = 2.0  # the paddle is far away
            parts = qpos[self.ntool :].reshape(-1, 7)
            parts[:, :2] = rng.uniform(-0.08, 0.08, (self.nobject, 2))
            parts[:, 3:] = rng.normal(size=(self.nobject, 4))
            parts[:, 3:] /= np.linalg.norm(parts[:, 3:], axis=1, keepdims=True)
            states.append(np.concatenate([qpos, np.zeros(m.nv)]))
        d = Data(m, nworld=self.piles)
        reset_state(m, d, np.array(states), sig=START)
        pipeline.step(m, d, round(seconds / m.opt.timestep))
        return d.host("qpos").reshape(self.piles, m.nq)

    def observe(self, now):
        tool, yaw = now.qpos[:, :2], now.qpos[:, 2:3]
        places = self.places(now)
        return side_by_side(tool, np.cos(yaw), np.sin(yaw), now.qvel[:, :3], places, places[:, :, :2] - tool[:, None])

    def outwards(self, now):
        """How far the objects are from the middle, at most as the rim, by the sum of the rim's (n,)."""
        far = np.linalg.norm(self.places(now)[:, :, :2], axis=2)
        return np.minimum(far / self.radius, 1).mean(axis=1)

    def cleared(self, now):
        """How many objects are off the disc (n,)."""
        return (np.linalg.norm(self.places(now)[:, :, :2], axis=2) > self.radius).sum(axis=1)

    def outcome(self, before, now, action):
        moved = 10 * (self.outwards(now) - self.outwards(before))
        ctrl = self.ctrl_cost_weight * row_sums(np.square(action))
        cleared = self.cleared(now)
        return moved - ctrl, cleared == self.nobject, dict(reward_moved=moved, reward_ctrl=-ctrl, cleared=cleared)

    def reset_info(self, now):
        return dict(cleared=self.cleared(now))


class BuildTower(ObjectsTask):
    """A pad that sticks, on three slides, piles three blocks on a place: the reward is how much nearer that came.

    Each level that stands counts 1, the nearest free block's way to the next level 0.5, the pad's way to it 0.1; an
    episode ends when all stand and the pad has let go. The fourth action is how strongly the pad sticks, 0 to 1.
    """

    reads = ("qpos", "qvel", "ctrl")
    xml, half, height = "build_tower.xml", 0.03, 0.3  # of a block's edge, of the pad at qpos 0 [m]
    reach, near = 0.5, 0.6 * half  # from which a way counts [m]; how far off a block may stand
    camera = dict(distance=0.95, azimuth=110.0, elevation=-25.0, lookat=(0.0, 0.0, 0.1))

    def __init__(self, num_envs=1, *, xml_file=None, camera=None, **kwargs):
        super().__init__(num_envs, xml_file=xml_file, camera=camera or self.camera, **kwargs)

    def start(self, rng):
        qpos = np.array(self.model.qpos0)
        qpos[: self.ntool] = rng.uniform(-0.1, 0.1, self.ntool)
        parts = qpos[self.ntool :].reshape(-1, 7)
        turn = rng.uniform(-np.pi, np.pi)
        for k, part in enumerate(parts):
            angle = turn + 2 * np.pi * k / self.nobject + rng.uniform(-0.4, 0.4)
            part[:2] = rng.uniform(0.14, 0.3) * np.array([np.cos(angle), np.sin(angle)])
            yaw = rng.uniform(-np.pi, np.pi)
            part[3:] = np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)
        return qpos, np.zeros(self.model.nv)

    def pad(self, now):
        """Where the pad's face is (n, 3) [m]."""
        return now.qpos[:, :3] + (0, 0, self.height - 0.005)

    def observe(self, now):
        places = self.places(now)
        return side_by_side(now.qpos[:, :3], now.qvel[:, :3], places, places - self.pad(now)[:, None], self.turned(now))

    def standing(self, now):
        """Levels that stand (n,), and which blocks are among them (n, nobject)."""
        places = self.places(now)
        off = np.abs(places[:, :, None, 2] - (2 * np.arange(self.nobject) + 1) * self.half)  # of each block and level
        there = (off < 0.3 * self.half) & (np.linalg.norm(places[:, :, :2], axis=2) < self.near)[:, :, None]
        levels = np.logical_and.accumulate(there.any(axis=1), axis=1)
        return levels.sum(axis=1), (there & levels[:, None]).any(axis=2)

    def progress(self, now):
        """What the reward is the difference of (n,)."""
        levels, used = self.standing(now)
        places = self.places(now)
        goal = np.zeros((len(levels), 1, 3))
        goal[:, 0, 2] = (2 * levels + 1) * self.half
        ways = np.where(used, np.inf, np.linalg.norm(places - goal, axis=2))
        best = ways.argmin(axis=1)
        rows = np.arange(len(levels))
        top = places[rows, best] + (0, 0, self.half)
        way, to_pad = np.minimum(ways[rows, best], self.reach), np.linalg.norm(top - self.pad(now), axis=1)
        free = 0.5 * (1 - way / self.reach) + 0.1 * (1 - np.minimum(to_pad / self.reach, 1))
        return levels + np.where(levels < self.nobject, free, 0.6)

    def outcome(self, before, now, action):
        levels, _ = self.standing(now)
        top = 2 * self.half * self.nobject
        free = (now.ctrl[:, 3] < 0.1) & (self.pad(now)[:, 2] > top + 0.02)
        return self.progress(now) - self.progress(before), (levels == self.nobject) & free, dict(levels=levels)

    def reset_info(self, now):
        return dict(levels=self.standing(now)[0])
