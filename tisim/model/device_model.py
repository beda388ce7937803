"""The device side of a Model: arrays uploaded when a kernel first asks for them, and again after they were written."""

import warnings

import numpy as np

from tisim.device import memory, session
from tisim.enums import mjtCone, mjtDisableBit, mjtEnableBit, mjtGeom, mjtIntegrator, mjtJoint, mjtSolver
from tisim.errors import UnsupportedError

from .fields import FIELDS
from .tables import geom as geom_tables
from .tables import midphase
from .tables import ray as ray_tables
from .tables.declare import Table, declared

# sizes that must be zero until the engine computes what they count
NOT_SIMULATED = dict(neq="equality constraints", ntendon="tendons", nu="actuators", nsensor="sensors")
SLIPPERY = 1e-3  # sliding friction below which a pyramidal cone makes a contact too stiff
# types of geoms that have colliders
COLLIDING = (
    mjtGeom.mjGEOM_PLANE, mjtGeom.mjGEOM_HFIELD, mjtGeom.mjGEOM_SPHERE, mjtGeom.mjGEOM_CAPSULE,
    mjtGeom.mjGEOM_ELLIPSOID, mjtGeom.mjGEOM_CYLINDER, mjtGeom.mjGEOM_BOX, mjtGeom.mjGEOM_MESH,
)  # fmt: skip


class Changes(set):
    """Names of the arrays written since the device copies were last made; counts all writes."""

    count = 0

    def add(self, name):
        super().add(name)
        self.count += 1


class ModelArray(np.ndarray):
    """A NumPy array of a Model that remembers being written, so that the device copy follows."""

    _changed = None  # (set of names, name)

    def __array_finalize__(self, source):
        self._changed = getattr(source, "_changed", None)

    def _mark(self):
        if self._changed is not None:
            self._changed[0].add(self._changed[1])

    def __setitem__(self, index, value):
        super().__setitem__(index, value)
        self._mark()

    def fill(self, value):
        super().fill(value)
        self._mark()

    @property
    def flat(self):
        """NumPy's iterator, through which elements may be written."""
        self._mark()
        return super().flat

    def __array_function__(self, func, types, args, kwargs):
        if func in (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal) and isinstance(args[0], ModelArray):
            args[0]._mark()
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        def plain(a):
            return a.view(np.ndarray) if isinstance(a, ModelArray) else a

        if out is not None:
            for a in out:
                if isinstance(a, ModelArray):
                    a._mark()
            kwargs["out"] = tuple(plain(a) for a in out)
        result = getattr(ufunc, method)(*(plain(a) for a in inputs), **kwargs)
        return out[0] if out is not None and len(out) == 1 else result


def tracked(arrays, changed):
    """The arrays as ModelArray, each adding its name to the Changes `changed` when it is written."""
    out = {}
    for name, value in arrays.items():
        a = np.ascontiguousarray(value).view(ModelArray)
        a._changed = (changed, name)
        out[name] = a
    return out


def _tree_free(m):
    """1 for trees of one free body without armature and friction loss."""
    plain = (m.tree_bodynum == 1) & (m.tree_dofnum == 6) & (m.body_jntnum[m.tree_bodyadr] == 1)
    worst = np.maximum(m.dof_armature, m.dof_frictionloss)
    return (plain & (np.maximum.reduceat(worst, m.tree_dofadr) == 0)) if m.ntree else plain


def _friction_dof(m):
    return np.flatnonzero(m.dof_frictionloss > 0)


def _limited_joint(m):
    return np.flatnonzero(np.asarray(m.jnt_limited, bool) & (m.jnt_type != mjtJoint.mjJNT_FREE))


DERIVED = declared(
    Table("tree_free", "i", ("ntree",), _tree_free, ("dof_armature", "dof_frictionloss"),
          "1: the tree is one free body without armature and friction loss"),
    Table("friction_dof", "i", ("nfriction",), _friction_dof, ("dof_frictionloss",), "dofs with friction loss"),
    Table("limited_joint", "i", ("nlimited",), _limited_joint, ("jnt_limited",), "joints with limits"),
) | ray_tables.TABLES | geom_tables.TABLES | midphase.TABLES  # fmt: skip


