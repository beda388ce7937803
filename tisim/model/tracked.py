"""Arrays of a Model that remember being written, so that their device copies follow."""

import numpy as np

from tisim.errors import Error

from .fields import FIXED
from .watched import Source


class Changes(set):
    """Names of the arrays written since the device copies were last made; counts all writes."""

    count = 0

    def add(self, name):
        super().add(name)
        self.count += 1


class ModelSource(Source):
    """The memory of a Model's array."""

    def __init__(self, field, whole, changed):
        super().__init__(f"m.{field}", whole)
        self._field, self._changed = field, changed

    def begin(self, view):
        if self._field in FIXED:
            raise Error(
                f"{self.name} is read-only: it is part of the model's structure, which all else follows from; "
                "change m.spec() and compile that"
            )

    def wrote(self, view, index):
        self._changed.add(self._field)


def tracked(arrays, changed):
    """The arrays as Watched ones, each adding its name to the Changes `changed` when it is written."""
    out = {}
    for name, value in arrays.items():
        whole = np.ascontiguousarray(value)
        if not whole.flags.writeable:
            whole = whole.copy()
        out[name] = ModelSource(name, whole, changed).array()
    return out
