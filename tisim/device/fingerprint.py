"""A key of a kernel's variant: a hash over all that its machine code follows from.

That is the source of the kernel and of every function that it can reach by name, the values of the names they read,
what its arrays and numbers are, the precision and options, and Taichi's version. Equal keys mean equal code; what
cannot be described gives no key, so that nothing is missed.
"""

import ast
import enum
import hashlib
import pathlib
import types

import numpy as np

from . import called, memory, session
from .flow import CALLED_FOR
from .syntax import syntax

SHAPING = ("bundle.py", "called.py", "taichi_patches.py", "machine_code.py")  # they shape every kernel's code
APART = ("cli", "viewer", "scenes", "models")  # folders on which no kernel depends
NAMED = ("taichi", "numpy", "math", "builtins")  # modules that count by name; Taichi's version is in the key
OPEN = ("eval", "exec", "globals", "locals", "vars", "open", "__import__")  # find what no name in the source says
HARMLESS = (  # options of Taichi that change no code, or that are set for each kernel
    "offline_cache", "print_", "verbose", "cpu_max_num_threads", "num_compile_threads", "device_memory", "log_level",
    "kernel_profiler", "timeline",
)  # fmt: skip
WRAPPING = ("taichi.lang.kernel_impl", called.__name__)  # modules whose functions stand for those that they wrap


class Unknown(Exception):
    """A value that a kernel reaches and that cannot be described."""


def digest(*parts):
    """40 hex digits of these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def source_digest():
    """Digest of all source files that kernels may depend on, the same in a checkout and installed."""
    return digest(*(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for name, path in _sources()))


def sources_changed():
    """Whether a source file may not be as this process imported it; a digest then says nothing of what runs here."""
    return any(path.stat().st_ctime > session.began - 2 for _, path in _sources())


def _sources():
    """[(name, path)] of these files."""
    import tisim.kernels

    package = pathlib.Path(__file__).parent.parent
    files = [(path.relative_to(package), path) for path in package.rglob("*.py")]
    files = [(name.as_posix(), path) for name, path in files if name.parts[0] not in ("kernels", *APART)]
    for folder in map(pathlib.Path, tisim.kernels.__path__):
        files += [(f"kernels/{path.relative_to(folder).as_posix()}", path) for path in folder.rglob("*.py")]
    return sorted(files)


class Fingerprints:
    """Makes keys. basis: a text of what all kernels depend on."""

    def __init__(self, basis):
        here = pathlib.Path(__file__).parent
        self._basis = [basis, *((here / name).read_text() for name in SHAPING)]
        self._names = {}

    def of(self, function, arguments):
        """Key of a kernel's specialised function with these bundle.Arguments; Unknown if it has none."""
        return digest(*self._parts(function, arguments, _Reached([function])))

    def reached(self, function, arguments):
        """The Python functions that a key covers."""
        reached = _Reached([function])
        self._parts(function, arguments, reached)
        return reached.functions

    def _parts(self, function, arguments, reached):
        kinds = [memory.element(entry.dtype, entry.width) for entry in arguments.entries]
        parts = [*self._basis, repr([(path, arguments.paths[path]) for path in sorted(arguments.paths)])]
        parts += [repr(arguments.entries), _text(kinds, reached), _text(arguments.own, reached), *arguments.text()]
        for f in reached.functions:  # which becomes longer
            names = self._names_of(f)
            parts.append(names.describe(reached))
            parts += [_feature_text(arguments.has, name, reached) for name in sorted(names.features)]
        return parts

    def _names_of(self, function):
        """The names of a function; what they stand for is looked up for each key, as Taichi does for each kernel."""
        if id(function) not in self._names:
            self._names[id(function)] = _Names(function)  # which keeps it, so that its id stays its own
        return self._names[id(function)]


class _Reached:
    """Functions in the order in which they are met, each known by its number there."""

    def __init__(self, functions):
        self.functions = functions
        self._numbers = {id(f): i for i, f in enumerate(functions)}

    def number(self, function):
        if id(function) not in self._numbers:
            self._numbers[id(function)] = len(self.functions)
            self.functions.append(function)
        return self._numbers[id(function)]


