"""Own launches on CUDA: the driver launches kernels of PTX from disk, with arguments that stay on the device.

Taichi compiles a kernel once and launches it that once; the PTX which it wrote is kept in the cache under a key as of
machine code (fingerprint.py), so that later processes ask neither Taichi nor its compiler; beside it lies what ptxas
makes of it for the device at hand, where that is installed (cubin.py). A launch by Taichi's graph costs the host 2 us
and 1.2 us for each array, two allocations and two frees on the device; here kernels that are launched together are one
CUDA graph (cuda_graph.py), one call of the driver, and there is a copy where a number has changed. Task for task it is
the same code, so bits are the same.

TISIM_OWN_LAUNCHES=0 switches it off. It is not taken, and `tisim doctor` says why, where a probe does not compute
what Taichi's launch does, or where PTX asks for anything of Taichi's runtime but the place of loop bounds that one
task hands to the next (plain.py).
"""

import contextlib
import ctypes
import os
import pathlib
import re
import struct
import tempfile
import weakref

import numpy as np

from tisim.errors import Error

from . import cache, cubin, cuda, cuda_graph, fingerprint, grid, memory, plain, session, tasks
from .in_line import in_line
from .machine_code import Unsupported
from .near_uses import near_uses
from .tally import tally
from .variant import check_passed
from .whole_file import whole

SWITCH = "TISIM_OWN_LAUNCHES"
VERSION = 4  # of what is kept
ENTRY = re.compile(r"\.visible \.entry ([\w$]+)\((.*?)\n\}", re.DOTALL)
FUNCTION = re.compile(r"\.func (function_body[\w$]*)\(\n(.*?)\n\}", re.DOTALL)
TEMPORARIES_AT = 32872  # place of that pointer in LLVMRuntime
RUNTIME_BYTES, TEMPORARIES_BYTES = 36864, 1 << 20
# threads of a block where each takes an island or a tree: so they spread
NARROW = dict(pgs_islands=8, small_islands=32, fulfil_trees=8, begin_trees=32, next_trees=32, end_trees=32)
SLOT, SLAB = 4096, 1 << 20  # bytes for the arguments of a kernel, and of what is asked of the driver at once
_state, why = None, "Taichi has not been started"


def start(debug, profile, basis):
    """Takes this road, or says in `why` why not; at each start of Taichi."""
    global _state, why
    _state = None
    if os.environ.get(SWITCH, "1") in ("", "0"):
        why = f"switched off ({SWITCH}=0)"
    elif session.arch != "cuda":
        why = f"the backend is {session.arch}"
    elif debug or profile:
        why = "Taichi checks bounds or times tasks by its own launches"
    else:
        try:
            road, why = Road(basis), None
            road.probe()
            _state = road
        except (Unsupported, RuntimeError, OSError) as e:
            why = str(e)


def road():
    """The Road, or None."""
    return _state


def told():
    """A line for `tisim doctor`."""
    if _state is None:
        return f"no own launches on CUDA: {why}"
    notes = [f"{what}: {reason}" for what, reason in (("no graphs", _state.no_graphs), ("no cubins", _state.no_cubins))
             if reason]  # fmt: skip
    if _state.plain:
        notes.append("by Taichi, " + "; ".join(f"{name}: {reason}" for name, reason in _state.plain.items()))
    return "; ".join([f"own launches on CUDA of PTX in {folder()}", *notes])


def folder():
    """Where PTX is kept."""
    return cache.folder() / "ptx"


