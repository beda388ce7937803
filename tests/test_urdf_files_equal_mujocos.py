"""A URDF file compiles to the model that MuJoCo 3.4.0 makes of it; a wrong one is refused with its place.

tisim reads less quietly: a repeated or unknown section of the element `mujoco`, a link or joint without a name and a
link `world` that hangs from another one are refused, and what has no effect is named in a warning.
"""

import pathlib
import warnings

import mujoco
import numpy as np
import pytest
from shared.compiled import array_differences, differences, refusal, their_model
from shared.random_urdf import random_urdf

import tisim

FOLDER = pathlib.Path(__file__).parent / "testdata" / "urdf"
FILES = sorted(FOLDER.glob("*.urdf"))
ASSETS = FOLDER.parent / "compile" / "assets"
MESHES = {name: (ASSETS / name).read_bytes() for name in ("ell.stl", "box.obj")}
MESH_FIELDS = "nmesh nmeshvert nmeshface mesh_scale mesh_vertnum mesh_facenum mesh_pos mesh_quat".split()


def all_differences(ours, theirs):
    return differences(ours, theirs) | array_differences(ours, theirs, MESH_FIELDS)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore:.*no effect", "ignore:.*MuJoCo 3.4.0 takes the scale")
def test_every_field_of_a_file(path):
    assert all_differences(tisim.Model.from_xml_path(path), mujoco.MjModel.from_xml_path(str(path))) == {}


@pytest.mark.parametrize("meshes", [False, True])
@pytest.mark.filterwarnings("ignore:.*MuJoCo 3.4.0 takes the scale")
def test_random_robots(meshes):
    """Both accept, and agree, or both refuse."""
    assets, same = (MESHES if meshes else {}), 0
    for seed in range(50):
        text = random_urdf(np.random.default_rng([meshes, seed]), sorted(assets))
        theirs = their_model(text, assets)
        if theirs is None:
            with pytest.raises(tisim.MjcfError):
                tisim.Model.from_xml_string(text, assets)
            continue
        same += 1
        assert all_differences(tisim.Model.from_xml_string(text, assets), theirs) == {}, f"seed {seed}"
    assert same >= 35


def test_a_scale_that_is_used_again_is_mujocos_with_a_warning():
    shape = '<collision><geometry><mesh filename="ell.stl" {}/></geometry></collision>'
    shapes = "".join(shape.format(f'scale="{s} 1 1"') for s in (1, 2, 2, 3, 1, 3))
    text = f'<robot name="r"><link name="a">{shapes}</link></robot>'
    with pytest.warns(UserWarning, match="scale of the first use of 'ell.stl'"):
        ours = tisim.Model.from_xml_string(text, MESHES)
    assert all_differences(ours, mujoco.MjModel.from_xml_string(text, MESHES)) == {}


@pytest.mark.parametrize("low, high", [("", "1"), (" ", "1"), ("-1", ""), ("", "")])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "planar", "continuous"])
def test_an_empty_end_of_a_limit_is_none(low, high, kind):
    """Once an empty `lower` was a limit at 0: a joint that was free in MuJoCo was held."""
    text = two(f'<limit lower="{low}" upper="{high}"/>', kind)
    ours = tisim.Model.from_xml_string(text)
    assert all_differences(ours, mujoco.MjModel.from_xml_string(text)) == {}
    assert not np.asarray(ours.jnt_limited).any()


BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name, inside=INERTIAL + BOX):
    return f'<link name="{name}">{inside}</link>\n'


