"""Long functions that a kernel calls, where others are inlined into it.

What it takes to compile a function grows with its length to the power of one and a half: Newton's method for models
with joints takes two minutes in one piece. In pieces, which know nothing of each other but their arguments, it takes a
fraction of that, and computes the same bits.

A called function is what Taichi knows as a real function. Its arguments are the arrays and numbers of the bundles that
it reaches, in the order of `bundle.Arguments`, then its own. A call costs a copy of these, some ten nanoseconds.

LLVM inlines what is called in one place, unless it calls itself. So each has a number as its last argument, which is 0,
and would call itself if it was not.
"""

import functools
import inspect
import math
import types

from . import by_world, session
from .bundle import BUNDLES, check_names
from .flow import CALLED_FOR, parameters


def called(feature):
    """Marks a Taichi function over the bundles as one that kernels for models with this feature call, on a CPU; into
    others it is inlined. Its other parameters have types, and what it returns; of structs it gets copies."""

    def mark(function):
        import taichi as ti

        check_names(function)
        function.__annotations__.update({name: ti.template() for name in parameters(function) if name in BUNDLES})
        inlined = ti.func(_by_reference(function))
        if session.arch != "cpu":
            return inlined
        setattr(function, CALLED_FOR, feature)

        @functools.wraps(function)
        def call(m, d, *own):
            if not getattr(m.has, feature):
                return inlined(m, d, *own)
            caller, given = d._call
            if function not in caller.called:
                caller.called[function] = Called(function, caller)
            return caller.called[function](given, own)

        call.func = inlined.func  # Taichi asks it whether there is a print
        call._is_taichi_function, call._is_real_function = True, False
        return call

    return mark


def _by_reference(function):
    """The function, of whose parameters structs are templates: inlined, it needs no copies of them."""
    import taichi as ti

    made = _copy(function)
    marks = {n: ti.template() if _is_struct(kind) else kind for n, kind in function.__annotations__.items()}
    marks.pop("return", None)
    made.__annotations__ = marks
    return made


def _copy(function):
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made


def _is_struct(kind):
    return hasattr(kind, "members")


class Arguments(by_world.Arguments):
    """The arguments of a called function; its own may be structs."""

    def own_of(self, function):
        return [(name, function.__annotations__[name]) for name in parameters(function) if name not in BUNDLES]


DEPTH = "_depth"  # the last argument


class Called:
    """A function as a kernel's variant calls it.

    name  what it is called in the kernel's IR, where two numbers of Taichi's follow: those of the process that compiled
          it.  fields  names of its arguments, None for its own.
    kinds  of all of them, as in machine_code.type_of.
    """

    def __init__(self, function, caller):
        import taichi as ti
        from taichi.lang import kernel_impl

        from .variant import kind_of, parameters_of

        self.arguments = Arguments(function, caller.has)
        self.arguments.called = caller.called
        self.arguments.own.append((DEPTH, ti.i32))
        made, params = _copy(function), parameters_of(self.arguments)
        plain, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Signature.empty
        made._arguments = self.arguments
        made.__name__ = self.name = f"{function.__name__}_{len(caller.called)}"
        made.__signature__ = inspect.Signature(
            [inspect.Parameter(n, plain, annotation=kind) for n, kind in [*params, *self.arguments.own]],
            return_annotation=function.__annotations__.get("return", empty),
        )
        self.real = kernel_impl.Func(made, is_real_function=True)
        self.fields = [n for n, _ in params] + [None] * len(self.arguments.own)
        self.kinds = [_kinds(kind, kind_of) for _, kind in [*params, *self.arguments.own]]

    def __call__(self, given, own):
        """The call, in a kernel or function that was given these values by name."""
        return self.real(*(given[e.argument] for e in self.arguments.entries), *own, 0)


def _kinds(kind, kind_of):
    if _is_struct(kind):
        return [_kinds(k, kind_of) for k in kind.members.values()]
    if hasattr(kind, "get_shape"):  # a vector or a matrix
        return [kind_of(kind.dtype)] * math.prod(kind.get_shape())
    return kind_of(kind)
