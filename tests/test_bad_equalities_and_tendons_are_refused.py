"""What MuJoCo's rules forbid in equalities and tendons gives MjcfError with its place and the reason."""

import pytest
from shared.compiled import refusal

from tisim import Model
from tisim.errors import MjcfError, UnsupportedError

WORLD = """<worldbody>
  <site name="w"/>
  <geom name="ball" size=".1"/>
  <geom name="box" type="box" size=".1 .1 .1"/>
  <body name="A" pos="1 0 0">
    <joint name="h"/><joint name="s" type="slide"/><geom size=".1" pos=".1 0 0"/><site name="sa"/>
  </body>
  <body name="B" pos="2 0 0"><joint name="b" type="ball"/><geom size=".1"/><site name="sb"/></body>
  <body name="C" pos="3 0 0"><freejoint name="f"/><geom size=".1"/></body>
</worldbody>
<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon>
"""

EQUALITIES = {
    '<connect body1="A"/>': "needs body1 and anchor",
    '<connect body1="A" anchor=""/>': "needs body1 and anchor",
    '<connect body2="A" anchor="0 0 0"/>': "needs body1 and anchor",
    '<connect anchor="0 0 0"/>': "needs body1 and anchor",
    '<connect site1="sa"/>': "both site1 and site2",
    '<connect site2="sa"/>': "both site1 and site2",
    '<connect site1="sa" body2="B"/>': "not both",
    '<connect site1="sa" site2="sb" anchor="0 0 0"/>': "not both",
    '<connect site1="" site2="sb"/>': "site '' is not defined",
    '<connect body1="A" body2="A" anchor="0 0 0"/>': "two different",
    '<connect body1="world" anchor="0 0 0"/>': "two different",
    '<connect site1="sa" site2="sa"/>': "two different",
    '<connect body1="AA" anchor="0 0 0"/>': "body 'AA' is not defined",
    '<connect body1="A" body2="BB" anchor="0 0 0"/>': "body 'BB' is not defined",
    '<connect body1="A" anchor="0 0"/>': "3 numbers",
    '<connect class="none" body1="A" anchor="0 0 0"/>': "class 'none'",
    '<weld body2="A"/>': "needs body1",
    "<weld/>": "needs body1",
    '<weld site1="sa" site2="sb" relpose="0 0 0 1 0 0 0"/>': "not both",
    '<weld body1="A" torquescale="1 2"/>': "one number",
    '<weld body1="A" relpose="0 0 0"/>': "7 numbers",
    '<joint joint2="h"/>': "joint1",
    '<joint joint1=""/>': "joint '' is not defined",
    '<joint joint1="h" joint2="h"/>': "two different",
    '<joint joint1="b"/>': "hinge and slide",
    '<joint joint1="h" joint2="f"/>': "hinge and slide",
    '<joint joint1="h" joint2="g"/>': "joint 'g' is not defined",
    '<joint joint1="h" polycoef="1 2 3 4 5 6"/>': "1 to 5 numbers",
    '<joint joint1="h" active="yes"/>': "false, true",
    '<joint name="x" joint1="h"/><joint name="x" joint1="s"/>': "already used by another equality",
    '<tendon tendon1="u"/>': "tendon 'u' is not defined",
    '<tendon tendon1="t" tendon2="t"/>': "two different",
    "<distance/>": "no child element 'distance'",
}

