"""Jacobians of points, axes, centres of mass and angular momentum, and their rates, are MuJoCo 3.4.0's to 1e-12, for
bodies of trees with all joints, static ones and the world, by id and by name, and world by world."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.queries import Worlds, error
from shared.smooth import MODELS

import tisim

TINY = 1e-12
RAGDOLL = []  # its Worlds, once they are made


@pytest.fixture(scope="module", params=MODELS, ids=lambda p: p.stem)
def w(request):
    return Worlds(request.param)


def check(w, mine, theirs, *arguments):
    """mine(m, d, *arguments) equals what theirs fills, also in the middle one of three worlds."""
    found = mine(w.m, w.d, *arguments), mine(w.m, w.many, *arguments)
    one, many = (x if isinstance(x, tuple) else (x,) for x in found)
    for a, b, c in zip(one, many, theirs):
        assert error(a, c) < TINY
        assert b.shape == (3, *c.shape) and np.array_equal(b[1], a) and np.array_equal(b[0], b[2])


def test_of_bodies(w):
    for b in range(w.mm.nbody):
        point, axis = w.rng.normal(size=(2, 3))
        for mine, theirs, arguments, both in (
            (tisim.jac, mujoco.mj_jac, (point, b), True),
            (tisim.jac_body, mujoco.mj_jacBody, (b,), True),
            (tisim.jac_body_com, mujoco.mj_jacBodyCom, (b,), True),
            (tisim.jac_point_axis, mujoco.mj_jacPointAxis, (point, axis, b), True),
            (tisim.jac_dot, mujoco.mj_jacDot, (point, b), True),
            (tisim.jac_subtree_com, mujoco.mj_jacSubtreeCom, (b,), False),
            (tisim.angmom_mat, mujoco.mj_angmomMat, (b,), False),
        ):
            out = [w.zeros(3) for _ in range(1 + both)]
            theirs(w.mm, w.dd, *out, *arguments)
            if mine is tisim.jac_subtree_com and w.m.body_subtreemass[b] == 0:
                out[0][...] = 0  # MuJoCo divides by the mass
            check(w, mine, out, *arguments)


def test_of_geoms_and_sites(w):
    out = w.zeros(3), w.zeros(3)
    for mine, theirs, number in (
        (tisim.jac_geom, mujoco.mj_jacGeom, w.mm.ngeom), (tisim.jac_site, mujoco.mj_jacSite, w.mm.nsite),
    ):  # fmt: skip
        for i in range(number):
            theirs(w.mm, w.dd, *out, i)
            check(w, mine, out, i)


def test_names_stand_for_ids_and_points_may_differ_by_world(w):
    points = w.rng.normal(size=(3, 3))
    body = w.m.nbody - 1
    jacp, jacr = tisim.jac(w.m, w.many, points, body)
    assert np.array_equal(jacp[1], tisim.jac(w.m, w.d, points[1], body)[0]) and jacr.shape == (3, 3, w.m.nv)
    if name := w.m.id2name("body", body):
        assert np.array_equal(tisim.jac(w.m, w.many, points, name)[0], jacp)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_rates_are_the_derivatives(seed):
    """jac at both ends of a short motion differs by jac_dot times the time, for a point that moves with the body."""
    rng, h = np.random.default_rng(seed), 1e-6
    if not RAGDOLL:
        RAGDOLL.append(Worlds(MODELS[2]))
    m, d = RAGDOLL[0].m, RAGDOLL[0].d
    body, local = int(rng.integers(1, m.nbody)), rng.normal(size=3) * 0.3
    qpos = np.array(d.qpos)
    ends = []
    for dt in (-h, h, 0):
        d.qpos = tisim.integrate_pos(m, qpos, d.qvel, dt)
        tisim.forward(m, d)
        point = tisim.local_to_global(m, d, local, [1, 0, 0, 0], body)[0]
        ends.append(tisim.jac(m, d, point, body))
    rate = tisim.jac_dot(m, d, point, body)
    d.qpos = qpos
    for i in range(2):
        assert np.abs((ends[1][i] - ends[0][i]) / (2 * h) - rate[i]).max() < 1e-6
