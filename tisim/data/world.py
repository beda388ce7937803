"""One world of a Data of several: d.world(3).qpos has mujoco's shape and writes through."""

import numpy as np

from tisim.errors import Error, FieldError, IdError, brief

from . import diverged, on_demand
from .arrays import DATA
from .device_array import Copy, DeviceArray
from .state import Warnings
from .view import CONTACT_FIELDS, FIELDS, accessor, picked


class WorldContacts:
    """The contacts of a world: fields of mujoco's mjContact as arrays of length ncon; efc_address is that of all."""

    def __init__(self, world):
        self._world = world

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._world.data.contact, name)[self._rows()]

    def __repr__(self):
        return f"<contacts of {self._world!r}: {len(self)}>"

    def _rows(self):
        return np.flatnonzero(self._world.data.contact.worldid == self._world.index)

    def __len__(self):
        return len(self._rows())

    def __getitem__(self, index):
        """The contact at a place in the world's list, as a ContactView; for a slice a list of them."""
        return picked(self, index, " in this world")

    def __dir__(self):
        return [*super().__dir__(), *CONTACT_FIELDS]


class World:
    """One world of a Data: what reads as in a Data of one world, and states and inputs that write through.

        w = d.world(3)
        w.qpos[2] = 0.5
        w.body("box").xpos, w.ncon, w.contact.dist, w.time

    data, index, model  the Data, which world, their Model.
    Lists of constraint rows (efc_...) are those of all worlds and asked of the Data.
    Raises Error for an index that is none.
    """

    nworld = 1  # as views of named elements ask

    def __init__(self, data, index):
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < data.nworld:
            raise IdError(f"world {brief(index)}: expected an index from 0 to {data.nworld - 1}")
        for name, value in dict(data=data, index=int(index), model=data.model).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "contact", WorldContacts(self))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        d, array = self.data, DATA.get(name)
        if array is None or array.hidden or array.is_shared:
            if array is None or array.hidden:
                getattr(d, name)  # tells what is wrong with the name
            raise FieldError(f"{name} of one world is not kept: the Data has that of all worlds")
        on_demand.check(self.model, name, on_demand.hard(d))
        if name in on_demand.MADE:
            on_demand.MADE[name](self.model, d)
            return Copy(array, d.host(name)[self.index]).array()
        dims = array.dims(d._size_of)
        return DeviceArray(d, array, dims, self.index * array.size(d._size_of))

    def __setattr__(self, name, value):
        if name == "time":
            self.world_time[0] = value
        elif name in DATA:
            getattr(self, name)[...] = value
        else:
            raise FieldError(f"{brief(name)} of a world cannot be written")

    def __dir__(self):
        own = [name for name, a in DATA.items() if not a.hidden and not a.is_shared]
        return sorted({*super().__dir__(), *own})

    def __repr__(self):
        return f"<world {self.index} of {self.data!r}>"

    @property
    def time(self):
        """Simulation time [s]."""
        return float(self.data.host("world_time")[self.index, 0])

    @property
    def ncon(self):
        """Number of listed contacts."""
        return len(self.contact)

    @property
    def warning(self):
        """Warnings by mjtWarning, each with number and lastinfo."""
        return Warnings(self)

    @property
    def diverged(self):
        """Bad states of this world since the last reset by the user: Data.diverged."""
        return [bad for bad in diverged.found(self.model, self.data) if bad.world == self.index]

    def host(self, name):
        """Copy of an array on the host, with a leading axis of one world."""
        array = DATA[name]
        if array.is_shared:
            raise Error(f"{name} is one list of all worlds: ask the Data")
        return self.data.host(name)[self.index : self.index + 1]


for _word in FIELDS:
    setattr(World, _word, accessor(_word))
