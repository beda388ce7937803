"""tisim run: simulate, show progress, save what came out."""

import contextlib
import pathlib
import time

import numpy as np

from tisim import scenes
from tisim.data.digest import state_hash
from tisim.device import session
from tisim.device.whole_file import check
from tisim.errors import Error
from tisim.settling.settle import warn_of_overlaps
from tisim.settling.support import inside

from . import draw, state
from . import film as films
from .report import beside, busy, print_json, rows
from .simulate import (
    INTERRUPTED,
    Every,
    advance,
    check_ends,
    check_lengths,
    command,
    forward,
    given,
    load_asked,
    sim_time,
    start_asked,
    steps_of,
    warnings,
    worth,
)

RECORD_FPS, LOG_FPS = 60, 100  # frames of a recording and rows of a log per second where nothing is said


def _energy(d):
    potential, kinetic = np.array(d.energy, float).reshape(-1, 2)[0]
    return dict(potential=potential, kinetic=kinetic)


def sizes(m, d):
    """How large a simulation is."""
    return dict(bodies=m.nbody - 1, nv=m.nv, nworld=d.nworld)


def in_words(r):
    """Bodies and dofs of a result, as a table has them."""
    worlds = f"  in each of {r['nworld']} worlds" if r["nworld"] > 1 else ""
    return f"{r['bodies']}, {r['nv']}{worlds}"


def _sleeping(m, d):
    """How much sleeps, over all worlds; None where nothing may."""
    from tisim.data import asleep

    if not asleep.enabled(m):
        return None
    bodies = m.nbody * d.nworld - int(np.sum(d.nbody_awake))
    return dict(bodies=bodies, trees=m.ntree * d.nworld - int(np.sum(d.ntree_awake)), of_trees=m.ntree * d.nworld)


def most_iterations(d):
    """Solver iterations of the island that took most."""
    niter = np.asarray(d.solver_niter)
    return int(niter.max()) if niter.size else 0


def run(console, asked):
    """tisim run, with its options by the names that they have in app.py. Returns the exit code."""
    progress = beside(console, asked.as_json)
    _check_options(asked)
    began = time.perf_counter()
    m, name = load_asked(asked)
    folder = pathlib.Path(asked.out or pathlib.Path("out") / name)
    path = folder / "state.npz"
    d, steps = _begin(asked, m, path)
    goal = sim_time(d) + steps * float(m.opt.timestep)
    energy0 = _energy(d)
    loaded = time.perf_counter() - began
    with contextlib.ExitStack() as open_files:
        written = _written(open_files, asked, m, d, path, name)
        done, wall, timed, stopped = advance(progress, m, d, steps, watchers=[w for w in written.values() if w])
        kept = forward(m, d)
        state.save(path, m, d, name, kept)  # before what may fail: a film that cannot be finished
        with busy("finishing the files"):
            if written["log"]:
                written["log"].finish()
            open_files.close()
    found = dict(
        scene=name, stopped=stopped, steps=done, load_seconds=loaded, energy_at_start=energy0,
        **_speed(m, d, timed, wall), **_reached(m, d), state=str(path), film=asked.film, log=asked.log,
        recording=asked.record, frames=written["recording"].number if asked.record else 0, picture=None,
    )  # fmt: skip
    if not asked.as_json:
        _print_run(console, found)
    if asked.picture:
        size = draw.parse_size(asked.size)
        found["picture"] = draw.last_picture(progress, m, d, folder / "picture.png", *size, draw.look_of(asked))
    if asked.as_json:
        print_json(found)
    else:
        _print_written(console, written, found)
    if not stopped:
        return 0
    again = _again(asked, path, goal)
    progress.print(f"stopped at {sim_time(d):.3f} s; go on with: {again}", style="yellow", soft_wrap=True)
    return INTERRUPTED


def _check_options(asked):
    """Refuses options that do not go together, before anything is loaded."""
    check_lengths(asked.seconds, asked.until, asked.steps, positive=True)
    _check_positive({"--save-every": asked.save_every, "--record-fps": asked.record_fps, "--log-fps": asked.log_fps})
    _check_named(asked)
    if asked.film is not None:
        films.require(asked.film, _film_size(asked))
    draw.parse_size(asked.size)


def _film_size(asked):
    return draw.parse_size(asked.size) if asked.size else films.SIZE


