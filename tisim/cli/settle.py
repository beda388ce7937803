"""tisim settle: until all is at rest."""

import pathlib
import time

import numpy as np
from rich.progress import Progress, SpinnerColumn, TextColumn

from tisim.data.digest import state_hash
from tisim.device.whole_file import check
from tisim.errors import Error

from . import state
from .report import beside, print_json, rows
from .simulate import (
    INTERRUPTED,
    Stopper,
    Told,
    check_ends,
    check_lengths,
    check_number,
    command,
    given,
    load,
    sim_time,
    start_asked,
    steps_of,
    warnings,
)

UNSETTLED = Told(1)  # exit code when the time is out
TIMEOUT = 30.0  # simulated time at most where nothing is said [s]
SHOWN = 10  # so many bodies are named


def settle(console, asked):
    """tisim settle, with its options by their names. Returns the exit code."""
    import tisim

    progress = beside(console, asked.as_json)
    corners = _checked(asked)
    m, name = load(asked.source, asked.n, asked.param, sleep=True, dynamics=asked.dynamics)
    check_ends("--timeout", asked.timeout, float(m.opt.timestep))
    d = start_asked(m, asked)
    timeout = TIMEOUT if asked.timeout is None else asked.timeout
    if asked.until is not None:
        timeout = steps_of(m, d, None, asked.until) * float(m.opt.timestep)
    path = pathlib.Path(asked.out or pathlib.Path("out") / name / "settled.npz")
    check(path, "state")
    for file in filter(None, (asked.support, asked.forces)):
        check(file, folder=False)
    goal = sim_time(d) + timeout
    bar = Progress(SpinnerColumn(), TextColumn("settling  {task.fields[note]}"), console=progress, transient=True,
                   disable=not progress.is_terminal)  # fmt: skip
    began = time.perf_counter()
    with Stopper() as stopper, bar:
        task = bar.add_task("", note="")

        def show(at, awake):
            bar.update(task, note=f"t {at:.2f} s  {awake} of {m.ntree * d.nworld} trees awake")
            return stopper.asked

        found = tisim.settle(m, d, timeout, asked.below, corners, asked.tolerance, show)
    state.save(path, m, d, name, tisim.get_state(m, d))
    for file, columns in ((asked.support, found.support), (asked.forces, found.forces)):
        if file:
            columns.to_csv(file)
    r = dict(
        scene=name, stopped=stopper.asked and not found.settled, **_found(m, d, found),
        tolerance=float(m.opt.sleep_tolerance) if asked.tolerance is None else asked.tolerance,
        wall_seconds=time.perf_counter() - began, state=str(path), support=asked.support, forces=asked.forces,
    )  # fmt: skip
    if asked.as_json:
        print_json(r)
    else:
        _print(console, r)
    if r["stopped"]:
        again = _again(asked, path, goal)
        progress.print(f"stopped at {sim_time(d):.3f} s; go on with: {again}", style="yellow", soft_wrap=True)
    return INTERRUPTED if r["stopped"] else 0 if found.settled else UNSETTLED


def _checked(asked):
    """The corners of --box, None without it. Refuses options that are nonsense, before anything is loaded."""
    if None not in (asked.timeout, asked.until):
        raise Error("--timeout, or --seconds, and --time exclude each other")
    check_lengths(None, asked.until)
    for option, value in (("--timeout", asked.timeout), ("--below", asked.below), ("--tolerance", asked.tolerance)):
        check_number(option, value)
        if value is not None and value < 0 and option != "--below":
            raise Error(f"{option} {value}: must not be negative")
    return _corners(asked.box)


def _found(m, d, found):
    """What was found, and where the simulation stands."""
    deepest = found.deepest
    return dict(
        settled=found.settled, bodies=m.nbody - 1, nworld=d.nworld, fastest=_fastest(m, d, found.moving),
        time=sim_time(d), simulated=found.time, steps=found.steps, moving=_named(m, found.moving),
        waiting=_named(m, found.waiting), left=_named(m, found.left),
        deepest=float(deepest.depth[0]) if len(deepest) else 0.0,
        deepest_pair=_named(m, [(w, b) for w, *pair in zip(deepest.world, deepest.body1, deepest.body2) for b in pair]),
        resting=len(found.support), warnings=warnings(d), dynamics=m.opt.dynamics, state_hash=state_hash(d),
    )  # fmt: skip


def _again(asked, path, goal):
    """The command that goes on from where it was stopped."""
    return command("settle", asked.source, n=asked.n, param=asked.param, dynamics=asked.dynamics, from_=path,
                   time=f"{goal:.12g}", below=asked.below, box=asked.box, tolerance=asked.tolerance, out=asked.out,
                   support=asked.support, forces=asked.forces, arch=given(asked.arch, "auto"),
                   precision=asked.precision, threads=asked.threads)  # fmt: skip


def _corners(text):
    if not text:
        return None
    try:
        values = [float(v) for v in text.split(",")]
    except ValueError:
        values = []
    if len(values) != 6:
        raise Error(f"--box {text}: expected six numbers X,Y,Z,X,Y,Z")
    if not all(low <= high < np.inf for low, high in zip(values[:3], values[3:])) or -np.inf in values:
        raise Error(f"--box {text}: expected two corners X,Y,Z,X,Y,Z of finite numbers, the lower one first")
    return values[:3], values[3:]


def _fastest(m, d, places):
    """The largest velocity of trees, by the measure of the sleep flag [m/s]."""
    speed = np.abs(d.host("qvel").reshape(d.nworld, m.nv)) * np.asarray(m.dof_length)
    tree = np.asarray(m.body_treeid)
    return max((float(speed[w, np.asarray(m.dof_treeid) == tree[b]].max()) for w, b in places), default=0.0)


def _named(m, places):
    """Bodies by name, or number where they have none."""
    return [dict(world=int(w), body=m.id2name("body", int(b)) or int(b)) for w, b in places]


def _word(body):
    return f"body {body['body']}" if isinstance(body["body"], int) else body["body"]


def _words(bodies):
    few = ", ".join(map(_word, bodies[:SHOWN]))
    return f"{len(bodies)}: {few}{', ...' * (len(bodies) > SHOWN)}" if bodies else "none"


def _with_them(r):
    n = 0 if r["settled"] else len(r["waiting"])
    return f"; {n} more {'is' if n == 1 else 'are'} at rest, awake with what moves" if n else ""


def _print(console, r):
    words = "settled" if r["settled"] else "stopped" if r["stopped"] else "has not settled"
    rows(console, f"{r['scene']} {words}", [
        ("bodies", f"{r['bodies']}" + (f"  in each of {r['nworld']} worlds" if r["nworld"] > 1 else "")),
        ("simulated", f"{r['steps']} steps, {r['simulated']:.3f} s, in {r['wall_seconds']:.1f} s"),
        ("still moving", _words(r["moving"]) + _with_them(r)),
        *([("fastest", f"{r['fastest']:.3g} m/s; at rest is what is below {r['tolerance']:g} (--tolerance)")]
          if r["moving"] else []),
        ("left the scene", _words(r["left"])),
        ("deepest", f"{r['deepest'] * 1e3:.4g} mm: {' and '.join(map(_word, r['deepest_pair']))}"
                    if r["deepest"] else "nothing touches"),
        ("resting on", f"{r['resting']} pairs of bodies" + (f": {r['support']}" if r["support"] else "")),
        ("warnings", ", ".join(f"{k} {v} times" for k, v in r["warnings"].items()) or "none"),
        ("state hash", r["state_hash"]),
        ("saved", r["state"]),
    ])  # fmt: skip
