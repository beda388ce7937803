"""An island has the same solution, bit for bit, for any number of workers, and the same within the solver's tolerance
as on one thread alone and as by phases that the host queues.

Contract: 1 and 2 workers on piles, ragdolls, limits and friction, meshes, contacts of dimension 4 and 6, both cones,
several worlds, both precisions; 3 and 8, more than there may be processors, on few bodies, since each meeting then
takes slices of time.
"""

import numpy as np
import pytest
from shared import golden

import tisim

SCENES = [
    ("pile n=300", 120), ("pile n=120 cone=elliptic", 120), ("pile n=60 worlds=3", 100), ("ragdolls n=8", 150),
    ("ragdolls n=8 cone=elliptic worlds=2", 150), ("bowl n=20 multiccd=1", 100), ("golden/everything.xml", 100),
    ("golden/everything.xml elliptic=1 worlds=2", 100),
]  # fmt: skip
LAST = pytest.param(*SCENES[-1], marks=pytest.mark.slow)  # minutes to compile
LARGE = dict(shared_above=0, dense_up_to=0)  # every island in which bodies meet is large
RESULTS = "qpos qacc qfrc_constraint solver_niter efc_force".split()


@pytest.fixture
def start():
    """Starts Taichi with so many threads; afterwards with one per processor again."""
    yield lambda precision, threads: tisim.init(arch="cpu", precision=precision, threads=threads)
    tisim.init(arch="cpu", precision="f64")


def settled(scene, steps):
    with golden.force("parallel"):
        m, d, _ = golden.load(golden.Case(scene, 0))
        tisim.step(m, d, steps)
        return tisim.get_state(m, d)


def solution(scene, state, steps=0, iterations=100, variant="parallel", **how):
    """What some steps from a state lead to, and the numbers of large islands and of workers."""
    with golden.force(variant, **how):
        m, d, _ = golden.load(golden.Case(scene, 0))
        m.opt.iterations = iterations
        tisim.set_state(m, d, state)
        tisim.step(m, d, steps)
        tisim.forward(m, d)
        found = [np.array(getattr(d, name)) for name in RESULTS]
        return found, d.count("nlarge"), int(d.host("team").reshape(-1)[32])


def check(scene, steps, agree):
    state = settled(scene, steps)
    one, two = (solution(scene, state, 3, workers=k, **LARGE) for k in (1, 2))
    assert [x[1] > 0 for x in (one, two)] == [True, True] and (one[2], two[2]) == (1, 2)
    assert all((a == b).all() for a, b in zip(one[0], two[0]))
    team, alone, queued = (
        solution(scene, state, **how)[0][1]
        for how in (LARGE | dict(workers=2), {}, dict(variant="shared", dense_up_to=0))
    )  # fmt: skip
    for other in (alone, queued):
        assert np.abs(team - other).max() <= agree * np.abs(alone).max()


@pytest.mark.parametrize("scene, steps", [*SCENES[:-1], LAST])
def test_two_compute_what_one_does(start, scene, steps):
    start("f64", 2)
    check(scene, steps, 1e-6)


@pytest.mark.parametrize("scene, steps", [SCENES[0], LAST])
def test_two_do_in_single_precision(start, scene, steps):
    start("f32", 2)
    check(scene, steps, 2e-2)


@pytest.mark.parametrize("scene, steps", [("pile n=10", 60), ("ragdolls n=4 cone=elliptic", 150)])
def test_eight_on_any_number_of_processors_do(start, scene, steps):
    start("f64", 8)
    state = settled(scene, steps)
    one, *others = (solution(scene, state, iterations=1, workers=k, **LARGE) for k in (1, 3, 8))
    assert one[1] > 0
    for workers, other in zip((3, 8), others):
        assert other[2] in (workers, 2), "a pool of Taichi's own launcher has no more threads than processors"
        assert all((a == b).all() for a, b in zip(one[0], other[0]))


def pile_with_long_lists():
    m, d, _ = golden.load(golden.Case("pile n=1000", 0))
    tisim.step(m, d, 200)
    assert d.ncon > 2400  # island_con of the largest is longer than LONG of kernels/solver/isle.py
    return tisim.get_state(m, d)


def test_long_lists_are_taken_by_whoever_has_time(start):
    """Blocks of contacts of a pile of 1,000 are taken by the worker who has time, in each phase perhaps another."""
    start("f64", 2)
    state = pile_with_long_lists()
    one, two = (solution("pile n=1000", state, 3, variant="chosen", workers=k) for k in (1, 2))
    assert (one[2], two[2]) == (1, 2)
    assert all((a == b).all() for a, b in zip(one[0], two[0]))


def test_lists_of_a_long_bridge_are_shared(start):
    """One worker makes the factor of its only island, all go through its trees, contacts and rows."""
    start("f64", 2)
    state = settled("bridge n=320", 100)
    one, two = (solution("bridge n=320", state, 3, variant="chosen", workers=k) for k in (1, 2))
    assert (one[1], two[1]) == (1, 1) and (one[2], two[2]) == (1, 2)
    assert all((a == b).all() for a, b in zip(one[0], two[0]))


@pytest.mark.slow
def test_long_lists_are_by_eight_too(start):
    start("f64", 8)
    state = pile_with_long_lists()
    one, three, eight = (solution("pile n=1000", state, iterations=1, variant="chosen", workers=k) for k in (1, 3, 8))
    assert all((a == b).all() and (a == c).all() for a, b, c in zip(one[0], three[0], eight[0]))


def test_the_border_does_not_depend_on_workers(start):
    """Which islands are large follows from the islands: with one thread they take the same road."""
    start("f64", 1)
    with golden.force(shared_above=30, dense_up_to=60):
        m, d, _ = golden.load(golden.Case("pile n=60", 0))
        tisim.step(m, d, 150)
        assert d.count("nlarge") == 1
        assert d.host("team").reshape(-1)[32] == 1