class Road:
    """What belongs to one start of Taichi: the driver, memory for arguments, modules of PTX.

    plain  kernels that Taichi launches, and why.
    no_graphs, no_cubins  why there are none, None where there are.
    """

    def __init__(self, basis):
        from taichi.lang import impl

        impl.get_runtime().materialize()
        options = fingerprint.options_text(impl.get_runtime().prog.config())
        shaping = (pathlib.Path(grid.__file__).read_text(), grid.bits(), VERSION)
        self.fingerprints = fingerprint.Fingerprints(repr((basis, options, shaping, session.precision, session.arch)))
        self.driver = cuda.driver(memory.new_array("i", 1))
        if self.driver is None:
            raise Unsupported("no driver of CUDA that copies as Taichi does")
        self.codes, self.plain, self._free = {}, {}, []
        self.no_graphs = cuda_graph.missing(self.driver)
        self.ptxas = cubin.assembler()
        self.no_cubins = None if self.ptxas else "ptxas is not installed"
        self.capability = self._attribute(75), self._attribute(76)
        temporaries = self.allocate(TEMPORARIES_BYTES)
        runtime = bytearray(RUNTIME_BYTES)
        struct.pack_into("<Q", runtime, TEMPORARIES_AT, temporaries)
        self.runtime = self.allocate(RUNTIME_BYTES)
        self.copy(self.runtime, bytes(runtime))

    def _attribute(self, which):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, 0)
        return value.value

    def allocate(self, nbytes):
        """Address of memory on the device, which is kept."""
        place = ctypes.c_void_p()
        self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(nbytes))
        return place.value

    def copy(self, to, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_void_p(to), ctypes.c_char_p(data), ctypes.c_size_t(len(data)))

    def call(self, name, *arguments):
        if code := getattr(self.driver, name)(*arguments):
            raise RuntimeError(f"CUDA driver: error {code} in {name}")

    def slot(self, owner):
        """Address of SLOT bytes on the device, free again when `owner` is gone."""
        if not self._free:
            first = self.allocate(SLAB)
            self._free += range(first, first + SLAB, SLOT)
        place = self._free.pop()
        weakref.finalize(owner, self._free.append, place).atexit = False
        return place

    def code(self, key):
        """The Code of a key if its PTX is in the cache."""
        if key not in self.codes:
            with contextlib.suppress(OSError):
                text = (folder() / f"{key}.ptx").read_text()
                self.codes[key] = Code(self, text, self._assembled(folder() / f"{key}.ptx"))
        return self.codes.get(key)

    def _assembled(self, ptx):
        """What ptxas makes of a file of PTX, None where there is none."""
        path = cubin.path_of(ptx, self.capability)
        if self.no_cubins is None and not os.path.isfile(path):
            self.no_cubins = cubin.assemble(self.ptxas, ptx, self.capability)
        with contextlib.suppress(OSError):
            return path.read_bytes() if self.no_cubins is None else None
        return None

    def keep(self, key, texts):
        """Keeps the PTX of a kernel, of which Taichi has written these texts. Raises Unsupported."""
        if len(texts) != 1:
            raise Unsupported(f"Taichi wrote {len(texts)} texts of PTX for it")
        text = near_uses(in_line(texts[0]))
        check(text)
        with contextlib.suppress(Error), whole(folder() / f"{key}.ptx", folder=True) as part:
            part.write_text(text)
        self.codes[key] = Code(self, text, self._assembled(folder() / f"{key}.ptx"))

    def probe(self):
        """Raises Unsupported unless a kernel of several tasks computes here what it does by Taichi's launch."""
        import taichi as ti

        kernel, wide = _probe(ti), memory.element("f")
        arrays = [ti.ndarray(ti.i32, (99,)), ti.ndarray(wide, (99,)), ti.ndarray(ti.types.vector(3, wide), (33,))]
        given = 7, arrays[0], 0.3, arrays[1], arrays[2]

        def results():
            return [a.to_numpy().tobytes() for a in arrays]

        with written() as texts:
            kernel(*given)
        if len(texts) != 1:
            raise Unsupported(f"Taichi wrote {len(texts)} texts of PTX for a probe")
        expected, code = results(), Code(self, texts[0])
        kinds = [int, None, float, None, None]
        block = Arguments(self, kinds)
        block.set([cuda.address(x).value if kind is None else x for kind, x in zip(kinds, given)], [99, 99, 33])
        for a in arrays:
            a.fill(0)
        code.launch(block)
        if results() != expected:
            raise Unsupported("a probe by own launches differs from Taichi's")
        if self.no_graphs is None:
            for a in arrays:
                a.fill(0)
            try:
                cuda_graph.Graph(self.call, code.with_arguments(block)).launch()
                self.no_graphs = None if results() == expected else "a probe's graph differs from its launches"
            except RuntimeError as e:
                self.no_graphs = str(e)


