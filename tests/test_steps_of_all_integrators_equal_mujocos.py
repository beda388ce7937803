"""From the same state a step of each integrator ends where MuJoCo 3.4.0's does, and so does a short rollout.

Contract: the passive forces within 1e-12, qpos, qvel and qacc_warmstart within 1e-11 of their scale where no constraint
acts, 1e-8 where one does (solvers converged to 1e-12), over models of one feature each, both cones where bodies touch;
qDeriv within 1e-11, the part of it that implicitfast takes.
"""

import re

import mujoco
import numpy as np
import pytest
from shared.motion import ACTUATORS, INTEGRATORS, MODELS, TOUCHING, derivative, disturb, with_integrator
from shared.reference import Pair, error

import tisim

PASSIVE = "qfrc_passive qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid".split()
CASES = [(n, i, "pyramidal") for n in MODELS for i in INTEGRATORS] + [
    (n, i, "elliptic") for n in TOUCHING if "contacts" in n for i in INTEGRATORS
]
MORE = "medium|density|viscosity|wind|fluid|" + "|".join(ACTUATORS)
# else implicitfast takes the damping of joints alone, and the step that Euler takes
DERIVED = [(n, "implicit") for n in MODELS if n not in TOUCHING] + [
    (n, "implicitfast") for n in MODELS if re.search(MORE, n) and n not in TOUCHING
]


@pytest.mark.parametrize("name, integrator, cone", CASES)
def test_a_step(name, integrator, cone):
    pair = Pair(with_integrator(MODELS[name], integrator, cone))
    rng, bound = np.random.default_rng(1), 1e-8 if name in TOUCHING else 1e-11
    touched = 0
    for k in range(4):
        disturb(pair, rng, 0.3 * (k != 3))  # the last one at rest
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
        touched += pair.md.nefc
        assert pair.d.nefc == pair.md.nefc
        for word in PASSIVE:
            assert pair.error(word) < (bound if integrator == "RK4" else 1e-12), word  # of RK4 those of its last stage
        for word in ("qpos", "qvel", "act", "qacc_warmstart"):
            assert pair.error(word) < bound, word
        assert pair.d.time == pytest.approx(pair.md.time, rel=1e-15)
    assert (touched > 0) == (name in TOUCHING)


@pytest.mark.parametrize("name, integrator", DERIVED)
def test_the_derivative_of_the_forces(name, integrator):
    pair = Pair(with_integrator(MODELS[name], integrator))
    rng = np.random.default_rng(2)
    for k in range(3):
        disturb(pair, rng, k)
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
        ours, theirs = derivative(pair.m, pair.d), np.zeros((pair.m.nv, pair.m.nv))
        for i in range(pair.m.nv):
            places = slice(pair.mm.D_rowadr[i], pair.mm.D_rowadr[i] + pair.mm.D_rownnz[i])
            theirs[i, pair.mm.D_colind[places]] = pair.md.qDeriv[places]
        if integrator == "implicitfast":
            ours = 0.5 * (ours + ours.T)
        assert error(ours, theirs) < 1e-11


