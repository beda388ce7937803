"""Pictures and films of a recording."""

import pathlib

import numpy as np
from rich.progress import Progress

from tisim.errors import Error

from . import quiet
from .report import beside, busy, print_json
from .simulate import INTERRUPTED, Stopper

STILLS = (".png", ".webp", ".jpg")  # what a picture may be written as


def is_recording(source):
    """Whether a file is a recording, cut off or not."""
    path = pathlib.Path(source)
    if path.suffix.lower() != ".npz" or not path.is_file():
        return False
    with open(path, "rb") as f:
        head = f.read(64)
    return head[:4] == b"PK\x03\x04" and b"recording.json" in head


def _read(source):
    """(Recording, its Model, a Data). Raises Error where no frame reached the disk."""
    from tisim.recording.recording import Recording

    with busy(f"reading {source}"):
        recording = Recording(source)
        if not len(recording):
            raise Error(f"{source}: no frame in it reached the disk")
        quiet.start_taichi(arch="cpu")
        return recording, recording.model, recording.data()


def render(console, source, out, until, size, look, fps, as_json, speed=1.0):
    """tisim render of a recording: a picture of the frame at a time, or the film of all frames. Returns the exit code.

    A .webp is a film, but the picture of a time where one is given.
    """
    from . import film as films

    progress = beside(console, as_json)
    suffix = pathlib.Path(out).suffix.lower()
    film = suffix in films.SUFFIXES and not (until is not None and suffix in STILLS)
    if not film and suffix not in STILLS:
        raise Error(f"--out {out}: expected a name ending in {', '.join((*STILLS, *films.SUFFIXES))}")
    if fps is not None and not film:
        raise Error(f"--fps belongs to a film, and {out} is a picture")
    if film and until is not None:
        raise Error("--time is for a picture, and a film shows all frames")
    recording, m, d = _read(source)
    if not 0 <= look["world"] < d.nworld:
        raise Error(f"--world {look['world']}: the recording has {d.nworld}, of worlds {recording.worlds}")
    stopped = False
    if film:
        number, stopped = _film(progress, recording, d, out, size or films.SIZE, fps, look, speed)
        found = dict(film=out, pictures=number)
    else:
        k = _at(recording, recording.time[-1] if until is None else until)
        recording.show(d, k)
        width, height = size or (1280, 720)
        with busy("drawing the picture"):
            from tisim import viewer

            viewer.save_png(out, viewer.render(m, d, width, height, **look))
        found = dict(picture=out, frame=k, time=float(recording.time[k]))
    found |= dict(recording=str(source), frames=len(recording), whole=recording.whole)
    if as_json:
        print_json(found)
    else:
        what = f"{found['pictures']} pictures" if film else f"frame {found['frame']} at {found['time']:.3f} s"
        console.print(f"{out}: {what} of {source}" + ("" if recording.whole else ", which was cut off"))
    return INTERRUPTED if stopped else 0


def view(source, width, height, look, show):
    """tisim view of a recording: plays it; show  the viewer. Returns the exit code."""
    from tisim.viewer.replay import Replay

    recording, m, d = _read(source)
    if not 0 <= look["world"] < d.nworld:
        raise Error(f"--world {look['world']}: the recording has {d.nworld}, of worlds {recording.worlds}")
    show(m, d, width, height, clock=Replay(recording, d, look.pop("running")), **look)
    return 0


def exporter(out):
    """(function that writes a Model and a Data, one that writes a Recording) for the kind of file that a name says."""
    suffix = pathlib.Path(out).suffix.lower()
    with busy("loading the viewer"):
        if suffix == ".glb":
            from tisim.viewer.glb import recording_to_glb, to_glb

            return to_glb, recording_to_glb
        if suffix in (".usda", ".usdc", ".usd"):
            from tisim.viewer.usd import recording_to_usd, to_usd

            return to_usd, recording_to_usd
        if suffix == ".rrd":
            from tisim.viewer.rerun import recording_to_rerun, to_rerun

            return to_rerun, recording_to_rerun
    raise Error(f"--out {out}: expected a name ending in .glb, .usda, .usdc, .usd or .rrd")


def export(console, source, out, world, group):
    """Writes a recording for another program, up to where Ctrl-C ends it; (its Model, frames written, all frames)."""
    recording, _, _ = _read(source)
    if not 0 <= world < len(recording.worlds):
        raise Error(f"--world {world}: the recording has {len(recording.worlds)}, of worlds {recording.worlds}")
    with Stopper() as stopper, Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"writing {out}", total=len(recording))

        def show(done, _):
            bar.update(task, completed=done)
            return stopper.asked

        number = exporter(out)[1](recording, out, world, group, show)
    return recording.model, number, len(recording)


def _at(recording, time):
    """The last frame that is not behind a time, or the first."""
    return max(0, int(np.searchsorted(recording.time, time + 1e-9, side="right")) - 1)


def _film(console, recording, d, out, size, fps, look, speed):
    """Writes the film; (pictures, whether it was stopped)."""
    from . import film as films

    times = recording.time
    films.require(out, size, "--out")
    movie = films.Film(out, size, fps, 1.0, speed, **look)
    try:
        with Stopper() as stopper, Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("drawing", total=int((times[-1] - times[0]) / movie.period) + 1)
            while not stopper.asked and times[0] + movie.number * movie.period <= times[-1] + 1e-9:
                recording.show(d, _at(recording, times[0] + movie.number * movie.period))
                movie.add(recording.model, d)
                bar.update(task, completed=movie.number)
        return movie.number, stopper.asked
    finally:
        with busy("finishing the film"):
            movie.close()
