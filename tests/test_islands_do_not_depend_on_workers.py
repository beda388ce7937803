"""An island has the same solution, bit for bit, for any number of workers, and the same within the solver's tolerance
as on one thread alone and as the phases that the host queues.

Contract: 1, 2, 3 and 8 workers, more than there are processors among them, on piles, ragdolls, chains with limits and
friction, meshes, contacts of dimension 4 and 6, both cones, several worlds, in both precisions.
"""

import numpy as np
import pytest
from shared import golden

import tisim

SCENES = [
    ("pile n=300", 120), ("pile n=120 cone=elliptic", 120), ("pile n=60 worlds=3", 100), ("ragdolls n=8", 150),
    ("ragdolls n=8 cone=elliptic worlds=2", 150), ("joints worlds=2", 60), ("bowl n=20 multiccd=1", 100),
    ("golden/everything.xml", 100), ("golden/everything.xml elliptic=1 worlds=2", 100),
]  # fmt: skip
LARGE = dict(shared_above=0, dense_up_to=0)  # every island in which bodies meet is large


def load(scene, steps=0):
    m, d, _ = golden.load(golden.Case(scene, 0))
    tisim.step(m, d, steps)
    return m, d


def solution(scene, state, steps=0, variant="parallel", **how):
    """What some steps from a state lead to, and the numbers of large islands and of workers."""
    with golden.force(variant, **how):
        m, d = load(scene)
        tisim.set_state(m, d, state)
        tisim.step(m, d, steps)
        tisim.forward(m, d)
        found = [np.array(getattr(d, name)) for name in ("qpos", "qacc", "qfrc_constraint", "solver_niter", "efc_force")]
        return found, d.count("nlarge"), int(d.host("team").reshape(-1)[32])


def check(scene, steps, agree):
    with golden.force("parallel"):
        state = tisim.get_state(*load(scene, steps))
    one, large, size = solution(scene, state, 2, workers=1, **LARGE)
    assert large > 0 and size == 1
    for workers in (2, 3, 8):
        other, _, size = solution(scene, state, 2, workers=workers, **LARGE)
        assert size == workers
        assert all((a == b).all() for a, b in zip(one, other)), workers
    team, alone, queued = (
        solution(scene, state, **how)[0][1]
        for how in (LARGE | dict(workers=2), {}, LARGE | dict(variant="shared"))
    )  # fmt: skip
    for other in (alone, queued):
        assert np.abs(team - other).max() <= agree * np.abs(alone).max()


@pytest.fixture(scope="module")
def eight():
    tisim.init(arch="cpu", precision="f64", threads=8)
    yield
    tisim.init(arch="cpu", precision="f64")


@pytest.fixture(scope="module")
def eight_f32():
    tisim.init(arch="cpu", precision="f32", threads=8)
    yield
    tisim.init(arch="cpu", precision="f64")


@pytest.mark.parametrize("scene, steps", SCENES)
def test_in_f64(eight, scene, steps):
    check(scene, steps, 1e-6)


@pytest.mark.parametrize("scene, steps", [SCENES[0], SCENES[-1]])
def test_in_f32(eight_f32, scene, steps):
    check(scene, steps, 2e-2)


def test_the_border_does_not_depend_on_workers():
    """Which islands are large follows from the islands: with one worker they take the same road."""
    tisim.init(arch="cpu", precision="f64", threads=1)
    with golden.force(shared_above=30):
        m, d = load("pile n=60", 150)
        assert d.count("nlarge") == 1
        assert d.host("team").reshape(-1)[32] == 1
