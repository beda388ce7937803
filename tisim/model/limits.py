"""How long the lists of a Data may become, by name: `m.capacity_limit`."""

import numpy as np

from tisim.errors import Error, brief
from tisim.mjcf.format.names import nearest

CAPACITIES = (
    "npairmax",
    "nentrymax",
    "nslotmax",
    "nconmax",
    "nefcmax",
    "ndensemax",
    "nrowmax",
    "nJmax",
    "nYmax",
    "nlcpmax",
)


def checked(name, value, what="capacity_limit"):
    """The value as an int. Raises Error for a name that no list has, or a value that is no length."""
    if name not in CAPACITIES:
        raise Error(
            f"{what} has no entry {brief(name)}{nearest(str(name), CAPACITIES)}; there are {', '.join(CAPACITIES)}"
        )
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise Error(f"{what}[{brief(name)}] = {brief(value)}: expected a length, a whole number from 0")
    return int(value)


class Limits(dict):
    """dict name -> most items; other names and what is no length are refused.  edits  counts the writes."""

    def __init__(self, values=()):
        super().__init__()
        self.edits = 0
        self.update(values)

    def __setitem__(self, name, value):
        value = checked(name, value)
        self.edits += 1
        super().__setitem__(name, value)

    def __delitem__(self, name):
        super().__delitem__(name)
        self.edits += 1

    def update(self, values=(), **more):
        try:
            new = dict(values, **more)
        except (TypeError, ValueError):
            raise Error(f"capacity_limit: expected a dict of names and lengths, got {brief(values)}") from None
        for name, value in new.items():  # all or nothing
            checked(name, value)
        for name, value in new.items():
            self[name] = value

    def setdefault(self, name, value=None):
        if name not in self:
            self[name] = value
        return self[name]

    def pop(self, name, *default):
        self.edits += 1
        return super().pop(name, *default)

    def popitem(self):
        self.edits += 1
        return super().popitem()

    def clear(self):
        self.edits += 1
        super().clear()

    def __ior__(self, values):
        self.update(values)
        return self

    def __reduce__(self):
        return Limits, (dict(self),)
