"""Lengths, activations, gains and biases of actuators are what seed 001's tables say, to rounding.

The other side is written here from the seed's formulas, not taken from MuJoCo: transmissions of joints (hinge, slide,
ball, free), tendons and slider-cranks; the updates of integrator, filter and filterexact; fixed and affine gain and
bias; and what each shortcut stands for.
"""

import numpy as np
import pytest

import tisim

WORLD = """<mujoco><option gravity="0 0 0"/><worldbody><site name="w" pos=".1 .2 .3" zaxis="0 1 .3"/>
  <body name="b"><joint name="hinge" axis="0 1 0"/><joint name="slide" type="slide" axis="1 0 0"/><geom size=".1"/>
    <site name="s" pos=".2 .1 0"/></body>
  <body pos="2 0 0"><joint name="ball" type="ball"/><geom size=".1"/></body>
  <body pos="3 0 0"><freejoint name="free"/><geom size=".1"/></body></worldbody>
<tendon><fixed name="fixed"><joint joint="hinge" coef="2"/><joint joint="slide" coef="-.5"/></fixed></tendon>
<actuator>{}</actuator></mujoco>"""
LENGTHS, VELOCITIES = dict(hinge=0.7, slide=-0.4), dict(hinge=1.3, slide=0.6)


def made(*actuators, seed=0):
    """(m, d) in a random state, evaluated."""
    m = tisim.Model.from_xml_string(WORLD.format("".join(actuators)))
    d, rng = tisim.Data(m), np.random.default_rng(seed)
    d.qpos[:2], d.qvel[:2] = list(LENGTHS.values()), list(VELOCITIES.values())
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    d.qpos[2:6] = [np.cos(0.6), *(np.sin(0.6) * axis)]
    d.qvel[2:] = rng.normal(size=m.nv - 2)
    d.ctrl[...] = rng.uniform(-1, 1, m.nu)
    d.act[...] = rng.uniform(-1, 1, m.na)
    tisim.forward(m, d)
    return m, d, axis


@pytest.mark.parametrize("joint", LENGTHS)
@pytest.mark.parametrize("word", ("joint", "jointinparent"))
def test_scalar_joints(joint, word):
    """l = gear q, dl/dt = gear v."""
    _, d, _ = made(f'<motor {word}="{joint}" gear="3"/>')
    assert d.actuator_length[0] == pytest.approx(3 * LENGTHS[joint])
    assert d.actuator_velocity[0] == pytest.approx(3 * VELOCITIES[joint])
    assert d.qfrc_actuator[list(LENGTHS).index(joint)] == pytest.approx(3 * d.ctrl[0])


def test_balls():
    """l = (n . gear) theta, for the axis n and angle theta of the joint's quaternion."""
    _, d, axis = made('<motor joint="ball" gear="1 -2 .5"/>')
    assert d.actuator_length[0] == pytest.approx(axis @ [1, -2, 0.5] * 1.2)
    assert d.actuator_velocity[0] == pytest.approx(d.qvel[2:5] @ np.array([1, -2, 0.5]))
    np.testing.assert_allclose(d.qfrc_actuator[2:5], d.ctrl[0] * np.array([1, -2, 0.5]))


def test_free_joints():
    """l = 0, dl/dt = v . gear."""
    gear = np.array([1, 2, -1, 0.5, 0.3, 0.2])
    _, d, _ = made('<motor joint="free" gear="1 2 -1 .5 .3 .2"/>')
    assert d.actuator_length[0] == 0 and d.actuator_velocity[0] == pytest.approx(d.qvel[5:] @ gear)
    np.testing.assert_allclose(d.qfrc_actuator[5:], d.ctrl[0] * gear)


def test_tendons():
    """l = gear l_tendon."""
    _, d, _ = made('<motor tendon="fixed" gear="-2"/>')
    assert d.actuator_length[0] == pytest.approx(-2 * (2 * 0.7 - 0.5 * -0.4))
    assert d.actuator_velocity[0] == pytest.approx(-2 * (2 * 1.3 - 0.5 * 0.6))


