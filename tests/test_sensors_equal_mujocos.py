"""Sensors of every type but those of contacts, rays and distances have MuJoCo 3.4.0's values.

Contract: in random states, and along rollouts, sensordata is MuJoCo's within 1e-9 of its scale for each type, object and
frame of reference; at limits, with cutoffs, behind inverse dynamics, in worlds of a batch; f32 follows within 1e-3.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error
from shared.sensors import TYPES, WORLDS, world

import tisim

STATES, STEPS = 5, 40
LIMIT = [tag for tag in TYPES if "limit" in tag]


def shake(pair, rng):
    """A random state and random inputs in MuJoCo's data."""
    mm, md = pair.mm, pair.md
    mujoco.mj_resetData(mm, md)
    mujoco.mj_integratePos(mm, md.qpos, rng.normal(0, 0.15, mm.nv), 1.0)
    md.qvel[:] = rng.normal(size=mm.nv)
    md.ctrl[:] = rng.uniform(0, 1, mm.nu)
    md.act[:] = rng.uniform(0, 1, mm.na)
    md.qfrc_applied[:] = rng.normal(size=mm.nv)
    md.xfrc_applied[1:] = rng.normal(size=(mm.nbody - 1, 6))
    md.time = rng.uniform(0, 3)


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


CASES = [(name, tag) for name in WORLDS for tag in TYPES if not (name == "walker" and tag.startswith("ball"))]


@pytest.mark.parametrize("name, tag", CASES)
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
