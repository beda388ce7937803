"""The window under a mouse and a keyboard, drawn by Vulkan and by rays: the wheel zooms, but not over a panel, and a
drag on a panel turns nothing; pause holds the time and one step is one step; a double click selects the brick that is
seen there; ctrl and a drag upwards lift it, an arrow shows, and afterwards no force is left; it can be resized and
closed, and leaves no file; F-keys open what they open in `simulate`, one fills the screen, and w films what is shown.
Skips where Xvfb or xdotool is not installed."""

import os
import pathlib
import queue
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import display
from shared.steered import Steered

from tisim.viewer import vulkan

PROGRAM = pathlib.Path(__file__).parent / "shared" / "window_program.py"
X, Y = 100, 100  # where the window opens
PATIENCE = 150.0  # [s]
MISSING = display.missing() or vulkan.missing() or (None if shutil.which("xdotool") else "xdotool is not installed")


class Window(Steered):
    """A running program, what its window last said, and a hand on its mouse."""

    def next(self, pictures=1):
        """What the window says after so many more pictures than now; what it said before may still be on its way."""
        now = time.monotonic()
        while pictures:
            try:
                said = self.listen(PATIENCE)
            except queue.Empty:
                said = None
            if said is None:
                self.process.kill()
                pytest.fail(f"the window says nothing: {self.process.stderr.read()[-2000:]}")
            pictures -= said["began"] > now
        return self.told

    def until(self, what):
        """Waits until what(told) is true."""
        end = time.monotonic() + PATIENCE
        while not what(self.next()):
            assert time.monotonic() < end and self.process.poll() is None, self.told
        return self.told

    def hand(self, *words):
        """One call of xdotool; places are those of the window."""
        self.xdotool(*words)
        return self.next(4)

    def move(self, x, y, *then):
        return self.hand("mousemove", X + round(x), Y + round(y), *then)


@pytest.fixture(params=["raster", "caster"])
def window(request, tmp_path):
    here, frames = tmp_path / "here", tmp_path / "frames"
    here.mkdir(), frames.mkdir()
    with display.display(frames) as name:
        process = subprocess.Popen([sys.executable, str(PROGRAM), request.param], cwd=here, text=True,
                                   env=os.environ | {"DISPLAY": name}, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)  # fmt: skip
        try:
            w = Window(process, name)
            w.here, w.frames = here, frames
            w.until(lambda told: told["frames"] > 4)
            yield w
        finally:
            process.kill()
            process.wait()


def red(w):
    """Pixels of the arrow's colour in the window."""
    p = display.pixels(w.frames)[Y : Y + 360, X : X + 640].astype(int)
    return int(((p[..., 0] > 150) & (p[..., 1] < 0.62 * p[..., 0]) & (p[..., 2] < 0.35 * p[..., 0])).sum())


