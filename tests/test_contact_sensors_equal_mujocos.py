"""Sensors of contacts have MuJoCo 3.4.0's values.

Contract: in random states and along rollouts in which contacts come and go, each reduction, field and matching rule of
contact sensors, for one to five slots, and touch sensors of every shape of site, with contacts of all dimensions, in
gaps, of listed pairs, of static and mocap bodies: within 1e-7 of their scale, or as
exact as the contacts; also behind inverse dynamics, in each
world of a batch, with every solver and integrator, from step1 and step2; f32 follows.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import Pair, error
from shared.touching import FIELDS, REDUCTIONS, RULES, SCENES, contact_sensors, scatter

import tisim

STATES, STEPS, APART = 6, 8, 12
BOUND = dict(pile=2e-5, hand=1e-7, gaps=1e-7)  # a pile has ellipsoids and meshes, whose contacts GJK ends early
TOUCH = [f'<touch site="{name}"/>' for name in ("s1", "s2", "s3", "s4", "zone")] + ['<touch site="s1" cutoff="3"/>']
RULES_TAKEN = [("none", "none"), ("geom", "none"), ("subtree", "body"), ("site", "geom")]  # where one of a kind will do


def model(scene, sensors, integrator="Euler", option=""):
    return SCENES[scene].format(sensors="".join(sensors), integrator=integrator, option=option)


def values(pair):
    return np.array(pair.d.sensordata), np.array(pair.md.sensordata)


def visits(pair, rng):
    """forward() of both in random states, and in those of a rollout of MuJoCo's; yields both sensordata."""
    for _ in range(STATES):
        scatter(pair.mm, pair.md, rng)
        pair.forward()
        yield values(pair)
    for _ in pair.states(STEPS, APART):
        yield values(pair)


@pytest.fixture(scope="module")
def results():
    """{(scene, rule): (values of tisim, of MuJoCo), rows: states; starts of the sensors in a row}."""
    found = {}
    for scene in SCENES:
        lists = {rule: contact_sensors(scene, rule) for rule in RULES}
        pair = Pair(model(scene, sum(lists.values(), [])))
        both = [np.array(rows) for rows in zip(*visits(pair, np.random.default_rng(7)))]
        ends = np.append(pair.mm.sensor_adr, pair.mm.nsensordata)
        first = 0
        for rule, sensors in lists.items():
            a, b = ends[first], ends[first + len(sensors)]
            found[scene, rule] = [rows[:, a:b] for rows in both] + [ends[first : first + len(sensors) + 1] - a]
            first += len(sensors)
    return found


@pytest.mark.parametrize("rule", RULES, ids="-".join)
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_contact(results, reduce, field, rule):
    some = 0
    for scene in SCENES:
        ours, theirs, starts = results[scene, rule]
        n = (len(starts) - 1) // (len(REDUCTIONS) * len(FIELDS))
        k = (REDUCTIONS.index(reduce) * len(FIELDS) + list(FIELDS).index(field)) * n
        a, b = starts[k], starts[k + n]
        assert error(ours[:, a:b], theirs[:, a:b]) < BOUND[scene], scene
        some += np.count_nonzero(theirs[:, a:b])
    assert some > 5 or (reduce, field) == ("netforce", "dist")


def taken(scene):
    """A few contact sensors of each kind, and touch sensors."""
    return [text for rule in RULES_TAKEN for text in contact_sensors(scene, rule, 3)] + TOUCH


@pytest.mark.parametrize("scene", SCENES)
def test_touch(scene):
    pair = Pair(model(scene, TOUCH))
    ours, theirs = (np.array(rows) for rows in zip(*visits(pair, np.random.default_rng(3))))
    assert error(ours, theirs) < BOUND[scene]
    assert np.count_nonzero(theirs) > 10 and theirs[:, -1].max() == (3 if scene != "gaps" else theirs[:, -1].max())


