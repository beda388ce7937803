"""copy.copy, copy.deepcopy and pickle of a Model and a Data give independent ones that step to the same bits, in this
process and in another; those of a Spec are edited apart."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim import scenes
from tisim.enums import mjtEnableBit

WORDS = ("qpos", "qvel", "qacc", "qacc_warmstart", "qfrc_constraint", "xpos", "efc_force", "energy", "time", "ncon")
WAYS = {
    "copy": lambda m, d: (copy.copy(m), copy.copy(d)),
    "deepcopy": lambda m, d: copy.deepcopy((m, d)),
    "pickle": lambda m, d: pickle.loads(pickle.dumps((m, d))),
    "pickled Data": lambda m, d: (None, pickle.loads(pickle.dumps(d))),
}
SCENES = {
    "pile": lambda: scenes.build("pile", n=8), "ragdolls": lambda: scenes.build("ragdolls", n=1),
    "joints": lambda: scenes.build("joints"), "chain": lambda: scenes.build("chain", n=400),
}  # fmt: skip


def numbers(d):
    return [np.ravel(np.asarray(getattr(d, word))) for word in WORDS] + [d.contact.dist, d.contact.geom]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(numbers(a), numbers(b)))


def refuse_even(m, d, geom1, geom2, worldid):
    """A contact_filter that a pickle can name."""
    return (geom1 + geom2) % 2 == 0


@pytest.fixture(scope="module", autouse=True)
def start():
    tisim.init(arch="cpu", precision="f64")


def made(scene, nworld):
    m = tisim.Model.from_xml_string(SCENES[scene]())
    m.opt.timestep = 0.003
    m.opt.enableflags |= int(mjtEnableBit.mjENBL_ENERGY)
    m.geom_friction[:] *= 0.75
    m.capacity_limit["nconmax"] = 10**6
    d = tisim.Data(m, nworld)
    d.qvel[...] = np.random.default_rng(0).normal(size=d.qvel.shape)
    tisim.step(m, d, 40)
    d.qfrc_applied[...] = 0.25
    return m, d


@pytest.mark.parametrize("nworld", [1, 3])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", ["pile", "ragdolls", "joints"])
def test_they_are_independent_and_step_to_the_same_bits(scene, way, nworld):
    m, d = made(scene, nworld)
    n, e = WAYS[way](m, d)
    if e.model is not n:
        assert n is None or e.model is m
        n = e.model
    assert same(d, e)
    before = numbers(e)
    tisim.step(m, d, 20)
    assert all(np.array_equal(x, y) for x, y in zip(before, numbers(e)))  # it has not moved
    tisim.step(n, e, 20)
    assert same(d, e)
    if n is not m:
        m.geom_friction[0] = 9
        m.opt.timestep = 0.001
        m.capacity_limit["nconmax"] = 7
        assert n.geom_friction[0, 0] != 9 and n.opt.timestep == 0.003 and n.capacity_limit["nconmax"] == 10**6
    d.qpos[...] = 0
    assert np.asarray(e.qpos).any()


@pytest.mark.parametrize("scene", ["sensors of distances", "direct impulses"])
def test_lists_that_only_their_stage_knows_are_made_anew(scene):
    text = scenes.build("pile", n=4)
    if scene == "sensors of distances":
        body = "<worldbody><geom name='{0}' size='.1' pos='{1} 0 3'/></worldbody>"
        sensor = "<sensor><distance geom1='a' geom2='b' cutoff='9'/></sensor>"
        text = text.replace("</mujoco>", body.format("a", 0) + body.format("b", 1) + sensor + "</mujoco>")
    m = tisim.Model.from_xml_string(text)
    if scene == "direct impulses":
        m.opt.dynamics, m.lcp.friction, m.lcp.direct = "lcp", "polygon", 20
    d = tisim.Data(m)
    tisim.step(m, d, 30)
    other = copy.copy(d)
    for data in (d, other):
        tisim.step(m, data, 30)
    assert np.array_equal(other.qpos, d.qpos) and np.array_equal(other.sensordata, d.sensordata)
    assert scene == "direct impulses" or abs(d.sensordata[0] - 0.8) < 1e-12


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
def test_a_model_keeps_everything(way):
    m = tisim.Model.from_xml_string(SCENES["chain"]())
    m.contact_filter = refuse_even
    m.body_gravcomp[1] = 1
    n = dict(copy=copy.copy, deepcopy=copy.deepcopy, pickle=lambda x: pickle.loads(pickle.dumps(x)))[way](m)
    assert not n._differences(m) and n._sizes == m._sizes and n._names == m._names and n.texts == m.texts
    assert n.contact_filter is refuse_even
    n.geom_size[0] = 3
    n.opt.gravity[0] = 5
    assert m.geom_size[0, 0] != 3 and m.opt.gravity[0] == 0
    if way == "pickle":
        with pytest.raises(tisim.Error, match="no specification"):
            n.spec()
    else:
        assert n.spec().compile().nbody == m.nbody


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle"])
def test_a_specification_is_edited_apart(way):
    """Once a copy shared its bodies with the original, and a deep copy or a pickle found none of them (KeyError)."""
    child = {"part.xml": '<mujoco><worldbody><body name="p"><geom size="1"/></body></worldbody></mujoco>'}
    spec = tisim.Spec.from_string(
        """<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody><attach model="part" prefix="x"/>
        <body name="b"><freejoint/><geom name="g" size="1"/></body></worldbody></mujoco>""", child)  # fmt: skip
    text = spec.to_xml()
    other = dict(copy=copy.copy, deepcopy=copy.deepcopy, pickle=lambda x: pickle.loads(pickle.dumps(x)))[way](spec)
    assert other.to_xml() == text
    other.geom("g").size[0] = 2
    other.body("b").add_body(name="new").add_geom(size=[1, 0, 0])
    other.delete(other.joints[0])
    assert spec.to_xml() == text and spec.compile().nv == 6
    m = other.compile()
    assert (m.nbody, m.nv, m.geom("g").size[0]) == (4, 0, 2)


OTHER = """
import pickle, sys, numpy as np, tisim
m, d = pickle.load(open(sys.argv[1], "rb"))
tisim.step(m, d, 30)
np.save(sys.argv[2], tisim.get_state(m, d))
"""


def test_another_process_steps_to_the_same_bits(tmp_path):
    m, d = made("ragdolls", 1)
    (tmp_path / "both.pickle").write_bytes(pickle.dumps((m, d)))
    command = [sys.executable, "-c", OTHER, str(tmp_path / "both.pickle"), str(tmp_path / "state.npy")]
    subprocess.run(command, check=True)
    tisim.step(m, d, 30)
    assert np.array_equal(np.load(tmp_path / "state.npy"), tisim.get_state(m, d))


def test_a_copied_data_of_another_precision_is_converted():
    m, d = made("pile", 1)
    kept = pickle.dumps((m, d))
    tisim.init(arch="cpu", precision="f32")
    try:
        n, e = pickle.loads(kept)
        assert e.qvel.dtype == np.float32
        assert e.qpos.dtype == np.float64  # of places f32 has too few digits
        tisim.step(n, e)
        with pytest.raises(tisim.Error, match="make a new Data"):
            copy.copy(d)
        assert "of an earlier tisim.init" in repr(d)
    finally:
        tisim.init(arch="cpu", precision="f64")


def test_settings_and_views_can_be_copied():
    m, d = made("pile", 1)
    opt = copy.deepcopy(m.opt)
    opt.timestep = 1
    assert m.opt.timestep == 0.003 and pickle.loads(pickle.dumps(m.opt)).timestep == 0.003
    assert copy.copy(m.opt) is not m.opt and copy.copy(m.opt).gravity is not m.opt.gravity
    for part in (d.qpos, d.qpos[:3], m.geom_size, d.joint(0).qpos, d.contact.dist):
        for made_of in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
            assert np.array_equal(made_of, part)
            made_of[...] = 7
    assert not (np.asarray(d.qpos) == 7).all() and not (m.geom_size == 7).any()
    tisim.step(m, d, 300)
    for element in (m.geom(1), d.body(1), d.contact[0], d.world(0).body(1)):
        for made_of in (copy.copy(element), copy.deepcopy(element), pickle.loads(pickle.dumps(element))):
            assert made_of is not element and repr(made_of) == repr(element)
    friction = m.geom(1).friction.copy()
    copy.deepcopy(m.geom(1)).friction[0] = 7
    assert (m.geom(1).friction == friction).all()
    e, body = copy.deepcopy((d, d.body(1)))
    body.xfrc_applied[2] = 3
    assert e.xfrc_applied[1, 2] == 3 and d.xfrc_applied[1, 2] == 0


def test_limits_written_at_run_time_act():
    """The lists of limited joints follow, also where they become longer."""
    m = tisim.Model.from_xml_string(scenes.build("chain", n=40))
    d = tisim.Data(m)
    tisim.step(m, d, 2)
    m.jnt_range[:] = [-0.01, 0.01]
    m.jnt_limited[:] = True
    d.qvel[...] = 1
    e = copy.copy(d)
    tisim.step(m, d, 20)
    tisim.step(m, e, 20)
    assert same(d, e) and d.nefc > 0


def test_copies_of_a_model_that_was_just_written_step():
    """The tree of static geoms, which follows from places, is asked for its size before it is made anew."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 1"><freejoint/><geom size=".1"/></body>'
        "</worldbody></mujoco>"
    )
    d = tisim.Data(m)
    tisim.step(m, d)
    m.geom_pos[0] = [0, 0, 0.5]
    other = copy.copy(d)
    for each in (d, other):
        tisim.step(m, each, 300)
    assert same(d, other) and d.ncon == 1 and d.xpos[1, 2] == pytest.approx(0.6, abs=1e-2)
