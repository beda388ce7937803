"""Arrays whose owner learns of every write.

What users get is read-only to NumPy, and so is every view that NumPy makes of it: a way of writing that could not be
noticed raises. `Watched` notices the others, writes into the owner's memory and tells the owner.
"""

import sys

import numpy as np

from tisim.enums.members import integers
from tisim.errors import Error, ValuesError


class Source:
    """Where the numbers of a Watched array and of all views of it are: an array that can be written."""

    def __init__(self, name, whole):
        self.name, self.whole = name, whole
        self.first = whole.__array_interface__["data"][0]

    def array(self):
        """The whole as a Watched array."""
        a = np.ndarray.__new__(Watched, self.whole.shape, self.whole.dtype, self.whole.data.toreadonly())
        a._source = self
        return a

    def place(self, of):
        """Bytes from the first number of the whole to that of an array."""
        return of.__array_interface__["data"][0] - self.first

    def view(self, of):
        """What can be written of the array `of`, a view of the whole."""
        return np.ndarray(of.shape, of.dtype, self.whole.data, self.place(of), of.strides)

    def holds(self, of):
        """Whether an array is a view of the whole, not a copy."""
        return of.size and 0 <= self.place(of) < self.whole.nbytes

    def begin(self, view):
        """Before a write to a view; raises Error where none may be."""

    def wrote(self, view, index):
        """After a write to view[index]."""


class Watched(np.ndarray):
    """An array of which every write is noticed; copies of it are arrays like others."""

    _source = None

    def __array_finalize__(self, source):
        self._source = getattr(source, "_source", None)

    def _write(self, act, index=...):
        """act(an array that can be written), and what follows from a write."""
        source = self._source
        if not self.size:  # lies in no memory, and nothing follows
            return act(np.empty(self.shape, self.dtype))
        if source is None or not source.holds(self):
            return act(self.view(np.ndarray))
        source.begin(self)
        out = source.view(self)
        try:
            return act(out)
        except (ValueError, TypeError, OverflowError) as e:
            raise ValuesError(f"{source.name} cannot be written so: {e}") from None
        finally:
            source.wrote(self, index)

    def __setitem__(self, index, value):
        index, value = _plain(index), fitting(value, self.dtype)
        self._write(lambda out: out.__setitem__(index, value), index)

    def __setattr__(self, name, value):
        if name in ("shape", "strides", "dtype", "data", "imag"):
            raise Error(f"the {name} of {self._source.name if self._source else 'a copy'} cannot be written")
        elif name in ("real", "flat"):
            value = fitting(value, self.dtype)
            self._write(lambda out: setattr(out, name, value))
        else:
            super().__setattr__(name, value)

    @property
    def flags(self):
        """NumPy's flags, which cannot be set: what is made writable would be written unnoticed."""
        return self.view(np.ndarray).flags

    def setflags(self, write=None, **kwargs):
        if write and not self.flags.writeable:
            raise ValuesError("an array of a Model or Data cannot be made writable; assign to it")
        super().setflags(write, **kwargs)

    @property
    def base(self):
        """A read-only array over the same memory; None for a copy."""
        return self.view(np.ndarray) if self._source is not None and self._source.holds(self) else super().base

    @property
    def flat(self):
        """The elements in a row, to be read and written."""
        return Flat(self)

    def fill(self, value):
        value = fitting(value, self.dtype)
        self._write(lambda out: out.fill(value))

    def put(self, *args, **kwargs):
        self._write(lambda out: out.put(*args, **kwargs))

    def sort(self, *args, **kwargs):
        self._write(lambda out: out.sort(*args, **kwargs))

    def partition(self, *args, **kwargs):
        self._write(lambda out: out.partition(*args, **kwargs))

    def setfield(self, *args, **kwargs):
        self._write(lambda out: out.setfield(*args, **kwargs))

    def __array_function__(self, func, types, args, kwargs):
        if func in WRITE_FIRST and args and isinstance(args[0], Watched):
            return args[0]._write(lambda out: func(out, *_plain(args[1:]), **_plain(kwargs)))
        if isinstance(target := kwargs.get("out"), Watched):
            target._write(lambda out: func(*_plain(args), **_plain(kwargs | dict(out=out))))
            return target
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        act, kwargs = getattr(ufunc, method), _plain(kwargs)
        if method == "at" and isinstance(inputs[0], Watched):
            return inputs[0]._write(lambda a: act(a, *_plain(inputs[1:]), **kwargs))
        if out is None:
            return act(*_plain(inputs), **kwargs)
        for a in out:
            if isinstance(a, Watched) and a._source is not None and a._source.holds(a):
                a._source.begin(a)
        # copies, since `where` leaves some elements as they are
        results = tuple(np.array(a.view(np.ndarray)) if isinstance(a, Watched) else a for a in out)
        act(*_plain(inputs), out=results, **kwargs)
        for a, result in zip(out, results):
            if isinstance(a, Watched):
                a[...] = result
        return out[0] if len(out) == 1 else out

    def __reduce__(self):
        return np.array(self.view(np.ndarray)).__reduce__()

    def __deepcopy__(self, memo):
        return np.array(self.view(np.ndarray))


