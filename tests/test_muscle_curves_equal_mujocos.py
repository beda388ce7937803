"""tisim.muscle_gain, muscle_bias and muscle_dynamics are MuJoCo's mju_ functions for numbers and arrays alike, and the
forces of a step are made of the same curves."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tisim

LENGTHS, VELOCITIES = np.linspace(-0.2, 2.4, 53), np.linspace(-3, 3, 25)


def reals(low, high):
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


PARAMETERS = st.tuples(
    reals(0.2, 0.9), reals(1, 1.5), st.one_of(st.just(-1.0), reals(1, 100)), reals(10, 300), reals(0.1, 0.9),
    reals(1.1, 2.5), reals(0.5, 5), reals(0.2, 2), reals(1.05, 2),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(prm=PARAMETERS, acc0=reals(0.1, 50), low=reals(0, 1), span=reals(0.1, 2))
def test_gain_and_bias(prm, acc0, low, span):
    ends = np.array([low, low + span])
    prm9 = np.array(prm, float)
    gain = tisim.muscle_gain(LENGTHS[:, None], VELOCITIES, ends, acc0, prm9)
    theirs = [[mujoco.mju_muscleGain(x, v, ends, acc0, prm9) for v in VELOCITIES] for x in LENGTHS]
    np.testing.assert_allclose(gain, theirs, rtol=1e-11, atol=1e-11)
    theirs = [mujoco.mju_muscleBias(x, ends, acc0, prm9) for x in LENGTHS]
    np.testing.assert_allclose(tisim.muscle_bias(LENGTHS, ends, acc0, prm9), theirs, rtol=1e-11, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(up=reals(1e-3, 0.5), down=reals(1e-3, 0.5), width=st.one_of(st.just(0.0), reals(1e-3, 1)))
def test_dynamics(up, down, width):
    prm = np.array([up, down, width])
    ctrl, act = np.meshgrid(np.linspace(-0.5, 1.5, 21), np.linspace(-0.5, 1.5, 21))
    theirs = [mujoco.mju_muscleDynamics(c, a, prm) for c, a in zip(ctrl.ravel(), act.ravel())]
    np.testing.assert_allclose(tisim.muscle_dynamics(ctrl, act, prm).ravel(), theirs, rtol=1e-11, atol=1e-11)


def test_the_length_curve():
    x = tisim.muscle_gain_length(LENGTHS, 0.5, 1.6)
    assert (
        x.max() <= 1
        and tisim.muscle_gain_length(1, 0.5, 1.6) == 1
        and isinstance(tisim.muscle_gain_length(1, 0.5, 2), float)
    )
    assert tisim.muscle_gain_length(0.5, 0.5, 1.6) == 0 and tisim.muscle_gain_length(1.7, 0.5, 1.6) == 0


def test_the_step_has_the_same_curves():
    """200 muscles of a slide at lengths and velocities far beyond their ranges."""
    rng = np.random.default_rng(0)
    muscles = "".join(
        f'<muscle joint="j" gear="{rng.uniform(0.5, 2):.3f}" '
        f'lengthrange="{-rng.uniform(0.2, 1):.3f} {rng.uniform(0.2, 1):.3f}"'
        f' force="{rng.choice([-1, 30])}" scale="{rng.uniform(20, 80):.2f}" vmax="{rng.uniform(0.5, 3):.2f}"'
        f' tausmooth="{rng.choice([0, 0.2])}"/>'
        for _ in range(200)
    )
    m = tisim.Model.from_xml_string(
        '<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body></worldbody>'
        f"<actuator>{muscles}</actuator></mujoco>"
    )
    d = tisim.Data(m)
    for _ in range(5):
        d.qpos, d.qvel = rng.uniform(-1.5, 1.5), rng.uniform(-4, 4)
        d.ctrl, d.act = rng.uniform(-0.3, 1.3, m.nu), rng.uniform(-0.3, 1.3, m.nu)
        tisim.forward(m, d)
        for i in range(m.nu):
            given_ = m.actuator_lengthrange[i], m.actuator_acc0[i]
            gain = tisim.muscle_gain(d.actuator_length[i], d.actuator_velocity[i], *given_, m.actuator_gainprm[i])
            force = gain * d.act[i] + tisim.muscle_bias(d.actuator_length[i], *given_, m.actuator_biasprm[i])
            assert d.actuator_force[i] == pytest.approx(force, rel=1e-10, abs=1e-10)
            rate = tisim.muscle_dynamics(d.ctrl[i], d.act[i], m.actuator_dynprm[i])
            assert d.act_dot[i] == pytest.approx(rate, rel=1e-10, abs=1e-10)


def test_mistakes_are_told():
    with pytest.raises(tisim.Error, match="prm has shape"):
        tisim.muscle_gain(1, 0, [0, 1], 1, [1, 2])
    with pytest.raises(tisim.Error, match="length='x': expected numbers"):
        tisim.muscle_gain_length("x", 0.5, 1.5)
