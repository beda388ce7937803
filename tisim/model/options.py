"""`m.opt`, `m.stat` and `m.vis`: plain groups of named settings, checked when they are written."""

import difflib
import math

import numpy as np

from tisim.enums import mjtCone, mjtIntegrator, mjtJacobian, mjtSolver
from tisim.errors import Error, FieldError, ValuesError, brief

from .listing import listing
from .watched import floats

# fields that hold a member of an enum, with the enum
CHOICES = {"integrator": mjtIntegrator, "cone": mjtCone, "jacobian": mjtJacobian, "solver": mjtSolver}
# settings that cannot be negative, and those that must be above 0
NOT_NEGATIVE = set(
    """tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance iterations ls_iterations noslip_iterations
    ccd_iterations density viscosity disableflags enableflags disableactuator sdf_initpoints sdf_iterations""".split()
)
POSITIVE = {"timestep", "impratio", "meaninertia", "extent"}
DYNAMICS = ("convex", "lcp")  # what m.opt.dynamics may be
MOST = 1e10  # mjMAXVAL: what simulates nothing any more


class Settings:
    """A group of settings. Reading gives a number or an array; writing checks type, shape and finiteness.

    An array can also be written in place (`m.opt.gravity[2] = 0`). An unknown name is refused with the near ones.
    """

    def __init__(self, what, values):
        object.__setattr__(self, "_what", what)
        object.__setattr__(self, "_edits", 0)  # counts writes of fields; arrays may be written in place besides
        object.__setattr__(self, "_fine", None)  # values that `check` found fine
        object.__setattr__(
            self, "_values", {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        )

    def __getattr__(self, name):
        values = object.__getattribute__(self, "__dict__").get("_values", {})
        if name in values:
            return values[name]
        raise FieldError(_unknown(self.__dict__.get("_what", "settings"), name, values))

    def __setattr__(self, name, value):
        if name not in self._values:
            raise FieldError(_unknown(self._what, name, self._values))
        self._values[name] = self._checked(name, value)
        object.__setattr__(self, "_edits", self._edits + 1)

    def _checked(self, name, value):
        old = self._values[name]
        where = f"{self._what}.{name}"
        if isinstance(old, Settings):
            raise Error(f"{where} is a group of settings; write its fields")
        if isinstance(old, str):
            if value not in DYNAMICS:
                raise Error(f"{where} is one of {', '.join(map(repr, DYNAMICS))}, got {brief(value)}")
            return str(value)
        try:
            array = floats(where, value)
        except ValuesError:
            raise Error(f"{where} {_wants(name, old)}, got {brief(value)}") from None
        if isinstance(old, np.ndarray):
            if array.shape != old.shape or not np.isfinite(array).all():
                raise Error(f"{where} needs {old.size} finite numbers, got {brief(value)}")
            return array.astype(old.dtype)
        if array.ndim:
            raise Error(f"{where} needs one number, not a list, got {brief(value)}")
        if not math.isfinite(number := float(array)):
            raise Error(f"{where} needs one finite number, got {brief(value)}")
        if name in POSITIVE and not 0 < number <= MOST:
            raise Error(f"{where} needs a number above 0, at most {MOST:g}, got {brief(value)}")
        if name in NOT_NEGATIVE and number < 0:
            raise Error(f"{where} cannot be negative, got {brief(value)}")
        if not isinstance(old, (int, np.integer)):
            return number
        if abs(number) >= 2**31:
            raise Error(f"{where} needs a 32-bit integer, got {brief(value)}")
        if number != int(number):
            raise Error(f"{where} needs an integer, got {brief(value)}")
        if name in CHOICES and int(number) not in {int(c) for c in CHOICES[name]}:
            raise Error(f"{where} {_wants(name, old)}, got {brief(value)}")
        return int(number)

    def check(self):
        """Raises Error where a value is one that could not be written, as a file may have it."""
        values = [v.tobytes() if isinstance(v, np.ndarray) else v for v in self._values.values()]
        if values == self._fine and not any(isinstance(v, Settings) for v in values):
            return
        for name, value in self._values.items():
            if isinstance(value, Settings):
                value.check()
            else:
                self._checked(name, value)
        object.__setattr__(self, "_fine", values)

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def __repr__(self):
        return listing(self._what, self._values.items())

    def copy(self):
        """An independent copy."""
        return Settings(self._what, {k: v.copy() if hasattr(v, "copy") else v for k, v in self._values.items()})

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return Settings, (self._what, self._values)

    def items(self):
        """(name, value) pairs."""
        return self._values.items()


def read(what, values, defaults):
    """dict of settings that come from a file, as they are in `defaults`. Raises Error for other names or values."""
    if what == "opt" and isinstance(values, dict):  # files of an earlier tisim have none
        values, defaults = {"dynamics": "convex", **values}, {**defaults, "dynamics": "convex"}
    if not isinstance(values, dict) or set(values) != set(defaults):
        raise Error(f"{what}: expected the settings {', '.join(defaults)}")
    plain = {k: np.array(v, float) if isinstance(v, (tuple, list)) else v for k, v in defaults.items()}
    out = Settings(what, plain)
    for name, value in values.items():
        setattr(out, name, value)
    return dict(out.items())


def visual(values):
    """Settings `vis` from dict section -> dict; the section `global` is named `global_`, as in mujoco."""
    return Settings("vis", {("global_" if k == "global" else k): Settings(f"vis.{k}", v) for k, v in values.items()})


def _wants(name, old):
    """What may be written to a setting, in words, where something else was."""
    if name in CHOICES:
        return f"is one of {', '.join(c.name for c in CHOICES[name])}"
    return "needs numbers" if isinstance(old, np.ndarray) else "needs a number"


def _unknown(what, name, values):
    near = difflib.get_close_matches(name, list(values), 3)
    return f"{what} has no field '{name}'" + (f"; near: {', '.join(near)}" if near else "")
