"""The commands that simulate: run, bench, render and view."""

import pathlib
import signal
import time

import numpy as np
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from tisim import scenes
from tisim.data.digest import state_hash
from tisim.device import garbage, memory, session
from tisim.errors import Error

SUFFIXES = (".xml", ".mjcf", ".urdf", ".npz")
DEFAULT_SECONDS = 3.0
REFRESH = 0.15  # wall time between two updates of the progress bar [s]


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


def load(source, n=None, params=()):
    """Model and a short name of a scene or file."""
    import tisim

    path = pathlib.Path(source)
    if path.suffix.lower() in SUFFIXES or path.is_file():
        if n is not None or params:
            raise Error(f"--n and --param belong to scenes, and {source} is a file")
        if not path.is_file():
            raise Error(f"no file {source}")
        if path.suffix.lower() == ".npz":
            return tisim.Model.load(path), path.stem
        return tisim.Model.from_xml_path(path), path.stem
    if path.is_dir():
        raise Error(f"{source} is a folder; give a file")
    with garbage.collected_later():
        return tisim.Model.from_xml_string(scenes.build(source, **parse_params(source, n, params))), source


def start(m, arch, precision, threads, nworld=1):
    """Starts Taichi, loads or makes the kernels under a bar, returns a Data."""
    import tisim

    if nworld < 1:
        raise Error(f"--nworld {nworld}: expected a positive number")
    tisim.init(arch=arch, precision=precision, threads=threads)
    d = tisim.Data(m, nworld=nworld)
    tisim.pipeline.prepare(m, d)
    return d


def sim_time(d):
    """Time of the first world [s]."""
    return float(np.atleast_1d(d.time)[0])


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


def advance(console, m, d, steps, label="simulating"):
    """Takes steps under a progress bar. Returns steps done, wall time without the first step, steps timed, stopped."""
    import tisim

    done, chunk, wall, timed = 0, 1, 0.0, 0
    columns = (TextColumn("{task.description}"), BarColumn(40), TaskProgressColumn(), TextColumn("{task.fields[note]}"))
    with Stopper() as stopper, Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(label, total=steps, note="compiling kernels" if steps else "")
        while done < steps and not stopper.asked:
            k = min(chunk, steps - done)
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
            bar.update(task, completed=done, note=note)
        stopped = stopper.asked and done < steps
    return done, wall, timed, stopped


def runtime_sync():
    """Waits for the device, so that wall times are true."""
    if session.arch != "cpu":
        memory.sync()


def rows(console, title, pairs):
    """Prints a table of names and values."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, str(value))
    console.print(table)


def warnings(d):
    """Text of the warnings counted so far, "" if there are none."""
    from tisim.enums import mjtWarning

    counted = d.warning
    found = [(w, int(np.sum(counted[int(w)].number))) for w in mjtWarning if w != mjtWarning.mjNWARNING]
    return ", ".join(f"{w.name.removeprefix('mjWARN_').lower()} {k} times" for w, k in found if k)


def save_state(path, m, d, name):
    """Writes the final state and poses to an .npz file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {k: np.asarray(getattr(d, k)) for k in ("qpos", "qvel", "act", "qacc_warmstart", "xpos", "xquat")}
    np.savez(path, time=np.asarray(d.time), scene=name, nworld=d.nworld, **arrays)


def run(console, source, n, param, seconds, steps, out, arch, precision, threads, nworld, picture):
    """tisim run."""
    import tisim

    if seconds is not None and steps is not None:
        raise Error("--seconds and --steps exclude each other")
    if (seconds is not None and not seconds > 0) or (steps is not None and steps < 1):
        raise Error("--seconds and --steps must be positive")
    began = time.perf_counter()
    m, name = load(source, n, param)
    if steps is None:
        steps = max(1, round((seconds or DEFAULT_SECONDS) / float(m.opt.timestep)))
    m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_ENERGY)
    d = start(m, arch, precision, threads, nworld)
    tisim.forward(m, d)
    energy0 = np.array(d.energy, float).reshape(-1, 2)[0]
    loaded = time.perf_counter() - began
    done, wall, timed, stopped = advance(console, m, d, steps)
    tisim.forward(m, d)
    energy = np.array(d.energy, float).reshape(-1, 2)[0]
    folder = pathlib.Path(out or pathlib.Path("out") / name)
    state = folder / "state.npz"
    save_state(state, m, d, name)
    h = float(m.opt.timestep)
    niter = np.asarray(d.solver_niter)
    rows(console, f"{name}{' (stopped early)' if stopped else ''}", [
        ("bodies, dofs", f"{m.nbody - 1}, {m.nv}" + (f"  in each of {nworld} worlds" if nworld > 1 else "")),
        ("simulated", f"{sim_time(d):.3f} s in {done} steps of {h * 1e3:g} ms"),
        ("speed", f"{timed * h * nworld / wall:.2f} x real time, {wall / timed * 1e3:.2f} ms a step" if wall else "-"),
        ("load, compile", f"{loaded:.1f} s"),
        ("contacts, rows", f"{int(np.sum(d.ncon))}, {d.nefc}"),
        ("islands", f"{d.nisland}, most solver iterations {int(niter.max()) if niter.size else 0}"),
        ("energy", f"potential {energy[0]:.5g} J, kinetic {energy[1]:.5g} J (at the start {energy0.sum():.5g} J)"),
        ("warnings", warnings(d) or "none"),
        ("backend", f"{session.arch}, {session.precision}"),
        ("state hash", state_hash(d)),
        ("saved", state),
    ])  # fmt: skip
    if not picture:
        return
    from tisim.viewer import render, save_png, vulkan

    reason = vulkan.missing()
    if reason:
        console.print(f"no picture: {reason}", style="yellow")
    else:
        save_png(folder / "picture.png", render(m, d))
        console.print(f" picture         {folder / 'picture.png'}", highlight=False, soft_wrap=True)


