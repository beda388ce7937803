"""Data: the state, inputs and results of one or many worlds of a Model."""

import math

import numpy as np

from tisim.device import memory, runtime, session
from tisim.device.program import Program
from tisim.enums import mjtDisableBit, mjtSleepState
from tisim.errors import CapacityError, Error, FieldError, IdError
from tisim.mjcf.format.names import nearest
from tisim.model import limits
from tisim.model.kinds import ALIASES
from tisim.model.watched import numbers
from tisim.mujoco_names import OF_DATA, instead

from . import (
    asleep,
    copying,
    given,
    jacobian,
    matrices,
    moments,
    on_demand,
    scalars,  # noqa: F401  tells kernels what names mean
)
from .arrays import COUNTS, DATA
from .declare import CAPACITIES, LENGTHS
from .device_array import Copy, DeviceArray
from .overlay import Overlay
from .solver_stat import SolverStat
from .state import Warnings, reset
from .timer import Timers
from .view import FIELDS as DATA_VIEWS
from .view import ContactView, accessor

MADE = moments.MADE | matrices.MADE  # what is made on the host when it is read
FAULTS = ("world", "reset", "freeze")  # what a diverging island brings about
MOST = 2**31 - 1  # elements of an array
# items that lists have room for at first, for each body: of the first SMALL ones, and at least of all
FIRST = dict(npairmax=(4, 1), nentrymax=(4, 1), nslotmax=(8, 1), nconmax=(4, 1), nefcmax=(16, 4), ndensemax=(16, 0),
             nYmax=(64, 1))  # fmt: skip
SMALL = 500
LARGE = 2000  # items above which a list that grows gets less to spare
# where the rows stand of what a user can make more or fewer of, and how many these are
PLACES = (
    (("limit_row", "limit_adr"), "nlimited"), (("tenlimit_row", "tenlimit_adr"), "ntendonlimited"),
    (("tenfric_row", "tenfric_adr"), "ntendonfriction"),
)  # fmt: skip
# what stages use of a Data and users do not
INTERNAL = set(
    """bind bound capacity room check count counts_on_host device drop exceeds fill forget_counts grow is_fixed
    list_view program scalar scratch set_counts shrink some""".split()
)


class Contact:
    """The contact list: fields of mujoco's mjContact as arrays of length ncon."""

    def __init__(self, data):
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name):
        if name in ("geom1", "geom2"):
            return self.geom[:, int(name[-1]) - 1]
        if "contact_" + name not in DATA:
            hint = "; flexes are not part of tisim" if name in ("H", "elem", "flex", "vert") else ""
            raise FieldError(f"contact has no field {name!r}{hint}")
        return self._data.list_view("contact_" + name, "ncon")

    def __setattr__(self, name, value):
        raise Error(f"contact.{name} is computed by the collision stage; writing it would be lost")

    def __len__(self):
        return self._data.count("ncon")

    def __getitem__(self, index):
        """The contact at a place in the list, as a ContactView."""
        n = len(self)
        if not isinstance(index, (int, np.integer)) or not -n <= index < n:
            raise IdError(f"no contact {index!r}: there are {n}")
        return ContactView(self, int(index) % n)


