"""What tisim.Spec attaches is what mujoco.MjSpec attaches: the same calls give the same arrays, names and classes."""

import mujoco
import numpy as np
import pytest
from shared.compiled import bit_differences, differences
from shared.images import png
from shared.specs import ROBOT, STAGE, agree

import tisim
from tisim.mjcf import compile_file
from tisim.mjcf.compile import compile_scope


def _body(e, stage, robot):
    stage.frame("F").attach_body(robot.body("b"), "x-", "-y")


def _all_at_a_frame(e, stage, robot):
    stage.attach(robot, prefix="x-", frame=stage.frame("F"))


def _all_at_a_site(e, stage, robot):
    stage.attach(robot, prefix="x-", site="at")


def _frame(e, stage, robot):
    frame = robot.worldbody.add_frame(name="new", pos=[0, 0, 5])
    frame.add_geom(name="inside", size=[0.1, 0.1, 0.1])
    stage.body("B").attach_frame(frame, "x-", "")


def _at_a_site(e, stage, robot):
    stage.site("in").attach_body(robot.body("bb"), "x-", "")


def _edited_afterwards(e, stage, robot):
    body = stage.frame("F").attach_body(robot.body("b"), "x-", "")
    body.pos = [0, 0, 3]
    body.add_geom(size=[0.4, 0.4, 0.4], mass=3)
    stage.body("x-bb").add_site(name="new")


def _all_without_a_prefix(e, stage, robot):
    stage.attach(robot, frame="F")


def _all_in_mujocos_order_of_arguments(e, stage, robot):
    stage.attach(robot, None, "-y", stage.site("at"))


ATTACH = [_body, _all_at_a_frame, _all_at_a_site, _all_without_a_prefix, _all_in_mujocos_order_of_arguments]
ATTACH += [_frame, _at_a_site, _edited_afterwards]


@pytest.mark.parametrize("edit", ATTACH, ids=lambda f: f.__name__[1:])
def test_attaching(edit):
    agree(edit, STAGE, ROBOT)


@pytest.mark.parametrize(
    "compiler", ['eulerseq="ZYX"', 'autolimits="false"', 'angle="radian"', 'inertiafromgeom="auto"']
)
def test_attaching_keeps_the_meaning_of_other_compiler_settings(compiler):
    stage = STAGE.replace("<default>", f"<compiler {compiler}/><default>", 1)
    robot = ROBOT.replace('angle="radian"', 'angle="degree" inertiafromgeom="true"').replace(
        '<joint name="jj"', '<inertial pos="0 0 0" mass="5" diaginertia="1 1 1"/><joint name="jj"'
    )
    agree(_all_at_a_frame, stage, robot)


@pytest.mark.parametrize("units", [("degree", "radian"), ("radian", "degree")])
def test_ranges_that_are_not_in_force_have_no_unit(units):
    """Neither their own nor those of their classes; MuJoCo leaves them as written."""
    child = """<mujoco><compiler angle="UNIT"/>
      <default><default class="off"><joint range="0 9" limited="false" springref="3"/></default>
        <default class="on"><joint range="1 5"/></default></default>
      <worldbody><body name="b"><joint type="ball" range="0 20" limited="false"/><joint type="slide" range="-2 3"/>
          <geom size=".1"/></body>
        <body><joint class="off"/><joint class="off" limited="true" axis="1 0 0"/><geom size=".1"/></body>
        <body><joint class="on"/><joint class="on" limited="false" axis="1 0 0"/><geom size=".1"/></body></worldbody>
      </mujoco>"""
    stage = STAGE.replace("<default>", f'<compiler angle="{units[0]}"/><default>', 1)
    agree(_all_at_a_frame, stage, child.replace("UNIT", units[1]))


