"""How long does a step of a tiny scene take, against the newest MuJoCo's, in the same run?

    python benchmarks/floor.py [--scene pendulum helix ...] [--peer .peers] [--repeats 15] [--json FILE]

Where there is next to nothing to compute, a step costs what the engine does around it. Both engines take the same
steps from the same start, many in one call (`step(m, d, nstep)`), in turn. Such short times are disturbed in one
direction only, so the fastest of each is compared. "one" is a call of `tisim.step(m, d)` for each step, "python" the
same steps with no record of a stage (device/program.py).
The exit code is 1 if a step of tisim takes more than 4 times as long as MuJoCo's.
"""

import argparse
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

MOST = 4.0  # times as long as MuJoCo's step
SETTLE, STEPS = 300, 400
PLANE = '<geom type="plane" size="5 5 .1"/>'
FREE = '<body pos="0 0 {}"><freejoint/><geom {}/></body>'


def arm(n, turn):
    """MJCF of a chain of hinges that touch nothing, each axis turned by so many degrees against the last."""
    link = f"""<body pos=".1 0 0" euler="{turn} 0 0"><joint axis="0 1 0" damping=".01"/>
      <geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" contype="0" conaffinity="0"/>"""
    return f"<mujoco><worldbody>{n * link}{n * '</body>'}</worldbody></mujoco>"


def world(*bodies):
    return f"<mujoco><worldbody>{PLANE}{''.join(bodies)}</worldbody></mujoco>"


def texts():
    """{name: MJCF}."""
    from tisim import scenes

    return {
        "pendulum": scenes.build("pendulum"),
        "arm": arm(3, 0),
        "helix": arm(12, 30),
        "chain": scenes.build("chain", n=5),
        "ball": world(FREE.format(0.1, 'size=".1"')),
        "box": world(FREE.format(0.1, 'type="box" size=".1 .1 .1"')),
        "boxes": world(*(FREE.format(0.1 + 0.2 * i, 'type="box" size=".1 .1 .1"') for i in range(3))),
        "joints": scenes.build("joints"),
        "ragdoll": scenes.build("ragdolls", n=1),
        "pile": scenes.build("pile", n=5),
    }


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--scene", nargs="+", default=None, help="some of the scenes")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--repeats", type=int, default=15, help="measurements of each figure; the fastest counts")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def us(function, steps):
    """Microseconds of one step of a function that takes so many."""
    began = time.perf_counter()
    function()
    return 1e6 * (time.perf_counter() - began) / steps


def measure(name, text, args, mujoco):
    """All figures of a scene."""
    import tisim

    m, pm = tisim.Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    d, by_python, pd = tisim.Data(m), tisim.Data(m), mujoco.MjData(pm)
    by_python.program.start = lambda: None
    ways = dict(
        peer_us=(lambda n: mujoco.mj_step(pm, pd, n), STEPS), us=(lambda n: tisim.step(m, d, n), STEPS),
        one_us=(lambda n: [tisim.step(m, d) for _ in range(n)], STEPS // 4),
        python_us=(lambda n: tisim.step(m, by_python, n), STEPS // 8),
    )  # fmt: skip
    for step in (lambda: tisim.step(m, d, SETTLE), lambda: tisim.step(m, by_python, SETTLE)):
        step()
    mujoco.mj_step(pm, pd, SETTLE)
    times = {key: [] for key in ways}
    for _ in range(args.repeats):
        for key, (way, steps) in ways.items():
            times[key].append(us(lambda way=way, steps=steps: way(steps), steps))
    figures = dict(scene=name, nv=m.nv, contacts=int(d.ncon), **{k: min(t) for k, t in times.items()})
    return figures | dict(ratio=figures["us"] / figures["peer_us"])


def main():
    args = parse()
    import pile  # benchmarks/pile.py

    mujoco = pile.import_peer(args.peer)
    import tisim

    tisim.init(arch="cpu", threads=1)
    print(f"microseconds of a step, tisim against MuJoCo {mujoco.__version__}, same scene, same run")
    print(f"{'scene':10} {'dofs':>4} {'contacts':>8} {'tisim':>8} {'one':>8} {'python':>8} {'MuJoCo':>8} {'ratio':>6}")
    figures = []
    for name, text in texts().items():
        if args.scene is None or name in args.scene:
            f = measure(name, text, args, mujoco)
            figures.append(f)
            print(f"{name:10} {f['nv']:4d} {f['contacts']:8d} {f['us']:8.1f} {f['one_us']:8.1f} {f['python_us']:8.1f} "
                  f"{f['peer_us']:8.1f} {f['ratio']:6.2f}", flush=True)  # fmt: skip
    if args.json:
        machine = dict(cores=os.cpu_count(), mujoco=mujoco.__version__, repeats=args.repeats)
        pathlib.Path(args.json).write_text(json.dumps(dict(machine=machine, figures=figures), indent=1) + "\n")
    sys.exit(0 if all(f["ratio"] <= MOST for f in figures) else 1)


if __name__ == "__main__":
    main()
