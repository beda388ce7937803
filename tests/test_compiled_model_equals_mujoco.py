"""The compiled model has MuJoCo 3.4.0's fields, with its values to 1e-9, its shapes and its dtypes."""

import io
import pathlib

import mujoco
import numpy as np
import pytest
from PIL import Image
from shared.compiled import differences, disagreements

from tisim import Model, Spec
from tisim.errors import MjcfError

FOLDER = pathlib.Path(__file__).parent / "testdata" / "compile"
FILES = sorted(FOLDER.glob("*.xml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_field_of_a_file(path):
    assert differences(Model.from_xml_path(path), mujoco.MjModel.from_xml_path(str(path))) == {}


@pytest.mark.parametrize("seed", range(4))
def test_every_field_of_random_trees(seed):
    """Random trees of bodies with every joint and shape, turned and offset at random."""
    text = random_model(np.random.default_rng(seed))
    assert differences(Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)) == {}


def random_model(rng):
    def numbers(n, low=-1.0, high=1.0):
        return " ".join(f"{x:.6g}" for x in rng.uniform(low, high, n))

    def geom():
        kind = rng.choice(["sphere", "capsule", "ellipsoid", "cylinder", "box"])
        shell = rng.choice(["true", "false"])
        place = f'pos="{numbers(3)}" quat="{numbers(4)}"'
        return f'<geom type="{kind}" size="{numbers(3, 0.05, 0.5)}" {place} shellinertia="{shell}"/>'

    def joints(top):
        if top and rng.random() < 0.4:
            return "<freejoint/>"
        turns = rng.integers(1, 3)
        out = [f'<joint type="slide" axis="{numbers(3)}" armature="{rng.random():.3g}"/>'] * int(rng.integers(0, 2))
        out += [f'<joint axis="{numbers(3)}" pos="{numbers(3)}" ref="{rng.normal():.3g}"/>' for _ in range(turns)]
        return "".join(out if rng.random() < 0.7 else [f'<joint type="ball" pos="{numbers(3)}"/>'])

    def body(depth):
        inside = "" if depth and rng.random() < 0.25 else joints(depth == 0)
        inside += "".join(geom() for _ in range(rng.integers(1, 4)))
        inside += f'<site pos="{numbers(3)}"/>' * int(rng.integers(0, 2))
        inside += "".join(body(depth + 1) for _ in range(rng.integers(0, 3 - depth if depth < 3 else 1)))
        return f'<body pos="{numbers(3, -5, 5)}" quat="{numbers(4)}">{inside}</body>'

    bodies = "".join(body(0) for _ in range(8))
    return f'<mujoco><worldbody><geom type="plane" size="3 0 1"/>{bodies}</worldbody></mujoco>'


def test_a_file_is_read_the_same_from_a_string_with_assets():
    parts = {f"parts/{p.name}": p.read_text() for p in (FOLDER / "parts").glob("*.xml")}
    text = (FOLDER / "include_main.xml").read_text()
    ours = Model.from_xml_string(text, assets=parts)
    assert differences(ours, mujoco.MjModel.from_xml_path(str(FOLDER / "include_main.xml"))) == {}


LAX = {
    "two hyphens in a comment": ("<mujoco><!-- a -- b --->", "</mujoco><!-----><!-- -- -->"),
    "space before the declaration": ('\n <?xml version="1.0"?>\n<mujoco>', "</mujoco>"),
    "no space between attributes": ("<mujoco>", """<asset><material name='a'class="main"/></asset></mujoco>"""),
    "signs in values": ("""<mujoco model='1<2 & "3>2" &amp; &lt; &#65;'>""", "</mujoco>"),
    "quotes in comments": ("<mujoco><!-- it's -- \" -->", "<!-- ' --></mujoco>"),
    "tags in comments": ('<mujoco><!-- -- <a b="1"c="2"> -->', "</mujoco>"),
}


@pytest.mark.parametrize("name", LAX)
def test_text_is_as_well_formed_as_mujoco_asks(name):
    """What MuJoCo's own reader takes and XML forbids was refused; what is wrong behind it is still told by its line."""
    before, after = LAX[name]
    text = before + '<worldbody><body name="b"><geom size="1"/></body></worldbody>' + after
    ours, theirs = Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)
    assert differences(ours, theirs) == {} and ours.modelname == theirs.names.partition(b"\0")[0].decode()
    with pytest.raises(MjcfError) as info:
        Model.from_xml_string(before + "\n<worldbdy/>" + after)
    assert info.value.line == before.count("\n") + 2 and "worldbdy" in str(info.value)


TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
PART = '<mujoco><include file="y/inner.xml"/><asset><mesh file="a.obj"/><mesh file="b.obj"/></asset></mujoco>'
INNER = '<mujoco><asset><mesh name="c" file="../c.obj"/><hfield name="h" size="1 1 1 1" file="h.png"/></asset></mujoco>'


@pytest.mark.parametrize("where", ["disk", "assets"])
def test_included_files_find_what_lies_beside_them(where, tmp_path):
    """Once a part in a folder of its own, with its meshes and further parts beside it, was refused."""
    image = io.BytesIO()
    Image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4)).save(image, "PNG")
    files = {
        "x/part.xml": PART, "x/y/inner.xml": INNER, "x/a.obj": TETRAHEDRON.format(1), "m/a.obj": TETRAHEDRON.format(2),
        "x/b.obj": TETRAHEDRON.format(3), "x/c.obj": TETRAHEDRON.format(4), "x/y/h.png": image.getvalue(),
    }  # fmt: skip
    inside = "".join(f'<geom type="mesh" mesh="{name}"/>' for name in "abc") + '<geom type="hfield" hfield="h"/>'
    text = _world(inside, '<compiler meshdir="m"/><include file="x/part.xml"/>')
    for name, data in {**files, "main.xml": text}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    path = tmp_path / "main.xml"
    ours = Model.from_xml_path(path) if where == "disk" else Model.from_xml_string(text, files)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    assert differences(ours, theirs) == {}
    if where == "disk":
        ours.save(tmp_path / "saved.xml")
        assert differences(Model.from_xml_path(tmp_path / "saved.xml"), theirs) == {}


@pytest.mark.parametrize("strip", ["", 'strippath="true"', 'strippath="false"'])
@pytest.mark.parametrize("inner", ["", 'strippath="true"', 'meshdir="d" strippath="true"', 'meshdir="d"'])
@pytest.mark.parametrize("name", ["d/a.obj", "../a.obj", "a.obj", "d\\a.obj"])
def test_paths_of_attached_models_are_stripped_as_the_uppermost_file_says(strip, inner, name, tmp_path):
    """Once each file decided that for itself, and another mesh was read than by MuJoCo."""
    for k, folder in enumerate(("d", "d/d", "x", "x/d", "x/d/d", ".")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "a.obj").write_text(TETRAHEDRON.format(k + 1))
    part = _world('<body name="b"><geom type="mesh" mesh="a"/></body>', f"<compiler {inner}/>"
                  f'<asset><mesh name="a" file="{name}"/></asset>')  # fmt: skip
    (tmp_path / "x" / "part.xml").write_text(part)
    attached = '<frame><attach model="p" body="b" prefix="p"/></frame><geom type="mesh" mesh="own"/>'
    assets = '<asset><model name="p" file="x/part.xml"/><mesh name="own" file="x/a.obj"/></asset>'
    path = tmp_path / "main.xml"
    path.write_text(_world(attached, f"<compiler {strip}/>{assets}"))
    ours, theirs = Model.from_xml_path(path), mujoco.MjModel.from_xml_path(str(path))
    assert differences(ours, theirs) == {}
    spec = Spec.from_file(path)
    spec.to_file(tmp_path / "saved.xml")
    (tmp_path / "elsewhere").mkdir()
    spec.to_file(tmp_path / "elsewhere" / "saved.xml")
    for saved in ("saved.xml", "elsewhere/saved.xml"):
        assert differences(Model.from_xml_path(tmp_path / saved), theirs) == {}, saved

    found = []
    for kind in (Spec, mujoco.MjSpec):
        parent, child = kind.from_string(_world("")), kind.from_file(str(tmp_path / "x" / "part.xml"))
        if strip:
            (parent.compiler if kind is Spec else parent).strippath = "true" in strip
        parent.attach(child, prefix="q", frame=parent.worldbody.add_frame())
        found.append(parent.compile())
    assert differences(*found) == {}


