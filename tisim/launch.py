"""The only file that launches kernels: arguments are bound by name, and a sequence of kernels is bound as a whole.

A kernel's parameter names are the names of the arrays (tisim/arrays.py, MuJoCo's fields) and scalars (model
sizes, options, counts) it gets, so a stage is written as `run(m, d, [kernel, kernel])` and no argument list exists
twice. Every kernel has a serial and a parallel variant with equal arithmetic: waking threads costs more than a small
scene has to compute.
"""

import gc
import inspect
import types

import numpy as np

CHUNK = (4, 32)  # neighbours in a list that one thread works through, on a GPU and on a CPU
_sequences = {}


class Kernel:
    """A kernel function and its two compiled variants (made on first use)."""

    def __init__(self, func):
        self.func = func
        self.__name__ = func.__name__
        self.__doc__ = func.__doc__
        self.params = list(inspect.signature(func).parameters.values())
        self._variants = {}

    def variant(self, parallel):
        """The Taichi kernel, with `SERIAL`, `SHORT` and `SPREAD` bound as asked.

        Taichi's CPU threads take 512 iterations at a time, so a loop over few heavy items runs SPREAD idle
        iterations per item to be shared out at all; serial variants and GPUs need none.
        """
        if parallel not in self._variants:
            import taichi as ti

            from tisim import runtime

            cpu = runtime.arch == "cpu"
            bound = dict(SERIAL=not parallel, SHORT=cpu, SPREAD=64 if parallel and cpu else 1, CHUNK=CHUNK[cpu])
            func = types.FunctionType(self.func.__code__, dict(self.func.__globals__, **bound), self.func.__name__)
            func.__annotations__ = self.func.__annotations__
            func.__qualname__ = self.func.__qualname__
            func.__module__ = self.func.__module__
            self._variants[parallel] = ti.kernel(func)
        return self._variants[parallel]

    def __call__(self, *args):
        raise TypeError(f"kernel {self.__name__} is launched by tisim.launch.run(m, d, [{self.__name__}])")


def kernel(func):
    """Marks a function as a kernel; its parameters are named after the arrays and scalars they receive."""
    return Kernel(func)


class _Sequence:
    """Kernels with the arrays and scalars they ask for: calls of their own on a CPU, one Taichi graph elsewhere."""

    def __init__(self, kernels, parallel):
        import taichi as ti

        builder = ti.graph.GraphBuilder()
        args = {}
        self.arrays, self.scalars, self.calls = [], [], []
        for k in kernels:
            symbols = []
            for p in k.params:
                if p.name not in args:
                    ann = p.annotation
                    if isinstance(ann, ti.types.ndarray_type.NdarrayType):
                        args[p.name] = ti.graph.Arg(ti.graph.ArgKind.NDARRAY, p.name, ann.dtype, ndim=1)
                        self.arrays.append((p.name, ann.dtype))
                    else:
                        args[p.name] = ti.graph.Arg(ti.graph.ArgKind.SCALAR, p.name, ann)
                        self.scalars.append((p.name, int if ann == ti.i32 else float))
                symbols.append(args[p.name])
            variant = k.variant(parallel)
            builder.dispatch(variant, *symbols)
            self.calls.append((variant, [p.name for p in k.params]))
        self.kernels = kernels  # keeps the ids in the cache's keys alive
        self.graph = builder.compile()._compiled_graph

    def bind(self, d):
        """(calls, scalars set so far) with the arrays of d, for the CPU: only scalars are set again afterwards.

        Setting all arguments each time costs more than a microsecond per array, most of a step of a small scene.
        """
        from taichi.lang import impl

        prog = impl.get_runtime().prog
        kinds, calls = dict(self.scalars), []
        for variant, names in self.calls:
            (compiled,) = variant._primal.compiled_kernels.values()  # a variant is compiled for one set of types
            context = compiled.make_launch_context()
            setters = []
            for i, name in enumerate(names):
                if name in kinds:
                    setter = context.set_arg_int if kinds[name] is int else context.set_arg_float
                    setters.append((name, setter, (i,)))
                else:
                    view = host_view(d.device(name))
                    context.set_arg_external_array_with_shape((i,), view.ctypes.data, view.nbytes, view.shape, 0)
            data = prog.compile_kernel(prog.config(), prog.get_device_caps(), compiled)
            calls.append((data, context, setters))
        return calls, {}


