"""Newton, CG and PGS end at the same accelerations, which inverse dynamics take back to what was given.

Contract: random scenes with contacts, limits, equalities and friction loss at once, by both cones: from equal states
qacc of converged solvers is the same within 1e-6 of its scale, and solver_fwdinv of Newton is below 1e-8 of the forces.
"""

import numpy as np
import pytest
from shared.random_articulated import text
from shared.reference import error

import tisim

# solver: iterations and tolerance of the scaled improvement at which nothing changes any more
CONVERGED = {"NEWTON": (200, 1e-16), "CG": (10_000, 1e-24), "PGS": (100_000, 1e-26)}
FWDINV = int(tisim.mjtEnableBit.mjENBL_FWDINV)


def solve(m, d, solver):
    """qacc and qfrc_constraint by a solver, at the state at hand."""
    m.opt.solver = getattr(tisim.mjtSolver, f"mjSOL_{solver}")
    m.opt.iterations, m.opt.tolerance = CONVERGED[solver]
    tisim.forward(m, d)
    return np.asarray(d.qacc).copy()


def compare(seed, count=2, steps=12):
    """Types of rows that were there; asserts that the solvers agree in some states of a motion."""
    m = tisim.Model.from_xml_string(text(seed))
    d = tisim.Data(m)
    m.opt.integrator = tisim.mjtIntegrator.mjINT_EULER  # of which fwdinv is exact
    m.opt.enableflags |= FWDINV
    d.qvel[:] = 0.5 * np.random.default_rng(seed).normal(size=m.nv)
    kinds = set()
    for k in range(count):
        m.opt.solver, m.opt.iterations, m.opt.tolerance = tisim.mjtSolver.mjSOL_NEWTON, 100, 1e-10
        tisim.step(m, d, steps)
        if not np.isfinite(d.qacc).all() or np.abs(d.qacc).max() > 1e6:
            break
        newton = solve(m, d, "NEWTON")
        forces = max(1.0, np.abs(d.qfrc_smooth).max(initial=0), np.abs(d.qfrc_constraint).max(initial=0))
        assert np.max(d.solver_fwdinv) < 1e-8 * forces, (seed, k)
        kinds |= {int(x) for x in d.efc_type}
        for solver in ("CG", "PGS"):
            assert error(solve(m, d, solver), newton) < 1e-6, (seed, k, solver)
    return kinds


def agree(seeds):
    kinds = [compare(seed) for seed in seeds]
    types = tisim.mjtConstraint
    for kind in (types.mjCNSTR_EQUALITY, types.mjCNSTR_FRICTION_DOF, types.mjCNSTR_LIMIT_JOINT):
        assert sum(int(kind) in k for k in kinds) >= len(kinds) / 5, kind
    assert sum(max(k, default=0) >= int(types.mjCNSTR_CONTACT_FRICTIONLESS) for k in kinds) >= len(kinds) / 2


def test_solvers_agree():
    agree(range(200, 208))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(300, 500, 20))
def test_solvers_agree_on_200(first):
    agree(range(first, first + 20))