@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_the_window_does_what_the_mouse_asks(window):
    w = window
    # the camera, and panels that keep the mouse for themselves
    before = w.move(450, 150)
    assert before["direct"]
    nearer = w.hand("click", 4)
    assert nearer["distance"] < before["distance"]
    w.hand("click", 5)
    after = w.hand("click", 5)
    assert after["distance"] > before["distance"]
    on_panel = w.move(60, 60)
    w.hand("click", 4)
    w.hand("mousedown", 1)
    w.move(200, 90)
    w.move(60, 60)
    dragged = w.hand("mouseup", 1)
    assert (dragged["distance"], dragged["azimuth"]) == (on_panel["distance"], on_panel["azimuth"])
    w.move(450, 150)  # seen away from the panel before the button is pressed, as with any hand
    w.hand("mousedown", 1)
    w.move(470, 150)
    assert w.hand("mouseup", 1)["azimuth"] != on_panel["azimuth"]
    w.hand("key", "Escape")
    # time
    w.hand("key", "space")
    held = w.next()
    assert not held["running"] and w.next(10)["time"] == held["time"]
    w.hand("key", "Right")
    assert w.next()["time"] == pytest.approx(held["time"] + 0.004, abs=1e-9)
    w.hand("key", "Left")
    assert w.next()["time"] == held["time"]
    assert w.hand("key", "F1")["help"] and not w.hand("key", "h")["help"]
    # a brick in the hand
    brick, (x, y) = w.told["brick"], w.told["pixel"]
    assert brick > 0
    w.move(x, y)
    end = time.monotonic() + PATIENCE
    while w.hand("click", "--repeat", 2, "--delay", 60, 1)["select"] != brick:  # a busy machine clicks twice too slowly
        assert time.monotonic() < end, w.told
    without = red(w)
    w.hand("keydown", "ctrl", "mousedown", 1)
    w.hand("key", "space")
    low = w.next()["height"]
    for up in (20, 40, 60, 80):
        w.move(x, y - up)
    w.until(lambda told: told["height"] > low + 0.2)
    assert w.told["active"] == 1 and w.told["force"][2] > 1 and not w.told["own"]
    w.until(lambda told: red(w) > without + 10)
    w.hand("mouseup", 1, "keyup", "ctrl")
    assert w.until(lambda told: told["active"] == 0)["own"]
    # the window itself
    window_id = subprocess.run(["xdotool", "search", "--name", "tisim"], env=os.environ | {"DISPLAY": w.name},
                               capture_output=True, text=True).stdout.split()[0]  # fmt: skip
    w.hand("windowsize", window_id, 500, 300)
    w.until(lambda told: told["size"] == [500, 300])
    w.next(5)
    assert np.ptp(display.pixels(w.frames)[Y : Y + 300, X : X + 500], axis=(0, 1)).min() > 50
    assert display.close_windows(w.name)
    assert w.process.wait(PATIENCE) == 0, w.process.stderr.read()
    assert list(w.here.iterdir()) == []


def brightness(w, width, height, x=0, y=0):
    """Least range of a colour in this part of the display."""
    return np.ptp(display.pixels(w.frames)[y : y + height, x : x + width], axis=(0, 1)).min()


@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_f_keys_and_shift_open_panels_and_one_fills_the_screen(window):
    w = window
    w.move(450, 150)
    for keys, panel in ((("F2", "shift+h"), "info"), (("F4", "shift+d"), "sensors")):
        for k, key in enumerate(keys):
            w.hand("key", key)
            w.until(lambda told, panel=panel, on=k == 0: told[panel] == on)
    assert brightness(w, X, display.HEIGHT) == 0  # nothing stands beside the window
    w.hand("key", "F5")
    w.until(lambda told: told["size"] == [display.WIDTH, display.HEIGHT])
    w.next(5)
    assert brightness(w, X, display.HEIGHT) > 50 and brightness(w, 40, 40, display.WIDTH - 40, display.HEIGHT - 40) > 5
    w.hand("key", "F5")
    w.until(lambda told: told["size"] == [640, 360])
    w.next(5)
    assert brightness(w, 640, 360, X, Y) > 50
    w.hand("key", "F5")
    w.until(lambda told: told["size"] == [display.WIDTH, display.HEIGHT])
    w.xdotool("key", "q")
    assert w.process.wait(PATIENCE) == 0, w.process.stderr.read()


@pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
def test_a_key_films_what_is_shown(window):
    from PIL import Image

    w = window
    w.move(450, 150)
    w.hand("key", "space")
    w.hand("key", "w")
    w.until(lambda told: told["filming"])
    w.next(3)
    w.hand("key", "Tab")
    w.next(3)
    w.hand("key", "w")
    w.until(lambda told: not told["filming"])
    w.xdotool("key", "q")
    assert w.process.wait(PATIENCE) == 0, w.process.stderr.read()
    (path,) = w.here.iterdir()
    assert path.name == "tisim-1.webp"
    film = Image.open(path)
    assert film.size == (640, 360) and film.n_frames >= 4

    def picture(k):
        film.seek(k)
        return np.asarray(film.convert("RGB"), int)

    first, last = picture(0), picture(film.n_frames - 1)
    assert np.ptp(first[:, 320:], axis=(0, 1)).min() > 50
    changed = np.abs(first - last).max(2) > 60
    assert changed[:200, 10:250].mean() > 0.5 and not changed[:, 600:].any()  # the panel went, nothing has moved
