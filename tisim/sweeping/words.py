"""What a sweep computes, as text: where the text is the same, so are the results.

Of a function that is its source, what it holds (closures, defaults, arguments of a partial, the object of a method) and
what it reads of its module, other functions there among it. Other modules are taken to stay as they are.
"""

import functools
import hashlib
import inspect
import os
import types

import numpy as np

from tisim.model.model import Model
from tisim.spec.spec import Spec

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, range, os.PathLike)


def words(value, home=None, seen=None):
    """Text of a value.  home  the module whose functions and objects are looked into;  seen  what was told before."""
    if isinstance(value, PLAIN):
        return repr(value.item() if isinstance(value, np.generic) else value)
    seen = {} if seen is None else seen
    if id(value) in seen:
        return f"#{seen[id(value)][0]}"
    seen[id(value)] = len(seen), value  # kept, so that its id is no other's
    parts, home = _parts(value, home or getattr(value, "__module__", None))
    if parts is None:
        return getattr(value, "__qualname__", type(value).__qualname__)
    inside = [words(part, home, seen) for part in parts]
    if isinstance(value, (set, frozenset)):
        inside.sort()
    return f"{type(value).__name__}({', '.join(inside)})"


def _parts(value, home):
    """What a value consists of, None where it goes by its name; and the module that is looked into."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return [value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()], home
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair], home
    if isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        return list(value), home
    if isinstance(value, Model):
        of = value._arrays, value._names, dict(value.opt.items()), dict(value.callback.items()), repr(value.lcp)
        return list(of), None
    if isinstance(value, Spec):
        return [value.to_xml()], home
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords], getattr(value.func, "__module__", home)
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__], value.__func__.__module__
    if getattr(value, "__module__", None) != home:
        return None, home
    if isinstance(value, types.FunctionType):
        return _function(value), home
    if isinstance(value, type):
        return [_source(value) or value.__qualname__], home
    return [type(value), *([vars(value)] if hasattr(value, "__dict__") else [])], home


def _function(f):
    """Parts of a function."""
    source = _source(f)
    held = [cell.cell_contents for cell in f.__closure__ or () if _filled(cell)]
    codes = list(_codes(f.__code__))
    names = sorted({name for code in codes for name in code.co_names} & f.__globals__.keys())
    read = [f.__globals__[name] for name in names]
    if source is None:  # typed in, or made of a text
        source = [[code.co_code, [c for c in code.co_consts if c not in codes], code.co_names] for code in codes]
    return [source, held, f.__defaults__, f.__kwdefaults__, names, [x for x in read if not inspect.ismodule(x)]]


def _filled(cell):
    try:
        return cell.cell_contents is not cell
    except ValueError:  # a function that is not yet there
        return False


def _codes(code):
    """A code, and those of the functions within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


def _source(value):
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return None
