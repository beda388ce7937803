"""tisim plot: curves of a log."""

import pathlib

import numpy as np

from tisim.device.whole_file import whole
from tisim.errors import Error
from tisim.recording import log

from . import playback, state
from .report import busy, print_json

MOST = 12  # curves of sensors
PANELS = (("energy [J]", ("potential", "kinetic")), ("contacts", ("contacts",)), ("iterations", ("iterations",)))


def require():
    """matplotlib's Figure. Raises Error where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise Error("curves need matplotlib: pip install 'tisim[plot]'") from None
    return Figure


def figure(columns, title):
    """A matplotlib Figure of the columns of a log, dict name -> (n,)."""
    named = {"time", *log.COUNTS, "potential", "kinetic"}
    states = ("qpos[", "qvel[")
    sensors = [name for name in columns if name not in named and not name.startswith(states)]
    panels = [p for p in PANELS if all(name in columns for name in p[1])]
    if sensors:
        panels.append(("sensors", tuple(sensors[:MOST])))
    fig = require()(figsize=(8, 1 + 1.8 * len(panels)), layout="constrained")
    axes = fig.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (label, names) in zip(axes, panels):
        for name in names:
            axis.plot(columns["time"], columns[name], label=name, lw=1.2)
        if label.startswith("energy"):
            axis.plot(columns["time"], columns["potential"] + columns["kinetic"], label="sum", lw=1.2, color="0.4")
        axis.set_ylabel(label)
        if len(axis.lines) > 1:
            axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
        axis.grid(alpha=0.3)
    if len(sensors) > MOST:
        axes[-1].set_title(f"{MOST} of {len(sensors)} sensors", fontsize=8)
    axes[-1].set_xlabel("time [s]")
    fig.suptitle(title, fontsize=10)
    return fig


def plot(console, source, out, as_json):
    """tisim plot. Returns the exit code."""
    with busy(f"reading {source}"):
        for is_it, what in ((state.is_state, "state"), (playback.is_recording, "recording")):
            if is_it(source):
                raise Error(f"{source} is a {what}, not a log, which `tisim run ... --log FILE` writes")
        columns = log.read(source)
    if not len(columns["time"]):
        raise Error(f"{source}: there is no row in it")
    if pathlib.Path(out).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Error(f"--out {out}: expected a name ending in .png, .svg or .pdf")
    with busy("drawing the curves"):
        fig = figure(columns, pathlib.Path(source).name)
        with whole(out, "picture", folder=True) as part:
            fig.savefig(part, dpi=110)
    found = dict(picture=out, rows=len(columns["time"]), end=float(np.max(columns["time"])))
    if as_json:
        print_json(found)
    else:
        console.print(f"{out}: {found['rows']} rows of {source}, to {found['end']:.3f} s", soft_wrap=True)
    return 0
