"""The host's part of a frame of the interactive window: records, copies, draws as declared, panels; without a driver.

    python benchmarks/window.py [--bodies 10000,100000] [--frames 30] [--all-panels] [--profile]
    python benchmarks/window.py --drivers [--bodies 1000,10000]

Xvfb is started for it (apt-get install -y xvfb). Each frame is a new state of a pile, drawn by Vulkan as `tisim view
--raster` does it, with the panel that is open at its start. Counted is the time of all that Show.frame does but
the steps and GGUI's `show`, in which the driver draws. The shadow map is given apart: it is a picture by rays.
`--drivers`: processor time over all threads of a frame of 640x360, drawn by Vulkan with shadows and by the caster.
"""

import argparse
import cProfile
import os
import pathlib
import pstats
import statistics
import sys
import tempfile
import time

import tisim
from tisim.device import memory
from tisim.viewer.controls import Controls
from tisim.viewer.window import Show

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests"))
from shared import display  # noqa: E402

W, H = 1280, 720


class Timed:
    """Time that a function took, all calls of it."""

    def __init__(self, function):
        self.function, self.seconds = function, 0.0

    def __call__(self, *given, **named):
        start = time.perf_counter()
        try:
            return self.function(*given, **named)
        finally:
            self.seconds += time.perf_counter() - start

    def take(self):
        """Milliseconds since the last call of this."""
        found, self.seconds = 1e3 * self.seconds, 0.0
        return found


def timed(owner, name):
    """Counts the time of a method of an object from now on."""
    counted = Timed(getattr(owner, name))
    setattr(owner, name, counted)
    return counted


class Scene:
    """A pile of n bodies, and steps that only move it: the window is measured, not the engine."""

    def __init__(self, n, precision):
        tisim.init(arch="cpu", precision=precision)
        self.m = tisim.Model.from_scene("pile", n=n)
        self.d = tisim.Data(self.m)
        tisim.forward(self.m, self.d)

    def move(self):
        """All geoms stand elsewhere."""
        memory.host_view(self.d.device("geom_xpos"))[5::3] += 1e-3


def measure(n, frames, precision, profile, panels):
    """Medians [ms] of a pile of n bodies: the host's part but for the shadow map, that, the driver's part."""
    scene = Scene(n, precision)
    controls = Controls(scene.m, scene.d, running=False)
    controls.panels.profiler = panels
    show = Show(controls, W, H, passive=True)
    driver, shade, rows = timed(show.window, "show"), None, []
    watch = cProfile.Profile() if profile else None
    for k in range(frames + 3):
        scene.move()
        if k == 2:
            shade = timed(show._raster, "shade")
        if watch and k >= 3:
            watch.enable()
        start = time.perf_counter()
        show.frame()
        whole = 1e3 * (time.perf_counter() - start)
        if watch:
            watch.disable()
        drawn, map_ = driver.take(), shade.take() if shade else 0.0
        if k >= 3:
            rows.append((whole - drawn - map_, map_, drawn))
    show.close()
    if watch:
        pstats.Stats(watch).sort_stats("tottime").print_stats(35)
    return [statistics.median(column) for column in zip(*rows)]


def compared(n, frames, precision):
    """Medians of the processor time [ms] of a frame of a pile of n bodies by Vulkan, and by the caster."""
    scene, found = Scene(n, precision), []
    for caster in (False, True):
        show = Show(Controls(scene.m, scene.d, running=False), 640, 360, caster=caster, passive=True)
        times = []
        for _ in range(frames + 3):
            scene.move()
            start = time.process_time()
            show.frame()
            times.append(1e3 * (time.process_time() - start))
        show.close()
        found.append(statistics.median(times[3:]))
    return found


def main():
    """Prints a line for each pile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", default="10000,100000", help="numbers of bodies (default: %(default)s)")
    parser.add_argument("--frames", type=int, default=30, help="frames of each (default: %(default)s)")
    parser.add_argument("--precision", default="f32", choices=("f32", "f64"), help="(default: %(default)s)")
    parser.add_argument("--all-panels", action="store_true", help="that of solver and timing is open, too")
    parser.add_argument("--drivers", action="store_true", help="compares Vulkan's frames with the caster's")
    parser.add_argument("--profile", action="store_true", help="prints where the time goes")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, display.display(pathlib.Path(folder)) as name:
        os.environ["DISPLAY"] = name
        for n in map(int, args.bodies.split(",")):
            if args.drivers:
                vulkan, caster = compared(n, args.frames, args.precision)
                print(
                    f"{n:>7} bodies: Vulkan {vulkan:.0f} ms, caster {caster:.0f} ms, {caster / vulkan:.2f}", flush=True
                )
                continue
            host, shadow, driver = measure(n, args.frames, args.precision, args.profile, args.all_panels)
            print(f"{n:>7} bodies: host {host:.2f} ms, shadow map {shadow:.1f} ms, driver {driver:.0f} ms", flush=True)


if __name__ == "__main__":
    main()
