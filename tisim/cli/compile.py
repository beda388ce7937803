"""The command that compiles a model file or scene and writes the result."""

import pathlib
import time

from tisim.errors import Error

from .report import beside, print_json
from .simulate import load


def compile_file(console, source, out, n, param, as_json, decompose=False, threshold=None):
    """Writes the compiled model (.npz), or its canonical MJCF (.xml); on demand meshes in convex parts."""
    out = pathlib.Path(out)
    if out.suffix.lower() not in (".npz", ".xml"):
        raise Error(f"{out}: expected a name that ends in .npz (compiled) or .xml (canonical MJCF)")
    began = time.perf_counter()
    parts = None
    m, _ = load(source, n, param)
    with beside(console, as_json).status(f"writing {out}") as status:
        if decompose or threshold is not None:
            spec = m.spec()
            parts = spec.decompose(
                **({} if threshold is None else dict(threshold=threshold)),
                show=lambda k, n, name: status.update(f"finding convex parts of {name} ({k + 1} of {n})"),
            )
            m = spec.compile()
        if out.suffix.lower() == ".npz":
            m.save(out)
        else:
            m.spec().to_file(out)
    seconds = time.perf_counter() - began
    if as_json:
        return print_json(dict(out=out, bytes=out.stat().st_size, nbody=m.nbody, ngeom=m.ngeom, nv=m.nv,
                               parts=parts, seconds=seconds))  # fmt: skip
    if parts is not None:
        console.print("convex parts: " + (", ".join(f"{name} {n}" for name, n in parts.items()) or "no mesh collides"))
    console.print(f"{m.nbody:,} bodies, {m.ngeom:,} geoms, nv {m.nv:,}; {seconds:.2f} s")
    console.print(f"wrote {out} ({out.stat().st_size / 1024:,.0f} KiB)")
