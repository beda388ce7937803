"""Chromium on a page of a simulation: it shows the box, a drag turns the view, a click selects, a drag with ctrl lifts,
a stop stops the pictures. Skips where Chromium, Xvfb or xdotool is not installed."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import display
from shared.steered import Steered

PROGRAM = pathlib.Path(__file__).parent / "shared" / "page_program.py"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = display.missing() or (None if shutil.which("xdotool") else "xdotool is not installed")
MISSING = MISSING or (None if CHROMIUM else "Chromium is not installed: apt-get install -y chromium")
PATIENCE = 150.0  # [s]: drawn on the CPU a picture of shapes may take many seconds
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=str(MISSING))]


class Browser(Steered):
    """A browser on a display, and what the program behind its page says. frames  folder of the display's pixels."""

    frames = None

    def until(self, what):
        """Waits until what(told) is true."""
        end = time.monotonic() + PATIENCE
        while True:
            assert self.listen(PATIENCE) is not None, f"the program ended; it last said {self.told}"
            if what(self.told):
                return self.told
            assert time.monotonic() < end, self.told

    def red(self):
        """Rows and columns of pixels of the box's colour."""
        p = display.pixels(self.frames).astype(int)
        return np.argwhere((p[..., 0] > 90) & (p[..., 0] > 2 * p[..., 1]) & (p[..., 0] > 2 * p[..., 2]))

    def seen(self, what):
        """Waits until what(red()) is true; returns it."""
        end = time.monotonic() + PATIENCE
        while not what(found := self.red()):
            assert time.monotonic() < end, f"{len(found)} red pixels"
            time.sleep(0.5)
        return found

    def drag(self, button, start, away, *keys):
        """A drag with the mouse, some pixels at a time; keys are held."""
        for key in keys:
            self.xdotool("keydown", key)
        self.xdotool("mousemove", *start, "mousedown", button)
        for k in range(1, 9):
            self.xdotool("mousemove", start[0] + away[0] * k // 8, start[1] + away[1] * k // 8)
            time.sleep(0.15)


@pytest.fixture(params=["pictures", "shapes"])
def browser(request, tmp_path):
    if request.param == "shapes":
        pytest.importorskip("viser")
    frames = tmp_path / "frames"
    frames.mkdir()
    program = subprocess.Popen([sys.executable, str(PROGRAM), request.param], stdout=subprocess.PIPE, text=True)
    try:
        with display.display(frames) as name:
            b = Browser(program, name)
            b.frames = frames
            url = b.until(lambda told: "url" in told)["url"]
            chromium = subprocess.Popen(
                [CHROMIUM, "--no-sandbox", "--kiosk", "--no-first-run", "--window-size=800,480",
                 "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
                 f"--user-data-dir={tmp_path / 'profile'}", url],
                env=os.environ | {"DISPLAY": name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            try:
                b.until(lambda told: told["visitors"] > 0)
                yield b
            finally:
                os.killpg(chromium.pid, 9)
                chromium.wait()
    finally:
        program.kill()
        program.wait()


def test_a_browser_shows_turns_selects_and_pulls(browser):
    shown = browser.seen(lambda red: len(red) > 1500)
    middle = shown.mean(0).astype(int)
    x, y = int(middle[1]), int(middle[0])
    browser.xdotool("mousemove", x, y, "click", "--repeat", 2, "--delay", 120, 1)
    browser.until(lambda told: told["selected"] == 1)
    browser.drag(1, (x, y), (0, -100), "ctrl")
    browser.until(lambda told: told["force"] > 0 and told["height"] > 0.7)
    browser.xdotool("mouseup", 1, "keyup", "ctrl")
    browser.until(lambda told: told["force"] == 0)
    browser.until(lambda told: told["height"] < 0.55)
    time.sleep(5.0)
    before = browser.red()
    browser.drag(1, (330, 430), (120, 0))  # on the floor
    browser.xdotool("mouseup", 1)
    browser.seen(lambda red: len(red) > 1500 and {*map(tuple, red)} != {*map(tuple, before)})
