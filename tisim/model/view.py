"""The fields of one element of a Model, without their prefix."""

from tisim.errors import FieldError
from tisim.mjcf.format.names import nearest
from tisim.mjcf.tree import NQ, NV

from .kinds import KINDS, RUNS
from .listing import listing


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

    def __reduce__(self):
        return type(self), (self._model, self._word, self.id)

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
                return arrays[f"dof_{field}"][start : start + NV[kind]]
            if field in ("qpos0", "qpos_spring"):
                start = int(arrays["jnt_qposadr"][i])
                return arrays[field][start : start + NQ[kind]]
        if field in RUNS.get(self._word, ()):
            start = int(arrays[f"{self._word}_adr"][i])
            return arrays[f"{self._word}_{field}"][start : start + int(arrays[f"{self._word}_size"][i])]
        raise FieldError(f"a {self._word} has no field '{field}'{nearest(field, self._fields())}")

    def __setattr__(self, field, value):
        if field in ("id", "name"):
            raise FieldError(f"the {field} of a {self._word} cannot be written; a tisim.Spec can rename it")
        getattr(self, field)[...] = value

    def _fields(self):
        prefix = KINDS[self._word][1] + "_"
        names = [name.removeprefix(prefix) for name in self._model._arrays if name.startswith(prefix)]
        if self._word == "joint":
            names += [name.removeprefix("dof_") for name in self._model._arrays if name.startswith("dof_")]
            names += ["qpos0", "qpos_spring"]
        return names

    def __dir__(self):
        return [*super().__dir__(), *self._fields()]

    def __repr__(self):
        there = ((field, getattr(self, field, None)) for field in {"id", "name", *self._fields()})
        return listing(self._word, [(field, value) for field, value in there if value is not None])
