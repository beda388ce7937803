"""How fast is a step of a settled pile, against the newest MuJoCo with its best solver for it, in the same run?

    python benchmarks/pile.py [--n 1000 4000 10000] [--peer .peers] [--settle 350] [--repeats 30] [--json FILE]
    python benchmarks/pile.py --busy [--n 1000 4000]     beside busy neighbours: see benchmarks/busy.py

tisim drops and settles the pile; its whole state is copied into the peer. From it both take one step in turn, and the
medians are compared.

What tisim answers is judged at that state by the MuJoCo whose physics it reproduces (3.4.0, from the environment):
one evaluator makes objective and gradient by MuJoCo's own functions, and gets tisim's solution and that of MuJoCo's
CG. The exit code is 1 if tisim's objective is the higher one, its contacts are others, or the settled state is not, bit
for bit, that of tests/testdata/golden.csv for this kind of processor. The peer is newer and lists slightly other
contacts between boxes, so its gradient is one of its own problem.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import busy

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
STATE = ("qpos", "qvel", "qacc_warmstart")
SLACK = 1e-8  # relative excess of the objective that is called equal: the solvers' own tolerance


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--n", type=int, nargs="+", default=[1000, 4000, 10000], help="bodies")
    p.add_argument("--peer", default=str(ROOT / ".peers"), help="folder of the peer's packages")
    p.add_argument("--settle", type=int, default=350, help="steps before the measurement")
    p.add_argument("--repeats", type=int, default=30, help="steps measured per engine")
    p.add_argument("--cone", default="pyramidal", choices=["pyramidal", "elliptic"], help="cone of friction")
    p.add_argument("--arch", default="cpu")
    p.add_argument("--precision", default=None)
    p.add_argument("--threads", type=int, default=None, help="of tisim; MuJoCo steps with one")
    p.add_argument("--busy", action="store_true", help="beside busy neighbours, nothing else")
    p.add_argument("--json", default=None, help="also write the figures to this file")
    p.add_argument("--alone", nargs=3, metavar=("ENGINE", "N", "STATE"), help=argparse.SUPPRESS)
    return p.parse_args()


def import_peer(folder):
    """The newest MuJoCo, ahead of the one the tests use."""
    from tisim.cli import peer

    if peer.in_folder(folder) is None:
        sys.exit(f"the peer is not installed; run\n  {peer.install_line(folder)}")
    sys.path.insert(0, str(folder))
    import mujoco

    return mujoco


def objective(mujoco, m, d):
    """The evaluator of `tisim bench --compare`."""
    from tisim.cli import peer_process

    return peer_process.objective(mujoco, m, d)


def scene(n, args):
    """MJCF text of the pile."""
    from tisim import scenes

    return scenes.build("pile", n=n, cone=args.cone)


def load_tisim(n, args):
    import tisim

    tisim.init(arch=args.arch, precision=args.precision, threads=args.threads)
    m = tisim.Model.from_xml_string(scene(n, args))
    return m, tisim.Data(m)


def load_peer(mujoco, n, args):
    m = mujoco.MjModel.from_xml_string(scene(n, args))
    m.opt.solver = mujoco.mjtSolver.mjSOL_CG
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    return m, mujoco.MjData(m)


def peak_mib():
    """Largest memory of this process so far [MiB]."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def set_state(d, state):
    """Writes a saved state into a Data of either engine."""
    for name in STATE:
        getattr(d, name)[...] = state[name]


def judge(n, args, state):
    """Objective and gradient of tisim's solution and of MuJoCo's CG, in the problem of the reference MuJoCo."""
    import mujoco
    import numpy as np

    m, d = load_peer(mujoco, n, args)
    set_state(d, state)
    mujoco.mj_forward(m, d)
    evaluate = objective(mujoco, m, d)
    cost, gradient = evaluate(state["qacc"])
    cg_cost, cg_gradient = evaluate(d.qacc.copy())
    return dict(
        version=mujoco.__version__, contacts=int(d.ncon), rows=int(d.nefc), cost=cost, gradient=gradient,
        cg_cost=cg_cost, cg_gradient=cg_gradient, cg_iterations=int(np.max(d.solver_niter)),
    )  # fmt: skip


def alone(args):
    """The part of a process of its own: the judge, or load time and peak memory of an engine over two steps."""
    import numpy as np

    engine, n, state = args.alone[0], int(args.alone[1]), np.load(args.alone[2])
    if engine == "judge":
        print(json.dumps(judge(n, args, state)))
        return
    if engine == "stepper":
        import tisim
        from tisim.cli.simulate import runtime_sync

        m, d = load_tisim(n, args)
        set_state(d, state)
        busy.stepper(m, d, tisim.step, runtime_sync)
        return
    began = time.perf_counter()
    if engine == "tisim":
        import tisim

        m, d = load_tisim(n, args)
        step = tisim.step
    else:
        mujoco = import_peer(args.peer)
        m, d = load_peer(mujoco, n, args)
        step = mujoco.mj_step
    loaded = time.perf_counter() - began
    set_state(d, state)
    step(m, d)
    first = time.perf_counter() - began
    step(m, d)
    print(json.dumps(dict(load_s=loaded, first_step_s=first, peak_mib=peak_mib())))


def write_settled(n, args, path):
    """Drops and settles a pile and writes its state to a file."""
    import numpy as np

    import tisim

    m, d = load_tisim(n, args)
    tisim.step(m, d, args.settle)
    np.savez(path, **{k: np.array(getattr(d, k), dtype=float) for k in STATE})


