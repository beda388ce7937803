"""Every wrong file raises MjcfError with file, line and column, and never another exception.

A known feature outside the scope raises UnsupportedError that names it.
"""

import pathlib
import random
import re

import pytest

from tisim import Model
from tisim.errors import Error, MjcfError, UnsupportedError

FOLDER = pathlib.Path(__file__).parent / "testdata" / "compile"

# text, line, column, words that the message must hold. The place is the `<` of the element, or expat's for broken XML.
WRONG = {
    "unknown element": ("<mujoco>\n<worldbody>\n  <goem size='1'/>\n</worldbody></mujoco>", 3, 3, "goem geom"),
    "unknown attribute": ("<mujoco><worldbody>\n<geom sise='1'/></worldbody></mujoco>", 2, 1, "sise size"),
    "unknown option": ("<mujoco>\n<option timesteps='.1'/></mujoco>", 2, 1, "timesteps timestep"),
    "unknown keyword": ("<mujoco>\n\n <option solver='newton'/></mujoco>", 3, 2, "solver newton Newton"),
    "not a number": ("<mujoco><worldbody>\n\n    <geom size='a'/></worldbody></mujoco>", 3, 5, "size numbers 'a'"),
    "nan": ("<mujoco><worldbody>\n<geom size='1' pos='0 nan 0'/></worldbody></mujoco>", 2, 1, "pos finite"),
    "infinite": ("<mujoco><worldbody>\n<geom size='1' pos='0 1e999 0'/></worldbody></mujoco>", 2, 1, "pos finite"),
    "too few numbers": ("<mujoco><worldbody>\n<geom size='1' pos='0 0'/></worldbody></mujoco>", 2, 1, "pos 3 2"),
    "too many numbers": ("<mujoco><worldbody>\n<geom size='1 2 3 4'/></worldbody></mujoco>", 2, 1, "size 3 4"),
    "missing attribute": ("<mujoco><worldbody><body>\n<inertial mass='1'/></body></worldbody></mujoco>", 2, 1,
    "inertial pos"),
    "unknown class": ("<mujoco><worldbody>\n<geom class='a' size='1'/></worldbody></mujoco>", 2, 1, "class 'a'"),
    "unknown child class": ("<mujoco><worldbody>\n<body childclass='a'/></worldbody></mujoco>", 2, 1, "class 'a'"),
    "repeated class": (
        "<mujoco><default>\n<default class='a'/>\n<default class='a'/></default></mujoco>", 3, 1, "class 'a' already"),
    "repeated name": (
        "<mujoco><worldbody>\n<geom name='g' size='1'/>\n <geom name='g' size='1'/></worldbody></mujoco>", 3, 2,
        "'g' geom"),
    "no size": ("<mujoco><worldbody>\n<geom type='box' size='1'/></worldbody></mujoco>", 2, 1, "box size"),
    "plane in a moving body": (
        "<mujoco><worldbody><body><freejoint/>\n<geom type='plane' size='1 1 1'/></body></worldbody></mujoco>",
        2, 1, "plane static"),
    "free joint below the top": (
        "<mujoco><worldbody><body>\n<body>\n<freejoint/><geom size='1'/></body></body></worldbody></mujoco>", 3, 1,
        "free top"),
    "no mass": ("<mujoco><worldbody>\n<body><freejoint/></body></worldbody></mujoco>", 2, 1, "mass inertia mjMINVAL"),
    "world joint": ("<mujoco><worldbody>\n<joint/></worldbody></mujoco>", 2, 1, "world joints"),
    "two orientations": (
        "<mujoco><worldbody>\n<geom size='1' euler='0 0 0' quat='1 0 0 0'/></worldbody></mujoco>", 2, 1, "orientation"),
    "unknown geom in a pair": (
        "<mujoco><worldbody><geom name='floor' size='1'/></worldbody>"
        "<contact>\n<pair geom1='flor' geom2='floor'/></contact></mujoco>",
        2, 1, "'flor' 'floor'"),
    "unknown body in an exclude": ("<mujoco><contact>\n<exclude body1='a' body2='world'/></contact></mujoco>", 2, 1,
    "'a'"),
    "long key": ("<mujoco><keyframe>\n<key qpos='1'/></keyframe></mujoco>", 2, 1, "qpos"),
    "broken xml": ("<mujoco>\n<worldbody>\n</mujoco>", 3, 3, "mismatched"),
    "cut off": ("<mujoco>\n<worldbody>", 2, 12, "XML"),
    "empty": ("", 1, 1, "XML"),
    "blanks": ("\n ", 2, 2, "there is no text"),
    "name of a file": ("scenes/a.xml", 1, 7, "this is the name of a file; from_xml_path"),
    "archive": ("PK\x03\x04\0a.xml", 1, 3, "this is an archive; unpack it"),
    "zeros": ("\0\0", 1, None, "these bytes are no text"),
    "not fetched": ("version https://git-lfs.github.com/spec/v1\noid", 1, 1, "`git lfs pull`"),
    "wrong root": ("<model/>", 1, 1, "mujoco model"),
    "doctype": ("<?xml version='1.0'?>\n<!DOCTYPE mujoco [<!ENTITY a 'b'>]>\n<mujoco/>", 2, None, "DOCTYPE"),
    "undefined entity": ("<mujoco>\n<size memory='&a;'/></mujoco>", 2, None, "entity"),
    "missing include": ("<mujoco>\n <include file='nowhere.xml'/></mujoco>", 2, 2, "nowhere.xml"),
    "huge replicate": (
        "<mujoco><worldbody>\n<replicate count='2000000000'><geom size='1'/></replicate></worldbody></mujoco>", 2,
        None, "elements"),
    "huge nested replicate": (
        "<mujoco><worldbody>" + "\n<replicate count='99999'>" * 5 + "</replicate>" * 5 + "</worldbody></mujoco>",
        None, None, "elements"),
    "deep nesting": ("<mujoco><worldbody>" + "<body>" * 3000 + "</body>" * 3000 + "</worldbody></mujoco>", 1, None,
    "nested"),
    "long line": ("<mujoco>" + " " * 5000 + "<worldbody><x/></worldbody></mujoco>", 1, 5020, "'x'"),
    "late line": ("<mujoco>" + "\n" * 70000 + "<worldbody>\n<x/></worldbody></mujoco>", 70002, 1, "'x'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_the_place_and_the_reason(name):
    text, line, column, words = WRONG[name]
    with pytest.raises(MjcfError) as info:
        Model.from_xml_string(text)
    error = info.value
    assert error.file == "<string>"
    assert line is None or error.line == line
    assert column is None or error.column == column
    for word in words.split():
        assert word in str(error)
    assert str(error).startswith(f"<string>:{error.line}:{error.column}: ")


REFUSED = {
    "body": ("<mujoco>\n<body><geom size='.1'/></body></mujoco>", 2, "body"),
    "composite": ("<mujoco><worldbody>\n<body><composite type='cable'/></body></worldbody></mujoco>", 2, "composite"),
    "flex": ("<mujoco><deformable>\n\n<flex name='a'/></deformable></mujoco>", 3, "flex"),
    "plugin": ("<mujoco><extension>\n<plugin plugin='a'><instance name='b'/></plugin></extension></mujoco>", 2,
    "plugin"),
    "flexcomp": ("<mujoco><worldbody>\n<flexcomp name='a'><edge damping='1'/></flexcomp></worldbody></mujoco>", 2,
    "flexcomp"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_feature_outside_the_scope_is_named(name):
    text, line, feature = REFUSED[name]
    with pytest.raises(UnsupportedError) as info:
        Model.from_xml_string(text)
    assert (info.value.line, info.value.feature) == (line, feature)
    assert f"'{feature}'" in str(info.value)


def test_the_rest_of_the_file_is_checked_before_a_refusal():
    text = "<mujoco><deformable><flex name='a'/></deformable>\n<worldbody>\n<geom sise='1'/></worldbody></mujoco>"
    with pytest.raises(MjcfError) as info:
        Model.from_xml_string(text)
    assert info.value.line == 3


def test_the_first_refusal_of_a_file_is_reported():
    text = "<mujoco>\n<extension><plugin plugin='s'/></extension>\n<deformable>\n<flex name='a'/></deformable></mujoco>"
    with pytest.raises(UnsupportedError) as info:
        Model.from_xml_string(text)
    assert (info.value.feature, info.value.line) == ("plugin", 2)


def test_an_error_in_an_included_file_names_that_file(tmp_path):
    (tmp_path / "main.xml").write_text("<mujoco>\n<worldbody>\n<include file='part.xml'/></worldbody></mujoco>")
    (tmp_path / "part.xml").write_text("<mujoco>\n\n<geom/>\n</mujoco>")
    with pytest.raises(MjcfError) as info:
        Model.from_xml_path(tmp_path / "main.xml")
    assert info.value.file == str(tmp_path / "part.xml")
    assert (info.value.line, info.value.column) == (3, 1)


def test_a_file_cannot_include_itself(tmp_path):
    (tmp_path / "a.xml").write_text("<mujoco><include file='b.xml'/></mujoco>")
    (tmp_path / "b.xml").write_text("<mujoco>\n<include file='a.xml'/></mujoco>")
    with pytest.raises(MjcfError, match="already included"):
        Model.from_xml_path(tmp_path / "a.xml")


def test_a_missing_file_is_an_mjcf_error(tmp_path):
    with pytest.raises(MjcfError, match="none.xml"):
        Model.from_xml_path(tmp_path / "none.xml")


def test_an_external_entity_is_never_opened(tmp_path):
    (tmp_path / "secret").write_text("7")
    text = f"<!DOCTYPE m [<!ENTITY x SYSTEM 'file://{tmp_path}/secret'>]>\n<mujoco><size nkey='&x;'/></mujoco>"
    with pytest.raises(MjcfError, match="DOCTYPE"):
        Model.from_xml_string(text)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00", b"<mujoco\x00/>", "<mujoco>\ud800</mujoco>", b"<?xml encoding='q'?><a/>"]
)
def test_bytes_that_are_not_text(data, tmp_path):
    with pytest.raises(MjcfError):
        if isinstance(data, str):
            Model.from_xml_string(data)
        else:
            (tmp_path / "a.xml").write_bytes(data)
            Model.from_xml_path(tmp_path / "a.xml")


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_raise_nothing_else(seed):
    """Random damage to good files: a model or one of tisim's own errors, nothing else."""
    rng = random.Random(seed)
    texts = [p.read_text() for p in sorted(FOLDER.glob("*.xml"))]
    numbers = [
        "nan",
        "inf",
        "1e308",
        "-1",
        "0",
        "1e-320",
        "2147483648",
        "",
        "x",
        "1 2 3 4 5 6 7 8",
        "0 0 0",
        "0x10",
        "١",
    ]
    for _ in range(150):
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 3)):
            values, words = list(re.finditer(r'"([^"]*)"', text)), list(re.finditer(r"[a-z]+", text))
            kind = rng.random()
            if kind < 0.6 and values:
                place, new = rng.choice(values), rng.choice(numbers)
                text = text[: place.start() + 1] + new + text[place.end() - 1 :]
            elif kind < 0.8 and words:
                place, other = rng.choice(words), rng.choice(words)
                text = text[: place.start()] + other.group() + text[place.end() :]
            else:
                i = rng.randrange(len(text))
                text = text[:i] + rng.choice(["", "<", "&", '"', "</body>", "\x00", "é"]) + text[i + 1 :]
        try:
            Model.from_xml_string(text)
        except Error:
            pass