def test_folders_and_files_may_be_named_with_backslashes(tmp_path):
    """As MuJoCo takes them: once such a `meshdir`, part or model was not found."""
    for folder in ("m", "m/d", "x"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.obj").write_text(TETRAHEDRON.format(len(folder)))
    mesh = '<body name="b"><geom type="mesh" mesh="a"/></body>'
    (tmp_path / "x" / "part.xml").write_text(_world(mesh, '<asset><mesh file="a.obj"/></asset>'))
    (tmp_path / "x" / "inc.xml").write_text('<mujoco><asset><mesh file="a.obj"/></asset></mujoco>')
    attach = '<frame><attach model="p" body="b" prefix="p"/></frame>'
    for text in (
        _world(mesh, r'<compiler meshdir="m\d"/><asset><mesh file="a.obj"/></asset>'),
        _world(mesh, r'<compiler assetdir="m\d\"/><asset><mesh file="..\a.obj"/></asset>'),
        _world(mesh, r'<compiler meshdir="m"/><include file="x\inc.xml"/>'),
        _world(attach, r'<asset><model name="p" file="x\part.xml"/></asset>'),
    ):
        path = tmp_path / "main.xml"
        path.write_text(text)
        theirs = mujoco.MjModel.from_xml_path(str(path))
        assert differences(Model.from_xml_path(path), theirs) == {}, text
        (tmp_path / "y").mkdir(exist_ok=True)
        Spec.from_file(path).to_file(tmp_path / "y" / "saved.xml")
        assert differences(Model.from_xml_path(tmp_path / "y" / "saved.xml"), theirs) == {}, text


def test_what_is_accepted_is_what_mujoco_accepts():
    """Wrong and unusual attributes, one at a time: both accept (and then agree), or both refuse."""
    assert disagreements(CASES) == {}


def _world(inside, before="", after=""):
    return f"<mujoco>{before}<worldbody>{inside}</worldbody>{after}</mujoco>"


_GEOM, _FREE = '<geom size=".1"/>', '<body><freejoint/><geom size=".1"/></body>'
_GEOMS = [
    'size=".1" condim="2"', 'size=".1" friction="-1"', 'size=".1" density="-1"', 'type="plane"', 'size=".1" pos=""',
    'type="plane" size="1 1 0"', 'type="capsule" size=".1"', 'type="box" size="1 1 0"',
    'size=".1" fromto="0 0 0 1 1 1"',
    'type="capsule" size=".1" fromto="0 0 0 1 1 1" pos="1 0 0"', 'type="capsule" size=".1" fromto="0 0 0 0 0 0"',
    'type="box" fromto="0 0 0 1 0 0"', 'size=".1" quat="0 0 0 0"', 'size=".1" axisangle="0 0 0 1"', 'size="1,1"',
    'size=".1" zaxis="0 0 0"', 'size=".1" xyaxes="1 0 0 2 0 0"', 'size=".1" euler="1 0 0" quat="0 1 0 0"', 'size=""',
    'size=".1" euler="1 0"', 'size="1 1 1 1"', 'size=".1" type="mesh"', 'size=".1" material="none"', 'size="+.1"',
    'size=".1" class="none"', 'size=".1" class=""', 'size=".1" contype="1.5"', 'size=".1" contype="-1"',
    'size=".1" contype="-2147483648"', 'size=".1" contype="-2147483649"', 'size=".1" contype="2147483648"',
    'type="hfield"',
    'size=".1" friction=".3"', 'size=".1" solimp=".1 .2 .3 .4 .5 .6"', 'type="pyramid" size="1"', 'size=".1" name=""',
]  # fmt: skip
_JOINTS = [
    'range="1 0"', 'range="1 0" limited="true"', 'limited="true"', 'type="ball" range="1 2"',
    'type="ball" range="0 90"',
    'type="free" range="0 1"', 'type="free" limited="true" range="0 1"', 'axis="0 0 0"', 'type="free" axis="0 0 0"',
    'springdamper="1 0"', 'springdamper=".1 1"', 'stiffness="-1"', 'armature="-.001"', 'actuatorfrcrange="1 0"',
    'actuatorfrcrange="1 0" actuatorfrclimited="true"', 'type="slide" ref="2" springref="3"', 'limited="maybe"',
]  # fmt: skip
_KEYS = [
    'qpos="1 2"',
    'qpos="1 2 3 0 0 0 0"',
    'qpos="1 2 3 4 5 6 7 8"',
    'qvel="1"',
    'ctrl="1"',
    'mpos="1"',
    'time="3"',
    'act="0"',
]
_BODIES = [
    '<joint type="ball"/><joint/>', '<joint type="ball"/><joint type="slide"/>', '<joint type="slide"/>' * 7,
    "<inertial/>",
    "<freejoint/><joint/>", '<inertial pos="0 0 0" mass="1"/>', '<freejoint/><inertial pos="0 0 0" mass="1"/>',
    '<inertial pos="0 0 0" mass="1" diaginertia="1 .1 .1"/>', '<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>',
    '<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/>', f"<body><freejoint/>{_GEOM}</body>",
    '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>', '<body mocap="true"/>',
    f'<freejoint/><body sleep="never"><joint/>{_GEOM}</body>', f"<joint/><body>{_GEOM}</body>",
]  # fmt: skip
_CONTACTS = [
    '<pair geom1="a" geom2="a"/>', '<pair geom1="a" geom2="b"/><pair geom1="b" geom2="a"/>',
    '<pair geom1="a" geom2="c"/>',
    '<pair geom1="a" geom2="b" condim="2"/>', '<pair geom1="a" geom2="b" friction="-1"/>', '<exclude body1="B"/>',
    '<exclude body1="B" body2="B"/>', '<exclude body1="B" body2="world"/>' * 2, '<exclude body1="B" body2="C"/>',
    '<pair geom1="a"/>', '<pair geom1="a" geom2="b" name="p"/><pair geom1="a" geom2="b" name="p"/>',
]  # fmt: skip
_TWO = '<geom name="a" size=".1"/><body name="B"><freejoint/><geom name="b" size=".1"/></body>'
_TEXTURES = "".join(f'<texture name="{n}" type="2d" builtin="flat" width="1" height="1"/>' for n in "ab")
_CLASSED = [  # of a light's class and itself, of layers of a material's
    ('<light directional="true"/>', "", '<light type="point"/>'),
    ('<light directional="false"/>', "", '<light type="image"/>'),
    ('<light type="directional"/>', "", '<light directional="false"/>'),
    ('<light directional="true"/><default class="c"><light type="point"/></default>', "", '<light class="c"/>'),
    ('<material><layer texture="a" role="normal"/></material>',
     '<material name="m"><layer texture="b" role="rgb"/></material>', ""),
    ('<material><layer texture="a" role="rgb"/></material>', '<material name="m" texture="b"/>', ""),
    ('<material texture="a"/>', '<material name="m"><layer texture="b" role="normal"/></material>', ""),
    ('<material><layer texture="a" role="normal"/></material><default class="c"><material>'
     '<layer texture="b" role="rgb"/></material></default>', '<material name="m" class="c"/>', ""),
]  # fmt: skip
_HILLS = '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 .5 .5"/></asset>'
CASES = [
    *[_world(inside, f"<default>{a}</default><asset>{_TEXTURES}{asset}</asset>") for a, asset, inside in _CLASSED],
    *[_world(f'<body><freejoint/><geom type="hfield" hfield="h" {a}/>{_GEOM}</body>', _HILLS)
      for a in ('fluidshape="ellipsoid"', 'shellinertia="true"', 'density="3"')],
    *[_world(f"<geom {a}/>") for a in _GEOMS],
    *[_world(f'<body><joint {a}/><geom size=".1" pos=".2 0 0"/></body>') for a in _JOINTS],
    *[_world(_FREE, "", f"<keyframe><key {a}/></keyframe>") for a in _KEYS],
    *[_world(f"<body>{a}{_GEOM}</body>") for a in _BODIES],
    *[_world(f"<body>{a}</body>") for a in _BODIES],
    *[_world(_TWO, "", f"<contact>{a}</contact>") for a in _CONTACTS],
    *[_world(f"<camera {a}/>") for a in ('fovy="180"', 'fovy="-1"', 'target="x"', 'focal="1 1"', 'sensorsize="1 1"')],
    *[_world(f"<site {a}/>") for a in ('type="plane"', 'size="0"', 'type="box" size="1"', 'type="box" size="1 0 1"')],
    *[_world(f"<light {a}/>") for a in ('dir="0 0 0"', 'type="spot" directional="true"', 'target="x"', 'mode="track"')],
    *[_world(a * 2) for a in ('<geom name="a" size=".1"/>', '<body name="a"/>', '<site name="a"/>',
    '<body name="world"/>')],
    *[_world(a) for a in ("<joint/>", "<freejoint/>", '<body childclass="x"/>', '<frame childclass="x"/>',
    "<replicate/>")],
    *[
        _world(_FREE, a)
        for a in (
            '<default class="x"/>', "<default><default/></default>",
            '<default><default class="a"/><default class="a"/></default>',
            '<option timestep="0"/>', "<option><flag/><flag/></option>", '<option><flag gravity="off"/></option>',
            '<size nkey="2"/>', '<size nuser_geom="-2"/>', '<size memory="1 M"/>', '<size memory="1m"/>',
            '<statistic extent="0"/>',
            '<compiler eulerseq="xy"/>', '<compiler coordinate="global"/>', '<compiler boundmass="9"/>',
            "<compiler/><compiler/>",
            '<compiler settotalmass="0"/>', '<custom><numeric name="a"/></custom>',
            '<custom><text name="a" data=""/></custom>',
            '<asset><material/></asset>', '<asset><material name="a" texture="b"/></asset>',
            "<actuator/><sensor/><tendon/>",
        )
    ],
]  # fmt: skip
