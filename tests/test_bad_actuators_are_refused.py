"""An actuator that MuJoCo refuses is refused with its place and what is wrong, and never by another exception."""

import pytest
from shared.compiled import refusal

from tisim import Model
from tisim.errors import MjcfError

WORLD = """<worldbody><site name="w"/><body><joint name="hinge" range="-30 60"/><joint name="free" type="slide"/>
<geom size="1"/><body><joint name="ball" type="ball"/><geom size="1"/><site name="t" pos="1 0 0"/></body></body>
</worldbody>
<tendon><fixed name="loose"><joint joint="hinge" coef="1"/></fixed></tendon>"""

# actuator -> words of the message
WRONG = {
    "<motor/>": "needs joint site",
    "<motor joint=''/>": "needs joint",
    "<motor joint='hing'/>": "joint 'hing' 'hinge'",
    "<motor tendon='tight'/>": "tendon 'tight'",
    "<motor site='x'/>": "site 'x'",
    "<motor site='t' refsite='x'/>": "site 'x'",
    "<adhesion body='x' ctrlrange='0 1'/>": "body 'x'",
    "<motor joint='hinge' site='t'/>": "one 'joint' 'site'",
    "<motor joint='hinge' cranklength='1'/>": "'cranklength' 'cranksite'",
    "<motor site='t' slidersite='w'/>": "'slidersite' 'cranksite'",
    "<motor joint='hinge' refsite='w'/>": "'refsite' 'site'",
    "<motor cranksite='t' cranklength='1'/>": "'slidersite'",
    "<motor cranksite='t' slidersite='w'/>": "'cranklength' positive",
    "<motor cranksite='t' slidersite='x' cranklength='1'/>": "site 'x'",
    "<motor joint='hinge' class='x'/>": "class 'x'",
    "<motor joint='hinge' ctrllimited='true'/>": "ctrlrange[0] smaller",
    "<motor joint='hinge' ctrllimited='true' ctrlrange='1 0'/>": "ctrlrange[0] smaller",
    "<motor joint='hinge' forcelimited='true' forcerange='1 1'/>": "forcerange[0] smaller",
    "<general joint='hinge' actrange='0 1'/>": "'actrange' 'dyntype'",
    "<general joint='hinge' dyntype='filter' actlimited='true'/>": "actrange[0] smaller",
    "<general joint='hinge' dyntype='filter' actdim='2'/>": "'actdim' 'user'",
    "<general joint='hinge' actdim='1'/>": "'actdim' 0",
    "<general joint='hinge' dyntype='integrator' actdim='0'/>": "'actdim' 0",
    "<general joint='hinge' dyntype='user' actdim='2000000000'/>": "activations",
    "<position joint='hinge' kv='1' dampratio='1'/>": "'kv' 'dampratio'",
    "<position joint='hinge' kv='-1'/>": "'kv' negative",
    "<position joint='hinge' dampratio='-1'/>": "'dampratio' negative",
    "<position joint='hinge' timeconst='-1'/>": "'timeconst' negative",
    "<position joint='hinge' inheritrange='1' ctrlrange='0 1'/>": "'ctrlrange' 'inheritrange'",
    "<position joint='free' inheritrange='1'/>": "'inheritrange' no range",
    "<position joint='ball' inheritrange='1'/>": "'inheritrange' hinge slide",
    "<position site='t' inheritrange='1'/>": "'inheritrange' joint tendon",
    "<position tendon='loose' inheritrange='1'/>": "'inheritrange' no range",
    "<intvelocity joint='hinge'/>": "actrange[0] smaller",
    "<intvelocity joint='hinge' inheritrange='1' actrange='0 1'/>": "'actrange' 'inheritrange'",
    "<damper joint='hinge'/>": "ctrlrange[0] smaller",
    "<damper joint='hinge' kv='-1' ctrlrange='0 1'/>": "'kv' negative",
    "<damper joint='hinge' ctrlrange='-1 1'/>": "'ctrlrange' negative",
    "<adhesion body='world'/>": "ctrlrange[0] smaller",
    "<adhesion body='world' ctrlrange='-1 1'/>": "'ctrlrange' negative",
    "<adhesion body='world' gain='-1' ctrlrange='0 1'/>": "'gain' negative",
    "<muscle joint='hinge' tausmooth='-1'/>": "'tausmooth' negative",
    "<muscle joint='hinge' range='1 0.5'/>": "range[0] muscle",
    "<muscle joint='hinge' lmin='1'/>": "lmin 1 lmax",
    "<muscle joint='hinge' vmax='0'/>": "vmax positive",
    "<general joint='hinge' gaintype='muscle'/>": "range[0] muscle",
    "<muscle joint='free'/>": "does not converge",
    "<muscle tendon='loose' class='long'/>": "class 'long'",
    "<general cranksite='w' slidersite='w' cranklength='1' gaintype='muscle' gainprm='.7 1 1 1 .5 2 1 1 1'/>": "empty",
    "<motor name='a' joint='hinge'/>\n<motor name='a' joint='hinge'/>": "name 'a' actuator",
}


