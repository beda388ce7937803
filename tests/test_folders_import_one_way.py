"""Files and folders of tisim import one way only, few files lie outside a folder, and all folders are installed.

Contract: what is imported when a module is loaded makes no circle, neither of files nor of folders; the folders stand
in ORDER, and a file imports only from its own folder and those before it.
"""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# each may import from those before it; `tisim.kernels` is loaded by device/runtime, once Taichi runs
ORDER = """errors enums mujoco_names device.garbage mjcf.numbers mjcf.rotations mjcf.tree mjcf.format mjcf.scene
mjcf.assets mjcf.elements mjcf.reference mjcf.reduce mjcf.lengthrange mjcf.compile mjcf device model.tables model data
spec stages queries pipeline derivatives rollout settling recording sweeping viewer gym scenes cli""".split()


def module(path):
    """Dotted name of a file, without `tisim.`; kernels/ and scenes/ are packages of tisim."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "tisim" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module(f): f for top in ("tisim", "kernels", "scenes") for f in sorted((ROOT / top).rglob("*.py"))}


def imported(name):
    """Modules of tisim that a file imports when it is loaded."""
    for node in ast.parse(FILES[name].read_text()).body:
        if isinstance(node, ast.ImportFrom):
            package = name.split(".") if FILES[name].name == "__init__.py" else name.split(".")[:-1]
            above = package[: len(package) - node.level + 1] if node.level else []
            if not node.level and (node.module or "").partition(".")[0] != "tisim":
                continue
            base = ".".join([*above, *(node.module or "").removeprefix("tisim").strip(".").split(".")]).strip(".")
            for alias in node.names:
                full = f"{base}.{alias.name}".strip(".")
                yield full if full in FILES else base


def place(name):
    """Place in ORDER of the folder, or file without one, that a module is in."""
    while name not in ORDER:
        name = name.rpartition(".")[0]
        if not name:
            return None
    return ORDER.index(name)


def test_the_check_sees_imports_of_every_form():
    assert {"model.tracked", "mjcf", "errors"} <= set(imported("model.model"))
    assert {"mjcf.rotations", "mjcf.scene.items"} <= set(imported("mjcf.elements.bodies"))
    assert {"kernels.wide", "kernels.rotation"} <= set(imported("kernels.smooth.kinematics"))
    assert place("mjcf.rotations") < place("mjcf.elements.bodies") < place("mjcf") < place("model.model")


@pytest.mark.parametrize("name", sorted(n for n in FILES if n not in ("", "__main__") and not n.startswith("kernels")))
def test_a_file_imports_only_from_what_stands_before(name):
    for other in imported(name):
        assert place(name) is not None, f"{name} stands in no folder of ORDER"
        assert other == "" or place(other) <= place(name), f"{name} imports {other}"


def test_no_file_is_part_of_a_circle():
    edges = {name: {other for other in imported(name) if other in FILES and other != name} for name in FILES}
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            path.append(name)
            for other in sorted(edges[name]):
                visit(other)
            path.pop()
            done.add(name)

    for name in sorted(edges):
        visit(name)


def test_few_files_lie_outside_a_folder():
    assert len(list((ROOT / "tisim").glob("*.py"))) <= 8
    assert len(list((ROOT / "tisim" / "mjcf").glob("*.py"))) <= 6


def test_every_folder_is_installed():
    text = (ROOT / "pyproject.toml").read_text()
    listed = ast.literal_eval(text[text.index("packages = [") :].partition("=")[2].partition("]")[0].strip() + "]")
    folders = {f"tisim.{name}".strip(".") for name, path in FILES.items() if path.name == "__init__.py"}
    assert set(listed) == folders | {"tisim.models"}
