"""All errors of a model are told at once, each with its own place, what was expected and the nearest name."""

import pickle

import pytest

import tisim
from tisim.errors import MjcfError
from tisim.mjcf import compile_string

GRAMMAR = """<mujoco>
  <option timesteps="1" solver="newton"/>
  <worldbody>
    <goem size="1"/>
    <body>
      <geom size="a" pos="0 0"/>
      <inertial mass="1"/>
      <inertial pos="0 0 0" mass="1"/>
    </body>
    <joint type="hinge"/>
  </worldbody>
  <actuators/>
</mujoco>"""

# line, words that the message must hold; in the order of the file
GRAMMAR_ERRORS = [
    (2, "timesteps timestep"), (2, "solver newton Newton"), (4, "goem geom"), (6, "size numbers 'a'"),
    (6, "pos 3 2"), (7, "inertial needs pos"), (8, "inertial once"), (12, "actuators actuator"),
]  # fmt: skip

RULES = """<mujoco>
  <default><default class="a"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body><joint name="hip"/><geom name="leg" size=".1"/></body>
    <camera target="lg"/> <camera name="c" target="leg"/>
    <light target="none"/>
    <site name="s"/>
  </worldbody>
  <contact>
    <pair geom1="flor" geom2="legg"/>
    <exclude body1="q" body2="world"/>
  </contact>
  <equality><joint joint1="hop"/></equality>
  <tendon><fixed><joint joint="hup" coef="1"/></fixed></tendon>
</mujoco>"""
RULE_ERRORS = [(6, "'lg'"), (6, "'leg'"), (7, "'none'"), (11, "'flor' 'floor'"), (11, "'legg' 'leg'"), (12, "'q'"),
               (15, "'hup' 'hip'")]  # fmt: skip

SHAPES = """<mujoco>
  <size memory="many"/>
  <worldbody>
    <geom type="box" size="1"/>
    <geom type="box" size="1 1"/>
    <geom size=".1" condim="2"/>
    <body><joint axis="0 0 0"/><joint axis="0 0 0"/><geom size=".1" material="m"/></body>
    <site material="n"/>
  </worldbody>
</mujoco>"""


def errors(text):
    with pytest.raises(MjcfError) as info:
        compile_string(text)
    return info.value


def check(error, expected):
    assert [e.line for e in error.errors] == [line for line, _ in expected], str(error)
    for single, (_, words) in zip(error.errors, expected):
        assert all(word in single.message for word in words.split()), single
        assert single.errors == [single] and single.column > 0
        assert str(single) in str(error)
    assert (error.file, error.line) == (error.errors[0].file, error.errors[0].line)
    assert str(error).startswith(f"{len(expected)} errors:")


def test_every_error_of_grammar():
    check(errors(GRAMMAR), GRAMMAR_ERRORS)


def test_every_wrong_name_in_several_sections():
    check(errors(RULES), RULE_ERRORS)


def test_unknown_classes_wherever_they_are():
    text = RULES.replace("<site name", '<site class="b" name').replace("<geom name", '<geom class="c" name')
    check(errors(text), [(4, "'c'"), (5, "'c'"), (8, "'b'")])


def test_shapes_joints_and_sites_together():
    found = {e.line for e in errors(SHAPES.replace("many", "1M")).errors}
    assert found == {4, 5, 7, 8}
    assert [e.line for e in errors(SHAPES).errors] == [2]


def test_copies_of_one_element_count_once():
    text = '<mujoco><worldbody><replicate count="50"><geom type="box" size="1"/></replicate></worldbody></mujoco>'
    assert str(errors(text)).startswith("<string>:1:")


def test_included_files_report_their_own_names():
    text = '<mujoco><include file="part.xml"/><worldbody><goem/></worldbody></mujoco>'
    with pytest.raises(MjcfError) as info:
        compile_string(text, {"part.xml": "<x>\n<option timestpe='1'/>\n</x>"})
    assert [(e.file, e.line) for e in info.value.errors] == [("part.xml", 2), ("<string>", 1)]


def test_many_errors_are_counted():
    error = errors(f"<mujoco><worldbody>{'<goem/>' * 150}</worldbody></mujoco>")
    assert len(error.errors) == 150 and "150 errors:" in str(error)
    assert len(str(error).split("\n")) == 22 and str(error).endswith("... and 130 more")
    error = errors(f"<mujoco><worldbody>{'<goem/>' * 1000}</worldbody></mujoco>")
    assert len(error.errors) == 200 and "200 errors or more:" in str(error)


def test_a_single_error_reads_as_a_single_one():
    error = errors("<mujoco>\n <goem/></mujoco>")
    assert error.errors == [error] and str(error).startswith("<string>:2:2: 'mujoco' has no child element 'goem'")


def test_errors_survive_pickling():
    for text in (GRAMMAR, "<mujoco><goem/></mujoco>"):
        error = errors(text)
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and [str(e) for e in again.errors] == [str(e) for e in error.errors]


def test_a_feature_that_is_refused_waits_for_the_errors():
    flex = "<mujoco><deformable><flex/></deformable><worldbody>{}</worldbody></mujoco>"
    assert "goem" in str(errors(flex.format("<goem/>")))
    with pytest.raises(tisim.UnsupportedError):
        compile_string(flex.format(""))
