"""The only file that launches kernels: arguments are bound by name, and a sequence of kernels is bound as a whole.

A stage is written as `run(m, d, [kernel, kernel])`: which arrays and numbers a kernel takes is found from its source
(device/bundle.py). Every kernel has a serial and a parallel variant with equal arithmetic: waking threads costs more
than a small scene has to compute.
"""

import contextlib
import gc
import inspect

from tisim.errors import Error

from . import bundle, flow, memory, session
from .specialise import specialise

CHUNK = (4, 32)  # neighbours in a list that one thread works through, on a GPU and on a CPU
_sequences = {}


class Kernel:
    """A kernel function and its two compiled variants (made on first use)."""

    def __init__(self, function):
        bundle.check_names(function)
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._variants = {}

    def variant(self, parallel, has):
        """The Variant for models with these Features."""
        for key in ((parallel, None), (parallel, has)):
            if key in self._variants:
                return self._variants[key]
        made = Variant(self.special(parallel), has)
        return self._variants.setdefault((parallel, has if made.arguments.flow.features else None), made)

    def special(self, parallel):
        """The function with `SERIAL`, `SHORT`, `SPREAD` and `CHUNK` bound as asked.

        Taichi's CPU threads take 512 iterations at a time, so a loop over few heavy items runs SPREAD idle
        iterations per item to be shared out at all; serial variants and GPUs need none.
        """
        cpu = session.arch == "cpu"
        names = dict(SERIAL=not parallel, SHORT=cpu, SPREAD=64 if parallel and cpu else 1, CHUNK=CHUNK[cpu])
        return specialise(self.function, **names)

    def __call__(self, *args):
        raise TypeError(f"kernel {self.__name__} is launched by tisim.device.launch.run(m, d, [{self.__name__}])")


def kernel(function):
    """Marks a function as a kernel over the bundles m and d; further parameters are numbers given to `run` by name."""
    return Kernel(function)


class Variant:
    """A kernel as Taichi compiles it, with the arguments it takes: names, element types of arrays, types of numbers."""

    def __init__(self, function, has):
        import taichi as ti

        self.arguments = bundle.Arguments(function, has)
        integer, real = ti.i32, memory.element(True)
        self.names, self.arrays, self.numbers, params = [], {}, {}, []
        for entry in self.arguments.entries:
            kind = memory.element(entry.dtype == "f", entry.width)
            if entry.is_array:
                self.arrays[entry.argument] = kind
                kind = ti.types.ndarray(dtype=kind, ndim=1)
            else:
                self.numbers[entry.argument] = float if entry.dtype == "f" else int
            params.append((entry.argument, kind))
        for name, kind in self.arguments.own:
            if kind not in (real, integer):
                raise Error(f"{flow.place_of(function)}: parameter {name}: {kind}; a kernel's numbers are FP or ti.i32")
            self.numbers[name] = float if kind is real else int
            params.append((name, kind))
        self.passed = {e.argument for e in self.arguments.entries if e.passed} | {n for n, _ in self.arguments.own}
        self.names = [name for name, _ in params]
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        function.__signature__ = inspect.Signature([inspect.Parameter(n, plain, annotation=k) for n, k in params])
        function._arguments = self.arguments
        self.kernel = ti.kernel(function)

    def compiled(self):
        """Taichi's compiled kernel; made on first use."""
        primal = self.kernel._primal
        if not primal.compiled_kernels:
            with _no_garbage_collection():
                primal.ensure_compiled(*(_sample(self.arrays[n]) if n in self.arrays else 0 for n in self.names))
        (made,) = primal.compiled_kernels.values()
        return made


@contextlib.contextmanager
def _no_garbage_collection():
    """Taichi's pass makes a hundred thousand objects, and looking through them again and again takes a tenth of it."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _sample(kind):
    """A short array of this element type, from which Taichi takes a kernel's argument types."""
    return _sample_of(str(kind), session.generation, kind=(kind,))


def _sample_of(name, generation, kind):
    import taichi as ti

    if (name, generation) not in _samples:
        _samples[name, generation] = ti.ndarray(kind[0], (1,))
    return _samples[name, generation]


_samples = {}


