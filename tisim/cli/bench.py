"""tisim bench: the time of a step, where it goes, and MuJoCo's beside it."""

import contextlib
import itertools
import pathlib
import time

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import tisim
from tisim import scenes
from tisim.data import groups, timer
from tisim.data.digest import state_hash
from tisim.device import clock, memory, session, team
from tisim.enums import mjtSolver, mjtTimer
from tisim.errors import Error

from . import peer, report
from .run import in_words, most_iterations, sizes
from .simulate import (
    INTERRUPTED,
    Stopper,
    advance,
    check_ends,
    check_lengths,
    forward,
    load_asked,
    parse_params,
    runtime_sync,
    start_asked,
    steps_of,
)

SETTLE = 350  # steps before a measurement that starts from the beginning
TURN = 2e-2  # wall time that each engine gets at least before it is the other's turn, which empties its caches [s]
COUNTS = ("pairs", "contacts", "rows", "islands", "rounds", "products", "spins")


class Bar:
    """A bar of progress on a terminal, and the ear for Ctrl-C: the first one sets `stopped`."""

    def __init__(self, console):
        columns = TextColumn("{task.description}"), BarColumn(40), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._stopper = Stopper()

    def __enter__(self):
        self._stopper.__enter__()
        self._bar.__enter__()
        return self

    def __exit__(self, *what):
        self._bar.__exit__(*what)
        self._stopper.__exit__(*what)

    @property
    def stopped(self):
        return self._stopper.asked

    def over(self, label, total):
        """0, 1, ... total - 1, until Ctrl-C."""
        task = self._bar.add_task(label, total=total)
        for i in range(total):
            if self.stopped:
                return
            yield i
            self._bar.update(task, completed=i + 1)
        self._bar.remove_task(task)

    def label(self, words):
        """Says what is done, without an end in sight."""
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._bar.add_task(words, total=None)


def bench(console, asked):
    """tisim bench, with its options by their names. Returns the exit code."""
    _check(asked)
    began = time.perf_counter()
    m, name = load_asked(asked)
    progress = report.beside(console, asked.as_json)
    if asked.compare:
        peer.find(asked.peer)  # before anything that takes time
    d = start_asked(m, asked)
    settle = asked.settle
    if settle is None:
        some = asked.seconds is not None or asked.until is not None or asked.saved
        settle = steps_of(m, d, asked.seconds, asked.until) if some else SETTLE
    with report.busy("evaluating the state"):
        tisim.forward(m, d)
    loaded = time.perf_counter() - began
    if advance(progress, m, d, settle, "settling")[3]:
        raise KeyboardInterrupt
    found = dict(scene=name, settle=settle, repeats=asked.repeats, **sizes(m, d), arch=session.arch,
                 precision=session.precision, dynamics=m.opt.dynamics, load_seconds=loaded,
                 hash_after_settling=state_hash(d))  # fmt: skip
    state = tisim.get_state(m, d)
    with Bar(progress) as bar:
        found |= _compare(m, d, bar, asked) if asked.compare else measure(m, d, bar, asked.repeats)
        if not found.get("repeats"):
            raise KeyboardInterrupt
        tisim.set_state(m, d, state)
        found |= _profile(m, d, bar, found["repeats"])
        found["stopped"] = bar.stopped
    found["memory"] = {group: dict(bytes=size, arrays=n) for group, (size, n) in groups.memory(m, d).items()}
    if asked.as_json:
        report.print_json(found)
    else:
        _print(console, found, asked.kernels)
    return INTERRUPTED if found["stopped"] else 0


def _check(asked):
    """Refuses what does not go together."""
    if (asked.settle is not None and asked.settle < 0) or asked.repeats < 1:
        raise Error("--settle must not be negative and --repeats must be positive")
    if asked.settle is not None and (asked.seconds is not None or asked.until is not None):
        raise Error("--settle excludes --seconds and --time")
    check_lengths(asked.seconds, asked.until)
    check_ends("--settle", asked.settle)
    check_ends("--repeats", asked.repeats)
    if asked.compare and asked.nworld not in (None, 1):
        raise Error("--compare steps one world: leave --nworld out")
    if asked.compare and asked.dynamics == "lcp":
        raise Error("--compare judges answers of the convex dynamics: leave --dynamics lcp out")
    if asked.compare and str(asked.source).endswith(".npz"):
        raise Error("--compare needs a model that MuJoCo can read, too: a scene, or a file of MJCF or URDF")
    if not asked.limit > 0:
        raise Error(f"--limit {asked.limit}: must be positive")


def measure(m, d, bar, repeats):
    """Times of single steps."""
    times = []
    for _ in bar.over("measuring", repeats):
        before = time.perf_counter()
        tisim.step(m, d)
        runtime_sync()
        times.append(1e3 * (time.perf_counter() - before))
    return dict(repeats=len(times), steps_per_turn=1) | _times(m, d, times) | dict(hash_at_end=state_hash(d))


