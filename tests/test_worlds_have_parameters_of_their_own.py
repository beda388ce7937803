"""World k of a Data whose parameters vary is the same world alone, with these parameters in its model: bit for bit, one
field at a time and all together, on one thread and several; and MuJoCo 3.4.0's with its model changed and mj_setConst
called. What varies survives a reset, a copy and a draw by seed; what cannot vary is refused by name."""

import copy
import operator

import mujoco
import numpy as np
import pytest
from shared import golden
from shared.variations import bound

import tisim
from tisim.errors import FieldError, UnsupportedError, ValuesError

XML = """<mujoco><option timestep=".004" {option}><flag energy="enable"/></option>
<default><geom density="800"/></default><worldbody>
<geom type="plane" size="5 5 .1" friction=".8 .01 .001"/>
<body pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1" condim="4"/></body>
<body pos=".05 0 .35" euler="10 0 0"><freejoint/><geom type="capsule" size=".06 .1" margin=".01" gap=".005"/></body>
<body pos="1 0 .5"><joint name="h" axis="0 1 0" damping=".2" stiffness="3" frictionloss=".1" range="-20 20"
  limited="true" armature=".01"/><geom type="capsule" size=".04" fromto="0 0 0 .3 0 0"/>
  <body pos=".3 0 0"><joint name="b" type="ball" damping=".05" stiffness="2" armature=".02"/>
    <geom type="capsule" size=".04" fromto="0 0 0 .25 0 -.1"/><site name="t" pos=".25 0 -.1"/>
    <body pos=".25 0 -.1"><joint name="s" type="slide" axis="1 0 0" damping="3" range="-.05 .05" limited="true"/>
      <geom type="sphere" size=".05"/></body></body></body>
</worldbody><actuator>
<position joint="h" kp="8" kv=".3" ctrlrange="-.5 .5" ctrllimited="true" forcerange="-1 1" forcelimited="true"/>
<motor joint="s" gear="2" ctrlrange="-1 1" ctrllimited="true"/>
<muscle joint="h" ctrllimited="true" ctrlrange="0 1" lengthrange="-.5 .5" force="3"/>
</actuator><sensor><jointpos joint="h"/><framepos objtype="site" objname="t"/></sensor></mujoco>"""
OPTIONS = 'cone="elliptic"', 'integrator="implicitfast"'
FIELDS = """opt.gravity geom_friction geom_solmix geom_solref geom_solimp geom_margin geom_gap qpos_spring
    jnt_stiffness
jnt_range dof_damping dof_frictionloss actuator_gainprm actuator_biasprm actuator_ctrlrange
actuator_forcerange body_mass body_inertia body_ipos body_iquat body_pos body_quat dof_armature geom_pos
geom_quat geom_size""".split()
STEPS = 40
CAUSES = set("body_mass body_inertia body_ipos body_iquat body_pos body_quat dof_armature geom_pos geom_quat".split())


def draw(field):
    """A function of (generator, values of the model) that gives values of one world."""
    if field == "geom_solimp":
        return lambda rng, x: x * [*rng.uniform(0.8, 1, 2), *np.ones(3)]
    if field == "qpos_spring":
        return lambda rng, x: x + np.where(np.arange(len(x)) == 14, rng.uniform(-0.2, 0.2), 0)
    if field in ("body_mass", "body_inertia", "dof_armature"):
        return lambda rng, x: x * rng.uniform(0.9, 1.1, (len(x), *(1,) * (x.ndim - 1)))
    first = 1 if field.startswith("geom") else 3  # behind the floor; bodies with joints
    if field in ("body_ipos", "body_pos", "geom_pos"):
        return lambda rng, x: x + np.where(np.arange(len(x))[:, None] >= first, rng.uniform(-0.02, 0.02, x.shape), 0)
    if field.endswith("quat"):
        return lambda rng, x: turned(rng, x, first)
    return lambda rng, x: x * rng.uniform(0.6, 1.4, (*x.shape[:-1], 1) if x.ndim > 1 else x.shape)


def turned(rng, x, first):
    """Quaternions, turned a little from the first on."""
    x = x + np.where(np.arange(len(x))[:, None] >= first, rng.uniform(-0.1, 0.1, x.shape), 0)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def start(m, d, world=0):
    """The same start in all worlds; velocities follow from the number of the first."""
    worlds = np.arange(d.nworld) + world
    d.qvel = np.sin(np.arange(m.nv) + worlds[:, None]) if d.nworld > 1 else np.sin(np.arange(m.nv) + world)
    d.ctrl = np.broadcast_to([0.7, -0.8, 0.6], (d.nworld, 3)) if d.nworld > 1 else [0.7, -0.8, 0.6]


