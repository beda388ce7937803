"""What the commands that simulate share: a model by its name, a Data in a saved state, steps under a bar."""

import pathlib
import shlex
import signal
import time

import numpy as np
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from tisim import scenes
from tisim.device import garbage, memory, session
from tisim.errors import Error, brief
from tisim.mjcf.format.names import nearest

from . import quiet, state
from .report import busy

SUFFIXES = (".xml", ".mjcf", ".urdf", ".npz")
REFRESH = 0.15  # wall time between two updates of the progress bar [s]


class Told(int):
    """An exit code whose reason has been printed."""


INTERRUPTED = Told(130)  # after Ctrl-C


def parse_params(name, n, texts):
    """Parameters of a scene from --n and KEY=VALUE texts."""
    known, values = scenes.params(name), {}
    if n is not None:
        if "n" not in known:
            raise Error(f"scene {name} has no size --n; it takes {', '.join(known)}")
        values["n"] = n
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign:
            raise Error(f"--param {text}: expected KEY=VALUE")
        kind = type(known.get(key, ""))
        try:
            if kind is bool:
                value = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[value.lower()]
            values[key] = kind(value)
        except (ValueError, KeyError):
            raise Error(f"--param {text}: expected a value like {known[key]!r}") from None
    return values


def load(source, n=None, params=(), sleep=False, dynamics=None):
    """Model and a short name of a scene or file.

    sleep  sets the flag by which bodies at rest sleep;  dynamics  sets m.opt.dynamics, None: as the model has it.
    """
    import tisim

    with busy(f"compiling {source}"):
        m, name = _load(source, n, params)
    if sleep:
        m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_SLEEP)
    if dynamics is not None:
        m.opt.dynamics = dynamics
    return m, name


def option_of(name):
    """An option as it is typed, by the name of its value."""
    return "--" + dict(until="time", saved="from").get(name, name)


def load_asked(asked):
    """load, as options say."""
    return load(asked.source, asked.n, asked.param, asked.sleep, asked.dynamics)


def _load(source, n, params):
    import tisim

    if not source:
        raise Error("expected a scene (see `tisim scenes`) or a file, found an empty name")
    path = pathlib.Path(source)
    if path.suffix.lower() in SUFFIXES or path.is_file():
        if n is not None or params:
            raise Error(f"--n and --param belong to scenes, and {source} is a file")
        if not path.is_file():
            raise _no_file(path)
        if path.suffix.lower() == ".npz":
            _refuse_results(path)
            return tisim.Model.load(path), path.stem
        return tisim.Model.from_xml_path(path), path.stem
    if source not in scenes.names() and (path.suffix or len(path.parts) > 1 or path.is_dir()):
        raise _no_file(path)
    if source not in scenes.names() and (files := [f for f in _models(path.parent) if pathlib.Path(f).stem == source]):
        raise Error(f"no scene is named {source!r}; there is a file {' and '.join(files)}")
    with garbage.collected_later():
        return tisim.Model.from_scene(source, **parse_params(source, n, params)), source


def _no_file(path):
    if path.is_dir():
        return Error(f"{path} is a folder; give a file")
    if not path.parent.is_dir():
        return Error(f"no file {path}: there is no folder {path.parent}")
    return Error(f"no file {path}{nearest(path.name, _models(path.parent))}")


def _models(folder):
    """Names of the files in a folder that may hold a model."""
    return sorted(f.name for f in folder.iterdir() if f.suffix.lower() in SUFFIXES)


def _refuse_results(path):
    """Tells what to do with files that are no models, and come from a run."""
    from . import playback

    if playback.is_recording(path):
        raise Error(f"{path} is a recording, not a model: tisim view, render, film and export show it")
    if state.is_state(path):
        raise Error(f"{path} is a state, not a model: give the scene or file that it is of, and --from {path}")


def worth(source, n=None, params=()):
    """How long a scene, or a file, is simulated where nothing else is said [s]."""
    known = source in scenes.names()
    return scenes.seconds(source, **parse_params(source, n, params)) if known else scenes.SECONDS


def start(m, arch, precision, threads, nworld=None, saved=None):
    """Starts Taichi, loads or makes the kernels under a bar, returns a Data.

    nworld  number of worlds, None: one, or as many as were saved;  saved  path of a saved state to go on from.
    """
    import tisim

    if nworld is not None and nworld < 1:
        raise Error(f"--nworld {nworld}: expected a positive number")
    states, sleepers = (None, None) if saved is None else state.read(saved, m)
    if states is not None and nworld is not None and len(states) not in (1, nworld):
        raise Error(f"--nworld {nworld}: {saved} holds {len(states)} worlds")
    with busy("starting Taichi"):
        quiet.start_taichi(arch=arch, precision=precision, threads=threads)
        d = tisim.Data(m, nworld=nworld or (1 if states is None else len(states)))
        if states is not None:
            tisim.set_state(m, d, states[0] if len(states) == 1 else states)
            if sleepers is not None:
                state.lay_down(d, sleepers)
            if m.opt.dynamics == "lcp":
                state.give_impulses(saved, d)
    tisim.pipeline.prepare(m, d)  # which has a bar of its own
    return d


def start_asked(m, asked, saved=None):
    """start, as options say, from another saved state where one is given."""
    return start(m, asked.arch, asked.precision, asked.threads, asked.nworld, saved or asked.saved)


def forward(m, d):
    """tisim.forward that leaves the state as it is, the start of the next solution too; returns it."""
    import tisim

    with busy("evaluating the state"):
        kept = tisim.get_state(m, d)
        tisim.forward(m, d)
        if m.opt.dynamics == "convex":  # the other one changes nothing, and would begin anew
            tisim.set_state(m, d, kept)
        return kept


