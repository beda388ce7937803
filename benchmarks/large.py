"""What does a step of a large scene cost of which little moves, against the newest MuJoCo that sleeps too?

    python benchmarks/large.py [--case NAME ...] [--n 10000] [--peer .peers] [--repeats 60] [--json FILE]
                               [--pictures FOLDER]

Both engines have the sleep flag on (or off, where all is to be awake) and go from the same start for as many steps;
then they take ten steps in turn, and the medians are compared; the peer takes the quicker of its solvers Newton and CG.
`pyramids`, `dominos` and `tower` are whole stories: there the times of all steps are added up. The exit code is 1 if
what sleeps in the end is not as many bodies as in the peer by more than one in a hundred (rows).

    rolling    n bodies in rows of which one in a hundred is a ball that rolls        rest       n bodies at rest
    awake      3003 shapes in rows, none may sleep                                    asleep     the same at rest
    pyramids   196 pyramids of 55 boxes that come to rest                             dominos    300 of them
    tower      a tower of 20 that collapses after 5 s                   growth     1,000 to 100,000 bodies
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
CASES = ("rolling", "rest", "awake", "asleep", "pyramids", "dominos", "tower", "growth")
SETTLE = 200  # steps in which rows come to rest
STRUCK = 2500  # step in which the tower is hit
# pictures of a case: from where, and the steps at which they are taken
CAMERAS = dict.fromkeys(("rolling", "rest", "awake", "asleep"), "120,-20,26,0,0,0") | dict(tower="60,-10,13,0,0,1.7")
SHOWN = dict(
    rolling=(1, SETTLE, SETTLE + 100), rest=(1, SETTLE), awake=(1, SETTLE), asleep=(1, SETTLE),
    pyramids=(1, 60, 100, 140, 200), dominos=(1, 700, 1500), tower=(1, STRUCK, STRUCK + 100, 3500),
)  # fmt: skip


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--case", nargs="+", default=list(CASES), choices=CASES)
    p.add_argument("--n", type=int, default=10000, help="bodies of `rolling` and `rest`")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--repeats", type=int, default=60, help="steps measured per engine")
    p.add_argument("--threads", type=int, default=None, help="of tisim; MuJoCo steps with one")
    p.add_argument("--pictures", default=None, help="measure nothing, write pictures of the cases to this folder")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


class Ours:
    """tisim with a scene."""

    def __init__(self, xml):
        import tisim

        self.name, self.tisim = "tisim", tisim
        self.m = tisim.Model.from_xml_string(xml)
        self.d = tisim.Data(self.m)
        tisim.pipeline.prepare(self.m, self.d)

    def step(self, n=1):
        self.tisim.step(self.m, self.d, n)

    def wake(self):
        """Wakes all, so that the contacts of sleepers are listed, too."""
        self.tisim.wake(self.m, self.d)
        self.step()


class Theirs:
    """The peer with a scene, the quicker of its solvers."""

    def __init__(self, mujoco, xml, solver):
        self.name, self.mujoco = f"MuJoCo {mujoco.__version__} {solver}", mujoco
        self.m = mujoco.MjModel.from_xml_string(xml)
        self.m.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
        self.m.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
        self.d = mujoco.MjData(self.m)

    def step(self, n=1):
        for _ in range(n):
            self.mujoco.mj_step(self.m, self.d)


def roll(engine, one_in=100):
    """Balls begin to roll, one in so many bodies."""
    m, v = engine.m, np.zeros(engine.m.nv)
    ball = np.flatnonzero(np.asarray(m.geom_type) == 2)[:: max(1, one_in // 3)]
    dof = np.asarray(m.body_dofadr)[np.asarray(m.geom_bodyid)[ball]]
    v[dof], v[dof + 4] = 0.3, 1.5
    engine.d.qvel[:] = v


def strike(engine):
    """A quarter of the boxes of a tower, from the sixth on, is hit: it collapses."""
    v = np.zeros((engine.m.nbody - 1, 6))
    v[5 : 5 + len(v) // 4, 1] = 4.0
    engine.d.qvel[:] = v.reshape(-1)


def timed(engine, n=1):
    begin = time.perf_counter()
    engine.step(n)
    return 1e3 * (time.perf_counter() - begin)


def engines(mujoco, xml):
    return [Ours(xml), Theirs(mujoco, xml, "newton"), Theirs(mujoco, xml, "cg")]


def steady(mujoco, xml, repeats, poke=None, settle=SETTLE):
    """Medians of a step of a scene that has come to rest, ten steps in turn."""
    all_of = engines(mujoco, xml)
    for e in all_of:
        e.step(settle)
        if poke:
            poke(e)
            e.step(20)
    times = {e.name: [] for e in all_of}
    for _ in range(repeats // 10):
        for e in all_of:
            times[e.name].append(timed(e, 10) / 10)
    return summary(all_of, {name: statistics.median(t) for name, t in times.items()})


def story(mujoco, xml, steps, poke=None, at=None, solvers=("newton", "cg")):
    """Mean of all steps of a scene, ten in turn."""
    all_of = [Ours(xml), *(Theirs(mujoco, xml, s) for s in solvers)]
    total = dict.fromkeys((e.name for e in all_of), 0.0)
    for i in range(0, steps, 10):
        for e in all_of:
            if i == at:
                poke(e)
            total[e.name] += timed(e, 10)
    return summary(all_of, {name: t / steps for name, t in total.items()})


def summary(all_of, times):
    """Figures of one case."""
    ours, best = times["tisim"], min((t, n) for n, t in times.items() if n != "tisim")
    awake = {e.name: int(e.d.ntree_awake) for e in all_of}
    memory, nbody = sum(all_of[0].d.memory().values()), all_of[0].m.nbody
    all_of[0].wake()
    ncon = int(all_of[0].d.ncon)
    return dict(
        ms=ours, peer_ms=best[0], peer=best[1], ratio=best[0] / ours, awake=awake["tisim"], peer_awake=awake[best[1]],
        trees=all_of[0].m.ntree, contacts=ncon, bytes_per_body=memory / nbody,
        memory=memory / (3000 * nbody + 1000 * ncon),
    )  # fmt: skip


def scene(case, n):
    """MJCF of a case."""
    from tisim import scenes

    name, given = dict(
        rolling=("rows", dict(n=n)), rest=("rows", dict(n=n)), awake=("rows", dict(n=3003, sleep=False)),
        asleep=("rows", dict(n=3003)), pyramids=("pyramids", dict(n=196, layers=5)), dominos=("dominos", dict(n=300)),
        tower=("tower", dict(n=20)),
    )[case]  # fmt: skip
    return scenes.build(name, **dict(sleep=True) | given)


def write_pictures(args):
    """What a case looks like before and after, what sleeps dark; prints how many trees are awake."""
    pathlib.Path(args.pictures).mkdir(parents=True, exist_ok=True)
    from tisim.viewer import render, save_png

    for case in args.case:
        if case not in SHOWN:
            continue
        e, at = Ours(scene(case, args.n)), 0
        poked, poke = dict(rolling=(SETTLE, roll), tower=(STRUCK, strike)).get(case, (None, None))
        for step in SHOWN[case]:
            e.step(step - at)
            at = step
            path = pathlib.Path(args.pictures) / f"{case}_{step}.png"
            save_png(path, render(e.m, e.d, 640, 360, camera=CAMERAS.get(case)))
            print(f"{path}: {e.d.ntree_awake} of {e.m.ntree} trees are awake", flush=True)
            if step == poked:
                poke(e)


def growth(repeats):
    """Ours alone: medians of a step with nothing awake, then with one in a hundred rolling, by the number of bodies."""
    from tisim import scenes

    found = []
    for n in (1000, 10000, 100000):
        e = Ours(scenes.build("rows", n=n, sleep=True))
        e.step(SETTLE)
        rest = statistics.median(timed(e) for _ in range(repeats))
        roll(e)
        e.step(20)
        rolling = statistics.median(timed(e) for _ in range(repeats))
        memory = sum(e.d.memory().values()) / n
        found.append(dict(n=n, rest_ms=rest, rolling_ms=rolling, awake=e.d.ntree_awake, bytes_per_body=memory))
        print(f"growth {n:7d} bodies: at rest {rest:.3f} ms, {e.d.ntree_awake} rolling {rolling:.3f} ms, "
              f"{memory:.0f} bytes a body", flush=True)  # fmt: skip
    return found


def main():
    args = parse()
    from pile import import_peer

    mujoco = None if args.pictures else import_peer(args.peer)
    import tisim

    tisim.init(arch="cpu", threads=args.threads)
    if args.pictures:
        write_pictures(args)
        return
    cases = dict(
        rolling=lambda xml: steady(mujoco, xml, args.repeats, roll),
        rest=lambda xml: steady(mujoco, xml, args.repeats),
        awake=lambda xml: steady(mujoco, xml, args.repeats),
        asleep=lambda xml: steady(mujoco, xml, args.repeats),
        pyramids=lambda xml: story(mujoco, xml, 200, solvers=["cg"]),
        dominos=lambda xml: story(mujoco, xml, 1500),
        tower=lambda xml: story(mujoco, xml, 3500, strike, STRUCK),
    )
    found, ok = {}, True
    for name in args.case:
        if name == "growth":
            found[name] = growth(args.repeats)
            continue
        f = found[name] = cases[name](scene(name, args.n))
        if name in ("rolling", "rest", "asleep"):
            ok &= abs(f["awake"] - f["peer_awake"]) <= f["trees"] / 100
        print(f"{name:9} {f['trees']:6d} trees: {f['ms']:8.3f} ms, {f['peer']} {f['peer_ms']:8.3f} ms, ratio "
              f"{f['ratio']:5.2f}; awake {f['awake']} ({f['peer_awake']}), {f['contacts']} contacts, "
              f"{f['bytes_per_body']:.0f} bytes a body, {f['memory']:.2f} of 3 kB a body and 1 kB a contact",
              flush=True)  # fmt: skip
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
