"""What does a step of the second dynamics cost, and how well does it hold bodies apart?

    python benchmarks/lcp.py [--n 1000 10000] [--seconds 0.25] [--rounds 5] [--threads N] [--json FILE]

Piles that have come to rest (tisim's scene `pile`, h = 0.005, 3 s of dynamics="lcp"). In turns: all that comes after
collision in a step of ours with 10 and 5 substeps, and with 10 and ease=0; QuickStep of ODE 0.16 alone, without the
making of its contacts, with 20 and 50 iterations (the wheel dartpy: `python -m pip install --no-deps --target .peers
dartpy`); and tisim's convex dynamics, on which the pile has settled again. Whole steps, with their own collision
detection: of ours; of PyBullet and of Rapier, with their defaults, each settled again (`python -m pip install --target
.peers pybullet`; `npm install --prefix .peers @dimforge/rapier3d-compat`). Then each goes on for some time and is
told: depth of the contacts by tisim's collision detection, speed of the bodies [mm, mm/s], of ours the residual of the
last substep [mm/s] (rms of the natural map). Times in ms, least and median. Behind: what a sweep costs by contact,
what does not depend on sweeps.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTLE = 3.0  # [s]
OURS = {
    "lcp 10 x 1": dict(substeps=10),
    "lcp 5 x 1": dict(substeps=5),
    "lcp 10 x 1 ease 0": dict(substeps=10, ease=0.0),
}


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, nargs="+", default=[1000, 10000], help="bodies")
    p.add_argument("--seconds", type=float, default=0.25, help="simulated time after which depth and speed are told")
    p.add_argument("--rounds", type=int, default=5, help="turns of five steps, one of ODE")
    p.add_argument("--threads", type=int, default=None, help="of tisim; ODE steps with one")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peers' packages")
    p.add_argument("--only", default="", help="those whose names contain this, and ours")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def helper(path):
    """A module of tests/shared, or one beside this file."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ode():
    """tests/shared/ode.py, which drives the library; None where that is not there."""
    module = helper("tests/shared/ode.py")
    return module if module.library() else None


def bullet():
    """PyBullet; None where it is not there."""
    try:
        import pybullet
    except ImportError:
        return None
    return pybullet


class Ours:
    """tisim from a state, by one of its dynamics; times are those of the stages behind collision."""

    BEFORE = (
        "check",
        "check_state",
        "fwd_position",
        "collide",
        "wake_written",
        "wake_pulled",
        "wake_touched",
        "wake_tied",
    )

    def __init__(self, m, state, dynamics="lcp", settle=0, **given):
        import copy

        import tisim

        self.m = copy.copy(m)
        self.m.opt.dynamics = dynamics
        self.m.lcp.take(given)
        self.d = tisim.Data(self.m)
        tisim.set_state(self.m, self.d, state)
        self.go(20 + settle)

    def go(self, steps):
        import tisim

        tisim.step(self.m, self.d, steps)

    def time(self):
        """ms of a step behind collision, mean of five, of those that Python did not have to lead."""
        self.d.timer.on = True
        self.go(2)
        self.d.timer.clear()
        self.go(5)
        pieces = self.d.timer.pieces()
        self.d.timer.on = False
        return 1e3 * sum(t for (stage, _), (t, _) in pieces.items() if stage and stage not in self.BEFORE) / 5

    def quality(self):
        import tisim

        if self.m.opt.dynamics == "lcp":
            self.residual = 1e3 * float(np.hypot(*helper("tests/shared/residual.py").residual(self.m, self.d)))
        tisim.forward(self.m, self.d)
        return judged(self.d)


class Whole(Ours):
    """The same; times are those of whole steps."""

    def time(self):
        began = time.perf_counter()
        self.go(5)
        return 1e3 * (time.perf_counter() - began) / 5


def judged(d):
    """[mm, mm, mm/s]: mean and greatest depth of the contacts in depth, root of the mean squared speed."""
    depth = np.maximum(0, -np.asarray(d.contact.dist))
    v = np.array(d.qvel).reshape(-1, 6)[:, :3]
    return [1e3 * depth[depth > 0].mean(), 1e3 * depth.max(), 1e3 * np.sqrt((v**2).sum(1).mean())]


