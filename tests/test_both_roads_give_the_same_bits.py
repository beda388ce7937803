"""Kernels called as machine code compute what Taichi's own launches of them compute, bit for bit.

Contract: state, contacts, rows and islands are equal by both roads, with 1, 2 and 3 threads, by one thread and by all,
with islands that all threads share, several worlds, rays and distances, in f64 and f32, after restarts in one process.
Lists that grow, states that are reset, arrays that are replaced, interrupts between launches and forks change nothing.
"""

import concurrent.futures
import gc
import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest
import taichi as ti
from shared import golden
from shared.roads import need_machine_code

import tisim
from tisim.device import launch, native
from tisim.device.machine_code import Unsupported
from tisim.device.variant import kernel

PROGRAM = """
import json, sys
import tisim
from shared import golden
from tisim.device import native

found = {}
for precision, threads, cases in json.loads(sys.argv[1]):
    tisim.init(arch="cpu", precision=precision, threads=threads)
    for scene, steps, variant in cases:
        text = golden.compute(golden.Case(scene, steps, precision, variant))
        found.setdefault(f"{scene} {steps} {precision} {variant}", []).append(text)
road = native.road()
print(json.dumps([found, road is not None, road.plain if road else {}]))
"""

CASES = [
    ("pile n=60", 40, "serial"), ("pile n=60", 40, "parallel"), ("pile n=60 cone=elliptic", 30, "shared"),
    ("ragdolls n=3", 40, "parallel"), ("bowl n=8 multiccd=1", 30, "parallel"),
    ("joints cone=elliptic", 60, "serial"),
    ("golden/everything.xml worlds=2 queries=1", 30, "shared"),
]  # fmt: skip
FEW = CASES[:1]  # Taichi takes minutes to compile what the others launch
SINGLE = [("pile n=60 cone=elliptic", 30, "parallel"), ("ragdolls n=3", 30, "serial")]


def run(plan, **variables):
    """{case: hashes} of a plan of (precision, threads, cases), done by a process, and whether all was native."""
    here = str(pathlib.Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(plan)], capture_output=True, text=True, timeout=3000,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])} | variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found, road, plain = json.loads(done.stdout)
    return found, road and not plain