def run_alone(engine, n, state, args):
    """`alone` in a fresh process."""
    command = [sys.executable, __file__, "--peer", args.peer, "--cone", args.cone, "--arch", args.arch]
    for name in ("precision", "threads"):
        if getattr(args, name) is not None:
            command += [f"--{name}", str(getattr(args, name))]
    done = subprocess.run([*command, "--alone", engine, str(n), state], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{engine} alone failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def measure(n, args, mujoco):
    """All figures of one pile."""
    import numpy as np
    from shared import golden

    import tisim
    from tisim.cli.simulate import runtime_sync
    from tisim.data.digest import state_hash
    from tisim.device import session

    m, d = load_tisim(n, args)
    tisim.step(m, d, args.settle)
    runtime_sync()
    digest = state_hash(d)
    known, words = golden.verdict((f"pile n={n}", str(args.settle), session.precision, "chosen"), golden.digest(d))
    state = {k: np.array(getattr(d, k), dtype=float) for k in STATE}
    pm, pd = load_peer(mujoco, n, args)
    set_state(pd, state)
    tisim.forward(m, d)
    mujoco.mj_forward(pm, pd)
    figures = dict(
        n=n, nv=m.nv, hash=digest, known=known, golden=words, contacts=int(d.ncon),
        iterations=int(np.max(np.asarray(d.solver_niter), initial=0)),
        peer_contacts=int(pd.ncon), peer_iterations=int(np.max(pd.solver_niter)),
        peer_gradient=objective(mujoco, pm, pd)(pd.qacc.copy())[1],
    )  # fmt: skip
    state["qacc"] = np.array(d.qacc, dtype=float)

    # a step of each in turn
    times, peer_times = [], []
    for _ in range(args.repeats):
        begin = time.perf_counter()
        tisim.step(m, d)
        runtime_sync()
        middle = time.perf_counter()
        mujoco.mj_step(pm, pd)
        end = time.perf_counter()
        times.append(1e3 * (middle - begin))
        peer_times.append(1e3 * (end - middle))
    for prefix, values in (("", times), ("peer_", peer_times)):
        low, _, high = statistics.quantiles(values, n=4)
        figures.update({prefix + "ms": statistics.median(values), prefix + "quartiles": [low, high]})
    figures["ratio"] = figures["peer_ms"] / figures["ms"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.npz")
        np.savez(path, **state)
        names = dict(judge="judge", alone="tisim", peer_alone="peer")
        figures.update({key: run_alone(engine, n, path, args) for key, engine in names.items()})
    j = figures["judge"]
    figures["ok"] = j["contacts"] == figures["contacts"] and j["cost"] <= j["cg_cost"] + SLACK * abs(j["cg_cost"])
    return figures


def show(figures, version):
    """Prints the figures of all piles."""
    print(f"\nmedian of a settled step, tisim against MuJoCo {version} solver=CG, same state, same run")
    print(f"{'bodies':>7} {'contacts':>9} {'tisim ms':>20} {'MuJoCo ms':>20} {'ratio':>6}  hash")
    for f in figures:
        ours, theirs = ("{:.2f} ({:.2f}-{:.2f})".format(f[p + "ms"], *f[p + "quartiles"]) for p in ("", "peer_"))
        print(f"{f['n']:7d} {f['contacts']:9d} {ours:>20} {theirs:>20} {f['ratio']:6.2f}  {f['hash']} ({f['golden']})")
    print("\nthe answer at that state: contacts, objective, scaled gradient, iterations")
    for f in figures:
        j = f["judge"]
        print(f"{f['n']:7d} tisim {f['contacts']:>13} {j['cost']:18.9f} {j['gradient']:9.1e} {f['iterations']:4d}"
              f"   {'ok' if f['ok'] else 'WRONG: other contacts or a higher objective'}")  # fmt: skip
        print(f"{'':7} MuJoCo {j['version']} CG {j['contacts']:>3} {j['cg_cost']:18.9f} {j['cg_gradient']:9.1e} "
              f"{j['cg_iterations']:4d}")  # fmt: skip
        print(f"{'':7} MuJoCo {version} CG {f['peer_contacts']:>3} {'(its own problem)':>18} {f['peer_gradient']:9.1e} "
              f"{f['peer_iterations']:4d}")  # fmt: skip
    print("\nin a process of its own: load s, until the first step s, peak memory MiB")
    for f in figures:
        for name, a in (("tisim", f["alone"]), ("MuJoCo", f["peer_alone"])):
            print(f"{f['n']:7d} {name:6} {a['load_s']:8.2f} {a['first_step_s']:8.2f} {a['peak_mib']:8.0f}")


def main():
    args = parse()
    if args.alone:
        alone(args)
        return
    if args.busy:
        found = [busy.measure(n, args, lambda n, path: write_settled(n, args, path)) for n in args.n]
        for f in found:
            busy.show(f)
        sys.exit(0 if all(f["ok"] for f in found) else 1)
    mujoco = import_peer(args.peer)
    figures = []
    for n in args.n:
        figures.append(measure(n, args, mujoco))
        f = figures[-1]
        print(f"{n} bodies: {f['ms']:.2f} ms, MuJoCo {f['peer_ms']:.2f} ms", flush=True)
    show(figures, mujoco.__version__)
    if args.json:
        machine = dict(cores=os.cpu_count(), mujoco=mujoco.__version__, settle=args.settle, repeats=args.repeats)
        pathlib.Path(args.json).write_text(json.dumps(dict(machine=machine, figures=figures), indent=1) + "\n")
    sys.exit(0 if all(f["ok"] and f["known"] for f in figures) else 1)


if __name__ == "__main__":
    main()
