"""The device side of a Model: arrays uploaded when a kernel first asks for them, and again after they were written."""

import numpy as np

from tisim.device import memory, session
from tisim.enums import mjtDisableBit, mjtJoint

from . import lcp, validate
from .features import features
from .fields import FIELDS
from .tables import actuation, branches, equality, frames, gravcomp, heavy, midphase, tendon
from .tables import colors as color_tables
from .tables import faces as face_tables
from .tables import geom as geom_tables
from .tables import medium as medium_tables
from .tables import ray as ray_tables
from .tables import sensed as sensed_tables
from .tables import sensor as sensor_tables
from .tables import sleep as sleep_tables
from .tables import tasks as task_tables
from .tables.declare import Table, declared

MASSES = {"body_mass", "body_inertia", "dof_armature", "dof_M0"}  # of which dof_M0 follows from the others


def _tree_free(m):
    """1 for trees of one free body without armature and friction loss, of its dofs and of tendons' that pull at it."""
    plain = (m.tree_bodynum == 1) & (m.tree_dofnum == 6) & (m.body_jntnum[m.tree_bodyadr] == 1)
    worst = np.maximum(m.dof_armature, m.dof_frictionloss)
    worst[heavy.by_dof(m)] = 1
    return (plain & (np.maximum.reduceat(worst, m.tree_dofadr) == 0)) if m.ntree else plain


def _friction_dof(m):
    return np.flatnonzero(m.dof_frictionloss > 0)


def _limited_joint(m):
    return np.flatnonzero(np.asarray(m.jnt_limited, bool) & (m.jnt_type != mjtJoint.mjJNT_FREE))


DERIVED = declared(
    Table("tree_free", "i", ("ntree",), _tree_free,
          ("dof_armature", "dof_frictionloss", "tendon_armature"),
          "1: the tree is one free body without armature and friction loss"),
    Table("friction_dof", "i", ("nfriction",), _friction_dof, ("dof_frictionloss",), "dofs with friction loss"),
    Table("limited_joint", "i", ("nlimited",), _limited_joint, ("jnt_limited",), "joints with limits"),
)  # fmt: skip
for _tables in (ray_tables, face_tables, geom_tables, midphase, equality, medium_tables, tendon, actuation, heavy,
                branches, frames, gravcomp, sleep_tables, sensor_tables, sensed_tables, task_tables,
                color_tables):  # fmt: skip
    DERIVED |= _tables.TABLES
# numbers that are the length of a table
COUNTED = dict(nfriction="friction_dof", nlimited="limited_joint", nalways="always_body")
COUNTED |= equality.COUNTED | tendon.COUNTED | actuation.COUNTED | heavy.COUNTED | sensor_tables.COUNTED
COUNTED |= branches.COUNTED | sensed_tables.COUNTED | task_tables.COUNTED | color_tables.COUNTED


