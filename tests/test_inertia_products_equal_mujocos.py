"""The inertia matrix, products and solves with it and with its roots, and inverse dynamics without armature are
MuJoCo 3.4.0's to 1e-12, for one vector or many, in one world or several."""

import mujoco
import numpy as np
import pytest
from shared.queries import Worlds, error
from shared.smooth import MODELS

import tisim

TINY = 1e-12


@pytest.fixture(scope="module", params=MODELS, ids=lambda p: p.stem)
def w(request):
    return Worlds(request.param)


def test_the_matrix(w):
    full = np.zeros((w.mm.nv, w.mm.nv))
    mujoco.mj_fullM(w.mm, full, w.dd.qM)
    assert error(tisim.full_m(w.m, w.d), full) < TINY
    assert error(tisim.full_m(w.m, w.many)[1], full) < TINY


def theirs(w, name, x):
    out = w.zeros() if name.startswith("mul") else w.zeros(1)
    if name == "mul_m":
        mujoco.mj_mulM(w.mm, w.dd, out, x)
    elif name == "mul_m2":
        mujoco.mj_mulM2(w.mm, w.dd, out, x)
    elif name == "solve_m":
        mujoco.mj_solveM(w.mm, w.dd, out, x[None])
    else:
        mujoco.mj_solveM2(w.mm, w.dd, out, x[None], np.sqrt(w.dd.qLDiagInv)[None])
    return out.ravel()


@pytest.mark.parametrize("name", ["mul_m", "mul_m2", "solve_m", "solve_m2"])
def test_products_and_solves(w, name):
    f, x = getattr(tisim, name), w.rng.normal(size=(3, 5, w.m.nv))
    expected = np.array([theirs(w, name, v) for v in x[1]])
    assert error(f(w.m, w.d, x[1, 0]), expected[0]) < TINY
    assert error(f(w.m, w.d, x[1]), expected) < TINY
    assert np.array_equal(f(w.m, w.d, x)[1], f(w.m, w.d, x[1]))
    many = f(w.m, w.many, x)
    assert many.shape == x.shape and error(many[1], expected) < TINY
    assert np.array_equal(f(w.m, w.many, x[:, 0]), many[:, 0])
    assert np.array_equal(f(w.m, w.many, x[1, 0])[1], many[1, 0])


def test_roots_are_roots(w):
    x = w.rng.normal(size=(4, w.m.nv))
    assert error((tisim.mul_m2(w.m, w.d, x) ** 2).sum(1), (x * tisim.mul_m(w.m, w.d, x)).sum(1)) < TINY
    assert error((tisim.solve_m2(w.m, w.d, x) ** 2).sum(1), (x * tisim.solve_m(w.m, w.d, x)).sum(1)) < TINY
    assert error(tisim.solve_m(w.m, w.d, tisim.mul_m(w.m, w.d, x)), x) < 1e-10


def test_inverse_dynamics(w):
    w.dd.qacc = w.rng.normal(size=w.mm.nv)
    w.d.qacc, w.many.qacc = w.dd.qacc, np.broadcast_to(w.dd.qacc, (3, w.mm.nv))
    for flag in (0, 1):
        out = w.zeros()
        mujoco.mj_rne(w.mm, w.dd, flag, out)
        assert error(tisim.rne(w.m, w.d, flag), out) < TINY
        assert np.array_equal(tisim.rne(w.m, w.many, flag)[1], tisim.rne(w.m, w.d, flag))
    without = tisim.mul_m(w.m, w.d, w.d.qacc) - np.asarray(w.m.dof_armature) * np.asarray(w.d.qacc)
    assert error(tisim.rne(w.m, w.d), without + np.asarray(w.d.qfrc_bias)) < TINY


def test_a_model_that_cannot_move_has_empty_answers():
    m = tisim.Model.from_xml_string("<mujoco><worldbody><body><geom size='.1'/></body></worldbody></mujoco>")
    d = tisim.Data(m)
    tisim.forward(m, d)
    assert tisim.full_m(m, d).shape == (0, 0) and tisim.rne(m, d).shape == (0,)
    assert tisim.mul_m(m, d, []).shape == (0,) and tisim.jac_body(m, d, 1)[0].shape == (3, 0)
    assert np.asarray(d.cacc)[1].tolist() == [0, 0, 0, 0, 0, 9.81]