def _probe(ti):
    """A kernel that hands a bound on, adds and scales."""
    ints = ti.types.ndarray(dtype=ti.i32, ndim=1)
    wide = memory.element("f")
    reals, vectors = ti.types.ndarray(dtype=wide, ndim=1), ti.types.ndarray(dtype=ti.types.vector(3, wide), ndim=1)

    def own_probe(n: ti.i32, a: ints, scale: wide, b: reals, c: vectors):
        a[0] = n
        for i in range(1, 99):
            a[i] = n * i
        for i in range(a[0] + 20):
            b[i] = scale * ti.cast(a[i], wide) + 1.0 / (1.0 + i)
        for i in range(a[0]):
            c[i] = b[i] * ti.Vector([1.0, 2.0, scale], wide)

    return ti.kernel(own_probe)


@contextlib.contextmanager
def written():
    """A list that gets the PTX which Taichi's compiler writes meanwhile. It writes to the working directory."""
    from taichi.lang import impl

    config, before, texts = impl.get_runtime().prog.config(), os.getcwd(), []
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        config.print_kernel_asm = True
        try:
            yield texts
        finally:
            config.print_kernel_asm = False
            os.chdir(before)
        # Taichi writes the zero behind the text, too, which the ptxas of CUDA 13 takes for an early end
        texts += [path.read_text().rstrip("\0") for path in sorted(pathlib.Path(place).glob("*.ptx"))]


