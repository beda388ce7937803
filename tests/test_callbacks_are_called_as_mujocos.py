"""Callbacks: called where MuJoCo 3.4.0 calls them and with the same results, as Python functions and as Taichi code.

Contract: the same function as control, passive, act_dyn, act_gain, act_bias or contactfilter callback gives MuJoCo's
motion in both forms, in one world and in many, for all models or for one; setting and removing takes effect in the next
step; an error in a callback leaves the state as before the step.
"""

import copy
import pickle

import mujoco
import numpy as np
import pytest
import taichi as ti

import tisim
from tisim.device import native

XML = """<mujoco><option {option}><flag {flag}/></option><worldbody>
  <body name="a"><joint name="a" axis="0 1 0" stiffness="1" damping=".1"/><geom size=".1" pos=".3 0 0"/>
    <body name="b" pos=".6 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></body></worldbody>
<actuator>
  <general joint="a" dyntype="user" gaintype="user" biastype="user" group="1"/>
  <general joint="b" dyntype="user" actdim="2" gaintype="user" biastype="user"/>
  <motor joint="b"/><general joint="a" gaintype="user"/></actuator></mujoco>"""
STATE = tisim.mjtState.mjSTATE_INTEGRATION
NAMES = ("control", "passive", "act_dyn", "act_gain", "act_bias")
VARIANTS = dict(
    plain=("", ""), rk4=('integrator="RK4"', ""), group=('actuatorgroupdisable="1"', ""),
    implicit=('integrator="implicitfast"', ""), actuation=("", 'actuation="disable"'),
    passive=("", 'spring="disable" damper="disable"'),
)  # fmt: skip


# functions that serve both engines


def control(m, d):
    d.ctrl[...] = np.stack(
        [np.sin(9 * d.qpos[..., 0]), d.qvel[..., 1], 0.3 - d.qpos[..., 1], 0 * d.qpos[..., 1] + 0.2], -1
    )


def passive(m, d):
    d.qfrc_passive[...] += 0.7 * np.sin(np.asarray(d.qpos))


def act_dyn(m, d, id):
    if id == 1:
        d.act_dot[..., 1:3] = np.stack([d.ctrl[..., 1] - d.act[..., 1], d.act[..., 1] - d.act[..., 2]], -1)
        return 0.0
    return 3 * (d.ctrl[..., 0] - d.act[..., 0])


def act_gain(m, d, id):
    return 1 + id + d.actuator_length[..., id]


def act_bias(m, d, id):
    return 0.1 * id - 0.5 * d.actuator_velocity[..., id]


# and the same as Taichi code


@tisim.kernel
def control_kernel(m, d):
    for w in range(d.nworld):
        d.ctrl[w * m.nu] = ti.sin(9.0 * d.qpos[w * m.nq])
        d.ctrl[w * m.nu + 1] = d.qvel[w * m.nv + 1]
        d.ctrl[w * m.nu + 2] = 0.3 - d.qpos[w * m.nq + 1]
        d.ctrl[w * m.nu + 3] = 0.2


@tisim.kernel
def passive_kernel(m, d):
    for k in range(d.nworld * m.nv):
        d.qfrc_passive[k] = d.qfrc_passive[k] + 0.7 * ti.sin(d.qpos[k])


@tisim.func
def dyn_func(m, d, w, i):
    a = w * m.na + m.actuator_actadr[i]
    u = d.ctrl[w * m.nu + i]
    if i == 1:
        d.act_dot[a] = u - d.act[a]
        d.act_dot[a + 1] = d.act[a] - d.act[a + 1]
    return 3.0 * (u - d.act[a])


@ti.func
def gain_func(m, d, w, i):
    return 1.0 + i + d.actuator_length[w * m.nu + i]


@tisim.func
def bias_func(m, d, w, i):
    return 0.1 * i - 0.5 * d.actuator_velocity[w * m.nu + i]


PYTHON = (control, passive, act_dyn, act_gain, act_bias)
TAICHI = (control_kernel, passive_kernel, dyn_func, gain_func, bias_func)
FORMS = dict(
    python=dict(zip(NAMES, PYTHON)), taichi=dict(zip(NAMES, TAICHI)),
    mixed=dict(zip(NAMES, (control, passive_kernel, act_dyn, gain_func, act_bias))),
)  # fmt: skip


