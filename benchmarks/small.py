"""How long does a step of a small settled scene take, against the newest MuJoCo with its best solver, in the same run?

    python benchmarks/small.py [--scene pile wall tower ragdolls] [--peer .peers] [--settle 350] [--repeats 40]

The kind of scene that MuJoCo is made for: 30 bodies in a pile, 100 stacked boxes, as a wall and as a tower, 20
ragdolls. Each is measured by `tisim bench --compare mujoco`: both engines step in turn from the same settled state, and
the medians are compared; MuJoCo's solver is the fastest of those that reach the least objective. Below each scene
stands where tisim's time goes. The exit code is 1 if a ratio is below its bar, or an answer of tisim is not as good.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# (scene, size): MuJoCo's time over tisim's that is asked for
BARS = {("pile", 30): 0.8, ("wall", 100): 1.5, ("tower", 100): 1.5, ("ragdolls", 20): 1.5}
PARTS = {"smooth": "POS_KINEMATICS POS_INERTIA VELOCITY ADVANCE", "collision": "POS_COLLISION", "rows": "POS_MAKE",
         "solver": "CONSTRAINT"}  # fmt: skip


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--scene", nargs="+", default=None, choices=[name for name, _ in BARS], help="some of the scenes")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--settle", type=int, default=350, help="steps before the measurement")
    p.add_argument("--repeats", type=int, default=40, help="turns measured of each engine")
    p.add_argument("--threads", type=int, default=None, help="of tisim; MuJoCo steps with one")
    p.add_argument("--json", default=None, help="also write what `tisim bench` tells to this file")
    return p.parse_args()


def measure(name, n, args):
    """What `tisim bench --json` tells of a scene."""
    command = [sys.executable, "-m", "tisim", "bench", name, "--n", str(n), "--compare", "mujoco", "--peer", args.peer,
               "--settle", str(args.settle), "--repeats", str(args.repeats), "--arch", "cpu", "--json"]  # fmt: skip
    command += ["--threads", str(args.threads)] if args.threads else []
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def show(r, bar):
    """Prints the lines of a scene; returns whether it is as it is to be."""
    theirs, times = r["mujoco"], {s["timer"]: s["ms"] for s in r["stages"]}
    good = theirs["answers"]["equal"]
    parts = {part: sum(times[f"mjTIMER_{t}"] for t in names.split()) for part, names in PARTS.items()}
    parts["python"] = r["python_ms"]
    print(f"{r['scene']:9} {r['bodies']:6d} {r['contacts']:8.0f} {r['median_ms']:9.3f} {theirs['median_ms']:9.3f} "
          f"{theirs['solver']:>7} {theirs['ratio']:6.2f} {bar:5.1f}  {'ok' if good else 'WRONG ANSWER'}")  # fmt: skip
    print(f"{'':9} ms: {', '.join(f'{part} {ms:.3f}' for part, ms in parts.items())}; {r['rounds']:.1f} rounds, "
          f"{r['products']:.1f} products", flush=True)  # fmt: skip
    return good and theirs["ratio"] >= bar


def main():
    args = parse()
    print(f"{'scene':9} {'bodies':>6} {'contacts':>8} {'tisim ms':>9} {'MuJoCo ms':>9} {'solver':>7} {'ratio':>6} "
          f"{'bar':>5}  answer")  # fmt: skip
    found, well = [], True
    for (name, n), bar in BARS.items():
        if args.scene is None or name in args.scene:
            found.append(measure(name, n, args))
            well &= show(found[-1], bar)
    if args.json:
        machine = dict(cores=os.cpu_count(), settle=args.settle, repeats=args.repeats)
        pathlib.Path(args.json).write_text(json.dumps(dict(machine=machine, figures=found), indent=1) + "\n")
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
