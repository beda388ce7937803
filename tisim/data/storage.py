"""What a Data keeps on the device: arrays made when they are asked for, lists that grow, and how long they are."""

import math

from tisim.device import memory, session
from tisim.errors import CapacityError, Error
from tisim.model import limits

from . import given, owed
from .arrays import COUNTS, DATA
from .declare import CAPACITIES, LENGTHS
from .overlay import Overlay

MOST = 2**31 - 1  # elements of an array
# items that lists have room for at first, for each body: of the first SMALL ones, and at least of all
FIRST = dict(npairmax=(4, 1), nentrymax=(4, 1), nslotmax=(8, 1), nconmax=(4, 1), nefcmax=(16, 4), ndensemax=(16, 0),
             nYmax=(64, 1), nlcpmax=(4, 1))  # fmt: skip
SMALL = 500
LARGE = 2000  # items above which a list that grows gets less to spare
# where the rows stand of what a user can make more or fewer of, and how many these are
PLACES = (
    (("limit_row", "limit_adr"), "nlimited"), (("tenlimit_row", "tenlimit_adr"), "ntendonlimited"),
    (("tenfric_row", "tenfric_adr"), "ntendonfriction"),
)  # fmt: skip


class Storage:
    """The arrays and list lengths of the worlds of a model; tisim.Data is one.

    model, nworld  what the arrays are of;  program  what repeats launches, told of what the host asks and writes.
    """

    _owes = False  # whether the last step left undone what owed.py names
    _leaves = False  # whether a step runs that may do so
    _asked = False  # whether others look at some of it
    _hand = None  # number of the only thread that works for it, None: whoever is there (device/hands.py)

    def _lay_out(self, m, nworld, capacity):
        """Sets lengths of lists; no array is made yet. Raises Error for lengths that are none, or too many worlds."""
        capacity = {name: limits.checked(name, n, "capacity") for name, n in (capacity or {}).items()}
        self.model, self.nworld = m, nworld
        self._generation = session.generation
        self._device, self._changes = {}, 0  # arrays; how often one was made or freed
        # fields of the model that differ between worlds: values, what follows from them, device arrays
        self._varied, self._following, self._by_world = {}, (), {}
        self._overlay = Overlay()
        self._bound = {}
        self._counts, self._stale = None, set()  # on a GPU: a copy of `counts`, and which of them it has no longer
        self._model_version = None
        self._capacity = {name: self._first_capacity(name) for name in CAPACITIES} | capacity
        self._capacity |= {name: min(n, self._capacity[name]) for name, n in m.capacity_limit.items()}
        self._first, self._cut = dict(self._capacity), set()  # lengths below which no list is cut; those that were
        for array in DATA.values():
            if array.role == "state" and not array.is_shared:
                _check_length(array, self._count(array))

    # memory

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
            for name, a in (*self._device.items(), *self._by_world.items())
        }

    def grow(self, name, needed):
        """Enlarges every list of the capacity `name` to hold `needed` items and a reserve; their contents are lost."""
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
        """Cuts every list of the capacity `name` to `needed` items and a reserve if a fifth of it or more is beyond
        that, but not below its first length, nor below what it grew to after it had been cut; returns whether, as their
        contents are lost then."""
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
            raise Error(given.OTHER)
        version = m.refresh()
        if version is not self._model_version:
            self._unbind()
            self._model_version = version
            for names, size in PLACES:
                if (a := self._device.get(names[0])) and a.length != self.nworld * m.scalar(size):
                    self.drop(*names)  # limits, friction losses were written
        return version

    def bound(self, m, key):
        """Launches kept for a key with their arguments, None if an array may have moved or changed since."""
        self.check(m)
        return self._bound.get(key)

    def keep_bound(self, key, bound):
        """Keeps launches with their arguments for `bound` to find by their key."""
        self._bound[key] = bound

    def _unbind(self):
        self._bound.clear()
        self.program.drop()

    def _vary_otherwise(self):
        """Other fields of the model differ between worlds: other kernels are needed."""
        self._unbind()
        self._checked = False

    def features(self):
        """The model's Features, and which of its fields differ between the worlds."""
        has = self.model.features()
        return has._replace(varied=tuple(sorted((*self._varied, *self._following)))) if self._varied else has

    def _size_of(self, name):
        return self._capacity[name] if name in self._capacity else self.model.scalar(name)

    def device(self, name):
        """The device array of this name, made on first use; names of the model's arrays give those."""
        if self._generation != session.generation:
            raise Error("Taichi was started again (tisim.init); make a new Data")
        if self._owes and name in owed.NAMES:
            owed.pay(self)
        a = self._device.get(name)
        if a is not None:
            return a
        array = DATA.get(name)
        if array is None:
            a = self._by_world.get(name)
            return self.model.device(name) if a is None else a
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
        self._changes += 1
        a = self._device[array.name] = make(array.name, array.dtype, count, array.width)
        return a

    def pay(self):
        """Makes what the last step left undone, if it did."""
        if self._owes:
            owed.pay(self)

    def settle(self):
        """The same, unless Taichi was started again, and nobody can ask for it any more."""
        if self._generation == session.generation:
            self.pay()

    def scratch(self, name, length):
        """The device array of a name whose length is its stage's matter (LENGTHS), with at least this many rows.

        An array that is too short is replaced, its contents are lost; the new one has some to spare, for all launches
        are bound anew then, and what grows a little each time would have that done each time.
        """
        array = DATA.get(name)
        if array is None or array.shape[0] not in LENGTHS:
            raise KeyError(f"{name} is not declared in tisim.data.arrays with a length that a stage sets")
        count = length * math.prod(array.shape[1:])
        a = self._device.get(name)
        if a is not None and a.numbers >= count:
            return a
        if a is not None:
            count = max(count, a.numbers + a.numbers // 4)
        self.drop(name)
        return self._make(array, count)

    def drop(self, *names):
        """Frees arrays whose length has changed; they are made anew when they are asked for."""
        self._unbind()
        self._changes += 1
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

    # what stages ask and write between launches; the program notes it

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
        """Sets all numbers of the array `name`, of int32, to a value."""
        a = self.device(name)
        memory.fill(a, value)
        self.program.wrote(a, 0, a.numbers, value)


def _check_length(array, count):
    if count > MOST:
        raise CapacityError(f"{array.name} needs {count} elements; an array holds fewer than 2^31")


def _spare(needed):
    """Items that a list gets beyond those that are needed."""
    return 64 + needed // (4 if needed < LARGE else 8)


def _alone(name, dtype, count, width):
    """A device array with memory of its own."""
    return memory.new_array(dtype, count, width)
