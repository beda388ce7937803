"""Sensors of every type but those of contacts, rays and distances have MuJoCo 3.4.0's values.

Contract: in random states, and along rollouts, sensordata is MuJoCo's within 1e-9 of its scale for each type, object
and frame of reference; at limits, behind inverse dynamics, with each integrator; f32 follows within 1e-3.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error
from shared.sensors import TYPES, WORLDS, shake, world

import tisim

STATES, STEPS = 5, 40
LIMIT = [tag for tag in TYPES if "limit" in tag]


def runs(name, integrator=None, precision="f64"):
    """{(type, "forward" or "rollout"): (values of tisim, of MuJoCo), one row for each state} of a world."""
    text, count = world(name, integrator=integrator)
    pair = Pair(text, precision=precision)
    rng = np.random.default_rng(3)
    found = {"forward": ([], []), "rollout": ([], [])}
    for _ in range(STATES):
        shake(pair, rng)
        pair.forward()
        for rows, d in zip(found["forward"], (pair.d, pair.md)):
            rows.append(np.array(d.sensordata))
    shake(pair, rng)
    pair.copy_state()
    for _ in range(STEPS):
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
        for rows, d in zip(found["rollout"], (pair.d, pair.md)):
            rows.append(np.array(d.sensordata))
    last = np.cumsum(list(count.values())) - 1
    ends = pair.mm.sensor_adr[last] + pair.mm.sensor_dim[last]
    places = dict(zip(count, zip([0, *ends[:-1]], ends)))
    return {
        (tag, way): tuple(np.array(rows)[:, a:b] for rows in both)
        for tag, (a, b) in places.items() if b > a for way, both in found.items()
    }  # fmt: skip


@pytest.fixture(scope="module")
def results():
    return {name: runs(name) for name in WORLDS}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("tag", TYPES)
def test_values_equal_mujocos(results, name, tag):
    for way, bound in (("forward", 1e-9), ("rollout", 1e-7)):
        got, wanted = results[name][tag, way]
        assert got.shape == wanted.shape and error(got, wanted) < bound, way
    assert tag in (*LIMIT, "user") or np.abs(wanted).max() > 1e-3


@pytest.mark.parametrize("tag", LIMIT)
def test_limits_are_met(results, tag):
    """Some of the states have limits that act, so that the claim above says something."""
    values = np.concatenate([of[tag, "forward"][1].ravel() for of in results.values()])
    assert np.count_nonzero(values) > 3 and np.count_nonzero(values == 0) > 3


OTHERS = ("arm", "RK4"), ("crowd", "RK4"), ("walker", "implicit"), ("arm", "implicitfast")


@pytest.mark.parametrize("name, integrator", OTHERS)
def test_rollouts_of_other_integrators_equal_mujocos(name, integrator):
    """RK4 makes sensors in its first stage alone."""
    for (tag, way), (got, wanted) in runs(name, integrator).items():
        assert error(got, wanted) < (1e-9 if way == "forward" else 1e-7), tag


@pytest.mark.parametrize("solver", ["PGS", "CG"])
def test_forces_of_other_solvers_are_sensed(solver):
    text, _ = world("walker", ("force", "torque", "accelerometer", "jointlimitfrc", "tendonlimitfrc"))
    pair = Pair(text.replace("<option", f'<option solver="{solver}"'))
    pair.m.opt.iterations = 5000
    pair.mm.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON  # 3.4.0's own CG ends here 2e-3 away from the minimum
    rng = np.random.default_rng(1)
    for _ in range(3):
        shake(pair, rng)
        pair.forward()
        assert pair.error("sensordata") < 1e-6


def test_inverse_dynamics_are_sensed():
    """Also where qacc is that between two steps."""
    for name, discrete in (("arm", False), ("walker", False), ("arm", True)):
        text, _ = world(name)
        pair = Pair(text)
        rng = np.random.default_rng(2)
        for opt in (pair.mm.opt, pair.m.opt):
            opt.enableflags |= discrete * int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
        for _ in range(3):
            shake(pair, rng)
            pair.forward()
            pair.md.qacc[:] += rng.normal(size=pair.mm.nv)
            pair.d.qacc[...] = pair.md.qacc
            mujoco.mj_inverse(pair.mm, pair.md)
            tisim.inverse(pair.m, pair.d)
            assert pair.error("qfrc_inverse") < 1e-9 and pair.error("sensordata") < 1e-9, (name, discrete)


@pytest.mark.parametrize("name", WORLDS)
def test_single_precision_follows(name):
    for (tag, way), (got, wanted) in runs(name, precision="f32").items():
        if way == "forward":
            assert error(got, wanted) < 1e-3, tag
