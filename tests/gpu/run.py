"""Runs a Python program with a CUDA driver in software in place of libcuda.so (driver.c). Needs gcc.

    python tests/gpu/run.py [--watch] [--order N] [--sm N] [--report FILE] PROGRAM ARGUMENTS...
    TISIM_ARCH=cuda TISIM_PRECISION=f64 python tests/gpu/run.py -m pytest tests/test_smooth_dynamics_equal_mujocos.py

The program then finds one CUDA device of compute capability 9.0, on which Taichi runs unchanged and launches kernels;
with TISIM_OWN_LAUNCHES=1 tisim does. What is compiled is kept in $SOFTGPU_DIR (a folder "softgpu" in that of tisim's
own cache).
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = dict(watch=False, order=True, sm=True, report=True)  # whether a value follows


def folder():
    """Where PTX, compiled modules and the driver are kept."""
    cache = os.environ.get("TISIM_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tisim"
    )
    return pathlib.Path(os.environ.get("SOFTGPU_DIR") or os.path.join(cache, "softgpu"))


def driver():
    """The path of libcuda.so, compiled where it is missing or older than its source."""
    source, library = HERE / "driver.c", folder() / "lib" / "libcuda.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        library.parent.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-w", "-o", made, source, "-ldl"], check=True)
        os.replace(made, library)  # other processes may be starting
    return library


def environment(**options):
    """The environment of a process that is to find the software device; options as on the command line."""
    library = driver()
    return dict(
        dict(TISIM_GRID="12", TISIM_OWN_LAUNCHES="0") | os.environ,
        LD_LIBRARY_PATH=f"{library.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        SOFTGPU_DIR=str(folder()),
        SOFTGPU_HOME=str(HERE),
        SOFTGPU_PYTHON=sys.executable,
        **{f"SOFTGPU_{name.upper()}": str(int(value) if value is True else value) for name, value in options.items()},
    )


def main():
    options, rest = {}, sys.argv[1:]
    while rest and rest[0].startswith("--"):
        name = rest.pop(0)[2:]
        if name not in OPTIONS:
            sys.exit(__doc__)
        options[name] = rest.pop(0) if OPTIONS[name] else True
    if not rest:
        sys.exit(__doc__)
    os.execve(sys.executable, [sys.executable, *rest], environment(**options))


if __name__ == "__main__":
    main()
