"""Every array and number that a kernel names is declared once, with its type, and belongs to the model or the data."""

import ast
import math
import pathlib
import re

import numpy as np
import pytest

import tisim
from tisim.data.arrays import COUNTS, DATA
from tisim.data.arrays.collision import SCALES
from tisim.data.declare import ALL, CAPACITIES, LENGTHS
from tisim.data.scalars import SCALARS, lookup
from tisim.device import memory
from tisim.model.device_model import DERIVED
from tisim.model.fields import FIELDS

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"FP": "f", "ti.i32": "i"}
SCENE = """<mujoco><asset><mesh name="gem" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .1 .1 .1"/>
<mesh name="pad" builtin="plate" params="2 2"/></asset>
<worldbody><geom name="floor" type="plane" size="1 1 .1"/><geom name="ball" size=".1"/>
<body pos="0 0 1"><freejoint/><geom type="mesh" mesh="gem"/></body>
<body name="a" pos="0 0 2">
<joint name="j" range="-10 20" limited="true" frictionloss=".1" actuatorfrcrange="-1 1" actuatorfrclimited="true"/>
<site name="v" pos="1 0 0"/>{}</body><site name="u"/><body pos="0 0 4"><joint name="k"/><geom size=".1"/></body>
<replicate count="4" offset="1 0 0"><body pos="0 0 9"><joint/><geom size=".1"/>
<body pos="0 0 1"><joint/><geom size=".1"/></body></body></replicate>
<camera name="eye" resolution="2 2"/></worldbody>
<tendon><fixed name="t" range="0 1" limited="true" frictionloss=".1" stiffness="1" actuatorfrclimited="true"
actuatorfrcrange="-1 1"><joint joint="j" coef="1"/></fixed>
<fixed range="0 1" limited="true"><joint joint="j" coef="1"/><joint joint="k" coef="1"/></fixed>
<spatial name="s" armature="1"><site site="u"/>
<site site="v"/></spatial>
</tendon><actuator><motor joint="j"/><motor tendon="t"/><motor site="u" refsite="v"/>
<adhesion body="a" ctrlrange="0 1"/>
<motor cranksite="u" slidersite="v" cranklength="3"/><general joint="j" dyntype="user"/></actuator>
<equality><weld body1="a"/><joint joint1="j"/><tendon tendon1="t"/></equality>
<contact><pair geom1="floor" geom2="ball"/></contact>
<sensor><touch site="v"/><contact body1="a"/><rangefinder site="u"/><insidesite site="v" objtype="site" objname="u"/>
<distance geom1="floor" geom2="ball"/><tactile geom="ball" mesh="pad"/><jointpos joint="j" cutoff="1"/>
<jointvel joint="j"/><jointactuatorfrc joint="j"/><user dim="1"/>
<framepos objtype="camera" objname="eye"/><camprojection site="u" camera="eye"/><gyro site="v"/>
<accelerometer site="v"/><force site="v"/><subtreelinvel body="a"/><jointlimitpos joint="j"/>
<jointlimitvel joint="j"/><tendonlimitfrc tendon="t"/><e_kinetic/></sensor></mujoco>"""


