"""Wall time of a picture of 640 x 360 by one core, and what it would be by eight: an estimate, for machines of fewer.

    python benchmarks/cores.py [--scenes wall:60,pile:1000,pile:10000] [--cores 8]

One thread draws; each launch is timed. What Python does and launches of one thread stay as they are. A launch
of `draw`, which is most of the work, is cut into the parts that workers take at once, each part is timed, and the parts
go to whoever is free first; the other loops do alike work in each turn and are divided by the number of cores. Nothing
is added for waking threads, nor for the memory that cores share. `balance`: time of `draw` by a core each, divided by
the cores, over the longest core's.
"""

import argparse
import time

import numpy as np
from pictures import PICTURES, H, W, scene

import tisim
from tisim.device import launch, machine_code, native
from tisim.viewer.caster import Caster


class Watch:
    """Times launches while a picture is drawn, and the parts of each `draw`.

    spent  seconds of what is shared, of what one thread does alone, of `draw`;  longest  of draw by so many cores;
    aside  seconds that measuring took.
    """

    def __init__(self, cores):
        self.cores, self.run, self.draw = cores, launch.run, Caster._draw
        self.clear()

    def clear(self):
        self.spent, self.longest, self.aside = dict(shared=0.0, alone=0.0, draw=0.0), 0.0, 0.0

    def launched(self, m, d, kernels, parallel=True, **scalars):
        start = time.perf_counter()
        self.run(m, d, kernels, parallel=parallel, **scalars)
        kind = "draw" if "picslot" in scalars else "shared" if parallel else "alone"
        self.spent[kind] += time.perf_counter() - start

    def drawn(self, caster, samples, *given):
        self.draw(caster, samples, *given)
        start, kept = time.perf_counter(), dict(self.spent)
        blocks, turns = samples.blocks, -(-len(samples.blocks) // samples.chunk)
        step = max(machine_code.GRAIN, turns // native.CHUNKS) * samples.chunk
        busy = np.zeros(self.cores)
        for k in range(0, len(blocks), step):
            samples.blocks, times = blocks[k : k + step], []
            for _ in range(3):
                self.spent["draw"] = 0.0
                self.draw(caster, samples, *given)
                times.append(self.spent["draw"])
            busy[np.argmin(busy)] += min(times)
        samples.blocks = blocks
        self.draw(caster, samples, *given)
        self.spent = kept
        self.longest += busy.max()
        self.aside += time.perf_counter() - start


def estimate(m, d, cam, quality, cores):
    """Least time of a picture by one core and by so many [s], and the balance of draw."""
    watch, rows = Watch(cores), []
    launch.run = watch.launched
    Caster._draw = lambda caster, samples, *given: watch.drawn(caster, samples, *given)
    try:
        with tisim.Renderer(m, H, W, quality=quality) as r:
            for _ in range(PICTURES + 1):
                watch.clear()
                start = time.perf_counter()
                r.update_scene(d, cam)
                r.render()
                one = time.perf_counter() - start - watch.aside
                spent = watch.spent
                many = one - spent["draw"] - spent["shared"] + watch.longest + spent["shared"] / cores
                rows.append((one, many, spent["draw"] / cores / watch.longest))
    finally:
        launch.run, Caster._draw = watch.run, watch.draw
    return min(rows[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", default="wall:60,pile:1000,pile:10000", help="(default: %(default)s)")
    parser.add_argument("--cores", type=int, default=8, help="(default: %(default)s)")
    args = parser.parse_args()
    tisim.init(arch="cpu", precision="f32", threads=1)
    for text in args.scenes.split(","):
        m, d, cam = scene(text)
        for quality in ("sun", "sky"):
            one, many, balance = estimate(m, d, cam, quality, args.cores)
            print(f"{text:>12} {quality}: one core {1e3 * one:.1f} ms, {args.cores} cores {1e3 * many:.1f}, "
                  f"{one / many:.1f} times; balance {balance:.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