def _begin(asked, m, path):
    """(Data, steps to take) of a run whose state will be saved to `path`; its files are looked at first."""
    import tisim

    model = asked.source if pathlib.Path(asked.source).is_file() else None
    written = {"--film": asked.film, "--record": asked.record, "--log": asked.log}
    _check_apart({"the model": model, "the state": path} | written)
    _check_apart({"--from": asked.saved} | written)  # the state itself may go on in its file
    if asked.resume and asked.saved:
        raise Error("--resume and --from exclude each other")
    saved = str(path) if asked.resume and path.is_file() else asked.saved
    m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_ENERGY)
    d = start_asked(m, asked, saved)
    steps = asked.steps
    if asked.resume:
        steps = _rest(m, d, asked)
    elif steps is None:
        default = scenes.SECONDS if saved else worth(asked.source, asked.n, asked.param)
        steps = steps_of(m, d, asked.seconds, asked.until, default)
    draw.check_drawn(draw.look_of(asked), m, d)
    check(path, "state")
    forward(m, d)
    if not saved:
        warn_of_overlaps(inside(m, d))
    return d, steps


def _written(open_files, asked, m, d, path, name):
    """What is written while steps are taken: state, film, recording and log, None for what nobody asked for."""
    h = float(m.opt.timestep)
    written = dict.fromkeys(("state", "film", "recording", "log"))
    if asked.save_every:
        written["state"] = Every(
            asked.save_every, h, lambda m, d: state.save(path, m, d, name, forward(m, d)), "saved", 1
        )
    if asked.film:
        written["film"] = films.Film(asked.film, _film_size(asked), asked.fps, h, **draw.look_of(asked))
        open_files.callback(written["film"].close)
    if asked.record:
        written["recording"] = _frames(open_files, m, d, asked, h)
    if asked.log:
        written["log"] = _log(open_files, m, d, asked, h)
    return written


def _print_written(console, written, found):
    for name in ("film", "recording", "log"):
        if written[name]:
            console.print(f" {name:<16}{found[name]}: {written[name].note}", highlight=False, soft_wrap=True)


def _again(asked, path, goal):
    """The command that goes on from a run that was stopped."""
    return command(
        "run", asked.source, n=asked.n, param=asked.param, sleep=asked.sleep, from_=path, time=f"{goal:.12g}",
        out=asked.out, arch=given(asked.arch, "auto"), precision=asked.precision, threads=asked.threads,
        no_picture=not asked.picture, size=asked.size, camera=asked.camera or None, color=given(asked.color, "geom"),
        contacts=asked.contacts, chains=asked.chains, world=given(asked.world, 0),
        quality=given(asked.quality, "sky"), lamps=asked.lamps, dynamics=asked.dynamics, save_every=asked.save_every,
    )  # fmt: skip


def _check_named(asked):
    """Refuses what belongs to a film, recording or log without one, and a recording that no command would open."""
    for name, some, file, of in (("--fps", asked.fps is not None, asked.film, "--film"),
                                 ("--record-fps", asked.record_fps is not None, asked.record, "--record"),
                                 ("--log-fps", asked.log_fps is not None, asked.log, "--log"),
                                 ("--record-forces", asked.record_forces, asked.record, "--record"),
                                 ("--record-solver", asked.record_solver, asked.record, "--record"),
                                 ("--log-state", asked.log_state, asked.log, "--log")):  # fmt: skip
        if some and file is None:
            raise Error(f"{name} belongs to {of}")
    if asked.record is not None and pathlib.Path(asked.record).suffix.lower() != ".npz":
        raise Error(f"--record {asked.record}: expected a name ending in .npz")


def _check_positive(values):
    """Refuses {option: number} that is there and not positive."""
    for name, value in values.items():
        if value is not None and not (np.isfinite(value) and value > 0):
            raise Error(f"{name} {value}: must be positive")


def _speed(m, d, steps, wall):
    """How fast so many steps were, which took `wall` seconds; None where there were none."""
    h = float(m.opt.timestep)
    return dict(
        timestep=h, real_time_factor=steps * h * d.nworld / wall if wall else None,
        ms_per_step=wall / steps * 1e3 if wall else None,
    )  # fmt: skip


