"""A skin that MuJoCo accepts compiles to its numbers; one that it refuses is refused with its place.

Two things are refused that MuJoCo lets pass: a face that names a vertex which does not exist, and numbers that are not
finite.
"""

import struct

import mujoco
import numpy as np
import pytest
from shared.compiled import differences, their_model

import tisim

MESH = 'vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"'
BODY = '<body name="b"><geom size=".1"/></body>'


def bone(body="b", ids="0 1 2", weights="1 1 1", quat="1 0 0 0"):
    return f'<bone body="{body}" bindpos="0 0 0" bindquat="{quat}" vertid="{ids}" vertweight="{weights}"/>'


def skin(own=MESH, bones=None, name="s"):
    return f'<skin name="{name}" {own}>{bone() if bones is None else bones}</skin>'


def model(asset, before="", world=BODY):
    return f"<mujoco>{before}<asset>\n{asset}</asset><worldbody>{world}</worldbody></mujoco>"


def skn(bones=("b",), ntexcoord=0, ids=(0, 1, 2), sizes=None):
    """Bytes of an SKN file of one triangle."""
    out = [struct.pack("<4i", *(sizes or (3, ntexcoord, 1, len(bones))))]
    out += [np.eye(3, dtype="<f4").tobytes(), np.zeros((ntexcoord, 2), "<f4").tobytes(), struct.pack("<3i", 0, 1, 2)]
    for name in bones:
        pose = np.array([0.1, 0.2, 0.3, 1, 2, 3, 4], "<f4").tobytes()
        weights = np.arange(1, len(ids) + 1, dtype="<f4").tobytes()
        number = struct.pack("<i", len(ids))
        out += [name.encode().ljust(40, b"\0"), pose, number, np.array(ids, "<i4").tobytes(), weights]
    return b"".join(out)


INLINE = {
    "a whole skin": skin(),
    "two without a name": skin(name="") * 2,
    "names used twice": skin() * 2,
    "vertices": skin('vertex="0 0 0 1 0 0 0 1" face="0 1 2"'),
    "faces": skin('vertex="0 0 0 1 0 0 0 1 0" face="0 1"'),
    "faces of fractions": skin('vertex="0 0 0 1 0 0 0 1 0" face="0 1 1.5"'),
    "no faces": skin('vertex="0 0 0 1 0 0 0 1 0"'),
    "texcoord": skin(MESH + ' texcoord="0 0 1 1 0 1"'),
    "few texcoords": skin(MESH + ' texcoord="0 0 1 1"'),
    "group 5": skin(MESH + ' group="5"'),
    "group 6": skin(MESH + ' group="6"'),
    "group -1": skin(MESH + ' group="-1"'),
    "material": skin(MESH + ' material="none"'),
    "rgba": skin(MESH + ' rgba="1 1 1"'),
    "huge": skin('vertex="1e39 0 0 1 0 0 0 1 0" face="0 1 2"'),
    "data and file": skin(MESH + ' file="s.skn"'),
    "bones and file": skin('file="s.skn"'),
    "vertid": skin(bones=bone(ids="0 1 3")),
    "negative vertid": skin(bones=bone(ids="0 1 -1")),
    "vertid of fractions": skin(bones=bone(ids="0 1 2.0")),
    "no weight": skin(bones=bone(weights="1 0 1")),
    "negative weight": skin(bones=bone(weights="1 -1 1")),
    "negative weight that another bone lifts": skin(bones=bone(weights="1 -1 1") + bone(weights="1 3 1")),
    "tiny weights": skin(bones=bone(weights="1 1e-14 1")),
    "few weights": skin(bones=bone(weights="1 1")),
    "uncovered vertex": skin(bones=bone(ids="0 1", weights="1 1")),
    "two bones": skin(bones=bone(ids="0 1", weights="1 1") + bone("world", "1 2", ".3 .1", "1 2 3 4")),
    "a quaternion of zeros": skin(bones=bone(quat="0 0 0 0")),
    "a quaternion nearly of zeros": skin(bones=bone(quat="1e-9 0 0 0")),
    "unknown body": skin(bones=bone("z")),
    "no bones": skin(bones=""),
    "empty vertid": skin(bones=bone(ids="", weights="")),
    "no bindpos": skin(bones=bone().replace("bindpos", "bindquat2")),
    "few bindpos": skin(bones=bone().replace('"0 0 0"', '"0 0"')),
}
FILES = {
    "good.skn": skn(), "GOOD.SKN": skn(), "texcoord.skn": skn(ntexcoord=3), "texcoord1.skn": skn(ntexcoord=1),
    "ending.stl": skn(), "empty.skn": b"", "header.skn": b"1" * 15, "cut.skn": skn()[:-4], "more.skn": skn() + b"1234",
    "byte.skn": skn() + b"1", "long.skn": skn(("b" * 40,)), "two.skn": skn(("b", "b")), "none.skn": skn(()),
    "ids.skn": skn(ids=(0, 1, 2, 3)), "some.skn": skn(ids=(0, 1)), "bare.skn": skn(ids=()),
    "unknown.skn": skn(("body",)), "negative.skn": skn(sizes=(-1, 0, 0, 0)), "bones.skn": skn(sizes=(3, 0, 1, 2)),
    "text.skn": skn(("\u00e9",)), "bytes.skn": skn().replace(b"b\0", b"\xff\0"),
}  # fmt: skip


