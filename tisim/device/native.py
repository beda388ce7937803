"""Kernels as machine code from disk, called without Taichi's launcher: the road of a CPU.

Taichi compiles a kernel once and hands out its optimised IR; machine_code.py makes an image of it, images.py keeps it.
Later processes map the image and never ask Taichi's compiler. What remains Taichi's is the pool of threads.

A task is a function of one RuntimeContext: the address of the arguments' buffer, of Taichi's LLVMRuntime, a thread's
number, the address of a buffer for results. Loops ask the LLVMRuntime for `parallel_for`. A launch that is not worth
waking threads passes a copy of it whose parallel_for does all on the calling thread, so that one image serves both;
other launches one whose parallel_for shares out its chunks among workers, who stay awake for a whole table of launches
(team_code.py), or, where threads are not pinned, asks the pool for all threads that there are here.
"""

import ctypes
import os
import pathlib
import re
import struct
import tempfile

import numpy as np

from . import (
    fingerprint,
    hands,
    images,
    machine_code,
    memory,
    neighbours,
    promises,
    session,
    team,
    team_code,
    unpaired,
)
from .machine_code import Unsupported
from .variant import check_passed

CHUNKS = 32  # into which a parallel loop is cut; else it is Taichi's number of threads, and an image fits only one
RUNTIME_BYTES = 36864  # of LLVMRuntime, that hold all fields which kernels use
POOL_AT, PARALLEL_FOR_AT, TEMPORARIES_AT = 8280, 8288, 32872  # offsets of these fields
TEMPORARIES = 1 << 20  # bytes of the numbers that tasks of a kernel leave each other
_state = None  # a Road while this road is taken
why = None  # why it is not, for `tisim doctor`