@pytest.fixture(autouse=True)
def alone():
    tisim.init(arch="cpu", precision="f64")
    yield
    mujoco.mj_resetCallbacks()
    tisim.reset_callbacks()


def reference(xml, n=60, given=PYTHON):
    mujoco.mj_resetCallbacks()
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    d.qvel[:] = 1, -2
    for name, f in zip(NAMES, given):
        getattr(mujoco, f"set_mjcb_{name}")(f)
    mujoco.mj_step(m, d, n)
    return d


def made(xml, form, nworld=1):
    m = tisim.Model.from_xml_string(xml)
    m.callback = FORMS[form]
    d = tisim.Data(m, nworld)
    d.qvel[...] = 1, -2
    return m, d


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_motion_is_mujocos(variant, form):
    option, flag = VARIANTS[variant]
    xml = XML.format(option=option, flag=flag)
    ref = reference(xml)
    m, d = made(xml, form)
    tisim.step(m, d, 60)
    for name in ("qpos", "qvel", "act", "ctrl", "actuator_force", "qfrc_passive", "act_dot"):
        np.testing.assert_allclose(getattr(d, name), getattr(ref, name), rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("form", FORMS)
def test_worlds_are_each_like_one_alone(form):
    xml = XML.format(option="", flag="")
    m, d = made(xml, form, 3)
    d.qvel[1] = -1, 0.5
    tisim.step(m, d, 40)
    for w, start in ((0, (1, -2)), (1, (-1, 0.5))):
        m1, d1 = made(xml, form)
        d1.qvel[...] = start
        tisim.step(m1, d1, 40)
        assert np.array_equal(d1.qpos, d.qpos[w]) and np.array_equal(d1.act, d.act[w])


CALLS = dict(
    step=(tisim.step, mujoco.mj_step), forward=(tisim.forward, mujoco.mj_forward),
    inverse=(tisim.inverse, mujoco.mj_inverse),
    step1=(tisim.step1, mujoco.mj_step1), step2=(tisim.step2, mujoco.mj_step2),
    skip_pos=(lambda m, d: tisim.forward_skip(m, d, 1), lambda m, d: mujoco.mj_forwardSkip(m, d, 1, 0)),
    skip_vel=(lambda m, d: tisim.forward_skip(m, d, 2), lambda m, d: mujoco.mj_forwardSkip(m, d, 2, 0)),
)  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_they_are_called_when_mujoco_calls_them(variant):
    """In which order, for which actuators, how often: what two recording callbacks saw."""
    option, flag = VARIANTS[variant]
    xml, logs = XML.format(option=option, flag=flag), ([], [])

    def recording(log):
        def act(name):
            return lambda m, d, i: log.append((name, i)) or 1.0

        whole = [lambda m, d, name=name: log.append(name) for name in NAMES[:2]]
        return [*whole, *map(act, NAMES[2:])]

    m = tisim.Model.from_xml_string(xml)
    m.callback = dict(zip(NAMES, recording(logs[0])))
    d = tisim.Data(m)
    mm = mujoco.MjModel.from_xml_string(xml)
    dd = mujoco.MjData(mm)
    for name, f in zip(NAMES, recording(logs[1])):
        getattr(mujoco, f"set_mjcb_{name}")(f)
    for name, (ours, theirs) in CALLS.items():
        if variant == "rk4" and name in ("step1", "step2"):
            continue
        ours(m, d), theirs(mm, dd)
        # MuJoCo asks for gain and bias of one actuator, then of the next
        got = sorted(logs[0], key=lambda x: NAMES.index(x[0] if isinstance(x, tuple) else x))
        expected = sorted(logs[1], key=lambda x: NAMES.index(x[0] if isinstance(x, tuple) else x))
        assert got == expected, name
        assert [x for x in logs[0] if isinstance(x, str)] == [x for x in logs[1] if isinstance(x, str)], name
        logs[0].clear(), logs[1].clear()


@pytest.mark.parametrize("form", ("python", "taichi"))
def test_setting_and_taking_away_acts_in_the_next_step(form):
    """Steps that were recorded with another callback are not repeated."""
    xml = XML.format(option="", flag="")
    m, d = made(xml, form)
    n, e = made(xml, form)
    n.callback = dict.fromkeys(NAMES)
    tisim.step(m, d, 20)
    tisim.step(n, e, 20)
    assert not np.allclose(d.qpos, e.qpos)
    for a, b in ((m, n), (n, m)):
        given = dict(a.callback.items())
        a.callback, b.callback = dict.fromkeys(NAMES), given
        tisim.set_state(n, e, tisim.get_state(m, d, STATE), STATE)
        tisim.step(m, d, 5)
        tisim.step(n, e, 5)
        assert not np.allclose(d.qpos, e.qpos)
    tisim.step(m, d, 5)
    m.callback.control = None
    tisim.set_state(n, e, tisim.get_state(m, d, STATE), STATE)
    n.callback = m.callback
    n.callback.control = None
    tisim.step(m, d, 5), tisim.step(n, e, 5)
    assert np.array_equal(d.qpos, e.qpos)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ("python", "taichi"))
