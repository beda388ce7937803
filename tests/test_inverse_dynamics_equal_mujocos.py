"""qfrc_inverse and qfrc_constraint of random accelerations are MuJoCo 3.4.0's, and inverse undoes forward.

Contract: within 1e-11 of their scale, over models of one feature each and both cones, in continuous time and (flag
invdiscrete) in the discrete time of each integrator; qacc is left as it is. With fwdinv the residuals of converged
solutions are below 1e-8.
"""

import mujoco
import numpy as np
import pytest
from shared.motion import INTEGRATORS, MODELS, TOUCHING, disturb, with_integrator
from shared.reference import Pair, error

import tisim
from tisim.enums import mjtEnableBit, mjtStage

NONE, POS, VEL = mjtStage.mjSTAGE_NONE, mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL
DISCRETE = """chain free_off_centre damping wind_ellipsoid medium_box no_damper no_eulerdamp contacts_in_medium tendons
position muscle""".split()
CASES = (
    [(n, "Euler", "pyramidal", "") for n in MODELS]
    + [(n, "Euler", "elliptic", "") for n in TOUCHING]
    + [(n, i, "elliptic", "invdiscrete") for n in DISCRETE for i in INTEGRATORS if i != "RK4"]
)


@pytest.mark.parametrize("name, integrator, cone, flag", CASES)
def test_random_accelerations(name, integrator, cone, flag):
    pair = Pair(with_integrator(MODELS[name], integrator, cone, flag))
    rng, touched = np.random.default_rng(1), 0
    for _ in range(4):
        disturb(pair, rng)
        pair.md.qacc[:] = 10 * rng.normal(size=pair.mm.nv)
        given = pair.md.qacc.copy()
        pair.d.qacc = given
        mujoco.mj_inverse(pair.mm, pair.md)
        tisim.inverse(pair.m, pair.d)
        touched += pair.md.nefc
        for word in ("qfrc_inverse", "qfrc_constraint"):
            assert pair.error(word) < 1e-11, word
        assert np.array_equal(pair.d.qacc, given)
        if pair.md.nefc:
            assert error(np.sort(pair.d.efc_force), np.sort(pair.md.efc_force)) < 1e-10
    assert (touched > 0) == (name in TOUCHING)


def applied(pair):
    """qfrc_applied + qfrc_actuator + J' xfrc_applied, by MuJoCo."""
    total = pair.md.qfrc_applied + pair.md.qfrc_actuator
    for b in range(1, pair.mm.nbody):
        f = pair.md.xfrc_applied[b]
        mujoco.mj_applyFT(pair.mm, pair.md, f[:3], f[3:], pair.md.xipos[b], b, total)
    return total


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", ["chain", "damping", "wind_ellipsoid", *TOUCHING])
def test_inverse_undoes_forward(name, cone):
    pair = Pair(with_integrator(MODELS[name], "Euler", cone, "fwdinv"))
    rng = np.random.default_rng(2)
    for _ in range(3):
        disturb(pair, rng)
        pair.forward()
        forces = np.array(pair.d.qfrc_constraint)
        tisim.inverse(pair.m, pair.d)
        assert error(pair.d.qfrc_inverse, applied(pair)) < 1e-8
        assert error(pair.d.qfrc_constraint, forces) < 1e-9
        pair.copy_state()
        mujoco.mj_step(pair.mm, pair.md)
        tisim.step(pair.m, pair.d)
        assert np.max(pair.d.solver_fwdinv) < 1e-8
        assert error(pair.d.qfrc_constraint, pair.md.qfrc_constraint) < 1e-8


@pytest.mark.parametrize("option", ['solver="PGS"', 'noslip_iterations="3"'])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", TOUCHING)
def test_forces_are_those_of_what_ran_last(name, cone, option):
    """Dual solvers say forces that inverse dynamics would find otherwise: each leaves its own, time and again."""
    xml = with_integrator(MODELS[name], "Euler", cone).replace("<option", f"<option {option}")
    pair, rng = Pair(xml), np.random.default_rng(3)
    disturb(pair, rng)
    pair.forward()
    pair.md.qacc[:] = 10 * rng.normal(size=pair.mm.nv)
    mujoco.mj_inverse(pair.mm, pair.md)
    order = range(pair.md.ncon)
    theirs = np.zeros((pair.md.ncon, 6))
    for c in order:
        mujoco.mj_contactForce(pair.mm, pair.md, c, theirs[c])
    solved = np.array(pair.d.efc_force), tisim.contact_force(pair.m, pair.d, order)
    for _ in range(4):
        pair.d.qacc = pair.md.qacc
        tisim.inverse(pair.m, pair.d)
        assert error(np.sort(pair.d.efc_force), np.sort(pair.md.efc_force)) < 1e-10
        assert error(np.sort(tisim.contact_force(pair.m, pair.d, order)[:, 0]), np.sort(theirs[:, 0])) < 1e-10
        tisim.forward(pair.m, pair.d)
        assert np.array_equal(pair.d.efc_force, solved[0])
        assert np.array_equal(tisim.contact_force(pair.m, pair.d, order), solved[1])
    pair.m.opt.enableflags |= int(mjtEnableBit.mjENBL_FWDINV)
    tisim.step(pair.m, pair.d)
    assert np.max(pair.d.solver_fwdinv) > 0
    assert np.array_equal(pair.d.efc_force, solved[0])


