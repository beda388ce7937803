"""A case of a sweep: parameters, by name, and a seed. What its names set."""

import functools
from collections.abc import Mapping

import numpy as np

from tisim.enums.members import integer
from tisim.errors import Error, ValuesError, brief
from tisim.mjcf.format.names import nearest
from tisim.model.fields import FIXED
from tisim.model.watched import is_masked, kind_of, numbers

# what a case may set of a Data
INPUTS = "time qpos qvel act ctrl qfrc_applied xfrc_applied eq_active mocap_pos mocap_quat userdata".split()
# bounds and volumes that do not follow, neither when these are written nor by set_const
COMPILED = ("geom_size", "geom_rbound", "geom_aabb", "mesh_", "hfield_")


class Case(Mapping):
    """Parameters of one simulation.

    case["tilt"]  a parameter;  index  of the case;  seed  its own;  rng  a NumPy generator that starts from the seed.
    """

    def __init__(self, index, seed, params):
        self.index, self.seed, self._params = index, seed, params

    def __getitem__(self, name):
        return self._params[name]

    def __iter__(self):
        return iter(self._params)

    def __len__(self):
        return len(self._params)

    def __repr__(self):
        words = ", ".join(f"{k}={_shown(np.asarray(v))}" for k, v in self.items())
        return f"case {self.index} ({words})" if words else f"case {self.index}"

    def __reduce__(self):
        return Case, (self.index, self.seed, self._params)

    @functools.cached_property
    def rng(self):
        return np.random.default_rng(self.seed)


def read(cases, seed=0):
    """List of Case from a number, a list of dicts, or a dict of columns of one length.

    A parameter named seed is the seed of its case; else case k has seed + k.
    Raises Error where the cases do not all have the same names, or a value is no number or array of numbers.
    """
    if isinstance(cases, Mapping):
        columns = {name: _column(name, values) for name, values in cases.items()}
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise Error(f"cases: columns of different lengths: {', '.join(f'{k} {n}' for k, n in lengths.items())}")
        number = next(iter(lengths.values()), 0)
        rows = [{name: values[k] for name, values in columns.items()} for k in range(number)]
    elif isinstance(cases, (int, np.integer)) and not isinstance(cases, bool) and cases > 0:
        rows = [{} for _ in range(cases)]
    else:
        try:
            rows = [dict(row) for row in cases]
        except (TypeError, ValueError):
            raise Error("cases: expected a number of them, a list of dicts, or a dict of columns") from None
    if not rows:
        raise Error("cases: there are none")
    out = []
    for k, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise Error(f"case {k} has the parameters {sorted(map(str, row))}, case 0 {sorted(map(str, rows[0]))}")
        params = {name: _value(k, name, value) for name, value in row.items()}
        own = params.pop("seed", seed + k)
        if isinstance(own, bool) or not isinstance(own, (int, np.integer)) or own < 0:
            raise Error(f"case {k}: seed={brief(own)}: expected a whole number, 0 or more")
        out.append(Case(k, int(own), params))
    return out


def check_names(m, names, free):
    """Refuses parameters that set nothing.  free  others are allowed, for functions that read them."""
    for name in names:
        if name in INPUTS:
            continue
        if name.startswith("opt."):
            getattr(m.opt, name[4:])  # raises a FieldError that tells the near ones
        elif name in m._arrays:
            if name in FIXED or name.startswith(COMPILED):
                raise Error(f"parameter {name}: other fields follow from it when a model is compiled; let `model` be a "
                            "function of the case that returns a Spec or a Model")  # fmt: skip
        elif not free:
            raise Error(
                f"parameter {name!r} is no field of Model, Data or opt{nearest(name, [*m._arrays, *INPUTS])}; others "
                "need a function `prepare`, or one as `model` or `steps`, that reads them"
            )


def write(m, case):
    """Writes what a case sets of a model; constants follow. Returns whether there was something."""
    arrays = [name for name in case if name in m._arrays and name not in INPUTS]
    options = [name for name in case if name.startswith("opt.")]
    for name in options:
        setattr(m.opt, name[4:], case[name])
    for name in arrays:
        _fill(name, getattr(m, name), case[name])
    if arrays:
        from tisim.model.set_const import set_const

        set_const(m)
    return bool(arrays or options)


def write_inputs(d, case):
    """Writes what a case sets of a Data."""
    for name in case:
        if name == "time":
            d.time = case[name]
        elif name in INPUTS:
            _fill(name, getattr(d, name), case[name])


def _fill(name, array, values):
    if not array.size and np.size(values):
        raise Error(f"{name}: there is nothing to set, it has shape {array.shape} in this model")
    try:
        values = np.broadcast_to(numbers(values), array.shape)
    except ValuesError:
        raise
    except ValueError:
        raise Error(f"{name}: has shape {np.shape(values)}, which does not fit {array.shape}") from None
    kind = np.asarray(array).dtype
    if kind.kind in "iu":
        with np.errstate(invalid="ignore"):  # nan
            odd = values[values != values.astype(kind)]
        if odd.size:
            raise Error(f"{name}: expected whole numbers of {8 * kind.itemsize} bits, got {odd[0]}")
    array[...] = values


def _shown(array):
    return np.array2string(array, threshold=4, precision=6) if array.ndim < 2 else brief(array)


def _column(name, values):
    try:
        return list(values)
    except TypeError:
        raise Error(f"cases: {name} is no column: expected a value for each case") from None


def _value(k, name, value):
    if not isinstance(name, str):
        raise Error(f"case {k}: parameter {brief(name)}: expected a name")
    if is_masked(value):
        raise Error(f"case {k}: {name} is a masked array: its .filled(value) is one without a mask")
    value = integer(value)
    if kind_of(value) not in "biufU":
        raise Error(f"case {k}: {name}={brief(value)}: expected numbers or a word")
    return value.item() if isinstance(value, np.generic) else value
