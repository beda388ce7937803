"""A mistake in a tisim.Spec is told where it is made, or by compile() with its line, and changes nothing."""

import pathlib

import numpy as np
import pytest
from shared.specs import ROBOT, STAGE

import tisim

WRONG = {
    "name of an attribute": (lambda s: s.worldbody.add_geom(sise=1), "sise.*'size'"),
    "read attribute": (lambda s: s.geom("g").fricton, "fricton.*'friction'"),
    "set attribute": (lambda s: setattr(s.option, "timestap", 1), "timestap.*'timestep'"),
    "too many numbers": (lambda s: s.worldbody.add_geom(size=[1, 2, 3, 4]), "1 to 3 numbers, found 4"),
    "too few numbers": (lambda s: s.worldbody.add_geom(pos=[1, 2]), "3 numbers, found 2"),
    "not finite": (lambda s: s.worldbody.add_geom(pos=[1, 2, np.nan]), "finite"),
    "no number": (lambda s: s.worldbody.add_geom(pos=object()), "expected numbers"),
    "not an integer": (lambda s: s.worldbody.add_geom(contype=1.5), "integer"),
    "keyword": (lambda s: s.worldbody.add_geom(type="bxo"), "box"),
    "enum": (lambda s: s.worldbody.add_geom(type=77), "one of plane"),
    "name": (lambda s: s.worldbody.add_geom(name=3), "expected a text"),
    "character": (lambda s: s.worldbody.add_geom(name="a\x00"), "cannot stand in XML"),
    "rotation": (lambda s: s.worldbody.add_geom(quat=[0, 0, 0, 0]), "quaternion of zeros"),
    "body": (lambda s: s.body("bbb"), "'bbb'.*'bb'"),
    "sensor": (lambda s: s.add_sensor(type="framepoz"), "framepoz.*framepos"),
    "class": (lambda s: s.find_default("cc"), "'cc'.*'c'"),
    "class of a new element": (lambda s: s.worldbody.add_geom("cc"), "'cc'"),
    "deleted": (lambda s: (g := s.geom("g"), s.delete(g), s.delete(g)), "cannot be deleted"),
    "world": (lambda s: s.delete(s.worldbody), "cannot be deleted"),
    "flex": (lambda s: s.add_equality(type="flex"), "not supported"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_mistakes_are_errors_and_change_nothing(what):
    spec = tisim.Spec.from_string(ROBOT)
    before, (call, message) = spec.to_xml(), WRONG[what]
    with pytest.raises(tisim.Error, match=message):
        call(spec)
    assert what == "deleted" or spec.to_xml() == before


def test_attaching_what_cannot_be_said_is_refused():
    stage, robot = tisim.Spec.from_string(STAGE), tisim.Spec.from_string(ROBOT)
    robot.compiler.boundmass = 1
    with pytest.raises(tisim.Error, match="boundmass"):
        stage.attach(robot, prefix="x", frame="F")
    with pytest.raises(tisim.Error, match="one of frame and site"):
        stage.attach(robot)


def test_what_still_refers_to_a_deleted_element_is_told():
    spec = tisim.Spec.from_string(ROBOT)
    spec.delete(spec.joint("j"))
    with pytest.raises(tisim.MjcfError, match="joint 'j' is not defined"):
        spec.compile()


def test_compiling_tells_the_lines_of_the_code():
    spec = tisim.Spec()
    spec.worldbody.add_geom(material="nothing", size=[1, 0, 0])
    spec.add_exclude(bodyname1="a", bodyname2="b")
    with pytest.raises(tisim.MjcfError) as info:
        spec.compile()
    lines = [e.line for e in info.value.errors]
    assert info.value.file == __file__ and pathlib.Path(__file__).read_text().split("\n")[
        lines[0] - 1
    ].strip().startswith("spec.worldbody.add_geom")
