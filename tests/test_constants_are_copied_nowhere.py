"""What kernels share with the rest of tisim, numbers of enums and kinds of pairs, is imported by them from
kernels/constants.py, which takes it from where it is defined: no kernel file has a number of its own for it. Lengths of
lists are `d.ncon`, not places in `counts`."""

import ast
import pathlib

import mujoco
import pytest

from tisim import enums
from tisim.data import arrays
from tisim.device import runtime
from tisim.stages import colliders

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels"
# enums whose members kernels compare with, without the prefix of their names
SHARED = ("mjtGeom", "mjtJoint", "mjtCone", "mjtConstraint", "mjtConstraintState", "mjtDisableBit", "mjtEnableBit")


def assigned(path):
    """Names that a file assigns at module level."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (t.id for t in ast.walk(target) if isinstance(t, ast.Name))


def known():
    """Names that only constants.py may assign."""
    names = set(assigned(KERNELS / "constants.py")) | {name.upper() for name in arrays.COUNTS}
    for enum in SHARED:
        members = [member for member in getattr(enums, enum) if "_" in member.name]
        if enum == "mjtGeom":
            members = members[: colliders.NTYPE]
        for member in members:
            prefix, name = member.name.split("_", 1)
            names.update((name, f"{prefix.removeprefix('mj')}_{name}"))
    return names


@pytest.mark.parametrize("path", sorted(KERNELS.rglob("*.py")), ids=lambda path: path.stem)
def test_no_file_has_its_own(path):
    if path.stem != "constants":
        assert not set(assigned(path)) & known()


def test_constants_are_where_they_come_from():
    constants = runtime.module("constants")
    values = {name: getattr(constants, name) for name in assigned(KERNELS / "constants.py")}
    assert all(type(value) is int for value in values.values()), "Taichi takes plain ints as constants"
    for enum, prefix in (("mjtGeom", "mjGEOM_"), ("mjtJoint", "mjJNT_"), ("mjtCone", "mjCONE_")):
        for member in getattr(enums, enum):
            name = member.name.removeprefix(prefix)
            assert values.get(name, int(member)) == int(getattr(mujoco, enum).__members__[member.name]), name
    kinds = [values[name] for name in ("PLANE_ROUND", "ROUND_BOX", "BOX_BOX", "CONVEX", "HEIGHT_FIELD")]
    pairs = [("PLANE", "SPHERE"), ("SPHERE", "BOX"), ("BOX", "BOX"), ("BOX", "MESH"), ("HFIELD", "SPHERE")]
    assert kinds == [colliders.kind_of(values[a], values[b]) for a, b in pairs]


def test_each_constant_is_used():
    text = "\n".join(path.read_text() for path in KERNELS.rglob("*.py") if path.stem != "constants")
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    assert set(assigned(KERNELS / "constants.py")) - used <= {"HINGE"}
