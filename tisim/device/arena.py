"""Arrays in arenas: where a task binds few buffers, all arrays of one element type are parts of one buffer.

Metal has 31 buffers, Mesa's software Vulkan of 2022 has 32, and a loop of the solver reads a hundred arrays. A kernel
takes the arenas of the element types that it needs, a dozen, and a number for each array: the element at which it
begins. Kernels do not know: `d.qvel[i]` is element `begin + i` of an arena (bundle.py).

An arena that is full is replaced by a longer one, and its arrays keep their places; room of arrays that are freed is
taken by later ones.
"""

import bisect

import numpy as np

from tisim.errors import CapacityError

from . import session

MOST_BYTES = 2**31 - 1  # of an arena: kernels reckon places in 32 bits
FIRST = 1024  # elements of a new one
_arenas, _copiers = {}, {}


def used():
    """Whether arrays lie in arenas here."""
    return session.arch in session.ARENA_ARCHS


def name_of(dtype, width):
    """Name of the arena of arrays of this dtype, "f", "i" or "w", in elements of `width` numbers."""
    return f"arena_{session.type_name(dtype)}_{width}"


def arena(name):
    """The Arena of a name that `new` has made."""
    return _arenas[name]


def new(dtype, width, count, kind):
    """An Array of `count` zeros in the arena of its element type, `kind` in Taichi."""
    name = name_of(dtype, width)
    if name not in _arenas:
        _arenas[name] = Arena(name, session.type_name(dtype), width, kind)
    return Array(_arenas[name], count)


def forget():
    """Lets go of all arenas, before Taichi is started again."""
    _arenas.clear()
    _copiers.clear()


class Arena:
    """A buffer of elements of a type.

    buffer  Taichi's array, another one when the arena has grown;  end  elements up to the last that is in use;
    holes   [(first, count)] before that, in order;  touched  elements from this one on were never written.
    """

    def __init__(self, name, dtype, width, kind):
        self.name, self.dtype, self.width, self.kind = name, dtype, width, kind
        self.bytes = width * np.dtype(session.NUMPY[dtype]).itemsize
        self.buffer, self.length = None, 0
        self.end, self.holes, self.touched = 0, [], 0

    def take(self, count):
        """Where `count` elements begin that are free, and 0 from now on."""
        for at, (first, free) in enumerate(self.holes):
            if free >= count:
                self.holes[at : at + 1] = [(first + count, free - count)] if free > count else []
                break
        else:
            first = self.end
            self._reach(first + count)
            self.end = first + count
        if (old := min(first + count, self.touched) - first) > 0:
            self.copiers().fill(self.buffer, first, old, 0)
        self.touched = max(self.touched, first + count)
        return first

    def give(self, first, count):
        """Elements from `first` on are free again."""
        at = bisect.bisect(self.holes, (first, count))
        self.holes.insert(at, (first, count))
        for a in (at, at - 1):  # joined with the hole behind it, and with the one before
            if 0 <= a < len(self.holes) - 1 and sum(self.holes[a]) == self.holes[a + 1][0]:
                self.holes[a : a + 2] = [(self.holes[a][0], self.holes[a][1] + self.holes[a + 1][1])]
        if self.holes and sum(self.holes[-1]) == self.end:
            self.end = self.holes.pop()[0]

    def _reach(self, length):
        import taichi as ti

        if length <= self.length:
            return
        if length * self.bytes > MOST_BYTES:
            size = length * self.bytes / 2**30
            raise CapacityError(
                f"arrays of {self.width} {self.dtype} need {size:.1f} GiB; on {session.arch} those of one type have 2"
            )
        longer = min(max(FIRST, length + length // 2), MOST_BYTES // self.bytes)
        buffer = ti.ndarray(self.kind, (longer,))
        if self.touched:
            self.copiers().move(self.buffer, buffer, self.touched)
            ti.sync()  # before the old one is freed
        self.buffer, self.length = buffer, longer

    def copiers(self):
        """The kernels that read and write elements."""
        if self.name not in _copiers:
            _copiers[self.name] = _Copiers(self.kind, self.dtype, self.width)
        return _copiers[self.name]


class Array:
    """Some elements of an arena, free again when nobody has the Array any more. begin: the first of them."""

    def __init__(self, arena, count):
        self.arena, self.shape, self.dtype = arena, (count,), arena.dtype
        self.begin = arena.take(count)

    def free(self):
        """Gives its elements back."""
        if self.arena is not None:
            self.arena.give(self.begin, *self.shape)
            self.arena = None

    def __del__(self):
        if hasattr(self, "begin"):
            self.free()

    def read(self):
        """All its numbers, a copy on the host."""
        return self._read(self.begin, *self.shape)

    def write(self, values, first=0):
        """Writes host values to its numbers from `first` on."""
        a, width = self.arena, self.arena.width
        values = np.ascontiguousarray(values, session.NUMPY[self.dtype]).reshape(-1)
        begin, end = first // width, -(-(first + values.size) // width)
        if first % width or values.size % width:  # within elements
            whole = self._read(self.begin + begin, end - begin)
            whole[first - begin * width :][: values.size] = values
            values = whole
        a.copiers().write(a.buffer, self.begin + begin, end - begin, values)

    def fill(self, value):
        """Sets all its numbers."""
        self.arena.copiers().fill(self.arena.buffer, self.begin, *self.shape, value)

    def _read(self, first, count):
        out = np.empty(count * self.arena.width, session.NUMPY[self.dtype])
        self.arena.copiers().read(self.arena.buffer, first, count, out)
        return out


class _Copiers:
    """Kernels on the elements of an arena, those from `first` on: `read`, `write`, `fill`; `move` copies all."""

    def __init__(self, kind, dtype, width):
        import taichi as ti

        number = getattr(ti, dtype)
        elements, numbers = ti.types.ndarray(dtype=kind, ndim=1), ti.types.ndarray(dtype=number, ndim=1)
        places = [(c,) for c in range(width)]
        if hasattr(kind, "get_shape") and len(kind.get_shape()) == 2:
            places = [divmod(c, kind.get_shape()[1]) for c in range(width)]

        def read(a: elements, first: ti.i32, count: ti.i32, out: numbers):
            for i in range(count):
                for c in ti.static(range(width)):
                    if ti.static(width == 1):
                        out[i] = a[first + i]
                    else:
                        out[width * i + c] = a[first + i][places[c]]

        def write(a: elements, first: ti.i32, count: ti.i32, values: numbers):
            for i in range(count):
                for c in ti.static(range(width)):
                    if ti.static(width == 1):
                        a[first + i] = values[i]
                    else:
                        a[first + i][places[c]] = values[width * i + c]

        def fill(a: elements, first: ti.i32, count: ti.i32, value: number):
            for i in range(count):
                for c in ti.static(range(width)):
                    if ti.static(width == 1):
                        a[first + i] = value
                    else:
                        a[first + i][places[c]] = value

        def move(a: elements, b: elements, count: ti.i32):
            for i in range(count):
                b[i] = a[i]

        self.read, self.write, self.fill, self.move = map(ti.kernel, (read, write, fill, move))
