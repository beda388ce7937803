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
    load,
    sim_time,
    start,
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


def run(console, source, n, param, sleep, dynamics, seconds, until, steps, out, saved, resume, save_every, arch,
        precision, threads, nworld, picture, film, fps, record, log, size, look, as_json):  # fmt: skip
    """tisim run. Returns the exit code.

    look    camera, color, show_contacts, world, chains, quality and lamps of pictures.
    record  file, fps, forces and solver of a recording;  log  file, fps and state of a log.
    """
    import tisim

    progress = beside(console, as_json)
    check_lengths(seconds, until, steps, positive=True)
    _check_positive({"--save-every": save_every, "--record-fps": record["fps"], "--log-fps": log["fps"]})
    _check_named(record, log, film, fps)
    width, height = draw.parse_size(size)
    if film is not None:
        films.require(film, (width, height) if size else films.SIZE)
    began = time.perf_counter()
    m, name = load(source, n, param, sleep, dynamics)
    folder = pathlib.Path(out or pathlib.Path("out") / name)
    path = folder / "state.npz"
    model = source if pathlib.Path(source).is_file() else None
    written = {"--film": film, "--record": record["file"], "--log": log["file"]}
    _check_apart({"the model": model, "the state": path} | written)
    _check_apart({"--from": saved} | written)  # the state itself may go on in its file
    if resume and saved:
        raise Error("--resume and --from exclude each other")
    if resume and path.is_file():
        saved = str(path)
    m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_ENERGY)
    d = start(m, arch, precision, threads, nworld, saved)
    if resume:
        steps = _rest(m, d, seconds, until, steps, worth(source, n, param))
    elif steps is None:
        steps = steps_of(m, d, seconds, until, scenes.SECONDS if saved else worth(source, n, param))
    goal = sim_time(d) + steps * float(m.opt.timestep)
    draw.check_drawn(look, m, d)
    check(path, "state")
    forward(m, d)
    if not saved:
        warn_of_overlaps(inside(m, d))
    energy0 = _energy(d)
    loaded = time.perf_counter() - began
    h = float(m.opt.timestep)
    with contextlib.ExitStack() as open_files:
        saver = save_every and Every(
            save_every, h, lambda m, d: state.save(path, m, d, name, forward(m, d)), "saved", 1
        )
        movie = film and films.Film(film, (width, height) if size else films.SIZE, fps, h, **look)
        if movie:
            open_files.callback(movie.close)
        frames = _frames(open_files, m, d, record, h)
        rows_of = _log(open_files, m, d, log, h, look["world"])
        watchers = [watcher for watcher in (saver, movie, frames, rows_of) if watcher]
        done, wall, timed, stopped = advance(progress, m, d, steps, watchers=watchers)
        kept = forward(m, d)
        state.save(path, m, d, name, kept)  # before what may fail: a film that cannot be finished
        with busy("finishing the files"):
            if rows_of:
                rows_of.finish()
            open_files.close()
    found = dict(
        scene=name, stopped=stopped, steps=done, load_seconds=loaded, energy_at_start=energy0,
        **_speed(m, d, timed, wall), **_reached(m, d), state=str(path), film=film, log=log["file"],
        recording=record["file"], frames=frames.number if frames else 0, picture=None,
    )  # fmt: skip
    if not as_json:
        _print_run(console, found)
    if picture:
        found["picture"] = draw.last_picture(progress, m, d, folder / "picture.png", width, height, look)
    if as_json:
        print_json(found)
    else:
        for label, file, watcher in (("film", film, movie), ("recording", record["file"], frames),
                                     ("log", log["file"], rows_of)):  # fmt: skip
            if watcher:
                console.print(f" {label:<16}{file}: {watcher.note}", highlight=False, soft_wrap=True)
    if not stopped:
        return 0
    again = command("run", source, n=n, param=param, sleep=sleep, from_=path, time=f"{goal:.12g}",
                    out=out, arch=given(arch, "auto"), precision=precision, threads=threads, no_picture=not picture,
                    size=size, camera=look["camera"], color=given(look["color"], "geom"),
                    contacts=look["show_contacts"], chains=look["chains"], world=given(look["world"], 0),
                    quality=given(look["quality"], "sky"), lamps=look["lamps"], dynamics=dynamics,
                    save_every=save_every)  # fmt: skip
    progress.print(f"stopped at {sim_time(d):.3f} s; go on with: {again}", style="yellow", soft_wrap=True)
    return INTERRUPTED


def _check_named(record, log, film, fps):
    """Refuses what belongs to a film, recording or log without one, and a recording that no command would open."""
    for name, asked, file, of in (("--fps", fps is not None, film, "--film"),
                                  ("--record-fps", record["fps"] is not None, record["file"], "--record"),
                                  ("--log-fps", log["fps"] is not None, log["file"], "--log"),
                                  ("--record-forces", record["forces"], record["file"], "--record"),
                                  ("--record-solver", record["solver"], record["file"], "--record"),
                                  ("--log-state", log["state"], log["file"], "--log")):  # fmt: skip
        if asked and file is None:
            raise Error(f"{name} belongs to {of}")
    if record["file"] is not None and pathlib.Path(record["file"]).suffix.lower() != ".npz":
        raise Error(f"--record {record['file']}: expected a name ending in .npz")


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


def _frames(open_files, m, d, record, timestep):
    """What writes the recording, None where none is asked for."""
    if not record["file"]:
        return None
    from tisim.recording.recorder import Recorder

    recorder = Recorder(record["file"], m, d, solver=record["solver"], forces=record["forces"])
    open_files.callback(recorder.close)
    return Every(1 / (record["fps"] or RECORD_FPS), timestep, lambda m, d: recorder.add(), "frames")


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


def _log(open_files, m, d, log, timestep, world):
    """What writes the log, None where none is asked for."""
    if not log["file"]:
        return None
    from tisim.recording.log import Log

    out = open_files.enter_context(Log(log["file"], m, d, world, log["state"]))
    return _Rows(out, 1 / (log["fps"] or LOG_FPS), timestep)


def _rest(m, d, seconds, until, steps, default):
    """Steps that are left of a run of so many, or so long, from time 0 on."""
    h = float(m.opt.timestep)
    check_ends("--time" if until else "--seconds", until or seconds, h)
    whole = steps if steps is not None else max(1, round((until or seconds or default) / h))
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
