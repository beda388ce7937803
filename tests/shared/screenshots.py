"""Pictures of the window, drawn by Vulkan and by rays, and of both pages in Chromium, as tisim/PICTURES.md shows them.

Usage: python tests/shared/screenshots.py models [raster caster pictures shapes]
It needs Xvfb, a Vulkan driver and Chromium, but no display; README shows the first of windows and of pages.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import tisim  # noqa: E402
from shared import display  # noqa: E402
from tisim.viewer.browser import objects, pictures  # noqa: E402
from tisim.viewer.controls import Controls  # noqa: E402
from tisim.viewer.window import Show  # noqa: E402

WIDTH, HEIGHT = 800, 480  # of the browser, which is as large as the display
FILES = dict(raster="pictures/window.webp", caster="gallery/window_caster.webp", pictures="pictures/page.webp",
             shapes="gallery/page_shapes.webp")  # fmt: skip
WIDE, HIGH = 1000, 600  # of the window
LOADED = 75.0  # how long Chromium may take for its first picture, drawn on the CPU [s]
CHROMIUM = ("--no-sandbox --kiosk --no-first-run --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader "
            "--ignore-gpu-blocklist").split()  # fmt: skip


def pulled():
    """Controls on a wall that a ball breaks, with a high brick in the hand and the panel of numbers open."""
    m = tisim.Model.from_scene("wall", n=60)
    d = tisim.Data(m)
    tisim.step(m, d, 170)
    tisim.forward(m, d)
    c = Controls(m, d, aspect=WIDE / HIGH, running=False)
    c.key("d")
    place, _ = c.camera.project(np.asarray(d.xpos)[1:-1], WIDE, HIGH)
    near = np.abs(place - [0.52 * WIDE, 0.3 * HIGH]).sum(1)
    brick = 1 + int(np.argmin(near))
    c.choose(brick, d.xpos[brick])
    c.pull(d.xpos[brick] + [0, 0, 0.6])
    return c


def window(name):
    """The window with its panels, as GGUI shows it; the program steps."""
    c, kept = pulled(), []
    show = Show(c, WIDE, HIGH, caster=name == "caster", passive=True)
    for _ in range(30):
        c.push()
        tisim.step(c.m, c.d)
        show.frame()
    show._filming.see = lambda controls, take, now: kept.append(take())
    show.frame()
    show.close()
    return kept[0]


def page(name, frames, screen):
    """What Chromium shows of a page."""
    m = tisim.Model.from_scene("wall", n=60)
    d = tisim.Data(m)
    tisim.step(m, d, 190)
    tisim.forward(m, d)
    c = Controls(m, d, aspect=WIDTH / HEIGHT, running=False)
    server = pictures.Pages(c, 640, 360, "127.0.0.1", 0) if name == "pictures" else objects.Shapes(c, "127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as profile:
        chromium = subprocess.Popen(
            [shutil.which("chromium") or "chromium-browser", *CHROMIUM, f"--window-size={WIDTH},{HEIGHT}",
             f"--user-data-dir={profile}", server.url],
            env=os.environ | {"DISPLAY": screen}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            end = time.monotonic() + LOADED
            while time.monotonic() < end:
                server.frame()
                time.sleep(0.03)
                if name == "pictures" and time.monotonic() > end - LOADED + 20:
                    break
            return display.pixels(frames)
        finally:
            os.killpg(chromium.pid, 9)
            chromium.wait()


def main(folder, *names):
    """Writes the pictures."""
    tisim.init(arch="cpu")
    for name in names or FILES:
        with tempfile.TemporaryDirectory() as frames, display.display(pathlib.Path(frames)) as screen:
            os.environ["DISPLAY"] = screen
            made = window(name) if name in ("raster", "caster") else page(name, pathlib.Path(frames), screen)
        file = pathlib.Path(folder) / FILES[name]
        Image.fromarray(made).save(file, quality=80, method=6)
        print(file, f"{file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
