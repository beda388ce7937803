"""The worked examples of seed 001 move as in MuJoCo 3.4.0 with the same control callback, and as their text says.

motor: a pendulum falls for a second and is then turned back. crank: a slider within its range turns a lever. adhesion:
of two plates the one that sticks lifts its cube. thrusters: six cubes, each with another force at a site.
"""

import mujoco
import numpy as np
import pytest

import tisim
from tisim import scenes

DRIVEN = dict(motor=1.5, crank=3.0, adhesion=0.45, thrusters=0.4, arms=1.0)


@pytest.fixture(autouse=True)
def alone():
    tisim.init(arch="cpu", precision="f64")
    yield
    mujoco.mj_resetCallbacks()


def film(name, seconds, **params):
    """(model, states of tisim) every tenth of the time, each compared with MuJoCo's."""
    m = tisim.Model.from_scene(name, **params)
    d, states = tisim.Data(m), []
    mm = mujoco.MjModel.from_xml_string(scenes.build(name, **params))
    md = mujoco.MjData(mm)
    mujoco.set_mjcb_control(scenes.control(name))
    tolerance = 2e-3 if name == "adhesion" else 1e-8  # of positions [m], [rad]: contacts are solved to a tolerance
    for _ in range(10):
        n = round(seconds / 10 / m.opt.timestep)
        tisim.step(m, d, n)
        mujoco.mj_step(mm, md, n)
        np.testing.assert_allclose(d.qpos, md.qpos, atol=tolerance)
        np.testing.assert_allclose(d.ctrl, md.ctrl, atol=1e-12)
        states.append(
            dict(time=d.time, qpos=np.array(d.qpos), length=np.array(d.actuator_length), ctrl=np.array(d.ctrl))
        )
    return m, states


@pytest.mark.parametrize("name", DRIVEN)
def test_motion_is_mujocos_with_the_same_callback(name):
    film(name, DRIVEN[name])


def test_the_pendulum_falls_and_is_turned_back():
    m = tisim.Model.from_scene("motor")
    d = tisim.Data(m)
    tisim.step(m, d, 499)
    before, speed = float(d.qpos[0]), float(d.qvel[0])
    assert before > 0.5 and d.ctrl[0] == 0 and d.qfrc_actuator[0] == 0
    tisim.step(m, d, 50)
    assert d.ctrl[0] == -100 and d.qfrc_actuator[0] == -100 and d.qvel[0] < speed - 1


def test_the_slider_stays_in_its_range_and_the_lever_follows_the_formula():
    """Seed 001: z = a.v - sqrt((a.v)^2 + r^2 - |v|^2), with a the slider's axis and v from it to the crank."""
    _, states = film("crank", 3.0)
    for state in states:
        angle = state["qpos"][0]
        v = np.array([0.1 * np.cos(angle), 0.1 * np.sin(angle) + 0.1, 0.0])
        along = v[1]
        z = along - np.sqrt(along**2 + 0.11**2 - v @ v)
        assert abs(z) < 0.15
    m = tisim.Model.from_scene("crank")
    d = tisim.Data(m)
    for angle in np.linspace(-0.5, 1.5, 9):
        d.qpos[0] = angle
        tisim.forward(m, d)
        v = np.array([0.1 * np.cos(angle), 0.1 * np.sin(angle) + 0.1, 0.0])
        det = v[1] ** 2 + 0.11**2 - v @ v
        z = v[1] - np.sqrt(det) if det > 0 else v[1]
        assert d.actuator_length[0] == pytest.approx(z, abs=1e-12)
    assert np.ptp([s["qpos"][0] for s in states]) > 0.3


def test_only_the_plate_that_sticks_lifts_its_cube():
    m, states = film("adhesion", 0.45)
    left, right, left_cube, right_cube = (states[-1]["qpos"][i] for i in (0, 1, 4, 11))
    left_cube, right_cube = left_cube - 0.2, right_cube - 0.2  # above where they stand
    assert left > 1.0 and abs(left_cube) < 0.01  # the one flies away alone
    assert right_cube > 0.03 and right < 0.3


def test_six_cubes_fall_as_told():
    """Free fall; to the back; upwards against gravity; spinning; braked; and a damper across the way does nothing."""
    m, states = film("thrusters", 0.4)
    q = states[-1]["qpos"].reshape(6, 7)
    q[:, :3] -= m.body_pos[1:]
    free = q[0]
    n = round(states[-1]["time"] / m.opt.timestep)
    path = m.opt.timestep**2 * n * (n + 1) / 2  # of semi-implicit Euler, for an acceleration of 1
    mass = m.body_mass[1]
    assert free[2] == pytest.approx(-9.81 * path, rel=1e-9)
    assert q[1, 1] == pytest.approx(50 / mass * path, rel=1e-6) and q[1, 2] == pytest.approx(free[2], rel=1e-6)
    assert q[2, 2] == pytest.approx((50 / mass - 9.81) * path, rel=1e-6)
    turning = m.body_inertia[4, 1]  # about the cube's middle, which goes on falling
    assert abs(q[3, 5]) == pytest.approx(abs(np.sin(0.5 * 5 / turning * path)), rel=1e-6)
    assert 0 > q[4, 2] > free[2] + 0.1
    np.testing.assert_allclose(q[5, 1:], free[1:], atol=1e-12)