def sim_time(d):
    """Time of the first world [s]."""
    return float(np.atleast_1d(d.time)[0])


def check_lengths(seconds, until, steps=None, positive=False):
    """Refuses --seconds, --time and --steps that are nonsense; all may be None.  positive  0 is nonsense, too."""
    given = {k: v for k, v in (("--seconds", seconds), ("--time", until), ("--steps", steps)) if v is not None}
    if len(given) > 1:
        raise Error(f"{' and '.join(given)} exclude each other")
    for name, value in given.items():
        check_number(name, value)
        if value < 0 or (value == 0 and positive):
            raise Error(f"{name} {value}: {'must be positive' if positive else 'must not be negative'}")
    check_ends("--steps", steps)


def check_number(name, value):
    """Refuses an option's number that is NaN or not finite; None is one that was not given."""
    if isinstance(value, float) and np.isnan(value):
        raise Error(f"{name} {value}: expected a number")
    if isinstance(value, float) and np.isinf(value):
        raise Error(f"{name} {value}: expected a number that is finite")


def check_ends(name, value, h=1):
    """Refuses a length of so many steps of h that they do not end in a lifetime; None is one that was not given."""
    import tisim

    most = tisim.pipeline.MOST_STEPS
    if value is not None and value > most * h:
        raise Error(f"{name} {brief(value)}: more than {most:,} steps do not end")


def steps_of(m, d, seconds, until, default=0.0):
    """Number of steps for `seconds` of simulation, or up to the time `until`; for the default if both are None."""
    h = float(m.opt.timestep)
    check_ends("--seconds", seconds, h)
    check_ends("--time", until, h)
    if until is None:
        seconds = default if seconds is None else seconds
        return max(1, round(seconds / h)) if seconds else 0
    if until < sim_time(d) - 0.5 * h:
        raise Error(f"--time {until:g}: the state is at {sim_time(d):.3f} s already")
    return round((until - sim_time(d)) / h)


def command(*words, **options):
    """Text of a tisim command; an option that is None, "", False or an empty list is left out."""
    out = ["tisim", *map(str, words)]
    for name, value in options.items():
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is not None and v != "" and v is not False:
                out += ["--" + name.rstrip("_").replace("_", "-"), *([] if v is True else [str(v)])]
    return shlex.join(out)


def given(value, default):
    """A value for `command`: None where it is the default."""
    return None if value == default else value


class Stopper:
    """While active, the first Ctrl-C only sets `asked`, so that a step is finished; the second one interrupts."""

    asked = False

    def __enter__(self):
        self._old = signal.signal(signal.SIGINT, self._stop)
        return self

    def _stop(self, *_):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *_):
        signal.signal(signal.SIGINT, self._old)


class Every:
    """What is done every so many seconds of simulated time, but not oftener than once a step: `act(m, d)`.

    period [s];  timestep [s];  what  word for the progress bar;  first  0: also at the start, 1: one period later.
    """

    def __init__(self, period, timestep, act, what, first=0):
        self._period, self._timestep, self._act, self._what = max(period, timestep), timestep, act, what
        self.number, self._first = 0, first

    def next_step(self):
        """After how many steps it is due."""
        return round((self.number + self._first) * self._period / self._timestep)

    def add(self, m, d):
        """Does it."""
        self._act(m, d)
        self.number += 1

    @property
    def note(self):
        """What the progress bar shows of it."""
        return f"{self.number} {self._what}"


def advance(console, m, d, steps, label="simulating", watchers=()):
    """Takes steps under a progress bar. Returns steps done, wall time without the first step, steps timed, stopped.

    watchers  things like Every that look at the state now and then; their time is not counted.
    """
    import tisim

    done, chunk, wall, timed = 0, 1, 0.0, 0
    columns = (TextColumn("{task.description}"), BarColumn(40), TaskProgressColumn(), TextColumn("{task.fields[note]}"))
    bar = Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not (console.is_terminal and steps)
    )
    with Stopper() as stopper, bar:
        task = bar.add_task(label, total=steps, note="compiling kernels" if steps else "")
        while True:
            for watcher in watchers:
                while watcher.next_step() <= done:
                    watcher.add(m, d)
            if done >= steps or stopper.asked:
                break
            k = min([chunk, steps - done, *(watcher.next_step() - done for watcher in watchers)])
            before = time.perf_counter()
            tisim.step(m, d, k)
            runtime_sync()
            took = time.perf_counter() - before
            if done:  # the first step compiles
                wall, timed = wall + took, timed + k
                chunk = max(1, min(2 * chunk, int(k * REFRESH / max(took, 1e-6))))
            done += k
            speed = timed * float(m.opt.timestep) / wall if wall else 0.0
            note = f"t {sim_time(d):.2f} s  {speed:.2f} x real time  {int(np.sum(d.ncon))} contacts"
            bar.update(task, completed=done, note="  ".join([note, *(watcher.note for watcher in watchers)]))
        stopped = stopper.asked and done < steps
    return done, wall, timed, stopped


def runtime_sync():
    """Waits for the device, so that wall times are true."""
    if session.arch != "cpu":
        memory.sync()


def warnings(d):
    """Warnings counted so far: dict name -> number, of those that are not zero."""
    from tisim.enums import mjtWarning

    counted = d.warning
    found = {w.name.removeprefix("mjWARN_").lower(): int(np.sum(counted[int(w)].number)) for w in mjtWarning
             if w != mjtWarning.mjNWARNING}  # fmt: skip
    return {name: number for name, number in found.items() if number}
