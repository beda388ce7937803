"""Kernels and their variants, as Taichi compiles them.

Every kernel has a serial and a parallel variant with equal arithmetic: waking threads costs more than a small scene has
to compute. Machine code from disk (native.py) needs only the parallel one.
"""

import importlib
import inspect

from tisim.errors import Error

from . import arena, bundle, by_world, flow, garbage, memory, session
from .specialise import specialise

CHUNK = (4, 32)  # neighbours in a list that one thread works through, on a GPU and on a CPU


class Kernel:
    """A kernel function and its two compiled variants (made on first use).

    path  where it stands, "smooth.kinematics.body_poses", if it is known by that: its module is imported only when its
          source is needed.  given  what a function of that name makes it of (`of`).
    """

    def __init__(self, function=None, path=None, given=()):
        self.path, self.given = path, given
        self._function, self._variants, self._made = function, {}, {}
        self.__name__ = function.__name__ if function else path.rpartition(".")[2]
        self._generation = session.generation
        if function:
            self.__module__, self.__qualname__ = function.__module__, function.__qualname__
            bundle.check_names(function)

    @property
    def function(self):
        """The Python function."""
        if self._function is None:
            module, _, name = self.path.rpartition(".")
            made = getattr(importlib.import_module(f"tisim.kernels.{module}"), name)
            self._function = (made(*self.given) if self.given else made).function
        return self._function

    def __reduce__(self):
        """A user's kernel is pickled by its name, as functions are."""
        return self.__qualname__

    @property
    def __doc__(self):
        return self.function.__doc__

    def of(self, *given):
        """The kernel that the function of this name makes of these arguments."""
        if given not in self._made:
            self._made[given] = Kernel(None, self.path, given)
        return self._made[given]

    @property
    def name(self):
        """A text that says which kernel this is, in every process; None where there is none."""
        plain = all(isinstance(x, (int, tuple)) for x in self.given)
        text = repr(self.given)
        return f"{self.path}{text}" if self.path and plain and "<" not in text else None

    def variant(self, parallel, has):
        """The Variant for models with these Features."""
        if self._generation != session.generation:  # a user's kernel, which outlives its Taichi
            self._variants, self._generation = {}, session.generation
        for key in ((parallel, None), (parallel, has)):
            if key in self._variants and (key[1] is not None or not getattr(has, "varied", ())):
                return self._variants[key]
        made = Variant(self.special(parallel), has)
        depends = made.arguments.flow.features or getattr(has, "varied", ())
        return self._variants.setdefault((parallel, has if depends else None), made)

    def special(self, parallel):
        """The function with `SERIAL`, `SHORT`, `SPREAD`, `HAND` and `CHUNK` bound as asked.

        Taichi's CPU threads take 512 iterations at a time, but in machine code, so a loop over few heavy items runs
        SPREAD idle iterations per item to be shared out at all; serial variants and GPUs need none.
        """
        cpu = session.arch == "cpu"
        names = dict(SERIAL=not parallel, SHORT=cpu, SPREAD=64 if parallel and cpu else 1, CHUNK=CHUNK[cpu])
        names["HAND"] = 512 if cpu else 1
        return specialise(self.function, **names)

    def __call__(self, *args):
        raise TypeError(f"kernel {self.__name__} is launched by tisim.device.launch.run(m, d, [{self.__name__}])")


class KernelFile:
    """The kernels of a file, by name."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        found = self.__dict__[name] = Kernel(None, f"{self._name}.{name}")
        return found


def kernel(function):
    """Marks a function as a kernel over the bundles m and d; further parameters are numbers given to `run` by name."""
    return Kernel(function)


class Variant:
    """A kernel as Taichi compiles it, with the arguments it takes: names, element types of arrays, types of numbers.

    arenas  element types of the arenas that hold its arrays, if they do: an array's argument is a number then, where it
            begins.
    """

    def __init__(self, function, has):
        import taichi as ti

        self.function, self.arguments = function, by_world.Arguments(function, has)
        integer, real = ti.i32, memory.element("f")
        self.names, self.arrays, self.numbers, self.arenas = [], {}, {}, {}
        for entry in self.arguments.entries:
            if entry.is_array:
                self.arrays[entry.argument] = kind = memory.element(entry.dtype, entry.width)
                if arena.used():
                    self.arenas[arena.name_of(entry.dtype, entry.width)] = kind
            else:
                self.numbers[entry.argument] = float if entry.dtype == "f" else int
        params = parameters_of(self.arguments)
        params += [(name, ti.types.ndarray(dtype=self.arenas[name], ndim=1)) for name in sorted(self.arenas)]
        for name, kind in self.arguments.own:
            if kind not in (real, integer):
                raise Error(f"{flow.place_of(function)}: parameter {name}: {kind}; a kernel's numbers are FP or ti.i32")
            self.numbers[name] = float if kind is real else int
            params.append((name, kind))
        self.passed = {e.argument for e in self.arguments.entries if e.passed} | {n for n, _ in self.arguments.own}
        self.names = [name for name, _ in params]
        self.kinds = [kind_of(kind) for _, kind in params]
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        function.__signature__ = inspect.Signature([inspect.Parameter(n, plain, annotation=k) for n, k in params])
        function._arguments = self.arguments
        self.kernel = ti.kernel(function)

    def compiled(self):
        """Taichi's compiled kernel; made on first use."""
        primal = self.kernel._primal
        if not primal.compiled_kernels:
            with garbage.collected_later():
                primal.ensure_compiled(*(_sample(self.arrays[n]) if n in self.arrays else 0 for n in self.names))
        (made,) = primal.compiled_kernels.values()
        return made


def parameters_of(arguments):
    """(name, Taichi's type) of the arrays and numbers of the bundles among bundle.Arguments."""
    import taichi as ti

    params = []
    for entry in arguments.entries:
        kind = memory.element(entry.dtype, entry.width)
        if entry.is_array:
            kind = ti.i32 if arena.used() else ti.types.ndarray(dtype=kind, ndim=1)
        params.append((entry.argument, kind))
    return params


def kind_of(kind):
    """ "f64" of a number of this type, "f64*" of an array of it or of vectors or matrices of it."""
    dtype = getattr(kind, "dtype", None)
    if dtype is None:
        return str(kind)
    return f"{getattr(dtype, 'dtype', dtype)}*"


def _sample(kind):
    """A short array of this element type, from which Taichi takes a kernel's argument types."""
    return _sample_of(kind.to_string(), session.generation, kind=(kind,))


def _sample_of(name, generation, kind):
    import taichi as ti

    if (name, generation) not in _samples:
        _samples[name, generation] = ti.ndarray(kind[0], (1,))
    return _samples[name, generation]


_samples = {}


def check_passed(kernels, passed, scalars):
    """Raises Error unless a launch passes all numbers that its kernels ask for, and declared ones only.

    passed  names of the numbers that they ask for;  scalars  those that the launch passes.
    """
    place = f"launch of {', '.join(dict.fromkeys(k.__name__ for k in kernels))}"
    for name in scalars:
        if not flow.lookup(f"d.{name}", place).passed:
            raise Error(f"{place}: {name} is no number that launches pass")
    if missing := passed - scalars.keys():
        raise Error(f"{place}: nobody passes {', '.join(sorted(missing))}")


def forget():
    """Lets go of all samples, before Taichi is started again."""
    _samples.clear()