class Ode:
    """ODE from a state, on contacts of ours."""

    def __init__(self, peer, m, state, iterations):
        import tisim

        self.peer, self.m, self.world = peer, m, peer.World(peer.library(), m, iterations)
        self.d = tisim.Data(m)
        tisim.set_state(m, self.d, state)
        self.look()

    def look(self):
        import tisim

        tisim.forward(self.m, self.d)
        self.contacts = [c for c in self.peer.contacts_of(self.m, self.d) if c[3] < 0]

    def time(self):
        return 1e3 * self.world.step(*self.peer.state_of(self.m, self.d), self.contacts, float(self.m.opt.timestep))[2]

    def go(self, steps):
        for _ in range(steps):
            pose, v, _ = self.world.step(*self.peer.state_of(self.m, self.d), self.contacts, float(self.m.opt.timestep))
            moving = np.flatnonzero(self.m.body_dofnum)
            w, x, y, z = pose[:, 3:].T
            R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                          [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                          [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
            v[:, 3:] = np.einsum("ijb,bi->bj", R, v[:, 3:])
            self.d.qpos[:], self.d.qvel[:] = pose[moving].ravel(), v[moving].ravel()
            self.look()

    def quality(self):
        return judged(self.d)


def measure(n, args, peer):
    """{who: figures} of a pile of n."""
    import tisim

    m = tisim.Model.from_scene("pile", n=n)
    m.opt.dynamics, h = "lcp", float(m.opt.timestep)
    d = tisim.Data(m)
    tisim.step(m, d, round(SETTLE / h))
    state = tisim.get_state(m, d)
    who = {name: Ours(m, state, **given) for name, given in OURS.items()}
    who["whole lcp 10 x 1"], who["whole lcp 5 x 1"] = Whole(m, state), Whole(m, state, substeps=5)
    who["convex"] = Ours(m, state, "convex", settle=round(0.25 / h))
    if peer:
        who |= {f"ODE {k}": Ode(peer, m, state, k) for k in (20, 50)}
    peers = helper("benchmarks/lcp_peers.py")
    if library := bullet():
        who["whole PyBullet"] = peers.Bullet(library, m, state)
    if package := peers.rapier(args.peer):
        who["whole Rapier"] = peers.Rapier(package, m, state)
    who = {name: engine for name, engine in who.items() if "lcp" in name or args.only in name}
    for name in ("whole PyBullet", "whole Rapier"):
        if name in who:
            who[name].go(round(0.25 / h))
    times = {name: [] for name in who}
    for _ in range(args.rounds):
        for name, engine in who.items():
            times[name].append(engine.time())
    found = {}
    for name, engine in who.items():
        engine.go(round(args.seconds / h))
        mean, deepest, speed = engine.quality(judged) if isinstance(engine, peers.Peer) else engine.quality()
        found[name] = dict(n=n, least=min(times[name]), median=float(np.median(times[name])), depth_mean=mean,
                           depth_max=deepest, speed=speed, contacts=engine.d.ncon,
                           residual=getattr(engine, "residual", None))  # fmt: skip
    return found


def tell_sweeps(found):
    """Prints what a sweep costs, from steps with different numbers of them, and what is left of a step."""
    ten, five = found["lcp 10 x 1"], found["lcp 5 x 1"]
    substep = (ten["least"] - five["least"]) / 5
    fixed = ten["least"] - 10 * substep
    print(f"  a substep {1e6 * substep / ten['contacts']:.0f} ns by contact; apart from them {fixed:.3f} ms, "
          f"{100 * fixed / ten['least']:.0f} % of the stage")  # fmt: skip
    if "ODE 20" in found and "ODE 50" in found:
        one = (found["ODE 50"]["least"] - found["ODE 20"]["least"]) / 30
        print(f"  an iteration of ODE {1e6 * one / found['ODE 20']['contacts']:.0f} ns by contact, "
              f"{one / substep:.1f} substeps of ours")  # fmt: skip


def main():
    args = parse()
    sys.path.append(args.peer)
    import tisim

    tisim.init(arch="cpu", precision="f64", **(dict(threads=args.threads) if args.threads else {}))
    peer, everything = ode(), {}
    if peer is None:
        print("ODE is not there: python -m pip install --no-deps --target .peers dartpy")
    for n in args.n:
        everything[n] = found = measure(n, args, peer)
        print(f"\n{n} bodies{'':14}least  median    / lcp   depth mean     max   speed  contacts  residual")
        for name, f in found.items():
            ours = found["whole lcp 10 x 1" if name.startswith("whole") else "lcp 10 x 1"]["least"]
            left = f"{f['residual']:>10.3f}" if f["residual"] is not None else ""
            print(f"  {name:<16}{f['least']:>10.3f}{f['median']:>8.3f}{f['least'] / ours:>9.2f}"
                  f"{f['depth_mean']:>13.4f}{f['depth_max']:>8.3f}{f['speed']:>8.2f}{f['contacts']:>10}{left}",
                  flush=True)  # fmt: skip
        tell_sweeps(found)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
