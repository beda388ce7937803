"""dynamics="lcp": slopes, rolling, bounces, stacks, tipping and collisions end where their formulas say.

With substeps=1 and converged sweeps these are the seed's equations (002) themselves; other cases say so.
"""

import numpy as np
import pytest

import tisim

G = 9.81
FLOOR = '<geom type="plane" size="50 50 1" friction="{mu}"/>'


def scene(bodies, h=0.005, gravity=(0, 0, -G), mu=0.5, floor=FLOOR, **given):
    """(Model, Data) of bodies given as (position, geom), stepped by the second dynamics with these parameters."""
    tisim.init(arch="cpu", precision="f64")
    text = "".join(f'<body pos="{x}"><freejoint/><geom {geom} friction="{mu}"/></body>' for x, geom in bodies)
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="{h}" gravity="{gravity[0]!r} {gravity[1]!r} {gravity[2]!r}"/>'
        f"<worldbody>{floor.format(mu=mu)}{text}</worldbody></mujoco>"
    )
    m.opt.dynamics = "lcp"
    for name, value in given.items():
        setattr(m.lcp, name, value)
    return m, tisim.Data(m)


def slope(degrees, yaw, mu, **given):
    a, y = np.radians(degrees), np.radians(yaw)
    down = (float(G * np.sin(a) * np.cos(y)), float(G * np.sin(a) * np.sin(y)), float(-G * np.cos(a)))
    return scene([("0 0 .2499", 'type="box" size=".5 .5 .25"')], gravity=down, mu=mu, **given)


CONVERGED = dict(substeps=1, sweeps=200, slop=0.0)


@pytest.mark.parametrize("yaw", [0, 45, 90, 200])
def test_a_box_slides_as_coulomb_says_in_any_direction(yaw):
    """After 1 s on slopes from 5 to 35 degrees: g (sin a - mu cos a), or nothing below the angle of friction."""
    for degrees in (5, 15, 25, 35):
        for mu in (0.05, 0.2, 0.4, 0.6, 0.9):
            m, d = slope(degrees, yaw, mu, **CONVERGED)
            tisim.step(m, d, 200)
            a = np.radians(degrees)
            expected = max(0.0, G * (np.sin(a) - mu * np.cos(a)))
            assert abs(np.hypot(d.qvel[0], d.qvel[1]) - expected) < 1e-6, (degrees, mu)


@pytest.mark.parametrize("area, factor", [(dict(friction="box"), 2**0.5), (dict(friction="polygon", eta=4), 0.5**0.5)])
def test_other_areas_of_friction_are_what_they_are_at_45_degrees(area, factor):
    """A square around the circle has sqrt(2) mu there, one in it mu / sqrt(2)."""
    mu, a = 0.3, np.radians(30)
    m, d = slope(30, 45, mu, **CONVERGED, **area)
    tisim.step(m, d, 200)
    assert abs(np.hypot(d.qvel[0], d.qvel[1]) - G * (np.sin(a) - factor * mu * np.cos(a))) < 1e-6


def test_ease_moves_apart_and_turns_nothing():
    """A tilted box within the slop, without weight: its velocity is by the least deep corner, and the tilt stays."""
    slop, tilt = 1e-3, 1e-3
    for ease, least, n in ((0.2, 0.4e-3, 1), (1.0, 0.4e-3, 1), (0.2, 0.4e-3, 4), (0.2, 0.07e-3, 1), (0.0, 0.4e-3, 1)):
        m, d = scene([(f"0 0 {0.1 - least - 0.2 * tilt}", 'type="box" size=".2 .2 .1"')], gravity=(0, 0, 0),
                     substeps=n, sweeps=400, slop=slop, ease=ease)  # fmt: skip
        d.qpos[3:7] = [np.cos(tilt / 2), 0, np.sin(tilt / 2), 0]
        tisim.forward(m, d)
        least = -np.array(d.contact.dist).max()
        tisim.step(m, d)
        assert d.ncon == 4 and np.abs(d.qvel[3:]).max() < 1e-7
        part = n * (1 - (1 - m.lcp.erp) ** (1 / n))
        expected = ease * part / m.opt.timestep * max(0.0, least - 3 / 40 * slop)
        assert d.qvel[2] == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("yaw", [0, 45, 90, 200])
def test_substeps_of_one_sweep_give_the_acceleration_on_a_slope(yaw):
    """10 substeps of one sweep, the default: within 1e-4 once it slides, or nothing below the angle of friction."""
    for degrees in (5, 15, 25, 35):
        for mu in (0.05, 0.2, 0.4, 0.6, 0.9):
            m, d = slope(degrees, yaw, mu)
            tisim.step(m, d, 100)
            before = np.hypot(d.qvel[0], d.qvel[1])
            tisim.step(m, d, 200)
            a = np.radians(degrees)
            expected = max(0.0, G * (np.sin(a) - mu * np.cos(a)))
            assert abs(np.hypot(d.qvel[0], d.qvel[1]) - before - expected) < 1e-4, (degrees, mu)


def test_a_sliding_ball_ends_rolling_with_five_sevenths():
    m, d = scene([("0 0 .1", 'type="sphere" size=".1"')], h=0.001, mu=0.3, **CONVERGED)
    d.qvel[0] = 2.0
    tisim.step(m, d, 1500)
    assert abs(d.qvel[0] - 10 / 7) < 1e-5 and abs(d.qvel[4] * 0.1 - 10 / 7) < 1e-5