SITES, JOINT = '<site site="w"/><site site="sa"/>', '<joint joint="h" coef="1"/>'
TENDONS = {
    "<fixed/>": "empty path",
    "<spatial/>": "empty path",
    '<spatial><site site="w"/></spatial>': "at least two",
    '<spatial><site site="w"/><site site="w"/></spatial>': "follow itself",
    f'<spatial>{SITES}<pulley divisor="2"/></spatial>': "end with a pulley",
    f'<spatial>{SITES}<pulley divisor="2"/><site site="w"/></spatial>': "neighbour",
    f'<spatial><site site="w"/><pulley divisor="2"/>{SITES}</spatial>': "neighbour",
    f'<spatial>{SITES}<pulley divisor="2"/><pulley divisor="2"/>{SITES}</spatial>': "follow a pulley",
    f'<spatial>{SITES}<pulley divisor="-1"/>{SITES}</spatial>': "must be positive",
    f"<spatial>{SITES}<pulley/>{SITES}</spatial>": "'divisor'",
    '<spatial><geom geom="ball"/><site site="w"/></spatial>': "between two sites",
    '<spatial><site site="w"/><geom geom="ball"/></spatial>': "between two sites",
    '<spatial><site site="w"/><geom geom="ball"/><geom geom="ball"/><site site="sa"/></spatial>': "between two sites",
    '<spatial><site site="w"/><geom geom="ball"/><pulley divisor="2"/><site site="sa"/></spatial>': "between two sites",
    '<spatial><site site="w"/><geom geom="box"/><site site="sa"/></spatial>': "neither a sphere nor a cylinder",
    '<spatial armature="1"><site site="w"/><geom geom="ball"/><site site="sa"/></spatial>': "cannot wrap",
    '<spatial><site site="w"/><geom geom="bal"/><site site="sa"/></spatial>': "is not defined (did you mean 'ball'?)",
    '<spatial><site site="w"/><geom geom="ball" sidesite="x"/><site site="sa"/></spatial>': "site 'x' is not defined",
    '<spatial><site site="w"/><site site="x"/></spatial>': "site 'x' is not defined",
    '<spatial><site/><site site="w"/></spatial>': "'site'",
    '<spatial><site site="w"/><joint joint="h" coef="1"/></spatial>': "no child element 'joint'",
    f'<spatial width="0">{SITES}</spatial>': "'width' must be positive",
    f'<spatial armature="-1">{SITES}</spatial>': "'armature' cannot be negative",
    f'<spatial material="x">{SITES}</spatial>': "material 'x' is not defined",
    '<fixed><joint joint="h"/></fixed>': "'coef'",
    '<fixed><joint coef="1"/></fixed>': "'joint'",
    '<fixed><joint joint="x" coef="1"/></fixed>': "joint 'x' is not defined",
    '<fixed><site site="w"/></fixed>': "no child element 'site'",
    f'<fixed width="1">{JOINT}</fixed>': "no attribute 'width'",
    f'<fixed limited="true">{JOINT}</fixed>': "range[0]",
    f'<fixed limited="true" range="1 0">{JOINT}</fixed>': "range[0]",
    f'<fixed actuatorfrclimited="true">{JOINT}</fixed>': "actuatorfrcrange[0]",
    f'<fixed actuatorfrclimited="true" actuatorfrcrange="1 2">{JOINT}</fixed>': "0 between them",
    f'<fixed springlength=".2 .1">{JOINT}</fixed>': "springlength[0]",
    f'<fixed springlength="1 2 3">{JOINT}</fixed>': "1 to 2 numbers",
    f'<fixed class="none">{JOINT}</fixed>': "class 'none'",
    f'<fixed name="t">{JOINT}</fixed>': "already used by another tendon",
}


def check(text, reason):
    error = refusal(text, [reason])
    assert error.line == text.count("\n") and error.column > 0


@pytest.mark.parametrize("element", EQUALITIES)
def test_equality(element):
    check(f"<mujoco>{WORLD}<equality>{element}</equality>\n</mujoco>", EQUALITIES[element])


@pytest.mark.parametrize("element", TENDONS)
def test_tendon(element):
    check(f"<mujoco>{WORLD}<tendon>{element}</tendon>\n</mujoco>", TENDONS[element])


@pytest.mark.parametrize("attribute", ["range", "actuatorfrcrange"])
def test_a_range_without_autolimits_needs_its_flag(attribute):
    flag = {"range": "limited", "actuatorfrcrange": "actuatorfrclimited"}[attribute]
    tendon = f'<tendon><fixed {attribute}="-1 1" {flag}="auto">{JOINT}</fixed></tendon>'
    check(f'<mujoco><compiler autolimits="false"/>{WORLD}{tendon}\n</mujoco>', f"'{flag}' must be given")


def test_a_pulley_that_divides_by_zero():
    """MuJoCo loads it and has infinite lengths and inverse weights that are not numbers."""
    text = f'<mujoco>{WORLD}<tendon><spatial>{SITES}<pulley divisor="0"/>{SITES}</spatial></tendon></mujoco>'
    with pytest.raises(MjcfError, match="'divisor' of a pulley must be positive"):
        Model.from_xml_string(text)


@pytest.mark.parametrize("kind", ["hinge", "slide", "ball"])
def test_friction_loss_below_0(kind):
    """MuJoCo 3.4.0 makes rows of it that push, or that end elsewhere with each solver, and none of tendons."""
    joint = f'<joint type="{kind}" frictionloss="-1"/>'
    text = f"<mujoco><worldbody><body>\n{joint}<geom size='.1'/></body></worldbody></mujoco>"
    with pytest.raises(MjcfError, match="'frictionloss' cannot be negative"):
        Model.from_xml_string(text)


def test_friction_loss_below_0_of_tendons():
    text = f'<mujoco>{WORLD}<tendon>\n<spatial frictionloss="-1">{SITES}</spatial></tendon></mujoco>'
    with pytest.raises(MjcfError, match="'frictionloss' cannot be negative"):
        Model.from_xml_string(text)


def test_numbers_too_large():
    text = f'<mujoco>{WORLD}<tendon><fixed><joint joint="h" coef="1e200"/></fixed></tendon></mujoco>'
    with pytest.raises(MjcfError, match="too large"):
        Model.from_xml_string(text)


def test_equalities_of_flexes_are_refused_by_name():
    with pytest.raises(UnsupportedError, match="flex"):
        Model.from_xml_string(f'<mujoco>{WORLD}<equality><flex flex="x"/></equality></mujoco>')
