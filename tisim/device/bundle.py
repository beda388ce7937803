"""Kernels over two bundles: `m`, the model, its options and tables, and `d`, data, lists and scratch.

    @func
    def weigh(m, d, i):
        return m.dof_M0[i] * d.qvel[i]

    @kernel
    def kick(m, d, factor: FP):
        for i in range(d.nworld * m.nv):
            d.qvel[i] = d.qvel[i] + factor * m.opt.timestep * weigh(m, d, i)

Taichi wants each array as an argument of its own. Which ones a kernel takes follows from what it and the functions it
calls read and write (flow.py). `Arguments` gives them their order, and makes the two bundles again when Taichi compiles
the kernel.
"""

from tisim.errors import Error

from . import arena
from .flow import BUNDLES, flow, lookup, parameters, place_of


def func(function):
    """Marks a Taichi function; its parameters m and d are the bundles."""
    import taichi as ti

    check_names(function)
    for name in parameters(function):
        if name in BUNDLES:
            function.__annotations__[name] = ti.template()
    return ti.func(function)


def check_names(function):
    """Raises Error if a function calls a variable like a bundle."""
    for name in BUNDLES:
        if name in function.__code__.co_varnames and name not in parameters(function):
            raise Error(f"{place_of(function)}: {name} is the name of a bundle; call this variable something else")


class Arguments:
    """The arguments of a kernel's variant, in order: arrays and numbers of the bundles, then its own parameters.

    has  the Features of the models that it is for.  called  the functions that it calls, see called.py.
    """

    def __init__(self, function, has=None):
        self.flow, self.has, self.called, place = flow(function, has), has, {}, place_of(function)
        self.paths = {path: lookup(path, place) for path in self.flow.paths}
        found = {part.argument: part for name in self.paths.values() for part in name.parts or (name,)}
        self.entries = [found[name] for name in sorted(found)]
        self.own = self.own_of(function)

    def own_of(self, function):
        """(name, type) of its own parameters: numbers that launches pass."""
        place = place_of(function)
        own = [name for name in parameters(function) if name not in BUNDLES]
        for name in own:
            if name not in function.__annotations__:
                raise Error(f"{place}: parameter {name} has no type; write {name}: FP or {name}: ti.i32")
        return [(lookup(f"d.{name}", place).argument, function.__annotations__[name]) for name in own]

    @property
    def arenas(self):
        """Names of the arenas in which its arrays lie, which it takes behind the entries; none where they do not."""
        arrays = (e for e in self.entries if e.is_array) if arena.used() else ()
        return sorted({arena.name_of(e.dtype, e.width) for e in arrays})

    def bundles(self, *values):
        """(m, d) over the values that Taichi gives the kernel's arguments of these entries, and its arenas."""
        by_name = {e.argument: v for e, v in zip(self.entries, values)}
        buffers = dict(zip(self.arenas, values[len(self.entries) :]))
        if buffers:
            for e in (e for e in self.entries if e.is_array):
                by_name[e.argument] = Placed(buffers[arena.name_of(e.dtype, e.width)], by_name[e.argument])
        roots = {name: Bundle(name) for name in BUNDLES}
        for path, entry in self.paths.items():
            *inner, last = path.split(".")
            at = roots[inner[0]]
            for word in inner[1:]:
                at = at.__dict__.setdefault(word, Bundle(f"{at._name}.{word}"))
            if entry.parts:
                at.__dict__[last] = tuple(by_name[part.argument] for part in entry.parts)
            elif entry.index is None:
                value = by_name[entry.argument]
                at.__dict__[last] = value if entry.rows == 1 else Rows(value, entry.rows)
            else:
                at._places[last] = by_name[entry.argument], entry.index
        roots["m"].has = self.has
        roots["d"]._call = self, by_name
        return tuple(roots[name] for name in BUNDLES)


def _subscript(array, index):
    from taichi.lang import impl

    return impl.subscript(impl.get_runtime().compiling_callable.ast_builder(), array, index)


class Placed:
    """An array in an arena: `a[i]` is element `begin + i` of that."""

    _data_oriented = True  # Taichi hands such objects on as they are

    def __init__(self, arena, begin):
        self._arena, self._begin = arena, begin

    def __getitem__(self, index):
        return _subscript(self._arena, self._begin + index)

    def element_shape(self):
        return self._arena.element_shape()


class Rows:
    """An array of which an item has several elements: `a[c, r]` is element r of item c."""

    def __init__(self, array, rows):
        self._array, self._rows = array, rows

    def __getitem__(self, index):
        if isinstance(index, (tuple, list)):
            index = index[0] * self._rows + index[1]
        return _subscript(self._array, index)


class Bundle:
    """What `m` and `d` are while Taichi compiles a kernel."""

    _data_oriented = True  # Taichi hands such objects on as they are

    def __init__(self, name):
        self._name, self._places = name, {}

    def __getattr__(self, name):
        """A number that stands in an array, as an expression made anew at each use."""
        place = self.__dict__.get("_places", {}).get(name)
        if place is None:
            raise AttributeError(f"{self._name} has no {name} here")
        return _subscript(*place)
