"""The contact list is sorted, and bitwise the same for any thread count, kind of sort, and batch of worlds."""

import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from shared import golden
from shared.contacts import both, collide, scatter

import tisim

SHAPES = ["box", "sphere", "capsule"]
SIZES = {"box": "0.08 0.06 0.07", "sphere": "0.08", "capsule": "0.05 0.05"}


def heap(n):
    bodies = "".join(
        f'<body><freejoint/><geom type="{SHAPES[i % 3]}" size="{SIZES[SHAPES[i % 3]]}"/></body>' for i in range(n)
    )
    return f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>'


def pose(mm, seed):
    dd = mujoco.MjData(mm)
    scatter(dd, np.random.default_rng(seed), [0.6, 0.5, 0.4])
    mujoco.mj_kinematics(mm, dd)
    return dd


def same(a, b):
    return all(np.array_equal(a[f], b[f]) for f in a)


@pytest.fixture(scope="module")
def three():
    mm, _, m, d = both(heap(300), 3)
    datas = [pose(mm, seed) for seed in range(3)]
    return mm, m, d, datas, collide(m, d, datas)


def test_sorted_by_world_geom1_geom2(three):
    _, m, d, _, contacts = three
    assert len(contacts[0]["dist"]) > 500
    world, geom = np.asarray(d.contact.worldid), np.asarray(d.contact.geom)
    key = (world.astype(np.int64) * m.ngeom + geom[:, 0]) * m.ngeom + geom[:, 1]
    assert np.all(np.diff(key) >= 0)


def test_a_world_of_three_is_that_world_alone(three):
    _, m, _, datas, contacts = three
    d = tisim.Data(m)
    for dd, many in zip(datas, contacts):
        assert same(collide(m, d, [dd])[0], many)


@pytest.mark.parametrize("variant", ["serial", "parallel", "gpu_sort"])
def test_other_roads_to_the_same_list(three, variant):
    _, m, _, datas, contacts = three
    with golden.force(variant):
        d = tisim.Data(m, nworld=3)
        assert all(same(a, b) for a, b in zip(collide(m, d, datas), contacts))


def test_lists_grow(three):
    _, m, _, datas, contacts = three
    d = tisim.Data(m, nworld=3, capacity=dict(npairmax=200, nslotmax=100, nconmax=30))
    assert all(same(a, b) for a, b in zip(collide(m, d, datas), contacts))
    assert d.capacity("npairmax") > 2000 and d.capacity("nconmax") > 1500


CODE = """
import hashlib, sys
sys.path.insert(0, {here!r})
import numpy as np
from test_contact_list_is_deterministic import heap, pose, both, collide, golden
mm, _, m, d = both(heap(700))
with golden.force("parallel"):
    c = collide(m, d, [pose(mm, 0)])[0]
print(len(c["dist"]), hashlib.sha256(b"".join(v.tobytes() for v in c.values())).hexdigest())
"""


def test_thread_count_does_not_show():
    here = os.path.dirname(__file__)
    out = []
    for threads in ("1", "2"):
        env = dict(os.environ, TISIM_THREADS=threads)
        run = subprocess.run([sys.executable, "-c", CODE.format(here=here)], env=env, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        out.append(run.stdout.strip().splitlines()[-1])
    assert out[0] == out[1] and int(out[0].split()[0]) > 2000


def test_coincident_shapes_give_numbers():
    sizes = dict(SIZES, capsule2="0.05 0.00000001")
    geoms = "".join(2 * f'<body><freejoint/><geom type="{k.rstrip("2")}" size="{s}"/></body>' for k, s in sizes.items())
    mm, dd, m, d = both(f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{geoms}</worldbody></mujoco>')
    mujoco.mj_kinematics(mm, dd)
    c = collide(m, d, [dd])[0]
    assert len(c["dist"]) > 20 and all(np.isfinite(v).all() for v in c.values())
    assert np.allclose(np.linalg.norm(c["frame"].reshape(-1, 3), axis=1), 1)