@pytest.mark.parametrize("name", ["chain", "damping", "wind_ellipsoid", "limits", "contacts", "contacts_in_medium"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_rollout(name, integrator):
    pair = Pair(with_integrator(MODELS[name], integrator))
    pair.copy_state()
    mujoco.mj_step(pair.mm, pair.md, 100)
    tisim.step(pair.m, pair.d, 100)
    assert pair.error("qpos") < 1e-6
    assert pair.error("qvel") < 1e-5


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_worlds_and_precisions(integrator):
    """Worlds of one Data have the bits of single ones; f32 is as near as its rounding lets it be."""
    text, rng = with_integrator(MODELS["contacts_in_medium"], integrator), np.random.default_rng(3)
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(text)
    qvel = 0.1 * rng.normal(size=(3, m.nv))
    many = tisim.Data(m, nworld=3)
    many.qvel = qvel
    tisim.step(m, many, 20)
    for w in range(3):
        one = tisim.Data(m)
        one.qvel = qvel[w]
        tisim.step(m, one, 20)
        assert np.array_equal(one.qpos, many.qpos[w])
    wanted = np.array(many.qpos)
    tisim.init(arch="cpu", precision="f32")
    m = tisim.Model.from_xml_string(text)
    d = tisim.Data(m, nworld=3)
    d.qvel = qvel
    tisim.step(m, d, 20)
    assert error(d.qpos, wanted) < 1e-3


def test_halves_of_a_step():
    """step1 and step2 are a step, but of RK4, which has no halves."""
    for integrator in INTEGRATORS:
        m = tisim.Model.from_xml_string(with_integrator(MODELS["medium_ellipsoid"], integrator))
        d, whole = tisim.Data(m), tisim.Data(m)
        if integrator == "RK4":
            for call in (tisim.step1, tisim.step2):
                with pytest.raises(tisim.UnsupportedError, match="RK4"):
                    call(m, d)
            continue
        for _ in range(3):
            tisim.step1(m, d)
            tisim.step2(m, d)
        tisim.step(m, whole, 3)
        assert np.array_equal(tisim.get_state(m, d), tisim.get_state(m, whole))


def test_what_is_off_leaves_nothing_behind():
    """Without a medium qfrc_fluid is zero again; wind that is written in place is felt at once."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(MODELS["medium_box"])
    d = tisim.Data(m)
    tisim.step(m, d, 2)
    before = np.array(d.qfrc_fluid)
    m.opt.wind[0] = 5
    tisim.forward(m, d)
    assert not np.allclose(before, d.qfrc_fluid)
    m.opt.density = m.opt.viscosity = 0
    tisim.forward(m, d)
    assert not np.any(np.asarray(d.qfrc_fluid))


NEGATIVE = """<mujoco><option timestep=".01" integrator="{}"/><worldbody>
  <body><joint/><geom size=".1" pos=".3 0 0"/><body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
    <body pos=".3 0 0"><joint axis="1 0 0"/><joint axis="0 1 0"/><geom size=".1" pos=".1 .2 0"/>
      <body pos=".3 0 0"><joint name="j" armature="{}"/><geom size=".1" pos=".1 .2 0"/></body></body></body></body>
  <body pos="0 0 2"><joint name="k" axis="0 1 0" armature="{}"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
  <actuator><velocity joint="j" kv="{}"/><velocity joint="k" kv="{}"/></actuator></mujoco>"""


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_a_step_with_a_matrix_that_is_not_positive(integrator):
    """Dampers that push make M - timestep D indefinite; MuJoCo solves with it all the same."""
    pair = Pair(NEGATIVE.format(integrator, 0, 0, -60, -100))
    disturb(pair, np.random.default_rng(4), 1)
    mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d)
    assert pair.error("qvel") < 1e-11


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("damping", [(1, -1), (-1, -1), (-1, 0)])
def test_dampers_that_push(damping, integrator):
    """Euler takes them as implicit only beside a damper that does not push, implicitfast always."""
    one = """<body><joint damping="{}"/><geom size=".1" pos=".3 0 0" contype="0"/></body>"""
    text = "<mujoco><option><flag invdiscrete='enable'/></option><worldbody>{}{}</worldbody></mujoco>"
    pair = Pair(with_integrator(text.format(*map(one.format, damping)), integrator))
    disturb(pair, np.random.default_rng(5), 1)
    mujoco.mj_step(pair.mm, pair.md)
    tisim.step(pair.m, pair.d)
    assert pair.error("qvel") < 1e-11
    if integrator != "RK4":
        pair.forward()
        mujoco.mj_inverse(pair.mm, pair.md)
        tisim.inverse(pair.m, pair.d)
        assert pair.error("qfrc_inverse") < 1e-11


@pytest.mark.parametrize("nworld", [1, 8])
def test_accelerations_where_the_inertia_is_not_positive(nworld):
    text = NEGATIVE.format("Euler", -2, -0.6, 0, 0)
    mm, m = mujoco.MjModel.from_xml_string(text), tisim.Model.from_xml_string(text)
    md, d = mujoco.MjData(mm), tisim.Data(m, nworld)
    mujoco.mj_step(mm, md)
    tisim.step(m, d)
    assert md.qLDiagInv.min() < 0
    assert error(np.asarray(d.qacc).reshape(nworld, -1), np.tile(md.qacc, (nworld, 1))) < 1e-11


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_forces_at_contacts_that_change_with_velocity(integrator):
    """Actuators of bodies: one row over two trees, a branch among its dofs, and a body that touches nothing."""
    pair = Pair(f"""<mujoco><option integrator="{integrator}"/><worldbody><geom type="plane" size="5 5 1"/>
      <body name="low" pos="0 0 .09"><freejoint/><geom type="box" size=".1 .1 .1"/>
        <body pos=".2 0 0"><joint axis="0 1 0"/><geom size=".1"/></body></body>
      <body name="high" pos="0 0 .28"><freejoint/><geom type="box" size=".08 .08 .1"/></body>
      <body name="far" pos="1 1 1"><freejoint/><geom size=".1"/></body></worldbody>
      <actuator><general body="low" gainprm="2" biastype="affine" biasprm="1 0 -30"/>
        <general body="high" gaintype="affine" gainprm="1 0 -9" dyntype="filter" dynprm=".1"/>
        <general body="far" biastype="affine" biasprm="1 0 -30"/></actuator></mujoco>""")
    pair.md.qvel[:] = np.random.default_rng(0).normal(size=pair.mm.nv)
    pair.md.ctrl[:], pair.md.act[:] = [1, 2, 0], 2
    pair.copy_state()
    for _ in range(3):
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
        assert pair.error("qvel") < 1e-8