class Code:
    """The tasks of a kernel as functions of the driver: [(function, blocks, threads)]."""

    def __init__(self, road, text, assembled=None):
        """assembled: the same for the device at hand; it is left where the driver does not load it."""
        self.road, self.tasks = road, []
        check(text)
        module = ctypes.c_void_p()
        load = "cuModuleLoadDataEx", ctypes.byref(module)
        if assembled is not None:
            try:
                road.call(*load, ctypes.c_char_p(assembled), 0, None, None)
            except RuntimeError as e:
                road.no_cubins, assembled = str(e), None
        if assembled is None:
            road.call(*load, ctypes.c_char_p(text.encode()), 0, None, None)
        for name, body in ENTRY.findall(text):
            function = ctypes.c_void_p()
            road.call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(name.encode()))
            if name.endswith("_serial"):
                self.tasks.append((function, 1, 1))
            else:
                most = int(re.search(r"\.maxntid (\d+)", body)[1])
                threads = min(most, NARROW.get(tasks.short(name).split(".")[0], most))
                self.tasks.append((function, max(1, (1 << grid.bits()) // threads), threads))

    def with_arguments(self, arguments):
        """The tasks as cuda_graph.Graph takes them."""
        return [(*task, arguments.params) for task in self.tasks]

    def launch(self, arguments):
        run = self.road.driver.cuLaunchKernel
        for function, blocks, threads in self.tasks:
            if code := run(function, blocks, 1, 1, threads, 1, 1, 0, None, arguments.params, None):
                raise RuntimeError(f"CUDA driver: error {code} in cuLaunchKernel")


def check(text):
    """Raises Unsupported where PTX is not as Taichi 1.7.4 makes it for a kernel of ranges that returns nothing."""
    entries = ENTRY.findall(text)
    if not entries:
        raise Unsupported("its PTX has no task")
    for name, body in entries:
        if not name.endswith("_serial") and not (name.endswith("_range_for") and ".maxntid" in body):
            raise Unsupported(f"its task {name} is neither serial nor over a range")
        if not re.search(r"\.param \.align 8 \.b8 \S+\[(24|32)\]", body):
            raise Unsupported(f"the parameters of its task {name} are others")
        _check_context(name, body, f"{name}_param_0")
    for name, body in FUNCTION.findall(text):  # of a loop's body that is long: its first parameter is the context
        _check_context(name, body, None)


def _check_context(name, body, struct_name):
    """Of the RuntimeContext a task reads the arguments' address, and the runtime's for TEMPORARIES_AT alone.

    struct_name  the parameter that is the context, None: the first parameter is its address.
    """
    context = {struct_name}
    if struct_name is None:
        context = set(re.findall(rf"ld\.param\.u64\s+(%rd\d+), \[{re.escape(name)}_param_0\];", body))
    context |= {r for r, base in re.findall(r"mov\.[ub]64\s+(%rd\d+), (\S+);", body) if base in context}
    runtime, rest = set(), set()
    for line in body.splitlines():
        load = re.match(r"\s*ld\.\S+\s+(%\w+), \[([^\]+]+)(\+\d+)?\];", line)
        move = re.match(r"\s*(?:mov|cvta\.to\.\w+)\.[ub]64\s+(%rd\d+), (%rd\d+);", line)
        if load and load[2] in context:
            if load[3]:
                (runtime if load[3] == "+8" else rest).add(load[1])
        elif move and move[2] in runtime:
            runtime.add(move[1])
        elif load and load[2] in runtime and load[3] == f"+{TEMPORARIES_AT}":
            continue
        elif "st.local" not in line and (runtime | rest) & set(re.findall(r"%\w+", line)):  # else it is a copy
            raise Unsupported(f"its task {name} asks for Taichi's runtime")


class Arguments:
    """The arguments of a kernel on the device. kinds: int or float of numbers, None of arrays.

    Laid out as Taichi does: each aligned to its size; an array is its length and its address.
    """

    def __init__(self, road, kinds):
        self.road, self.kinds, self.places, at = road, kinds, [], 0
        real = "d" if session.precision == "f64" else "f"
        self.formats = [None if kind is None else "i" if kind is int else real for kind in kinds]
        for form in self.formats:
            size = 8 if form in (None, "d") else 4
            at += -at % size
            self.places.append(at)
            at += 16 if form is None else size
        if at > SLOT:
            raise Unsupported(f"its arguments take {at} bytes")
        self.layout, self.place = bytearray(at + -at % 8), road.slot(self)
        self.context = np.array([self.place, road.runtime, 0, 0], np.uint64)  # struct RuntimeContext, by value
        self.params = (ctypes.c_void_p * 1)(self.context.ctypes.data)

    def set(self, values, lengths):
        """All values: addresses of arrays, of these lengths, and numbers."""
        lengths = iter(lengths)
        for value, form, at in zip(values, self.formats, self.places):
            if form is None:
                struct.pack_into("<qQ", self.layout, at, next(lengths), value)
            else:
                struct.pack_into("<" + form, self.layout, at, value)
        self.send()

    def change(self, values):
        """Some numbers: [(which argument, value)]."""
        for which, value in values:
            struct.pack_into("<" + self.formats[which], self.layout, self.places[which], value)
        self.send()

    def send(self):
        self.road.copy(self.place, bytes(self.layout))


class Sequence:
    """Kernels launched together, as in plain.py."""

    def __init__(self, road, kernels, has):
        self.road, self.kernels, self.has = road, kernels, has
        self.alone = [plain.Sequence([kernel], has) for kernel in kernels]
        self.keys = {}
        self.key(False)  # Unknown is told at once
        self.key(True)

    def key(self, parallel):
        """Keys of the kernels' PTX."""
        if parallel not in self.keys:
            variants = [k.variant(parallel, self.has) for k in self.kernels]
            self.keys[parallel] = [self.road.fingerprints.of(v.function, v.arguments) for v in variants]
        return self.keys[parallel]

    def bind(self, d):
        return Bound(self)


class Bound:
    """A Sequence with the arrays of a Data."""

    def __init__(self, sequence):
        self.sequence, self._made, self._checked, self._graphs = sequence, {}, None, {}

    def run(self, d, version, parallel, scalars):
        parallel, s = bool(parallel), self.sequence
        if parallel not in self._made:
            self._made[parallel] = [
                _Launch(s.road, k, k.variant(parallel, s.has), key, alone, parallel)
                for k, key, alone in zip(s.kernels, s.key(parallel), s.alone)
            ]
        launches = self._made[parallel]
        if self._checked != (parallel, scalars.keys()):
            check_passed(s.kernels, frozenset().union(*(each.variant.passed for each in launches)), scalars)
            self._checked = parallel, scalars.keys()
        graph = None
        if not s.road.no_graphs and all([each.ready(d, scalars) for each in launches]):
            graph = self._graph(parallel, launches)
        if graph is None:
            for each in launches:
                each.run(d, version, scalars)
        else:
            graph.launch()
            for each in launches:
                each.note(d)

    def _graph(self, parallel, launches):
        """All tasks as one graph, None where the driver makes none."""
        if parallel not in self._graphs:
            road = self.sequence.road
            tasks = [task for each in launches for task in each.code().with_arguments(each.arguments)]
            try:
                self._graphs[parallel] = cuda_graph.Graph(road.call, tasks)
            except RuntimeError as e:
                road.no_graphs, self._graphs[parallel] = str(e), None
        return self._graphs[parallel]


class _Launch:
    """One kernel with the arrays of a Data: by the driver, or by Taichi's graph while there is no PTX of it."""

    def __init__(self, road, kernel, variant, key, alone, parallel):
        self.road, self.kernel, self.variant, self.key, self.parallel = road, kernel, variant, key, parallel
        self._alone, self._graph, self.arguments, self.last = alone, None, None, None
        writes = variant.arguments.flow.writes
        self.counts = None if "d.counts" in writes else {path[2:] for path in writes if path.startswith("d.")}

    def ready(self, d, scalars):
        """Brings the arguments up to date; whether the driver can launch it."""
        if self.code() is None or not self._bind(d):
            return False
        v = self.variant
        values = [kind(scalars[n] if n in scalars else d.scalar(n)) for n, kind in v.numbers.items()]
        if values != self.last:
            self.arguments.change(zip(self.numbers, values))
            self.last = values
        return True

    def note(self, d):
        """What a launch counts, and which counts of the host it makes old."""
        tally.kernels += 1
        tally.bytes += self.bytes
        d.forget_counts(self.counts)

    def run(self, d, version, scalars):
        if self.ready(d, scalars):
            self.code().launch(self.arguments)
            self.note(d)
            return
        if self._graph is None:
            self._graph = self._alone.bind(d)
        if self.kernel.__name__ in self.road.plain:
            return self._graph.run(d, version, self.parallel, scalars)
        with written() as texts:
            self._graph.run(d, version, self.parallel, scalars)
        try:
            self.road.keep(self.key, texts)
        except (Unsupported, RuntimeError) as e:
            self.road.plain[self.kernel.__name__] = str(e)

    def code(self):
        """The kernel's Code, None if there is none yet or Taichi is to launch it."""
        if self.kernel.__name__ in self.road.plain:
            return None
        try:
            return self.road.code(self.key)
        except (Unsupported, RuntimeError) as e:
            self.road.plain[self.kernel.__name__] = str(e)
            return None

    def _bind(self, d):
        """Fills in the arrays' addresses, once; False where arguments are too many."""
        if self.arguments is None:
            v = self.variant
            for name in v.arrays:
                d.device(name)  # all are made before one is looked at: that may move others
            try:
                made = Arguments(self.road, [v.numbers.get(name) for name in v.names])
            except Unsupported as e:
                self.road.plain[self.kernel.__name__] = str(e)
                return False
            arrays = [d.device(name) for name in v.arrays]
            addresses = dict(zip(v.arrays, (cuda.address(a).value for a in arrays)))
            made.set([addresses.get(name, 0) for name in v.names], [a.shape[0] for a in arrays])
            self.numbers = [v.names.index(name) for name in v.numbers]
            self.bytes = sum(map(memory.size_of, arrays))
            self.arguments = made
        return True