def both_agree(text, assets):
    theirs = their_model(text, assets)
    if theirs is None:
        with pytest.raises(tisim.MjcfError) as info:
            tisim.Model.from_xml_string(text, assets)
        assert info.value.line >= 1
    else:
        assert differences(tisim.Model.from_xml_string(text, assets), theirs) == {}


@pytest.mark.parametrize("name", INLINE)
def test_inline_skins(name):
    both_agree(model(INLINE[name]), {"s.skn": skn()})


@pytest.mark.parametrize("name", FILES)
def test_skin_files(name):
    both_agree(model(f'<skin file="{name}"/>'), {name: FILES[name]})


@pytest.mark.parametrize("bones", [bone(), bone("world"), bone() + bone("c"), bone("c")])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("name", ["", "s"])
def test_attached_skins(bones, twice, name):
    """A skin comes along where all its bones do; only their names get the prefix."""
    part = model(skin(bones=bones, name=name), world=BODY + '<body name="c"/>')
    for one in ('body="b"', ""):
        attach = f'<attach model="p" {one} prefix="x_"/>' + twice * '<attach model="p" body="b" prefix="y_"/>'
        both_agree(model('<model name="p" file="p.xml"/>', world=attach), {"p.xml": part.encode()})


@pytest.mark.parametrize("body", ["b", "b0", "c", "world"])
def test_replicated_bodies_have_no_skins(body):
    world = f'<replicate count="2">{BODY}</replicate><body name="c"/>'
    both_agree(model(skin(bones=bone(body)), world=world), {})


REFUSED = {
    "face": skin('vertex="0 0 0 1 0 0 0 1 0" face="0 1 3"'), "negative face": skin('vertex="0 0 0" face="0 0 -1"'),
    "file of infinite vertices": '<skin file="inf.skn"/>', "file of huge sizes": '<skin file="huge.skn"/>',
    "file of a huge number of bones": '<skin file="bones.skn"/>', "file that is not there": '<skin file="no.skn"/>',
    "content type": skin(MESH + ' content_type="x"'),
}  # fmt: skip
HOSTILE = {
    "inf.skn": skn().replace(np.float32(1).tobytes(), np.float32("inf").tobytes()),
    "huge.skn": skn(sizes=(2**31 - 1,) * 4), "bones.skn": skn(sizes=(3, 0, 1, 2**31 - 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_skins_are_refused(name):
    with pytest.raises(tisim.MjcfError) as info:
        tisim.Model.from_xml_string(model(REFUSED[name]), HOSTILE)
    assert info.value.line == 2


def test_skins_are_found_by_name_and_come_from_mujocos_models():
    theirs = mujoco.MjModel.from_xml_string(model(skin(MESH + ' group="2"')))
    m = tisim.Model.from_mujoco(theirs)
    assert m.skin("s").group == 2 and m.skin(0).name == "s"
    assert differences(m, theirs) == {}


def test_discarded_materials_leave_no_trace_in_a_skin():
    """MuJoCo 3.4.0 ends with "object not found" here."""
    asset = '<material name="red"/>' + skin(MESH + ' material="red"')
    m = tisim.Model.from_xml_string(model(asset, '<compiler discardvisual="true"/>'))
    assert (m.nmat, m.skin_matid.tolist()) == (0, [-1])