class Road:
    """What belongs to one start of Taichi: its runtime, the copy without threads, keys and codes of kernels."""

    def __init__(self, basis):
        from taichi.lang import impl

        impl.get_runtime().materialize()
        prog = impl.get_runtime().prog
        self.runtime = _llvm_runtime(prog)  # first of all: it makes the thread pool
        prog.config().cpu_max_num_threads = CHUNKS
        self.target = images.target()
        options = fingerprint.options_text(prog.config())
        making = images.FORMAT, promises.VERSION, machine_code.GRAIN
        basis = repr((basis, options, CHUNKS, self.target, making, session.precision))
        self.fingerprints = fingerprint.Fingerprints(basis)
        self._basis = basis, fingerprint.source_digest()
        self.codes, self.made, self.plain = {}, 0, {}
        support = self._support()
        functions = dict(zip(machine_code.SUPPORT_FUNCTIONS, support.tasks))
        self.outside, self.fill, self.add, self.tick = (functions[n] for n in ("outside", "fill", "add", "tick"))
        # PYFUNCTYPE keeps the interpreter's lock, as Taichi's own launches do: the pool serves one caller at a time
        numbers = 3 * [ctypes.c_int64]
        self._run = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *numbers)(functions["run"])
        self._run_aside = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *numbers)(functions["run"])
        by_team = ctypes.PYFUNCTYPE(ctypes.c_int64, *2 * [ctypes.c_void_p], *numbers)(functions["run_by_team"])
        pool = struct.unpack("<2Q", ctypes.string_at(self.runtime + POOL_AT, 16))
        self.team = team_code.State(by_team, *pool)
        self._alone = functions["serial_for"]
        fields = (pool[0], self._alone), (self.team.address, functions["team_for"])
        self._copies = [ctypes.create_string_buffer(ctypes.string_at(self.runtime, RUNTIME_BYTES), RUNTIME_BYTES)
                        for _ in fields]  # fmt: skip
        for copy, values in zip(self._copies, fields):
            struct.pack_into("<2Q", copy, POOL_AT, *values)
        self.serial_runtime, self.parallel_runtime = map(ctypes.addressof, self._copies)
        self._keep, self._of_hands = support, {}

    def call(self, d, parallel, table, first, n, times):
        """Calls the entries of a table of n, from one on, until its end was reached so often, or one gives an answer at
        which it stops; returns n * how often the end was reached + the place it is at.

        d  the Data whose kernels they are.  parallel  whether loops in it are worth waking threads.
        """
        if d._hand is not None:
            with hands.aside():
                return self._run_aside(table, first, n, times)
        size = team.workers() if parallel else 1
        if size == 1:
            if parallel:
                self.team.leave(by_pool=session.workers == 1 != session.threads)
                team.rest()
            return self._run(table, first, n, times)
        return self.team.run(d, size, table, first, n, times)

    def runtimes(self, d):
        """Addresses of the LLVMRuntime that kernels of a Data are passed, by one thread and by all."""
        if d._hand is None:
            return self.serial_runtime, self.parallel_runtime
        if d._hand not in self._of_hands:  # that of one thread, with temporaries of its own
            copy = ctypes.create_string_buffer(self._copies[0].raw, RUNTIME_BYTES)
            temporaries = ctypes.create_string_buffer(TEMPORARIES)
            struct.pack_into("<Q", copy, TEMPORARIES_AT, ctypes.addressof(temporaries))
            self._of_hands[d._hand] = copy, temporaries
        return 2 * (ctypes.addressof(self._of_hands[d._hand][0]),)

    def clear(self, addresses, counts):
        """Writes zeros to memory: to so many numbers of 4 bytes from each address on, both arrays of uint64."""
        numbers, n = np.zeros((*addresses.shape, 3), np.uint64), addresses.size
        numbers[..., 0], numbers[..., 1] = addresses, counts
        rows = np.zeros((n, 3), np.uint64)
        rows[:, 0], rows[:, 1] = self.fill, numbers.ctypes.data + numbers.strides[-2] * np.arange(n)
        self._run(rows.ctypes.data, 0, n, 1)

    def leave_threads(self):
        """Loops are no longer shared out, nor those of Taichi's own launches."""
        for runtime in (self.runtime, self.parallel_runtime):
            ctypes.c_uint64.from_address(runtime + PARALLEL_FOR_AT).value = self._alone

    def _support(self):
        """The code that calls tasks, an image like others."""
        source = machine_code.SUPPORT + team_code.SUPPORT
        key = f"support-{fingerprint.digest(source, self.target)}"
        record = images.find(key)
        if record is None:
            if not machine_code.available():
                raise Unsupported("no images came with tisim, and llvmlite 0.44, which makes them, is not installed")
            obj = machine_code.compile_ir(source, self.target)
            code, functions, externals = machine_code.link(obj)
            record = images.Record(code, [functions[name] for name in machine_code.SUPPORT_FUNCTIONS], externals)
            images.keep(key, record)
        return images.Code(record)

    def code(self, kernel, has):
        """The Code of a kernel for models with these Features; made if there is none yet.

        Raises Unsupported or Unknown where that is not possible.
        """
        if not self.known(kernel, has):
            self.codes[kernel, has] = Code(self._record(kernel, has))
        return self.codes[kernel, has]

    def known(self, kernel, has):
        """Whether a kernel's code is loaded, or was found now without a look at any source."""
        if (kernel, has) not in self.codes:
            request = self.request(kernel, has)
            record = images.find_request(request) if request else None
            if record is None:
                return False
            self.codes[kernel, has] = Code(record)
        return True

    def _record(self, kernel, has):
        """The Record of a kernel, found by the sources of all that it reaches, or made."""
        key, request = self.key(kernel, has), self.request(kernel, has)
        record = images.find(key)
        if record is None:
            if not machine_code.available():
                raise Unsupported("llvmlite 0.44 is not installed")
            with images.making(key):
                record = images.find(key)  # another process may have made it meanwhile
                if record is None:
                    record = _make(kernel.variant(True, has), self.target)
                    images.keep(key, record)
                    self.made += 1
        if request and not fingerprint.sources_changed():
            images.keep_request(request, key)
        return record

    def key(self, kernel, has):
        """Key of a kernel's image, from the sources of all that it reaches. Raises Unknown where it has none."""
        variant = kernel.variant(True, has)
        return self.fingerprints.of(variant.function, variant.arguments)

    def request(self, kernel, has):
        """What a kernel is known by while no source file changes, None if it has no name: saves looking at sources."""
        return kernel.name and fingerprint.digest(*self._basis, kernel.name, repr(tuple(has)))


class Code(images.Code):
    """A kernel's machine code in memory, and where its arguments go.

    size  bytes of the struct of arguments.  arrays, numbers  [(name, place, kind)], see machine_code.layout.
    """

    def __init__(self, record):
        super().__init__(record)
        self.size, places = machine_code.layout([kind for _, kind, _ in self.parameters])
        both = [(name, place, kind) for (name, kind, _), place in zip(self.parameters, places)]
        self.arrays = [p for p in both if p[2].endswith("*")]
        self.numbers = [p for p in both if not p[2].endswith("*")]
        self.passed = {name for name, _, passed in self.parameters if passed}


