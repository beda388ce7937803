"""With TISIM_DEBUG each array access of a kernel is checked: none is out of bounds in scenes of all kinds of pairs,
joints, rows and islands, serial or parallel, and one that is ends the run. validate() checks each step besides."""

import os
import pathlib
import subprocess
import sys

import pytest

CASES = {
    "few": [("serial", "pendulum", 30)],  # with checks, those of rows take minutes to compile
    "serial": [
        ("serial", "golden/everything.xml queries=1", 6), ("serial", "joints", 30), ("serial", "ragdolls n=2", 30),
        ("serial", "pile n=5", 30),
    ],
    "parallel": [
        ("parallel", "golden/everything.xml multiccd=1 worlds=2", 6), ("parallel", "ragdolls n=2 worlds=2", 30),
        ("parallel", "joints", 9), ("shared", "wall n=12", 9), ("team", "golden/everything.xml worlds=2", 6),
        ("shared", "golden/everything.xml worlds=2 multiccd=1", 6), ("packed", "pile n=30 worlds=2", 30),
    ],
}  # fmt: skip
PROGRAM = """
import sys

import numpy as np
import tisim
from shared import golden
from test_kernels_stay_within_their_arrays import CASES
from tisim.model import device_model
from tisim.model.features import features

def shared(m):  # models with joints share their kernels, which take minutes to compile with checks
    has = features(m)
    return has._replace(rows=True, torsion=True) if has.jointed else has

device_model.features = shared
tisim.init(arch="cpu")
for variant, scene, steps in CASES[sys.argv[1]]:
    with golden.force(variant):
        m, d, queries = golden.load(golden.Case(scene, 0))
        m.opt.cone = 0 if sys.argv[1] == "serial" else 1
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


def start(program, *arguments):
    env = os.environ | {"TISIM_DEBUG": "1"}
    env["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), env.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


@pytest.mark.parametrize("names", [["few"], pytest.param(["serial", "parallel"], marks=pytest.mark.slow)])
def test_scenes_of_all_kinds(names):
    running = {name: start(PROGRAM, name) for name in names}  # at once: a compiler uses one processor
    for name, process in running.items():
        out, err = process.communicate(timeout=3600)
        assert process.returncode == 0, out + err[-2000:]
        found = [line.split(maxsplit=3) for line in out.splitlines()]
        assert len(found) == len(CASES[name])
        for variant, most, large, scene in found:
            least = 1000 if "everything" in scene else 0 if scene == "pendulum" else 1
            assert int(most) >= least, scene  # constraint rows
            all_threads = variant in ("team", "packed", "shared")
            assert (int(large) > 0) == all_threads, scene  # islands that they solve


def test_one_that_reaches_out_ends_the_run():
    process = start(REACHES_OUT)
    _, err = process.communicate(timeout=300)
    assert process.returncode != 0 and "Out of bound access" in err