def _times(m, d, times):
    """Quantiles of times in ms."""
    if not times:
        return {}
    low, median, high = np.percentile(times, (10, 50, 90))
    factor = float(m.opt.timestep) * 1e3 / median * d.nworld
    return dict(median_ms=median, ms_10_percent=low, ms_90_percent=high, real_time_factor=factor)


def _compare(m, d, bar, asked):
    """Times of tisim's steps and MuJoCo's in turn, by its best solver, and what both answer at the state at hand."""
    bar.label("starting MuJoCo")
    file = pathlib.Path(asked.source)
    text = file if file.is_file() else scenes.build(asked.source, **parse_params(asked.source, asked.n, asked.param))
    with peer.beside(m, d, text, asked.peer, lambda: bar.stopped) as (theirs, judge, place):
        solvers = peer.choose(theirs, place, asked.limit, lambda s: bar.label(f"MuJoCo's solver {s}"))
        best = solvers[0]
        kept = forward(m, d)
        bar.label("judging")
        answers = peer.judge((theirs, judge), place, np.asarray(d.qacc), int(d.ncon), best)
        tisim.set_state(m, d, kept)
        version = theirs.ask("begin", None, solver=best["solver"])["version"]
        turn, times, peer_times = 1, [], []
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C while MuJoCo takes a long step
            for i in bar.over(f"tisim and MuJoCo {version} in turn", asked.repeats + 1):
                before = time.perf_counter()
                tisim.step(m, d, turn)
                runtime_sync()
                took = (time.perf_counter() - before) / turn
                peer_ms = theirs.ask("step", None, n=turn)["ms"]
                if i == 0:  # it tells how many steps a turn has, and does not count
                    turn = max(1, int(np.ceil(TURN / max(min(took, 1e-3 * peer_ms), 1e-7))))
                    continue
                times.append(1e3 * took)
                peer_times.append(peer_ms)
    found = dict(repeats=len(times), steps_per_turn=turn) | _times(m, d, times) | dict(hash_at_end=state_hash(d))
    if times:
        low, median, high = np.percentile(peer_times, (10, 50, 90))
        found["mujoco"] = dict(
            version=version, solver=best["solver"], median_ms=median, ms_10_percent=low, ms_90_percent=high,
            ratio=median / found["median_ms"], iterations=best["iterations"], solvers=solvers, answers=answers,
        )  # fmt: skip
    return found


def _profile(m, d, bar, repeats):
    """Times by timer, kernel and stage, and what there was to do: means over steps from the state at hand."""
    counted, steps, most = dict.fromkeys(COUNTS, 0), 0, 0
    d.timer.on = True
    try:
        tisim.step(m, d)  # records of its stages are made
        d.timer.clear()
        for _ in itertools.chain([0], bar.over("timing the stages", repeats - 1)):  # one even after Ctrl-C
            tisim.step(m, d)
            steps += 1
            most = max(most, most_iterations(d))
            for key, value in _counts(d).items():
                counted[key] += value
        pieces, duration = d.timer.pieces(), d.timer.duration
    finally:
        d.timer.on = False
    each = 1e3 / max(1, steps)
    launches = {key: n / max(1, steps) for key, (_, n) in pieces.items() if key[1] not in (clock.PYTHON, clock.END)}
    stages = []
    for t in mjtTimer:
        if t != mjtTimer.mjNTIMER:
            number = sum(x for key, x in launches.items() if t == 0 or t in timer.timers_of(*key))
            stages.append(dict(timer=t.name, ms=each * duration[t], launches=number))
    return dict(
        stages=stages, python_ms=each * sum(s for (_, what), (s, _) in pieces.items() if what == clock.PYTHON),
        kernels=[dict(stage=key[0], kernel=key[1], timer=timer.timer_of(*key).name, ms=each * pieces[key][0],
                      launches=number) for key, number in launches.items()],
        launches=sum(launches.values()), workers=session.workers if session.arch == "cpu" else None,
        **{key: value / max(1, steps) for key, value in counted.items()}, most_solver_iterations=most,
    )  # fmt: skip


def _counts(d):
    """What the last step had to do: COUNTS."""
    cpu, n = session.arch == "cpu", d.count("nisland")
    newton = cpu and d.model.opt.solver == mjtSolver.mjSOL_NEWTON
    looked, products = memory.host_view(d.device("team")), d.island_nproduct[...].reshape(-1)[:n].sum()
    return dict(
        pairs=d.count("ncpair"), contacts=d.count("ncon"), rows=d.nefc, islands=d.nisland,
        rounds=int(d.solver_niter.sum()), products=int(products) if newton else np.nan,
        spins=int(team.spins(looked).sum()) if cpu else np.nan,
    )  # fmt: skip


