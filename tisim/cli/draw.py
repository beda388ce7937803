"""The commands that draw: render and view."""

import pathlib

import numpy as np

from tisim.device.whole_file import check
from tisim.errors import Error

from . import playback
from .report import beside, busy, print_json
from .simulate import INTERRUPTED, advance, check_lengths, forward, load, sim_time, start, steps_of


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


def render(
    console, source, n, param, sleep, dynamics, out, seconds, until, saved, size, arch, precision, threads, nworld,
    look, fps, as_json,
):  # fmt: skip
    """tisim render, of a scene, a file or a recording. Returns the exit code.

    look  camera, color, show_contacts, world, chains, quality and lamps;  fps  of a recording's film.
    """
    if playback.is_recording(source):
        refuse_with_recordings(n=n, param=param, sleep=sleep, dynamics=dynamics, seconds=seconds, **{"from": saved},
                               nworld=nworld)  # fmt: skip
        return playback.render(console, source, out, until, size and parse_size(size), look, fps, as_json)
    progress = beside(console, as_json)
    width, height = parse_size(size)
    if pathlib.Path(out).suffix.lower() not in playback.STILLS:
        raise Error(f"--out {out}: expected a name ending in {', '.join(playback.STILLS)}")
    if fps is not None:
        raise Error(f"--fps belongs to a film, and {out} is a picture; `tisim film` makes one")
    check_lengths(seconds, until)
    m, name = load(source, n, param, sleep, dynamics)
    d = start(m, arch, precision, threads, nworld, saved)
    check_drawn(look, m, d)
    check(out, "picture")
    stopped = advance(progress, m, d, steps_of(m, d, seconds, until))[3]
    forward(m, d)
    with busy("drawing the picture"):
        from tisim import viewer

        viewer.save_png(out, viewer.render(m, d, width, height, **look))
    found = dict(picture=out, scene=name, time=sim_time(d), contacts=int(np.sum(d.ncon)), width=width, height=height)
    if as_json:
        print_json(found)
    else:
        console.print(f"{out}: {name} at {sim_time(d):.3f} s, {found['contacts']} contacts")
    if stopped:
        progress.print(f"stopped at {sim_time(d):.3f} s", style="yellow")
    return INTERRUPTED if stopped else 0


def export(
    console, source, n, param, sleep, dynamics, out, seconds, until, saved, world, group, arch, precision, threads,
    nworld, as_json,
):  # fmt: skip
    """tisim export, of a scene, a file or a recording. Returns the exit code."""
    progress, stopped = beside(console, as_json), False
    playback.exporter(out)
    if playback.is_recording(source):
        refuse_with_recordings(
            n=n, param=param, sleep=sleep, dynamics=dynamics, seconds=seconds, time=until, **{"from": saved},
            nworld=nworld,
        )  # fmt: skip
        m, frames, all_frames = playback.export(progress, source, out, world, group)
        stopped = frames < all_frames
        told = f"stopped after {frames} of {all_frames} frames; the file has these"
    else:
        check_lengths(seconds, until)
        m, _ = load(source, n, param, sleep, dynamics)
        d, frames = start(m, arch, precision, threads, nworld, saved), None
        check_drawn(dict(camera=None, world=world), m, d)
        check(out)
        stopped = advance(progress, m, d, steps_of(m, d, seconds, until))[3]
        forward(m, d)
        with busy(f"writing {out}"):
            playback.exporter(out)[0](m, d, out, world, group)
        told = f"stopped at {sim_time(d):.3f} s; the file has what was there then"
    found = dict(file=out, bytes=pathlib.Path(out).stat().st_size, bodies=m.nbody - 1, frames=frames, stopped=stopped)
    if as_json:
        print_json(found)
    else:
        moving = f", {frames} frames" if frames else ""
        bodies = f"{m.nbody - 1} {'body' if m.nbody == 2 else 'bodies'}"
        console.print(f"{out}: {bodies}{moving}, {found['bytes'] / 1024:,.0f} KiB")
    if stopped:
        progress.print(told, style="yellow", soft_wrap=True)
    return INTERRUPTED if stopped else 0


def refuse_with_recordings(**options):
    """What has been simulated cannot be changed any more."""
    for name, value in options.items():
        if value not in (None, [], False):
            raise Error(f"--{name} belongs to what is simulated, and this is a recording")


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


def view(console, source, n, param, sleep, dynamics, seconds, until, saved, size, arch, precision, threads, nworld,
         look, page):  # fmt: skip
    """tisim view. page  None: in a window; else where to listen: host, port, pictures."""
    import tisim

    width, height = parse_size(size or (page and "960x540"))
    check_lengths(seconds, until)
    if playback.is_recording(source):
        refuse_with_recordings(
            n=n, param=param, sleep=sleep, dynamics=dynamics, seconds=seconds, time=until, **{"from": saved},
            nworld=nworld,
        )  # fmt: skip
        return playback.view(source, width, height, look, viewer_of(console, page))
    show = viewer_of(console, page)
    m, _ = load(source, n, param, sleep, dynamics)
    d = start(m, arch, precision, threads, nworld, saved)
    check_drawn(look, m, d)
    if advance(console, m, d, steps_of(m, d, seconds, until))[3]:
        raise KeyboardInterrupt
    forward(m, d)
    worlds = d.nworld  # those of a saved state, perhaps

    def again():
        m, _ = load(source, n, param, sleep, dynamics)
        d = tisim.Data(m, nworld=worlds)
        tisim.pipeline.prepare(m, d)
        return m, d

    show(m, d, width, height, reload=again, **look)
    return 0
