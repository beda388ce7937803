"""Wall time of a picture of 640 x 360 by one core, and what it would be by eight: an estimate, for machines of fewer.

    python benchmarks/cores.py [--scenes wall:60,pile:1000,pile:10000] [--cores 8] [--measure]

One thread draws; each launch is timed. What Python does and launches of one thread stay as they are. A launch of `draw`
or `see_sky`, which are most of the work, is cut into the parts that workers take at once, each part is timed, and the
parts go to whoever is free first, and so do the lists of the views; the other loops do alike work in each turn and are
divided by the number of cores. Nothing is added for waking threads, nor for the memory that cores share. `alone`: what
one thread does;  `balance`: time of `draw` and `see_sky` by a core each, divided by the cores, over the longest core's.
With --measure nothing is estimated: one thread draws, then as many as --cores says, on a machine that has them.
"""

import argparse
import itertools
import os
import sys
import time

import numpy as np
from pictures import PICTURES, H, W, scene

import tisim
from tisim.device import launch, machine_code, native
from tisim.viewer.caster import Caster


class Watch:
    """Times launches while a picture is drawn, and the parts that `draw` and its like, and the lists of views, are cut
    into.

    spent  seconds of what is shared, of what one thread does alone, of the parts;  longest  of these by so many cores;
    drawn  of `draw` and its like alone;  aside  seconds that measuring took.
    """

    def __init__(self, cores):
        self.cores, self.run = cores, launch.run
        self.own = {name: getattr(Caster, name) for name in ("_by_chunks", "_list")}
        self.clear()

    def clear(self):
        self.spent, self.aside = dict(shared=0.0, alone=0.0, parts=0.0), 0.0
        self.longest = self.drawn = self.ideal = 0.0

    def __enter__(self):
        launch.run = self.launched
        Caster._by_chunks = lambda caster, *given, **scalars: self.chunks(caster, *given, **scalars)
        Caster._list = lambda caster, *given: self.lists(caster, *given)
        return self

    def __exit__(self, *_):
        launch.run = self.run
        for name, own in self.own.items():
            setattr(Caster, name, own)

    def launched(self, m, d, kernels, parallel=True, **scalars):
        start = time.perf_counter()
        self.run(m, d, kernels, parallel=parallel, **scalars)
        parts = "picslot" in scalars or "picroom" in scalars
        kind = "alone" if not parallel else "parts" if parts else "shared"
        self.spent[kind] += time.perf_counter() - start

    def parts(self, acts):
        """Longest time of a core if each takes the next act when it is free, and the time of all."""
        kept, busy = dict(self.spent), np.zeros(self.cores)
        for act in acts:
            times = []
            for _ in range(3):
                self.spent["parts"] = 0.0
                act()
                times.append(self.spent["parts"])
            busy[np.argmin(busy)] += min(times)
        self.spent = kept
        self.longest += busy.max()
        return busy.max(), busy.sum()

    def chunks(self, caster, samples, kernels, **scalars):
        def act(blocks=samples.blocks):
            caster._blocks(blocks)
            self.own["_by_chunks"](caster, samples, drawing, **scalars)

        drawing = [kernel for kernel in kernels if kernel[0] == "shading"]
        for kernel in kernels:  # each in a launch of its own: the others are not cut into parts
            act() if kernel in drawing else caster._run_all([kernel])
        start, turns = time.perf_counter(), -(-len(samples.blocks) // samples.chunk)
        step = max(machine_code.GRAIN, turns // native.CHUNKS) * samples.chunk
        cuts = range(0, len(samples.blocks), step)
        longest, whole = self.parts([lambda k=k: act(samples.blocks[k : k + step]) for k in cuts])
        self.drawn, self.ideal = self.drawn + longest, self.ideal + whole / self.cores
        caster._blocks(samples.blocks)
        self.aside += time.perf_counter() - start

    def lists(self, caster, first, end, parallel):
        self.own["_list"](caster, first, end, parallel)
        if parallel:  # else one thread does all
            start = time.perf_counter()
            self.parts([lambda v=v: self.own["_list"](caster, v, v + 1, True) for v in range(first, end)])
            self.aside += time.perf_counter() - start


def estimate(m, d, cam, quality, cores):
    """Least time of a picture by one core and by so many [s], the balance of draw, and what one thread does alone."""
    rows = []
    with Watch(cores) as watch, tisim.Renderer(m, H, W, quality=quality) as r:
        for _ in range(PICTURES + 1):
            watch.clear()
            start = time.perf_counter()
            r.update_scene(d, cam)
            r.render()
            one = time.perf_counter() - start - watch.aside
            spent = watch.spent
            alone = one - spent["parts"] - spent["shared"]
            rows.append((one, alone + watch.longest + spent["shared"] / cores, watch.ideal / watch.drawn, alone))
    return min(rows[1:])


def measured(m, d, cam, quality):
    """Least wall time of a picture [s]."""
    times = []
    with tisim.Renderer(m, H, W, quality=quality) as r:
        for _ in range(2 * PICTURES + 1):
            start = time.perf_counter()
            r.update_scene(d, cam)
            r.render()
            times.append(time.perf_counter() - start)
    return min(times[1:])


def measure(scenes, cores):
    """Prints what one thread takes, and so many."""
    if cores > (os.cpu_count() or 1):
        sys.exit(f"--measure --cores {cores}: this machine has {os.cpu_count()} processors")
    found = {}
    for threads in (1, cores):
        tisim.init(arch="cpu", precision="f32", threads=threads)
        for text in scenes:
            for quality in ("sun", "sky"):
                found[threads, text, quality] = measured(*scene(text), quality)
    for text, quality in itertools.product(scenes, ("sun", "sky")):
        one, many = (found[threads, text, quality] for threads in (1, cores))
        print(
            f"{text:>12} {quality}: one core {1e3 * one:.1f} ms, {cores} cores {1e3 * many:.1f}, {one / many:.1f} times"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", default="wall:60,pile:1000,pile:10000", help="(default: %(default)s)")
    parser.add_argument("--cores", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--measure", action="store_true", help="measure instead, where there are so many processors")
    args = parser.parse_args()
    if args.measure:
        return measure(args.scenes.split(","), args.cores)
    tisim.init(arch="cpu", precision="f32", threads=1)
    for text in args.scenes.split(","):
        m, d, cam = scene(text)
        for quality in ("sun", "sky"):
            one, many, balance, alone = estimate(m, d, cam, quality, args.cores)
            print(f"{text:>12} {quality}: one core {1e3 * one:.1f} ms, {args.cores} cores {1e3 * many:.1f}, "
                  f"{one / many:.1f} times; alone {1e3 * alone:.1f}, balance {balance:.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
