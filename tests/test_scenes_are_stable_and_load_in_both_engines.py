"""Every scene of tisim.scenes is an MJCF text that MuJoCo runs for seconds without a warning, with everything finite,
above the floor and slow; tisim compiles it to the same sizes and mass. A wrong name or parameter is refused with a
hint."""

import mujoco
import numpy as np
import pytest

import tisim
from tisim import scenes

SMALL = dict(pile=60, dominos=25, wall=40, pyramid=30, ragdolls=2, shapes=20, chain=8, net=36, bridge=24, hopper=60)


def text(name, **params):
    if name in SMALL:
        params.setdefault("n", SMALL[name])
    return scenes.build(name, **params)


@pytest.mark.parametrize("name", scenes.names())
def test_scene_is_stable_in_mujoco(name):
    m = mujoco.MjModel.from_xml_string(text(name))
    d = mujoco.MjData(m)
    fastest = 0.0
    while d.time < 3:
        mujoco.mj_step(m, d)
        fastest = max(fastest, np.abs(d.qvel).max())
    assert [w.number for w in d.warning] == [0] * len(d.warning)
    # a card that falls on its edge spins, at the speed of its fall over half its length, a grain over its radius
    assert np.isfinite(d.qpos).all() and fastest < (150 if name in ("cards", "hopper") else 60)
    if name not in ("pendulum", "chain"):
        assert d.xpos[1:, 2].min() > 0 and np.abs(d.xpos).max() < max(12, 1.1 * np.abs(m.body_pos).max())


@pytest.mark.parametrize("name", scenes.names())
def test_scene_compiles_to_mujocos_sizes(name):
    reference = mujoco.MjModel.from_xml_string(text(name))
    m = tisim.Model.from_xml_string(text(name))
    for size in ("nbody", "njnt", "nq", "nv", "ngeom", "ntree", "nexclude"):
        assert getattr(m, size) == getattr(reference, size), size
    assert np.allclose(np.asarray(m.body_mass), reference.body_mass, rtol=1e-12)
    assert np.allclose(np.asarray(m.geom_rgba), reference.geom_rgba)


def test_standing_scenes_stand():
    for name in ("pyramid", "wall"):
        m = mujoco.MjModel.from_xml_string(text(name))
        d = mujoco.MjData(m)
        for _ in range(20):  # the ball has not arrived yet
            mujoco.mj_step(m, d)
        bricks = np.asarray(m.jnt_type) == mujoco.mjtJoint.mjJNT_FREE
        heights = d.qpos[m.jnt_qposadr[bricks] + 2]
        assert np.abs(heights - m.qpos0[m.jnt_qposadr[bricks] + 2]).max() < 3e-3


def test_dominos_fall_one_after_another():
    m = mujoco.MjModel.from_xml_string(text("dominos", n=12))
    d = mujoco.MjData(m)
    falls = np.full(12, np.inf)
    while d.time < 3:
        mujoco.mj_step(m, d)
        upright = d.xmat[1:, 8]
        falls = np.where((upright < 0.8) & np.isinf(falls), d.time, falls)
    assert np.isfinite(falls).all() and (np.diff(falls) > 0).all()


def test_parameters_change_the_scene():
    assert text("pile", seed=1) != text("pile", seed=2) and text("pile", seed=1) == text("pile", seed=1)
    m = mujoco.MjModel.from_xml_string(text("pile", shape="sphere", cone="elliptic", sleep=True))
    assert m.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC and m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP
    assert (m.geom_type[5:] == mujoco.mjtGeom.mjGEOM_SPHERE).all()
    for name, n in SMALL.items():
        moving = mujoco.MjModel.from_xml_string(text(name)).nbody - 1
        per = {"ragdolls": 13}.get(name, 1)
        more = dict(wall=1, net=1, bridge=3, hopper=4).get(name, 0)  # the balls; a beam and two boxes; boards
        assert moving == n * per + more, name


def test_every_scene_says_what_it_shows():
    for name in scenes.names():
        assert scenes.about(name).endswith(".") and len(scenes.about(name)) < 110
    assert scenes.params("pile")["n"] == 1000


@pytest.mark.parametrize(
    "name, params, words",
    [
        ("domino", {}, ["no scene is named 'domino'", "did you mean dominos"]),
        ("zzz", {}, ["there are pile", "wall"]),
        ("pile", {"size": 3}, ["no parameter 'size'", "n, shape, cone, seed, sleep"]),
        ("pile", {"n": 0}, ["n=0", "at least 1"]),
        ("tower", {"n": 10**12}, ["n=1000000000000", "10000000 at most"]),
        ("pile", {"seed": -1}, ["seed=-1", "at least 0"]),
        ("hopper", {"seed": np.int64(-1)}, ["seed=-1", "at least 0"]),
        ("pile", {"n": "many"}, ["expected a value like 1000"]),
        ("pile", {"shape": "cube"}, ["'cube'", "mixed, box"]),
        ("pile", {"cone": "round"}, ["pyramidal", "elliptic"]),
        ("pendulum", {"joint": "slide"}, ["hinge", "ball"]),
        ("pendulum", {"length": -1.0}, ["positive"]),
    ],
)
def test_wrong_names_and_values_are_refused(name, params, words):
    with pytest.raises(tisim.Error) as caught:
        scenes.build(name, **params)
    for word in words:
        assert word in str(caught.value)


def test_model_from_scene():
    assert tisim.Model.from_scene("dominos", n=7).nbody == 8
