"""The commands that look without simulating: info and doctor."""

import importlib.metadata
import os
import pathlib
import platform
import sys

import numpy as np

from tisim import __version__
from tisim.device import images, machine_code, native, runtime, taichi_import
from tisim.errors import UnsupportedError
from tisim.model import simulable

from .run import load, rows

SIZES = """nbody njnt nq nv ntree ngeom nsite nmesh nhfield npair nexclude neq ntendon nu na nsensor nkey nmocap
ncam nlight nmat ntex""".split()
PACKAGES = ("taichi", "numpy", "scipy", "lxml", "trimesh", "pillow", "typer", "rich")


def _flags(bits, kind):
    return ", ".join(_word(b) for b in kind if bin(b.value).count("1") == 1 and int(bits) & b.value)


def _word(member):
    return member.name.split("_", 1)[1].lower()


def _counted(values, kind):
    """Text like "3 sphere, 2 box" of an array of enum values."""
    found, number = np.unique(np.asarray(values), return_counts=True)
    return ", ".join(f"{k} {_word(kind(int(v)))}" for v, k in zip(found, number))


def info(console, source, n, param):
    """tisim info."""
    from tisim import enums

    m, name = load(source, n, param)
    sizes = [(s, getattr(m, s, 0)) for s in SIZES]
    rows(console, name, [("sizes", "  ".join(f"{s} {v}" for s, v in sizes if v))])
    geoms = _counted(m.geom_type, enums.mjtGeom)
    joints = _counted(m.jnt_type, enums.mjtJoint)
    o = m.opt
    rows(console, None, [
        ("geoms", geoms or "none"),
        ("joints", joints or "none"),
        ("mass", f"{float(np.sum(m.body_mass)):.6g} kg"),
        ("timestep", f"{float(o.timestep):g} s, integrator {_word(enums.mjtIntegrator(int(o.integrator)))}"),
        ("gravity", " ".join(f"{v:g}" for v in np.asarray(o.gravity)) + " m/s2"),
        ("solver", f"{_word(enums.mjtSolver(int(o.solver)))}, at most {int(o.iterations)} iterations, "
                   f"tolerance {float(o.tolerance):g}"),
        ("cone", f"{_word(enums.mjtCone(int(o.cone)))}, impratio {float(o.impratio):g}"),
        ("disabled", _flags(o.disableflags, enums.mjtDisableBit) or "nothing"),
        ("enabled", _flags(o.enableflags, enums.mjtEnableBit) or "nothing"),
    ])  # fmt: skip
    try:
        simulable.check(m)
        rows(console, None, [("can be simulated", "yes")])
    except UnsupportedError as error:
        rows(console, None, [("can be simulated", f"no: {error}")])


def _folder_size(folder):
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) if folder.is_dir() else 0


class _Quiet:
    """Silences what Taichi's C++ code prints while it looks for drivers."""

    def __enter__(self):
        sys.stdout.flush()
        sys.stderr.flush()
        self._saved = os.dup(1), os.dup(2)
        self._null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(self._null, 1)
        os.dup2(self._null, 2)

    def __exit__(self, *_):
        for fd, saved in zip((1, 2), self._saved):
            os.dup2(saved, fd)
            os.close(saved)
        os.close(self._null)


def _road():
    """How a CPU gets its kernels, and why."""
    runtime.init(arch="cpu")
    shipped, own, size = images.state()
    if native.road() is None:
        return f"compiled by Taichi in every process: {native.why}"
    lines = [f"machine code for {native.road().target} from disk: {shipped} images came with tisim, "
             f"{own} in {images.folder()}, {size / 2**20:.1f} MiB"]  # fmt: skip
    if not machine_code.available():
        lines.append("others are compiled in every process; to keep them: pip install llvmlite==0.44.0")
    lines += [f"not used: {path}: {why}" for path, why in images.troubles.items()]
    return "\n".join(lines)


def doctor(console):
    """tisim doctor."""
    from tisim.viewer import vulkan

    with _Quiet():
        taichi_import.load()
        from taichi._lib import core

        backends = ["cpu", *(a for a in ("cuda", "vulkan", "metal") if getattr(core, f"with_{a}")())]
        devices = vulkan.devices()
        missing = vulkan.missing()
    cache = pathlib.Path(runtime.cache_path({})).parent
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} MISSING")
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    rows(console, f"tisim {__version__}", [
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
        ("packages", ", ".join(versions)),
        ("backends", ", ".join(backends) + (f"; auto is {'cuda' if 'cuda' in backends else 'cpu'}")),
        ("Vulkan", ", ".join(devices) if isinstance(devices, list) else devices),
        ("pictures", missing or "can be drawn"),
        ("window", f"display {display}" if display else "no display: DISPLAY is not set; `tisim render` needs none"),
        ("kernels", _road()),
        ("kernel cache", f"{cache}, {_folder_size(cache) / 2**20:.1f} MiB"),
        ("TISIM_DEBUG", "set: kernels check bounds, every step is validated" if runtime.debug() else "not set"),
    ])  # fmt: skip
    if "taichi 1.7.4" not in versions:
        console.print("tisim needs taichi==1.7.4: pip install taichi==1.7.4", style="yellow")
