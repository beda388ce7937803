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


def linked(parents, joint_words, rng, actuators=""):
    """A model of boxes by hinges about random axes at random places, each below its parent, -1: the world; a body comes
    behind its parent."""
    places = [(rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), *rng.normal(size=3), joint_words()) for _ in parents]

    def body(b):
        x, y, *axis, words = places[b]
        children = "".join(body(c) for c in range(len(parents)) if parents[c] == b)
        return (f'<body pos="{x:.2f} {y:.2f} -.2"><joint name="j{b}" axis="{axis[0]:.2f} {axis[1]:.2f} {axis[2]:.2f}" '
                f'{words}/><geom type="box" size=".1 .08 .12" pos="0 0 -.1"/>{children}</body>')  # fmt: skip

    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(
        '<mujoco><compiler angle="radian"/><option timestep=".002"><flag contact="disable" energy="enable"/></option>'
        f"<worldbody>{body(0)}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )
    m.opt.dynamics, m.lcp.substeps = "lcp", 1
    return m, tisim.Data(m)


@pytest.mark.parametrize("seed", [90, 369, 434, 571, 593, 748, 923])
def test_what_has_limits_and_friction_gains_no_energy(seed):
    """Chains of four links in which all rows asked at once turn in a circle between limits and friction: joints left
    their limits and were thrown, by 1e4 to 1e8 J. Links of that speed gain up to 2 J by steps of 2 ms without them."""
    rng = np.random.default_rng(seed)

    def words():
        low, high, loss = rng.uniform(0.1, 1), rng.uniform(0.1, 1), rng.uniform(0, 1)
        return f'range="-{low:.2f} {high:.2f}" frictionloss="{loss:.2f}"'

    m, d = linked([-1, 0, 1, 2], words, rng)
    d.qvel[:] = 3 * np.random.default_rng(seed).normal(size=4)
    tisim.step(m, d)
    least = start = d.energy.sum()
    for _ in range(100):
        tisim.step(m, d, 10)
        assert d.energy.sum() < least + 2
        least = min(least, d.energy.sum())
        assert np.all(d.qpos > m.jnt_range[:, 0] - 1e-3) and np.all(d.qpos < m.jnt_range[:, 1] + 1e-3)
    assert least < start - 1


@pytest.mark.parametrize("seed", range(6))
def test_trees_with_limits_springs_and_motors_stay_within_their_limits(seed):
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(max(0, b - 3), b)) for b in range(1, 16))]
    motors = "".join(f'<velocity joint="j{b}" kv="{10 ** rng.uniform(-1, 4):.2f}" forcerange="-3 3"/>'
                     f'<position joint="j{b + 1}" kp="{10 ** rng.uniform(0, 5):.2f}" kv="1" forcerange="-5 4"/>'
                     for b in range(0, 16, 4))  # fmt: skip

    def words():
        low, high, loss, spring = *rng.uniform(0.05, 1, 2), rng.uniform(0, 2), 10 ** rng.uniform(0, 2)
        return f'range="-{low:.2f} {high:.2f}" frictionloss="{loss:.2f}" stiffness="{spring:.1f}"'

    m, d = linked(parents, words, rng, motors)
    d.qvel[:] = 3 * rng.normal(size=16)
    d.ctrl[:] = rng.normal(size=m.nu)
    for _ in range(50):
        tisim.step(m, d, 10)
        assert np.all(d.qpos > m.jnt_range[:, 0] - 1e-2) and np.all(d.qpos < m.jnt_range[:, 1] + 1e-2)
    assert np.abs(d.qvel).max() < 10


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