def kind_of(value):
    """NumPy's kind of number of what an array can be made of, "O" where none can: of rows of different lengths."""
    try:
        return np.asarray(value).dtype.kind
    except ValueError:
        return "O"


def is_masked(value):
    """Whether this is a masked array; numpy.ma, which takes a while, is not loaded for the question."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


def numbers(value):
    """What is to be written, as numbers. Error for None, of which NumPy makes NaN, for texts and complex numbers, and
    for a mask, which would be lost."""
    if type(value) not in (float, int, bool):
        value = _plain(value)
        if is_masked(value):
            raise ValuesError("expected numbers, got a masked array: its .filled(value) is one without a mask")
        if (kind := kind_of(value)) == "O" and (known := integers(value)) is not None:
            return known
        if kind not in "biuf":
            text = repr(value)
            if isinstance(value, np.lib.npyio.NpzFile) and value.files:
                raise ValuesError(f"expected numbers, got a file of arrays: take one, as [{value.files[0]!r}]")
            raise ValuesError(f"expected numbers, got {text if len(text) < 60 else type(value).__name__}")
    return value


def fitting(value, dtype):
    """The same for an array of this type. Error for what whole numbers of it cannot be: NumPy makes others of those in
    arrays that are too large, and of NaN."""
    value = numbers(value)
    if dtype.kind in "iu" and type(value) not in (float, int, bool):  # which NumPy refuses itself
        a, of = np.asarray(value), np.iinfo(dtype)
        if a.dtype.kind in "iuf" and not (fit := (np.trunc(a) >= of.min) & (np.trunc(a) <= of.max)).all():
            raise ValuesError(f"expected whole numbers of {of.min} .. {of.max}, got {a[~fit].flat[0]}")
    return value


def floats(name, values):
    """Values of an argument or field as an array of f64; ValuesError, with its name, for what are no numbers."""
    try:
        return np.asarray(numbers(values), np.float64)
    except (TypeError, ValueError, OverflowError) as e:
        raise ValuesError(f"{name}: {e}") from None


WRITE_FIRST = (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis)


class Flat:
    """The elements of a Watched array in a row."""

    def __init__(self, array):
        self.base = array

    def __getitem__(self, index):
        return self.base.view(np.ndarray).flat[index]

    def __setitem__(self, index, value):
        index, value = _plain(index), fitting(value, self.base.dtype)
        self.base._write(lambda out: out.flat.__setitem__(index, value))

    def __iter__(self):
        return iter(self.base.view(np.ndarray).flat)

    def __len__(self):
        return self.base.size

    def __array__(self, dtype=None, copy=None):
        return np.array(self.base.view(np.ndarray).flat, dtype)

    def copy(self):
        """The elements as an array."""
        return np.array(self)


def _plain(x):
    """x with Watched arrays in it as plain arrays, which cannot be written."""
    if isinstance(x, Watched):
        return x.view(np.ndarray)
    if type(x) in (tuple, list):
        return type(x)(map(_plain, x))
    if type(x) is dict:
        return {k: _plain(v) for k, v in x.items()}
    return x
