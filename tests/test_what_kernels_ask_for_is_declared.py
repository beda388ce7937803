"""Every array and number that a kernel names is declared once, with its type, and belongs to the model or the data."""

import ast
import pathlib

import numpy as np
import pytest

import tisim
from tisim import memory
from tisim.arrays import ALL, CAPACITIES, DATA, LENGTHS
from tisim.device_model import DERIVED
from tisim.model_fields import FIELDS
from tisim.scalars import SCALARS, lookup

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"F": (True, "f"), "I": (True, "i"), "FP": (False, "f"), "ti.i32": (False, "i")}
SCENE = """<mujoco><asset><mesh name="gem" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .1 .1 .1"/></asset>
<worldbody><geom type="plane" size="1 1 .1"/><geom type="box" size=".1 .1 .1"/>
<body pos="0 0 1"><freejoint/><geom type="mesh" mesh="gem"/></body>
<body pos="0 0 2"><joint range="-10 20" limited="true" frictionloss=".1"/>{}</body></worldbody></mujoco>"""


def parameters():
    """(file, kernel, name, is an array, dtype) of every parameter of a kernel: only kernels annotate theirs."""
    for path in sorted((ROOT / "kernels").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                for arg in node.args.args:
                    kind = KINDS.get(ast.unparse(arg.annotation)) if arg.annotation else None
                    if kind:
                        yield path.name, node.name, arg.arg, *kind


@pytest.fixture(scope="module")
def model():
    many = "".join(f'<geom type="sphere" size=".05" pos="{0.1 * k} 0 0"/>' for k in range(20))
    return tisim.Model.from_xml_string(SCENE.format(many))


def test_every_parameter_has_its_declared_type():
    wrong = []
    for file, kernel, name, is_array, dtype in parameters():
        declared = lookup(name)
        if (declared.is_array, declared.dtype) != (is_array, dtype):
            wrong.append((file, kernel, name, declared))
    assert not wrong


def test_each_name_has_one_declaration():
    names = [*DATA, *FIELDS, *DERIVED, *SCALARS]
    assert len(names) == len(set(names))
    used = {name for *_, name, _, _ in parameters()}
    assert set(SCALARS) - set(CAPACITIES) <= used, "declared, but no kernel asks for it"
    assert {a.name for a in DATA.values() if a.role == "stage"} <= used


def test_shapes_name_known_sizes(model):
    for array in DATA.values():
        first, *rest = array.shape
        assert isinstance(first, int) or first in (*CAPACITIES, *LENGTHS, ALL) or model.scalar(first) >= 0, array.name
        assert all(isinstance(n, int) for n in rest), array.name
    assert {array.shape[0] for array in DATA.values()} >= set(LENGTHS)


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
        assert values.size and (values.dtype.kind == "f") == (table.dtype == "f"), table.name
        assert values.shape[1:] == table.shape[1:], table.name
        if table.shape[0] not in ("nodes", "trees", "bodies"):
            assert len(values) == model.scalar(table.shape[0]), table.name
        kind = memory.download(model.device(table.name)).dtype.kind
        assert kind == table.dtype, table.name


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
    assert d.scratch("ray_pnt", 4).shape[0] == 12 and d.host("ray_pnt").shape == (4, 3)
    assert d.scratch("ray_pnt", 2) is d.device("ray_pnt") and d.host("ray_pnt").shape == (4, 3)
