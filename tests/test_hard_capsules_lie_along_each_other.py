"""Under the second dynamics capsules that are nearly parallel, and pressed together, have contacts where they are
nearest and at the farther end of where they lie along each other, each as deep as it is: by the first alone, as
MuJoCo's rules have it, they are tipped and pressed into each other.
"""

import numpy as np
import pytest

import tisim

R, HALF = 0.05, 0.1


def two(angle, shift=0.0, height=2 * R - 8e-3, tilt=0.0):
    """(model, its Data) of a fixed capsule along x and a free one above it, turned about z and y and moved along x."""
    m = tisim.Model.from_xml_string(f"""<mujoco><option timestep=".005"/><compiler angle="radian"/><worldbody>
        <geom type="capsule" size="{R} {HALF}" euler="0 {np.pi / 2} 0"/>
        <body pos="{shift} 0 {height}" euler="0 0 {angle}"><freejoint/>
        <geom type="capsule" size="{R} {HALF}" euler="0 {np.pi / 2 + tilt} 0"/></body></worldbody></mujoco>""")
    m.opt.dynamics = "lcp"
    m.lcp.gap = 0.02
    return m, tisim.Data(m)


def away(x, p, h):
    """Distance of the point x from the segment p - h, p + h."""
    s = np.clip((x - p) @ h / (h @ h), -1, 1)
    return np.linalg.norm(x - p - s * h)


@pytest.mark.parametrize("angle", (1e-4, 0.01, -0.05, 0.12))
@pytest.mark.parametrize("tilt", (0, 0.01, -0.03))
@pytest.mark.parametrize("shift", (0, 0.08, -0.15))
def test_they_touch_where_they_are_nearest_and_at_the_other_end(angle, tilt, shift):
    m, d = two(angle, shift, tilt=tilt)
    tisim.forward(m, d)
    axes = [HALF * np.array(d.geom_xmat[g]).reshape(3, 3)[:, 2] for g in range(2)]
    assert d.ncon == 2
    for dist, pos, frame in zip(d.contact.dist, d.contact.pos.reshape(-1, 3), d.contact.frame.reshape(-1, 9)):
        first, second = pos - (R + dist / 2) * frame[:3], pos + (R + dist / 2) * frame[:3]
        assert away(first, d.geom_xpos[0], axes[0]) < 1e-9 and away(second, d.geom_xpos[1], axes[1]) < 1e-9
        assert abs(away(first, d.geom_xpos[1], axes[1]) - 2 * R - dist) < 1e-6
    nearest, other = d.contact.pos.reshape(-1, 3)[np.argsort(d.contact.dist), 0]
    ends = np.array([max(-HALF, shift - HALF), min(HALF, shift + HALF)])
    assert abs(other - ends[np.argmax(np.abs(ends - nearest))]) < 5e-3 or abs(nearest - ends.mean()) < 1e-3
    assert abs(d.contact.dist.min() - tisim.geom_distance(m, d, 0, 1, 1.0)[0]) < 1e-9


@pytest.mark.parametrize("angle, shift", [(0.2, 0), (1.5, 0.05), (0.01, 0.21)])
def test_those_that_cross_or_lie_behind_each_other_touch_once(angle, shift):
    m, d = two(angle, shift)
    tisim.forward(m, d)
    assert d.ncon == 1


def test_the_convex_dynamics_has_mujocos_contact_still():
    m, d = two(0.01)
    m.opt.dynamics = "convex"
    tisim.forward(m, d)
    assert d.ncon == 1


def test_those_that_are_not_pressed_together_touch_where_mujocos_do():
    m, d = two(0.01, 0.05, height=2 * R + 1e-3)
    tisim.forward(m, d)
    assert d.ncon == 1


@pytest.mark.parametrize("force", (0, 300, 2000))
@pytest.mark.parametrize("angle, tilt", ((0.5, 0), (2, 0.5), (1, 1)))
def test_one_that_is_pressed_onto_another_lies_still(force, angle, tilt):
    """Between two walls; by one contact it sank 14 mm deep under 300 N, and 98 mm under 2,000."""
    m = tisim.Model.from_xml_string(f"""<mujoco><option timestep=".005"/><worldbody>
        <geom type="capsule" size="{R} {HALF}" euler="0 90 0"/>
        <geom type="plane" size="1 1 .1" euler="90 0 0" pos="0 .052 0"/>
        <geom type="plane" size="1 1 .1" euler="-90 0 0" pos="0 -.052 0"/>
        <body pos=".005 .001 .099" euler="0 {tilt} {angle}"><freejoint/>
        <geom type="capsule" mass="1" size="{R} {HALF}" euler="0 90 0"/></body></worldbody></mujoco>""")
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    d.xfrc_applied[1, 2] = -force
    tisim.step(m, d, 200)
    for _ in range(100):
        tisim.step(m, d)
        assert d.contact.dist.min() > -1e-3 and np.abs(d.qvel).max() < 1e-2


def test_one_in_a_groove_of_others_comes_to_rest():
    """On two that are not quite parallel, neither to each other nor to it."""
    m = tisim.Model.from_xml_string(f"""<mujoco><option timestep=".005"/><worldbody>
        <geom type="capsule" size="{R} {HALF}" euler="0 90 1" pos="0 -.06 0"/>
        <geom type="capsule" size="{R} {HALF}" euler="0 90.5 -1" pos="0 .06 0"/>
        <body pos=".01 0 .1" euler="0 1 1.5"><freejoint/><geom type="capsule" size="{R} {HALF}" euler="0 90 0"/></body>
        </worldbody></mujoco>""")
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, 400)
    assert np.abs(d.qvel).max() < 1e-3 and d.contact.dist.min() > -5e-4