def nodes():
    """(file, node) of all that is written in kernels/."""
    for path in sorted((ROOT / "kernels").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield path.name, node


def paths():
    """(file, line, "d.qpos") of everything that is taken from the bundles; "m.opt" is part of a longer one."""
    for file, node in nodes():
        path = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        known = path in ("m.opt", "m.stat", "m.has") or path.startswith("m.has.")
        if re.fullmatch(r"[md](\.\w+)+", path) and not known:
            yield file, node.lineno, path


def parameters():
    """(file, kernel, name, dtype) of every number that a kernel gets at its launch: only kernels annotate theirs, and
    what is marked by `called(...)`."""
    for file, node in nodes():
        if isinstance(node, ast.FunctionDef) and not any(isinstance(x, ast.Call) for x in node.decorator_list):
            for arg in node.args.args:
                if arg.annotation and ast.unparse(arg.annotation) in KINDS:
                    yield file, node.name, arg.arg, KINDS[ast.unparse(arg.annotation)]


@pytest.fixture(scope="module")
def model():
    many = "".join(f'<geom type="sphere" size=".05" pos="{0.1 * k} 0 0"/>' for k in range(20))
    return tisim.Model.from_xml_string(SCENE.format(many))


def test_every_name_is_declared():
    for file, line, path in paths():
        assert lookup(path), (file, line)
    for file, kernel, name, dtype in parameters():
        assert (SCALARS[name].dtype, SCALARS[name].source) == (dtype, "call"), (file, kernel, name)


def test_each_name_has_one_declaration():
    names = [*DATA, *FIELDS, *DERIVED, *SCALARS, *COUNTS]
    assert len(names) == len(set(names))


def test_what_is_declared_is_used():
    used = {name for *_, name, _ in parameters()} | {path.rpartition(".")[2] for *_, path in paths()}
    used |= {f"{name}_{x}" for name in {"gravity", "wind", "magnetic"} & used for x in "xyz"}
    if used & set(SCALES):
        used.add("sweep_scale")
    assert set(SCALARS) - set(CAPACITIES) <= used
    assert {a.name for a in DATA.values() if a.role == "stage"} <= used


def test_shapes_name_known_sizes(model):
    for array in DATA.values():
        first, *rest = array.shape
        assert isinstance(first, int) or first in (*CAPACITIES, *LENGTHS, ALL) or model.scalar(first) >= 0, array.name
        assert all(isinstance(n, int) or model.scalar(n) > 0 for n in rest), array.name
    assert {array.shape[0] for array in DATA.values()} >= set(LENGTHS)


def test_every_number_tells_its_meaning():
    assert all(len(scalar.doc) > 2 for scalar in SCALARS.values())


def test_numbers_come_from_where_they_are_declared(model):
    d = tisim.Data(model)
    for scalar in SCALARS.values():
        if scalar.source != "call":
            assert isinstance(d.scalar(scalar.name), (int, float, np.number)), scalar.name


def test_tables_are_as_declared(model):
    tisim.Data(model)
    for table in DERIVED.values():
        if table.dtype is None:
            continue
        values = np.asarray(model.derived(table.name))
        assert values.size, f"SCENE has nothing for {table.name}"
        assert (values.dtype.kind == "f") == (table.dtype in "fw"), table.name
        assert values[0].size == math.prod(table.shape[1:]), table.name
        if table.shape[0] not in ("nodes", "trees", "bodies", "nsensortree"):
            assert len(values) == model.scalar(table.shape[0]), table.name
        kind = memory.download(model.device(table.name)).dtype.kind
        assert kind == table.dtype.replace("w", "f"), table.name


def test_scratch_is_not_for_users(model):
    d = tisim.Data(model)
    tisim.forward(model, d)
    for name in ("cpair_geom1", "body_con", "counts", "box_item"):
        with pytest.raises(AttributeError, match="not for users"):
            getattr(d, name)
        with pytest.raises(AttributeError, match="not for users"):
            setattr(d, name, 0)
        assert not hasattr(d, name) and d.host(name).size


def test_lengths_are_set_for_declared_names_only(model):
    d = tisim.Data(model)
    for name in ("cpair_pos", "qpos", "cpair_geom1", "counts"):
        with pytest.raises(KeyError, match="not declared"):
            d.scratch(name, 4)
    with pytest.raises(KeyError, match="no length so far"):
        d.device("ray_pnt")
    assert d.scratch("ray_pnt", 4).numbers == 12 and d.host("ray_pnt").shape == (4, 3)
    assert d.scratch("ray_pnt", 2) is d.device("ray_pnt") and d.host("ray_pnt").shape == (4, 3)
