"""With TISIM_DEBUG each array access of a kernel is checked: none is out of bounds in scenes of all kinds of pairs,
joints, rows and islands, serial or parallel, and one that is ends the run. validate() checks each step besides."""

import os
import pathlib
import subprocess
import sys

PROGRAM = """
import numpy as np
import tisim
from shared import golden

tisim.init(arch="cpu")
for variant, scene, steps in (
    ("serial", "golden/everything.xml queries=1", 6), ("serial", "joints", 30), ("serial", "ragdolls n=2", 30),
    ("parallel", "golden/everything.xml elliptic=1 multiccd=1 worlds=2", 6),
    ("parallel", "ragdolls n=2 cone=elliptic worlds=2", 30), ("parallel", "joints", 9), ("shared", "wall n=12", 9),
    ("shared", "golden/everything.xml worlds=2 multiccd=1", 6), ("team", "golden/everything.xml worlds=2", 6),
):
    with golden.force(variant):
        m, d, queries = golden.load(golden.Case(scene, 0))
        free = m.jnt_qposadr[m.jnt_type == tisim.mjtJoint.mjJNT_FREE]
        if "everything" in scene:  # all in a heap
            q = np.array(d.qpos).reshape(d.nworld, -1)
            place = np.random.default_rng(1).uniform(-1, 1, (len(q), len(free), 3)) * [0.5, 0.5, 0.2]
            q[:, free[:, None] + np.arange(3)] = place
            d.qpos = q if d.nworld > 1 else q[0]
        most = large = 0
        for _ in range(0, steps, 3):
            tisim.step(m, d, 3)
            most, large = max(most, d.nefc), max(large, d.count("nlarge"))
        golden.digest(d)
        if queries:
            golden.query(m, d)
    print(variant, most, large, scene, flush=True)
"""
REACHES_OUT = """
import tisim
from tisim.device import launch, runtime
tisim.init(arch="cpu")
m = tisim.Model.from_scene("pendulum")
d = tisim.Data(m)
d.__dict__["nworld"] = 2
launch.run(m, d, [runtime.kernels("smooth.kinematics").body_poses], False)
"""


def run(program, *arguments):
    env = os.environ | {"TISIM_DEBUG": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), env.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=env, timeout=600
    )


def test_scenes_of_all_kinds():
    out = run(PROGRAM)
    assert out.returncode == 0, out.stdout + out.stderr[-2000:]
    found = [line.split(maxsplit=3) for line in out.stdout.splitlines()]
    assert len(found) == 9
    for variant, most, large, scene in found:
        assert int(most) > (1000 if "everything" in scene else 0), scene  # constraint rows
        assert (int(large) > 0) == (variant in ("team", "shared")), scene  # islands that all threads solve


def test_one_that_reaches_out_ends_the_run():
    out = run(REACHES_OUT)
    assert out.returncode != 0 and "Out of bound access" in out.stderr
