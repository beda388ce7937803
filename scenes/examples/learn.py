"""PPO learns to clear a pile: a paddle that knows nothing, and after some minutes pushes objects off a disc.

    pip install 'tisim[gym]' torch
    python scenes/examples/learn.py [--task tisim/ClearPile-v0] [--actions 400000] [--picture learn.png]

Proximal policy optimisation (Schulman et al. 2017) with generalised advantages, in PyTorch on the CPU; all environments
are worlds of one batch.
"""

import argparse
from collections import deque

import gymnasium
import numpy as np
import torch
from torch import nn

import tisim
import tisim.gym

GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.99, 0.95, 0.2, 1e-3, 1e-3
LENGTH, EPOCHS, PARTS = 30, 6, 8  # actions of a batch, passes over it, parts of a pass


def net(size, out, gain):
    """A net of two hidden layers, the last one begun small by a gain."""
    layers = [nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, out)]
    for layer in layers[::2]:
        nn.init.orthogonal_(layer.weight, gain if layer is layers[-1] else 2**0.5)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


class Agent(nn.Module):
    """A normal distribution of actions, and what an observation is worth; observations are scaled by what was seen."""

    def __init__(self, size, nu):
        super().__init__()
        self.mean, self.worth = net(size, nu, 0.01), net(size, 1, 1.0)
        self.spread = nn.Parameter(torch.full((nu,), -0.5))
        self.register_buffer("number", torch.tensor(1e-4))
        self.register_buffer("middle", torch.zeros(size))
        self.register_buffer("square", torch.ones(size))

    def saw(self, seen):
        """Takes observations (n, size) into the scale."""
        n = len(seen)
        delta = seen.mean(0) - self.middle
        total = self.number + n
        self.square += (seen.var(0, unbiased=False) - self.square) * n / total + delta**2 * self.number * n / total**2
        self.middle += delta * n / total
        self.number = total

    def scaled(self, seen):
        return ((seen - self.middle) / (self.square + 1e-6).sqrt()).clamp(-8, 8)

    def policy(self, seen):
        return torch.distributions.Normal(self.mean(self.scaled(seen)), self.spread.exp())

    def value(self, seen):
        return self.worth(self.scaled(seen))[:, 0]


def advantages(rewards, values, ended, last):
    """Generalised advantages (length, n): of rewards, what each place was worth, where episodes ended, and the end."""
    out, following, run = torch.zeros_like(rewards), last, torch.zeros_like(last)
    for t in reversed(range(len(rewards))):
        goes_on = 1 - ended[t]
        run = rewards[t] + GAMMA * goes_on * following - values[t] + GAMMA * LAMBDA * goes_on * run
        out[t], following = run, values[t]
    return out