def _reached(m, d):
    """What a simulation is, and where it stands behind a forward."""
    return dict(
        **sizes(m, d), time=sim_time(d), contacts=int(np.sum(d.ncon)), rows=d.nefc, islands=d.nisland,
        sleeping=_sleeping(m, d), most_solver_iterations=most_iterations(d), energy=_energy(d), warnings=warnings(d),
        arch=session.arch, precision=session.precision, dynamics=m.opt.dynamics, state_hash=state_hash(d),
    )  # fmt: skip


def _check_apart(files):
    """Refuses two of {what: file} that are one file: what is written last would take the place of the other."""
    seen = {}
    for what, file in files.items():
        if not file:
            continue
        other = seen.setdefault(pathlib.Path(file).resolve(), what)
        if other != what:
            raise Error(f"{what} {file}: this is the file of {other}, too; give another one")


def _frames(open_files, m, d, asked, timestep):
    """What writes the recording."""
    from tisim.recording.recorder import Recorder

    recorder = Recorder(asked.record, m, d, solver=asked.record_solver, forces=asked.record_forces)
    open_files.callback(recorder.close)
    return Every(1 / (asked.record_fps or RECORD_FPS), timestep, lambda m, d: recorder.add(), "frames")


class _Rows:
    """Rows of a Log every so many seconds: a row is begun before a step, and ended behind it."""

    def __init__(self, log, period, timestep):
        self._log, self._period, self._timestep = log, max(period, timestep), timestep
        self._due, self._begun = 0, None

    def next_step(self):
        """After how many steps there is something to do."""
        return self._step() if self._begun is None else self._begun + 1

    def _step(self):
        return round(self._due * self._period / self._timestep)

    def add(self, m, d):
        """Ends the row that was begun, or begins the next one."""
        if self._begun is not None:
            self._log.end()
            self._begun = None
            return
        self._begun = self._step()
        self._due += 1
        self._log.begin()

    def finish(self):
        """Ends the last row, after a forward."""
        if self._begun is not None:
            self._log.end()

    @property
    def note(self):
        """What the progress bar shows of it."""
        return f"{self._log.number} rows"


def _log(open_files, m, d, asked, timestep):
    """What writes the log."""
    from tisim.recording.log import Log

    out = open_files.enter_context(Log(asked.log, m, d, asked.world, asked.log_state))
    return _Rows(out, 1 / (asked.log_fps or LOG_FPS), timestep)


def _rest(m, d, asked):
    """Steps that are left of a run of so many, or so long, from time 0 on."""
    h = float(m.opt.timestep)
    default = worth(asked.source, asked.n, asked.param)
    check_ends("--time" if asked.until else "--seconds", asked.until or asked.seconds, h)
    whole = asked.steps if asked.steps is not None else max(1, round((asked.until or asked.seconds or default) / h))
    return max(0, whole - round(sim_time(d) / h))


def _print_run(console, r):
    start, end = r["energy_at_start"], r["energy"]
    rows(console, f"{r['scene']}{' (stopped early)' if r['stopped'] else ''}", [
        ("bodies, dofs", in_words(r)),
        ("simulated", f"{r['steps']} steps of {r['timestep'] * 1e3:g} ms, to {r['time']:.3f} s"),
        ("speed", f"{r['real_time_factor']:.2f} x real time, {r['ms_per_step']:.2f} ms a step"
                  if r["ms_per_step"] else "-"),
        ("load, compile", f"{r['load_seconds']:.1f} s"),
        ("contacts, rows", f"{r['contacts']}, {r['rows']}"),
        ("islands", f"{r['islands']}, most solver iterations {r['most_solver_iterations']}"),
        *([("asleep", f"{r['sleeping']['bodies']} of {r['bodies'] * r['nworld']} bodies, "
                      f"{r['sleeping']['trees']} of {r['sleeping']['of_trees']} trees")] if r["sleeping"] else []),
        ("energy", f"potential {end['potential']:.5g} J, kinetic {end['kinetic']:.5g} J "
                   f"(at the start {sum(start.values()):.5g} J)"),
        ("warnings", ", ".join(f"{k} {v} times" for k, v in r["warnings"].items()) or "none"),
        ("backend", f"{r['arch']}, {r['precision']}"),
        ("state hash", r["state_hash"]),
        ("saved", r["state"]),
    ])  # fmt: skip
