"""Sensors of what sleeps keep the values they had, as in MuJoCo 3.4.0; others see sleepers as they lie.

Contract: step by step, while some bodies come to rest and fall asleep, others move on and one is woken again,
sensordata is MuJoCo's: of sleepers, of pairs of which one is awake, of the world, and of what is static. But the
angular momentum of the world is that of all bodies: 3.4.0 leaves out the sleepers, which rest while the common centre
moves.
"""

import mujoco
import numpy as np
import pytest
from shared.reference import error
from shared.sleepers import BALL, Both, free, scene

TYPES = "framepos framequat framelinvel frameangvel framelinacc frameangacc".split()
ON = """<body name="{0}" pos="{1}"><freejoint/><geom name="{0}" {2}/><site name="{0}" pos="0 0 .1" euler="0 30 0"/>
</body>"""
BODIES = (
    ON.format("a", "0 0 .1", 'type="box" size=".1 .1 .1"') + ON.format("b", "1 0 .1", 'type="box" size=".1 .1 .1"')
    + ON.format("c", "2 0 1", BALL) + '<body name="post" pos="3 0 1"><site name="post"/><body name="arm">'
    '<joint name="hinge" axis="0 1 0" range="-5 5" limited="true"/><geom size=".03" pos=".2 0 0"/>'
    '<site name="arm" pos=".2 0 0"/></body></body><site name="floor" pos="1 1 0"/>'
)  # fmt: skip


def sensors():
    """Of each site, of pairs of them, of subtrees and of the hinge."""
    sites = ("a", "b", "c", "arm", "floor", "post")
    out = "".join(f'<{t} objtype="site" objname="{s}"/>' for t in TYPES for s in sites)
    pairs = ("a", "b"), ("a", "c"), ("c", "b"), ("a", "floor"), ("floor", "b"), ("c", "floor")
    out += "".join(
        f'<{t} objtype="site" objname="{x}" reftype="site" refname="{y}"/>' for t in TYPES[:4] for x, y in pairs
    )
    out += "".join(f'<{t} site="{s}"/>' for t in ("accelerometer", "gyro", "force", "torque") for s in sites)
    bodies = ("world", "a", "b", "c", "post", "arm")
    out += "".join(f'<{t} body="{b}"/>' for t in ("subtreecom", "subtreelinvel", "subtreeangmom") for b in bodies)
    out += "".join(f'<joint{t} joint="hinge"/>' for t in ("pos", "vel", "limitpos", "limitvel", "limitfrc"))
    return f"<sensor>{out}<e_potential/><e_kinetic/><clock/></sensor>"


WORLD_MOMENTUM = (96, "SUBTREEANGMOM")


def wake(m, d):
    d.qvel[2] = 1.0


@pytest.fixture(scope="module")
def rollout():
    """(names of sensors, their places, values of MuJoCo and of tisim in each step, who slept in each, MuJoCo's state
    before it)."""
    both = Both(scene(BODIES, rest=sensors()))
    theirs, ours, asleep, states = [], [], [], []
    for k in range(200):
        if k == 150:
            both.poke(wake)
        states.append((both.data[0].qpos.copy(), both.data[0].qvel.copy()))
        both.step()
        theirs.append(both.data[0].sensordata.copy())
        ours.append(np.array(both.data[1].sensordata))
        asleep.append(np.array(both.data[1].tree_asleep) >= 0)
        assert both.same_sleepers()
    m = both.theirs
    names = [mujoco.mjtSensor(t).name[7:] for t in m.sensor_type]
    places = [slice(a, a + n) for a, n in zip(m.sensor_adr, m.sensor_dim)]
    return names, places, np.array(theirs), np.array(ours), np.array(asleep), states


def test_some_sleep_and_one_wakes(rollout):
    asleep = rollout[4]
    assert asleep[100].any() and not asleep[100].all()
    assert asleep[149, 0] and not asleep[160, 0]


def test_values_equal_mujocos(rollout):
    names, places, theirs, ours, *_ = rollout
    bad = {(i, names[i]): error(ours[:, p], theirs[:, p]) for i, p in enumerate(places)}
    assert [names for names, e in bad.items() if e > 1e-6] == [WORLD_MOMENTUM]


def test_momentum_of_the_world_does_not_depend_on_sleep(rollout):
    _, places, theirs, ours, asleep, states = rollout
    m = mujoco.MjModel.from_xml_string(scene(BODIES, rest=sensors(), sleep=False))
    d, p = mujoco.MjData(m), places[WORLD_MOMENTUM[0]]
    for k in (20, 80, 120):  # awake, then some asleep while another falls
        d.qpos[:], d.qvel[:] = states[k]
        mujoco.mj_forward(m, d)
        assert error(ours[k, p], d.sensordata[p]) < 1e-6
        assert np.allclose(theirs[k, p], d.sensordata[p], rtol=0.1) != asleep[k].any()


