"""What do processes of Ray cost, against one process that runs the same cases with as many processors?

    python benchmarks/sweep.py [--cases 500] [--steps 200] [--processors 1 2] [--repeats 3]

A case is two bodies that are pushed and fall, too small for a second thread. Ray has so many processors; the time of
this process, which has one, is divided by them, as if nothing were lost. In turn; each is once run before, so that
Ray's processes are there and have their kernels; making the sweep's own scene in them counts. Medians are compared. The
exit code is 1 if a table differs, or if Ray takes more than OVERHEAD longer.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
OVERHEAD = 0.1
STACK = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body pos=".03 0 .31"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
</worldbody></mujoco>"""


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--cases", type=int, default=500)
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--processors", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    p.add_argument("--repeats", type=int, default=3, help="turns of each; medians are compared")
    return p.parse_args()


def measure(m, d, case):
    return {"qpos": np.array(d.qpos)}


def timed(tisim, m, cases, steps, workers):
    """(seconds, hash of the table) of a sweep."""
    began = time.perf_counter()
    table = tisim.sweep(m, cases, steps, measure, workers=workers)
    return time.perf_counter() - began, table.hash


def main():
    args = parse()
    sys.path.insert(0, str(ROOT))
    import tisim

    try:
        import ray
    except ImportError:
        sys.exit("no Ray here: pip install 'tisim[ray]'")
    tisim.init(threads=1)
    m = tisim.Model.from_xml_string(STACK)
    rng = np.random.default_rng(0)
    cases = {"qvel": rng.normal(size=(args.cases, m.nv)), "opt.gravity": rng.normal(size=(args.cases, 3)) - [0, 0, 9.8]}
    few = {name: values[:32] for name, values in cases.items()}
    print(f"{args.cases} cases of {args.steps} steps, Ray {ray.__version__}; seconds, medians")
    print(f"{'processors':>10} {'one process':>12} {'its part':>9} {'Ray':>7} {'overhead':>9}")
    good = True
    for number in args.processors:
        ray.init(num_cpus=number, log_to_driver=False, configure_logging=False, include_dashboard=False)
        ways, times, hashes = (1, "ray"), {1: [], "ray": []}, set()
        try:
            for way in ways:
                timed(tisim, m, few, args.steps, way)
            for _ in range(args.repeats):
                for way in ways:
                    seconds, found = timed(tisim, m, cases, args.steps, way)
                    times[way].append(seconds)
                    hashes.add(found)
        finally:
            ray.shutdown()
        alone, cluster = (statistics.median(times[way]) for way in ways)
        over = cluster * number / alone - 1
        good = good and len(hashes) == 1 and over < OVERHEAD
        told = "" if len(hashes) == 1 else "  DIFFERENT TABLES"
        print(f"{number:10d} {alone:12.2f} {alone / number:9.2f} {cluster:7.2f} {100 * over:8.1f}%{told}", flush=True)
    sys.exit(not good)


if __name__ == "__main__":
    main()
