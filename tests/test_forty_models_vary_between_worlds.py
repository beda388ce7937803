"""Of forty models - gymnasium's, scenes, random ones with every constraint - world k of a batch whose worlds differ in
every field that may differ is that world alone, bit for bit, with a reset in between, on 1, 2 and 3 threads; and ten of
them are MuJoCo 3.4.0's with the model changed and mj_setConst called, each field in a world of its own."""

import operator

import mujoco
import numpy as np
import pytest
from shared import random_articulated
from shared.variations import FIELDS, bound, draw

import tisim
from tisim.data import following
from tisim.errors import UnsupportedError
from tisim.gym.mujoco_task import asset

SCENES = {"adhesion": {}, "arms": dict(n=2), "bowl": dict(n=6), "bridge": dict(n=6), "cards": {}, "chain": {},
          "crank": {}, "dominos": dict(n=5), "drum": dict(n=6), "hopper": dict(n=8), "joints": {}, "motor": {},
          "net": dict(n=9), "pendulum": {}, "pile": dict(n=8), "ragdolls": dict(n=1), "shapes": dict(n=8),
          "terrain": dict(n=4), "tower": dict(n=4), "wall": dict(n=8)}  # fmt: skip
OF_GYMNASIUM = ("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum",
                "inverted_pendulum", "pusher_v5", "reacher", "swimmer", "walker2d_v5")  # fmt: skip
MODELS = [*SCENES, *OF_GYMNASIUM, *range(9)]
QUICK = ("ant", "pile")
TEN = ["ant", "half_cheetah", "hopper", "humanoid", "pusher_v5", "walker2d_v5", "pile", "ragdolls", "arms", "bridge"]
WORLDS, STEPS = 3, 15


def slow(names, quick):
    return [pytest.param(n, marks=() if n in quick else pytest.mark.slow, id=str(n)) for n in names]


def load(name):
    """A model by the name of a scene, of a file of gymnasium's, or the seed of a random one."""
    if name in SCENES:
        known = tisim.scenes.params(name)
        return tisim.Model.from_xml_string(scene(name, known))
    if name in OF_GYMNASIUM:
        return tisim.Model.from_xml_path(asset(f"{name}.xml"))
    return tisim.Model.from_xml_string(random_articulated.text(name))


def scene(name, known):
    return tisim.scenes.build(name, **{k: v for k, v in SCENES[name].items() if k in known})


def vary(m, d, worlds=None, seed=3):
    """Varies every field; returns those that this model refuses, whose reason must be one that is written down."""
    refused = []
    for field in FIELDS:
        try:
            d.vary(field, draw(m, field), seed=seed)
        except UnsupportedError as e:
            assert "damping ratio" in str(e) or "the same in all worlds" in str(e), e
            refused.append(field)
    return refused


def change(m, varied, world):
    """Writes the values of a world into a model."""
    for name, values in varied.items():
        operator.attrgetter(name)(m)[...] = values[world]
    bound(m)
    tisim.set_const(m)


def start(m, d, worlds):
    """Velocities and controls that follow from the number of a world."""
    phase = np.asarray(worlds)[:, None]
    qvel, ctrl = 0.5 * np.sin(np.arange(m.nv) + phase), 0.4 * np.sin(np.arange(m.nu) + 2 * phase)
    d.qvel, d.ctrl = (qvel, ctrl) if d.nworld > 1 else (qvel[0], ctrl[0])


def same(batch, world, one):
    for name in ("qpos", "qvel", "act", "qacc", "qfrc_constraint", "sensordata", "actuator_force"):
        assert np.array_equal(np.asarray(getattr(batch, name))[world], getattr(one, name)), (name, world)


@pytest.mark.parametrize("name", slow(MODELS, QUICK))
def test_a_world_is_that_world_alone(name):
    tisim.init(arch="cpu", precision="f64", threads=2)
    m = load(name)
    d = tisim.Data(m, nworld=WORLDS)
    vary(m, d)
    varied = d.varied
    assert len(varied) >= len(FIELDS) - 4
    start(m, d, range(WORLDS))
    tisim.step(m, d, STEPS)
    tisim.reset(m, d, [1])
    tisim.step(m, d, STEPS)
    for world in range(WORLDS):
        one = load(name)
        change(one, varied, world)
        alone = tisim.Data(one)
        start(one, alone, [world])
        tisim.step(one, alone, STEPS)
        if world == 1:
            tisim.reset(one, alone)
        tisim.step(one, alone, STEPS)
        same(d, world, alone)
    found = np.array(d.qpos), np.array(d.qvel)
    for threads in (1, 3):
        tisim.init(arch="cpu", precision="f64", threads=threads)
        other = tisim.Data(m, nworld=WORLDS)
        vary(m, other)
        start(m, other, range(WORLDS))
        tisim.step(m, other, STEPS)
        tisim.reset(m, other, [1])
        tisim.step(m, other, STEPS)
        assert np.array_equal(found[0], other.qpos) and np.array_equal(found[1], other.qvel), threads


def theirs(name):
    if name in SCENES:
        return mujoco.MjModel.from_xml_string(scene(name, tisim.scenes.params(name)))
    return mujoco.MjModel.from_xml_path(asset(f"{name}.xml"))


def converge(opt):
    opt.tolerance, opt.iterations, opt.ls_tolerance, opt.ls_iterations = 1e-15, 200, 1e-6, 100


@pytest.mark.parametrize("name", slow(TEN, ("ant", "pile")))
def test_each_field_of_a_model_is_mujocos(name):
    """A world for each field, which has its own values of that field alone."""
    tisim.init(arch="cpu", precision="f64")
    m = load(name)
    converge(m.opt)
    d = tisim.Data(m, nworld=len(FIELDS))
    done = []
    for world, field in enumerate(FIELDS):
        try:
            d.vary(field, draw(m, field), worlds=[world], seed=17)
            done.append((world, field))
        except UnsupportedError as e:
            assert "damping ratio" in str(e) or "the same in all worlds" in str(e), e
    assert len(done) >= len(FIELDS) - 4
    start(m, d, np.zeros(d.nworld))
    tisim.step(m, d, 2 * STEPS)
    plain = theirs(name)
    converge(plain.opt)
    end, moved = roll(plain, m.nv, m.nu), 0
    for world, field in done:
        mm = theirs(name)
        converge(mm.opt)
        operator.attrgetter(field)(mm)[...] = d.varied[field][world]
        if field in following.CAUSES:
            mm.body_sameframe[:], mm.geom_sameframe[:] = 0, 0  # what was written counts
        bound(mm)
        qpos, qvel = roll(mm, m.nv, m.nu)
        scale = max(1.0, np.abs(qvel).max())
        assert np.allclose(d.qpos[world], qpos, rtol=0, atol=1e-7 * scale), field
        assert np.allclose(d.qvel[world], qvel, rtol=0, atol=1e-5 * scale), field
        moved += not np.array_equal(qpos, end[0])
    assert moved >= 8, "many fields matter"


def roll(mm, nv, nu):
    """Where a model of MuJoCo's goes: qpos, qvel."""
    dd = mujoco.MjData(mm)
    mujoco.mj_setConst(mm, dd)
    mujoco.mj_resetData(mm, dd)
    dd.qvel, dd.ctrl = 0.5 * np.sin(np.arange(nv)), 0.4 * np.sin(np.arange(nu))
    for _ in range(2 * STEPS):
        mujoco.mj_step(mm, dd)
    return dd.qpos, dd.qvel