def model(option, varied=None, world=0):
    """The model, with the values that a world has."""
    m = tisim.Model.from_xml_string(XML.format(option=option))
    for name, values in (varied or {}).items():
        operator.attrgetter(name)(m)[...] = values[world]
    if CAUSES.intersection(varied or ()):
        tisim.set_const(m)
    bound(m)
    return m


def same(batch, ones):
    for w, one in enumerate(ones):
        for name in ("qpos", "qvel", "qacc", "qfrc_constraint", "sensordata", "actuator_force", "energy"):
            assert np.array_equal(np.asarray(getattr(batch, name))[w], getattr(one, name)), (name, w)
        assert np.array_equal(batch.contact.friction[batch.contact.worldid == w], one.contact.friction)


def alone(option, varied, steps, nworld=3):
    """The worlds, each in a Data of its own."""
    out = []
    for w in range(nworld):
        m = model(option, varied, w)
        out.append(tisim.Data(m))
        start(m, out[-1], w)
        tisim.step(m, out[-1], steps)
    return out


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("variant", ["serial", "parallel"])
def test_all_fields(option, variant):
    tisim.init(arch="cpu", precision="f64", threads=2 if variant == "parallel" else 1)
    m = model(option)
    d = tisim.Data(m, nworld=3)
    for field in FIELDS:
        d.vary(field, draw(field), seed=5)
    with golden.force(variant):
        start(m, d)
        tisim.step(m, d, STEPS)
        same(d, alone(option, d.varied, STEPS))


@pytest.mark.parametrize("field", FIELDS)
def test_one_field(field):
    tisim.init(arch="cpu", precision="f64")
    m = model(OPTIONS[0])
    d, plain = tisim.Data(m, nworld=3), tisim.Data(m, nworld=3)
    d.vary(field, draw(field), seed=7)
    for data in (d, plain):
        start(m, data)
        tisim.step(m, data, STEPS)
    same(d, alone(OPTIONS[0], d.varied, STEPS))
    assert not np.array_equal(d.qpos, plain.qpos) or field == "geom_solmix"


@pytest.mark.parametrize("option", OPTIONS)
def test_mujocos(option):
    tisim.init(arch="cpu", precision="f64")
    option += ' tolerance="1e-14" iterations="200"'
    m = model(option)
    d = tisim.Data(m, nworld=4)
    for field in FIELDS:
        d.vary(field, draw(field), seed=11)
    start(m, d)
    tisim.step(m, d, STEPS)
    for w in range(4):
        mm = mujoco.MjModel.from_xml_string(XML.format(option=option))
        for name, values in d.varied.items():
            operator.attrgetter(name)(mm)[...] = values[w]
        bound(mm)
        mm.body_sameframe[:], mm.geom_sameframe[:] = 0, 0  # what was written counts
        dd = mujoco.MjData(mm)
        mujoco.mj_setConst(mm, dd)
        mujoco.mj_resetData(mm, dd)
        dd.qvel, dd.ctrl = np.sin(np.arange(m.nv) + w), [0.7, -0.8, 0.6]
        for _ in range(STEPS):
            mujoco.mj_step(mm, dd)
        assert np.allclose(d.world(w).qpos, dd.qpos, rtol=0, atol=1e-7), w
        assert np.allclose(d.world(w).qvel, dd.qvel, rtol=0, atol=1e-5), w


def test_resets_and_copies_keep_what_varies():
    tisim.init(arch="cpu", precision="f64")
    m = model(OPTIONS[0])
    d = tisim.Data(m, nworld=3)
    for field in FIELDS:
        d.vary(field, draw(field), seed=5)
    start(m, d)
    tisim.step(m, d, STEPS)
    first, other = np.array(d.qpos), copy.copy(d)
    tisim.step(m, d, 5)
    tisim.step(m, other, 5)
    assert np.array_equal(d.qpos, other.qpos)
    tisim.reset(m, d, worlds=[1])
    assert np.array_equal(d.qpos[1], m.qpos0) and not np.array_equal(d.qpos[0], m.qpos0)
    tisim.reset(m, d)
    start(m, d)
    tisim.step(m, d, STEPS)
    assert np.array_equal(d.qpos, first)
    for field in FIELDS:
        d.vary(field, None)
    assert d.varied == {}
    tisim.reset(m, d)
    start(m, d)
    tisim.step(m, d, STEPS)
    same(d, alone(OPTIONS[0], {}, STEPS))


