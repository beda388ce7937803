"""For 20 s nothing explodes, tunnels, or sinks deeper than the contact parameters imply."""

import numpy as np
import pytest

import tisim

SECONDS = 20
# scene, parameters, bodies that the lowest contact carries at most, speed at the end [m/s], lowest body [m]
SCENES = [
    ("tower", dict(n=20), 20, 0.01, 0.09), ("pyramid", dict(n=140), 12, 0.01, 0.09),
    ("bowl", dict(n=50), 10, 2.0, 0.015), ("terrain", dict(n=40), 3, 3.0, -0.01),
    ("cards", dict(n=40), 40, 0.5, -0.005),  # they dip into the floor when they hit it, in MuJoCo as here
]  # fmt: skip


def sinking(m, load):
    """Penetration [m] of a contact that carries `load` times the weight of the lighter body.

    At rest the reference acceleration is -(1 - d) / d times the load's: k r = (1 - d) / d g, with the stiffness k and
    impedance d of solref and solimp (seed 000, "Parameters").
    """
    time, ratio = np.max(m.geom_solref, 0)
    low, high = m.geom_solimp[0, 0], m.geom_solimp[0, 1]
    return load * (1 - low) / low**2 * 9.81 * high**2 * time**2 * ratio**2


@pytest.mark.slow
@pytest.mark.parametrize("name, params, load, speed, lowest", SCENES, ids=[s[0] for s in SCENES])
def test_scene(name, params, load, speed, lowest):
    m = tisim.Model.from_scene(name, **params)
    d = tisim.Data(m)
    energy = tisim.mjtEnableBit.mjENBL_ENERGY
    m.opt.enableflags |= int(energy)
    tisim.forward(m, d)
    start, moving = float(d.energy[0]), m.body_weldid != 0
    while d.time < SECONDS:
        tisim.step(m, d, 50)
        x = np.asarray(d.xpos)[moving]
        assert np.isfinite(x).all() and x[:, 2].min() > lowest, f"something fell through at {d.time:.2f} s"
        assert np.abs(x).max() < 6, f"something flew off at {d.time:.2f} s"
        potential, kinetic = np.asarray(d.energy)
        assert potential + kinetic < start + 1e-3 * abs(start), f"energy grew at {d.time:.2f} s"
    assert np.abs(np.asarray(d.qvel).reshape(-1, 6)[:, :3]).max() < speed
    assert np.asarray(d.xpos)[moving, 2].min() > 0
    assert np.asarray(d.contact.dist).min() > -3 * sinking(m, load)
    for warning in d.warning:
        assert np.all(warning.number == 0)


def test_the_penetration_of_a_resting_body_is_what_the_parameters_imply():
    m = tisim.Model.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
        <body pos="0 0 .0999"><freejoint/><geom size=".1" condim="1"/></body></worldbody></mujoco>""")
    d = tisim.Data(m)
    tisim.step(m, d, 2000)
    expected = sinking(m, 1)
    assert 0.6 * expected < -float(d.contact.dist[0]) < 1.05 * expected  # the impedance rises on the way
