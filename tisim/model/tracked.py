"""Arrays of a Model that remember being written, so that their device copies follow."""

import weakref

import numpy as np

from tisim.errors import Error

from .fields import FIXED
from .watched import Source

# what can be written of what tree_inertia and tree_velocity read
OWED = frozenset(
    """body_inertia body_mass body_subtreemass body_gravcomp dof_M0 dof_armature dof_damping jnt_actgravcomp
    jnt_stiffness qpos_spring""".split()
)


class Changes(set):
    """Names of the arrays written since the device copies were last made; counts all writes.

    owing  Datas whose last step left undone what follows from these arrays (tisim/data/owed.py).
    """

    count = 0

    def __init__(self):
        super().__init__()
        self.owing = weakref.WeakSet()

    def coming(self, name):
        """Before an array is written: these make it now, of what the array was in their step."""
        while name in OWED and self.owing:
            self.owing.pop().settle()

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
        self._changed.coming(self._field)

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
