"""What each integrator is for, shown on examples with closed forms or invariants.

RK4: halving the timestep divides the error by 2^4 where positions are numbers, and the energy of a frictionless double
pendulum hardly changes where Euler loses or gains much. Torque-free bodies keep their angular momentum to the order of
the method, and the linear one to rounding. The implicit ones stay bounded where Euler diverges: in a thick medium both,
for a fast spinning top `implicit` alone. The derivatives that they take are those of the forces themselves.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.motion import MODELS, derivative, with_integrator, xml

import tisim

PENDULUM = xml(
    '<body><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 0"/>'
    '<body pos=".4 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body></body>'
)
TOP = xml('<body><freejoint/><geom type="ellipsoid" size=".1 .2 .3"/></body>', flags='gravity="disable"')


def after(text, integrator, timestep, seconds, qvel=None):
    """State behind a time at a timestep."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(with_integrator(text, integrator, enable="energy"))
    m.opt.timestep = timestep
    d = tisim.Data(m)
    if qvel is not None:
        d.qvel = qvel
    tisim.step(m, d, round(seconds / timestep))
    tisim.forward(m, d)
    return m, d


@pytest.mark.parametrize("integrator, order", [("RK4", 4), ("Euler", 1), ("implicit", 1)])
def test_order(integrator, order):
    ends = [np.array(after(PENDULUM, integrator, 0.01 / 2**k, 0.4)[1].qpos) for k in (0, 1, 2)]
    coarse, fine = (np.linalg.norm(a - b) for a, b in zip(ends, ends[1:]))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.25)


def test_energy_of_a_pendulum():
    """Within 1e-6 of the swing's energy after five seconds; Euler is off by a thousand times as much."""
    m, start = after(PENDULUM, "RK4", 0.002, 0)
    ends = {name: after(PENDULUM, name, 0.002, 5)[1] for name in ("RK4", "Euler")}
    lost = {name: abs(np.sum(d.energy) - np.sum(start.energy)) for name, d in ends.items()}
    assert np.asarray(ends["RK4"].energy)[1] > 0.1
    assert lost["RK4"] < 1e-6 and lost["Euler"] > 500 * lost["RK4"]


def momentum(m, d):
    """Linear and angular momentum of the first free body, in world axes about its centre."""
    R = np.asarray(d.xmat[1]).reshape(3, 3)
    return m.body_mass[1] * np.asarray(d.qvel[:3]), R @ (
        np.asarray(m.body_inertia[1]) * (R.T @ R @ np.asarray(d.qvel[3:]))
    )


@pytest.mark.parametrize("integrator, bound", [("RK4", 1e-5), ("Euler", 0.3), ("implicit", 0.3), ("implicitfast", 0.3)])
def test_torque_free_bodies_keep_their_momentum(integrator, bound):
    """What Euler and the implicit ones are off by halves with the timestep."""
    qvel, errors = [1, 2, -1, 3, 0.2, 1], []
    for timestep in (0.002, 0.001):
        m, start = after(TOP, integrator, timestep, 0, qvel)
        p, L = momentum(m, start)
        m, end = after(TOP, integrator, timestep, 1, qvel)
        q, K = momentum(m, end)
        assert np.allclose(p, q, rtol=1e-13)
        errors.append(np.linalg.norm(K - L) / np.linalg.norm(L))
    assert max(errors) < bound
    assert errors[0] / errors[1] > 1.7


