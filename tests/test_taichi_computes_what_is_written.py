"""The options tisim starts Taichi with do not miscompile: each probe is wrong with Taichi's defaults.

Run in a subprocess per set of options, since Taichi starts once.
"""

import subprocess
import sys

PROBES = """
import sys
import numpy as np
import taichi as ti

from tisim.device.runtime import SAFE_OPTIONS

options = SAFE_OPTIONS if sys.argv[1] == "safe" else {}
ti.init(arch=ti.cpu, offline_cache=False, log_level=ti.ERROR, **options)
I = ti.types.ndarray(dtype=ti.i32, ndim=1)
V = ti.types.ndarray(dtype=ti.math.vec2, ndim=1)

@ti.func
def equal(a, b, p) -> ti.u1:
    box = a
    x = box[0]
    first = x
    if p:
        first = first + 0
    box = b
    x = box[0]
    return first == x

@ti.kernel
def reassigned(a: V, b: V, out: I, n: int):
    for i in range(a.shape[0]):
        out[i] = equal(a[i], b[i], i == n)

@ti.kernel
def literal(a: I, out: I):
    ti.loop_config(serialize=True)
    for i in range(2):
        for _ in range(1):
            a[i] = 1
            if i == 0:
                out[0] = a[0]
                out[1] = a[i]

@ti.kernel
def aliased(v: I, bi: I, bj: I, out: I):
    ti.loop_config(serialize=True)
    for c in range(2):
        i = bi[c]
        j = bj[c]
        for _ in range(2):
            v[i] = v[i] + 1
            v[j] = v[j] + 10
        out[c] = v[i]

def array(values):
    a = ti.ndarray(ti.i32, len(values))
    a.from_numpy(np.array(values, np.int32))
    return a

a, b = ti.Vector.ndarray(2, ti.f32, 10), ti.Vector.ndarray(2, ti.f32, 10)
a.from_numpy(np.ones((10, 2), np.float32))
b.from_numpy(np.zeros((10, 2), np.float32))
wrong = []
out = array([0] * 10)
reassigned(a, b, out, 15)
if out.to_numpy().any():
    wrong.append("reassigned vector")
out = array([0, 0])
literal(array([0, 0]), out)
if list(out.to_numpy()) != [1, 1]:
    wrong.append("stale read")
out = array([0, 0])
aliased(array([0, 0]), array([0, 1]), array([0, 1]), out)
if list(out.to_numpy()) != [22, 22]:
    wrong.append("aliased indices")
print("wrong:", wrong)
"""


def run(options, folder):
    program = folder / "probes.py"  # a file: Taichi reads the source of its kernels
    program.write_text(PROBES)
    out = subprocess.run([sys.executable, str(program), options], capture_output=True, text=True, timeout=300)
    assert out.returncode == 0, out.stderr[-2000:]
    return out.stdout.splitlines()[-1]


def test_safe_options_pass_every_probe(tmp_path):
    assert run("safe", tmp_path) == "wrong: []"


def test_the_probes_can_fail(tmp_path):
    assert run("default", tmp_path) != "wrong: []"