def run(m, d, kernels, parallel=True, **scalars):
    """Runs kernels in order; arrays come from d and m by name, scalars from the call, d's counts or m.

    parallel  False for scenes whose work is less than waking the threads costs.
    """
    from taichi.lang import impl

    from tisim import runtime

    key = (tuple(map(id, kernels)), parallel)
    bound = d.bound(m, key)  # first of all: it refuses a Data whose Taichi is gone, and the kernels with it
    sequence = _sequences.get(key)
    if sequence is None:
        sequence = _sequences[key] = _Sequence(kernels, parallel)
    values = {name: kind(scalars[name] if name in scalars else d.scalar(name)) for name, kind in sequence.scalars}
    prog = impl.get_runtime().prog
    if runtime.arch != "cpu":
        if bound is None:
            bound = {name: d.device(name).arr for name, _ in sequence.arrays}
            d.bind(m, key, bound)
        sequence.graph.jit_run(prog.config(), bound | values)
        return
    if bound is None:
        bound = sequence.bind(d)
        d.bind(m, key, bound)
    calls, last = bound
    changed = {name for name, value in values.items() if last.get(name) != value}
    last.update(values)
    for data, context, setters in calls:
        if changed:
            for name, setter, place in setters:
                if name in changed:
                    setter(place, values[name])
        prog.launch_kernel(data, context)


def forget():
    """Lets go of all arrays and sequences, before Taichi is started again.

    An array that dies later would ask the new Taichi to free what lies at its old address, which may be another array.
    Taichi makes some itself when it compiles a graph, so all that Python knows are looked for.
    """
    from taichi.lang._ndarray import Ndarray

    _sequences.clear()
    for a in gc.get_objects():
        if issubclass(type(a), Ndarray):
            a.arr = a.host = None


def quicken_taichi():
    """Makes Taichi's Python pass, the larger part of a warm start, about twice as fast.

    Half of it formats the source position of every node, with the line and carets under it; file and line are enough.
    The rest mostly looks up the source of functions that are inlined again and again.
    """
    import functools

    import taichi as ti
    from taichi.lang import kernel_impl
    from taichi.lang.ast.ast_transformer_utils import ASTTransformerContext

    if ti.__version__ != (1, 7, 4) or hasattr(kernel_impl, "_tisim"):
        return

    def position(self, node):
        return f'File "{self.file}", line {node.lineno + self.lineno_offset}, in {self.func.func.__name__}:\n'

    ASTTransformerContext.get_pos_info = position
    for name in ("getsourcefile", "getsourcelines"):
        for owner in (kernel_impl, getattr(kernel_impl, "oinspect", None)):
            if hasattr(owner, name):
                setattr(owner, name, functools.lru_cache(None)(getattr(owner, name)))
    kernel_impl._tisim = True


def new_array(is_float, size):
    """A device array of max(1, size) zeros in the running precision, or of int32."""
    import taichi as ti

    from tisim import runtime

    fp = ti.f64 if runtime.precision == "f64" else ti.f32
    a = ti.ndarray(fp if is_float else ti.i32, (max(1, int(size)),))
    a.fill(0)
    return a


def delete_array(a):
    """Frees a device array now."""
    from taichi.lang import impl

    impl.get_runtime().prog.delete_ndarray(a.arr)
    a.arr = a.host = None


def host_view(a):
    """NumPy array over the memory of a device array on the CPU, without a copy; None on a GPU."""
    view = getattr(a, "host", None)
    return _host_view(a) if view is None else view


def _host_view(a):
    import ctypes

    from taichi.lang import impl

    from tisim import runtime

    if runtime.arch != "cpu":
        return None
    np_type = np.dtype({"f64": np.float64, "f32": np.float32}.get(str(a.dtype), np.int32))
    n = a.shape[0]
    pointer = impl.get_runtime().prog.get_ndarray_data_ptr_as_int(a.arr)
    buffer = (ctypes.c_char * (n * np_type.itemsize)).from_address(pointer)
    a.host = np.frombuffer(buffer, np_type)
    return a.host


def download(a):
    """Copy of a device array on the host."""
    view = host_view(a)
    return a.to_numpy() if view is None else view.copy()


def upload(a, values):
    """Writes host values into a device array (the first values.size elements)."""
    view = host_view(a)
    if view is not None:
        view[: values.size] = values
    elif values.size == a.shape[0]:
        a.from_numpy(np.ascontiguousarray(values))
    elif values.size:
        whole = a.to_numpy()
        whole[: values.size] = values
        a.from_numpy(whole)


def fill(a, value):
    """Sets every element of a device array."""
    view = host_view(a)
    if view is None:
        a.fill(value)
    else:
        view[:] = value


def sync():
    """Waits for the device."""
    import taichi as ti

    ti.sync()
