"""How many steps of gymnasium's environments a second, against gymnasium's own in processes, in the same run?

    python benchmarks/environments.py [--task Ant Humanoid HalfCheetah] [--envs 64 1024] [--json FILE]

Both take the same actions: tisim/NAME-v5 in one batch, and NAME-v5 over the newest MuJoCo there is (`--peer`) by
gymnasium.make_vec(..., vectorization_mode="async"), a process for each environment. In turn, behind WARM steps, when
episodes no longer begin and end all at once; medians of the rates are compared.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
TASKS = ("Ant", "Humanoid", "HalfCheetah", "Hopper", "InvertedPendulum")
SECONDS = 1.0  # of a turn
WARM = 80  # steps before the first


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--task", nargs="+", default=list(TASKS))
    p.add_argument("--envs", nargs="+", type=int, default=[64, 1024])
    p.add_argument("--repeats", type=int, default=7, help="turns of each; medians are compared")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def rate(env, actions):
    """Environment steps a second of a turn."""
    began, number = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS or number < 3:
        env.step(actions[number % len(actions)])
        number += 1
    return env.num_envs * number / (time.perf_counter() - began)


def measure(task, n, repeats, gymnasium):
    """Figures of a task with n environments."""
    ours = gymnasium.make_vec(f"tisim/{task}-v5", n)
    theirs = gymnasium.make_vec(f"{task}-v5", n, vectorization_mode="async")
    try:
        ours.action_space.seed(0)
        actions = [ours.action_space.sample() for _ in range(8)]
        for env in (ours, theirs):
            env.reset(seed=0)
            for k in range(WARM):
                env.step(actions[k % len(actions)])
        rates = [(rate(ours, actions), rate(theirs, actions)) for _ in range(repeats)]
    finally:
        ours.close()
        theirs.close()
    mine, peer = (statistics.median(r) for r in zip(*rates))
    return dict(task=task, envs=n, tisim=mine, gymnasium=peer, ratio=mine / peer)


def main():
    args = parse()
    sys.path.insert(0, args.peer)
    warnings.simplefilter("ignore")
    import gymnasium
    import mujoco

    import tisim.gym  # noqa: F401  registers tisim's

    print(f"steps of environments a second, {os.cpu_count()} processors, gymnasium {gymnasium.__version__} over MuJoCo "
          f"{mujoco.__version__} in processes")  # fmt: skip
    print(f"{'task':<18}{'envs':>6}{'tisim':>11}{'gymnasium':>11}{'ratio':>8}")
    rows = []
    for task in args.task:
        for n in args.envs:
            rows.append(row := measure(task, n, args.repeats, gymnasium))
            print(f"{task:<18}{n:>6}{row['tisim']:>11.0f}{row['gymnasium']:>11.0f}{row['ratio']:>8.2f}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