def improve(agent, optimiser, seen, actions, before, gains, returns):
    """Passes over a batch (n, ...): actions that did better than expected become more likely, within a clip."""
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(seen)).chunk(PARTS):
            policy = agent.policy(seen[part])
            ratio = (policy.log_prob(actions[part]).sum(1) - before[part]).exp()
            gain = torch.min(ratio * gains[part], ratio.clamp(1 - CLIP, 1 + CLIP) * gains[part]).mean()
            error = (agent.value(seen[part]) - returns[part]).square().mean()
            optimiser.zero_grad()
            (0.5 * error - gain - ENTROPY * policy.entropy().sum(1).mean()).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def learn(task="tisim/ClearPile-v0", actions=400_000, num_envs=128, seed=0, report=print):
    """Learns over so many actions: (the agent, after each batch the mean reward of the episodes that ended last)."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the nets are small, and the processors are the worlds'
    env = gymnasium.make_vec(task, num_envs, autoreset_mode="SameStep")
    low, high = (torch.tensor(x) for x in (env.single_action_space.low, env.single_action_space.high))
    agent = Agent(env.single_observation_space.shape[0], len(low))
    optimiser = torch.optim.Adam(agent.parameters(), RATE)
    seen = torch.tensor(env.reset(seed=seed)[0], dtype=torch.float32)
    scores, score, finished = [], np.zeros(num_envs), deque(maxlen=2 * num_envs)
    batches = max(1, actions // (num_envs * LENGTH))
    for batch in range(batches):
        optimiser.param_groups[0]["lr"] = RATE * (1 - batch / batches)
        rows = []
        for _ in range(LENGTH):
            agent.saw(seen)
            with torch.no_grad():
                policy, value = agent.policy(seen), agent.value(seen)
                action = policy.sample()
            applied = (0.5 * (low + high) + 0.5 * (high - low) * action).clamp(low, high)
            after, reward, terminated, truncated, info = env.step(applied.numpy())
            score += reward
            ended = terminated | truncated
            finished += score[ended].tolist()
            score[ended] = 0
            if truncated.any():  # time ran out, the place is worth something still
                last = np.stack([info["final_obs"][k] for k in np.flatnonzero(truncated)])
                with torch.no_grad():
                    worth = agent.value(torch.tensor(last, dtype=torch.float32)).numpy()
                reward[truncated] += GAMMA * worth * ~terminated[truncated]
            facts = (reward, ended)
            rows.append((seen, action, policy.log_prob(action).sum(1), value,
                         *(torch.tensor(x, dtype=torch.float32) for x in facts)))  # fmt: skip
            seen = torch.tensor(after, dtype=torch.float32)
        states, taken, likely, values, rewards, ended = (torch.stack(x) for x in zip(*rows))
        with torch.no_grad():
            gains = advantages(rewards, values, ended, agent.value(seen))
        flat = [x.flatten(0, 1) for x in (states, taken, likely, gains, gains + values)]
        improve(agent, optimiser, *flat)
        scores.append(float(np.mean(finished)) if finished else np.nan)
        if report and finished:
            report(f"{(batch + 1) * num_envs * LENGTH:8d} actions   reward of an episode {scores[-1]:6.2f}")
    return agent, scores


def picture(agent, task, scores, path, seconds=(0, 1.6, 4.7)):
    """Draws an episode of the agent beside the rewards it learnt by."""
    from PIL import Image, ImageDraw

    env = gymnasium.make_vec(task, 1, render_mode="rgb_array", width=240, height=240, autoreset_mode="Disabled")
    seen, _ = env.reset(seed=5)
    low, high = env.single_action_space.low, env.single_action_space.high
    images, k = [], 0
    for at in seconds:
        ended = False
        while k * env.unwrapped.dt < at and not ended:
            with torch.no_grad():
                mean = agent.policy(torch.tensor(seen, dtype=torch.float32)).mean.numpy()
            applied = np.clip(0.5 * (low + high) + 0.5 * (high - low) * mean, low, high)
            seen, _, terminated, truncated, _ = env.step(applied)
            ended, k = bool(terminated[0] | truncated[0]), k + 1
        images.append(env.render()[0])
    chart = Image.new("RGB", (240, 240), "white")
    draw = ImageDraw.Draw(chart)
    known = [(i, s) for i, s in enumerate(scores) if np.isfinite(s)]
    low, high = min(s for _, s in known), max(s for _, s in known)
    along, up = 200 / max(1, len(scores) - 1), 175 / max(high - low, 1e-9)
    draw.line([(20 + along * i, 215 - up * (s - low)) for i, s in known], fill=(20, 90, 160), width=2)
    draw.text((20, 10), f"reward of an episode: {low:.1f} to {high:.1f}", fill="black")
    Image.fromarray(np.concatenate([*images, np.asarray(chart)], axis=1)).save(path)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--task", default="tisim/ClearPile-v0")
    p.add_argument("--actions", type=int, default=400_000)
    p.add_argument("--envs", type=int, default=128)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--picture")
    a = p.parse_args()
    tisim.init()
    agent, scores = learn(a.task, a.actions, a.envs, a.seed)
    if a.picture:
        picture(agent, a.task, scores, a.picture)


if __name__ == "__main__":
    main()