def test_all_models_share_what_is_set_for_all(form, name):
    """set_mjcb_control(f) is m.callback.control = f for those that have none; get and reset follow."""
    xml, f = XML.format(option="", flag=""), FORMS[form][name]
    m, d = made(xml, form)
    none = dict.fromkeys(NAMES) | (dict(control=control) if name != "control" else {})
    m.callback = none | {name: f}
    n, e = made(xml, form)
    n.callback = none
    tisim.step(n, e)
    e = tisim.Data(n)
    e.qvel[...] = 1, -2
    getattr(tisim, f"set_mjcb_{name}")(f)
    assert getattr(tisim, f"get_mjcb_{name}")() is not None and getattr(n.callback, name) is None
    tisim.step(m, d, 9), tisim.step(n, e, 9)
    assert np.array_equal(d.qpos, e.qpos) and np.array_equal(d.act, e.act)
    tisim.reset_callbacks()
    assert getattr(tisim, f"get_mjcb_{name}")() is None
    tisim.step(n, e, 9), tisim.step(m, d, 9)
    assert not np.array_equal(d.act, e.act) or not np.array_equal(d.qpos, e.qpos)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", ("plain", "rk4"))
def test_an_error_leaves_the_state_as_it_was(variant, name):
    option, flag = VARIANTS[variant]
    m, d = made(XML.format(option=option, flag=flag), "python")
    tisim.step(m, d, 5)
    before = [np.array(a) for a in (d.qpos, d.qvel, d.act, d.time)]
    good, left = FORMS["python"][name], [3]

    def broken(*args):
        left[0] -= 1
        if not left[0]:
            raise ZeroDivisionError("in my own code")
        return good(*args)

    setattr(m.callback, name, broken)
    with pytest.raises(ZeroDivisionError, match="my own code"):
        tisim.step(m, d, 1 if variant == "rk4" else 3)
    if variant == "rk4":
        assert all(np.array_equal(a, b) for a, b in zip(before, (d.qpos, d.qvel, d.act, d.time)))
    m.callback = FORMS["python"]
    other, e = made(XML.format(option=option, flag=flag), "python")
    done = round(float(d.time) / float(m.opt.timestep))
    tisim.step(other, e, done + 20)
    tisim.step(m, d, 20)
    assert np.array_equal(d.qpos, e.qpos)


@pytest.mark.parametrize("value", [None, "one", [1, 2, 3], np.ones((1, 2))])
@pytest.mark.parametrize("name", NAMES[2:])
def test_wrong_answers_are_told(name, value):
    m, d = made(XML.format(option="", flag=""), "python")
    setattr(m.callback, name, lambda m, d, id: value)
    with pytest.raises(tisim.Error, match=f"callback {name} returned .* actuator 0; expected a number"):
        tisim.step(m, d)


@tisim.kernel
def foreign(m, data):
    for k in range(m.nv):
        data.qpos[k] = 0.0


