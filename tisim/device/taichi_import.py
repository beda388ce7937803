"""Taichi 1.7.4 imported in half the time, and nothing in it changed that anybody could see.

Half of a plain `import taichi` goes into one question: each of its own 93 kernels and functions asks whether it stands
in a class, and is answered from the text of a source file. A sixth goes into `dill`, for functions typed into an
interactive shell, and `urllib`, for asking the network whether Taichi is outdated; both are loaded when they are used.
Nothing happens to a Taichi that was imported before; sys.modules holds no stand-in afterwards.
"""

import contextlib
import importlib
import importlib.machinery
import inspect
import os
import sys
import types

from . import garbage

os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
os.environ.setdefault("TI_SKIP_VERSION_CHECK", "ON")  # the version is pinned: there is nothing to ask the network for


def load():
    """The module taichi."""
    if "taichi" not in sys.modules:
        with garbage.collected_later(), _standing_in(), _answering_quickly():
            import taichi  # noqa: F401
    return sys.modules["taichi"]


class _Later(types.ModuleType):
    """A module that is imported when one of its names is asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        return getattr(importlib.import_module(self.__name__), name)


class _VersionCheck(_Later):
    def start_version_check_thread(self):
        if os.environ.get("TI_SKIP_VERSION_CHECK") != "ON":
            importlib.import_module(self.__name__).start_version_check_thread()


@contextlib.contextmanager
def _standing_in():
    """While it lasts, modules that Taichi imports and hardly ever uses are imported as promises."""
    made = {m.__name__: m for m in (_Later("dill"), _VersionCheck("taichi._version_check"))}
    made = {name: module for name, module in made.items() if name not in sys.modules}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name, module in made.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


class _Decorators(importlib.machinery.SourceFileLoader):
    """Loads taichi.lang.kernel_impl, the home of @ti.kernel and @ti.func."""

    def exec_module(self, module):
        super().exec_module(module)
        if hasattr(module, "_inside_class"):
            module._inside_class = inside_class


def inside_class(level_of_class_stackframe):
    """True if the function being decorated stands in a class; the frame before the one asked for is then its body."""
    frame = sys._getframe(level_of_class_stackframe - 1)
    return not frame.f_code.co_flags & inspect.CO_OPTIMIZED and "__qualname__" in frame.f_locals


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "taichi.lang.kernel_impl":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Decorators(spec.loader.name, spec.loader.path)
        return spec


@contextlib.contextmanager
def _answering_quickly():
    """While it lasts, kernel_impl is loaded with `inside_class` of this file."""
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(_Finder)
