"""Model: the constant description of a scene, with mjModel's field names, shapes and values."""

import numpy as np

from . import mjcf
from .device_model import DeviceModel, tracked
from .enums import mjtObj
from .errors import Error
from .mjcf.names import nearest
from .options import Settings, visual

# What m.<kind>(name) finds: type of object, prefix of its fields, its size.
KINDS = {
    "body": (mjtObj.mjOBJ_BODY, "body", "nbody"),
    "joint": (mjtObj.mjOBJ_JOINT, "jnt", "njnt"),
    "geom": (mjtObj.mjOBJ_GEOM, "geom", "ngeom"),
    "site": (mjtObj.mjOBJ_SITE, "site", "nsite"),
    "camera": (mjtObj.mjOBJ_CAMERA, "cam", "ncam"),
    "light": (mjtObj.mjOBJ_LIGHT, "light", "nlight"),
    "material": (mjtObj.mjOBJ_MATERIAL, "mat", "nmat"),
    "texture": (mjtObj.mjOBJ_TEXTURE, "tex", "ntex"),
    "pair": (mjtObj.mjOBJ_PAIR, "pair", "npair"),
    "exclude": (mjtObj.mjOBJ_EXCLUDE, "exclude", "nexclude"),
    "numeric": (mjtObj.mjOBJ_NUMERIC, "numeric", "nnumeric"),
    "key": (mjtObj.mjOBJ_KEY, "key", "nkey"),
}
ALIASES = {"jnt": "joint", "cam": "camera", "mat": "material", "tex": "texture", "keyframe": "key"}

# Arrays of features that the compiler does not produce yet: present, with no rows. name -> (row shape, dtype).
_F, _I, _B = np.float64, np.int32, np.uint8
EMPTY = {
    "hfield_size": ((4,), _F), "hfield_nrow": ((), _I), "hfield_ncol": ((), _I), "hfield_adr": ((), _I),
    "hfield_data": ((), np.float32), "mesh_pos": ((3,), _F), "mesh_quat": ((4,), _F), "mesh_vertadr": ((), _I),
    "mesh_vertnum": ((), _I), "mesh_vert": ((3,), np.float32), "mesh_faceadr": ((), _I), "mesh_facenum": ((), _I),
    "mesh_face": ((3,), _I),
    "eq_type": ((), _I), "eq_obj1id": ((), _I), "eq_obj2id": ((), _I), "eq_objtype": ((), _I), "eq_active0": ((), _B),
    "eq_solref": ((2,), _F), "eq_solimp": ((5,), _F), "eq_data": ((11,), _F),
    "tendon_adr": ((), _I), "tendon_num": ((), _I), "tendon_matid": ((), _I), "tendon_group": ((), _I),
    "tendon_limited": ((), _B), "tendon_actfrclimited": ((), _B), "tendon_width": ((), _F),
    "tendon_solref_lim": ((2,), _F), "tendon_solimp_lim": ((5,), _F), "tendon_solref_fri": ((2,), _F),
    "tendon_solimp_fri": ((5,), _F), "tendon_range": ((2,), _F), "tendon_actfrcrange": ((2,), _F),
    "tendon_margin": ((), _F), "tendon_stiffness": ((), _F), "tendon_damping": ((), _F), "tendon_armature": ((), _F),
    "tendon_frictionloss": ((), _F), "tendon_lengthspring": ((2,), _F), "tendon_length0": ((), _F),
    "tendon_invweight0": ((), _F), "tendon_rgba": ((4,), np.float32),
    "wrap_type": ((), _I), "wrap_objid": ((), _I), "wrap_prm": ((), _F),
    "actuator_trntype": ((), _I), "actuator_dyntype": ((), _I), "actuator_gaintype": ((), _I),
    "actuator_biastype": ((), _I), "actuator_trnid": ((2,), _I), "actuator_actadr": ((), _I),
    "actuator_actnum": ((), _I), "actuator_group": ((), _I), "actuator_ctrllimited": ((), _B),
    "actuator_forcelimited": ((), _B), "actuator_actlimited": ((), _B), "actuator_dynprm": ((10,), _F),
    "actuator_gainprm": ((10,), _F), "actuator_biasprm": ((10,), _F), "actuator_actearly": ((), _B),
    "actuator_ctrlrange": ((2,), _F), "actuator_forcerange": ((2,), _F), "actuator_actrange": ((2,), _F),
    "actuator_gear": ((6,), _F), "actuator_cranklength": ((), _F), "actuator_acc0": ((), _F),
    "actuator_length0": ((), _F), "actuator_lengthrange": ((2,), _F),
    "sensor_type": ((), _I), "sensor_datatype": ((), _I), "sensor_needstage": ((), _I), "sensor_objtype": ((), _I),
    "sensor_objid": ((), _I), "sensor_reftype": ((), _I), "sensor_refid": ((), _I), "sensor_dim": ((), _I),
    "sensor_adr": ((), _I), "sensor_cutoff": ((), _F), "sensor_noise": ((), _F),
}  # fmt: skip
ZERO_SIZES = """nu na ntendon neq nsensor nsensordata nmesh nhfield nwrap nflex nskin nplugin ntuple nflexvert
nmeshvert nmeshface nhfielddata npluginstate""".split()

