"""Data: the state, inputs and results of one or many worlds of a Model."""

import math

import numpy as np

from tisim.device import flow, launch, memory, runtime, session
from tisim.device.program import Program
from tisim.enums import mjtDisableBit
from tisim.errors import CapacityError, Error
from tisim.model.kinds import ALIASES

from .arrays import COUNTS, DATA
from .declare import CAPACITIES, LENGTHS
from .device_array import DeviceArray
from .scalars import lookup
from .state import Warnings, reset
from .view import FIELDS as DATA_VIEWS
from .view import ContactView, accessor

flow.declare(lookup)


class Contact:
    """The contact list: fields of mujoco's mjContact as arrays of length ncon."""

    def __init__(self, data):
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name):
        if "contact_" + name not in DATA:
            raise AttributeError(f"contact has no field {name!r}")
        return self._data.list_view("contact_" + name, "ncon")

    def __setattr__(self, name, value):
        raise Error(f"contact.{name} is computed by the collision stage; writing it would be lost")

    def __len__(self):
        return self._data.count("ncon")

    def __getitem__(self, index):
        """The contact at a place in the list, as a ContactView."""
        n = len(self)
        if not isinstance(index, (int, np.integer)) or not -n <= index < n:
            raise IndexError(f"no contact {index!r}: there are {n}")
        return ContactView(self, int(index) % n)