@pytest.mark.parametrize("option", ['solver="CG"', 'solver="PGS" noslip_iterations="0"', 'noslip_iterations="3"'])
def test_forces_are_those_of_every_solver(option):
    pair = Pair(model("gaps", taken("gaps"), option=option))
    ours, theirs = (np.array(rows) for rows in zip(*visits(pair, np.random.default_rng(5))))
    assert error(ours, theirs) < 1e-5 and np.count_nonzero(theirs) > 100


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_along_a_rollout(integrator):
    """Both step by themselves, while contacts come and go."""
    pair = Pair(model("gaps", taken("gaps"), integrator))
    found = set()
    for _ in range(60):
        mujoco.mj_step(pair.mm, pair.md, 2)
        tisim.step(pair.m, pair.d, 2)
        assert error(*values(pair)) < 1e-6
        found.add(pair.md.ncon)
    assert len(found) > 3


def test_halves_of_a_step():
    pair = Pair(model("hand", taken("hand")))
    rng = np.random.default_rng(2)
    for _ in range(30):
        mujoco.mj_step1(pair.mm, pair.md)
        tisim.step1(pair.m, pair.d)
        pair.md.xfrc_applied[1:] = pair.d.xfrc_applied[1:] = rng.normal(0, 2, (pair.mm.nbody - 1, 6))
        mujoco.mj_step2(pair.mm, pair.md)
        tisim.step2(pair.m, pair.d)
        assert error(*values(pair)) < 1e-6


def test_behind_inverse_dynamics():
    pair = Pair(model("gaps", taken("gaps")))
    rng = np.random.default_rng(9)
    for _ in range(STATES):
        scatter(pair.mm, pair.md, rng)
        pair.forward()
        pair.md.qacc[:] += rng.normal(size=pair.mm.nv)
        pair.d.qacc[:] = pair.md.qacc
        mujoco.mj_inverse(pair.mm, pair.md)
        tisim.inverse(pair.m, pair.d)
        assert error(*values(pair)) < 1e-7


def test_worlds_are_like_single_ones():
    pair = Pair(model("gaps", taken("gaps")))
    d = tisim.Data(pair.m, nworld=4)
    rng = np.random.default_rng(1)
    for w in range(4):
        scatter(pair.mm, pair.md, rng)
        pair.forward()
        for name in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            getattr(d, name)[w] = getattr(pair.md, name)
    for _ in range(20):
        tisim.step(pair.m, d)
    for w in range(4):
        one = tisim.Data(pair.m)
        scatter(pair.mm, pair.md, rng := np.random.default_rng(1) if w == 0 else rng)
        for name in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            getattr(one, name)[...] = getattr(pair.md, name)
        for _ in range(20):
            tisim.step(pair.m, one)
        assert np.array_equal(one.sensordata, d.sensordata[w]) and np.count_nonzero(one.sensordata) > 30


@pytest.mark.slow
def test_single_precision_follows():
    for scene in ("hand", "gaps"):
        pair = Pair(model(scene, TOUCH + contact_sensors(scene, ("geom", "none"), 4)), precision="f32")
        rng = np.random.default_rng(4)
        for _ in range(STATES):
            scatter(pair.mm, pair.md, rng)
            pair.forward()
            assert error(*values(pair)) < 2e-3


def test_disabled_contacts_and_sensors():
    pair = Pair(model("gaps", taken("gaps")))
    pair.forward()
    before = np.array(pair.d.sensordata)
    assert before.any()
    for flag in (mujoco.mjtDisableBit.mjDSBL_SENSOR, mujoco.mjtDisableBit.mjDSBL_CONTACT):
        pair.mm.opt.disableflags = pair.m.opt.disableflags = int(flag)
        pair.md.qpos[2] += 0.01
        pair.forward()
        assert error(*values(pair)) < 1e-7
        assert np.array_equal(before, pair.d.sensordata) == (flag == mujoco.mjtDisableBit.mjDSBL_SENSOR)