def test_attaching_keeps_the_rule_for_inertia():
    """The parent looks at geoms only, the child at its inertial elements too."""
    inertial = '<inertial pos="0 0 .1" mass="5" diaginertia="1 1 1"/>'
    stage = STAGE.replace("<default>", '<compiler inertiafromgeom="true"/><default>', 1)
    stage = stage.replace('<joint name="J"/>', inertial + '<joint name="J"/>')
    agree(_all_at_a_frame, stage, ROBOT.replace('<joint name="jj"', inertial + '<joint name="jj"'))


def test_attached_classes_take_back_what_the_parents_say():
    """The child's top class does not inherit the parent's, even where its file has the class in two pieces."""
    child = """<mujoco><default><geom size=".2"/><default class="a"><joint damping="2"/></default></default>
      <default><geom rgba="1 0 0 1" friction=".5"/><position kp="4"/>
        <default class="b"><geom size=".4"/></default></default>
      <worldbody><body name="b"><joint name="j" class="a"/><geom class="a"/><geom class="b"/><geom/></body></worldbody>
      <actuator><motor joint="j"/></actuator></mujoco>"""
    says = '<geom rgba="0 0 1 1" friction="1 .2 .3" material="M" solref=".1 1"/><motor gear="7"/>'
    stage = STAGE.replace('<geom rgba="0 0 1 1"/>', says)
    stage = stage.replace("<worldbody>", '<asset><material name="M"/></asset><worldbody>', 1)
    agree(_body, stage, child)


def test_a_model_that_itself_attaches_models_is_attached():
    inner = '<mujoco model="i"><compiler angle="radian"/><worldbody><body name="p"><joint name="q" range="0 1"/>'
    inner += '<geom size=".1" euler="1 0 0"/></body></worldbody></mujoco>'
    outer = '<mujoco><asset><model name="m" file="inner.xml"/></asset><worldbody><body name="b"><geom size=".2"/>'
    outer += '<attach model="m" body="p" prefix="in-"/></body></worldbody>'
    outer += '<actuator><motor joint="in-q"/></actuator></mujoco>'
    stage = tisim.Spec.from_string(STAGE)
    stage.frame("F").attach_body(tisim.Spec.from_string(outer, {"inner.xml": inner}).body("b"), "x-")
    theirs = mujoco.MjSpec.from_string(STAGE)
    flat = outer[: outer.index("<attach")] + inner[inner.index("<body") : inner.index("</worldbody>")] + "</body>"
    flat = flat.replace('<asset><model name="m" file="inner.xml"/></asset>', '<compiler angle="radian"/>')
    flat = flat.replace('"p"', '"in-p"').replace('"q"', '"in-q"') + outer[outer.index("</worldbody>") :]
    theirs.frame("F").attach_body(mujoco.MjSpec.from_string(flat).body("b"), "x-", "")
    assert differences(stage.compile(), theirs.compile()) == {}
    again = tisim.Model.from_xml_string(stage.to_xml(), stage.assets)
    assert differences(again, theirs.compile()) == {}


GUEST = """<mujoco><worldbody><body name="b"><joint ref="30"/><geom size=".1"/></body></worldbody>
<keyframe><key name="k" qpos="1"/></keyframe></mujoco>"""


def with_guest(stage):
    """A tisim.Spec and an MjSpec of a stage, to whose site s the body of GUEST is attached."""
    specs = [Spec.from_string(stage) for Spec in (tisim.Spec, mujoco.MjSpec)]
    for spec in specs:
        spec.site("s").attach_body(type(spec).from_string(GUEST).body("b"), "x-", "")
    return specs


