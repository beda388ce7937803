"""State hashes after 200 steps of a pile of 200 bodies are equal for 1 and 2 threads and from run to run.

Contract: bitwise equality, in separate processes, of time, qpos, qvel and qacc_warmstart.
"""

import os
import subprocess
import sys

PROGRAM = """
import hashlib, sys
import tisim
from tisim import scenes
tisim.init(arch="cpu", threads=int(sys.argv[1]))
if sys.argv[2] == "shared":  # all threads on one island, every stage parallel
    from tisim.stages import collision, constraint, dynamics
    constraint.shared_island = lambda: 20
    collision.SEARCHED = collision.COLLIDED = collision.LISTED = collision.BOXED = 0
    constraint.PARALLEL_CONTACTS = dynamics.PARALLEL_BODIES = 0
m = tisim.Model.from_xml_string(scenes.build("pile", n=200))
d = tisim.Data(m)
tisim.step(m, d, int(sys.argv[3]))
print(hashlib.sha256(tisim.get_state(m, d).tobytes()).hexdigest(), d.ncon)
"""


def run(threads, mode, steps):
    out = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(threads), mode, str(steps)], capture_output=True, text=True,
        env=dict(os.environ), timeout=600,
    )  # fmt: skip
    assert out.returncode == 0, out.stderr[-2000:]
    return out.stdout.split()


def test_one_and_two_threads_and_two_runs_agree():
    first = run(1, "plain", 200)
    assert int(first[1]) > 300
    assert run(2, "plain", 200) == first
    assert run(2, "plain", 200) == first


def test_they_agree_where_all_threads_share_an_island():
    assert run(1, "shared", 80) == run(2, "shared", 80)