class DeviceModel:
    """Mixin of Model: device(name), scalar(name)."""

    def derived(self, name):
        """A table made from the model's arrays, on the host."""
        table = DERIVED[name]
        cached = self._derived.get(name)
        if cached is None or cached["edits"] != self.edits:
            if cached is None or any(not np.array_equal(self._arrays[r], old) for r, old in cached["reads"].items()):
                cached = dict(table=table.make(self), reads={r: np.array(self._arrays[r]) for r in table.reads})
                if name in self._on_device:
                    self._changed.add(name)
            self._derived[name] = cached | dict(edits=self.edits)
        return cached["table"]

    def features(self):
        """What this model can need of the kernels: tisim/model/features.py."""
        return features(self)

    def refresh(self):
        """Uploads what was written since the last call; the token it returns changes if one moved, or the features.

        Raises Error where what was written does not fit the rest of the model.
        """
        on = self._on_device
        if on.get("generation") != session.generation:
            on.clear()
            on.update(generation=session.generation, version=object())
        lcp.renew(self)
        if self._changed:
            validate.check(self, self._changed - DERIVED.keys())
            if self._changed & MASSES:
                from . import set_const  # which loads what compiles models

                set_const.warn_unless_followed(self)
            names = [n for n in self._changed if n in on]
            names += [n for n, table in DERIVED.items() if n in on and self._changed.intersection(table.reads)]
            before = [on[n] for n in names]
            for name in names:
                self.device(name)
            self._changed.clear()
            if any(on[n] is not old for n, old in zip(names, before)):
                on["version"] = object()
        if on.get("edits") != (edits := (self._changed.count, self.opt._edits, self.lcp.edits)):
            on["edits"] = edits
            if on.get("features") != (has := features(self)):
                on.update(features=has, version=object())
        return on["version"]

    def numbers_version(self):
        """What all numbers follow from that kernels ask the model for by name: equal as long as they are."""
        opt = self.opt
        arrays = tuple(opt._values[name].tobytes() for name in ("gravity", "wind", "magnetic"))
        return self._changed.count, opt._edits, self.stat._edits, arrays

    def decisions(self):
        """What the order of a step's launches follows from besides, too: equal as long as they are."""
        return self.numbers_version(), self.callback.edits, self.capacity_limit.edits, self.lcp.edits

    def memory(self):
        """dict name -> bytes of every device array that was made so far, of fields and of tables that follow."""
        arrays = {name: a for name, a in self._on_device.items() if hasattr(a, "numbers")}
        return {name: a.numbers * (8 if str(a.dtype) == "f64" else 4) for name, a in arrays.items()}

    @property
    def edits(self):
        """A number that grows with each write to the model's arrays."""
        return self._changed.count

    def device(self, name):
        """Device array of a field or derived table, uploaded if it is new or was written."""
        if self._on_device.get("generation") != session.generation:
            self._on_device.clear()
            self._on_device.update(generation=session.generation, version=object())
        table = DERIVED.get(name)
        if table is not None and table.reads:
            self.derived(name)
        a = self._on_device.get(name)
        if a is None or name in self._changed:
            if table is None and name not in FIELDS:
                raise KeyError(f"no array is named {name}: neither in tisim.data.arrays.DATA nor in Model")
            host = np.asarray(self.derived(name) if table else self.as_seen(name))
            dtype = table.dtype if table else FIELDS[name].kind
            values = host.reshape(-1).astype(session.numpy_type(dtype))
            old = a
            if a is None or a.length != values.size:
                a = memory.new_array(dtype, values.size, (table or FIELDS[name]).width)
            memory.upload(a, values)
            # in this order, since an interrupt may come between the lines: none finds an array that is not filled
            if old is not None and a is not old:
                self._on_device["version"] = object()
            self._on_device[name] = a
            self._changed.discard(name)
            if old is not None and a is not old:
                memory.delete_array(old)
        return a

    def as_seen(self, name):
        """An array as kernels see it: margins are larger where the second dynamics needs contacts with gaps."""
        return lcp.margins(self, name)

    def scalar(self, name):
        """A size, an option, or a number derived from the model, by name."""
        if name in self._sizes:
            return self._sizes[name]
        if name == "hard":
            return int(lcp.chosen(self))
        if name == "nitem":
            return self._sizes["ngeom"] + len(self.derived("mid_body"))
        if name == "nobject":  # a body may stand in the list as itself and as the first of a block
            return sum(self._sizes[n] for n in ("nbody", "nbody", "ngeom", "nsite"))
        if name == "ntask":
            return len(self.derived("task_treeadr")) - 1
        if name in ("nlane", "nlanedof"):  # records of four numbers of trees that are alike
            size = self._sizes["nM" if name == "nlane" else "nv"]
            return size // branches.LANES + 1 if len(self.derived("above_dof")) else 0
        if name in COUNTED:
            return len(self.derived(COUNTED[name]))
        if name == "meaninertia":
            return self.stat.meaninertia
        if name[:-1] in ("gravity_", "wind_", "magnetic_"):
            return getattr(self.opt, name[:-2])["xyz".index(name[-1])]
        try:
            return getattr(self.opt, name)
        except AttributeError:
            what = f"the model has no number {name}: no size, no option, not in COUNTED of device_model.py"
            raise KeyError(what) from None

    def disabled(self, bit):
        """True if this mjtDisableBit is set."""
        return bool(self.opt.disableflags & bit)

    def has_contacts(self):
        """Whether the flags let geoms collide."""
        return not (self.disabled(mjtDisableBit.mjDSBL_CONTACT) or self.disabled(mjtDisableBit.mjDSBL_CONSTRAINT))
