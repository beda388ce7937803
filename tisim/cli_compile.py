"""The command that compiles a model file or scene and writes the result."""

import pathlib
import time

from tisim.cli_run import SUFFIXES, load, parse_params
from tisim.errors import Error


def compile_file(console, source, out, n, param):
    """Writes the compiled model (.npz), or the model as canonical MJCF (.xml)."""
    import tisim
    from tisim import scenes

    out, path = pathlib.Path(out), pathlib.Path(source)
    kind = out.suffix.lower()
    if kind not in (".npz", ".xml"):
        raise Error(f"{out}: expected a name that ends in .npz (compiled) or .xml (canonical MJCF)")
    began = time.perf_counter()
    with console.status(f"compiling {source}"):
        if kind == ".npz":
            m, _ = load(source, n, param)
            m.save(out)
        elif path.suffix.lower() == ".npz":
            raise Error(f"{source} holds no MJCF any more; give the file it was compiled from")
        else:
            if path.suffix.lower() in SUFFIXES or path.is_file():
                load(source, n, param)  # its checks of the arguments
                spec = tisim.Spec.from_file(path)
            else:
                spec = tisim.Spec.from_string(scenes.build(source, **parse_params(source, n, param)))
            m = spec.compile()
            spec.to_file(out)
    seconds = time.perf_counter() - began
    console.print(f"{m.nbody:,} bodies, {m.ngeom:,} geoms, nv {m.nv:,}; {seconds:.2f} s")
    console.print(f"wrote [cyan]{out}[/] ({out.stat().st_size / 1024:,.0f} KiB)")