@pytest.mark.parametrize("cases, single", [(FEW, []), pytest.param(CASES, SINGLE, marks=pytest.mark.slow)])
def test_both_roads_agree(cases, single):
    both = [("f64", 2, cases), ("f32", 2, single)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        taichi = pool.submit(run, both, TISIM_NATIVE="0")
        ours, all_native = run([*both, ("f64", 1, cases), ("f64", 3, cases)])
    taichis, any_native = taichi.result()
    assert all_native and not any_native
    assert ours.keys() == taichis.keys() and len(ours) == len(cases) + len(single)
    for case, (wanted,) in taichis.items():
        assert set(ours[case]) == {wanted}, case


@pytest.mark.slow
def test_both_roads_agree_on_all_golden_cases():
    cases = [case for case in golden.CASES if not case.long]
    plan = [
        (precision, 2, [(c.scene, c.steps, c.variant) for c in cases if c.precision == precision])
        for precision in ("f64", "f32")
    ]
    ours, all_native = run(plan)
    assert all_native and ours == run(plan, TISIM_NATIVE="0")[0]


# ---- what happens between launches


@pytest.fixture(scope="module", autouse=True)
def started():
    tisim.init(arch="cpu", precision="f64", threads=2)
    need_machine_code()


def pile(n=40, capacity=None):
    m = tisim.Model.from_scene("pile", n=n)
    return m, tisim.Data(m, capacity=capacity)


@pytest.mark.parametrize("variant", ["serial", "shared"])
def test_lists_that_grow_change_nothing(variant):
    with golden.force(variant):
        m, d = pile()
        tisim.step(m, d, 60)
        wanted = golden.digest(d)
        m, d = pile(capacity=dict.fromkeys(("npairmax", "nslotmax", "nconmax", "nefcmax", "ndensemax"), 1))
        tisim.step(m, d, 60)
        assert golden.digest(d) == wanted
        assert d.capacity("nconmax") > 1


def test_replaced_arrays_leave_no_address_behind():
    m, d = pile()
    wanted, states = [], []
    for _ in range(30):
        tisim.step(m, d)
        wanted.append(golden.digest(d))
    m, d = pile()
    for k in range(30):
        for name in ("nconmax", "npairmax", "nslotmax", "nefcmax")[k % 4 :]:
            d.grow(name, d.capacity(name) - 20 * k)  # lists are freed and made anew
        gc.collect()
        states.append([np.full(m.nv * 1000, 1e300) for _ in range(20)])  # what is written where they were
        tisim.step(m, d)
        assert golden.digest(d) == wanted[k], k
        del states[:]


def test_replaced_arrays_are_the_ones_that_kernels_write():
    m, d = pile(4)

    @kernel
    def write(m, d, nray: ti.i32):
        for i in range(3):
            d.contact_dist[i] = nray

    for k in range(5):
        launch.run(m, d, [write], parallel=False, nray=k)
        assert (d.host("contact_dist")[:3] == k).all()
        d.grow("nconmax", 100 * (k + 1))
        assert not d.host("contact_dist")[:3].any()


def test_a_state_that_is_no_number_is_reset_as_by_taichi():
    m, d = pile(6)
    tisim.step(m, d, 10)
    qvel = np.array(d.qvel)
    qvel[3] = np.nan
    d.qvel = qvel
    tisim.step(m, d, 10)
    m, fresh = pile(6)
    tisim.step(m, fresh, 10)
    assert np.isfinite(np.asarray(d.qpos)).all() and np.array_equal(d.qpos, fresh.qpos)
    assert d.warning[tisim.mjtWarning.mjWARN_BADQVEL].number == 1


def test_a_kernel_whose_machine_code_cannot_be_made_is_told_once_and_goes_by_taichi(monkeypatch):
    m, d = pile(4)
    code = native.Road.code

    @kernel
    def write(m, d, nray: ti.i32):
        for i in range(3):
            d.contact_dist[i] = nray

    def refuse(road, wanted, has):
        if wanted is write:
            raise Unsupported("LLVM says no")
        return code(road, wanted, has)

    monkeypatch.setattr(native.Road, "code", refuse)
    with pytest.warns(RuntimeWarning, match="write: no machine code, each process compiles it anew: LLVM says no"):
        launch.run(m, d, [write], parallel=False, nray=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch.run(m, d, [write], parallel=False, nray=8)
    assert (d.host("contact_dist")[:3] == 8).all()
    native.road().plain.clear()


def test_an_interrupt_between_launches_leaves_no_half_written_numbers():
    m, d = pile(4)

    @kernel
    def note(m, d, nray: ti.i32, niter: ti.i32, nquery: ti.i32):
        d.qvel[0] = nray
        d.qvel[1] = niter
        d.qvel[2] = nquery

    def numbers(k):
        return dict(nray=k, niter=k + 1, nquery=k + 2)

    def go(k):
        launch.run(m, d, [note], parallel=False, **numbers(k))

    for stop in range(1, 200):
        go(10)
        left = [stop]

        def interrupt(frame, event, arg):
            if "tisim/device" not in frame.f_code.co_filename:
                return None
            if event == "line":
                left[0] -= 1
                if not left[0]:
                    raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)
        try:
            go(50)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        go(10)
        assert list(np.asarray(d.qvel)[:3]) == [10, 11, 12], stop
        if left[0] > 0:
            break
    assert stop > 10


def test_restarts_keep_the_bits():
    def digest():
        m, d = pile()
        tisim.step(m, d, 20)
        return golden.digest(d)

    first = digest()
    tisim.init(arch="cpu", precision="f32", threads=1)
    single = digest()
    m, old = pile()
    tisim.init(arch="cpu", precision="f64", threads=2)
    assert digest() == first != single
    with pytest.raises(tisim.Error, match="make a new Data"):
        tisim.step(m, old)


FORK = """
import os, signal
import tisim
from shared import golden

tisim.init(arch="cpu", precision="f64", threads=2)
with golden.force("shared"):
    m = tisim.Model.from_scene("pile", n=40)
    d = tisim.Data(m)
    tisim.step(m, d, 3)
    ours, theirs = os.pipe()
    pid = os.fork()
    tisim.step(m, d, 20) if pid else (signal.alarm(60), tisim.step(m, d, 20))
    if not pid:
        os.write(theirs, golden.digest(d).encode())
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert os.read(ours, 10000).decode() == golden.digest(d)
    print("equal")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_steps_on_by_one_thread():
    here = str(pathlib.Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    assert done.stdout == "equal\n", done.stderr[-2000:]