def test_what_the_guests_keyframes_do_not_know_stands_as_in_the_reference_pose():
    stage = """<mujoco><worldbody><body name="f" pos="1 2 3" euler="90 0 0"><freejoint/><geom size=".1"/></body>
        <body name="h"><joint ref="20"/><geom size=".1"/></body><site name="s"/></worldbody></mujoco>"""
    ours, theirs = (spec.compile().key_qpos for spec in with_guest(stage))
    assert ours == pytest.approx(theirs, abs=1e-12) and ours[0, :3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("own", ["", '<keyframe><key name="p" qpos="1 2 3 1 0 0 0" time="2"/></keyframe>'])
def test_guests_with_keyframes_come_to_what_replicates_make(own):
    stage = f"""<mujoco><worldbody><replicate count="2" offset="1 0 0"><body><freejoint/><geom size=".1"/></body>
        </replicate><site name="s"/></worldbody>{own}</mujoco>"""
    specs = with_guest(stage)
    ours, theirs = (spec.compile() for spec in specs)
    assert ours.key_qpos == pytest.approx(theirs.key_qpos, abs=1e-12) and np.array_equal(ours.key_time, theirs.key_time)
    assert [ours.key(i).name for i in range(ours.nkey)] == [theirs.key(i).name for i in range(theirs.nkey)]
    with pytest.raises(tisim.UnsupportedError, match="keyframe.*replicate"):
        specs[0].to_xml()


def test_keyframes_that_are_added_know_what_replicates_make():
    spec = tisim.Spec.from_string("""<mujoco><worldbody><replicate count="2" offset="1 0 0"><body><joint type="slide"/>
        <geom size=".1"/></body></replicate></worldbody><keyframe><key name="p" qpos="1"/></keyframe></mujoco>""")
    before = spec.compile().key_qpos.tolist()
    spec.add_key(name="q", qpos=[3, 4])
    m = spec.compile()
    assert m.key_qpos.tolist() == [*before, [3, 4]] and m.key("q").qpos.tolist() == [3, 4]


def test_keyframes_of_what_stands_before_replicates_are_written():
    spec = tisim.Spec.from_string("""<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body>
        <replicate count="3" offset="1 0 0"><geom size=".1"/></replicate></worldbody>
        <actuator><motor joint="j"/></actuator></mujoco>""")
    spec.add_key(name="q", qpos=[3])
    for Model in (tisim.Model, mujoco.MjModel):
        assert 3 in Model.from_xml_string(spec.to_xml()).key_qpos
    spec.add_key(ctrl=[1])
    assert spec.compile().key_ctrl.tolist() == [[0], [1]]
    with pytest.raises(tisim.UnsupportedError, match="keyframe.*replicate"):
        spec.to_xml()


def test_attaching_leaves_the_other_specification_as_it_was():
    stage, robot = tisim.Spec.from_string(STAGE), tisim.Spec.from_string(ROBOT)
    before = robot.to_xml()
    for prefix in ("a-", "b-"):
        stage.attach(robot, prefix=prefix, frame="F")
    assert robot.to_xml() == before
    assert {"a-b", "b-b"} <= {body.name for body in stage.bodies}
    assert stage.compile().nkey == 3


def test_a_specification_is_attached_to_itself():
    spec = tisim.Spec.from_string(ROBOT)
    copy = spec.worldbody.add_frame(pos=[0, 0, 4]).attach_body(spec.body("bb"), "copy-")
    assert copy.name == "copy-bb" and copy.parent == spec.worldbody
    assert spec.compile().body("copy-bb").pos[2] == 4


def test_files_of_an_attached_model_are_found(tmp_path):
    (tmp_path / "art").mkdir()
    (tmp_path / "art" / "a.png").write_bytes(png(1, 1, b"\0abc"))
    asset = '<asset><texture name="t" type="2d" file="a.png"/><material name="m" texture="t"/></asset>'
    path = tmp_path / "child.xml"
    path.write_text(f'<mujoco><compiler texturedir="art"/>{asset}<worldbody><geom name="g" size="1" material="m"/>'
                    "</worldbody></mujoco>")  # fmt: skip
    stage = tisim.Spec.from_string(STAGE)
    stage.attach(tisim.Spec.from_file(path), prefix="x-", frame="F")
    m = stage.compile()
    assert m.ntex == 1 and m.geom("x-g").matid[0] == m.name2id("material", "x-m")
    stage.to_file(tmp_path / "art" / "saved.xml")
    assert bit_differences(compile_file(tmp_path / "art" / "saved.xml"), compile_scope(stage._scope(stage._root))) == []
