"""How long does a step of 1,000 driven arms with sensors take, against the newest MuJoCo's, in the same run? And what
does a control callback add?

    python benchmarks/arms.py [--n 1000] [--peer .peers] [--repeats 30] [--only arms callback] [--json FILE]

Arms of four hinges, each with a servo, and 24 numbers of sensors each, one scene: smooth dynamics, actuators and
sensors, no contact, so that no solver matters. Both engines step in turn from the same start with the same controls;
medians are compared, and the positions and sensors that they end with. The second table has 1,000 pendulums, each with
a motor, whose controls a callback computes: as Taichi code, and as a Python function. All three Data step in turn.
The exit code is 1 if MuJoCo's step takes less than 2 times as long, if an answer differs, or if the callback in Taichi
adds 5 % or more.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

LEAST, MOST = 2.0, 0.05  # ratio to MuJoCo's step; what the callback in Taichi may add
SETTLE, STEPS = 100, 10  # steps before, and in one turn
TOLERANCE = 1e-6  # by which positions and sensors may differ
GAIN = 0.1  # of the callback: control = -GAIN * velocity


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=1000, help="number of arms and of pendulums")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--repeats", type=int, default=30, help="turns of each; medians are compared")
    p.add_argument("--only", nargs="+", choices=["arms", "callback"], default=["arms", "callback"])
    p.add_argument("--no-sensors", action="store_true", help="arms without sensors")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def turns(ways, repeats):
    """(medians, least) of the time of a step [ms] of functions that take STEPS of them, called in turn."""
    times = [[] for _ in ways]
    for _ in range(repeats):
        for way, kept in zip(ways, times):
            began = time.perf_counter()
            way()
            kept.append(1e3 * (time.perf_counter() - began) / STEPS)
    return [statistics.median(t) for t in times], [min(t) for t in times]


def arms(args, mujoco):
    """Figures of the arms in both engines."""
    import tisim
    from tisim import scenes

    text = scenes.build("arms", n=args.n, sensors=not args.no_sensors)
    m, pm = tisim.Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    d, pd = tisim.Data(m), mujoco.MjData(pm)
    tisim.reset_keyframe(m, d, 0)
    mujoco.mj_resetDataKeyframe(pm, pd, 0)
    tisim.step(m, d, SETTLE)
    mujoco.mj_step(pm, pd, SETTLE)
    ways = [lambda: tisim.step(m, d, STEPS), lambda: mujoco.mj_step(pm, pd, STEPS)]
    (ours, theirs), (least, their_least) = turns(ways, args.repeats)
    differ = np.abs(np.asarray(d.qpos) - pd.qpos).max()
    if m.nsensordata:
        differ = max(differ, np.abs(np.asarray(d.sensordata) - pd.sensordata).max())
    return dict(n=args.n, nv=m.nv, sensors=m.nsensordata, ms=ours, peer_ms=theirs, ratio=theirs / ours,
                fastest=their_least / least, differ=float(differ))  # fmt: skip


def callback(args):
    """Figures of the pendulums: times of a step without a callback, with one in Taichi, with one in Python."""
    import control_kernel  # benchmarks/control_kernel.py

    import tisim

    def python(m, d):
        d.ctrl[...] = -GAIN * np.asarray(d.qvel)

    body = """<body pos="{} {} 1"><joint name="j{}" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02"
      contype="0" conaffinity="0"/></body>"""
    world = "".join(body.format(i % 40, i // 40, i) for i in range(args.n))
    motors = "".join(f'<motor joint="j{i}"/>' for i in range(args.n))
    text = f"<mujoco><worldbody>{world}</worldbody><actuator>{motors}</actuator></mujoco>"
    made = []
    for f in (None, control_kernel.damp, python):
        m = tisim.Model.from_xml_string(text)
        m.callback.control = f
        d = tisim.Data(m)
        d.qpos[...] = np.linspace(0.5, 1.5, args.n)
        tisim.step(m, d, SETTLE)
        made.append((m, d))
    (plain, taichi, host), _ = turns([lambda m=m, d=d: tisim.step(m, d, STEPS) for m, d in made], 4 * args.repeats)
    same = np.array_equal(made[1][1].qpos, made[2][1].qpos)
    return dict(n=args.n, plain_ms=plain, taichi_ms=taichi, python_ms=host, adds=taichi / plain - 1, same=bool(same))


def main():
    args = parse()
    import pile  # benchmarks/pile.py

    mujoco = pile.import_peer(args.peer)
    import tisim

    tisim.init(arch="cpu")
    figures, well = {}, True
    if "arms" in args.only:
        f = figures["arms"] = arms(args, mujoco)
        well &= f["ratio"] >= LEAST and f["differ"] <= TOLERANCE
        print(f"{f['n']} arms, {f['nv']} dofs, {f['sensors']} numbers of sensors: {f['ms']:.3f} ms a step, MuJoCo "
              f"{mujoco.__version__} {f['peer_ms']:.3f} ms, ratio {f['ratio']:.2f} (of the fastest turns "
              f"{f['fastest']:.2f}), answers differ by {f['differ']:.1e}", flush=True)  # fmt: skip
    if "callback" in args.only:
        f = figures["callback"] = callback(args)
        well &= f["adds"] < MOST and f["same"]
        print(f"{f['n']} pendulums: {f['plain_ms']:.3f} ms a step, with a control callback in Taichi "
              f"{f['taichi_ms']:.3f} ({100 * f['adds']:+.1f} %), in Python {f['python_ms']:.3f} "
              f"({1e3 * (f['python_ms'] - f['plain_ms']):+.0f} us)")  # fmt: skip
    if args.json:
        machine = dict(cores=os.cpu_count(), mujoco=mujoco.__version__, repeats=args.repeats)
        pathlib.Path(args.json).write_text(json.dumps(dict(machine=machine, figures=figures), indent=1) + "\n")
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