class DeviceModel:
    """Mixin of Model: device(name), scalar(name), check_simulable()."""

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

    def refresh(self):
        """Uploads what was written since the last call; returns a number that changes when a device array moved."""
        on = self._on_device
        if on.get("generation") != session.generation:
            on.clear()
            on.update(generation=session.generation, version=object())
        if self._changed:
            names = [n for n in self._changed if n in on]
            names += [n for n, table in DERIVED.items() if n in on and self._changed.intersection(table.reads)]
            before = [on[n] for n in names]
            for name in names:
                self.device(name)
            self._changed.clear()
            if any(on[n] is not old for n, old in zip(names, before)):
                on["version"] = object()
        return on["version"]

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
            self._changed.discard(name)
            if table is None and name not in FIELDS:
                raise KeyError(f"no array is named {name}: neither in tisim.data.arrays.DATA nor in Model")
            host = np.asarray(self.derived(name) if table else self._arrays[name])
            is_float = table.dtype == "f" if table else FIELDS[name].dtype.kind == "f"
            values = host.reshape(-1).astype(session.numpy_float() if is_float else np.int32)
            if a is None or a.length != values.size:
                if a is not None:
                    memory.delete_array(a)
                a = self._on_device[name] = memory.new_array(is_float, values.size, (table or FIELDS[name]).width)
            memory.upload(a, values)
        return a

    def scalar(self, name):
        """A size, an option, or a number derived from the model, by name."""
        if name == "nitem":
            return self._sizes["ngeom"] + len(self.derived("mid_body"))
        if name == "nfriction":
            return len(self.derived("friction_dof"))
        if name == "nlimited":
            return len(self.derived("limited_joint"))
        if name == "meaninertia":
            return self.stat.meaninertia
        if name.startswith("gravity_"):
            return self.opt.gravity["xyz".index(name[-1])]
        if name in self._sizes:
            return self._sizes[name]
        return getattr(self.opt, name)

    def check_simulable(self):
        """Raises UnsupportedError for what compiles but is not simulated yet."""
        self.check_options()
        for size, what in NOT_SIMULATED.items():
            if self._sizes[size]:
                raise UnsupportedError(f"the model has {what}, which compile but are not simulated so far")
        self._check_colliders()
        self._warn_of_slippery_pyramids()

    def _warn_of_slippery_pyramids(self):
        """Frictionless pyramids are 1e10 times stiffer than their impedance asks for; large islands of them diverge."""
        if self.opt.cone != mjtCone.mjCONE_PYRAMIDAL or not self.has_contacts():
            return
        touches = (self.geom_contype != 0) | (self.geom_conaffinity != 0)
        slips = touches & (self.geom_condim > 1) & (self.geom_friction[:, 0] < SLIPPERY)
        if slips.sum() > 1:  # friction of a pair is the larger one
            g = int(np.flatnonzero(slips)[0])
            warnings.warn(
                f"geom {self.id2name('geom', g) or f'number {g}'}: friction below {SLIPPERY} with pyramidal cones is "
                "too stiff to be solved well in large piles, in MuJoCo as here; use condim=1 or cone=elliptic",
                stacklevel=5,
            )

    def check_options(self):
        """The part of check_simulable that looks at m.opt; made before every step, since options may change."""
        opt = self.opt
        if opt.integrator != mjtIntegrator.mjINT_EULER:
            name = mjtIntegrator(opt.integrator).name[6:]
            raise UnsupportedError(f"integrator {name}: only Euler is simulated so far")
        if opt.solver != mjtSolver.mjSOL_NEWTON:
            raise UnsupportedError(
                f"solver {mjtSolver(opt.solver).name[6:]}: only Newton is simulated so far (all reach the same minimum)"
            )
        if opt.noslip_iterations:
            raise UnsupportedError("option noslip_iterations: the noslip solver is not simulated so far; set it to 0")
        if opt.density or opt.viscosity:
            raise UnsupportedError("option density/viscosity: forces of the medium are not simulated so far; set to 0")
        if opt.enableflags & mjtEnableBit.mjENBL_SLEEP:
            raise UnsupportedError("flag sleep: sleeping is not simulated so far; disable it")
        if opt.enableflags & (mjtEnableBit.mjENBL_FWDINV | mjtEnableBit.mjENBL_INVDISCRETE):
            raise UnsupportedError("flags fwdinv and invdiscrete: inverse dynamics is not simulated so far")

    def _check_colliders(self):
        """Geoms that may touch something need a collider."""
        if not self.has_contacts():
            return
        touches = (self.geom_contype != 0) | (self.geom_conaffinity != 0)
        touches[np.concatenate([self.pair_geom1, self.pair_geom2]).astype(int)] = True
        bad = np.flatnonzero(touches & ~np.isin(self.geom_type, COLLIDING))
        if len(bad):
            g = int(bad[0])
            name, kind = self.id2name("geom", g) or f"number {g}", mjtGeom(self.geom_type[g]).name[7:].lower()
            raise UnsupportedError(
                f"geom {name}: contacts of type {kind} are not simulated so far; "
                "set contype and conaffinity to 0 if it is only to be seen"
            )

    def disabled(self, bit):
        """True if this mjtDisableBit is set."""
        return bool(self.opt.disableflags & bit)

    def has_contacts(self):
        return not (self.disabled(mjtDisableBit.mjDSBL_CONTACT) or self.disabled(mjtDisableBit.mjDSBL_CONSTRAINT))
