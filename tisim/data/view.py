"""Named access to a Data: d.body("box").xpos, d.joint("hip").qpos, d.geom(3).xmat, d.contact[0].dist."""

import contextlib

import numpy as np

from tisim.errors import Error, FieldError, IdError, brief
from tisim.mjcf.format.names import nearest
from tisim.mjcf.tree import NQ, NV
from tisim.model.listing import listing

from . import on_demand
from .arrays import DATA

CONTACT_FIELDS = [n.removeprefix("contact_") for n, a in DATA.items() if n.startswith("contact_") and not a.hidden]
CONTACT_FIELDS += ["geom1", "geom2"]
# word -> (fields without prefix, fields with the prefix that is dropped)
_BODY = "xpos xquat xmat xipos ximat subtree_com cinert crb cvel xfrc_applied cacc cfrc_int cfrc_ext subtree_linvel "
_BODY += "subtree_angmom"
_DOF = """qvel qacc qacc_warmstart qacc_smooth qfrc_applied qfrc_bias qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid
qfrc_passive qfrc_actuator qfrc_smooth qfrc_constraint qfrc_inverse cdof cdof_dot qLDiagInv"""
FIELDS = {
    "body": {name: (name, "nbody") for name in _BODY.split()},
    "geom": {name: (f"geom_{name}", "ngeom") for name in ("xpos", "xmat")},
    "site": {name: (f"site_{name}", "nsite") for name in ("xpos", "xmat")},
    "camera": {name: (f"cam_{name}", "ncam") for name in ("xpos", "xmat")},
    "light": {name: (f"light_{name}", "nlight") for name in ("xpos", "xdir")},
    "joint": {name: (name, "njnt") for name in ("xanchor", "xaxis")}
    | {name: (name, "nv") for name in _DOF.split()} | {"qpos": ("qpos", "nq")},
    "actuator": {"ctrl": ("ctrl", "nu")}
    | {name: (f"actuator_{name}", "nu") for name in ("length", "velocity", "force")}
    | {"moment": ("_moment_rows", "nu")}
    | {"act": ("act", "na"), "act_dot": ("act_dot", "na")},
    "tendon": {name: (f"ten_{name}", "ntendon") for name in ("length", "velocity", "J", "wrapadr", "wrapnum")},
    "sensor": {"data": ("sensordata", "nsensordata")},
    "equality": {"active": ("eq_active", "neq")},
}  # fmt: skip


class DataView:
    """The values of one element, with mujoco's names: d.body("box").xpos is d.xpos[id].

    Reading gives a copy, with a leading world axis where the Data has several worlds; where the field is an input or a
    state, assigning writes through, to a part as well: d.joint("hinge").qpos = 0.3, d.body("box").xfrc_applied[:3] = f.
    A scalar reads as an array of one element. `id` and `name` tell which element it is.
    """

    __slots__ = ("_data", "_word", "id")

    def __init__(self, data, word, index):
        object.__setattr__(self, "_data", data)
        object.__setattr__(self, "_word", word)
        object.__setattr__(self, "id", index)

    def __reduce__(self):
        return type(self), (self._data, self._word, self.id)

    @property
    def name(self):
        return self._data.model.id2name(self._word, self.id)

    def _place(self, field):
        """(array of the Data, index in it) of a field."""
        known = FIELDS[self._word]
        array = getattr(self._data, known[field][0], None) if field in known else None
        if array is None:
            raise FieldError(f"a {self._word} has no field '{field}'{nearest(field, self._fields())}")
        return array, (..., *self._rows(known[field][1]), *[slice(None)] * self._columns(array))

    def _columns(self, array):
        return array.ndim - 1 - (self._data.nworld > 1)

    def _rows(self, size):
        """Index along the element axis: one row, or the run of a joint's or actuator's numbers."""
        m, i = self._data.model, self.id
        if self._word == "joint" and size in ("nq", "nv"):
            adr, length = (m.jnt_qposadr, NQ) if size == "nq" else (m.jnt_dofadr, NV)
            return (slice(int(adr[i]), int(adr[i]) + length[int(m.jnt_type[i])]),)
        if size == "na":
            start = max(0, int(m.actuator_actadr[i]))
            return (slice(start, start + int(m.actuator_actnum[i])),)
        if size == "nsensordata":
            return (slice(int(m.sensor_adr[i]), int(m.sensor_adr[i]) + int(m.sensor_dim[i])),)
        return (i,)

    def __getattr__(self, field):
        array, place = self._place(field)
        value = array[...][place]
        return value[..., None] if value.ndim == (self._data.nworld > 1) else value

    def __setattr__(self, field, value):
        array, place = self._place(field)
        try:
            array[place] = value
        except (ValueError, TypeError) as e:
            raise Error(f"{self._word} {self.id} '{self.name}': cannot write {field}: {e}") from None

    def _fields(self, but=()):
        """Those that there are, but for what the dynamics does not tell, and for these arrays."""
        there = []
        for field, (name, _) in FIELDS[self._word].items():
            if name not in but:
                with contextlib.suppress(Error):
                    there += [field] * hasattr(self._data, name)
        return there

    def __dir__(self):
        return [*super().__dir__(), *self._fields()]

    def __repr__(self):
        """A line for each field, but for what would be computed now."""
        try:
            fields = [(field, getattr(self, field)) for field in ("id", "name", *self._fields(on_demand.MADE))]
        except Error:
            return f"<{self._word} {self.id} '{self.name}' of a Data, of an earlier tisim.init>"
        return listing(f"{self._word} of a Data", fields)


def accessor(word):
    """The method `d.<word>(name or id)`."""

    def access(self, key=None):
        return DataView(self, word, self.model._id(word, key))

    access.__name__ = word
    access.__doc__ = f"The {word} of a name or id, as a DataView of its values; Error lists near names."
    return access


def picked(contacts, index, where=""):
    """The contact at a place in a list as a ContactView; for a slice a list of them."""
    n = len(contacts)
    if isinstance(index, slice):
        return [ContactView(contacts, i) for i in range(*index.indices(n))]
    if not isinstance(index, (int, np.integer)) or not -n <= index < n:
        raise IdError(f"no contact {brief(index)}: there are {n}{where}")
    return ContactView(contacts, int(index) % n)


class ContactView:
    """One contact of the list: d.contact[i].dist, .pos, .frame, .geom, ... (read-only copies)."""

    __slots__ = ("_contacts", "id")

    def __init__(self, contacts, index):
        self._contacts, self.id = contacts, index

    def __reduce__(self):
        return type(self), (self._contacts, self.id)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        values = getattr(self._contacts, name)
        if self.id >= len(values):
            raise IdError(f"contact {self.id} is no more: there are {len(values)}")
        value = values[self.id]
        return value.item() if np.ndim(value) == 0 else value

    def __dir__(self):
        return [*super().__dir__(), *CONTACT_FIELDS]

    def __repr__(self):
        if self.id >= len(self._contacts):
            return f"<contact {self.id}, which is no more>"
        return f"<contact {self.id}: geoms {self.geom.tolist()}, dist {self.dist:.6g}>"
