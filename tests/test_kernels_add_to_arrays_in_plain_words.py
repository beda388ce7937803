"""Kernels write `a[i] = a[i] + x` for arrays, never `a[i] += x`, which Taichi makes an atomic in a parallel loop: five
times as slow, and it hides a sum whose order depends on threads. Atomics stand alone, by name, on whole numbers whose
order does not show.
"""

import ast
import pathlib

import pytest

from tisim.data.arrays import COUNTS

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "kernels"
# arrays that atomics may touch: lengths of lists that are sorted later or whose order does not show, largest indices,
# where workers find each other, parents of trees that end as the smallest, marks that many may set, what
# islands have, counted by all threads of a GPU, and what the longest of them took
ISLANDS = {f"island_{name}" for name in ("dofnum", "nodenum", "bodynum", "single", "coupled", "joined")}
ATOMIC = {
    *COUNTS,
    *ISLANDS,
    "bin_adr",
    "bad",
    "bad_ctrl",
    "team",
    "uf_parent",
    "uf_touched",
    "solver_queue",
    "lcp_head",
    "lcp_want",
    "stat_nactive",
    "stat_nchange",
    "pic_most",
    "lcp_stranger",
}


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def locals_of(function):
    """Names that a function assigns whole: its numbers, vectors and matrices, not its arrays."""
    return {
        name.id
        for node in ast.walk(function) if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in ast.walk(target) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }  # fmt: skip


def added_in_place(source):
    """Lines of augmented assignments to elements of anything but a local."""
    for function in functions(ast.parse(source)):
        own = locals_of(function)
        for node in ast.walk(function):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                base = node.target.value
                if not (isinstance(base, ast.Name) and base.id in own):
                    yield node.lineno


def test_the_check_sees_arrays_and_spares_vectors():
    source = "def f(a, d, i):\n    v = g()\n    v[0] += 1\n    a[i] += v\n    d.qvel[i] -= 1\n    a[i] = a[i] * 2"
    assert list(added_in_place(source)) == [4, 5]


@pytest.mark.parametrize("path", sorted(KERNELS.rglob("*.py")), ids=lambda path: path.stem)
def test_no_array_is_added_to_in_place(path):
    assert not list(added_in_place(path.read_text()))


@pytest.mark.parametrize("path", sorted(KERNELS.rglob("*.py")), ids=lambda path: path.stem)
def test_atomics_are_on_known_whole_numbers(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("ti.atomic"):
            target = node.args[0]
            while isinstance(target, ast.Subscript):
                target = target.value
            assert ast.unparse(target).removeprefix("d.") in ATOMIC, node.lineno
