"""Taichi's threads each get a processor of their own where they may use all of them, and only there."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

CODE = """
import json, os, time
import tisim
from shared import golden
from tisim.device import team

def ran():
    # nanoseconds on a processor: exactly 0 more for a thread that slept, however busy the machine is
    return {{t: int(open(f"/proc/self/task/{{t}}/schedstat").read().split()[0]) for t in os.listdir("/proc/self/task")}}

team.ENOUGH = 1 << 30  # they do not rest, however busy the machine is
tisim.init(arch="cpu"{threads})
with golden.force("parallel"):
    m, d, _ = golden.load(golden.Case("pile n=100", 0))
    tisim.step(m, d, 100)  # threads that compile kernels may be anywhere
    tisim.reset(m, d)
    before, worked, until = ran(), [], time.monotonic() + {patience}
    while not worked:
        tisim.step(m, d, 100)
        worked = [t for t, ns in ran().items() if ns > before.get(t, 0) and int(t) != os.getpid()]
        if time.monotonic() > until:
            break
place = {{t: sorted(os.sched_getaffinity(int(t))) for t in before if int(t) != os.getpid()}}
print(json.dumps([worked, place]))
"""
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def places(threads="", patience=0, **environment):
    """(threads that worked, dict thread -> the one processor it may use) of a process that simulates.

    patience  how long another process may have their processors before one works [s].
    """
    here = str(pathlib.Path(__file__).parent)
    path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    code = CODE.format(threads=threads, patience=patience)
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    ).stdout  # fmt: skip
    worked, place = json.loads(out.splitlines()[-1])
    return worked, {t: p[0] for t, p in place.items() if len(p) < PROCESSORS}


@pytest.mark.skipif(PROCESSORS < 2, reason="one processor")
def test_those_that_work_have_one_each():
    worked, place = places(patience=120)
    assert sorted(place.values()) == sorted(os.sched_getaffinity(0))
    assert worked and set(worked) <= set(place)


@pytest.mark.skipif(PROCESSORS < 2, reason="one processor")
def test_fewer_threads_and_those_told_so_are_free():
    assert not places(threads=", threads=1")[1]
    assert not places(TISIM_PIN="0")[1]
