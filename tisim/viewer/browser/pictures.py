"""A simulation as a stream of pictures by rays, with the keys and the mouse of the window; needs no display."""

import io
import json
import math
import pathlib
import time

from tisim.errors import Error
from tisim.viewer import keys, shots, words
from tisim.viewer.browser import events
from tisim.viewer.browser.server import Server
from tisim.viewer.offscreen import save_png
from tisim.viewer.panels import FLAGS, SLIDERS
from tisim.viewer.renderer import Painter

PACE = 1 / 30  # a picture takes at least so long [s]
TELL = 0.2  # between what is said [s]
QUALITY = 80  # of a JPEG, of 100


def jpeg(picture):
    """A picture (height, width, 3) uint8 as a JPEG file."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(picture).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def _number(value):
    """A number as JSON has it: None where it is not finite."""
    return value if math.isfinite(value) else None


def page(c, width, height):
    """The HTML of the page for Controls."""
    setup = dict(
        width=width, height=height, frames=c.clock.frames,
        keys=[list(line) for line in keys.lines(True, keys.OF_WINDOW)],
        flags=[list(flag) for flag in FLAGS], names=sorted(keys.ACTIONS),
    )  # fmt: skip
    html = (pathlib.Path(__file__).parent / "page.html").read_text()
    return html.replace("/*SETUP*/null", json.dumps(setup).replace("<", "\\u003c")).encode()


class Pages:
    """A page on Controls, picture by picture.

    A picture is drawn where somebody looks and something changed. host, port  as of Server.
    """

    def __init__(self, controls, width, height, host, port):
        self.controls, self.width, self.height = controls, width, height
        self.server = Server(page(controls, width, height), events.checked, host, port)
        self._painter = self._model = self._last = None
        self.url = self.server.url
        self._arrived, self._told = 0, -TELL
        self._actor, self._filming = events.Actor(controls), shots.Filming()
        self.server.say(self._words())

    def frame(self):
        """What visitors did, the time that has passed, a picture. Returns whether to go on."""
        c, server, now = self.controls, self.server, time.perf_counter()
        elapsed = max(now - self._last, 1e-6) if self._last is not None else PACE
        self._last = now
        done = server.take()
        for event in done:
            self._actor.act(event, elapsed)
        held, before = self._actor.go_on(elapsed), c.clock.frame
        simulated = c.advance(elapsed)
        changed = done or held or simulated or before != c.clock.frame
        picture = None
        if server.watched and (changed or server.arrived != self._arrived):
            self._arrived, picture = server.arrived, self._picture()
            server.show(jpeg(picture))
        if c.screenshot:
            self._save()
        self._filming.see(c, lambda: self._picture() if picture is None else picture, now)
        if done or now - self._told >= TELL:
            server.say(self._words())
            self._told = now
        rest = PACE - (time.perf_counter() - now)
        if rest > 0:
            time.sleep(rest)
        return not c.quit

    def close(self):
        """Ends the page; what a mouse held is let go."""
        try:
            self._filming.end()
        finally:
            self.controls.hand.release(self.controls.d)
            self.server.close()

    def _picture(self):
        c = self.controls
        if self._model is not c.m:
            self._painter, self._model = Painter(c.m, self.width, self.height), c.m
        return shots.cast(c, self._painter)

    def _save(self):
        c, name = self.controls, shots.free_name(".png")
        c.screenshot = False
        try:
            save_png(name, self._picture())
            c.told = f"saved {name}"
        except Error as error:
            c.told = str(error)

    def _words(self):
        c = self.controls
        return dict(
            lines=[*words.lines(c), c.eye.about()], running=bool(c.clock.running),
            frame=int(c.clock.frame),
            labels=[list(label) for label in words.labels(c, self.width, self.height)],
            flags=[bool(c.has(flag)) for flag, _ in FLAGS], groups=[bool(g) for g in c.opt.geomgroup],
            sites=[bool(g) for g in c.opt.sitegroup],
            actuators=[[name, *map(_number, values)] for name, *values in words.actuators(c, SLIDERS)],
            equalities=[list(e) for e in words.equalities(c, SLIDERS)],
            said=words.note(c),
        )  # fmt: skip
