"""The commands that draw: render and view."""

import pathlib

import numpy as np

from tisim.device.whole_file import check
from tisim.errors import Error

from . import playback
from .report import beside, busy, print_json
from .simulate import (
    INTERRUPTED,
    advance,
    check_lengths,
    forward,
    load_asked,
    option_of,
    sim_time,
    start_asked,
    steps_of,
)

SIMULATED = "n", "param", "sleep", "dynamics", "seconds", "until", "saved", "nworld"  # options of what is simulated


def parse_size(text):
    """Width and height of a picture from WxH, 1280x720 from an empty text."""
    width, sign, height = (text or "1280x720").lower().partition("x")
    if not (sign and width.isdigit() and height.isdigit() and int(width) and int(height)):
        raise Error(f"--size {text}: expected WIDTHxHEIGHT, for example 1280x720")
    if text:
        from tisim.viewer.caster import LONGEST

        if max(int(width), int(height)) > LONGEST:
            raise Error(f"--size {text}: each side must be at most {LONGEST}")
    return int(width), int(height)


def check_drawn(look, m, d):
    """Refuses a world or a camera that is not there, and lamps that no sky has."""
    if look.get("lamps") is not None:
        from tisim.viewer.far import sky_lamps

        sky_lamps(look["quality"], look["lamps"])
    if look["camera"]:
        with busy("loading the viewer"):
            from tisim.viewer import camera

        camera.check(look["camera"], m)
    if not 0 <= look["world"] < d.nworld:
        raise Error(f"--world {look['world']}: expected 0 to {d.nworld - 1}")


def last_picture(console, m, d, path, width, height, look):
    """Writes the picture of the end, and says where; returns its path."""
    with busy("drawing the picture"):
        from tisim.viewer import render, save_png

        save_png(path, render(m, d, width, height, **look))
    console.print(f" picture         {path}", highlight=False, soft_wrap=True)
    return str(path)


def look_of(asked):
    """What options of pictures say."""
    return shown(asked) | dict(quality=asked.quality, lamps=asked.lamps)


def shown(asked):
    """The part of it that windows know, too."""
    return dict(camera=asked.camera or None, color=asked.color, show_contacts=asked.contacts, world=asked.world,
                chains=asked.chains)  # fmt: skip


def render(console, asked):
    """tisim render, of a scene, a file or a recording, with its options by their names. Returns the exit code."""
    out, size = asked.out, asked.size
    if playback.is_recording(asked.source):
        refuse_with_recordings(asked, "n", "param", "sleep", "dynamics", "seconds", "saved", "nworld")
        return playback.render(console, asked.source, out, asked.until, size and parse_size(size), look_of(asked),
                               asked.fps, asked.as_json)  # fmt: skip
    progress = beside(console, asked.as_json)
    width, height = parse_size(size)
    if pathlib.Path(out).suffix.lower() not in playback.STILLS:
        raise Error(f"--out {out}: expected a name ending in {', '.join(playback.STILLS)}; films are by `tisim film`")
    if asked.fps is not None:
        raise Error(f"--fps belongs to a film, and {out} is a picture; `tisim film` makes one")
    check_lengths(asked.seconds, asked.until)
    m, name = load_asked(asked)
    d = start_asked(m, asked)
    check_drawn(look_of(asked), m, d)
    check(out, "picture")
    stopped = advance(progress, m, d, steps_of(m, d, asked.seconds, asked.until))[3]
    forward(m, d)
    with busy("drawing the picture"):
        from tisim import viewer

        viewer.save_png(out, viewer.render(m, d, width, height, **look_of(asked)))
    found = dict(picture=out, scene=name, time=sim_time(d), contacts=int(np.sum(d.ncon)), width=width, height=height)
    if asked.as_json:
        print_json(found)
    else:
        console.print(f"{out}: {name} at {sim_time(d):.3f} s, {found['contacts']} contacts")
    if stopped:
        progress.print(f"stopped at {sim_time(d):.3f} s", style="yellow")
    return INTERRUPTED if stopped else 0