def test_draws_follow_from_seed_field_and_world():
    tisim.init(arch="cpu", precision="f64")
    m = model(OPTIONS[0])
    d, e = tisim.Data(m, nworld=4), tisim.Data(m, nworld=6)
    d.vary("geom_friction", draw("geom_friction"), seed=3)
    e.vary("geom_friction", draw("geom_friction"), worlds=[3, 1], seed=3)
    before = d.varied["geom_friction"]
    assert np.array_equal(e.varied["geom_friction"][[1, 3]], before[[1, 3]])
    assert np.array_equal(e.varied["geom_friction"][[0, 2, 4, 5]], np.repeat(m.geom_friction[None], 4, 0))
    d.vary("geom_friction", draw("geom_friction"), worlds=[2], seed=[9])
    after = d.varied["geom_friction"]
    assert (after[[0, 1, 3]] == before[[0, 1, 3]]).all() and (after[2] != before[2]).any()
    d.vary("geom_gap", draw("geom_gap"), seed=3)
    factors = [d.varied[name][:, 2].reshape(4, -1)[:, 0] / np.ravel(getattr(m, name)[2])[0]
               for name in ("geom_friction", "geom_gap")]  # fmt: skip
    assert not np.allclose(*factors)


def test_what_cannot_vary_is_refused_by_name():
    tisim.init(arch="cpu", precision="f64")
    m = model(OPTIONS[0])
    d = tisim.Data(m, nworld=2)
    for field, error, says in (
        ("geom_type", FieldError, "geom_type is the same in all worlds.*geom_friction"),
        ("geom_frction", FieldError, "geom_friction"),
        ("body_parentid", FieldError, "body_parentid is the same in all worlds"),
        ("geom_contype", FieldError, "geom_contype is the same in all worlds"),
        ("opt.iterations", FieldError, "^opt.iterations is the same in all worlds"),
    ):
        with pytest.raises(error, match=says):
            d.vary(field, np.ones((2, 1)))
    for field, values, says in (
        ("geom_friction", np.ones((3, m.ngeom, 3)), r"shape \(3, 6, 3\), expected \(2, 6, 3\)"),
        ("geom_friction", np.full((2, m.ngeom, 3), np.nan), "world 0: geom_friction"),
        ("geom_size", -np.asarray(m.geom_size)[None] + np.zeros((2, 1, 1)), "world 0: geom_size"),
        ("geom_friction", "rough", "^geom_friction: expected numbers, got 'rough'"),
        ("geom_friction", [10**400, 1], "^geom_friction: "),
        ("geom_friction", lambda rng, x: 10**400, "^geom_friction: "),
        ("geom_friction", lambda rng, x: x[:2], r"shape \(2, 3\), expected \(6, 3\)"),
        ("opt.gravity", np.array([[0, 0, -9.81], [0, 0, np.inf]]), "world 1: opt.gravity"),
        ("dof_damping", m.dof_damping * [[1], [0]], "world 1: dof_damping is zero"),
        ("dof_frictionloss", np.ones((2, m.nv)), "world 0: dof_frictionloss is zero"),
    ):
        with pytest.raises(ValuesError, match=says):
            d.vary(field, values)
    with pytest.raises(UnsupportedError, match="damping ratio"):
        d.vary("actuator_biasprm", np.abs(m.actuator_biasprm)[None] * [[[1]], [[1]]])
    assert d.varied == {}
    d.vary("geom_friction", draw("geom_friction"))
    with pytest.raises(UnsupportedError, match="derivatives would use the model's geom_friction"):
        tisim.transition_fd(m, d)


def test_what_does_not_vary_costs_nothing():
    """Kernels of a Data that varies nothing are those of a model of which nothing was ever said to vary."""
    from tisim.device import runtime
    from tisim.device.by_world import Arguments

    tisim.init(arch="cpu", precision="f64")
    m = model(OPTIONS[0])
    d = tisim.Data(m, nworld=2)
    kernel = runtime.kernels("collision.contact").write_contacts
    before = Arguments(kernel.special(True), d.features())
    d.vary("dof_damping", m.dof_damping[None] * [[1.0], [2.0]])
    apart = Arguments(kernel.special(True), d.features())
    d.vary("geom_friction", draw("geom_friction"))
    after = Arguments(kernel.special(True), d.features())
    assert apart.entries == before.entries and apart.text() == before.text()
    assert after.text() != before.text()