def bounded(text, integrator, timestep, qvel, seconds=2.0):
    """Whether nothing was reset, and no velocity is more than ten times that of the beginning."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(with_integrator(text, integrator))
    m.opt.timestep = timestep
    d = tisim.Data(m)
    d.qvel = qvel
    for _ in range(round(seconds / timestep)):
        tisim.step(m, d)
        if d.time < timestep or not np.abs(np.asarray(d.qvel)).max() < 10 * np.abs(qvel).max():
            return False
    return True


@pytest.mark.filterwarnings("ignore::tisim.DivergedWarning")
@pytest.mark.parametrize("shape", ["", 'fluidshape="ellipsoid"'])
def test_a_thick_medium(shape):
    """A light plate in oil: explicit drag turns its velocity around in each step."""
    plate = xml(
        '<body><freejoint/><geom type="ellipsoid" size=".2 .2 .005" density="20"/></body>',
        'density="900" viscosity="30"', geom=shape, flags='gravity="disable"',
    )  # fmt: skip
    stays = {name: bounded(plate, name, 0.01, np.full(6, 0.5)) for name in ("Euler", "implicit", "implicitfast")}
    assert stays == dict(Euler=False, implicit=True, implicitfast=True)


@pytest.mark.filterwarnings("ignore::tisim.DivergedWarning")
def test_a_spinning_top():
    """A slim body that tumbles fast: gyroscopic forces grow with the square of the velocity."""
    top = xml('<body><freejoint/><geom type="box" size=".02 .1 .4"/></body>', flags='gravity="disable"')
    qvel = np.array([0, 0, 0, 20, 60, 20.0])
    stays = {name: bounded(top, name, 0.02, qvel) for name in ("Euler", "implicitfast", "implicit")}
    assert stays == dict(Euler=False, implicitfast=False, implicit=True)


LARGE = xml(
    '<body><freejoint/><geom type="ellipsoid" size=".5 .7 .9"/><body pos="0 0 1"><joint type="ball"/>'
    '<geom type="capsule" size=".4 .6" pos="0 0 1"/></body></body>',
    'density="20" viscosity="2" wind="9 -8 7"', geom='fluidshape="ellipsoid" fluidcoef="1 .1 2 .5 3"',
)  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["chain", "free_off_centre", "joints_of_one_body", "medium_box", "large", "damping"]),
       st.integers(0, 10**6))  # fmt: skip
def test_derivatives_are_those_of_the_forces(name, seed):
    """qDeriv against centred differences of qfrc_passive - qfrc_bias, all columns as worlds of one Data. Ellipsoids are
    large here: for small, slow ones MuJoCo's derivative is inexact, and so is this one (kernels/smooth/medium.py)."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(with_integrator(MODELS.get(name, LARGE), "implicit"))
    rng = np.random.default_rng(seed)
    one, eps = tisim.Data(m), 1e-5
    one.qpos = tisim.integrate_pos(m, m.qpos0, rng.normal(size=m.nv), 1)
    one.qvel = rng.normal(size=m.nv)
    many = tisim.Data(m, nworld=2 * m.nv)
    many.qpos = np.tile(one.qpos, (2 * m.nv, 1))
    many.qvel = np.asarray(one.qvel) + eps * np.concatenate([np.eye(m.nv), -np.eye(m.nv)])
    tisim.forward(m, many)
    force = np.asarray(many.qfrc_passive) - np.asarray(many.qfrc_bias)
    slopes = (force[: m.nv] - force[m.nv :]).T / (2 * eps)
    tisim.step(m, one)
    assert np.abs(derivative(m, one) - slopes).max() < 1e-6 * max(1, np.abs(slopes).max())


def test_a_step_of_RK4_is_all_or_nothing(monkeypatch):
    """An exception between its stages leaves the state of the step's beginning."""
    from tisim.device import launch, program

    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(with_integrator(MODELS["contacts_in_medium"], "RK4"))
    calm, d = tisim.Data(m), tisim.Data(m)
    tisim.step(m, calm, 3)
    tisim.step(m, d, 3)
    before, run, left, places = tisim.get_state(m, d), launch.run, [None], 0

    def broken(*args, **kwargs):
        if left[0] is not None:
            left[0] -= 1
            if left[0] < 0:
                raise MemoryError
        run(*args, **kwargs)

    monkeypatch.setattr(launch, "run", broken)
    tisim.step(m, calm)
    for place in range(200):
        program.outdate()
        left[0] = place
        try:
            tisim.step(m, d)
            break
        except MemoryError:
            assert np.array_equal(tisim.get_state(m, d), before), place
            places += 1
    left[0] = None
    assert places > 20 and np.array_equal(tisim.get_state(m, d), tisim.get_state(m, calm))
