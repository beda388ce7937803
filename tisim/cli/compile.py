"""The command that compiles a model file or scene and writes the result."""

import os
import pathlib
import time

from tisim.errors import Error
from tisim.model.file import suffix

from .report import beside, print_json
from .simulate import INTERRUPTED, Stopper, load


def compile_file(console, source, out, n, param, as_json, decompose=False, threshold=None, overwrite=False):
    """Writes the compiled model (.npz), or its canonical MJCF (.xml); on demand meshes in convex parts.

    Returns the exit code. After Ctrl-C nothing is written: where some meshes have their parts, it is another model.
    """
    out = pathlib.Path(out)
    kind = suffix(out)
    if out.exists() and os.path.exists(source) and os.path.samefile(source, out) and not overwrite:
        raise Error(f"{out} is the file that is compiled: take another name, or --overwrite")
    began = time.perf_counter()
    parts = None
    m, _ = load(source, n, param)
    progress = beside(console, as_json)
    with progress.status(f"writing {out}") as status:
        if decompose or threshold is not None:
            spec = m.spec()
            parts = _decompose(spec, out, progress, status, {} if threshold is None else dict(threshold=threshold))
            if parts is None:
                return INTERRUPTED
            status.update(f"writing {out}")
            m = spec.compile()
        if kind == ".npz":
            m.save(out)
        else:
            m.spec().to_file(out)
    seconds = time.perf_counter() - began
    if as_json:
        print_json(dict(out=out, bytes=out.stat().st_size, nbody=m.nbody, ngeom=m.ngeom, nv=m.nv, parts=parts,
                        seconds=seconds))  # fmt: skip
        return 0
    if parts is not None:
        console.print("convex parts: " + (", ".join(f"{name} {n}" for name, n in parts.items()) or "no mesh collides"))
    console.print(f"{m.nbody:,} bodies, {m.ngeom:,} geoms, nv {m.nv:,}; {seconds:.2f} s")
    console.print(f"wrote {out} ({out.stat().st_size / 1024:,.0f} KiB)")
    return 0


class _Stop(Exception):
    """Ends a decomposition between two meshes."""


def _decompose(spec, out, progress, status, settings):
    """What Spec.decompose returns; None, which is told, where Ctrl-C came before the last mesh."""
    with Stopper() as stopper:

        def show(k, n, name):
            if stopper.asked:
                status.stop()
                told = f"stopped: {k} of {n} meshes have their parts, kept for the next time; {out} is not written"
                progress.print(told, style="yellow", soft_wrap=True)
                raise _Stop
            status.update(f"finding convex parts of {name} ({k + 1} of {n})")

        try:
            return spec.decompose(show=show, **settings)
        except _Stop:
            return None
