"""What users hand to queries, ids or names, vectors, one for all worlds or one for each; and what queries read."""

import math

import numpy as np

from tisim.data import given
from tisim.data.arrays import DATA
from tisim.data.state import ragged_as_objects
from tisim.device import memory
from tisim.errors import Error, ValuesError, brief
from tisim.model.watched import floats


def start(m, d):
    """Refuses what is no Model and its Data, or a Data of an earlier tisim.init."""
    given.check(m, d)
    d.check(m)


def part(d, name, index):
    """Rows of an array of all worlds, (nworld, len(index), ...) or (nworld, ...) for one, as float64; nothing else of
    it is copied on a CPU.
    """
    a = d.device(name)
    view = memory.host_view(a)
    dims = DATA[name].dims(d.model.scalar)
    flat = (memory.download(a) if view is None else view)[: d.nworld * math.prod(dims)]
    return flat.reshape(d.nworld, *dims)[:, index].astype(float)


def element(m, word, key):
    """Id of a body, geom, site, ... given as id or name. Raises Error where there is none."""
    if isinstance(key, (bool, np.bool_)):
        raise Error(f"{word}={brief(key)}: expected an id or a name")
    return m._id(word, key)


def elements(m, word, keys):
    """(ids (n,), whether there were several) of one id or name, or of a sequence of them."""
    depth = ragged_as_objects(keys).ndim if isinstance(keys, (list, tuple, np.ndarray)) else 0
    many = depth > 0
    if depth > 1:
        raise Error(f"{word}: expected an id or a name, or a sequence of them")
    ids = [element(m, word, key) for key in (keys if many else [keys])]
    return np.array(ids, np.int64), many


def numbers(name, value):
    """The argument as a float64 array. Raises Error where it is none, or not finite."""
    a = floats(name, value)
    if not np.isfinite(a).all():
        raise Error(f"{name} has a number that is not finite")
    return a


def number(name, value):
    """The argument as a finite float."""
    try:
        a = floats(name, value)
    except ValuesError:
        a = np.empty(0)
    if a.ndim or isinstance(value, (bool, np.bool_)) or not np.isfinite(a):
        raise Error(f"{name}={brief(value)}: expected a number")
    return float(a)


def of_worlds(d, name, value, width):
    """(nworld, width) of a vector for all worlds or one for each."""
    a = numbers(name, value)
    if a.shape not in ((width,), (d.nworld, width)):
        each = f" or ({d.nworld}, {width})" if d.nworld > 1 else ""
        raise Error(f"{name} has shape {a.shape}: expected ({width},){each}")
    return np.broadcast_to(a, (d.nworld, width))


def shaped(d, a):
    """A result (nworld, ...) as users get it: without the first axis for one world."""
    return a[0] if d.nworld == 1 else a


def flag(name, value):
    """True or False of a flag."""
    if not isinstance(value, (bool, int, np.bool_, np.integer)):
        raise Error(f"{name}={brief(value)}: expected True or False")
    return bool(value)
