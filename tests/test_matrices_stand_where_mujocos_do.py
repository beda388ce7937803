"""Matrices, numbers and islands of rows are read by mjData's names, in its places, with MuJoCo 3.4.0's values.

Contract: qM, qLD, qH, qDeriv, qLU and efc_b within 1e-11 of their scale after a step of each integrator from random
states, with the places of m.D_rownnz and its like equal; islands and numbers of rows equal.
"""

import mujoco
import numpy as np
import pytest
from shared.motion import INTEGRATORS, MODELS, disturb, with_integrator
from shared.reference import Pair, error
from test_constraint_types_equal_mujocos import ALL, pair_of

import tisim

NAMES = "joints_of_one_body damping no_damper wind_ellipsoid limits contacts_in_medium tendons position".split()
PLACES = "D_rownnz D_rowadr D_diag D_colind mapM2M mapM2D mapD2M".split()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", NAMES)
def test_matrices(name, integrator):
    pair = Pair(with_integrator(MODELS[name], integrator))
    disturb(pair, np.random.default_rng(3))
    mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d)
    assert all(np.array_equal(getattr(pair.m, word), getattr(pair.mm, word)) for word in PLACES)
    assert pair.m.nD == pair.mm.nD
    touching = 1e-8 if pair.md.nefc else 1e-11
    for word in ("qM", "M", "qLD", "qLDiagInv", "qDeriv"):
        assert pair.error(word) < touching, word
    if integrator == "implicit":
        assert pair.error("qLU") < touching
    elif integrator == "implicitfast" or (integrator == "Euler" and np.any(pair.md.qH)):
        assert pair.error("qH") < touching and pair.error("qHDiagInv") < touching
    tisim.reset(pair.m, pair.d)
    assert not any(np.any(getattr(pair.d, word)) for word in ("qDeriv", "qLU", "qH")), "as of fresh data"


@pytest.mark.parametrize("part", ["everything", "no rows"])
def test_rows_and_islands(part):
    pair = pair_of(ALL) if part == "everything" else Pair(MODELS["hinge"])
    for _ in pair.states(3, 10):
        for word in ("ne", "nf", "nl", "nefc", "nisland"):
            assert getattr(pair.d, word) == getattr(pair.md, word), word
        assert pair.error("efc_b") < 1e-9
        for word in ("dof_island", "tree_island", "efc_island"):
            assert np.array_equal(getattr(pair.d, word), getattr(pair.md, word)[: len(getattr(pair.d, word))]), word


def test_worlds_have_theirs():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(with_integrator(MODELS["wind_ellipsoid"], "implicit"))
    many, one = tisim.Data(m, nworld=2), tisim.Data(m)
    assert not many.qDeriv.any() and many.qDeriv.shape == (2, m.nD), "no step was taken"
    many.qvel = np.random.default_rng(0).normal(size=(2, m.nv))
    one.qvel = many.qvel[1]
    for d in (many, one):
        tisim.step(m, d)
    for word in ("qM", "qDeriv", "qLU", "qH", "dof_island"):
        assert np.array_equal(np.asarray(getattr(many, word))[1], getattr(one, word)), word
        with pytest.raises((tisim.Error, ValueError), match="read-only|computed"):
            getattr(one, word)[0] = 1
    with pytest.raises(tisim.Error, match="computed"):
        one.qDeriv = 0
    assert error(one.qM[m.mapM2M], one.M) == 0
