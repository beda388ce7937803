"""Results are the same bits for 1, 2, 3 and 8 threads and from run to run: free bodies, joints, meshes with multiccd, a
height field, and islands that all threads share; piles of 300 to 10,000.

Contract: bitwise equality, in separate processes, of state, contacts, rows and islands (tests/shared/golden.py).
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import tisim
from shared import golden

tisim.init(arch="cpu", precision="f64", threads=int(sys.argv[1]))
for scene, steps, variant in eval(sys.argv[2]):
    print(variant, scene, golden.compute(golden.Case(scene, steps, variant=variant)))
"""
QUICK = (
    ("pile n=200", 150, "chosen"), ("pile n=200 cone=elliptic", 80, "shared"), ("joints", 60, "parallel"),
    ("golden/everything.xml worlds=2 multiccd=1 queries=1", 60, "parallel"),
    ("golden/everything.xml multiccd=1", 40, "shared"), ("golden/everything.xml worlds=2", 40, "team"),
    ("pile n=200", 100, "team"), ("pile n=200", 100, "packed"),
)  # fmt: skip
LARGE = (
    *((f"pile n={n}", 200, "chosen") for n in (300, 1000, 4000, 10000)), ("ragdolls n=20", 150, "chosen"),
    ("bowl n=60 multiccd=1", 100, "chosen"), ("chain n=60 joint=mixed worlds=9", 100, "chosen"),
    ("joints worlds=9", 200, "chosen"),
)  # fmt: skip


def run(threads, cases=QUICK):
    here = str(pathlib.Path(__file__).parent)
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(threads), repr(cases)], capture_output=True, text=True, timeout=600,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert out.returncode == 0, out.stderr[-2000:]
    return out.stdout.splitlines()


def test_any_number_of_threads_and_two_runs_agree():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # two processes at a time
        first, *others = pool.map(run, (1, 2, 2, 3, 8))
    assert len(first) == 8
    assert all(other == first for other in others)


@pytest.mark.slow
def test_large_piles_meshes_and_limits_do():
    """With as many workers as the engine takes: one process at a time, so that they have the processors."""
    first, *others = (run(threads, LARGE) for threads in (1, 2, 3, 8))
    assert len(first) == len(LARGE)
    assert all(other == first for other in others)
