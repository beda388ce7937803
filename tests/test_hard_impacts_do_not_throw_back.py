"""Under hard contacts with bounce=0 an impact throws bodies back by no more than one sweep leaves; tisim/LCP.md."""

import numpy as np
import pytest

import tisim

BOX = '<body pos="0 0 {z}"><freejoint/><geom type="box" size=".1 .1 {half}" mass="{mass}"/></body>'


def rebound(mass, h, **given):
    """Part of its speed, 4.6 m/s, with which a box of this mass [kg] leaves one of 1 kg that lies on a plane."""
    tisim.init(arch="cpu", precision="f64")
    bodies = BOX.format(z=0.06, half=0.05, mass=1) + BOX.format(z=1.3, half=0.1, mass=mass)
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="{h}"/><worldbody><geom type="plane" size="9 9 .1"/>{bodies}</worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    m.lcp.take(given)
    d = tisim.Data(m)
    speeds = []
    for _ in range(round(1.2 / h)):
        tisim.step(m, d)
        speeds.append(float(d.qvel[8]))
    hit = int(np.argmin(speeds))
    assert speeds[hit] < -4.5
    return max(speeds[hit:]) / -speeds[hit]


@pytest.mark.parametrize("mass, h, most", [(1, 0.005, 0.25), (20, 0.005, 0.32), (20, 0.001, 0.45)])
def test_what_stopped_an_impact_is_not_done_again_in_the_next_step(mass, h, most):
    """With all of the last impulses 0.34, 0.52 and 0.77."""
    assert rebound(mass, h) < most


def test_converged_steps_do_not_throw_back():
    assert rebound(1, 0.005, substeps=1, sweeps=50) < 1e-3


def test_a_load_that_comes_at_once_is_held():
    """A press on a box of 1 kg by 400 times its weight: without the last impulses it sinks by 1.1 mm, and trembles."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        '<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="9 9 .1"/>'
        + BOX.format(z=0.1, half=0.1, mass=1)
        + "</worldbody></mujoco>"
    )
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    d.xfrc_applied[1, 2] = -4000.0
    tisim.step(m, d, 400)
    assert 0.1 - d.qpos[2] < 2.5e-4 and np.abs(d.qvel).max() < 1e-5