def _make(variant, target):
    """The Record of a kernel that Taichi compiles now."""
    from taichi.lang import impl

    prog, compiled = impl.get_runtime().prog, variant.compiled()
    config = prog.config()
    caching, config.offline_cache = config.offline_cache, False  # its IR as text would be written at exit for nothing
    try:
        prog.compile_kernel(config, prog.get_device_caps(), compiled)
        builder = prog.make_aot_module_builder(config.arch, [])
        builder.add("kernel", compiled)
    finally:
        config.offline_cache = caching
    try:
        with tempfile.TemporaryDirectory(prefix="tisim-") as folder:
            builder.dump(folder, "")
            text = (pathlib.Path(folder) / "kernel.ll").read_text()
            told = re.search(r'"size": (\d+)', (pathlib.Path(folder) / "metadata.json").read_text())
    except OSError as e:
        raise Unsupported(f"the kernel's IR could not be written: {e.strerror}") from None
    if not told or int(told[1]) != len(text):  # Taichi says nothing of a disk that is full
        raise Unsupported("the kernel's IR was not written whole")
    if "HAND" not in variant.function.__code__.co_names:
        text = machine_code.share_out(text)
    parameters = [[name, kind, name in variant.passed] for name, kind in zip(variant.names, variant.kinds)]
    names = variant.function.__code__.co_names
    called = {f.name: (f.fields, f.kinds) for f in variant.arguments.called.values()}
    return record_of(text, parameters, target, "VECTORS" in names, "ABREAST" in names, called)


def record_of(text, parameters, target, vectors=False, abreast=False, called=None):
    """The Record of a kernel's IR with these parameters; vectors: as in machine_code.compile_ir; abreast: its
    pairs, made before LLVM knew what is side by side, are taken apart, and it is told of neighbours.py; called: what
    it calls, {name: (names, kinds of arguments)} as of called.Called."""
    arguments = machine_code.type_of([kind for _, kind, _ in parameters])
    place = {name: i for i, (name, _, _) in enumerate(parameters)}
    called = {name: (machine_code.type_of(kinds), [place.get(n) for n in fields])
              for name, (fields, kinds) in (called or {}).items()}  # fmt: skip
    names = machine_code.tasks(text, arguments, [kind for kind, _ in called.values()])
    text = promises.promise(text, arguments, called)
    if abreast:
        text = neighbours.tell(unpaired.take_apart(text))
    obj = machine_code.compile_ir(text, target, again=True, vectors=vectors)
    code, functions, externals = machine_code.link(obj)
    if missing := set(names) - functions.keys():
        raise Unsupported(f"no machine code of {sorted(missing)}")
    return images.Record(code, [functions[name] for name in names], externals, parameters)


def _llvm_runtime(prog):
    """Address of Taichi's LLVMRuntime, read from the context of an empty kernel's launch and looked at."""
    from taichi._lib import core

    def words(at, n):
        return list((ctypes.c_uint64 * n).from_address(at))

    kernel = prog.create_kernel(lambda k: k.finalize_params(), "empty", core.AutodiffMode.NONE)
    context = kernel.make_launch_context()
    prog.launch_kernel(prog.compile_kernel(prog.config(), prog.get_device_caps(), kernel), context)
    (builder,) = words(id(context) + 16, 1)
    _, owned, used, arguments, results = words(builder, 5)
    if owned != used:
        raise Unsupported("another layout of LaunchContextBuilder")
    inner = words(used, 4)
    if inner[0] != arguments or inner[3] != results or not inner[1]:
        raise Unsupported("another layout of RuntimeContext")
    pool, parallel_for, temporaries = (words(inner[1] + at, 1)[0] for at in (POOL_AT, PARALLEL_FOR_AT, TEMPORARIES_AT))
    if not pool or not _is_in(parallel_for, core.__file__) or not temporaries:
        raise Unsupported("another layout of LLVMRuntime")
    return inner[1]


def _is_in(address, path):
    """Whether an address lies in the library of this path."""

    class Info(ctypes.Structure):
        _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p),
                    ("address", ctypes.c_void_p)]  # fmt: skip

    info = Info()
    found = ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(info))
    return bool(found) and os.path.realpath(info.file.decode()) == os.path.realpath(path)


