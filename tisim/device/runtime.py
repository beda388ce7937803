"""Taichi started once per process, with the options that compile correctly, and the kernels imported after it.

Taichi 1.7.4 miscompiles ordinary code with its default optimiser; `SAFE_OPTIONS` passes every probe in
tests/test_taichi_computes_what_is_written.py. They are missing from the key of Taichi's offline cache, so the
cache folder's name is a hash over all of them.
"""

import contextlib
import hashlib
import importlib
import io
import numbers
import os
import sys

from tisim import __version__
from tisim.errors import Error, brief

from . import cache, garbage, grid, launch, native, own, session, taichi_import, taichi_patches, team
from . import threads as cpu_threads
from .variant import KernelFile

SAFE_OPTIONS = dict(advanced_optimization=False, cache_loop_invariant_global_vars=False, fast_math=False)
MOST_THREADS = 4096  # far more, and the machine hangs before it has started them


def debug():
    """True if TISIM_DEBUG is set: bounds-checked kernels and validate() after every step."""
    return os.environ.get("TISIM_DEBUG", "0") not in ("", "0")


def cache_path(options):
    """Folder of the kernel cache for these Taichi options."""
    key = hashlib.sha256(repr((__version__, sorted((k, str(v)) for k, v in options.items()))).encode()).hexdigest()[:16]
    return str(cache.folder() / f"kernels-{key}")


def _pick_arch(name):
    ti = taichi_import.load()
    if name == "auto":
        from taichi._lib import core

        ti.set_logging_level(ti.ERROR)  # a machine without CUDA is nothing to warn about
        name = "cuda" if core.with_cuda() else "cpu"
    if name not in session.ARCHS:
        raise Error(f"arch={brief(name)}: expected one of auto, {', '.join(session.ARCHS)}")
    return name, getattr(ti, name)


def init(arch=None, precision=None, threads=None, profile=False):
    """Starts Taichi; optional, the first `Data` does it with the defaults.

    arch       "auto" (cuda where a device is, else cpu), "cpu", "cuda", "vulkan" or "metal"; None: what TISIM_ARCH
               says, else "auto".
    precision  "f64" or "f32"; None: what TISIM_PRECISION says, else f64 on the CPU, f32 on a GPU.
    threads    number of CPU threads, None for all; results do not depend on it.
    profile    lets Taichi time each task of a GPU by two events, which makes steps slower; see device/tasks.py.
    Starting again with other settings is allowed; every `Data` made before becomes unusable.
    """
    with session.compiler:
        _init(arch, precision, threads, profile)


def _init(arch, precision, threads, profile):
    ti = taichi_import.load()
    name, backend = _pick_arch(arch or os.environ.get("TISIM_ARCH") or "auto")
    precision = precision or os.environ.get("TISIM_PRECISION") or ("f64" if name == "cpu" else "f32")
    if precision not in session.PRECISIONS:
        raise Error(f"precision={brief(precision)}: expected 'f32' or 'f64'")
    if threads is None and os.environ.get("TISIM_THREADS"):
        text = os.environ["TISIM_THREADS"]
        threads = int(text) if text.strip().isdecimal() else text
    if threads is not None and not (isinstance(threads, numbers.Integral) and 1 <= threads <= MOST_THREADS):
        raise Error(f"threads={brief(threads)}: expected a positive number, {MOST_THREADS} at most")
    settings = (name, precision, threads, debug(), bool(profile))
    if session.generation and settings == session.settings:
        return
    options = dict(SAFE_OPTIONS, default_fp=ti.f64 if precision == "f64" else ti.f32, debug=debug())
    path = cache_path(dict(options, arch=name))
    keeps = cache.reachable(path)
    cache.unlock(path)
    if profile:
        options["kernel_profiler"] = True
    if threads is not None:
        options["cpu_max_num_threads"] = threads
    if "tisim.viewer.ggui" in sys.modules:
        sys.modules["tisim.viewer.ggui"].close()
    for module in [n for n in sys.modules if n.startswith("tisim.kernels")]:
        del sys.modules[module]
    launch.forget()
    _files.clear()
    before = cpu_threads.running()
    with garbage.collected_later(), contextlib.redirect_stdout(io.StringIO()):  # a library does not print
        ti.init(
            arch=backend, offline_cache=keeps, offline_cache_file_path=path if keeps else os.devnull, log_level=ti.WARN,
            verbose=False, **options,
        )  # fmt: skip
    started = ti.lang.impl.current_cfg().arch
    if started != backend and not (name == "cpu" and started in (ti.x64, ti.arm64)):
        ti.reset()
        raise Error(f"arch={name!r}: Taichi could not start it here (it fell back to {started}); run `tisim doctor`")
    session.arch, session.precision, session.settings = name, precision, settings
    session.threads, session.workers = threads, 1
    session.generation += 1
    if name == "cpu":
        places = cpu_threads.pin(before, threads)
        session.workers = 1 if debug() else team.most(places, cpu_threads.roaming(threads))
    garbage.leave_quickly()
    taichi_patches.install()
    grid.install()
    basis = ti.__version__, sorted(SAFE_OPTIONS.items())
    native.start(debug(), basis)
    own.start(debug(), bool(profile), basis)


def ensure():
    """Starts Taichi with the defaults unless it already runs."""
    with session.compiler:
        if not session.generation:
            init()


def kernels(name):
    """The kernels of the file kernels/<name>.py ("smooth.kinematics") as attributes; imported when one is compiled."""
    ensure()
    if name not in _files:
        _files[name] = KernelFile(name)
    return _files[name]


def kernel_of(path, *given):
    """The Kernel of a path such as "smooth.kinematics.body_poses"; given: what `Kernel.of` takes, if it is made so."""
    module, _, name = path.rpartition(".")
    kernel = getattr(kernels(module), name)
    return kernel.of(*given) if given else kernel


_files = {}


def module(name):
    """The module tisim.kernels.<name>, imported only once Taichi runs (its types follow the precision)."""
    ensure()
    full = f"tisim.kernels.{name}"
    return sys.modules.get(full) or importlib.import_module(full)
