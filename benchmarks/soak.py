"""Does a drum that keeps bodies moving turn on without end: no growth of memory, no body lost, no warning?

    python benchmarks/soak.py [--n 2000] [--seconds 3600] [--threads N] [--keep FILE.npz]

The scene `drum`, its motor on. Each simulated minute a line tells memory, the time of a step, how fast bodies are, how
many are outside of the drum, and warnings. Exits with 1 where something grew, was lost or was warned of. Ctrl-C ends it
with what was seen up to there. With --keep what was seen and the state are kept each minute: the same command goes on
from there to the same bits, and memory is compared within each process.
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
import time

import numpy as np

SLACK = 0.05  # how far the frame of a body may be behind the wall [m]: less than a body's half width
GROWTH = 1.03  # of memory, from the end of the first fifth on
MOVING = 0.05  # mean speed below which the drum does not do its work [m/s]


def memory():
    """Resident memory of this process [MB]."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def outside(m, d):
    """Number of bodies that are not in the drum."""
    import tisim

    drum, boxes = m.name2id("body", "drum"), int(tisim.mjtGeom.mjGEOM_BOX)
    walls = np.flatnonzero((m.geom_bodyid == drum) & (m.geom_type == boxes))[:16]
    radius = np.linalg.norm(m.geom_pos[walls][:, [0, 2]], axis=1).max()
    half = m.geom_size[walls, 1].max()
    away = np.asarray(d.xpos)[drum + 1 :] - np.asarray(d.xpos)[drum]
    gone = (np.hypot(away[:, 0], away[:, 2]) > radius + SLACK) | (np.abs(away[:, 1]) > half + SLACK)
    return int(gone.sum())


def soak(n, seconds, look=60.0, show=None, keep=None):
    """Turns a drum of n bodies so long [s]; returns a list of what was seen each `look` seconds, as dicts.

    show  a function of such a dict; what it returns is true where it shall end.
    keep  path of an .npz: goes on from what is there, and writes what was seen and the state with every look.
    """
    import tisim

    m = tisim.Model.from_scene("drum", n=n)
    d = tisim.Data(m)
    d.ctrl[0] = 1.5
    seen, each = [], max(1, round(min(look, seconds) / float(m.opt.timestep)))
    if keep is not None and keep.exists():
        with np.load(keep) as kept:
            tisim.set_state(m, d, kept["state"])
            seen = json.loads(str(kept["seen"]))
    process = seen[-1]["process"] + 1 if seen else 0
    while d.time < seconds - 0.5 * m.opt.timestep:
        began = time.perf_counter()
        tisim.step(m, d, each)
        wall = time.perf_counter() - began
        speed = np.linalg.norm(np.asarray(d.qvel)[1:].reshape(-1, 6)[:, :3], axis=1)
        seen.append(dict(
            process=process, time=float(d.time), wall=wall, ms=1e3 * wall / each, memory=memory(), contacts=int(d.ncon),
            speed=float(speed.mean()), fastest=float(speed.max()), outside=outside(m, d), bodies=m.nbody - 2,
            warnings=int(sum(d.warning[k].number for k in range(len(d.warning)))),
            drift=float(np.abs(np.linalg.norm(np.asarray(d.qpos)[1:].reshape(-1, 7)[:, 3:], axis=1) - 1).max()),
        ))  # fmt: skip
        if keep is not None:
            part = keep.with_name(keep.name + ".part")
            with open(part, "wb") as f:
                np.savez(f, state=tisim.get_state(m, d), seen=json.dumps(seen))
            os.replace(part, keep)
        if show is not None and show(seen[-1]):
            break
    return seen


def faults(seen):
    """What went wrong, in words; an empty list is what one wants."""
    out = []
    for _, ofone in itertools.groupby(seen, lambda s: s["process"]):
        ofone = list(ofone)
        steady = ofone[len(ofone) // 5 :]
        if steady[-1]["memory"] > GROWTH * steady[0]["memory"]:
            out.append(f"memory grew from {steady[0]['memory']:.0f} to {steady[-1]['memory']:.0f} MB")
    lost = max(s["outside"] for s in seen)
    if lost:
        out.append(f"{lost} bodies are outside of the drum")
    if seen[-1]["warnings"]:
        out.append(f"{seen[-1]['warnings']} warnings")
    if not all(np.isfinite(s["speed"]) and s["speed"] > MOVING for s in seen):
        out.append("bodies do not move")
    if max(s["drift"] for s in seen) > 1e-12:
        out.append("quaternions are not of length 1")
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, default=2000, help="bodies")
    p.add_argument("--seconds", type=float, default=3600.0, help="simulated time [s]")
    p.add_argument("--threads", type=int, default=None)
    p.add_argument("--keep", default=None, type=pathlib.Path, metavar="FILE.npz",
                   help="keep what was seen and the state here, and go on from it")  # fmt: skip
    a = p.parse_args()
    import tisim

    tisim.init(threads=a.threads)
    lines = []

    def show(s):
        lines.append(s)
        print(f"{s['time']:8.0f} s  {s['ms']:7.2f} ms/step  {s['memory']:6.0f} MB  {s['contacts']:6} contacts  mean "
              f"{s['speed']:.2f} m/s  {s['outside']} outside  {s['warnings']} warnings", flush=True)  # fmt: skip
        return False

    try:
        lines = soak(a.n, a.seconds, show=show, keep=a.keep)
    except KeyboardInterrupt:
        print("stopped")
    wrong = faults(lines) if lines else ["it did not get through a minute"]
    print("; ".join(wrong) or f"nothing grew, was lost or warned of in {lines[-1]['time']:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
