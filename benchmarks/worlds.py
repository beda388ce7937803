"""How many steps of small worlds a second, against the newest MuJoCo's threads (mujoco.rollout), in the same run?

    python benchmarks/worlds.py [--case ragdoll pit stack falling] [--worlds 64 1024] [--peer .peers] [--json FILE]

Each world is a scene of its own: a ragdoll on the floor, ten bodies in a pit, a stack of 20 boxes, ten bodies that
fall (so that pairs are searched for in nearly every step); with gymnasium installed also `ant` and `humanoid`, its
models, and `humanoid-newton`, that one by Newton's method and Euler's. Both engines take all worlds STEPS steps on
from the same states, settled but for what falls, in turn, each with as many threads as there are processors; medians
are compared, and the positions they end with. Where those differ, an installed MuJoCo 3.4.0 is asked, too, since the
newest may solve another problem. `busy` is processor time over wall time of tisim's turns. tisim takes them as MuJoCo
does, by tisim.rollout, or with `--by step` by tisim.step with all worlds in one Data, whose arrays `kB/world` is. The
exit code is 1 if an answer differs; rates have no bar.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = dict(ragdoll=("ragdolls", 1), pit=("pile", 10), stack=("tower", 20), falling=("pile", 10))
GYMNASIUM = ("ant", "humanoid", "humanoid-newton")  # files among its assets; the last is the second by NEWTON
NEWTON = {'solver="PGS"': 'solver="Newton"', 'integrator="RK4"': 'integrator="Euler"'}
UNSETTLED = ("falling",)
STEPS = 20  # of a turn
SPREAD = 0.02  # of the velocities by which worlds differ [m/s, rad/s]
TOLERANCE = 1e-3  # median over worlds of the largest difference of positions after a turn, contacts among them


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--case", nargs="+", choices=(*CASES, *GYMNASIUM), default=list(CASES))
    p.add_argument("--worlds", nargs="+", type=int, default=[64, 1024])
    p.add_argument("--by", choices=("rollout", "step"), default="rollout", help="what takes tisim's worlds on")
    p.add_argument("--settle", type=int, default=150, help="steps before the measurement")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--repeats", type=int, default=9, help="turns of each; medians are compared")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def model_of(name):
    """MJCF of a case."""
    import tisim

    if name in CASES:
        return tisim.scenes.build(CASES[name][0], n=CASES[name][1])
    try:
        from tisim.gym.mujoco_task import asset
    except tisim.Error as e:
        sys.exit(f"{name}: {e}")
    text = pathlib.Path(asset(f"{name.removesuffix('-newton')}.xml")).read_text()
    for old, new in NEWTON.items() if name.endswith("-newton") else ():
        assert old in text, f"{name}: no {old}"
        text = text.replace(old, new)
    return text


def measure(name, nworld, args, mujoco, rollout):
    """Figures of a case."""
    import tisim

    full = int(tisim.mjtState.mjSTATE_FULLPHYSICS)

    text = model_of(name)
    m, pm = tisim.Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    d, threads = tisim.Data(m, nworld=nworld), os.cpu_count()
    d.qvel[...] = SPREAD * np.random.default_rng(0).normal(size=(nworld, m.nv))
    if name not in UNSETTLED:
        tisim.step(m, d, args.settle)
    start, warm = tisim.get_state(m, d, full), np.array(d.qacc)
    both = int(tisim.mjtState.mjSTATE_WARMSTART) | full
    begin = np.concatenate([start, warm], axis=1)
    datas = [mujoco.MjData(pm) for _ in range(threads)]
    ours, theirs, used = [], [], []
    with rollout.Rollout(nthread=threads) as pool, tisim.rollout.Rollout() as mine:
        for turn in range(args.repeats + 1):
            began, cpu = time.perf_counter(), time.process_time()
            if args.by == "step":
                tisim.set_state(m, d, begin, both)
                tisim.step(m, d, STEPS)
            else:
                found, _ = mine.rollout(m, None, start, nstep=STEPS, initial_warmstart=warm)
            wall = time.perf_counter() - began
            busy = (time.process_time() - cpu) / wall
            began = time.perf_counter()
            states, _ = pool.rollout([pm] * nworld, datas, start, nstep=STEPS, initial_warmstart=warm)
            if turn:  # the first warms both up
                ours.append(wall), used.append(busy), theirs.append(time.perf_counter() - began)
    ends = d.host("qpos") if args.by == "step" else found[:, -1, 1 : 1 + m.nq]
    differ = np.abs(ends.reshape(nworld, -1) - states[:, -1, 1 : 1 + m.nq]).max(axis=1)
    a, b = statistics.median(ours), statistics.median(theirs)
    return dict(case=name, worlds=nworld, nv=m.nv, contacts=float(np.mean(d.ncon)), rate=nworld * STEPS / a,
                peer_rate=nworld * STEPS / b, ratio=b / a, busy=statistics.median(used), threads=threads,
                differ=float(np.median(differ)), kb=sum(d.memory().values()) / nworld / 1000)  # fmt: skip


def agrees_with_reference(name, nworld, args):
    """Whether the same case has the answer of the MuJoCo that is installed, if that is the reference."""
    again = [sys.executable, __file__, "--case", name, "--worlds", str(nworld), "--settle", str(args.settle)]
    done = subprocess.run([*again, "--by", args.by, "--repeats", "1", "--peer", ""], stdout=subprocess.PIPE, text=True)
    return done.returncode == 0 and done.stdout.startswith("MuJoCo 3.4.0")


def main():
    args = parse()
    if args.peer:
        sys.path.insert(0, args.peer)
    try:
        import mujoco
        from mujoco import rollout
    except ImportError:
        sys.exit(
            f"no MuJoCo in {args.peer}: "
            "python -m pip install --no-deps --target .peers mujoco==4.0.0 mujoco-core==4.0.0"
        )
    sys.path.insert(0, str(ROOT))
    print(f"MuJoCo {mujoco.__version__}, {os.cpu_count()} threads each; world-steps a second, medians")
    print(f"{'case':8} {'worlds':>6} {'nv':>4} {'contacts':>8} {'tisim':>9} {'MuJoCo':>9} {'ratio':>6} {'busy':>5} "
          f"{'kB/world':>8} {'differ':>8}")  # fmt: skip
    found, good = [], True
    for name in args.case:
        for nworld in args.worlds:
            r = measure(name, nworld, args, mujoco, rollout)
            found.append(r)
            same = r["differ"] <= TOLERANCE
            right = same or agrees_with_reference(name, nworld, args)
            told = "" if same else "  (MuJoCo 3.4.0's answer)" if right else "  WRONG ANSWER"
            good = good and right
            print(f"{name:8} {nworld:6d} {r['nv']:4d} {r['contacts']:8.1f} {r['rate']:9.0f} {r['peer_rate']:9.0f} "
                  f"{r['ratio']:6.2f} {r['busy']:5.2f} {r['kb']:8.1f} {r['differ']:8.1e}"
                  f"{told}", flush=True)  # fmt: skip
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(found, indent=1))
    sys.exit(not good)


if __name__ == "__main__":
    main()
