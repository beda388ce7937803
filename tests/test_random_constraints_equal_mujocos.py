"""Random articulated models with every type of row at once have MuJoCo's rows and minimum.

Contract: in states of a rollout the rows are MuJoCo's, and with converged solvers qacc is within 1e-8 of its scale, by
Newton, and by conjugate gradients within 1e-7; what rounding decides (a contact that just touches) may differ in a few
states.
"""

import numpy as np
import pytest
from shared.random_articulated import text
from shared.reference import Pair, error
from test_constraint_types_equal_mujocos import EFC, their_jacobian

import tisim
from tisim.data.validate import validate

CG = tisim.mjtSolver.mjSOL_CG


def states(pair, count, steps, seed):
    pair.md.qvel[:] = np.random.default_rng(seed).normal(size=pair.mm.nv) * 0.5
    for k in pair.states(count, steps):
        if not np.isfinite(pair.md.qacc).all() or np.abs(pair.md.qacc).max() > 1e6:
            return
        yield k


def compare(seed, count=4, steps=8):
    """(rows, states in which the contacts differ) of a model; asserts that all else is equal."""
    pair, rows, other = Pair(text(seed)), 0, 0
    for opt in (pair.m.opt, pair.mm.opt):
        opt.tolerance = 1e-15
    for k in states(pair, count, steps, seed):
        if pair.d.ncon != pair.md.ncon:
            other += 1
            continue
        validate(pair.m, pair.d)
        if pair.d.nefc != pair.md.nefc:  # equalities whose Jacobian is zero are not listed by MuJoCo if dense
            zero = ~pair.d.efc_J.toarray().any(1)
            assert pair.d.nefc - zero.sum() == pair.md.nefc, (seed, k)
        else:  # contacts of a pair may be listed in another order
            n = pair.d.count("nrow")
            assert error(pair.d.efc_J.toarray()[:n], their_jacobian(pair)[:n]) < 1e-8, (seed, k)
            for name in EFC:
                if name != "force":
                    ours, theirs = (np.asarray(getattr(x, "efc_" + name))[:n] for x in (pair.d, pair.md))
                    assert error(ours, theirs) < 1e-7, (seed, k, name)
        rows += pair.d.nefc
        assert pair.error("qacc") < 1e-8, (seed, k, pair.error("qacc"))
    return rows, other


@pytest.mark.parametrize("seeds", [range(k, k + 5) for k in range(0, 40, 5)], ids=lambda s: str(s[0]))
def test_random_models(seeds):
    found = [compare(seed) for seed in seeds]
    assert sum(rows for rows, _ in found) > 100 and sum(other for _, other in found) <= 2


@pytest.mark.parametrize("seed", range(100, 108))
def test_random_models_by_conjugate_gradients(seed):
    pair = Pair(text(seed))
    pair.m.opt.solver = CG
    pair.m.opt.iterations, pair.m.opt.tolerance, pair.mm.opt.tolerance = 5000, 1e-22, 1e-15
    for k in states(pair, 3, 8, seed):
        if pair.d.ncon == pair.md.ncon:
            assert pair.error("qacc") < 1e-7, k
