"""Closed forms that need no reference engine: free fall, free rotation, a swinging pendulum."""

import numpy as np
from shared.smooth import without_constraints

import tisim

BRICK = """<mujoco><option timestep="1e-4" gravity="{g}"/><worldbody><body pos="0 0 1"><freejoint/>
<geom type="box" size=".1 .2 .3" pos=".05 0 0" mass="2" contype="0"/></body></worldbody></mujoco>"""


def test_free_fall_is_the_discrete_parabola():
    """Semi-implicit Euler from rest: z_n = z_0 - g h^2 n(n+1)/2."""
    m = without_constraints(tisim.Model.from_xml_string(BRICK.format(g="0 0 -9.81")))
    d = tisim.Data(m)
    tisim.step(m, d, 50)
    assert np.allclose(d.qpos, [0, 0, 1 - 9.81e-8 * 50 * 51 / 2, 1, 0, 0, 0], rtol=0, atol=1e-12)
    assert np.isclose(d.time, 50e-4)


def test_free_rotation_keeps_energy_and_momentum():
    """Without gravity: to first order in the timestep, and twice as well with half of it."""
    drift = []
    for h, n in ((2e-4, 250), (1e-4, 500)):
        m = without_constraints(tisim.Model.from_xml_string(BRICK.format(g="0 0 0")))
        m.opt.timestep, m.opt.enableflags = h, 2
        d = tisim.Data(m)
        d.qvel = [0.1, 0.2, 0.3, 1, 2, 3]
        tisim.forward(m, d)
        start = np.concatenate([[d.energy[1]], spatial_momentum(m, d)])
        tisim.step(m, d, n)
        tisim.forward(m, d)
        drift.append(np.abs(np.concatenate([[d.energy[1]], spatial_momentum(m, d)]) - start).max())
    assert drift[0] < 1e-3
    assert 1.8 < drift[0] / drift[1] < 2.2


def spatial_momentum(m, d):
    """Linear momentum, and angular momentum about the centre of mass, of the single body 1."""
    w = np.asarray(d.cvel)[1, :3]
    v = np.asarray(d.cvel)[1, 3:]
    frame = np.asarray(d.ximat)[1].reshape(3, 3)
    return np.concatenate([m.body_mass[1] * v, frame @ np.diag(m.body_inertia[1]) @ frame.T @ w])


def test_pendulum_trades_potential_for_kinetic_energy():
    """Falling from rest for a time t, semi-implicit Euler loses the share h/t of the kinetic energy: 2e-3 here."""
    m = tisim.Model.from_xml_string(
        """<mujoco><option timestep="1e-4"/><worldbody><body><joint axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/></body></worldbody></mujoco>"""
    )
    m.opt.enableflags = 2
    d = tisim.Data(m)
    tisim.forward(m, d)
    start = np.sum(np.asarray(d.energy))
    tisim.step(m, d, 500)
    tisim.forward(m, d)
    assert d.energy[1] > 0.1
    assert abs(np.sum(np.asarray(d.energy)) - start) < 2.1e-3 * d.energy[1]
