"""transition_fd and inverse_fd are MuJoCo 3.4.0's mjd_transitionFD and mjd_inverseFD.

Contract: within 1e-5 of their scale on models of one feature each, forward and centred, in states on a trajectory, with
contacts in both cones; the state of the Data is left as it is. A linear system's derivatives are its matrices.
"""

import copy

import mujoco
import numpy as np
import pytest
from shared.motion import MODELS, with_integrator, xml
from shared.reference import Pair, error
from shared.sensors import shake, world

import tisim

NAMES = """hinge ball chain free_off_centre damping stiffness wind_ellipsoid medium_box limits frictionloss contacts
contacts_in_medium contacts_condim6 tendons position affine activations muscle tendon_actuators""".split()
EPS = 1e-6


def trajectory(name, integrator="Euler", cone="pyramidal", flag="", steps=60):
    """A Pair somewhere on MuJoCo's trajectory, with solvers that leave no error that differences would show."""
    pair = Pair(with_integrator(MODELS[name], integrator, cone, flag))
    for opt in (pair.mm.opt, pair.m.opt):
        opt.tolerance, opt.ls_tolerance = 1e-15, 1e-10
    pair.md.qvel[:] = 0.2 * np.random.default_rng(0).normal(size=pair.mm.nv)
    pair.md.ctrl[:] = [0.5, -0.5, 0, 1][: pair.mm.nu]  # some at a limit
    mujoco.mj_step(pair.mm, pair.md, steps)
    mujoco.mj_forward(pair.mm, pair.md)
    pair.copy_state()
    pair.d.qacc = pair.md.qacc
    return pair


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("name, integrator, cone", [
    *((n, "Euler", "pyramidal") for n in NAMES), *((n, "implicit", "elliptic") for n in NAMES if "contacts" in n),
    ("chain", "implicit", "pyramidal"), ("wind_ellipsoid", "implicitfast", "pyramidal"),
])  # fmt: skip
def test_a_step(name, integrator, cone, centered):
    pair = trajectory(name, integrator, cone)
    n, nu = 2 * pair.m.nv + pair.m.na, pair.m.nu
    theirs, by_ctrl, before = np.zeros((n, n)), np.zeros((n, nu)), tisim.get_state(pair.m, pair.d)
    mujoco.mjd_transitionFD(pair.mm, pair.md, EPS, centered, theirs, by_ctrl if nu else None, None, None)
    A, B, C, D = tisim.transition_fd(pair.m, pair.d, EPS, centered)
    assert error(A, theirs) < 1e-5 and error(B, by_ctrl) < 1e-5
    assert (C.shape, D.shape) == ((0, n), (0, nu))
    assert np.array_equal(tisim.get_state(pair.m, pair.d), before)
    if "contacts" in name:
        assert pair.md.ncon


@pytest.mark.parametrize("flag", ["", "invdiscrete"])
@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics(name, flag):
    pair = trajectory(name, "implicit", "elliptic", flag)
    n = pair.m.nv
    theirs = [np.zeros((n, n)) for _ in range(3)] + [np.zeros((n, pair.mm.nM))]
    actuation = int(name in ("position", "muscle"))
    mujoco.mjd_inverseFD(pair.mm, pair.md, EPS, actuation, *theirs[:3], None, None, None, theirs[3])
    before = tisim.get_state(pair.m, pair.d)
    ours = tisim.inverse_fd(pair.m, pair.d, EPS, actuation)
    centered = tisim.inverse_fd(pair.m, pair.d, EPS, actuation, centered=True)
    for a, b, c in zip((*ours[:3], ours[6]), theirs, (*centered[:3], centered[6])):
        assert error(a, b) < 1e-5
        assert error(c, b) < 1e-3
    assert [part.shape for part in ours[3:6]] == [(n, 0)] * 3
    assert np.array_equal(tisim.get_state(pair.m, pair.d), before)


@pytest.mark.parametrize("name, integrator", [("arm", "Euler"), ("walker", "implicit")])
def test_sensors(name, integrator):
    """C and D of a step, and those of inverse dynamics, of sensors of each stage. MuJoCo 3.4.0 turns the sign of D
    where differences are centred: the force of a motor falls there as its control grows."""
    types = """jointpos ballquat framepos camprojection subtreecom e_kinetic clock tendonvel gyro framelinvel
      subtreeangmom actuatorfrc accelerometer torque frameangacc""".split()
    pair = Pair(world(name, types, integrator)[0])
    for opt in (pair.mm.opt, pair.m.opt):
        opt.tolerance, opt.ls_tolerance = 1e-15, 1e-10
    shake(pair, np.random.default_rng(0))
    mujoco.mj_forward(pair.mm, pair.md)
    pair.copy_state()
    n, nv, ns = 2 * pair.m.nv + pair.m.na, pair.m.nv, pair.m.nsensordata
    C, D = np.zeros((ns, n)), np.zeros((ns, pair.m.nu))
    mujoco.mjd_transitionFD(pair.mm, pair.md, EPS, True, None, None, C, D)
    ours = tisim.transition_fd(pair.m, pair.d, EPS, True)
    assert error(ours[2], C) < 1e-5 and error(ours[3], -D) < 1e-5 and np.abs(D).max() > 0.1
    mujoco.mjd_transitionFD(pair.mm, pair.md, EPS, False, None, None, C, D)
    ours = tisim.transition_fd(pair.m, pair.d, EPS, False)
    assert error(ours[2], C) < 1e-5 and error(ours[3], D) < 1e-5
    theirs = [np.zeros((nv, ns)) for _ in range(3)]
    mujoco.mj_forward(pair.mm, pair.md)  # qacc is that of the last step else
    pair.d.qacc = pair.md.qacc
    mujoco.mjd_inverseFD(pair.mm, pair.md, EPS, 0, None, None, None, *theirs, None)
    for a, b in zip(tisim.inverse_fd(pair.m, pair.d, EPS)[3:6], theirs):
        assert error(a, b) < 1e-5


