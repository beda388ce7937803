"""A program whose window is tested: it prints what the window knows, one JSON object a picture.

Usage: window_program.py raster|caster. It finds no ffmpeg: its films are .webp.
"""

import json
import os
import sys
import time

import numpy as np

import tisim
from tisim.viewer import perturb
from tisim.viewer.controls import Controls
from tisim.viewer.window import Show

OWN = [0.0, 0.0, 1e-3, 0.0, 0.0, 0.0]  # what the program applies to every body itself


def visible(c):
    """A brick whose middle is seen on the right half of the window, and the pixel of that."""
    width, height = 640, 360
    pixels, _ = c.camera.project(np.asarray(c.d.xpos)[1:], width, height)
    order = np.argsort(np.abs(pixels - [430, 250]).sum(1))
    for body in order + 1:
        x, y = pixels[body - 1]
        if x > 400 and perturb.select(c.m, c.d, *c.ray(x / width, y / height))[0] == body:
            return int(body), [float(x), float(y)]
    return 0, [0, 0]


def main(draw):
    os.environ["PATH"], sys.modules["imageio_ffmpeg"] = "", None
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("wall", n=60)
    d = tisim.Data(m)
    d.xfrc_applied[1:] = OWN
    tisim.forward(m, d)
    c = Controls(m, d)
    show = Show(c, 640, 360, caster=draw == "caster")
    going = True
    while going:
        began = time.monotonic()
        going = show.frame()
        brick, pixel = visible(c) if not c.clock.running else (0, [0, 0])
        told = dict(
            frames=show.frames, time=float(d.time), running=c.clock.running, distance=c.cam.distance, brick=brick,
            azimuth=c.cam.azimuth, pixel=pixel, select=c.pert.select, active=c.pert.active, size=list(show.size),
            height=float(d.xpos[c.pert.select][2]), direct=show.direct is not None,
            force=np.asarray(d.xfrc_applied)[max(c.pert.select, 1)].tolist(),
            own=bool((np.asarray(d.xfrc_applied)[1:] == OWN).all()), help=c.panels.help,
            info=c.panels.info, sensors=c.panels.sensors, filming=c.filming, began=began,
        )  # fmt: skip
        print(json.dumps(told), flush=True)
    show.close()


main(sys.argv[1])