@pytest.mark.parametrize("rod", (2.0, 0.01))
def test_slider_cranks(rod):
    """l = gear z, z = a.v - sqrt(det), det = (a.v)^2 + r^2 - |v|^2; a.v alone where det is negative. And its rate."""
    m, d, _ = made(f'<motor cranksite="s" slidersite="w" cranklength="{rod}" gear="2"/>')

    def length():
        a, v = d.site_xmat[0].reshape(3, 3)[:, 2], d.site_xpos[1] - d.site_xpos[0]
        det = (a @ v) ** 2 + rod**2 - v @ v
        return 2 * (a @ v - np.sqrt(det) if det > 0 else a @ v)

    assert d.actuator_length[0] == pytest.approx(length())
    velocity, rates, at = float(d.actuator_velocity[0]), [], np.array(d.qpos[:2])
    for sign in (1, -1):
        d.qpos[:2] = at + sign * 1e-6 * np.array(d.qvel[:2])
        tisim.forward(m, d)
        rates.append(length())
    assert velocity == pytest.approx((rates[0] - rates[1]) / 2e-6, rel=1e-6)


UPDATES = {  # of an activation w by a control u in a timestep h, with time constant t
    "integrator": lambda w, u, h, t: w + h * u,
    "filter": lambda w, u, h, t: w + h * (u - w) / t,
    "filterexact": lambda w, u, h, t: w + (u - w) * (1 - np.exp(-h / t)),
}


@pytest.mark.parametrize("early", ("true", "false"))
@pytest.mark.parametrize("dyntype", UPDATES)
def test_activations(dyntype, early):
    """The table of updates; with actearly the force follows from the activation after the step."""
    m, d, _ = made(f'<general joint="hinge" dyntype="{dyntype}" dynprm=".03" gainprm="5" actearly="{early}"/>')
    w, u, h = float(d.act[0]), float(d.ctrl[0]), m.opt.timestep
    after = UPDATES[dyntype](w, u, h, 0.03)
    assert d.actuator_force[0] == pytest.approx(5 * (after if early == "true" else w))
    tisim.step(m, d)
    assert d.act[0] == pytest.approx(after)


GAINS = dict(fixed=lambda g, x, v: g[0], affine=lambda g, x, v: g[0] + g[1] * x + g[2] * v)
BIASES = dict(none=lambda b, x, v: 0.0, affine=lambda b, x, v: b[0] + b[1] * x + b[2] * v)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("joint", LENGTHS)
def test_forces(joint, gain, bias):
    """p = gain u + bias."""
    g, b = (1.5, -0.5, 0.3), (0.2, -3.0, -0.4)
    parameters = f'gainprm="{g[0]} {g[1]} {g[2]}" biasprm="{b[0]} {b[1]} {b[2]}"'
    _, d, _ = made(f'<general joint="{joint}" gaintype="{gain}" biastype="{bias}" {parameters}/>')
    x, v = LENGTHS[joint], VELOCITIES[joint]
    assert d.actuator_force[0] == pytest.approx(GAINS[gain](g, x, v) * d.ctrl[0] + BIASES[bias](b, x, v))


# what shortcuts stand for: force by control u, activation w, length x, velocity v
SHORTCUTS = {
    "motor": ("<motor {}/>", lambda u, w, x, v: u),
    "position": ("<position {} kp='3' kv='.5'/>", lambda u, w, x, v: 3 * (u - x) - 0.5 * v),
    "velocity": ("<velocity {} kv='.5'/>", lambda u, w, x, v: 0.5 * (u - v)),
    "intvelocity": ("<intvelocity {} kp='2' kv='.1' actrange='-4 6'/>", lambda u, w, x, v: 2 * (w - x) - 0.1 * v),
    "damper": ("<damper {} kv='.5' ctrlrange='0 2'/>", lambda u, w, x, v: -0.5 * v * max(u, 0.0)),
    # of a bias of three numbers MuJoCo 3.4.0 reads the first, and so does tisim
    "cylinder": ("<cylinder {} timeconst='.2' area='.3' bias='1 2 3'/>", lambda u, w, x, v: 0.3 * w + 1),
}  # fmt: skip


@pytest.mark.parametrize("joint", LENGTHS)
@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_shortcuts(shortcut, joint):
    text, force = SHORTCUTS[shortcut]
    for seed in range(3):
        m, d, _ = made(text.format(f'joint="{joint}"'), seed=seed)
        w = float(d.act[0]) if m.na else 0.0
        expected = force(float(d.ctrl[0]), w, LENGTHS[joint], VELOCITIES[joint])
        assert d.actuator_force[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