def _print(console, r, kernels):
    """The tables."""
    turns = f", in turns of {r['steps_per_turn']}" if r["steps_per_turn"] > 1 else ""
    lines = [("step", f"{r['median_ms']:.3f} ms median, {r['ms_10_percent']:.3f} to {r['ms_90_percent']:.3f} ms "
                      f"(10 % to 90 %){turns}")]  # fmt: skip
    lines += _compared(r["mujoco"]) if "mujoco" in r else []
    report.rows(console, f"{r['scene']}: {r['repeats']} steps after {r['settle']}"
                         f"{' (stopped early)' if r['stopped'] else ''}", [
        *lines,
        ("speed", f"{r['real_time_factor']:.2f} x real time"),
        ("bodies, dofs", in_words(r)),
        ("pairs", f"{r['pairs']:.0f}, {r['contacts']:.0f} contacts, {r['rows']:.0f} rows of constraints"),
        ("islands", f"{r['islands']:.0f}, {r['rounds']:.1f} rounds of the solver in all, {r['most_solver_iterations']} "
                    "at most in one"),
        ("products", f"{r['products']:.1f} with the Hessian" if np.isfinite(r["products"]) else "not counted here"),
        ("workers", f"{r['workers']}, {r['spins']:.0f} looks in vain" if r["arch"] == "cpu" else "-"),
        ("load, compile", f"{r['load_seconds']:.1f} s"),
        ("backend", f"{r['arch']}, {r['precision']}"),
        ("hash", f"{r['hash_after_settling']} after {r['settle']} steps, {r['hash_at_end']} at the end"),
    ])  # fmt: skip
    report.table(console, "where it goes, each step", ("stage", "ms", "%", "launches"), _stages(r, kernels))
    report.table(console, "memory", ("arrays of", "MiB", "arrays"), [
        *((group, f"{g['bytes'] / 2**20:.2f}", g["arrays"]) for group, g in r["memory"].items()),
        ("all", f"{sum(g['bytes'] for g in r['memory'].values()) / 2**20:.2f}",
         sum(g["arrays"] for g in r["memory"].values())),
    ])  # fmt: skip


def _compared(theirs):
    """Lines on MuJoCo."""
    answers, best = theirs["answers"], theirs["solvers"][0]
    judge, ours, own = answers["judge"], answers["tisim"], answers["mujoco"]
    where = f"problem of MuJoCo {judge['version']}, {judge['contacts']} contacts"
    fault = "" if answers["equal"] else f": NOT AS GOOD, or other contacts ({ours['contacts']})"

    def words(cost, gradient):
        return f"objective {cost:.9g}, scaled gradient {gradient:.1e}"

    others = [f"{s['solver']} {s['ms']:.3f} ms" if s["ms"] else f"{s['solver']} above {s['limit']:g} s"
              for s in theirs["solvers"][1:]]  # fmt: skip
    lines = [
        ("MuJoCo", f"{theirs['median_ms']:.3f} ms median, {theirs['ms_10_percent']:.3f} to "
                   f"{theirs['ms_90_percent']:.3f} ms: {theirs['version']}, {theirs['solver']}, the best of its "
                   f"solvers here ({', '.join(others)})"),
        ("ratio", f"{theirs['ratio']:.2f}: MuJoCo's time over tisim's"),
        ("tisim's answer", f"{words(ours['cost'], ours['gradient'])} in the {where}{fault}"),
        ("MuJoCo's answer", f"{words(judge['cost'], judge['gradient'])} by its {judge['solver']} there"),
    ]  # fmt: skip
    if judge["version"] != theirs["version"]:
        there = f"{words(own['own_cost'], own['own_gradient'])} in its own problem, {peer.how_it_differs(judge, best)}"
        if own["cost"] is not None:
            there = words(own["cost"], own["gradient"]) + " there"
        lines.append((f"{theirs['version']}'s answer", there))
    return lines


def _stages(r, kernels):
    """Rows of the table of stages: timers below what they are parts of, and their kernels."""
    rows = {row["timer"]: row for row in r["stages"]}
    whole = max(rows["mjTIMER_STEP"]["ms"], 1e-12)
    out = []

    def add(t, depth):
        row = rows[t.name]
        name = t.name.removeprefix("mjTIMER_").lower()
        if row["ms"] or row["launches"]:
            out.append(_row(depth, name, row, whole))
            if kernels:
                out.extend(_row(depth + 1, k["kernel"], k, whole) for k in r["kernels"] if k["timer"] == t.name)
            for part in [p for p, parent in timer.PARENT.items() if parent == t]:
                add(part, depth + 1)

    add(mjtTimer.mjTIMER_STEP, 0)
    out.append(("Python", f"{r['python_ms']:.4f}", f"{100 * r['python_ms'] / whole:.1f}", ""))
    return out


def _row(depth, name, row, whole):
    return "  " * depth + name, f"{row['ms']:.4f}", f"{100 * row['ms'] / whole:.1f}", f"{row['launches']:.1f}"