STEPS = [(n, i) for n in DISCRETE for i in ("Euler", "implicit", "implicitfast")]
STEPS.remove(("no_damper", "Euler"))  # MuJoCo's discrete time has dampers still where they are disabled


@pytest.mark.parametrize("name, integrator", STEPS)
def test_inverse_of_a_step(name, integrator):
    """With invdiscrete the difference of velocities over the timestep leads back to what was applied."""
    pair = Pair(with_integrator(MODELS[name], integrator, "elliptic", "invdiscrete"))
    disturb(pair, np.random.default_rng(4))
    pair.forward()
    wanted, before = applied(pair), np.array(pair.d.qvel)
    state = tisim.get_state(pair.m, pair.d)
    tisim.step(pair.m, pair.d)
    between = (np.asarray(pair.d.qvel) - before) / pair.m.opt.timestep
    tisim.set_state(pair.m, pair.d, state)
    pair.d.qacc = between
    tisim.inverse(pair.m, pair.d)
    # contacts multiply the rounding of the difference over the timestep, 1e-13, by 1e5
    assert error(pair.d.qfrc_inverse, wanted) < (1e-7 if name in TOUCHING else 1e-11)


def test_what_is_known_need_not_be_evaluated():
    """Skips give the bits of whole evaluations where nothing that they leave out has changed, and old ones where it
    has."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(with_integrator(MODELS["contacts_in_medium"], "implicit", enable="energy"))
    rng = np.random.default_rng(5)
    whole, part = tisim.Data(m), tisim.Data(m)
    for d in (whole, part):
        d.qvel = 0.1
        tisim.forward(m, d)
    energy = np.array(part.energy)
    for name, stage in (("qfrc_applied", VEL), ("qvel", POS), ("qacc", VEL)):
        values = rng.normal(size=m.nv)
        for d in (whole, part):
            setattr(d, name, values)
        if name == "qacc":
            tisim.inverse(m, whole)
            tisim.inverse_skip(m, part, stage)
        else:
            tisim.forward(m, whole)
            tisim.forward_skip(m, part, stage, skipsensor=True)
        for word in ("qacc", "qfrc_constraint", "qfrc_inverse", "qfrc_bias"):
            assert np.array_equal(getattr(whole, word), getattr(part, word)), (name, word)
    # energies are not sensors: what velocities change is made, as by 3.4.0
    assert np.array_equal(part.energy, whole.energy) and not np.array_equal(whole.energy, energy)
    xpos = np.array(part.xpos)
    part.qpos = np.asarray(part.qpos) + 0.1
    tisim.forward_skip(m, part, POS)
    assert np.array_equal(part.xpos, xpos)
    tisim.forward_skip(m, part, NONE)
    assert not np.array_equal(part.xpos, xpos)
    for stage in (3, "pos", True, None):
        with pytest.raises(tisim.Error, match="mjSTAGE_POS"):
            tisim.forward_skip(m, part, stage)


def test_worlds():
    """Each world has the bits of a single one."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        with_integrator(MODELS["contacts_in_medium"], "implicit", "elliptic", "invdiscrete")
    )
    qacc = np.random.default_rng(6).normal(size=(3, m.nv))
    many = tisim.Data(m, nworld=3)
    many.qacc = qacc
    tisim.inverse(m, many)
    for w in range(3):
        one = tisim.Data(m)
        one.qacc = qacc[w]
        tisim.inverse(m, one)
        assert np.array_equal(one.qfrc_inverse, many.qfrc_inverse[w])


def test_RK4_has_no_discrete_inverse():
    m = tisim.Model.from_xml_string(with_integrator(MODELS["chain"], "RK4"))
    d = tisim.Data(m)
    tisim.inverse(m, d)
    m.opt.enableflags = int(m.opt.enableflags) | mjtEnableBit.mjENBL_INVDISCRETE
    with pytest.raises(tisim.Error, match="RK4"):
        tisim.inverse(m, d)
