"""Model: the constant description of a scene, with mjModel's field names, shapes and values."""

import copy
import operator
import os

import numpy as np

from tisim import mjcf
from tisim.errors import Error, FieldError, IdError, UnknownNameError, brief
from tisim.mjcf.compile import Compiled
from tisim.mjcf.format.names import nearest
from tisim.mujoco_names import OF_MODEL, instead

from . import sparse
from .callback import FORMS, Callbacks
from .device_model import DeviceModel
from .fields import complete
from .kinds import ALIASES, KINDS, as_objtype, word_of
from .lcp import Lcp
from .limits import Limits
from .options import Settings, visual
from .tracked import Changes, tracked
from .view import View

# sizes of what is refused: always zero, and kept for those who look
INTERNAL = set(
    """decisions derived device edits features has_contacts disabled numbers_version refresh scalar""".split()
)  # what Data and stages use of a Model and users do not
LISTED = 20  # names that are told where none was given
REFUSED_SIZES = "nflex nplugin nflexvert npluginstate".split()


class Model(DeviceModel):
    """A compiled scene. Create it with `Model.from_xml_path` or `Model.from_xml_string`.

    Fields have MuJoCo's names: sizes are integers (m.nbody), quantities are arrays (m.geom_size is (ngeom, 3)),
    settings are m.opt, m.stat and m.vis. Writing `m.geom_friction = x` copies into the array.
    `m.callback.control = f` lets each step call a function, see Callbacks for all of them; `m.contact_filter` is
    `m.callback.contactfilter`.
    Named access: m.geom("floor").friction, m.body("box").mass, m.key("home").qpos.
    """

    def __init__(self, compiled=None):
        if not isinstance(compiled, Compiled):
            raise Error("Model() reads nothing itself: Model.from_xml_path, from_xml_string, from_scene or from_mujoco")
        arrays, sizes = complete(compiled.arrays, dict.fromkeys(REFUSED_SIZES, 0) | compiled.sizes)
        changed = Changes()
        fields = dict(
            _arrays=tracked(arrays, changed), _changed=changed, _on_device={}, _derived={}, capacity_limit=Limits(),
            callback=Callbacks(), _scope=compiled.scope, _nodes=compiled.nodes,
            comes_and_goes=False, _sizes=sizes, _names=dict(compiled.names), _index={},
            opt=Settings("opt", {**compiled.option, "dynamics": compiled.option.get("dynamics", "convex")}),
            lcp=Lcp(getattr(compiled, "lcp", None)),
            stat=Settings("stat", compiled.stat),
            vis=visual(compiled.visual), textures=compiled.textures, texts=compiled.texts, modelname=compiled.modelname,
        )  # fmt: skip
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_xml_path(cls, path):
        """Model of an MJCF file.

        path  str or path-like. Raises MjcfError with file, line and column where the file is wrong, UnsupportedError
        where it uses a feature outside tisim's scope.
        """
        if (path := _path(path)).lower().endswith(".npz"):
            raise Error(f"{path}: from_xml_path reads MJCF and URDF; Model.load reads what Model.save wrote to .npz")
        return cls(mjcf.compile_file(path))

    @classmethod
    def from_xml_string(cls, text, assets=None):
        """Model of an MJCF text; `assets` maps names of included files to their contents (str or bytes)."""
        return cls(mjcf.compile_string(text, assets))

    @classmethod
    def from_scene(cls, name, **params):
        """Model of a scene that ships with tisim, for example Model.from_scene("dominos", n=500).

        name, params  as listed by `tisim scenes`. Some scenes bring a control callback, which drives their actuators.
        Raises Error for a scene or parameter that does not exist.
        """
        from tisim import scenes

        m = cls.from_xml_string(scenes.build(name, **params))
        m.callback.control = scenes.control(name)
        return m

    @classmethod
    def from_mujoco(cls, mj_model):
        """Model with the contents of a mujoco.MjModel, for those who edit with MuJoCo.

        Raises UnsupportedError for what tisim does not support (flex, plugin, SDF), Error for another object.
        """
        from .from_mujoco import convert

        return cls(convert(mj_model))

    @classmethod
    def from_binary_path(cls, path, *_):
        """Refused: .mjb is MuJoCo's own."""
        raise FieldError(f"{path}{instead('from_binary_path', OF_MODEL)}")

    @classmethod
    def load(cls, path):
        """Model of an .npz file that `save` wrote. Raises Error where it is damaged or of another version."""
        from .file import load

        if (path := _path(path)).lower().endswith((".xml", ".urdf")):
            raise Error(f"{path}: load reads what Model.save wrote to .npz; Model.from_xml_path reads MJCF and URDF")
        return cls(load(path))

    def save(self, path):
        """Writes the model to an .npz file, from which `load` makes the same model without compiling.

        To a path that ends in .xml it writes the MJCF that the model was compiled from. Raises Error for other endings,
        where the file cannot be written, or where fields have been written since, which MJCF would lose.
        """
        from .file import save, suffix

        if suffix(path := _path(path)) == ".npz":
            save(self, path)
            return
        spec = self.spec()
        edited = self._differences(spec.compile())
        if edited:
            raise Error(
                f"{path}: written since the model was compiled, and lost in MJCF: {', '.join(edited)}; "
                "save to .npz, or change m.spec() instead"
            )
        spec.to_file(path)

    def __copy__(self):
        """An independent Model, as it is now."""
        return Model._of(*self._contents(), self._scope, self._nodes)

    def __deepcopy__(self, memo):
        new = memo[id(self)] = self.__copy__()
        new.callback = self.callback.copied(memo)
        return new

    def __reduce__(self):
        """Pickled without the specification that it was compiled from, as `save` does."""
        return Model._of, self._contents()

    def _contents(self):
        """(a Compiled, what users have set besides) of the model as it is now."""
        out = Compiled()
        out.arrays, out.sizes = {n: np.array(a) for n, a in self._arrays.items()}, dict(self._sizes)
        out.names = {kind: list(names) for kind, names in self._names.items()}
        out.option, out.stat = dict(self.opt.items()), dict(self.stat.items())
        out.visual = {name.rstrip("_"): dict(group.items()) for name, group in self.vis.items()}
        out.textures, out.texts, out.modelname = copy.deepcopy(self.textures), dict(self.texts), self.modelname
        return out, dict(capacity_limit=dict(self.capacity_limit), callback=dict(self.callback.items()), lcp=self.lcp)

    @classmethod
    def _of(cls, compiled, more, scope=None, nodes=None):
        compiled.scope, compiled.nodes = scope, nodes or {}
        sizes, m = dict(compiled.sizes), cls(compiled)
        m._sizes.update(sizes)
        for name, value in more.items():
            setattr(m, name, value)
        return m

    def _differences(self, other):
        """Names of the arrays and settings in which another model of the same sizes differs."""
        names = [n for n, a in self._arrays.items() if a.tobytes() != other._arrays[n].tobytes()]
        return names + [g for g in ("opt", "stat", "vis") if repr(getattr(self, g)) != repr(getattr(other, g))]

    def validate(self):
        """Raises Error naming the first array that does not fit the others: indices, trees, enums, meshes, numbers.

        Loading a file asks the same; before a step it is asked of the arrays that were written.
        """
        from .validate import check

        self.opt.check()
        check(self)

    def spec(self):
        """A new Spec of what the model was compiled from; Error where it did not come from MJCF or a Spec."""
        from tisim.spec.spec import Spec  # the one arrow upwards: a Spec compiles to Models

        if self._scope is None:
            raise Error("the model did not come from MJCF or a Spec, so it has no specification")
        return Spec.from_scope(self._scope)

    # fields: the one place where arrays and sizes are read and written

    def __getattr__(self, name):
        fields = object.__getattribute__(self, "__dict__")
        if name in fields.get("_arrays", ()):
            return fields["_arrays"][name]
        if name in fields.get("_sizes", ()):
            return fields["_sizes"][name]
        near = [*fields.get("_arrays", ()), *fields.get("_sizes", ())]
        raise FieldError(f"Model has no field '{name}'{instead(name, OF_MODEL) or nearest(name, near)}")

    def __setattr__(self, name, value):
        if name in self._arrays:
            self._arrays[name][...] = value
        elif name in self._sizes:
            raise FieldError(f"Model.{name} is a size and cannot be written")
        elif name == "contact_filter":
            self.callback.contactfilter = value
        elif name == "callback":
            new = Callbacks(value.items() if isinstance(value, Callbacks) else value)
            self.callback._set({name: getattr(new, name) for name in FORMS})
        elif name == "capacity_limit":
            new = Limits(value)
            self.capacity_limit.clear()
            self.capacity_limit.update(new)
        elif name == "lcp":
            self.lcp.take(value)
        elif name in self.__dict__:
            raise FieldError(f"Model.{name} cannot be replaced; write its fields")
        else:
            raise FieldError(f"Model has no field '{name}'{instead(name, OF_MODEL) or nearest(name, self._arrays)}")

    def __dir__(self):
        own = [name for name in super().__dir__() if name[:2] == "__" or name[0] != "_" and name not in INTERNAL]
        return sorted({*own, *self._arrays, *self._sizes})

    def __repr__(self):
        return f"<tisim.Model '{self.modelname}': {self.nbody} bodies, {self.ngeom} geoms, nq {self.nq}, nv {self.nv}>"

    @property
    def contact_filter(self):
        """The callback contactfilter."""
        return self.callback.contactfilter

    # names

    def id2name(self, objtype, index):
        """Name of an object, "" where it has none. Raises IdError, an IndexError, where there is no such id.

        objtype  mjtObj or a word like "geom";  index  its id.
        """
        names = self._names_of(objtype)
        try:
            index = operator.index(index)
        except TypeError:
            raise IdError(f"id2name() needs an id, a whole number, got {_plain(index)}") from None
        if not 0 <= index < len(names):
            raise IdError(f"no {word_of(objtype)} with id {brief(index)}: there are {len(names)}")
        return names[index]

    def name2id(self, objtype, name):
        """Id of a named object. Raises UnknownNameError, with near names, where none has this name.

        objtype  mjtObj or a word like "geom";  name  a str.
        """
        kind = as_objtype(objtype)
        index = self._index.get(kind)
        if index is None:
            index = self._index[kind] = {n: i for i, n in enumerate(self._names_of(objtype)) if n}
        if not isinstance(name, str) or name not in index:
            raise UnknownNameError(f"the model has no {word_of(objtype)} named '{name}'{nearest(name, index)}")
        return index[name]

    def _names_of(self, objtype):
        return self._names.get(as_objtype(objtype), [])

    def _view(self, word, key):
        return View(self, word, self._id(word, key))

    def _id(self, word, key):
        """Id of a name or id."""
        if key is None:
            there = [name for name in self._names_of(KINDS[word][0]) if name]
            listed = ", ".join(map(repr, there[:LISTED])) + (", ..." if len(there) > LISTED else "")
            raise UnknownNameError(f"{word}() needs a name or an id; names: {listed or 'none'}")
        if isinstance(key, bytes):  # a name in MuJoCo's bindings, too
            key = key.decode(errors="backslashreplace")
        if isinstance(key, str):
            return self.name2id(KINDS[word][0], key)
        number = self._sizes[KINDS[word][2]]
        if isinstance(key, np.ndarray) and key.ndim == 0:
            key = key[()]
        if not isinstance(key, (int, np.integer)):
            alone = len(key) == 1 if isinstance(key, (list, tuple)) else np.shape(key) == (1,)
            one = "; ids in arrays of one number are taken out by [0]" if alone else ""
            raise IdError(f"{word}() needs a name or an id, a whole number, got {_plain(key)}{one}")
        if not 0 <= key < number:
            raise IdError(f"no {word} with id {brief(key)}: there are {number}")
        return int(key)


def _plain(value):
    """A value in few words, an array as a list."""
    return brief(value.tolist() if isinstance(value, np.ndarray) and value.size < 9 else value)


def _path(path):
    """A path of a file as text; raises Error for what is none."""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise Error(f"path={brief(path)}: expected a str or a path") from None


def _accessor(word):
    def access(self, key=None):
        return self._view(word, key)

    access.__name__ = word
    access.__doc__ = f"The {word} of a name or id, as a View of its fields."
    return access


for _name in KINDS:
    setattr(Model, _name, _accessor(_name))
for _alias, _name in ALIASES.items():
    setattr(Model, _alias, getattr(Model, _name))


for _name in sparse.MADE:
    setattr(Model, _name, sparse.reader(_name))
Model.nD = property(sparse.size, doc="Entries of the matrix D.")