def export(console, asked):
    """tisim export, of a scene, a file or a recording, with its options by their names. Returns the exit code."""
    progress, stopped, out = beside(console, asked.as_json), False, asked.out
    playback.exporter(out)
    if playback.is_recording(asked.source):
        refuse_with_recordings(asked, *SIMULATED)
        m, frames, all_frames = playback.export(progress, asked.source, out, asked.world, asked.group)
        stopped = frames < all_frames
        told = f"stopped after {frames} of {all_frames} frames; the file has these"
    else:
        check_lengths(asked.seconds, asked.until)
        m, _ = load_asked(asked)
        d, frames = start_asked(m, asked), None
        check_drawn(dict(camera=None, world=asked.world), m, d)
        check(out)
        stopped = advance(progress, m, d, steps_of(m, d, asked.seconds, asked.until))[3]
        forward(m, d)
        with busy(f"writing {out}"):
            playback.exporter(out)[0](m, d, out, asked.world, asked.group)
        told = f"stopped at {sim_time(d):.3f} s; the file has what was there then"
    found = dict(file=out, bytes=pathlib.Path(out).stat().st_size, bodies=m.nbody - 1, frames=frames, stopped=stopped)
    if asked.as_json:
        print_json(found)
    else:
        moving = f", {frames} frames" if frames else ""
        bodies = f"{m.nbody - 1} {'body' if m.nbody == 2 else 'bodies'}"
        console.print(f"{out}: {bodies}{moving}, {found['bytes'] / 1024:,.0f} KiB")
    if stopped:
        progress.print(told, style="yellow", soft_wrap=True)
    return INTERRUPTED if stopped else 0


def refuse_with_recordings(asked, *names):
    """What has been simulated cannot be changed any more."""
    for name in names:
        if getattr(asked, name) not in (None, [], False):
            raise Error(f"{option_of(name)} belongs to what is simulated, and this is a recording")


def viewer_of(console, page):
    """The function that shows a simulation: in a window, or with page, a dict of host, port and pictures, on a page.

    Raises Error where what it needs is missing.
    """
    with busy("loading the viewer"):
        from tisim import viewer

    if page is None:
        viewer.vulkan.require(display=True)
        return viewer.view
    pictures = page.pop("pictures") or None

    def show(m, d, *args, draw=None, **look):
        return viewer.view_in_browser(m, d, *args, pictures=pictures, ready=ready, **page, **look)

    def ready(url):
        console.print(f"look at {url} with a browser; Ctrl-C here ends it", highlight=False, soft_wrap=True)

    viewer.browser.require(pictures)
    return show


def view(console, asked):
    """tisim view, in a window or on a page, with its options by their names."""
    import tisim

    if asked.pictures and not asked.web:
        raise Error("--pictures belongs to --web")
    page = dict(host=asked.host, port=asked.port, pictures=asked.pictures) if asked.web else None
    how = "auto" if asked.caster is None else "caster" if asked.caster else "raster"
    look = shown(asked) | dict(running=not asked.paused, draw=how)
    width, height = parse_size(asked.size or (page and "960x540"))
    check_lengths(asked.seconds, asked.until)
    if playback.is_recording(asked.source):
        refuse_with_recordings(asked, *SIMULATED)
        return playback.view(asked.source, width, height, look, viewer_of(console, page))
    show = viewer_of(console, page)
    m, _ = load_asked(asked)
    d = start_asked(m, asked)
    check_drawn(look, m, d)
    if advance(console, m, d, steps_of(m, d, asked.seconds, asked.until))[3]:
        raise KeyboardInterrupt
    forward(m, d)
    worlds = d.nworld  # those of a saved state, perhaps

    def again():
        m, _ = load_asked(asked)
        d = tisim.Data(m, nworld=worlds)
        tisim.pipeline.prepare(m, d)
        return m, d

    show(m, d, width, height, reload=again, **look)
    return 0
