"""integrate_pos, differentiate_pos and local_to_global give what MuJoCo 3.4.0's functions give to 1e-12, also for
quaternions that are not unit; the first two are inverse to each other, whatever the leading axes."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.queries import Worlds, error
from shared.smooth import MODELS

import tisim

TINY = 1e-12
MODEL = tisim.Model.from_xml_path(MODELS[0])


@pytest.fixture(scope="module", params=MODELS, ids=lambda p: p.stem)
def w(request):
    return Worlds(request.param)


@pytest.mark.parametrize("unit", [False, True])
def test_equal_mujocos(w, unit):
    for speed in (0, 1, 30):
        qpos = w.rng.normal(size=(2, w.mm.nq))
        for q in qpos if unit else ():
            mujoco.mj_normalizeQuat(w.mm, q)
        qvel, out = speed * w.rng.normal(size=w.mm.nv), qpos[0].copy()
        mujoco.mj_integratePos(w.mm, out, qvel, 0.3)
        assert error(tisim.integrate_pos(w.m, qpos[0], qvel, 0.3), out) < TINY
        out = w.zeros()
        mujoco.mj_differentiatePos(w.mm, out, 0.3, qpos[0], qpos[1])
        assert error(tisim.differentiate_pos(w.m, 0.3, qpos[0], qpos[1]), out) < TINY


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(), (4,), (2, 3)]), st.sampled_from([-0.5, 1e-3, 0.7]))
def test_one_undoes_the_other(seed, lead, dt):
    rng = np.random.default_rng(seed)
    qpos = tisim.integrate_pos(MODEL, rng.normal(size=(*lead, MODEL.nq)), np.zeros(MODEL.nv), 1)
    qvel = rng.uniform(-2, 2, size=(*lead, MODEL.nv))
    moved = tisim.integrate_pos(MODEL, qpos, qvel, dt)
    assert moved.shape == (*lead, MODEL.nq)
    assert error(tisim.differentiate_pos(MODEL, dt, qpos, moved), qvel) < 1e-10


def test_poses_of_what_is_fixed_to_bodies(w):
    pos, quat = w.rng.normal(size=3), w.rng.normal(size=4)
    quat /= np.linalg.norm(quat)
    out = np.zeros(3), np.zeros(9)
    for body in range(w.mm.nbody):
        for same in tisim.enums.mjtSameFrame:
            mujoco.mj_local2Global(w.dd, *out, pos, quat, body, int(same))
            one = tisim.local_to_global(w.m, w.d, pos, quat, body, same)
            many = tisim.local_to_global(w.m, w.many, pos, quat, body, same)
            for a, b, c in zip(one, many, out):
                assert error(a, c) < TINY and np.array_equal(b[1], a)