STACK = """<mujoco><option {}/><worldbody><geom type="plane" size="5 5 .1"/>

<body pos="1 0 .2"><geom type="box" size=".2 .2 .1"/></body>
<body pos="1 0 .42"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("option", ['sleep_tolerance=".01"', 'dynamics="lcp"'])
def test_sleep_and_second_dynamics(option):
    """Parameters per world where bodies sleep, and under the second dynamics; what these cannot take is refused."""
    tisim.init(arch="cpu", precision="f64")

    def made(varied=None, world=0):
        m = tisim.Model.from_xml_string(STACK.format("" if "lcp" in option else option))
        if "lcp" in option:
            m.opt.dynamics = "lcp"
        else:
            m.opt.enableflags |= int(tisim.mjtEnableBit.mjENBL_SLEEP)
        for name, values in (varied or {}).items():
            getattr(m, name)[...] = values[world]
        if varied:
            tisim.set_const(m)
        return m

    m = made()
    d = tisim.Data(m, nworld=3)
    tisim.step(m, d, 2)
    with pytest.raises(UnsupportedError, match="world 1: body_pos changes mid_box"):  # the tree of static geoms
        d.vary("body_pos", np.asarray(m.body_pos)[None] + [[[0]], [[0.01]], [[0]]])
    assert d.varied == {}
    d.vary("geom_friction", draw("geom_friction"), seed=1)
    d.vary("body_mass", draw("body_mass"), seed=1)
    tisim.reset(m, d)
    tisim.step(m, d, 150)
    for w in range(3):
        one = made(d.varied, w)
        alone = tisim.Data(one)
        tisim.step(one, alone, 150)
        assert np.array_equal(d.qpos[w], alone.qpos) and np.array_equal(d.geom_xpos[w], alone.geom_xpos)
        assert np.array_equal(d.body_awake[w], alone.body_awake)
    assert "lcp" in option or not d.body_awake.all()
    if "lcp" in option:
        d.vary("geom_margin", m.geom_margin[None] + np.zeros((3, 1)))
        with pytest.raises(UnsupportedError, match="lcp takes geom_margin"):
            tisim.step(m, d)


def test_what_sleeps_wakes_where_its_place_in_the_world_is_another():
    tisim.init(arch="cpu", precision="f64")
    xml = """<mujoco><option sleep_tolerance=".05"><flag sleep="enable"/></option><worldbody><body pos="1 0 .5">
    <joint axis="0 1 0" damping="1" stiffness="30"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/></body>
    </worldbody></mujoco>"""
    m, other = (tisim.Model.from_xml_string(xml) for _ in range(2))
    d, one = tisim.Data(m, nworld=2), tisim.Data(other)
    tisim.step(m, d, 900)
    tisim.step(other, one, 900)
    assert d.nbody_awake.tolist() == [1, 1]
    d.vary("body_pos", [[[0, 0, 0], [1, 0, 0.75]]], worlds=1)
    other.body_pos[1] = [1, 0, 0.75]
    tisim.set_const(other)
    for _ in range(3):
        tisim.step(m, d)
        tisim.step(other, one)
        assert np.array_equal(d.world(1).tree_asleep, one.tree_asleep) and d.nbody_awake.tolist() == [1, 2]
        assert np.array_equal(d.world(1).xpos, one.xpos) and np.array_equal(d.world(1).qpos, one.qpos)


ASLEEP = """<mujoco><option sleep_tolerance=".05"><flag sleep="enable"/></option><worldbody>
<body name="arm" pos="1 0 .5"><joint axis="0 1 0" damping="1" stiffness="30"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/></body>
<body name="other" pos="0 0 .5"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("field", ["body_pos", "body_ipos", "body_mass"])
def test_what_sleeps_is_as_alone_after_each_vary(field):
    """Also where a field takes the model's values again."""
    tisim.init(arch="cpu", precision="f64")
    m, other = (tisim.Model.from_xml_string(ASLEEP) for _ in range(2))
    d, one = tisim.Data(m, nworld=2), tisim.Data(other)
    tisim.remove(m, d, "other")
    tisim.remove(other, one, "other")
    before = np.array(getattr(m, field))
    for values in (before + 0.1 * (np.arange(m.nbody) == 1).reshape(-1, *(1,) * (before.ndim - 1)), None):
        tisim.step(m, d, 900)
        tisim.step(other, one, 900)
        assert d.nbody_awake.tolist() == [1, 1]
        d.vary(field, None if values is None else np.array([before, values]))
        getattr(other, field)[...] = before if values is None else values
        tisim.set_const(other)
        for _ in range(3):
            tisim.step(m, d)
            tisim.step(other, one)
            for name in ("tree_asleep", "qpos", "xpos", "xipos", "cinert", "M", "subtree_com"):
                assert np.array_equal(getattr(d.world(1), name), getattr(one, name)), (field, name)


def test_centres_of_mass_follow_masses_of_worlds_where_bodies_come_and_go():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(STACK.format(""))
    d = tisim.Data(m, nworld=2)
    tisim.remove(m, d, 2, worlds=0)
    tisim.step(m, d)
    d.vary("body_mass", np.array([m.body_mass, np.asarray(m.body_mass) * np.linspace(1, 3, m.nbody)]))
    tisim.forward(m, d)
    mass = d.varied["body_mass"] * d.body_present
    centre = np.einsum("wb,wbx->wx", mass, d.xipos) / mass.sum(axis=1, keepdims=True)
    assert np.allclose(np.asarray(d.subtree_com)[:, 0], centre, rtol=0, atol=1e-12)
