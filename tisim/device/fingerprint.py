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

from .syntax import syntax

SHAPING = ("bundle.py", "taichi_patches.py", "machine_code.py")  # they shape every kernel's code
APART = ("cli", "viewer", "scenes", "models")  # folders on which no kernel depends
NAMED = ("taichi", "numpy", "math", "builtins")  # modules that count by name; their versions are in the key


class Unknown(Exception):
    """A value that a kernel reaches and that cannot be described."""


def digest(*parts):
    """40 hex digits of these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def source_digest():
    """Digest of all source files that kernels may depend on, the same in a checkout and installed."""
    import tisim.kernels

    package = pathlib.Path(__file__).parent.parent
    files = [(path.relative_to(package), path) for path in package.rglob("*.py")]
    files = [(name.as_posix(), path) for name, path in files if name.parts[0] not in ("kernels", *APART)]
    for folder in map(pathlib.Path, tisim.kernels.__path__):
        files += [(f"kernels/{path.relative_to(folder).as_posix()}", path) for path in folder.rglob("*.py")]
    return digest(*(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for name, path in sorted(files)))


class Fingerprints:
    """Makes keys; remembers the functions it has seen. basis: a text of what all kernels depend on."""

    def __init__(self, basis):
        here = pathlib.Path(__file__).parent
        self._basis = [basis, *((here / name).read_text() for name in SHAPING)]
        self._seen = {}

    def of(self, function, arguments):
        """Key of a kernel's specialised function with these bundle.Arguments; Unknown if it has none."""
        parts = [*self._basis, repr([(path, arguments.paths[path]) for path in sorted(arguments.paths)])]
        parts += [repr(arguments.entries), repr([(name, str(kind)) for name, kind in arguments.own])]
        order, met = [function], {id(function)}
        features = set()
        while order:
            text, callees, asked = self._look(order.pop())
            parts.append(text)
            features |= asked
            for f in callees:
                if id(f) not in met:
                    met.add(id(f))
                    order.append(f)
        parts += [f"{name}={getattr(arguments.has, name)!r}" for name in sorted(features)]
        return digest(*parts)

    def _look(self, function):
        """(text of a function and of what it reads, functions it reaches, features it asks for)."""
        if id(function) not in self._seen:
            self._seen[id(function)] = function, _describe_function(function)  # kept, so that its id stays its own
        return self._seen[id(function)][1]


def _describe_function(function):
    found = syntax(function)
    if found is None:
        raise Unknown(f"{function.__qualname__}: its source is not in a file")
    names = _Names(function, found.node)
    callees, text = [], [function.__qualname__, *found.lines[found.node.lineno - 1 : found.node.end_lineno]]
    for path in sorted(names.paths):
        text.append(f"{path}={names.describe(path, callees)}")
    return "\n".join(text), callees, names.features


class _Names(ast.NodeVisitor):
    """The names that a function reads and that are not its own, as paths: "ti.sqrt", "MINVAL"."""

    def __init__(self, function, node):
        self.function, self.paths, self.features = function, set(), set()
        code = function.__code__
        self.own = set(code.co_varnames) | set(code.co_cellvars)
        self.closure = {n: c.cell_contents for n, c in zip(code.co_freevars, function.__closure__ or ())}
        self.visit(node)

    def visit_Name(self, node):
        if node.id not in self.own:
            self.paths.add(node.id)

    def visit_Attribute(self, node):
        names, at = [node.attr], node.value
        while isinstance(at, ast.Attribute):
            names.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            return self.visit(at)
        names = [at.id, *reversed(names)]
        if at.id not in self.own:
            self.paths.add(".".join(names))
        elif names[:2] == ["m", "has"] and len(names) > 2:
            self.features |= _asked(names[2])

    def describe(self, path, callees):
        """Text of what a path stands for; functions are added to callees."""
        first, *rest = path.split(".")
        if first in self.closure:
            value = self.closure[first]
        elif first in self.function.__globals__:
            value = self.function.__globals__[first]
        else:
            return "builtin"
        for word in rest:
            if not isinstance(value, (types.ModuleType, type)) or _module_of(value) in NAMED:
                break  # a method or element of a value: the value says all
            value = getattr(value, word)
        return _text(value, callees)


def _asked(name):
    """Names of the Features behind an attribute of m.has, which may be a property of others."""
    from tisim.model.features import Features

    found = getattr(Features, name, None)
    return set(Features._fields) if isinstance(found, property) else {name}


def _module_of(value):
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
    return name.split(".")[0]


def _text(value, callees, depth=0):
    """Text of a value, the same in every process; functions are added to callees."""
    if depth > 6:
        raise Unknown(f"{value!r} is nested too deeply")
    if value is None or isinstance(value, (bool, int, float, str, bytes, np.generic)):
        plain = value.value if isinstance(value, enum.Enum) else value
        return f"{type(value).__name__} {plain!r}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__} [{', '.join(_text(x, callees, depth + 1) for x in value)}]"
    if isinstance(value, (set, frozenset)):
        return f"set {sorted(_text(x, callees, depth + 1) for x in value)}"
    if isinstance(value, dict):
        items = ((_text(k, callees, depth + 1), _text(x, callees, depth + 1)) for k, x in value.items())
        return f"dict {list(items)}"
    if isinstance(value, (types.ModuleType, types.BuiltinFunctionType)) or (
        isinstance(value, type) and _module_of(value) in NAMED
    ):
        return f"{type(value).__name__} {getattr(value, '__module__', '')}.{value.__name__}"
    if callable(value) and isinstance(inner := getattr(value, "__wrapped__", value), types.FunctionType):
        if _module_of(inner) in NAMED:
            return f"function {inner.__module__}.{inner.__qualname__}"
        callees.append(inner)
        return f"function {inner.__qualname__}"
    return _taichi_text(value, callees, depth)


def _taichi_text(value, callees, depth):
    """Text of one of Taichi's types."""
    kind = type(value)
    if kind.__module__.startswith("taichi"):
        if hasattr(value, "get_shape") and hasattr(value, "dtype"):
            return f"{kind.__name__} {value.dtype} {value.get_shape()}"
        if kind.__name__ == "DataType":
            return f"number {value.to_string()}"
        if kind.__name__ == "StructType":
            return f"struct {_text(value.members, callees, depth + 1)}{_text(dict(value.methods), callees, depth + 1)}"
    raise Unknown(f"{value!r} of {kind.__module__}.{kind.__qualname__}")
