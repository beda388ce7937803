"""Arrays of a Model that remember being written, so that their device copies follow."""

import numpy as np


class Changes(set):
    """Names of the arrays written since the device copies were last made; counts all writes."""

    count = 0

    def add(self, name):
        super().add(name)
        self.count += 1


class ModelArray(np.ndarray):
    """A NumPy array of a Model that remembers being written, so that the device copy follows."""

    _changed = None  # (set of names, name)

    def __array_finalize__(self, source):
        self._changed = getattr(source, "_changed", None)

    def _mark(self):
        if self._changed is not None:
            self._changed[0].add(self._changed[1])

    def __setitem__(self, index, value):
        super().__setitem__(index, value)
        self._mark()

    def fill(self, value):
        super().fill(value)
        self._mark()

    @property
    def flat(self):
        """NumPy's iterator, through which elements may be written."""
        self._mark()
        return super().flat

    def __array_function__(self, func, types, args, kwargs):
        if func in (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal) and isinstance(args[0], ModelArray):
            args[0]._mark()
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        def plain(a):
            return a.view(np.ndarray) if isinstance(a, ModelArray) else a

        if out is not None:
            for a in out:
                if isinstance(a, ModelArray):
                    a._mark()
            kwargs["out"] = tuple(plain(a) for a in out)
        result = getattr(ufunc, method)(*(plain(a) for a in inputs), **kwargs)
        return out[0] if out is not None and len(out) == 1 else result


def tracked(arrays, changed):
    """The arrays as ModelArray, each adding its name to the Changes `changed` when it is written."""
    out = {}
    for name, value in arrays.items():
        a = np.ascontiguousarray(value).view(ModelArray)
        a._changed = (changed, name)
        out[name] = a
    return out
