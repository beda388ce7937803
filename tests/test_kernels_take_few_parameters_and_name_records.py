"""Functions in kernels/ take few parameters, and what a record holds is read by a name, not by a bare offset."""

import ast
import pathlib

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels"
MOST_PARAMETERS = 9  # the bundles among them
# places where they are left, by array: a heap's places are no records
OFFSETS = {"sweep_found": 8, "ccd_f": 1, "a": 1, "sides": 1, "ray_node": 4}


def nodes(kind):
    for path in sorted(KERNELS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, kind):
                yield f"{path.name}:{node.lineno}", node


def test_functions_take_few_parameters():
    for place, node in nodes(ast.FunctionDef):
        assert len(node.args.args) <= MOST_PARAMETERS, f"{place} {node.name} has {len(node.args.args)} parameters"


def offset_of_record(node):
    """The array of `a[start + 4 * i + 1]`, records by bare numbers; None for others."""
    base = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", None)
    todo = [node.slice]
    for n in todo:
        if isinstance(n, ast.BinOp):
            todo += [n.left, n.right]
            factors = (n.left, n.right) if isinstance(n.op, ast.Mult) else ()
            if any(isinstance(f, ast.Constant) and isinstance(f.value, int) and f.value > 1 for f in factors):
                return base
    return None


def test_records_have_names_not_offsets():
    sample = ast.parse("d.a[i] + d.b[13 * r + 5] + c[n * i] + d.e[at + i * 2]")
    assert {offset_of_record(n) for n in ast.walk(sample) if isinstance(n, ast.Subscript)} == {None, "b", "e"}
    found = {}
    for place, node in nodes(ast.Subscript):
        if name := offset_of_record(node):
            found.setdefault(name, []).append(place)
    assert all(len(places) <= OFFSETS.get(name, 0) for name, places in found.items()), found
