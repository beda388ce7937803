"""dynamics="lcp": the four ways to turn a body, m.lcp.rotation, on a fast wheel and a tumbling box."""

import numpy as np
import pytest
from shared import ode

import tisim

WHEEL = '<body><freejoint/><geom type="cylinder" size=".3 .05" euler="90 0 0"/></body>'
BALL = '<body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1.00001 1"/></body>'
BOX = '<body><freejoint/><geom type="box" size=".05 .2 .45"/></body>'


def lone(body, rotation, h, turn):
    """(Model, Data) of a body in free space that turns so [rad/s] in its own frame."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="{h}" gravity="0 0 0"/><worldbody>{body}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    m.lcp.rotation = rotation
    m.lcp.substeps = 1
    d = tisim.Data(m)
    d.qvel[3:] = turn
    return m, d


@pytest.mark.parametrize(
    "rotation, part", [("infinitesimal", np.arctan(0.5) / 0.5), ("finite", 1), ("axle", 1), ("midpoint", 1)]
)
def test_a_fast_wheel_turns_by_its_angle_or_less(rotation, part):
    """200 rad/s at h = 0.005: infinitesimal rotation turns 2 atan(w h / 2) / (w h) = 0.9273 of w h."""
    m, d = lone(WHEEL, rotation, 0.005, [0, 200, 0])
    tisim.step(m, d)
    assert abs(2 * np.arctan2(d.qpos[5], d.qpos[3]) - part * 1.0) < 1e-9


@pytest.mark.parametrize("rotation, least, most", [("infinitesimal", 0.05, 1), ("finite", 0.05, 1), ("axle", 0, 1e-3)])
def test_a_fast_wheel_keeps_to_a_turning_axle(rotation, least, most):
    """200 rad/s about an axle that turns at 1 rad/s: how far the wheel's axis is from it after a step [degrees]. The
    moments of inertia are nearly equal, so that no gyroscopic torque is in the way.
    """
    h, spin, yaw = 0.005, 200.0, 1.0
    m, d = lone(BALL, rotation, h, [0, spin, yaw])
    tisim.step(m, d)
    tisim.forward(m, d)
    axis = np.array(d.xmat[1]).reshape(3, 3)[:, 1]
    wrong = np.degrees(np.linalg.norm(np.cross(axis, [-np.sin(yaw * h), np.cos(yaw * h), 0])))
    assert least <= wrong < most


def tumble(rotation, steps):
    m, d = lone(BOX, rotation, 1e-3, [2.0, 3.5, 1.8])
    inertia = np.array(m.body_inertia[1])
    rows = []
    for n in (0, steps):
        tisim.step(m, d, n)
        tisim.forward(m, d)
        w = np.array(d.ximat[1]).reshape(3, 3).T @ np.array(d.xmat[1]).reshape(3, 3) @ np.array(d.qvel[3:])
        rows.append((np.array(d.ximat[1]).reshape(3, 3) @ (inertia * w), 0.5 * (inertia * w * w).sum()))
    (h0, e0), (h1, e1) = rows
    return np.linalg.norm(h1 - h0) / np.linalg.norm(h0), abs(e1 - e0) / e0


def test_a_tumbling_box_keeps_its_angular_momentum_with_midpoints():
    """10 s at 1e-3: angular momentum to 1e-11, energy to 1e-6."""
    momentum, energy = tumble("midpoint", 10_000)
    assert momentum < 1e-11 and energy < 1e-6


@pytest.mark.parametrize("rotation", ["infinitesimal", "finite"])
def test_a_tumbling_box_loses_what_odes_does_with_odes_update(rotation):
    """About a percent in 10 s, finite rotation or not: LCP.md says so."""
    momentum, energy = tumble(rotation, 10_000)
    assert 2e-3 < momentum < 0.1 and 2e-3 < energy < 0.1


TUMBLER = '<body><freejoint/><inertial pos="0 0 0" mass="10" diaginertia=".808333 .683333 .141667"/></body>'


def tumbled(m, pose, velocity):
    """(angular momentum, energy of rotation) of a pose (7,) and a velocity (6,) in the world."""
    w, x, y, z = pose[3:]
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
    local = R.T @ velocity[3:]
    return R @ (m.body_inertia[1] * local), 0.5 * (m.body_inertia[1] * local**2).sum()


def test_a_tumbling_box_has_odes_numbers_with_odes_update():
    """A box of 0.1 x 0.4 x 0.9 m, 10,000 steps of 1 ms: poses and velocities to 1e-10, with ODE's errors in angular
    momentum and energy."""
    lib = ode.library()
    if lib is None:
        pytest.skip("ODE is not there: pip install dartpy")
    m, d = lone(TUMBLER, "infinitesimal", 1e-3, [2.0, 3.5, 1.8])
    m.opt.gravity[:] = 0
    world = ode.World(lib, m, 1)
    pose, velocity = ode.state_of(m, d)
    start = tumbled(m, pose[1], velocity[1])
    for _ in range(10_000):
        pose, velocity, _ = world.step(pose, velocity, [], 1e-3)
    tisim.step(m, d, 10_000)
    for mine, theirs in zip(ode.state_of(m, d), (pose, velocity)):
        assert np.abs(mine - theirs).max() < 1e-10 * max(1, np.abs(theirs).max())
    end = tumbled(m, pose[1], velocity[1])
    assert 0.005 < np.linalg.norm(end[0] - start[0]) / np.linalg.norm(start[0]) < 0.05
    assert 0.01 < abs(end[1] - start[1]) / start[1] < 0.05