# sizes that are lengths of arrays
COUNTED = {
    "nbody": "body_parentid", "njnt": "jnt_type", "ngeom": "geom_type", "nsite": "site_type", "ncam": "cam_mode",
    "nlight": "light_mode", "nmat": "mat_rgba", "ntex": "tex_type", "npair": "pair_dim", "nkey": "key_time",
    "nexclude": "exclude_signature", "nq": "qpos0", "nv": "dof_bodyid", "nnumeric": "numeric_size",
    "nnumericdata": "numeric_data",
}  # fmt: skip


class Model(DeviceModel):
    """A compiled scene. Create it with `Model.from_xml_path` or `Model.from_xml_string`.

    Fields have MuJoCo's names: sizes are integers (m.nbody), quantities are arrays (m.geom_size is (ngeom, 3)),
    settings are m.opt, m.stat and m.vis. Writing `m.geom_friction = x` copies into the array.
    Named access: m.geom("floor").friction, m.body("box").mass, m.key("home").qpos.
    """

    def __init__(self, compiled):
        arrays = {name: np.zeros((0, *shape), dtype) for name, (shape, dtype) in EMPTY.items()}
        arrays.update(compiled.arrays)
        sizes = dict.fromkeys(ZERO_SIZES, 0) | compiled.sizes
        sizes.update({name: len(arrays[array]) for name, array in COUNTED.items()})
        sizes["nmocap"] = int((arrays["body_mocapid"] >= 0).sum())
        sizes["ngravcomp"] = int((arrays["body_gravcomp"] > 0).sum())
        sizes["ntext"] = len(compiled.names.get(mjtObj.mjOBJ_TEXT, ()))
        changed = set()
        fields = dict(
            _arrays=tracked(arrays, changed), _changed=changed, _on_device={}, _derived={}, capacity_limit={},
            _sizes=sizes, _names=dict(compiled.names), _index={}, opt=Settings("opt", compiled.option),
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
        return cls(mjcf.compile_file(path))

    @classmethod
    def from_xml_string(cls, text, assets=None):
        """Model of an MJCF text; `assets` maps names of included files to their contents (str or bytes)."""
        return cls(mjcf.compile_string(text, assets))

    @classmethod
    def from_scene(cls, name, **params):
        """Model of a scene that ships with tisim, for example Model.from_scene("dominos", n=500).

        name, params  as listed by `tisim scenes`. Raises Error for a scene or parameter that does not exist.
        """
        from tisim import scenes

        return cls.from_xml_string(scenes.build(name, **params))

    # fields: the one place where arrays and sizes are read and written

    def __getattr__(self, name):
        fields = object.__getattribute__(self, "__dict__")
        if name in fields.get("_arrays", ()):
            return fields["_arrays"][name]
        if name in fields.get("_sizes", ()):
            return fields["_sizes"][name]
        raise AttributeError(
            f"Model has no field '{name}'{nearest(name, [*fields.get('_arrays', ()), *fields.get('_sizes', ())])}"
        )

    def __setattr__(self, name, value):
        if name in self._arrays:
            self._arrays[name][...] = value
        elif name in self._sizes:
            raise AttributeError(f"Model.{name} is a size and cannot be written")
        elif name in self.__dict__:
            raise AttributeError(f"Model.{name} cannot be replaced; write its fields")
        else:
            raise AttributeError(f"Model has no field '{name}'{nearest(name, self._arrays)}")

    def __dir__(self):
        return [*super().__dir__(), *self._arrays, *self._sizes]

    def __repr__(self):
        return f"<tisim.Model '{self.modelname}': {self.nbody} bodies, {self.ngeom} geoms, nq {self.nq}, nv {self.nv}>"

    # names

    def id2name(self, objtype, index):
        """Name of an object, "" where it has none. objtype  mjtObj or a word like "geom". IndexError out of range."""
        names = self._names_of(objtype)
        if not 0 <= index < len(names):
            raise IndexError(f"no {_word(objtype)} with id {index}: there are {len(names)}")
        return names[index]

    def name2id(self, objtype, name):
        """Id of a named object. Raises Error, listing near names, where there is none."""
        kind = _kind(objtype)
        index = self._index.get(kind)
        if index is None:
            index = self._index[kind] = {n: i for i, n in enumerate(self._names_of(objtype)) if n}
        if name not in index:
            raise Error(f"the model has no {_word(objtype)} named '{name}'{nearest(name, index)}")
        return index[name]

    def _names_of(self, objtype):
        return self._names.get(_kind(objtype), [])

    def _view(self, word, key):
        if isinstance(key, str):
            key = self.name2id(KINDS[word][0], key)
        number = self._sizes[KINDS[word][2]]
        if not 0 <= key < number:
            raise IndexError(f"no {word} with id {key}: there are {number}")
        return View(self, word, int(key))


def _accessor(word):
    def access(self, key):
        return self._view(word, key)

    access.__name__ = word
    access.__doc__ = f"The {word} of a name or id, as a View of its fields."
    return access


for _name in KINDS:
    setattr(Model, _name, _accessor(_name))
for _alias, _name in ALIASES.items():
    setattr(Model, _alias, getattr(Model, _name))


def _kind(objtype):
    if isinstance(objtype, str):
        word = ALIASES.get(objtype, objtype)
        if word not in KINDS:
            raise Error(f"unknown type of object '{objtype}'{nearest(objtype, KINDS)}")
        return KINDS[word][0]
    try:
        return mjtObj(int(objtype))
    except ValueError:
        raise Error(f"unknown type of object {objtype!r}") from None


def _word(objtype):
    return _kind(objtype).name.removeprefix("mjOBJ_").lower()


class View:
    """The fields of one element, without their prefix: m.geom("floor").friction is m.geom_friction[id].

    Reading gives a view that writes through; a scalar reads as an array of one element, as in mujoco. A joint also has
    the fields of its dofs (damping, armature, frictionloss, ...) and qpos0. `id` and `name` tell which it is.
    """

    __slots__ = ("_model", "_word", "id")

    def __init__(self, model, word, index):
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_word", word)
        object.__setattr__(self, "id", index)

    @property
    def name(self):
        return self._model.id2name(KINDS[self._word][0], self.id)

    def __getattr__(self, field):
        arrays, i = self._model._arrays, self.id
        array = arrays.get(f"{KINDS[self._word][1]}_{field}")
        if array is not None and len(array) == self._model._sizes[KINDS[self._word][2]]:
            return array[i : i + 1] if array.ndim == 1 else array[i]
        if self._word == "joint":
            kind = int(arrays["jnt_type"][i])
            if f"dof_{field}" in arrays and len(arrays[f"dof_{field}"]) == self._model.nv:
                start = int(arrays["jnt_dofadr"][i])
                return arrays[f"dof_{field}"][start : start + (6, 3, 1, 1)[kind]]
            if field in ("qpos0", "qpos_spring"):
                start = int(arrays["jnt_qposadr"][i])
                return arrays[field][start : start + (7, 4, 1, 1)[kind]]
        if self._word == "numeric" and field == "data":
            start = int(arrays["numeric_adr"][i])
            return arrays["numeric_data"][start : start + int(arrays["numeric_size"][i])]
        raise AttributeError(f"a {self._word} has no field '{field}'{nearest(field, self._fields())}")

    def __setattr__(self, field, value):
        getattr(self, field)[...] = value

    def _fields(self):
        prefix = KINDS[self._word][1] + "_"
        names = [name.removeprefix(prefix) for name in self._model._arrays if name.startswith(prefix)]
        if self._word == "joint":
            names += [name.removeprefix("dof_") for name in self._model._arrays if name.startswith("dof_")]
        return names

    def __dir__(self):
        return [*super().__dir__(), *self._fields()]

    def __repr__(self):
        return f"<{self._word} {self.id} '{self.name}'>"
