"""dynamics="lcp": what is not done is refused by name before the first step, parameters where they are written."""

import pytest

import tisim

BODY = '<body name="body"><freejoint/><geom name="ball" size=".1"/></body>'
CASES = {
    "joints": ('<body name="leg"><joint type="ball"/><joint type="slide"/><geom size=".1"/></body>',
               "body leg: several joints that"),
    "anchors": ('<body name="leg"><joint axis="1 0 0"/><joint pos="0 0 1"/><geom size=".1"/></body>',
                "body leg: hinges whose anchors differ"),
    "massless": ('<body><freejoint/><geom size=".1"/><body name="hat"/></body>', "body hat: without mass"),
    "loss": ('<body><joint name="hip" type="ball" frictionloss="1"/><geom size=".1"/></body>', "hip: frictionloss"),
    "armature": ('<body><joint type="free" armature="1"/><geom size=".1"/></body>', "armature"),
    "frictionloss": ('<body><joint type="free" frictionloss="1"/><geom size=".1"/></body>', "frictionloss"),
    "condim": ('<body><freejoint/><geom size=".1" condim="4"/></body>', "torsional"),
    "coupling": ('<body><joint name="a"/><geom size=".1"/></body></worldbody><equality><joint name="gear" joint1="a"/>'
                 "</equality><worldbody>", "equality gear: joint"),
    "motor": (BODY + "</worldbody><actuator><adhesion body='body' ctrlrange='0 1'/></actuator><worldbody>",
              "actuators where only free bodies"),
    "adhesion": ('<body name="b"><joint/><geom size=".1"/></body></worldbody><actuator><adhesion name="glue" body="b" '
                 'ctrlrange="0 1"/></actuator><worldbody>', "actuator glue: adhesion"),
    "touch": ('<body><freejoint/><geom size=".1"/><site name="s"/></body></worldbody><sensor><touch name="skin" '
              'site="s"/></sensor><worldbody>', "sensor skin: touch"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_models_are_refused_by_name(case):
    body, words = CASES[case]
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    with pytest.raises(tisim.UnsupportedError, match=f"dynamics lcp does not do .*{words}"):
        tisim.step(m, d)
    assert d.time == 0
    m.opt.dynamics = "convex"
    tisim.step(m, d)


def model():
    tisim.init(arch="cpu", precision="f64")
    return tisim.Model.from_xml_string(f"<mujoco><worldbody>{BODY}</worldbody></mujoco>")


def test_calls_that_need_accelerations_are_refused():
    m = model()
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    for call in (tisim.step1, tisim.step2, tisim.inverse):
        with pytest.raises(tisim.UnsupportedError, match="dynamics lcp has no"):
            call(m, d)
    m.opt.enableflags = int(tisim.mjtEnableBit.mjENBL_FWDINV)
    with pytest.raises(tisim.UnsupportedError, match="flag fwdinv"):
        tisim.step(m, d)
    m.opt.enableflags = int(tisim.mjtEnableBit.mjENBL_SLEEP)
    m.lcp.take(dict(order="ode", friction="box"))
    with pytest.raises(tisim.UnsupportedError, match="flag sleep in the order of ODE"):
        tisim.step(m, d)
    m.lcp.order = "colour"
    m.tree_sleep_policy[:] = int(tisim.mjtSleepPolicy.mjSLEEP_INIT)
    with pytest.raises(tisim.UnsupportedError, match="trees that start asleep"):
        tisim.step(m, d)


@pytest.mark.parametrize(
    "name, value, words",
    [("erp", 1.5, "from 0 to 1"), ("substeps", 0, "a whole number from 1"), ("substeps", 2.5, "a whole number"),
     ("friction", "cone", "'circle', 'polygon', 'box'"), ("gap", "large", "'auto' or a number"),
     ("cfm", None, "a number"),
     ("order", "rows", "'colour', 'ode'"), ("sor", float("nan"), "a number"), ("eta", True, "a whole number")],
)  # fmt: skip
def test_parameters_are_checked_where_they_are_written(name, value, words):
    m = model()
    before = dict(m.lcp.items())
    with pytest.raises(tisim.Error, match=f"lcp.{name} is .*{words}"):
        setattr(m.lcp, name, value)
    assert dict(m.lcp.items()) == before
    with pytest.raises(tisim.Error, match="did you mean .substeps"):
        m.lcp.substep = 3
    with pytest.raises(tisim.Error, match="opt.dynamics is one of 'convex', 'lcp'"):
        m.opt.dynamics = "ode"


@pytest.mark.parametrize("sleep", [False, True])
def test_bodies_that_are_removed_are_refused_until_they_are_back(sleep):
    """And only in the Data that they are removed from."""
    tisim.init(arch="cpu", precision="f64")
    floor = '<geom type="plane" pos="0 0 -.11" size="9 9 1"/>'
    m = tisim.Model.from_xml_string(f"<mujoco><worldbody>{floor}{BODY}</worldbody></mujoco>")
    m.opt.dynamics = "lcp"
    m.opt.enableflags = sleep * int(tisim.mjtEnableBit.mjENBL_SLEEP)
    never, d, other = tisim.Data(m), tisim.Data(m), tisim.Data(m)
    tisim.step(m, never, 100)
    tisim.remove(m, d, "body")
    with pytest.raises(tisim.UnsupportedError, match="dynamics lcp: bodies are removed .* add them first"):
        tisim.step(m, d)
    assert d.time == 0
    m.opt.dynamics = "convex"
    tisim.step(m, d, 5)
    assert d.qpos[2] == 0
    m.opt.dynamics = "lcp"
    tisim.step(m, other, 100)
    tisim.add(m, d, "body")
    d.time = 0
    tisim.step(m, d, 100)
    assert never.qpos[2] == pytest.approx(-0.01, abs=1e-4)
    assert tisim.get_state(m, never).tobytes() == tisim.get_state(m, other).tobytes()
    assert tisim.get_state(m, d).tobytes() == tisim.get_state(m, other).tobytes()
    m.opt.dynamics = "convex"
    tisim.remove(m, other, "body")
    height = other.qpos[2]
    tisim.step(m, other, 5)
    assert other.qpos[2] == height and other.ncon == 0