class _Sequence:
    """Kernels with the arrays and numbers they ask for: calls of their own on a CPU, one Taichi graph elsewhere."""

    def __init__(self, kernels, parallel, has):
        self.kernels = kernels  # keeps the ids in the cache's keys alive
        self.variants = [k.variant(parallel, has) for k in kernels]
        self.arrays, self.numbers = {}, {}
        for v in self.variants:
            self.arrays.update(v.arrays)
            self.numbers.update(v.numbers)
        self.passed = frozenset().union(*(v.passed for v in self.variants))
        self.checked = None  # names that the last launch passed, found to be right
        self.graph = None if session.arch == "cpu" else self._graph()

    def _graph(self):
        import taichi as ti

        kinds = ti.graph.ArgKind
        symbols = {name: ti.graph.Arg(kinds.NDARRAY, name, kind, ndim=1) for name, kind in self.arrays.items()}
        for name, kind in self.numbers.items():
            symbols[name] = ti.graph.Arg(kinds.SCALAR, name, ti.i32 if kind is int else memory.element(True))
        builder = ti.graph.GraphBuilder()
        for v in self.variants:
            builder.dispatch(v.kernel, *(symbols[name] for name in v.names))
        return builder.compile()._compiled_graph

    def bind(self, d):
        """(calls, kinds of the numbers that may change, those set so far) with the arrays of d, for the CPU.

        Only such numbers are looked up and set again afterwards: setting all arguments each time costs more than a
        microsecond per array, most of a step of a small scene.
        """
        from taichi.lang import impl

        prog = impl.get_runtime().prog
        fixed = {n: kind(d.scalar(n)) for n, kind in self.numbers.items() if n not in self.passed and d.is_fixed(n)}
        calls = []
        for v in self.variants:
            compiled = v.compiled()
            context = compiled.make_launch_context()
            setters = []
            for i, name in enumerate(v.names):
                if name in v.numbers:
                    setter = context.set_arg_int if v.numbers[name] is int else context.set_arg_float
                    if name in fixed:
                        setter((i,), fixed[name])
                    else:
                        setters.append((name, setter, (i,)))
                else:
                    a = d.device(name)
                    view = memory.host_view(a)
                    context.set_arg_external_array_with_shape((i,), view.ctypes.data, view.nbytes, a.shape, 0)
            data = prog.compile_kernel(prog.config(), prog.get_device_caps(), compiled)
            calls.append((data, context, setters))
        return calls, {n: kind for n, kind in self.numbers.items() if n not in fixed}, {}


def run(m, d, kernels, parallel=True, **scalars):
    """Runs kernels in order; arrays come from d and m by name, numbers from the call, d or m.

    parallel  False for scenes whose work is less than waking the threads costs.
    scalars   the numbers that tisim/data/scalars.py declares as passed; those that no kernel here asks for are left.
    Raises Error for a number that is not declared, or that is missing.
    """
    from taichi.lang import impl

    has = m.features()
    key = (tuple(map(id, kernels)), parallel, has)
    bound = d.bound(m, key)  # first of all: it refuses a Data whose Taichi is gone, and the kernels with it
    sequence = _sequences.get(key)
    if sequence is None:
        sequence = _sequences[key] = _Sequence(kernels, parallel, has)
    if sequence.checked != tuple(scalars):
        _check_passed(kernels, sequence, scalars)
    prog = impl.get_runtime().prog
    if session.arch != "cpu":
        if bound is None:
            bound = {name: d.device(name).arr for name in sequence.arrays}
            d.bind(m, key, bound)
        sequence.graph.jit_run(prog.config(), bound | _values(d, sequence.numbers, scalars))
        return
    if bound is None:
        bound = sequence.bind(d)
        d.bind(m, key, bound)
    calls, numbers, last = bound
    values = _values(d, numbers, scalars)
    changed = {name for name, value in values.items() if last.get(name) != value}
    last.update(values)
    for data, context, setters in calls:
        if changed:
            for name, setter, place in setters:
                if name in changed:
                    setter(place, values[name])
        prog.launch_kernel(data, context)


def _values(d, numbers, scalars):
    """Values of these numbers (name -> kind): those passed, else of d or m."""
    return {n: kind(scalars[n] if n in scalars else d.scalar(n)) for n, kind in numbers.items()}


def _check_passed(kernels, sequence, scalars):
    """Raises Error unless the launch passes all numbers that its kernels ask for, and declared ones only."""
    place = f"launch of {', '.join(dict.fromkeys(k.__name__ for k in kernels))}"
    for name in scalars:
        if not flow.lookup(f"d.{name}", place).passed:
            raise Error(f"{place}: {name} is no number that launches pass")
    if missing := sequence.passed - scalars.keys():
        raise Error(f"{place}: nobody passes {', '.join(sorted(missing))}")
    sequence.checked = tuple(scalars)


def forget():
    """Lets go of all sequences and arrays, before Taichi is started again."""
    _sequences.clear()
    _samples.clear()
    flow.forget()
    memory.forget()