def bench(console, source, n, param, settle, repeats, arch, precision, threads, nworld):
    """tisim bench."""
    import tisim

    if settle < 0 or repeats < 1:
        raise Error("--settle must not be negative and --repeats must be positive")
    began = time.perf_counter()
    m, name = load(source, n, param)
    d = start(m, arch, precision, threads, nworld)
    tisim.forward(m, d)
    loaded = time.perf_counter() - began
    if advance(console, m, d, settle, "settling")[3]:
        raise KeyboardInterrupt
    settled, times, contacts, most = state_hash(d), [], [], 0
    for _ in range(repeats):
        before = time.perf_counter()
        tisim.step(m, d)
        runtime_sync()
        times.append(1e3 * (time.perf_counter() - before))
        contacts.append(int(np.sum(d.ncon)))
        niter = np.asarray(d.solver_niter)
        most = max(most, int(niter.max()) if niter.size else 0)
    low, median, high = np.percentile(times, (10, 50, 90))
    rows(console, f"{name}: {repeats} steps after {settle}", [
        ("step", f"{median:.3f} ms median, {low:.3f} to {high:.3f} ms (10 % to 90 %)"),
        ("speed", f"{float(m.opt.timestep) * 1e3 / median * nworld:.2f} x real time"),
        ("bodies, dofs", f"{m.nbody - 1}, {m.nv}" + (f"  in each of {nworld} worlds" if nworld > 1 else "")),
        ("contacts, rows", f"{int(np.median(contacts))}, {d.nefc}"),
        ("islands", f"{d.nisland}, most solver iterations {most}"),
        ("load, compile", f"{loaded:.1f} s"),
        ("backend", f"{session.arch}, {session.precision}"),
        ("hash", f"{settled} after {settle} steps, {state_hash(d)} at the end"),
    ])  # fmt: skip


def parse_size(text):
    """Width and height of a picture from WxH."""
    width, sign, height = text.lower().partition("x")
    if not (sign and width.isdigit() and height.isdigit() and int(width) and int(height)):
        raise Error(f"--size {text}: expected WIDTHxHEIGHT, for example 1280x720")
    return int(width), int(height)


def parse_camera(text, m, d):
    """Camera of a text, None for an empty one."""
    if not text:
        return None
    from tisim.viewer import Camera
    from tisim.viewer.drawing import poses

    return Camera.parse(text, Camera.framing(m, poses(m, d)[0]))


def render(console, source, n, param, out, seconds, size, camera, color, contacts, arch, precision, threads):
    """tisim render."""
    import tisim
    from tisim import viewer

    width, height = parse_size(size)
    if pathlib.Path(out).suffix.lower() != ".png":
        raise Error(f"--out {out}: expected a name ending in .png")
    if color not in ("geom", "island"):
        raise Error(f"--color {color}: expected geom or island")
    if not seconds >= 0:
        raise Error(f"--time {seconds}: must not be negative")
    viewer.vulkan.require()
    m, name = load(source, n, param)
    d = start(m, arch, precision, threads)
    if advance(console, m, d, round(seconds / float(m.opt.timestep)))[3]:
        console.print(f"stopped at {sim_time(d):.3f} s", style="yellow")
    tisim.forward(m, d)
    picture = viewer.render(m, d, width, height, parse_camera(camera, m, d), color=color, show_contacts=contacts)
    viewer.save_png(out, picture)
    console.print(f"{out}: {name} at {sim_time(d):.3f} s, {int(np.sum(d.ncon))} contacts")


def view(console, source, n, param, size, camera, arch, precision, threads):
    """tisim view."""
    import tisim
    from tisim import viewer

    width, height = parse_size(size)
    viewer.vulkan.require(display=True)
    m, _ = load(source, n, param)
    d = start(m, arch, precision, threads)
    console.print("compiling kernels ...", style="dim")
    tisim.forward(m, d)
    viewer.view(m, d, width, height, parse_camera(camera, m, d))