@pytest.mark.parametrize("text", WRONG)
def test_the_actuator_and_the_reason_are_named(text):
    text, words = f"<mujoco>{WORLD}<actuator>\n{text}</actuator></mujoco>", WRONG[text]
    line, lines = refusal(text, words.split()).line, text.split("\n")
    assert lines[line - 1].startswith("<") and line >= len(lines) - text.count("name='a'") // 2


def test_a_range_needs_its_flag_without_autolimits():
    world = WORLD.replace("range=", "limited='true' range=")
    for name in ("ctrl", "force"):
        motor = f"<actuator>\n<motor joint='hinge' {name}range='0 1'/></actuator>"
        with pytest.raises(MjcfError, match=f"'{name}limited' must be given"):
            Model.from_xml_string(f"<mujoco><compiler autolimits='false'/>{world}{motor}</mujoco>")


def test_a_default_class_is_checked_where_it_stands():
    text = f"<mujoco>{WORLD}<default>\n<damper ctrlrange='-1 1'/></default></mujoco>"
    with pytest.raises(MjcfError) as info:
        Model.from_xml_string(text)
    assert info.value.line == len(text.split("\n"))


def test_a_negative_stiffness_has_no_damping_ratio():
    """MuJoCo computes nan."""
    text = f"<mujoco>{WORLD}<actuator>\n<position joint='hinge' kp='-1' dampratio='1'/></actuator></mujoco>"
    with pytest.raises(MjcfError, match="'dampratio' needs a 'kp'"):
        Model.from_xml_string(text)


@pytest.mark.parametrize("attribute", ["timestep='1e-9'", "inttotal='1e9'", "timestep='-1'"])
def test_a_length_range_takes_bounded_time(attribute):
    option = "<option timestep='0'/>" if "-1" in attribute else ""
    head = f"{option}<compiler><lengthrange {attribute}/></compiler>"
    text = f"<mujoco>{head}{WORLD}<actuator><muscle joint='hinge'/></actuator></mujoco>"
    with pytest.raises(MjcfError, match="steps"):
        Model.from_xml_string(text)


def test_a_length_range_of_a_huge_mechanism_is_refused():
    chain = "<body pos='1 0 0'><joint axis='0 0 1' range='0 9'/><geom size='.1'/>" * 301
    chain = chain.replace("<joint", "<joint name='j'", 1) + "</body>" * 301
    text = f"<mujoco><worldbody>{chain}</worldbody><actuator>\n<muscle joint='j'/></actuator></mujoco>"
    with pytest.raises(MjcfError, match="301 degrees of freedom"):
        Model.from_xml_string(text)


def test_an_unstable_length_range_is_refused():
    """Two sites that cannot meet, held together across joints at their limits; MuJoCo 3.4.0 loops for ever."""
    text = """<mujoco><worldbody>
      <body pos="0 0 1"><joint name="j" axis="0 1 0" range="-30 60"/><geom size=".05" pos=".2 0 0"/>
        <site name="s1" pos=".2 .05 0"/>
        <body pos=".4 0 0"><joint axis="0 1 0" range="-80 80"/><geom size=".05" pos=".2 0 0"/>
          <joint type="slide" axis="1 0 0" range="-.1 .1"/></body></body>
      <body pos=".8 0 1"><joint axis="0 1 0" range="-40 50"/><geom size=".05" pos="-.2 0 .1"/>
        <body pos="0 0 .1"><joint type="ball" range="0 50"/><geom size=".05" pos="0 0 .2"/>
          <site name="s2" pos="0 0 .2" euler="10 20 30"/></body></body></worldbody>
      <equality><connect site1="s1" site2="s2"/></equality>
      <actuator><muscle joint="j"/></actuator></mujoco>"""
    with pytest.raises(MjcfError, match="unstable|converge|empty"):
        Model.from_xml_string(text)


def test_length_ranges_of_very_many_mechanisms_are_refused():
    arm = "<body><joint name='j' range='0 9'/><geom size='.1'/></body>"
    arms = f"<replicate count='5000' offset='1 0 0'>{arm}</replicate>"
    muscles = "".join(f"<muscle joint='j{i:04d}'/>" for i in range(5000))
    with pytest.raises(MjcfError, match="too long"):
        Model.from_xml_string(f"<mujoco><worldbody>{arms}</worldbody><actuator>{muscles}</actuator></mujoco>")
