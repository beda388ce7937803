"""Every solver on large scenes of one kind each, against each solver of the newest MuJoCo, in the same run.

    python benchmarks/solver.py [--case NAME ...] [--peer .peers] [--settle N] [--repeats 15] [--json FILE]

tisim settles a scene. From that state each solver of both engines takes a step by itself: iterations, scaled gradient
in the problem of MuJoCo 3.4.0, milliseconds. Then tisim's default and the best of MuJoCo's, the fastest of those that
reach the least objective but for 1e-6, step in turn, and the medians are compared. Where the newest MuJoCo has another
problem at this state (other contacts; efc_aref of equalities, to which it has added -dJ/dt qvel since 3.4.0), its
gradient is that of its own problem by the same function, and objectives compare with that of MuJoCo 3.4.0's solver. The
exit code is 1 if a ratio is below its bar, or tisim's default ends at a larger gradient than MuJoCo's best.
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
# case: scene, its parameters, steps before the measurement, MuJoCo's time over tisim's that is asked for
CASES = {
    "pile 1000": ("pile", dict(n=1000), 350, 3.0), "pile 10000": ("pile", dict(n=10000), 350, 3.0),
    "wall 1000": ("wall", dict(n=1000), 100, 3.0), "ragdolls 100": ("ragdolls", dict(n=100), 350, 3.0),
    "net 2500": ("net", dict(n=2500), 200, 3.0), "bridge 500": ("bridge", dict(n=500), 300, 3.0),
    "humanoid": ("ragdolls", dict(n=1), 350, 0.1), "floor": ("pendulum", {}, 50, 0.0),
}  # fmt: skip
SECONDS = 4.0  # that the steps of one solver of tisim take at most
TURN = 2e-2  # wall time that an engine gets at least before it is the other's turn [s]


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--case", nargs="+", default=list(CASES), choices=list(CASES))
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--settle", type=int, default=None, help="steps before the measurement, if not those of the case")
    p.add_argument("--repeats", type=int, default=15, help="turns of each engine")
    p.add_argument("--limit", type=float, default=20.0, help="seconds that a solver of MuJoCo gets to show what it can")
    p.add_argument("--threads", type=int, default=None, help="of tisim; MuJoCo steps with one")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    return p.parse_args()


def timed(tisim, m, d, n=1):
    """Time of one of n steps [ms]."""
    began = time.perf_counter()
    tisim.step(m, d, n)
    return 1e3 * (time.perf_counter() - began) / n


def probe(tisim, m, d, state, solver, place):
    """What a solver of tisim does at the state; its solution goes to a file."""
    from tisim.cli.simulate import runtime_sync

    m.opt.solver = solver
    tisim.set_state(m, d, state)
    tisim.forward(m, d)
    runtime_sync()
    path = os.path.join(place, f"tisim{int(solver)}.npy")
    np.save(path, np.asarray(d.qacc))
    iterations, times, began = int(np.max(d.solver_niter, initial=0)), [], time.perf_counter()
    while len(times) < 2 or (len(times) < 30 and time.perf_counter() - began < SECONDS):
        tisim.set_state(m, d, state)
        times.append(timed(tisim, m, d))
    return dict(ms=statistics.median(times[1:]), iterations=iterations, path=path, contacts=int(d.ncon))


def in_turn(tisim, m, d, theirs, repeats):
    """Times of steps of both engines in turn."""
    turn, times, peer_times = 1, [], []
    for i in range(repeats + 1):
        ours, peers = timed(tisim, m, d, turn), theirs.ask("step", None, n=turn)["ms"]
        if i:
            times.append(ours)
            peer_times.append(peers)
        else:
            turn = max(1, int(np.ceil(1e3 * TURN / max(min(ours, peers), 1e-4))))
    return statistics.median(times), statistics.median(peer_times)


def measure(name, args):
    """Figures of a case."""
    import tisim
    from tisim import scenes
    from tisim.cli import peer

    scene, params, settle, bar = CASES[name]
    text = scenes.build(scene, **params)
    m = tisim.Model.from_xml_string(text)
    d = tisim.Data(m)
    default = tisim.mjtSolver(int(m.opt.solver))
    tisim.step(m, d, settle if args.settle is None else args.settle)
    tisim.forward(m, d)
    state, contacts, rows = tisim.get_state(m, d), int(d.ncon), int(d.nefc)
    with peer.beside(m, d, text, args.peer, lambda: False) as (theirs, judge, place):
        solvers = peer.choose(theirs, place, args.limit)
        best = solvers[0]
        order = (default, *(s for s in (tisim.mjtSolver.mjSOL_CG, tisim.mjtSolver.mjSOL_PGS) if s != default))
        ours = {s.name.removeprefix("mjSOL_"): probe(tisim, m, d, state, s, place) for s in order}
        said = peer.judged(judge, place, [s["path"] for s in ours.values()], best)
        for s, (cost, gradient) in zip(ours.values(), said["solutions"]):
            s.update(cost=cost, gradient=gradient)
        m.opt.solver = default
        tisim.set_state(m, d, state)
        version = theirs.ask("begin", None, solver=best["solver"])["version"]
        ms, peer_ms = in_turn(tisim, m, d, theirs, args.repeats)
    first = next(iter(ours.values()))
    same = said["differ"]["same"]
    gradient = said["solutions"][-1][1] if same else best["gradient"]
    beside = dict(version=said["version"], solver=best["solver"], cost=said["cost"], gradient=said["gradient"],
                  iterations=said["iterations"], differs=None if same else peer.how_it_differs(said, best))  # fmt: skip
    return dict(
        case=name, bodies=m.nbody - 1, contacts=contacts, rows=rows, bar=bar, ms=ms, peer_ms=peer_ms,
        judge=beside, ratio=peer_ms / ms, peer=best["solver"], version=version, peers=solvers, ours=ours,
        peer_gradient=gradient,
        as_good=first["gradient"] <= max(gradient, float(m.opt.tolerance)) and contacts == said["contacts"],
    )  # fmt: skip


def show(f):
    """Prints the lines of a case; returns whether it is as it is to be."""
    good = f["ratio"] >= f["bar"] and f["as_good"]
    words = "" if f["as_good"] else ", a LARGER GRADIENT or other contacts"
    print(f"{f['case']}: {f['contacts']} contacts, {f['rows']} rows; tisim {f['ms']:.3f} ms, MuJoCo {f['version']} "
          f"{f['peer']} {f['peer_ms']:.3f} ms, ratio {f['ratio']:.2f} (bar {f['bar']:g}){words}")  # fmt: skip
    j = f["judge"]
    print(f"    MuJoCo {j['version']} in tisim's problem: {j['solver']}, {j['iterations']} iterations, gradient "
          f"{j['gradient']:.1e}, objective {j['cost']:.9g}")  # fmt: skip
    if j["differs"]:
        print(f"    MuJoCo {f['version']} has another problem, to which its figures belong: {j['differs']}")
    for engine, solvers in (("tisim", f["ours"].items()), ("MuJoCo", [(s["solver"], s) for s in f["peers"]])):
        for name, s in solvers:
            if s["ms"] is None:
                print(f"    {engine:6} {name:6} no step within {s['limit']:g} s")
            else:
                print(f"    {engine:6} {name:6} {s['ms']:10.3f} ms {s['iterations']:5d} iterations, gradient "
                      f"{s['gradient']:.1e}, objective {s['cost']:.9g}", flush=True)  # fmt: skip
    return good


def main():
    args = parse()
    sys.path.insert(0, str(ROOT))
    import tisim

    tisim.init(arch="cpu", threads=args.threads)
    found, well = [], True
    for name in args.case:
        found.append(measure(name, args))
        well &= show(found[-1])
    if args.json:
        machine = dict(cores=os.cpu_count(), repeats=args.repeats)
        pathlib.Path(args.json).write_text(json.dumps(dict(machine=machine, figures=found), indent=1) + "\n")
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
