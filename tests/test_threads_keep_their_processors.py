"""Taichi's threads each get a processor of their own where they may use all of them, and only there."""

import json
import os
import subprocess
import sys

import pytest

CODE = """
import json, os
import tisim
from tisim import scenes
tisim.init(arch="cpu"{threads})
m = tisim.Model.from_xml_string(scenes.build("pile", n=1500))
d = tisim.Data(m)
tisim.step(m, d, 20)
before = {{t: open(f"/proc/self/task/{{t}}/stat").read().split()[13] for t in os.listdir("/proc/self/task")}}
tisim.step(m, d, 60)
ticks = {{t: int(open(f"/proc/self/task/{{t}}/stat").read().split()[13]) - int(x) for t, x in before.items()}}
place = {{t: sorted(os.sched_getaffinity(int(t))) for t in before if int(t) != os.getpid()}}
print(json.dumps([ticks, place]))
"""
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def places(threads="", **environment):
    """(dict thread -> ticks of work, dict thread -> the one processor it may use) of a process that simulates."""
    out = subprocess.run(
        [sys.executable, "-c", CODE.format(threads=threads)], env={**os.environ, **environment}, capture_output=True,
        text=True, check=True,
    ).stdout  # fmt: skip
    ticks, place = json.loads(out.splitlines()[-1])
    return ticks, {t: p[0] for t, p in place.items() if len(p) < PROCESSORS}


@pytest.mark.skipif(PROCESSORS < 2, reason="one processor")
def test_those_that_work_have_one_each():
    ticks, place = places()
    assert sorted(place.values()) == sorted(os.sched_getaffinity(0))
    idle = [t for t in ticks if t not in place and t != max(ticks, key=ticks.get)]
    assert sum(ticks[t] for t in place) > 5 * sum(ticks[t] for t in idle)


@pytest.mark.skipif(PROCESSORS < 2, reason="one processor")
def test_fewer_threads_and_those_told_so_are_free():
    assert not places(threads=", threads=1")[1]
    assert not places(TISIM_PIN="0")[1]