def joint(name="j", kind="revolute", parent="a", child="b", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def robot(*parts):
    return f'<robot name="r">\n{"".join(parts)}</robot>'


def two(inside="", kind="revolute"):
    return robot(link("a"), link("b"), joint(kind=kind, inside=inside))


def shape(geometry, tag="collision"):
    return robot(link("a", f"<{tag}><geometry>{geometry}</geometry></{tag}>"))


SPACES = {
    "a default namespace": ('xmlns="http://drake.mit.edu" xmlns:xsi="http://x" xsi:schemaLocation="a.xsd"', ""),
    "declared": ('xmlns:xacro="http://x"', '<xacro:property name="q"/><xacro:link name="c"/>'),
    "not declared": ("", '<drake:joint_filter name="q"><x drake:y="1"/></drake:joint_filter>'),
    "one of its own": ("", link("c").replace("<link ", '<link xmlns="http://x" ')),
}


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.filterwarnings("ignore:.*no effect")
def test_namespaces_are_letters_as_in_mujoco(name):
    """Once a file with a default namespace was refused, and a link with one of its own left out;
    later one whose prefix is not declared, as many written for Drake have them, was refused."""
    attributes, more = SPACES[name]
    text = two(kind="prismatic").replace("<robot ", f"<robot {attributes} ").replace("</robot>", f"{more}</robot>")
    ours = tisim.Model.from_xml_string(text)
    assert ours.njnt == 1 and all_differences(ours, mujoco.MjModel.from_xml_string(text)) == {}


LOOP = joint("j1", parent="a", child="b") + joint("j2", parent="b", child="a")
BAD = {
    "a loop": (robot(link("a"), link("b"), LOOP), 2, "loop"),
    "a loop beside a root": (robot(link("c"), link("a"), link("b"), LOOP), 3, "loop"),
    "a link on itself": (robot(link("a"), joint(child="a")), 2, "loop"),
    "two parents": (robot(link("a"), link("b"), link("c"), joint("j1"), joint("j2", parent="c")), 6, "one parent"),
    "no such parent": (robot(link("a"), link("b"), joint(parent="aa")), 4, "'aa' is not defined"),
    "no such child": (robot(link("a"), joint()), 3, "'b' is not defined"),
    "no parent": (robot(link("a"), '<joint name="j" type="fixed"><child link="a"/></joint>'), 3, "element 'parent'"),
    "no child": (robot(link("a"), '<joint name="j" type="fixed"><parent link="a"/></joint>'), 3, "element 'child'"),
    "two children": (two('<child link="b"/>'), 4, "only once"),
    "a kind of joint": (two(kind="hinge"), 4, "revolute"),
    "no kind of joint": (two().replace(' type="revolute"', ""), 4, "'type'"),
    "a joint without a name": (two().replace(' name="j"', ""), 4, "'name'"),
    "names of links": (robot(link("a"), link("a")), 3, "already used"),
    "names of joints": (robot(link("a"), link("b"), link("c"), joint(), joint(child="c")), 6, "already used"),
    "a link without a name": (robot(f"<link>{BOX}</link>"), 2, "'name'"),
    "words in an axis": (two('<axis xyz="x y z"/>'), 4, "'xyz'"),
    "an axis of two numbers": (two('<axis xyz="1 2"/>'), 4, "'xyz'"),
    "an axis of zeros": (two('<axis xyz="0 0 0"/>'), 4, "axis"),
    "an axis without numbers": (two("<axis/>"), 4, "'xyz'"),
    "limits of a ball": (two('<limit lower="-1" upper="1"/>', "spherical"), 4, "range[0]"),
    "damping": (two('<dynamics damping="much"/>'), 4, "'damping'"),
    "an origin of two numbers": (two('<origin xyz="1 2"/>'), 4, "'xyz'"),
    "two origins": (two('<origin xyz="1 2 3"/>' * 2), 4, "only once"),
    "no mass": (robot(link("a", INERTIAL.replace('<mass value="1"/>', ""))), 2, "'mass'"),
    "no value of mass": (robot(link("a", INERTIAL.replace('value="1"', ""))), 2, "'value'"),
    "no inertia": (robot(link("a", '<inertial><mass value="1"/></inertial>')), 2, "'inertia'"),
    "part of the inertia": (robot(link("a", INERTIAL.replace('izz="1"', ""))), 2, "'izz'"),
    "negative inertia": (two().replace('ixx="1"', 'ixx="-1"', 1), 2, "positive definite"),
    "no mass of a moving link": (two().replace(INERTIAL, "").replace(BOX, ""), 3, "mass"),
    "no geometry": (robot(link("a", "<collision/>")), 2, "'geometry'"),
    "an empty geometry": (shape(""), 2, "box, cylinder"),
    "an unknown geometry": (shape("<cone/>"), 2, "box, cylinder"),
    "two boxes": (shape('<box size="1 1 1"/>' * 2), 2, "only once"),
    "a box of two numbers": (shape('<box size="1 1"/>'), 2, "'size'"),
    "a negative box": (shape('<box size="1 -1 1"/>'), 2, "positive"),
    "a sphere without a radius": (shape('<sphere radius=""/>'), 2, "'radius'"),
    "a cylinder without a length": (shape('<cylinder radius="1"/>'), 2, "'length'"),
    "a mesh without a file": (shape('<mesh filename=""/>'), 2, "'filename'"),
    "a missing mesh": (shape('<mesh filename="package://robot/none.stl"/>'), 2, "none.stl"),
    "a scale of two numbers": (shape('<mesh filename="ell.stl" scale="1 1"/>'), 2, "'scale'"),
    "a colour of three numbers": (robot('<material name="m"><color rgba="1 1 1"/></material>'), 2, "'rgba'"),
    "an option": (robot('<mujoco><option gravity="0 1"/></mujoco>'), 2, "'gravity'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_file_is_refused_with_its_place(name):
    text, line, message = BAD[name]
    assert refusal(text, [message], MESHES).line == line


STRICTER = {
    "a section of the extension": (robot("<mujoco><contacts/></mujoco>"), "'contacts'"),
    "an attribute of the extension": (robot('<mujoco><compiler fusestatics="true"/></mujoco>'), "fusestatic"),
    "the world on a link": (robot(link("a"), link("world"), joint(kind="fixed", child="world")), "'world'"),
    "an infinite limit": (two('<limit lower="-inf" upper="1"/>'), "'lower'"),
    "turns of nan": (two('<origin rpy="nan 0 0"/>'), "'rpy'"),
    "an empty name": (robot(link("")), "'name'"),
}


@pytest.mark.parametrize("name", STRICTER)
def test_what_mujoco_passes_over_is_refused(name):
    text, message = STRICTER[name]
    mujoco.MjModel.from_xml_string(text)
    with pytest.raises(tisim.Error) as info:
        tisim.Model.from_xml_string(text)
    assert message in str(info.value)


def test_what_has_no_effect_is_named_in_a_warning():
    """A section that only MJCF has was refused, though MuJoCo reads the file."""
    section = '<mujoco><compiler/><contact><exclude body1="a" body2="b"/></contact></mujoco>'
    parts = link("world"), link("a"), "<transmission/><gazebo/>", joint(parent="world", child="a", inside="<mimic/>")
    text = robot(section, *parts)
    named = "contact .of the element 'mujoco'., gazebo, inertial .of the link 'world'., mimic, transmission"
    with pytest.warns(UserWarning, match=named):
        ours = tisim.Model.from_xml_string(text)
    assert ours.nexclude == mujoco.MjModel.from_xml_string(text).nexclude == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tisim.Model.from_xml_string(two())


def test_a_mesh_that_is_not_found_tells_that_its_folders_were_cut_off():
    text = shape('<mesh filename="package://x/meshes/a.stl"/>')
    with pytest.raises(tisim.Error, match="cannot read 'a.stl': No such file or directory; strippath, set by default"):
        tisim.Model.from_xml_string(text)
