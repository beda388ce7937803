"""Random articulated models with every type of row at once have MuJoCo's rows and minimum.

Contract: in states of a rollout the rows are MuJoCo's, and with converged solvers qacc is within 1e-8 of its scale, by
Newton, and by conjugate gradients within 1e-7; what rounding decides (a contact that just touches) may differ in a few
states. A hundred steps end within 1e-5 where two rollouts of MuJoCo that begin 1e-14 apart stay together.
"""

import mujoco
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
        if not pair.error("qacc") < 1e-8:  # rows that nothing moves can hide MuJoCo's cost in their rounding
            ours, theirs = residual(pair, pair.d), residual(pair, pair.md)
            assert ours < 1e-12 and theirs > 1e3 * ours, (seed, k, pair.error("qacc"), ours, theirs)
    return rows, other


def residual(pair, d):
    """By how much the forces miss M qacc, relative to them."""
    M = np.zeros((pair.mm.nv, pair.mm.nv))
    mujoco.mj_fullM(pair.mm, M, pair.md.qM)
    force = pair.md.qfrc_smooth + np.asarray(d.qfrc_constraint)
    return np.abs(M @ np.asarray(d.qacc) - force).max() / np.abs(force).max()


def rollout(seed, steps=100):
    """(error, steps in which it was taken): until two rollouts of MuJoCo part, or it ends away from its minimum; None
    for what has no bounds."""
    pair = Pair(text(seed))
    for opt in (pair.m.opt, pair.mm.opt):
        opt.tolerance = 1e-15
    rng = np.random.default_rng(seed)
    pair.md.qvel[:] = rng.normal(size=pair.mm.nv) * 0.5
    near = mujoco.MjData(pair.mm)
    near.qvel[:] = pair.md.qvel + 1e-14 * rng.normal(size=pair.mm.nv)
    pair.copy_state()
    ours = compared = 0
    for _ in range(steps):
        mujoco.mj_step(pair.mm, pair.md)
        mujoco.mj_step(pair.mm, near)
        tisim.step(pair.m, pair.d)
        if not np.abs(pair.md.qacc).max() < 1e6:
            return None
        theirs = max(error(near.qpos, pair.md.qpos), error(near.qvel, pair.md.qvel))
        if theirs > 1e-9 or residual(pair, pair.md) > max(1e-9, 1e3 * residual(pair, pair.d)):
            break  # MuJoCo's solver stopped where rows that nothing moves hide its cost in their rounding
        ours = max(pair.error("qpos"), pair.error("qvel"))
        compared += 1
    return ours, compared


def check_models(seeds):
    found = [compare(seed) for seed in seeds]
    assert sum(rows for rows, _ in found) > 20 * len(seeds) and sum(other for _, other in found) <= 2


def check_rollouts(seeds):
    ends = [rollout(seed) for seed in seeds]
    assert all(end is None or end[0] < 1e-5 for end in ends), dict(zip(seeds, ends))
    assert sum(end is not None and end[1] == 100 for end in ends) > len(ends) // 3, "most stay together"


@pytest.mark.parametrize("seeds", [range(k, k + 5) for k in range(0, 40, 5)], ids=lambda s: str(s[0]))
def test_random_models(seeds):
    check_models(seeds)


@pytest.mark.parametrize("seeds", [range(8)], ids=lambda s: str(s[0]))
def test_rollouts(seeds):
    check_rollouts(seeds)


PGS, NEWTON = tisim.mjtSolver.mjSOL_PGS, tisim.mjtSolver.mjSOL_NEWTON


def check_solvers(seeds):
    """The three solvers reach the same qacc, and inverse dynamics the forces that were applied."""
    for seed in seeds:
        tisim.init(arch="cpu", precision="f64")
        m = tisim.Model.from_xml_string(text(seed))
        m.opt.enableflags = int(m.opt.enableflags) | int(tisim.mjtEnableBit.mjENBL_FWDINV)
        d = tisim.Data(m)
        d.qvel = np.random.default_rng(seed).normal(size=m.nv) * 0.5
        tisim.step(m, d, 8)
        state, found = tisim.get_state(m, d), {}
        for solver, iterations in ((NEWTON, 200), (CG, 5000), (PGS, 100_000)):
            m.opt.solver, m.opt.iterations, m.opt.tolerance = solver, iterations, 1e-22
            m.opt.ls_iterations = 100
            tisim.set_state(m, d, state)
            tisim.forward(m, d)
            found[solver] = np.array(d.qacc)
            if solver == NEWTON:
                tisim.step(m, d)
                scale = max(1, np.abs(d.qfrc_constraint).max(), np.abs(d.qfrc_smooth).max())
                assert np.max(d.solver_fwdinv) < 1e-8 * scale, (seed, d.solver_fwdinv)
        for solver in found:
            assert error(found[solver], found[NEWTON]) < 1e-6, (seed, solver)


# of 479 and 494 MuJoCo's PGS leaves a contact's friction as it is: the matrix of its friction is nearly singular
@pytest.mark.parametrize("seeds", [range(300, 310), (479, 494)], ids=lambda s: str(s[0]))
def test_solvers_agree(seeds):
    check_solvers(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(310, 510, 20)], ids=lambda s: str(s[0]))
def test_solvers_agree_on_many(seeds):
    check_solvers(seeds)


MANY = pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(40, 300, 20)], ids=lambda s: str(s[0]))


@pytest.mark.slow
@MANY
def test_many_random_models(seeds):
    check_models(seeds)


@pytest.mark.slow
@MANY
def test_many_rollouts(seeds):
    check_rollouts(seeds)


@pytest.mark.parametrize("seed", range(100, 108))
def test_random_models_by_conjugate_gradients(seed):
    pair = Pair(text(seed))
    pair.m.opt.solver = CG
    pair.m.opt.iterations, pair.m.opt.tolerance, pair.mm.opt.tolerance = 5000, 1e-22, 1e-15
    for k in states(pair, 3, 8, seed):
        if pair.d.ncon == pair.md.ncon:
            assert pair.error("qacc") < 1e-7, k