class Data:
    """State, inputs and results of `nworld` worlds of one model.

    m       a tisim.Model.
    nworld  number of independent worlds; above 1 every array gains a leading axis of that length.
    capacity  lengths that lists have at first, by name (nconmax: contacts, ...); they grow where that is too little.
    A feature that the engine does not simulate is refused by the first call that would compute it.
    """

    def __init__(self, m, nworld=1, capacity=None):
        given.model(m)
        runtime.ensure()
        if not isinstance(nworld, (int, np.integer)) or nworld < 1:
            raise Error(f"nworld={nworld!r}: expected a positive integer")
        capacity = {name: limits.checked(name, n, "capacity") for name, n in (capacity or {}).items()}
        self.model = m
        self.nworld = int(nworld)
        self._generation = session.generation
        self._device = {}
        self._overlay = Overlay()
        self._bound = {}
        self._counts, self._stale = None, set()  # on a GPU: a copy of `counts`, and which of them it has no longer
        self.program = Program(self)
        self._model_version = None
        self._capacity = {name: self._first_capacity(name) for name in CAPACITIES} | capacity
        self._capacity |= {name: min(n, self._capacity[name]) for name, n in m.capacity_limit.items()}
        self._first, self._cut = dict(self._capacity), set()  # lengths below which no list is cut; those that were
        self._faults = "world"
        self._open = None  # names of what a callback that runs now may write
        self._checked = False  # whether the model was found simulable
        self._info = {}  # host-side numbers a stage keeps between steps
        self.contact = Contact(self)
        for array in DATA.values():  # before the first is filled
            if array.role == "state" and not array.is_shared:
                _check_length(array, self._count(array))
        reset(m, self)

    def __copy__(self):
        """An independent Data of the same Model, which goes on to the same bits."""
        return copying.restored(self.model, copying.contents(self))

    def __deepcopy__(self, memo):
        """As __copy__, of the copy of the Model where that is copied, too, and was before."""
        d = memo[id(self)] = copying.restored(memo.get(id(self.model), self.model), copying.contents(self))
        return d

    def __reduce__(self):
        return copying.restored, (self.model, copying.contents(self))

    # ---- memory

    def _first_capacity(self, name):
        if name in ("nrowmax", "nJmax"):  # at most two rows of a slide or hinge, one with three dofs of a ball
            most = 2 if name == "nrowmax" else 3
            return self.nworld * (
                self.model.scalar("nfriction") + most * self.model.scalar("nlimited") + self._equality_rows(name)
            )
        few, many = FIRST[name]
        n = self.nworld * max(16, self.model.nbody)
        return max(few * min(n, SMALL), many * n)

    def _equality_rows(self, name):
        """Rows, or entries of them, of a world's equalities if all act."""
        m = self.model
        rows = m.derived("eq_nrow")
        return int((rows if name == "nrowmax" else rows * m.derived("eq_Jnum")).sum())

    def capacity(self, name):
        """Allocated length of the lists with this first dimension."""
        return self._capacity[name]

    def room(self, name):
        """Items that these lists may have: as many as are allocated, or fewer where a limit says so."""
        return min(self._capacity[name], self.model.capacity_limit.get(name, self._capacity[name]))

    def memory(self):
        """dict name -> bytes of every array that was made so far; those that lie over others have a part of them."""
        shares = self._overlay.shares()
        return {
            name: shares[name] if name in shares else a.numbers * (8 if str(a.dtype) == "f64" else 4)
            for name, a in self._device.items()
        }

    def grow(self, name, needed):
        """Enlarges every list of this capacity to hold `needed` items and a reserve; their contents are lost."""
        limit = self.model.capacity_limit.get(name, MOST)
        if needed > limit:
            raise CapacityError(
                f"{needed} items needed, capacity_limit[{name!r}] is {limit}; the state is as before the step: raise "
                "the limit and go on"
            )
        length = min(limit, needed + _spare(needed))
        if name in self._cut:
            self._first[name] = max(length, self._first[name])
        self._resize(name, length)

    def shrink(self, name, needed):
        """Cuts every list of this capacity to `needed` items and a reserve if a fifth of it or more is beyond that, but
        not below its first length, nor below what it grew to after it had been cut; returns whether, as their contents
        are lost then."""
        length = max(needed + _spare(needed), self._first[name])
        if cut := self._capacity[name] > 1.25 * length:
            self._cut.add(name)
            self._resize(name, length)
        return cut

    def _resize(self, name, length):
        self.drop(*(array.name for array in DATA.values() if array.is_list and array.shape[0] == name))
        self._capacity[name] = length  # last: after an interrupt arrays have their lengths

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
            for names, size in PLACES:
                if (a := self._device.get(names[0])) and a.length != self.nworld * m.scalar(size):
                    self.drop(*names)  # limits, friction losses were written
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
        return self._make(array, self._count(array))

    def _count(self, array):
        """Elements of an array in all worlds."""
        return array.size(self._size_of) * (1 if array.is_shared else self.nworld)

    def _make(self, array, count):
        _check_length(array, count)
        if sum(self.memory().values()) + 8 * count > memory.most_bytes():
            raise CapacityError(
                f"{array.name} of {self.nworld} worlds needs {8 * count / 2**30:.1f} GiB: more than this machine has"
            )
        make = _alone
        if self._overlay.takes(array.name):
            self._unbind()  # the others may move
            make = self._overlay.make
        a = self._device[array.name] = make(array.name, array.dtype == "f", count, array.width)
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
                for gone in self._overlay.drop(name) if self._overlay.takes(name) else (name,):
                    if (a := self._device.pop(gone, None)) is not None:
                        memory.delete_array(a)

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

    def counts_on_host(self, *names):
        """All counts, those of these names as they are now; on the CPU a view, elsewhere a copy: the device is waited
        for if a kernel may have written one of them since the last."""
        view = memory.host_view(self.device("counts"))
        if view is not None:
            return view
        if self._counts is None or not self._stale.isdisjoint(names):
            self._counts, self._stale = memory.download(self.device("counts")), set()
        return self._counts

    def forget_counts(self, names=None):
        """Tells that kernels write these counts, or any."""
        if names is None:
            self._counts = None
        self._stale.update(names or ())

    def count(self, name):
        """Length of a list over all worlds."""
        return int(self.counts_on_host(name)[COUNTS[name]])

    def exceeds(self, rarely=False, **limits):
        """Names of the lists that are longer than that.

        rarely  a stage that finds one does `Program.aside` what it does then: its record is that of the other case.
        """
        counts, a, found = self.counts_on_host(*limits), self._device["counts"], []
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
            self._stale.difference_update(values)
            places = sorted(COUNTS[name] for name in values)
            starts = [p for p in places if p - 1 not in places]
            ends = [p + 1 for p in places if p + 1 not in places]
            for start, end in zip(starts, ends):
                memory.upload(a, counts[start:end], start)

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
        return Copy(DATA[name], self.host(name)[: self.count(count)]).array()

    @property
    def efc_J(self):
        """Jacobian of all constraint rows, contacts among them: a scipy.sparse.csr_array (nefc, nv), made when read.

        With several worlds (nefc, nworld * nv): dof k of world w is column w * nv + k. Rows stand as in efc_force.
        """
        return jacobian.constraint_jacobian(self.model, self)

    def __getattr__(self, name):
        if name.startswith("_") or name not in DATA:
            hint = "" if name[:1] == "_" else instead(name, OF_DATA) or nearest(name, _fields())
            raise FieldError(f"Data has no field '{name}'{hint}")
        array = DATA[name]
        if array.hidden:
            raise FieldError(f"{name} is the {array.stage} stage's own and not for users; `host` copies it")
        if name.startswith("efc_"):
            on_demand.rows(self.model, self)
            return self.list_view(name, "nefc")
        if name in on_demand.MADE:
            on_demand.MADE[name](self.model, self)
            host = self.host(name)
            return Copy(array, host[0] if self.nworld == 1 else host).array()
        if array.is_list:
            return self.list_view(name, "ncon")
        dims = array.dims(self._size_of)
        return DeviceArray(self, array, dims if self.nworld == 1 else (self.nworld, *dims))

    def __setattr__(self, name, value):
        made = *MADE, "ncon", "nefc", "nisland", "warning", "timer", "solver", "solver_niter", "solver_nnz", "efc_J"
        if name in made:
            raise Error(f"{name} is computed; writing it would be lost")
        elif name in DATA:
            getattr(self, name)[...] = value
        elif name == "faults":
            if value not in FAULTS:
                raise Error(f"faults={value!r}: expected one of {', '.join(map(repr, FAULTS))}")
            self._faults = value
        elif name == "time":
            value = numbers(value)
            self.world_time[...] = np.reshape(value, (-1, 1)) if np.ndim(value) else value
        elif name.startswith("_") or (name in ("model", "nworld", "contact", "program") and name not in self.__dict__):
            object.__setattr__(self, name, value)
        else:
            raise FieldError(f"Data has no field '{name}' that can be written{nearest(name, _fields())}")

    def __dir__(self):
        own = [name for name in vars(type(self)) if not name.startswith("_") and name not in INTERNAL]
        return sorted({*own, *_fields(), "model", "nworld", "contact", *(n for n in dir(object) if n[:2] == "__")})

    def __repr__(self):
        time = f"time {self.time:g}" if self.nworld == 1 else f"{self.nworld} worlds"
        return f"<tisim.Data of {self.model!r}: {time}>"

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
    def timer(self):
        """Times of the stages by mjtTimer, taken while `d.timer.on`; see Timers."""
        return Timers(self)

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
    def solver(self):
        """Improvement and gradient of each round of the solver, noslip behind it: SolverStat."""
        return SolverStat(self)

    @property
    def faults(self):
        """What happens where a state or acceleration is not finite or too large: "world", the default, resets the world
        as MuJoCo does; "reset" puts back only the island of trees in which it arose; "freeze" stops that island.
        """
        return self._faults

    @property
    def body_awake(self):
        """(nbody,) mjtSleepState of each body: -1 static, 0 asleep, 1 awake; mocap bodies are awake. A leading axis for
        several worlds."""
        state = asleep.body_awake(self.model, self)
        return state[0] if self.nworld == 1 else state

    @property
    def body_present(self):
        """(nbody,) bool: bodies that were not removed (tisim.remove). A leading axis for several worlds."""
        present = asleep.body_present(self.model, self)
        return present[0] if self.nworld == 1 else present

    @property
    def nbody_awake(self):
        """Bodies that do not sleep, static ones among them, per world if there are several."""
        return self._awake(asleep.body_awake(self.model, self) != mjtSleepState.mjS_ASLEEP)

    @property
    def ntree_awake(self):
        """Kinematic trees that are awake, per world if there are several."""
        return self._awake(self.host("tree_asleep") < 0)

    @property
    def nv_awake(self):
        """Degrees of freedom of the trees that are awake, per world if there are several."""
        return self._awake((self.host("tree_asleep") < 0) * np.asarray(self.model.tree_dofnum))

    def _awake(self, numbers):
        """Sums of numbers over each world."""
        sums = numbers.sum(axis=1)
        return int(sums[0]) if self.nworld == 1 else sums

    @property
    def solver_niter(self):
        """Solver iterations of each island."""
        return self.host("island_niter").reshape(-1)[: self.count("nisland")]

    @property
    def solver_nnz(self):
        """Numbers in the matrix that each island's solver made: dofs^2 for a dense factor, those of the blocks of a
        sparse one, both triangles; of PGS those of J L^-1 D^-1/2. 0 where there is none."""
        return self.host("island_nnz").reshape(-1)[: self.count("nisland")]


def _check_length(array, count):
    if count > MOST:
        raise CapacityError(f"{array.name} needs {count} elements; an array holds fewer than 2^31")


def _spare(needed):
    """Items that a list gets beyond those that are needed."""
    return 64 + needed // (4 if needed < LARGE else 8)


def _alone(name, is_float, count, width):
    """A device array with memory of its own."""
    return memory.new_array(is_float, count, width)


def _fields():
    """Names of the arrays that users see."""
    return [name for name, array in DATA.items() if not array.hidden]


for _name, _make in MADE.items():
    setattr(Data, _name, property(lambda d, make=_make: make(d.model, d), doc=_make.__doc__))
for _word in DATA_VIEWS:
    setattr(Data, _word, accessor(_word))
for _alias in ("jnt", "cam"):
    setattr(Data, _alias, getattr(Data, ALIASES[_alias]))
