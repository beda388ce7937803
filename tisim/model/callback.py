"""Users' functions that the steps of a model call, and those that the steps of all models do. Seed 003, "Simulation
loop"; seed 000, "Actuation model".

A callback is a Python function, which sees arrays on the host, or Taichi code, which is launched with the other kernels
of a step or compiled into one of them.
"""

import copy
import inspect
from typing import NamedTuple

from tisim.device import program
from tisim.device.bundle import func
from tisim.device.flow import BUNDLES
from tisim.device.variant import Kernel
from tisim.errors import Error, FieldError, brief
from tisim.mjcf.format.names import nearest


class Form(NamedTuple):
    """What a callback takes as a Python function, and as Taichi code: a kernel, or a function for each item."""

    python: str
    kind: str
    taichi: str


FORMS = dict(
    control=Form("m, d", "kernel", "m, d"),
    passive=Form("m, d", "kernel", "m, d"),
    act_dyn=Form("m, d, id", "func", "m, d, w, i"),
    act_gain=Form("m, d, id", "func", "m, d, w, i"),
    act_bias=Form("m, d, id", "func", "m, d, w, i"),
    sensor=Form("m, d, stage", "kernel", "m, d, sensorstage"),
    contactfilter=Form("m, d, geom1, geom2, worldid", "func", "m, d, w, geom1, geom2"),
)
MUJOCOS = "m, d, geom1, geom2"  # a contact filter that is asked about one pair at a time


class Callbacks:
    """Callbacks by name; each is None or a function.

    control        f(m, d) before actuation: writes d.ctrl, d.qfrc_applied, d.xfrc_applied.
    passive        f(m, d) after all passive forces: adds to d.qfrc_passive.
    act_dyn        f(m, d, id) for each actuator of dyntype user: returns the rate of its activation; with actdim above
                   1 it writes d.act_dot itself.
    act_gain, act_bias  f(m, d, id) for each actuator of gaintype, biastype user: returns its gain, bias.
    sensor         f(m, d, stage) at each mjtStage that sensors of type user need: writes d.sensordata.
    contactfilter  f(m, d, geom1, geom2, worldid) with the ids of all pairs in contact, each an array (n,): returns (n,)
                   truth values, True takes the contacts of that pair away. With four parameters, as MuJoCo's, it is
                   asked about one pair after the other. Pairs that the model lists are not asked about.

    With several worlds a Python function is called once for all of them, and returns a number or one for each world.
    Or as Taichi code: `@tisim.kernel` functions f(m, d), of sensors f(m, d, sensorstage: ti.i32), whose loops are their
    own; `@tisim.func` functions f(m, d, w, i) of world w and actuator i, f(m, d, w, geom1, geom2) of a pair. Arrays
    there are flat, world by world: d.ctrl[w * m.nu + i]. Raises Error for what has another form.
    """

    def __init__(self, given=()):
        object.__setattr__(self, "edits", 0)
        self._set(dict.fromkeys(FORMS) | dict(given))

    def _set(self, given):
        for name, value in dict(given).items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name not in FORMS:
            raise FieldError(f"there is no callback {brief(name)}{nearest(name, FORMS)}: {', '.join(FORMS)}")
        object.__setattr__(self, name, checked(name, value))
        object.__setattr__(self, "edits", self.edits + 1)

    def items(self):
        """(name, function) of those that are set."""
        return [(name, f) for name in FORMS if (f := getattr(self, name)) is not None]

    def copied(self, memo):
        """dict name -> deep copy."""
        return {name: copy.deepcopy(f, memo) for name, f in self.items()}

    def __repr__(self):
        return f"<callbacks: {', '.join(name for name, _ in self.items()) or 'none'}>"


def is_taichi(f):
    """Whether a callback is Taichi code."""
    return isinstance(f, Kernel) or bool(getattr(f, "_is_taichi_function", False))


def checked(name, f):
    """The function, ready for its use; Error where it has not the form of this callback."""
    if f is None:
        return None
    form, place = FORMS[name], f"callback {name}{' (m.contact_filter)' * (name == 'contactfilter')}"
    marked = f"@tisim.{form.kind} function f({form.taichi})"
    if getattr(f, "_is_wrapped_kernel", False):
        raise Error(f"{place}: @ti.kernel has no access to m and d; expected a {marked}")
    if is_taichi(f):
        function = f.function if isinstance(f, Kernel) else inspect.unwrap(f)
        names = form.taichi.split(", ")
        given = list(inspect.signature(function).parameters)
        if isinstance(f, Kernel) != (form.kind == "kernel") or len(given) != len(names) or given[:2] != names[:2]:
            raise Error(f"{place}: expected a {marked}, or a Python function f({form.python})")
        if form.kind == "kernel" and given != names:
            raise Error(f"{place}: its parameters are called {form.taichi}")
        bundled = all(n in function.__annotations__ for n in BUNDLES)
        return f if isinstance(f, Kernel) or bundled else func(function)
    forms = [form.python, MUJOCOS] if name == "contactfilter" else [form.python]
    if not callable(f) or not any(takes(f, len(words.split(", "))) for words in forms):
        raise Error(f"{place} is a function f({form.python}), a {marked}, or None; got {brief(f)}")
    return f


def takes(f, n):
    """Whether a function can be called with n arguments, as far as it tells."""
    try:
        inspect.signature(f).bind(*range(n))
    except TypeError:
        return False
    except ValueError:  # a builtin that does not tell
        pass
    return True


EVERYWHERE = Callbacks()  # of all models that have none of their own of that name


def of(m, name):
    """The callback of this name that steps of the model call, None if there is none."""
    f = getattr(m.callback, name)
    return getattr(EVERYWHERE, name) if f is None else f


def asked_singly(f):
    """Whether a contact filter is asked about one pair after the other."""
    return not takes(f, len(FORMS["contactfilter"].python.split(", ")))


def reset_callbacks():
    """Takes away all callbacks that were set for all models."""
    for name in FORMS:
        setattr(EVERYWHERE, name, None)
    program.outdate()


def _accessors(name):
    def setter(f):
        setattr(EVERYWHERE, name, f)
        program.outdate()

    def getter():
        return getattr(EVERYWHERE, name)

    setter.__name__, getter.__name__ = f"set_mjcb_{name}", f"get_mjcb_{name}"
    setter.__doc__ = (
        f"Lets the steps of all models call f, or nothing if f is None, as `m.callback.{name} = f` does for one model, "
        f"which comes first. f: see Callbacks. Raises Error for a function of another form."
    )
    getter.__doc__ = f"The callback {name} of all models, None if there is none."
    return {setter.__name__: setter, getter.__name__: getter}


for _name in FORMS:
    globals().update(_accessors(_name))