def test_a_linear_system():
    """A mass on a spring with a damper: semi-implicit Euler with implicit damping is a matrix."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        xml('<body><joint type="slide" stiffness="7" damping="3"/><geom size=".1" mass="2"/></body>')
    )
    d, h = tisim.Data(m), m.opt.timestep
    v = np.array([-h * 7, 2]) / (2 + h * 3)  # the next velocity, by position and velocity
    for centered in (False, True):
        A = tisim.transition_fd(m, d, centered=centered)[0]
        assert np.allclose(A, [[1 + h * v[0], h * v[1]], v], atol=1e-9)
    DfDq, DfDv, DfDa = tisim.inverse_fd(m, d)[:3]
    assert np.allclose([DfDq[0, 0], DfDv[0, 0], DfDa[0, 0]], [7, 3, 2], atol=1e-8)


def test_worlds_and_parts(monkeypatch):
    """Several worlds give several matrices; columns that do not fit one batch are made in several."""
    from tisim import derivatives

    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(MODELS["chain"])
    d = tisim.Data(m, nworld=2)
    d.qvel = np.random.default_rng(1).normal(size=(2, m.nv))
    many = tisim.transition_fd(m, d)[0], tisim.inverse_fd(m, d)[0]
    one = tisim.Data(m)
    one.qvel = d.qvel[1]
    monkeypatch.setattr(derivatives, "BODIES", 4 * m.nbody)
    assert np.allclose(many[0][1], tisim.transition_fd(m, one)[0], atol=1e-12)
    assert np.allclose(many[1][1], tisim.inverse_fd(m, one)[0], atol=1e-12)
    assert many[0].shape == (2, 2 * m.nv, 2 * m.nv)


def test_sensors_that_are_switched_off_have_no_derivatives():
    """Not those that were there when they were asked last, in another state."""
    m = tisim.Model.from_xml_string("""<mujoco><worldbody><body><joint name="j"/><geom size=".1" pos=".1 0 0"/></body>
        </worldbody><actuator><motor joint="j"/></actuator>
        <sensor><jointpos joint="j"/><jointvel joint="j"/></sensor></mujoco>""")
    d = tisim.Data(m)
    assert tisim.transition_fd(m, d)[2].any() and tisim.inverse_fd(m, d)[3].any()
    m.opt.disableflags |= int(tisim.mjtDisableBit.mjDSBL_SENSOR)
    d.qpos = 1
    A, _, C, D = tisim.transition_fd(m, d)
    assert A.any() and not C.any() and not D.any() and not any(part.any() for part in tisim.inverse_fd(m, d)[3:6])


def test_mistakes():
    m = tisim.Model.from_xml_string(with_integrator(MODELS["chain"], "RK4"))
    d = tisim.Data(m)
    with pytest.raises(tisim.UnsupportedError, match="RK4"):
        tisim.transition_fd(m, d)
    assert tisim.inverse_fd(m, d)[0].shape == (m.nv, m.nv)
    for eps in (0, -1, "small", True, np.nan):
        with pytest.raises(tisim.Error, match="eps"):
            tisim.inverse_fd(m, d, eps)


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_matrices_of_implicit_integrators_are_differentiated_too(integrator):
    """A muscle's damping grows with its activation: A is that of MuJoCo's own steps, where mjd_transitionFD keeps M
    minus the derivative of the forces; a gain that changes with velocity and a control do the same to B."""
    text = f"""<mujoco><option integrator="{integrator}"/><worldbody><body><joint name="j" axis="0 1 0"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body></worldbody><actuator>
      <muscle joint="j" gear=".1" lengthrange="-.2 .2" force="60"/>
      <general joint="j" gaintype="affine" gainprm="1 0 -3"/></actuator></mujoco>"""
    pair = Pair(text)
    pair.md.qpos, pair.md.qvel, pair.md.act, pair.md.ctrl = 0.3, -0.7, 0.4, [0.5, 0.6]
    pair.copy_state()

    def stepped(what, place):
        ends = []
        for step in (EPS, -EPS):
            d = copy.copy(pair.md)
            getattr(d, what)[place] += step
            mujoco.mj_step(pair.mm, d)
            ends.append([*d.qpos, *d.qvel, *d.act])
        return np.subtract(*ends) / (2 * EPS)

    A, B, _, _ = tisim.transition_fd(pair.m, pair.d, EPS)
    assert error(A[:, 2], stepped("act", 0)) < 1e-6 and error(B[:, 1], stepped("ctrl", 1)) < 1e-6
    theirs = np.zeros((3, 3)), np.zeros((3, 2))
    mujoco.mjd_transitionFD(pair.mm, pair.md, EPS, True, *theirs, None, None)
    assert error(A[:, 2], theirs[0][:, 2]) > 1e-4 and error(B[:, 1], theirs[1][:, 1]) > 1e-4
