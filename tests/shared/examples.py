"""The scripts under scenes/examples as modules."""

import importlib.util
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "scenes" / "examples"


def load(name):
    """The module of a script."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