@tisim.kernel
def asks_for_nothing_known(m, d):
    for k in range(m.nv):
        d.no_such_array[k] = 0.0


@tisim.kernel
def writes_the_model(m, d):
    for k in range(m.nv):
        m.qpos0[k] = 0.0


@ti.kernel
def plain_kernel():
    for _ in range(1):
        pass


@pytest.mark.parametrize(("name", "f", "message"), [
    ("control", 5, r"function f\(m, d\)"), ("control", lambda m: 0, r"function f\(m, d\)"),
    ("control", gain_func, "@tisim.kernel"), ("act_gain", control_kernel, "@tisim.func"),
    ("act_gain", lambda m, d: 0, r"f\(m, d, id\)"), ("control", foreign, r"f\(m, d\)"),
    ("sensor", control_kernel, "sensorstage"), ("control", plain_kernel, "@tisim.kernel"),
    ("contactfilter", gain_func, "geom1, geom2"), ("contrl", control, "'control'"),
])  # fmt: skip
def test_wrong_callbacks_are_refused(name, f, message):
    m, _ = made(XML.format(option="", flag=""), "python")
    with pytest.raises(tisim.Error, match=message):
        setattr(m.callback, name, f)
    with pytest.raises(tisim.Error, match=message):
        m.callback = {name: f}
    assert m.callback.control is control
    if name != "contrl":
        with pytest.raises(tisim.Error, match=message):
            getattr(tisim, f"set_mjcb_{name}")(f)


@pytest.mark.parametrize("f", (asks_for_nothing_known, writes_the_model))
def test_what_taichi_code_may_not_do_is_told_with_its_place(f):
    m, d = made(XML.format(option="", flag=""), "python")
    m.callback.control = f
    with pytest.raises(tisim.Error, match=rf"{__name__}.py:\d+"):
        tisim.step(m, d)
    m.callback.control = None
    tisim.step(m, d)


def test_a_callback_does_not_step_its_own_data():
    m, d = made(XML.format(option="", flag=""), "python")
    m.callback.control = lambda m, d: tisim.forward(m, d)
    with pytest.raises(tisim.Error, match="callback"):
        tisim.step(m, d)
    m.callback.control = lambda m, d: d.qfrc_passive.fill(0)
    with pytest.raises(tisim.Error, match="passive"):
        tisim.step(m, d)
    m.callback.control = None
    tisim.step(m, d)
    with pytest.raises(tisim.Error, match="computed"):
        d.qfrc_passive[0] = 1


def test_copies_have_the_same_callbacks():
    m, d = made(XML.format(option="", flag=""), "taichi")
    m.callback.passive = passive
    for n in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert n.callback.control is control_kernel and n.callback.passive is passive
        n.callback.control = None
        assert m.callback.control is control_kernel


def test_taichi_code_outlives_a_new_start_of_taichi():
    results = []
    for threads in (None, 1, None):
        tisim.init(arch="cpu", precision="f64", threads=threads)
        m, d = made(XML.format(option="", flag=""), "taichi")
        tisim.step(m, d, 20)
        results.append(np.array(d.qpos))
    assert np.array_equal(results[0], results[2]) and np.array_equal(results[0], results[1])


@pytest.mark.skipif(native.why is not None, reason="needs machine code")
def test_taichi_code_is_repeated_by_machine_code_and_python_called_once_a_step():
    m, d = made(XML.format(option="", flag=""), "taichi")
    tisim.step(m, d, 3)
    at, done = d.program.run(m, d, tisim.pipeline.SINGLE, 0, 4)
    assert done == 4
    calls = []
    m.callback = dict.fromkeys(NAMES) | dict(control=lambda m, d: calls.append(float(d.time)))
    tisim.step(m, d, 5)
    assert len(set(calls)) == 5


# ---- sensor

FELT = """<mujoco><option integrator="{}"><flag energy="enable"/></option><worldbody><body>
  <joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody><sensor>
  <jointpos joint="j"/><user dim="2" needstage="vel" cutoff=".5" datatype="real"/><user dim="1" needstage="acc"/>
  <user dim="1" needstage="pos"/></sensor></mujoco>"""


