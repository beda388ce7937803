"""Chromium without a display, drawing by SwiftShader, on a page of 320x180: it shows what moves, a drag turns the view,
a pause stops the pictures and the bytes, a click selects. Skips where Chromium or websockets is not installed."""

import itertools
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest
from shared import devtools
from shared.steered import Steered

pytest.importorskip("websockets")
PROGRAM = pathlib.Path(__file__).parent / "shared" / "page_program.py"
PATIENCE = 150.0  # [s]: drawn on the CPU a picture of shapes may take many seconds
W, H = 320, 180
MOVING, WATCHED = 2, 2.0  # bodies that move; bytes are counted for so long [s]
BARE = """(() => {  // hides all but the scene
  const size = c => c.width * c.height;
  let e = [...document.querySelectorAll("canvas")].sort((a, b) => size(b) - size(a))[0];
  if (!e) return false;
  for (; e !== document.body; e = e.parentElement)
    for (const s of e.parentElement.children) if (s !== e && s.style) s.style.visibility = "hidden";
  return true; })()"""
RUN = """(() => {
  const label = [...document.querySelectorAll("label")].find(l => l.textContent.trim() === "run");
  const box = label && document.getElementById(label.htmlFor);
  if (box) box.click();
  return !!box; })()"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not devtools.CHROMIUM, reason="Chromium is not installed: apt-get install -y chromium"),
]


def wait(what):
    """Waits until what() is true; returns it."""
    end = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found


class Visit:
    """A page, the program behind it, and what comes to the browser: an address with `stream` in it."""

    def __init__(self, kind, page, program):
        self.kind, self.page, self.program = kind, page, program
        self.stream = "/pictures" if kind == "pictures" else "ws://"

    def told(self, what):
        """Waits until what the program says of itself makes what(told) true."""

        def so():
            self.page.run("0")  # workers of the page wait for an answer, too
            self.program.skip()
            return self.program.listen(PATIENCE) is not None and what(self.program.told)

        wait(so)

    def bare(self):
        """Hides panels."""
        if self.kind == "pictures":
            self.page.key("Tab", 9)
        else:
            wait(lambda: self.page.run(BARE))

    def pause(self):
        """Stops the time, or lets it go on."""
        if self.kind == "pictures":
            self.page.key(" ", 32, " ")
        else:
            wait(lambda: self.page.run(RUN))

    def red(self, picture):
        """Rows and columns of pixels of the box's colour."""
        p = picture.astype(int)
        return np.argwhere((p[..., 0] > 90) & (p[..., 0] > 2 * p[..., 1]) & (p[..., 0] > 2 * p[..., 2]))

    def still(self):
        """Waits until two pictures, one after the other, are equal; returns them."""
        pictures = ((self.page.picture(), time.sleep(0.5))[0] for _ in itertools.count())
        before, end = next(pictures), time.monotonic() + PATIENCE
        while not np.array_equal(before, now := next(pictures)):
            assert time.monotonic() < end
            before = now
        return now

    def arriving(self):
        """Bytes that arrive in a second."""
        before, start = self.page.bytes_of(self.stream), time.monotonic()
        time.sleep(WATCHED)
        return (self.page.bytes_of(self.stream) - before) / (time.monotonic() - start)


@pytest.fixture(params=["pictures", "shapes"])
def visit(request, tmp_path):
    if request.param == "shapes":
        pytest.importorskip("viser")
    command = [sys.executable, str(PROGRAM), request.param, "turning"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        program = Steered(process, None)
        while "url" not in program.told:
            assert program.listen(PATIENCE) is not None
        with devtools.page(program.told["url"], W, H, tmp_path / "profile", PATIENCE) as page:
            found = Visit(request.param, page, program)
            found.told(lambda told: told["visitors"] > 0)
            yield found
    finally:
        process.kill()
        process.wait()


def test_a_page_shows_what_moves_turns_pauses_and_selects(visit):
    page = visit.page
    visit.bare()
    wait(lambda: len(visit.red(page.picture())) > 1500)
    first = page.picture()
    assert first.shape == (H, W, 3)
    wait(lambda: not np.array_equal(page.picture(), first))  # the blade turns
    moving = visit.arriving()
    assert moving > (5000 if visit.kind == "pictures" else 28 * MOVING * 5)  # at least five pictures, updates a second

    visit.pause()
    visit.told(lambda told: not told["running"])
    paused = visit.still()
    time.sleep(1.0)
    assert np.array_equal(page.picture(), paused)
    resting = visit.arriving()
    assert resting < 1000 and resting < 0.1 * moving

    page.drag((40, 150), (60, 0))  # on the floor
    wait(lambda: not np.array_equal(page.picture(), paused))
    turned = visit.still()
    assert (np.abs(turned.astype(int) - paused).max(2) > 20).mean() > 0.05
    box = visit.red(turned)
    assert len(box) > 1000

    y, x = box.mean(0)
    page.click(x, y, times=2)
    visit.told(lambda told: told["selected"] == 1)

    visit.pause()
    visit.told(lambda told: told["running"])
    now = page.picture()
    wait(lambda: not np.array_equal(page.picture(), now))
