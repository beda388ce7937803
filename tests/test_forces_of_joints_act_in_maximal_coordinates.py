"""dynamics="lcp": springs, dampers, friction loss, limits and actuators are rows: closed forms, and MuJoCo's motion
where steps are short. Some are ODE's, too: tests/test_joints_of_bodies_step_as_odes.py."""

import mujoco
import numpy as np
import pytest

import tisim

ARM = """<mujoco><option timestep="{h}"><flag contact="disable"/></option><worldbody>
<body pos="0 0 1"><joint type="{0}" axis="0 1 0" pos="0 0 .05" {1}/><geom type="box" size=".03 .05 .2" pos=".01 0 -.2"/>
<body pos="0 .02 -.4" euler="10 20 30"><joint type="{2}" axis="0 1 .2" {3}/>
<geom type="box" size=".03 .04 .2" pos="0 0 -.2"/></body></body></worldbody></mujoco>"""


def arm(first, of_first, second, of_second, h):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(ARM.format(first, of_first, second, of_second, h=h))
    m.opt.dynamics = "lcp"
    return m, tisim.Data(m)


def slider(words, h=0.005, mass=2.0):
    """(Model, Data) of a mass that slides along the vertical."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        f'<mujoco><option timestep="{h}"/><worldbody><body><joint type="slide" axis="0 0 1" {words}/>'
        f'<inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    m.opt.dynamics = "lcp"
    return m, tisim.Data(m)


SPRING = 'stiffness="{}" damping="{}" springref="{}"'


@pytest.mark.parametrize("words", [
    ("hinge", SPRING.format(50, 1, 0.2), "hinge", SPRING.format(20, 0, 0.2)),
    ("ball", SPRING.format(50, 1, 0), "hinge", SPRING.format(20, 0.5, 0.2)),
    ("slide", SPRING.format(500, 1, 0.02), "ball", SPRING.format(20, 0.5, 0)),
])  # fmt: skip
def test_springs_and_dampers_move_bodies_as_mujocos_where_steps_are_short(words):
    reference = mujoco.MjModel.from_xml_string(ARM.format(*words, h='0.0001" integrator="RK4'))
    data = mujoco.MjData(reference)
    velocity = np.random.default_rng(0).normal(size=reference.nv)
    data.qvel[:] = velocity
    mujoco.mj_step(reference, data, 5000)
    errors = []
    for h in (1e-3, 5e-4):
        m, d = arm(*words, h)
        d.qvel[:] = velocity
        tisim.step(m, d, round(0.5 / h))
        errors.append(np.abs(d.qpos - data.qpos).max())
    assert errors[0] < 2e-4 and 1.8 < errors[0] / errors[1] < 2.2, errors


def test_a_stiff_damper_is_stable_at_long_steps():
    m, d = arm("hinge", 'damping="1e6"', "ball", 'damping="1e6" stiffness="1e7"', 0.01)
    d.qvel[:] = 5.0
    tisim.step(m, d, 100)
    assert np.abs(d.qvel).max() < 1e-3 and np.abs(d.qpos[0]) < 1e-4


def test_a_mass_hangs_on_its_spring_by_its_weight():
    """Depth m g / kp to 1e-9 m."""
    m, d = slider('stiffness="700" damping="40"')
    tisim.step(m, d, 2000)
    assert abs(d.qpos[0] + 2.0 * 9.81 / 700) < 1e-9


def test_friction_loss_holds_what_pulls_less_and_slows_by_itself_what_pulls_more():
    m, d = slider('frictionloss="21"')
    tisim.step(m, d, 100)
    assert abs(d.qvel[0]) < 1e-8
    m, d = slider('frictionloss="15"')
    tisim.step(m, d, 100)
    assert abs(d.qvel[0] - 0.5 * (15 / 2.0 - 9.81)) < 1e-9
    m, d = slider('frictionloss="30"')
    d.qvel[0] = -2.0
    tisim.step(m, d, 40)
    assert abs(d.qvel[0] - (-2.0 + 0.2 * (15 - 9.81))) < 1e-9


@pytest.mark.parametrize("sign", [1, -1])
def test_a_limit_stops_what_comes_and_holds_it(sign):
    m, d = slider('limited="true" range="-.3 .3"')
    m.opt.gravity[2] *= sign
    reached = 0.0
    for _ in range(100):
        tisim.step(m, d)
        reached = max(reached, abs(d.qpos[0]))
    assert abs(reached - 0.3) < 1e-8 and abs(d.qpos[0] + sign * 0.3) < 1e-8 and abs(d.qvel[0]) < 1e-8


def test_a_joint_beyond_its_limit_comes_back_linearly():
    """The velocity that corrects it stays, as that of a contact does: 10, 8, 6, 4 for erp 0.2."""
    m, d = slider('limited="true" range="0 1"')
    m.opt.gravity[:] = 0
    m.lcp.substeps = 1
    d.qpos[0] = -0.1
    for k in range(4):
        assert abs(d.qpos[0] - (-0.1 + 0.02 * k)) < 1e-8  # cfm
        tisim.step(m, d)


def test_limited_arms_stay_within_their_limits():
    """Hinges to 1e-6 degrees, balls to 1 degree, whatever the speed."""
    m, d = arm("hinge", 'limited="true" range="-20 20"', "ball", 'limited="true" range="0 10" damping=".1"', 0.005)
    d.qvel[:] = [5, 3, 1, 4]
    hinge, ball = 0.0, 0.0
    for _ in range(600):
        tisim.step(m, d)
        hinge = max(hinge, np.degrees(abs(d.qpos[0])))
        ball = max(ball, np.degrees(2 * np.arccos(min(1.0, abs(d.qpos[1])))))
    assert 19.9 < hinge < 20 + 1e-6 and 9.9 < ball < 11


def test_flags_switch_forces_of_joints_off():
    words = 'stiffness="100" damping="5" frictionloss="30" limited="true" range="-.01 .01"'
    m, d = slider(words)
    bits = tisim.mjtDisableBit
    m.opt.disableflags = sum(map(int, (bits.mjDSBL_SPRING, bits.mjDSBL_DAMPER, bits.mjDSBL_LIMIT,
                                       bits.mjDSBL_FRICTIONLOSS)))  # fmt: skip
    tisim.step(m, d, 20)
    assert abs(d.qvel[0] + 0.981) < 1e-9


DRIVEN = """<mujoco><option timestep="{h}"><flag contact="disable"/></option><worldbody>
<body pos="0 0 1"><joint name="a" axis="0 1 0" pos="0 0 .05"/><geom type="box" size=".03 .05 .2" pos=".01 0 -.2"/>
<body pos="0 .02 -.4" euler="10 20 30"><joint name="b" type="ball" damping=".05"/>
<geom type="box" size=".03 .04 .2" pos="0 0 -.2"/><site name="s" pos="0 0 -.3"/>
<body pos="0 0 -.4"><joint name="c" type="slide" axis="0 0 1" damping="1"/><geom type="sphere" size=".05"/></body>
</body></body></worldbody><actuator>{0}</actuator></mujoco>"""


@pytest.mark.parametrize("actuators", [
    '<motor joint="a" gear="2"/><motor joint="b" gear=".1 .2 .1"/><motor site="s" gear="1 2 3 .1 .2 .1"/>',
    '<position joint="a" kp="50" kv="3" forcerange="-5 5"/><velocity joint="c" kv="20" gear="-1.5"/>',
    '<intvelocity joint="a" kp="50" kv="2" actrange="-1 1"/><damper joint="c" kv="3" ctrlrange="0 1"/>'
    '<general joint="c" dyntype="filter" dynprm=".1" gainprm="10" biastype="affine" biasprm="0 -10 -1"/>',
])  # fmt: skip
def test_actuators_move_bodies_as_mujocos_where_steps_are_short(actuators):
    reference = mujoco.MjModel.from_xml_string(DRIVEN.format(actuators, h='0.0001" integrator="RK4'))
    data = mujoco.MjData(reference)
    data.ctrl[:] = [0.5, 0.4, 0.3][: reference.nu]
    mujoco.mj_step(reference, data, 4000)
    errors = []
    tisim.init(arch="cpu", precision="f64")
    for h in (1e-3, 5e-4):
        m = tisim.Model.from_xml_string(DRIVEN.format(actuators, h=h))
        m.opt.dynamics = "lcp"
        d = tisim.Data(m)
        d.ctrl[:] = data.ctrl
        tisim.step(m, d, round(0.4 / h))
        errors.append(np.abs(d.qpos - data.qpos).max())
        assert np.abs(d.act - data.act).max(initial=0) < 2e-4
    assert errors[0] < 2e-3 and 1.7 < errors[0] / errors[1] < 2.3, errors


def driven_slider(actuator):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        '<mujoco><option timestep="0.01" gravity="0 0 0"/><worldbody><body><joint name="j" type="slide" axis="0 0 1"/>'
        '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody>'
        f"<actuator>{actuator}</actuator></mujoco>"
    )
    m.opt.dynamics = "lcp"
    return m, tisim.Data(m)


def test_a_motor_reaches_its_velocity_by_its_greatest_force():
    """A velocity actuator of any gain: force 6 N on 2 kg until 1 m/s, then that velocity."""
    m, d = driven_slider('<velocity joint="j" kv="1e7" forcerange="-6 6"/>')
    d.ctrl[0] = 1.0
    for k in range(50):
        tisim.step(m, d)
        assert abs(d.qvel[0] - min(1.0, 0.03 * (k + 1))) < 1e-6


def test_a_stiff_servo_goes_where_it_is_told_at_long_steps():
    m, d = driven_slider('<position joint="j" kp="1e6" kv="1e4"/>')
    d.ctrl[0] = 0.5
    tisim.step(m, d, 100)
    assert abs(d.qpos[0] - 0.5) < 1e-4 and abs(d.qvel[0]) < 1e-3