def sense(m, d, stage):
    if stage == 1:
        d.sensordata[..., 4] = 5 + d.qpos[..., 0]
    elif stage == 2:
        d.sensordata[..., 1], d.sensordata[..., 2] = 10 * d.qvel[..., 0], -0.1 * d.qvel[..., 0]
    else:
        d.sensordata[..., 3] = d.qacc[..., 0]


@tisim.kernel
def sense_kernel(m, d, sensorstage: ti.i32):
    for w in range(d.nworld):
        if sensorstage == 1:
            d.sensordata[5 * w + 4] = 5.0 + d.qpos[w]
        elif sensorstage == 2:
            d.sensordata[5 * w + 1] = 10.0 * d.qvel[w]
            d.sensordata[5 * w + 2] = -0.1 * d.qvel[w]
        else:
            d.sensordata[5 * w + 3] = d.qacc[w]


@pytest.mark.parametrize("f", (sense, sense_kernel))
@pytest.mark.parametrize("integrator", ("Euler", "RK4"))
def test_user_sensors_are_mujocos(integrator, f):
    """At each stage that a sensor of type user needs, before the cutoff; not where sensors are left out."""
    xml = FELT.format(integrator)
    mm = mujoco.MjModel.from_xml_string(xml)
    md = mujoco.MjData(mm)
    mujoco.set_mjcb_sensor(sense)
    m = tisim.Model.from_xml_string(xml)
    m.callback.sensor = f
    d = tisim.Data(m)
    ours = (tisim.step, tisim.forward, tisim.inverse, lambda m, d: tisim.forward_skip(m, d, 2, True))
    theirs = (mujoco.mj_step, mujoco.mj_forward, mujoco.mj_inverse, lambda m, d: mujoco.mj_forwardSkip(m, d, 2, 1))
    for _ in range(3):
        for a, b in zip(ours, theirs):
            a(m, d), b(mm, md)
            np.testing.assert_allclose(d.sensordata, md.sensordata, rtol=1e-9, atol=1e-9)
    assert d.sensordata[1] == -0.5 or d.sensordata[1] == 0.5
    m.callback.sensor = None
    tisim.step(m, d)
    assert (d.sensordata[1:] == 0).all()
    with pytest.raises(tisim.Error):
        d.sensordata[0] = 1


# ---- contactfilter

SCENE = """<mujoco><worldbody><geom name="floor" type="box" size="1 1 .1" pos="0 0 -.1"/>
  <body pos="0 0 .09"><freejoint/><geom name="a" size=".1"/></body>
  <body pos=".5 0 .09"><freejoint/><geom name="b" size=".1"/></body></worldbody></mujoco>"""


@tisim.func
def no_b(m, d, w, geom1, geom2):
    return int(geom1 == 2 or geom2 == 2)


@pytest.mark.parametrize("f", (
    no_b, lambda m, d, geom1, geom2: 2 in (geom1, geom2),
    lambda m, d, geom1, geom2, worldid: (geom1 == 2) | (geom2 == 2),
), ids=("taichi", "mujocos", "arrays"))  # fmt: skip
@pytest.mark.parametrize("sleep", ("disable", "enable"))
def test_contacts_are_filtered_as_by_mujoco(f, sleep):
    xml = SCENE.replace("<worldbody>", f'<option><flag sleep="{sleep}"/></option><worldbody>')
    mujoco.set_mjcb_contactfilter(lambda m, d, a, b: int(2 in (a, b)))
    mm = mujoco.MjModel.from_xml_string(xml)
    dd = mujoco.MjData(mm)
    mujoco.mj_step(mm, dd, 100)
    m = tisim.Model.from_xml_string(xml)
    tisim.set_mjcb_contactfilter(f)
    d = tisim.Data(m, 2)
    tisim.step(m, d, 100)
    np.testing.assert_allclose(d.qpos, [dd.qpos, dd.qpos], atol=1e-6)
    assert d.qpos[0, 9] < -0.05 < d.qpos[0, 2]
    tisim.set_mjcb_contactfilter(None)
    d = tisim.Data(m)
    tisim.step(m, d, 100)
    assert d.qpos[9] > 0.05
