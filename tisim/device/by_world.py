"""Fields of the model that may differ between worlds.

Kernels read them as `m.geom_friction[w, g]`, geom g of world w. Where the field is the same in all worlds (it is not in
`has.varied`) the world is left out, and the kernel is what `m.geom_friction[g]` makes of it: same arguments, same code.
Else the Data brings an array of all worlds, one behind the other.

Colliders know a geom by its place among those of all worlds: they read `m.geom_size[i, g]`, geom g at place i.
"""

import pathlib

from . import bundle, flow

_fields = {}  # "geom_friction" -> name of its length; "opt.gravity" -> the Name of the array that holds it
PLACE = "place"  # in its stead for fields that are read by place


def declare(fields):
    """Says which fields these are, with the name of the number of their items in a world, which stands above here, or
    PLACE, or the Name of the array that holds a small vector of all worlds."""
    _fields.update(fields)


class Arguments(bundle.Arguments):
    """The arguments of a kernel's variant, with fields by world among them.

    fields  those that it reads;  varied  those of them that differ between the worlds of the models it is for.
    """

    def __init__(self, function, has=None):
        super().__init__(function, has)
        self.fields = [name for name in _fields if f"m.{name}" in self.paths]
        self.varied = tuple(name for name in self.fields if name in getattr(has, "varied", ()))
        for name in self.varied:
            length = _fields[name]
            if length == PLACE:
                continue
            if isinstance(length, str):
                self.paths[f"m.{length}"] = flow.lookup(f"m.{length}", flow.place_of(function))
            else:
                self.paths[f"m.{name}"] = length
        if self.varied:
            found = {part.argument: part for name in self.paths.values() for part in name.parts or (name,)}
            self.entries = [found[name] for name in sorted(found)]

    def bundles(self, *values):
        """(m, d), see bundle.Arguments."""
        m, d = super().bundles(*values)
        for name in self.fields:
            *inner, last = name.split(".")
            at, varied = m, name in self.varied
            for word in inner:
                at = getattr(at, word)
            if (length := _fields[name]) == PLACE:
                made = ByPlace(f"m.{name}", at.__dict__[last], varied)
            elif isinstance(length, str):
                made = ByWorld(f"m.{name}", at.__dict__[last], getattr(m, length) if varied else None)
            elif varied:
                made = NumbersOfWorlds(at.__dict__[last])
            elif isinstance(at.__dict__[last], tuple):
                made = Vector(at.__dict__[last])
            else:
                continue
            at.__dict__[last] = made
        return m, d

    def text(self):
        """Texts of what such fields add to the kernel's code, for its fingerprint."""
        return [pathlib.Path(__file__).read_text(), repr(self.varied)] if self.fields else []


class ByWorld:
    """A field of which `a[w, i]` is item i of world w. stride  items of a world; None: all worlds have the same, and
    `a[i]` will do."""

    _data_oriented = True  # Taichi hands such objects on as they are

    def __init__(self, name, array, stride):
        self._name, self._array, self._stride = name, array, stride

    def __getitem__(self, index):
        if isinstance(index, (tuple, list)):
            w, i = index
            index = i if self._stride is None else w * self._stride + i
        elif self._stride is not None:
            raise TypeError(f"{self._name} differs between the worlds of this Data: index it by world and item")
        return bundle._subscript(self._array, index)


class ByPlace:
    """A field of which `a[i, g]` is item g at place i, and `a[i, g, r]` its element r where an item has several."""

    _data_oriented = True

    def __init__(self, name, array, varied):
        self._name, self._array, self._varied = name, array, varied

    def __getitem__(self, index):
        if not isinstance(index, (tuple, list)):
            raise TypeError(f"{self._name} may differ between worlds: index it by place and item")
        i, g, *rest = index
        at = i if self._varied else g
        if isinstance(self._array, bundle.Rows):
            return self._array[(at, *rest)]
        return bundle._subscript(self._array, at)


class Vector(tuple):
    """A small vector that is the same in all worlds, of which `v[w, c]` is number c, as `v[c]` is."""

    def __getitem__(self, index):
        return super().__getitem__(index[1] if isinstance(index, (tuple, list)) else index)


class NumbersOfWorlds:
    """An array with a small vector, or a number, of each world: `a[w, c]`."""

    def __init__(self, array):
        self._array = array

    def __getitem__(self, index):
        w, c = index
        row = bundle._subscript(self._array, w)
        return bundle._subscript(row, c) if self._array.element_shape() else row
