"""A crane without learning: sixteen environments in one batch, each builds a tower of three blocks by fixed rules.

pip install 'tisim[gym]'
python scenes/examples/build_tower.py [--picture build_tower.png]
"""

import argparse

import gymnasium
import numpy as np

import tisim.gym  # noqa: F401  registers its environments

OVER, DOWN, LIFT, CARRY, PUT, LEAVE = range(6)  # what a crane does with a block, in this order
CLEAR, EXACT = 0.05, 0.004  # height above what is crossed, and how near is near [m]


class Crane:
    """Rules for all environments at once: which block each carries (n,), and what it does with it (n,)."""

    def __init__(self, n):
        self.block, self.phase = np.zeros(n, int), np.zeros(n, int)

    def act(self, env):
        """Actions (n, 4) from where pads and blocks are."""
        rows, half = np.arange(env.num_envs), env.half
        pad, now = env.pad(env.seen), np.minimum(self.block, env.nobject - 1)
        block = env.places(env.seen)[rows, now]
        top, goal = block[:, 2] + half, (2 * now + 1) * half  # the block's top, the height it shall have
        over = np.maximum(top, 2 * half * now) + CLEAR
        done, doing = self.block == env.nobject, self.phase[:, None]
        to_block, to_place = 6 * (block - pad)[:, :2], -5 * block[:, :2]
        plane = np.where(doing <= DOWN, to_block, np.where((doing == CARRY) | (doing == PUT), to_place, 0))
        limit = np.select([doing == CARRY, doing == PUT], [0.5, 0.2], 1.0)
        up = np.select([self.phase == k for k in range(6)],
                       [np.clip(6 * (over - pad[:, 2]), -1, 1), np.clip(6 * (top - 0.002 - pad[:, 2]), -0.3, 0.3), 0.6,
                        np.clip(6 * (goal + CLEAR - block[:, 2]), -1, 1),
                        np.clip(6 * (goal - 0.001 - block[:, 2]), -0.3, 0.3), 0.5])  # fmt: skip
        sticks = (self.phase >= DOWN) & (self.phase <= PUT)
        action = np.column_stack([np.clip(plane, -limit, limit), up, sticks])
        action[done] = 0, 0, 1, 0
        off, far = (np.linalg.norm(x[:, :2], axis=1) for x in (block - pad, block))
        self.advance(done, [off < EXACT, pad[:, 2] - top < 5e-4, block[:, 2] > goal + CLEAR, far < EXACT,
                            block[:, 2] < goal + 1e-3, pad[:, 2] > top + CLEAR])  # fmt: skip
        return action

    def advance(self, done, reached):
        """The next thing to do where the present one is reached; behind the last the next block."""
        go = np.choose(self.phase, reached) & ~done
        self.phase = np.where(go, (self.phase + 1) % 6, self.phase)
        self.block = self.block + (go & (self.phase == OVER))


def build(n=16, seed=0, size=None, at=(0, 60, 130, 210)):
    """Episodes of n environments: rewards (n,), the action after which each tower stood (n,), 0 if none, pictures."""
    mode = dict(render_mode="rgb_array", width=size, height=size) if size else {}
    env = gymnasium.make_vec("tisim/BuildTower-v0", n, autoreset_mode="Disabled", **mode).unwrapped
    env.reset(seed=seed)
    crane, score, stood, pictures = Crane(n), np.zeros(n), np.zeros(n, int), []
    for k in range(env.max_episode_steps):
        if size and k in at:
            pictures.append(env.render()[0])
        _, reward, terminated, _, _ = env.step(crane.act(env))
        score += np.where(stood, 0, reward)
        stood = np.where(terminated & (stood == 0), k + 1, stood)
        env.ended[:] = False  # cranes that are ready wait for the others
        if stood.all() and len(pictures) in (0, len(at)):
            break
    return score, stood, pictures


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--picture")
    a = p.parse_args()
    score, stood, pictures = build(size=240 if a.picture else None)
    for k, (s, t) in enumerate(zip(score, stood)):
        print(f"environment {k:2d}: reward {s:.2f}, " + (f"the tower stands after {t} actions" if t else "no tower"))
    if a.picture:
        from PIL import Image

        Image.fromarray(np.concatenate(pictures, axis=1)).save(a.picture)


if __name__ == "__main__":
    main()