ARM = '<body pos="3 0 1"><joint name="arm" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>'


@pytest.mark.parametrize("flag", ['energy="enable"', 'energy="enable" sensor="disable"', ""])
@pytest.mark.parametrize("rest", [
    "", "<actuator><motor joint='arm'/></actuator>", "<sensor><clock/></sensor>", "<sensor><e_kinetic/></sensor>",
    "<sensor><e_kinetic/><e_potential/></sensor>",
])  # fmt: skip
def test_energy_is_mujocos_in_the_step_in_which_something_falls_asleep(rest, flag):
    """That of rest, but where a sensor asks for the kinetic energy: then that of the velocities before."""
    both = Both(scene(free("a", "0 0 .101") + ARM, 'sleep_tolerance=".05"', flag=flag, rest=rest))
    for _ in range(20):
        both.step()
        assert np.allclose(both.data[1].energy, both.data[0].energy, rtol=1e-8, atol=1e-12), both.data[0].tree_asleep
    assert both.same_sleepers() and both.data[0].tree_asleep[0] == 0


SPRINGS = """<body pos="3 0 1"><joint type="slide" axis="1 0 0" damping="1" stiffness="2" springref=".3"/>
<geom size=".1"/><body><joint axis="0 1 0" damping="1" stiffness="3" springref="20"/>
<geom size=".1" pos="0 0 .2"/></body></body>
<body pos="6 0 1"><joint type="ball" damping="1" stiffness="5"/><geom size=".1" pos=".2 0 0"/></body>
<body pos="9 0 1" sleep="never"><joint axis="0 1 0" stiffness="3" springref="20"/>
<geom size=".1" pos=".2 0 0"/></body>"""


@pytest.mark.parametrize("flag, rest", [
    ('energy="enable"', ""), ("", "<sensor><e_potential/></sensor>"),
    ('energy="enable"', "<sensor><e_kinetic/><e_potential/></sensor>"),
])  # fmt: skip
def test_springs_of_sleepers_are_not_in_the_energy(flag, rest):
    """From the step behind that in which they fall asleep to that in which they wake, as in MuJoCo."""
    both = Both(scene(SPRINGS, 'sleep_tolerance=".5"', flag=flag, rest=rest))
    for a in both.data:
        a.qpos[2:6] = [np.cos(0.2), np.sin(0.2), 0, 0]
    slept = 0
    for k in range(60):
        if k == 40:
            both.poke(lambda m, d: d.qfrc_applied.__setitem__(0, 0.5))
        both.step()
        slept += int((both.data[0].tree_asleep >= 0).sum())
        assert both.same_sleepers()
        assert np.allclose(both.data[1].energy, both.data[0].energy, rtol=1e-8, atol=1e-12), k
        assert np.allclose(both.data[1].sensordata, both.data[0].sensordata, rtol=1e-8, atol=1e-12), k
    assert slept > 40 and both.data[0].tree_asleep[0] < 0


HANGING = """<body name="hand" mocap="true" pos="0 0 1"><geom size=".05"/><site name="hand"/>
<body><joint axis="0 1 0" damping="1" frictionloss="200" solreffriction=".005 1"/><geom size=".1" pos=".1 0 0"/>
<body pos=".2 0 0"><joint axis="0 1 0" damping="1" frictionloss="200" solreffriction=".005 1"/>
<geom size=".05" pos=".1 0 0"/><site name="tip" pos=".1 0 0"/></body></body></body>"""
OF_TIP = "".join(f'<{t} site="tip"/>' for t in ("force", "torque", "accelerometer", "gyro", "velocimeter"))


def test_what_hangs_on_a_mocap_body_sleeps_for_sensors_too():
    """Those of the mocap body itself do not sleep."""
    rest = f'<sensor>{OF_TIP}<framepos objtype="site" objname="tip"/><framepos objtype="site" objname="hand"/></sensor>'
    both = Both(scene(HANGING + free("far", "2 0 1"), 'sleep_tolerance=".2"', rest=rest))
    slept = 0
    for k in range(40):
        if k == 30:
            both.poke(lambda m, d: d.mocap_pos.__setitem__((0, 2), 1.3))
        both.step()
        theirs, ours = (d.sensordata for d in both.data)
        assert both.same_sleepers() and error(ours, theirs) < 1e-8, k
        slept += both.data[0].tree_asleep[0] >= 0
    assert 10 < slept <= 30, "it falls asleep, and wakes where it is carried away"
