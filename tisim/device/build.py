"""Images made before they are needed: those of a scene at its start, or all that ship with tisim.

Taichi's compiler holds the interpreter's lock, so other processes help: each takes the next kernel that nobody has
taken, the slowest first, and leaves its image in the cache, where the others find it.
"""

import ast
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from . import images, native, session, threads
from .fingerprint import Unknown
from .machine_code import Unsupported, available

PRECISIONS = ("f64", "f32")
WORKER = "import tisim.data.data, tisim.pipeline; from tisim.device import build; build.work()"
SHARE = 3  # kernels for which a process of its own is worth its start
SLOW = ("solve_islands", "convex", "hfield", "narrowphase", "linear_step", "cast_rays")  # in seconds; others take less


def prepare(kernels, has, show=None):
    """Loads the machine code of these kernels for models with these Features, and makes what there is none of.

    show  a function of (kernels done, kernels to be made), called now and then; None: a bar, if a terminal looks on.
    Kernels for which that is not possible are left to Taichi; nothing is done where that is the road of all.
    """
    road = native.road()
    if road is None:
        return
    with session.compiler:
        todo = [(kernel, has) for kernel in kernels if not road.known(kernel, has)]
        if todo and available():
            with contextlib.nullcontext(show) if show else _bar(len(todo)) as show:
                _make_all(road, _slow_first(todo), show)


def _slow_first(todo):
    """The kernels in the order in which they are made."""
    return sorted(todo, key=lambda item: SLOW.index(item[0].__name__) if item[0].__name__ in SLOW else len(SLOW))


@contextlib.contextmanager
def _bar(total):
    """A function that shows how many kernels are done, on a terminal only."""
    if not sys.stderr.isatty() or total < SHARE:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling kernels (once)", total=total)
        yield lambda done, total: bar.update(task, completed=done, refresh=True)


def _make_all(road, todo, show):
    """Makes kernels together with worker processes."""
    with _workers(todo) as (workers, claims):
        for i, item in enumerate(todo):
            if claims is None or _claim(claims, i):
                with contextlib.suppress(Unsupported, Unknown):
                    road.code(*item)
            show(i + 1, len(todo))
        for w in workers:
            if w.wait():
                said = pathlib.Path(claims, "said").read_text(errors="replace").splitlines()
                images.troubles["worker process"] = " ".join(said[-2:])
    for kernel, has in todo:  # what a worker did not manage to leave is made here when it is launched
        road.known(kernel, has)


@contextlib.contextmanager
def _workers(todo):
    """(processes that make kernels of this list too, folder of the claims; None if there is just this process)."""
    known = [i for i, (kernel, _) in enumerate(todo) if kernel.name]
    number = min(threads.processors(), len(known) // SHARE) - 1
    if number < 1 or not sys.executable or not images.usable():  # workers hand over by the cache
        yield [], None
        return
    claims, workers = tempfile.mkdtemp(prefix="tisim-"), []
    work = dict(precision=session.precision, claims=claims, todo=[[i, *_written(*todo[i])] for i in known])
    paths = os.pathsep.join(p for p in sys.path if p)
    try:
        with open(os.path.join(claims, "said"), "ab") as said:
            for _ in range(number):
                workers.append(subprocess.Popen(
                    [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said,
                    env=dict(os.environ, PYTHONPATH=paths, PYTHONSAFEPATH="1"),
                ))  # fmt: skip
                workers[-1].stdin.write(json.dumps(work).encode())
                workers[-1].stdin.close()
        yield workers, claims
    finally:
        for w in workers:
            w.kill()
            w.wait()
        shutil.rmtree(claims, ignore_errors=True)


def _written(kernel, has):
    return kernel.path, repr(kernel.given), list(has)


def _claim(claims, i):
    """Whether this process is the first that asks for kernel i."""
    try:
        os.close(os.open(os.path.join(claims, str(i)), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def ship(all_kernels, features, show):
    """Makes the file of images that ships with tisim; returns (its path, number of images, bytes).

    all_kernels  a function that gives those that ship;  features  of all models for which they do.
    show         a function of (kernels done, kernels to be made).
    Raises Unsupported where machine code cannot be made.
    """
    from . import runtime

    records, requests, settings = {}, {}, os.environ.get("TISIM_CACHE")
    path = images.shipped_path()
    path.unlink(missing_ok=True)  # what is found there is not made
    images.forget_shipped()
    with tempfile.TemporaryDirectory(prefix="tisim-") as folder:
        os.environ["TISIM_CACHE"] = folder
        try:
            for precision in PRECISIONS:
                runtime.init(arch="cpu", precision=precision)
                road = native.road()
                if road is None or not available():
                    raise Unsupported(native.why or "llvmlite 0.44 is not installed: pip install 'tisim[build]'")
                keys = {(k, has): road.key(k, has) for k in all_kernels() for has in features}
                first = {key: item for item, key in reversed(keys.items())}
                _make_all(road, _slow_first(first.values()), show)
                for key, item in first.items():
                    if images.find(key) is None:
                        road.code(*item)  # which says why it cannot be made
                requests.update((road.request(*item), key) for item, key in keys.items())
            for image in images.folder().glob("*.img"):
                records[image.stem] = image.read_bytes()
        finally:
            os.environ.pop("TISIM_CACHE") if settings is None else os.environ.update(TISIM_CACHE=settings)
    path.parent.mkdir(exist_ok=True)
    images.write_pack(path, records, requests)
    images.forget_shipped()
    return path, len(records), path.stat().st_size


def work():
    """A worker process: makes what is asked for on stdin."""
    from tisim.model.features import Features

    from . import runtime

    asked = json.load(sys.stdin)
    runtime.init(arch="cpu", precision=asked["precision"], threads=1)
    road = native.road()
    for i, path, given, has in asked["todo"]:
        if road is None or not pathlib.Path(asked["claims"]).is_dir():
            return
        if _claim(asked["claims"], i):
            with contextlib.suppress(Unsupported, Unknown):
                features = Features(*(tuple(x) if isinstance(x, list) else x for x in has))
                road.code(runtime.kernel_of(path, *ast.literal_eval(given)), features)