class Data:
    """State, inputs and results of `nworld` worlds of one model.

    m       a tisim.Model.
    nworld  number of independent worlds; above 1 every array gains a leading axis of that length.
    capacity  lengths that lists have at first, by name (nconmax: contacts, ...); they grow where that is too little.
    A feature that the engine does not simulate is refused by the first call that would compute it.
    """

    def __init__(self, m, nworld=1, capacity=None):
        runtime.ensure()
        if not isinstance(nworld, (int, np.integer)) or nworld < 1:
            raise Error(f"nworld={nworld!r}: expected a positive integer")
        if unknown := set(capacity or {}) - set(CAPACITIES):
            raise Error(f"no capacity is named {', '.join(sorted(unknown))}; there are {', '.join(CAPACITIES)}")
        self.model = m
        self.nworld = int(nworld)
        self._generation = session.generation
        self._device = {}
        self._bound = {}
        self.program = Program(self)
        self._model_version = None
        self._capacity = {name: self._first_capacity(name) for name in CAPACITIES} | (capacity or {})
        self._checked = False  # whether the model was found simulable
        self._info = {}  # host-side numbers a stage keeps between steps
        self.contact = Contact(self)
        reset(m, self)

    # ---- memory

    def _first_capacity(self, name):
        if name in ("nrowmax", "nJmax"):  # at most two rows of a slide or hinge, one with three dofs of a ball
            most = 2 if name == "nrowmax" else 3
            return self.nworld * (self.model.scalar("nfriction") + most * self.model.scalar("nlimited"))
        n = self.nworld * max(16, self.model.nbody)
        return dict(npairmax=4, nslotmax=8, nconmax=4, nefcmax=16, ndensemax=36)[name] * n

    def capacity(self, name):
        """Allocated length of the lists with this first dimension."""
        return self._capacity[name]

    def memory(self):
        """dict name -> bytes of every array that was made so far."""
        return {name: a.numbers * (8 if str(a.dtype) == "f64" else 4) for name, a in self._device.items()}

    def grow(self, name, needed):
        """Enlarges every list of this capacity to hold `needed` items and a reserve; their contents are lost."""
        m = self.model
        limit = m.capacity_limit.get(name)
        if limit is not None and needed > limit:
            raise CapacityError(f"{needed} items needed, {name} is limited to {limit}; raise the limit")
        self._capacity[name] = int(needed * 1.25) + 64
        self.drop(*(array.name for array in DATA.values() if array.is_list and array.shape[0] == name))

    def check(self, m):
        """Refuses another Model, or to serve a Taichi that is gone; uploads what was written to the model.

        Returns a token that changes if one of its arrays moved, or its features; launches are bound anew then.
        """
        if self._generation != session.generation:
            raise Error("Taichi was started again (tisim.init); make a new Data")
        if m is not self.model:
            raise Error("this Data was made from another Model")
        version = m.refresh()
        if version is not self._model_version:
            self._unbind()
            self._model_version = version
        return version

    def bound(self, m, key):
        """Launches kept with their arguments, None if an array may have moved or changed since."""
        self.check(m)
        return self._bound.get(key)

    def bind(self, key, bound):
        """Keeps launches for `bound`."""
        self._bound[key] = bound

    def _unbind(self):
        self._bound.clear()
        self.program.drop()

    def _size_of(self, name):
        return self._capacity[name] if name in self._capacity else self.model.scalar(name)

    def device(self, name):
        """The device array of this name, made on first use; names of the model's arrays give those."""
        if self._generation != session.generation:
            raise Error("Taichi was started again (tisim.init); make a new Data")
        a = self._device.get(name)
        if a is not None:
            return a
        array = DATA.get(name)
        if array is None:
            return self.model.device(name)
        if array.shape[0] in LENGTHS:
            raise KeyError(f"{name} has no length so far: its stage sets it by Data.scratch")
        return self._make(array, array.size(self._size_of) * (1 if array.is_shared else self.nworld))

    def _make(self, array, count):
        if count >= 2**31:
            raise CapacityError(f"{array.name} needs {count} elements; an array holds fewer than 2^31")
        a = self._device[array.name] = memory.new_array(array.dtype == "f", count, array.width)
        return a

    def scratch(self, name, length):
        """The device array of a name whose length is its stage's matter (LENGTHS), with at least this many rows.

        An array that is too short is replaced, its contents are lost.
        """
        array = DATA.get(name)
        if array is None or array.shape[0] not in LENGTHS:
            raise KeyError(f"{name} is not declared in tisim.data.arrays with a length that a stage sets")
        count = length * math.prod(array.shape[1:])
        a = self._device.get(name)
        if a is not None and a.numbers >= count:
            return a
        self.drop(name)
        return self._make(array, count)

    def drop(self, *names):
        """Frees arrays whose length has changed; they are made anew when they are asked for."""
        self._unbind()
        for name in names:
            if name in self._device:
                memory.delete_array(self._device.pop(name))

    def scalar(self, name):
        """A number a kernel asks for by name: nworld, a size or an option of the model, a capacity."""
        if name == "nworld":
            return self.nworld
        if name in self._capacity:
            return self._capacity[name]
        return self.model.scalar(name)

    def is_fixed(self, name):
        """Whether such a number changes only when arrays do too, so that launches are bound anew."""
        return name == "nworld" or name in self._capacity or name in self.model._sizes

    # ---- what stages ask and write between launches; the program notes it

    def counts_on_host(self):
        """All counts; on the CPU a view, elsewhere a copy that waits for the device."""
        view = memory.host_view(self.device("counts"))
        return memory.download(self.device("counts")) if view is None else view

    def count(self, name):
        """Length of a list over all worlds."""
        return int(self.counts_on_host()[COUNTS[name]])

    def exceeds(self, rarely=False, **limits):
        """Names of the lists that are longer than that.

        rarely  a stage that finds one does `Program.aside` what it does then: its record is that of the other case.
        """
        counts, a, found = self.counts_on_host(), self._device["counts"], []
        for name, limit in limits.items():
            at = COUNTS[name]
            if answer := counts.item(at) > limit:
                found.append(name)
            self.program.asked(a, at, 1, limit, answer and not rarely)
        return found

    def some(self, name):
        """Whether a number of this array, of int32 and none negative, is not 0."""
        a = self.device(name)
        numbers = memory.host_view(a)
        answer = bool((memory.download(a) if numbers is None else numbers).any())
        self.program.asked(a, 0, a.numbers, 0, answer)
        return answer

    def set_counts(self, **values):
        """Writes lengths of lists (0 at the start of a stage that redoes them)."""
        counts, a = self.counts_on_host(), self._device["counts"]
        for name, value in values.items():
            counts[COUNTS[name]] = value
            self.program.wrote(a, COUNTS[name], 1, value)
        if session.arch != "cpu":
            memory.upload(a, counts)

    def fill(self, name, value):
        """Sets all numbers of an array of int32."""
        a = self.device(name)
        memory.fill(a, value)
        self.program.wrote(a, 0, a.numbers, value)

    # ---- what a user reads and writes

    def host(self, name):
        """Copy of an array on the host, shaped (nworld, ...) or, if the worlds share it, as it is declared."""
        array = DATA[name]
        flat = memory.download(self.device(name))
        if array.shape[0] in LENGTHS:
            return flat[: flat.size // (n := math.prod(array.shape[1:])) * n].reshape(-1, *array.shape[1:])
        dims = (() if array.is_shared else (self.nworld,)) + array.dims(self._size_of)
        return flat[: math.prod(dims)].reshape(dims)

    def list_view(self, name, count):
        """Read-only copy of the filled part of a list."""
        values = self.host(name)[: self.count(count)]
        values.flags.writeable = False
        return values

    def _rows(self, name):
        """The efc_ vectors are not kept by the solver; they are written out from rows and contacts here."""
        n = self.count("nefc")
        if n > self._capacity["nefcmax"]:
            self.grow("nefcmax", n)
        if n:
            k = runtime.kernels("constraint.rows")
            launch.run(self.model, self, [k.expand_rows, k.expand_contacts], session.arch != "cpu")
        return self.list_view(name, "nefc")

    def __getattr__(self, name):
        if name.startswith("_") or name not in DATA:
            raise AttributeError(f"Data has no field {name!r}")
        array = DATA[name]
        if array.hidden:
            raise AttributeError(f"{name} is the {array.stage} stage's own and not for users; `host` copies it")
        if name.startswith("efc_"):
            return self._rows(name)
        if array.is_list:
            return self.list_view(name, "ncon")
        dims = array.dims(self._size_of)
        return DeviceArray(self, array, dims if self.nworld == 1 else (self.nworld, *dims))

    def __setattr__(self, name, value):
        if name in ("ncon", "nefc", "nisland", "warning", "solver_niter"):
            raise Error(f"{name} is computed; writing it would be lost")
        elif name in DATA:
            getattr(self, name)[...] = value
        elif name == "time":
            self.world_time[...] = np.reshape(value, (-1, 1)) if np.ndim(value) else value
        elif name.startswith("_") or (name in ("model", "nworld", "contact", "program") and name not in self.__dict__):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"Data has no field {name!r} that can be written")

    @property
    def time(self):
        """Simulation time [s]: a float for one world, else (nworld,)."""
        t = self.host("world_time")[:, 0]
        return float(t[0]) if self.nworld == 1 else t

    @property
    def warning(self):
        """Warnings by mjtWarning, each with number and lastinfo (arrays over worlds if there are several)."""
        return Warnings(self)

    @property
    def ncon(self):
        """Number of listed contacts, per world if there are several."""
        if self.nworld == 1:
            return self.count("ncon")
        return np.bincount(self.contact.worldid, minlength=self.nworld)

    @property
    def nefc(self):
        """Number of constraint rows over all worlds."""
        return self.count("nefc")

    @property
    def nisland(self):
        """Number of constraint islands over all worlds; 0 if the island flag is disabled."""
        return 0 if self.model.disabled(mjtDisableBit.mjDSBL_ISLAND) else self.count("nisland")

    @property
    def solver_niter(self):
        """Solver iterations of each island."""
        return self.host("island_niter").reshape(-1)[: self.count("nisland")]


for _word in DATA_VIEWS:
    setattr(Data, _word, accessor(_word))
for _alias in ("jnt", "cam"):
    setattr(Data, _alias, getattr(Data, ALIASES[_alias]))