@pytest.mark.parametrize("e", [0.5, 0.9])
@pytest.mark.parametrize("given, erp, within", [(CONVERGED, 0.2, 1e-5), ({}, 0.2, 5e-3), ({}, 0.8, 5e-3)])
def test_each_bounce_keeps_its_part_of_the_velocity(e, given, erp, within):
    """Converged steps exactly, without rows for gaps; substeps with them within 0.005 whatever erp is."""
    given = dict(given, gap=0.0) if given else given
    m, d = scene([("0 0 .6", 'type="sphere" size=".1"')], h=0.001, bounce=e, bounce_vel=0.05, erp=erp, **given)
    down, ratios = 0.0, []
    while len(ratios) < 3:
        before = d.qvel[2]
        tisim.step(m, d)
        if before < 0 < d.qvel[2]:
            ratios.append(d.qvel[2] / -down)
        down = d.qvel[2]
        assert d.time < 4
    # a bounce within a step loses no more than its gravity
    assert np.abs(np.array(ratios) - e).max() < within + (0 if given else G * 0.001 / 2)


def test_a_contacts_error_falls_linearly():
    """The velocity that corrects it stays, as in ODE: 10, 9, 8, 7 mm for erp 0.1, not 10, 9, 8.1, 7.29."""
    m, d = scene([("0 0 .09", 'type="sphere" size=".1"')], gravity=(0, 0, 0), erp=0.1, **CONVERGED)
    depth = []
    for _ in range(4):
        depth.append(1e3 * (0.1 - d.qpos[2]))
        tisim.step(m, d)
    assert np.allclose(depth, [10, 9, 8, 7], atol=1e-9)


def test_softness_and_erp_are_a_spring_and_damper():
    """cfm = 1 / (h kp + kd), erp = h kp / (h kp + kd): depth at rest m g / kp."""
    kp, kd, h = 2000.0, 30.0, 0.005
    m, d = scene([("0 0 .0999", 'type="sphere" size=".1"')], substeps=1, sweeps=1, slop=0.0, gap=0.0, max_vel=100,
                 erp=h * kp / (h * kp + kd), cfm=1 / (h * kp + kd))  # fmt: skip
    tisim.step(m, d, 3000)
    assert abs(0.1 - d.qpos[2] - m.body_mass[1] * G / kp) < 1e-9


@pytest.mark.parametrize("given, within", [(dict(substeps=1, sweeps=400), 1e-6), (dict(), 1e-5)])
def test_a_stack_carries_its_weights(given, within):
    boxes = [(f"0 0 {0.1 + 0.2 * i - 1e-5 * (i + 1)}", 'type="box" size=".1 .1 .1"') for i in range(5)]
    m, d = scene(boxes, slop=1e-4, **given)
    tisim.step(m, d, 800)
    force = tisim.contact_force(m, d, np.arange(d.ncon))[:, 0] / (m.body_mass[1] * G)
    lower = np.asarray(d.contact.geom)[:, 0]
    assert np.abs(np.bincount(lower, force) - [5, 4, 3, 2, 1]).max() < within


@pytest.mark.parametrize("degrees, falls", [(26.5, False), (26.6, True)])
def test_a_box_tips_where_its_centre_leaves_its_base(degrees, falls):
    """A box of 1:2 at atan(1/2) = 26.565 degrees."""
    a = np.radians(degrees)
    m, d = scene([("0 0 .2", 'type="box" size=".1 .1 .2"')], mu=1.5, friction="box", substeps=1, sweeps=200, slop=0.0,
                 gravity=(float(G * np.sin(a)), 0, float(-G * np.cos(a))))  # fmt: skip
    tisim.step(m, d, 1200)
    assert (abs(d.qpos[3]) < 0.95) == falls


def test_a_collision_keeps_momentum_and_angular_momentum():
    balls = [("0 0 5", 'type="sphere" size=".1" mass="1"'), (".25 .02 5", 'type="sphere" size=".1" mass="3"')]
    m, d = scene(balls, gravity=(0, 0, 0), bounce=1.0, **CONVERGED)
    d.qvel[0] = 2.0

    def momenta():
        x, v = np.array(d.qpos).reshape(-1, 7)[:, :3], np.array(d.qvel).reshape(-1, 6)
        mass, inertia = np.array(m.body_mass)[1:, None], np.array(m.body_inertia)[1:, :1]
        return np.r_[(mass * v[:, :3]).sum(0), (np.cross(x, mass * v[:, :3]) + inertia * v[:, 3:]).sum(0)]

    before = momenta()
    tisim.step(m, d, 60)
    assert d.qvel[6] > 0.5 and np.abs(momenta() - before).max() < 1e-12


def test_forces_of_users_act_as_in_the_other_dynamics():
    """A free body with its centre of mass off its frame, pushed and turned: the poses of small Euler steps."""
    text = """<mujoco><option timestep="1e-4" density="1.2" viscosity="1e-5"/><worldbody><body pos="0 0 5"><freejoint/>
      <inertial pos=".1 .02 -.05" mass="2" diaginertia=".02 .03 .04" euler="20 30 40"/></body></worldbody></mujoco>"""
    ends = []
    for dynamics in ("convex", "lcp"):
        tisim.init(arch="cpu", precision="f64")
        m = tisim.Model.from_xml_string(text)
        m.opt.dynamics = dynamics
        d = tisim.Data(m)
        d.xfrc_applied[1] = [1, -2, 3, 0.02, 0.01, -0.03]
        d.qfrc_applied[:] = [0.5, 1, -1, 0.01, 0.02, 0.03]
        d.qvel[:] = [1, 0, 0, 0.5, 0.3, -0.2]
        tisim.step(m, d, 2000)
        ends.append(np.r_[d.qpos, d.qvel])
    assert np.abs(ends[0] - ends[1]).max() < 1e-3
