"""Kernels through Taichi's own launcher: GPUs, and CPUs for which there is no machine code on disk."""

from . import arena, memory, session
from .tally import tally
from .variant import check_passed


class Sequence:
    """Kernels launched together, with their serial or their parallel variants."""

    def __init__(self, kernels, has):
        self.kernels, self.has, self._variants = kernels, has, {}

    def bind(self, d):
        """The sequence with the arrays and fixed numbers of a Data."""
        return Bound(self, d)

    def variants(self, parallel):
        if parallel not in self._variants:
            self._variants[parallel] = _Variants(self.kernels, parallel, self.has)
        return self._variants[parallel]


class Bound:
    """A Sequence with the arrays of a Data."""

    def __init__(self, sequence, d):
        self.sequence, self._made = sequence, {}

    def run(self, d, version, parallel, scalars):
        """Launches the kernels. version: changes when a number of the model may have; not needed here."""
        parallel = bool(parallel)
        if parallel not in self._made:
            self._made[parallel] = self.sequence.variants(parallel).bind(d)
        self._made[parallel].run(d, scalars)
        d.forget_counts(self.sequence.variants(parallel).counts)


class _Variants:
    """Calls of their own on a CPU, one Taichi graph elsewhere."""

    def __init__(self, kernels, parallel, has):
        self.kernels = kernels
        self.variants = [k.variant(parallel, has) for k in kernels]
        self.arrays, self.numbers, self.arenas = {}, {}, {}
        for v in self.variants:
            self.arrays.update(v.arrays)
            self.arenas.update(v.arenas)
            self.numbers.update(v.numbers)
        self.passed = frozenset().union(*(v.passed for v in self.variants))
        writes = set().union(*(v.arguments.flow.writes for v in self.variants))
        self.counts = None if "d.counts" in writes else {path[2:] for path in writes if path.startswith("d.")}
        self.graph = None if session.arch == "cpu" else self._graph()

    def _graph(self):
        import taichi as ti

        kinds = ti.graph.ArgKind
        arrays = self.arenas or self.arrays
        symbols = {name: ti.graph.Arg(kinds.NDARRAY, name, kind, ndim=1) for name, kind in arrays.items()}
        if self.arenas:
            symbols |= {name: ti.graph.Arg(kinds.SCALAR, name, ti.i32) for name in self.arrays}
        for name, kind in self.numbers.items():
            symbols[name] = ti.graph.Arg(kinds.SCALAR, name, ti.i32 if kind is int else memory.element("f"))
        builder = ti.graph.GraphBuilder()
        for v in self.variants:
            builder.dispatch(v.kernel, *(symbols[name] for name in v.names))
        return builder.compile()._compiled_graph

    def bind(self, d):
        return (_Calls if self.graph is None else _Graph)(self, d)


class _Bound:
    """Variants with the arrays of a Data."""

    def __init__(self, sequence):
        self.sequence = sequence
        self.checked = None  # names that the last launch passed, found to be right

    def values(self, d, numbers, scalars):
        """Values of these numbers (name -> kind): those passed, else of d or m."""
        if self.checked != scalars.keys():
            check_passed(self.sequence.kernels, self.sequence.passed, scalars)
            self.checked = scalars.keys()
        return {n: kind(scalars[n] if n in scalars else d.scalar(n)) for n, kind in numbers.items()}


class _Graph(_Bound):
    def __init__(self, sequence, d):
        super().__init__(sequence)
        arrays = {name: d.device(name) for name in sequence.arrays}
        inside = bool(sequence.arenas)  # they are named by their places in arenas
        self.arrays = {name: a.begin if inside else a.arr for name, a in arrays.items()}
        self.bytes = sum(memory.size_of(d.device(name)) for v in sequence.variants for name in v.arrays)

    def run(self, d, scalars):
        from taichi.lang import impl

        prog = impl.get_runtime().prog
        values = self.values(d, self.sequence.numbers, scalars)
        tally.kernels += len(self.sequence.variants)
        tally.bytes += self.bytes
        arenas = {name: arena.arena(name).buffer.arr for name in self.sequence.arenas}
        self.sequence.graph.jit_run(prog.config(), self.arrays | arenas | values)


class _Calls(_Bound):
    """Contexts that keep their arguments: setting all of them each time costs more than a microsecond per array."""

    def __init__(self, sequence, d):
        from taichi.lang import impl

        super().__init__(sequence)
        prog = impl.get_runtime().prog
        own = {n: kind for n, kind in sequence.numbers.items() if n not in sequence.passed}
        fixed = {n: kind(d.scalar(n)) for n, kind in own.items() if d.is_fixed(n)}
        self.numbers = {n: kind for n, kind in sequence.numbers.items() if n not in fixed}
        self.last, self.calls = {}, []
        for name in sequence.arrays:
            d.device(name)  # all are made before one is looked at: that may move others
        for v in sequence.variants:
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
            self.calls.append((data, context, setters))

    def run(self, d, scalars):
        from taichi.lang import impl

        prog = impl.get_runtime().prog
        values = self.values(d, self.numbers, scalars)
        changed = {name for name, value in values.items() if self.last.get(name) != value}
        self.last.update(values)
        for data, context, setters in self.calls:
            if changed:
                for name, setter, place in setters:
                    if name in changed:
                        setter(place, values[name])
            prog.launch_kernel(data, context)