def start(debug, basis):
    """Takes this road from now on where that is possible; else `why` says why not."""
    global _state, why
    _state, why = None, None
    if session.arch != "cpu":
        why = f"it is for CPUs, and this is {session.arch}"
    elif os.environ.get("TISIM_NATIVE", "1") in ("", "0"):
        why = "TISIM_NATIVE turns it off"
    elif debug:
        why = "TISIM_DEBUG asks for Taichi's checked kernels"
    elif images.target() is None:
        why = "it needs Linux on x86-64 of 2009 or later"
    else:
        try:
            _state = Road(basis)
        except (Unsupported, ImportError, OSError) as e:
            why = str(e)


def forget():
    """Leaves this road, before Taichi is started again."""
    global _state
    _state = None


def _after_fork():
    """Lets one thread do all in the new process, which has none of the pool's and would wait for them for ever."""
    if _state is not None:
        _state.leave_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def road():
    """The Road, None where it is not taken."""
    return _state


_NUMPY = {"i32": np.int32, "f32": np.float32, "f64": np.float64}


class Sequence:
    """Kernels launched together, as machine code."""

    def __init__(self, road, kernels, has):
        self.road, self.kernels = road, kernels
        self.codes = [road.code(k, has) for k in kernels]

    def bind(self, d):
        """The sequence with the arrays and fixed numbers of a Data."""
        return Bound(self, d)


class Bound:
    """A Sequence with buffers of arguments; addresses in them are good until an array is replaced.

    tables    what calls its tasks, by one thread and by all: rows of a task's address, its context's, and 0.
    recorded  whether it may stand in a record of the Data's program, which holds as long as its numbers are the same.
    """

    def __init__(self, sequence, d):
        road = sequence.road
        self._call, self._sequence, self._keep, self._writers = road.call, sequence, [], {}
        tables = [], []
        for name in dict.fromkeys(name for code in sequence.codes for name, *_ in code.arrays):
            d.device(name)  # all are made before one is looked at: that may move others
        for code in sequence.codes:
            buffer, results = np.zeros(code.size + 8, np.uint8), np.zeros(32, np.uint64)
            for name, (length, pointer), _ in code.arrays:
                array = memory.host_view(a := d.device(name))
                struct.pack_into("<i", buffer, length, a.shape[0])
                struct.pack_into("<Q", buffer, pointer, array.ctypes.data)
                self._keep.append(array)
            for name, (at,), kind in code.numbers:
                kind = np.dtype(_NUMPY[kind])
                place = buffer[at : at + kind.itemsize].view(kind)
                if name not in code.passed and d.is_fixed(name):
                    place[0] = d.scalar(name)
                else:
                    self._writers.setdefault(name, []).append(place)
            contexts = np.array([[buffer.ctypes.data, runtime, 0, results.ctypes.data]
                                 for runtime in road.runtimes(d)], np.uint64)  # fmt: skip
            self._keep += [buffer, results, contexts]
            for table, context in zip(tables, contexts):
                table += [(task, context.ctypes.data, 0) for task in code.tasks]
        self.tables = [np.array(table, np.uint64).reshape(-1, 3) for table in tables]
        self._one, self._all = (table.ctypes.data for table in self.tables)
        self._length = len(tables[0])
        passed = set().union(*(code.passed for code in sequence.codes))
        self._passed = {name: self._writers.pop(name) for name in sorted(passed)}
        self._last = self._version = None
        self.recorded = False

    def run(self, d, version, parallel, scalars):
        """Launches the kernels. version: changes when a number of the model may have."""
        self.ready(d, version, scalars)
        self._call(d, parallel, self._all if parallel else self._one, 0, self._length, 1)

    def ready(self, d, version, scalars):
        """Writes the numbers that are not as in the last launch."""
        if version != self._version:
            self._version = None  # an interrupt may come between the next lines
            for name, views in self._writers.items():
                value = d.scalar(name)
                for view in views:
                    view[0] = value
            self._version = version
        if scalars != self._last:
            self._pass(d, scalars)

    def _pass(self, d, scalars):
        """Writes the numbers that a launch passes."""
        if self._last is None or scalars.keys() != self._last.keys():
            check_passed(self._sequence.kernels, self._passed.keys(), scalars)
        d.program.drop_uses(self)
        self._last = None  # an interrupt may come between the next lines
        for name, views in self._passed.items():
            for view in views:
                view[0] = scalars[name]
        self._last = scalars