class _Names(ast.NodeVisitor):
    """The names that a function reads, as paths: "ti.sqrt", "MINVAL"; all but its parameters.

    A local variable's name counts too where a global has it: Taichi finds that global outside the block in which the
    variable is assigned. So do variables of comprehensions, which are locals in some versions of Python only.
    """

    def __init__(self, function):
        found = syntax(function)
        if found is None:
            raise Unknown(f"{function.__qualname__}: its source is not in a file")
        self.function, self.paths, self.features = function, set(), set()
        self.source = "\n".join(found.lines[found.node.lineno - 1 : found.node.end_lineno])
        if feature := getattr(function, CALLED_FOR, None):
            self.features.add(feature)
        self.parameters = {a.arg for a in ast.walk(found.node.args) if isinstance(a, ast.arg)}
        self.place = found.place(found.node)
        self.visit(found.node)

    def visit_Name(self, node):
        if node.id not in self.parameters:
            self.paths.add(node.id)

    def visit_Attribute(self, node):
        names, at = [node.attr], node.value
        while isinstance(at, ast.Attribute):
            names.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            return self.visit(at)
        names = [at.id, *reversed(names)]
        if at.id not in self.parameters:
            self.paths.add(".".join(names))
        elif names[:2] == ["m", "has"]:
            self.features.add(".".join(names[2:]))

    def refuse(self, node):
        raise Unknown(f"{self.place}: what {type(node).__name__} brings in cannot be followed")

    visit_Import = visit_ImportFrom = visit_Global = visit_Nonlocal = visit_ClassDef = refuse

    def describe(self, reached):
        """The function's source, and what stands behind the names in it now."""
        given = self.function.__defaults__, self.function.__kwdefaults__, self.function.__annotations__
        known, cells = dict(self.function.__globals__), self.function.__closure__ or ()
        try:
            known.update(zip(self.function.__code__.co_freevars, (c.cell_contents for c in cells)))
        except ValueError:
            raise Unknown(f"{self.place}: a name of its closure has no value") from None
        text = [self.source, _text(given, reached)]
        for path in sorted(self.paths):
            first, *rest = path.split(".")
            if first in known:
                text.append(f"{path}={self.value(path, known[first], rest, reached)}")
            elif first in OPEN:
                raise Unknown(f"{self.place}: what {first} finds cannot be followed")
        return "\n".join(text)

    def value(self, path, value, rest, reached):
        """Text of what a path stands for."""
        while rest and isinstance(value, (types.ModuleType, type)) and _module_of(value) not in NAMED:
            if not hasattr(value, rest[0]):
                raise Unknown(f"{self.place}: {path} is not known")
            value = getattr(value, rest.pop(0))
        if rest and not _says_all(value, rest[0]):
            raise Unknown(f"{self.place}: what {path} is does not follow from {value!r}")
        return _text(value, reached)


def _feature_text(has, name, reached):
    """Text of an attribute of the Features: its value, a property's too, is all that a kernel knows of it."""
    return f"{name}={_text(getattr(has, name), reached)}"


def _says_all(value, attribute):
    """Whether the text of a value says what an attribute of it is."""
    if isinstance(value, enum.Enum):
        return attribute == "value"
    kind = type(value)
    if isinstance(value, types.FunctionType):
        return _home(value) in NAMED
    if kind.__module__ in ("builtins", "numpy") or kind.__module__.startswith("taichi"):
        return True
    return isinstance(value, (types.ModuleType, type)) or attribute in getattr(kind, "_fields", ())


def _module_of(value):
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
    return name.split(".")[0]


def _home(function):
    """Package in which a function stands, whatever it says of itself: wrappers say that they stand elsewhere."""
    return function.__globals__.get("__name__", "").split(".")[0]


def _text(value, reached, depth=0):
    """Text of a value, the same in every process; functions in it are reached."""
    if depth > 6:
        raise Unknown(f"{value!r} is nested too deeply")

    def inside(x):
        return _text(x, reached, depth + 1)

    kind = type(value)
    if value is None or kind in (bool, int, float, str, bytes):
        return f"{kind.__name__} {value!r}"
    if isinstance(value, enum.Enum):
        return f"{kind.__name__} {inside(value.value)}"
    if isinstance(value, (np.generic, np.ndarray)) and not value.dtype.hasobject:
        return f"{kind.__name__} {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"{kind.__name__} [{', '.join(map(inside, value))}]"
    if kind in (set, frozenset):
        if any(callable(x) for x in value):
            raise Unknown(f"{value!r} has no order")
        return f"set {sorted(map(inside, value))}"
    if kind in (dict, types.MappingProxyType):
        return f"dict {[(inside(k), inside(x)) for k, x in value.items()]}"
    if isinstance(value, types.FunctionType):
        return _function_text(value, reached)
    if isinstance(value, property):
        return f"property {inside(value.fget)}"
    if isinstance(value, (types.ModuleType, types.BuiltinFunctionType, type)) and _module_of(value) in NAMED:
        return f"{kind.__name__} {getattr(value, '__module__', '')}.{value.__name__}"
    if kind.__module__.startswith("taichi"):
        return _taichi_text(value, inside)
    raise Unknown(f"{value!r} of {kind.__module__}.{kind.__qualname__}")


def _function_text(value, reached):
    """Text of a function: a number that stands for its source, unless it is a known package's."""
    marks = []
    while value.__globals__.get("__name__") in WRAPPING and hasattr(value, "__wrapped__"):
        marks.append("real" if getattr(value, "_is_real_function", False) else "taichi")
        value = value.__wrapped__
    if _home(value) in NAMED:
        return f"function {marks} {value.__module__}.{value.__qualname__}"
    return f"function {marks} {reached.number(value)}"


def _taichi_text(value, inside):
    """Text of one of Taichi's types."""
    kind = type(value)
    if hasattr(value, "get_shape") and hasattr(value, "dtype"):
        return f"{kind.__name__} {inside(value.dtype)} {value.get_shape()}"
    if kind.__name__ == "DataType":
        return f"number {value.to_string()}"
    if kind.__name__ == "Template":
        return "template"
    if kind.__name__ == "StructType":
        return f"struct {inside(value.members)}{inside(dict(value.methods))}"
    raise Unknown(f"{value!r} of {kind.__module__}.{kind.__qualname__}")


def options_text(config):
    """Text of Taichi's options as they stand, which variables of the environment may have changed."""
    names = [name for name in dir(config) if not name.startswith(("_", *HARMLESS))]
    values = ((name, getattr(config, name)) for name in names)
    return repr([(name, x.to_string() if hasattr(x, "to_string") else str(x)) for name, x in values])
