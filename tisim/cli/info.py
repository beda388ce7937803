"""The commands that look without simulating: info and doctor."""

import importlib.metadata
import importlib.util
import os
import pathlib
import platform

import numpy as np

from tisim import __version__
from tisim.device import images, machine_code, native, own, runtime, taichi_import
from tisim.errors import Error, UnsupportedError
from tisim.model import simulable

from .quiet import Quiet, start_taichi
from .report import busy, print_json, rows
from .simulate import load

SIZES = """nbody njnt nq nv ntree ngeom nsite nmesh nhfield npair nexclude neq ntendon nu na nsensor nkey nmocap
ncam nlight nmat ntex""".split()
PACKAGES = ("taichi", "numpy", "scipy", "lxml", "trimesh", "pillow", "typer", "rich")
EXTRAS = ("imageio-ffmpeg",)
DRAWN_BY = "cast by Taichi: nothing else is needed, no window and no Vulkan"


def _flags(bits, kind):
    return [_word(b) for b in kind if bin(b.value).count("1") == 1 and int(bits) & b.value]


def _word(member):
    return member.name.split("_", 1)[1].lower()


def _counted(values, kind):
    """dict name -> number of an array of enum values."""
    found, number = np.unique(np.asarray(values), return_counts=True)
    return {_word(kind(int(v))): int(k) for v, k in zip(found, number)}


def _in_words(counted):
    return ", ".join(f"{number} {name}" for name, number in counted.items()) or "none"


def info(console, source, n, param, as_json):
    """tisim info."""
    from tisim import enums

    m, name = load(source, n, param)
    o = m.opt
    try:
        simulable.check(m)
        refused = None
    except UnsupportedError as error:
        refused = str(error)
    found = dict(
        scene=name, sizes={s: int(getattr(m, s, 0)) for s in SIZES}, geoms=_counted(m.geom_type, enums.mjtGeom),
        joints=_counted(m.jnt_type, enums.mjtJoint), cameras=[m.id2name("camera", k) for k in range(m.ncam)],
        mass=float(np.sum(m.body_mass)), timestep=float(o.timestep),
        integrator=_word(enums.mjtIntegrator(int(o.integrator))), gravity=np.asarray(o.gravity, float),
        solver=_word(enums.mjtSolver(int(o.solver))), iterations=int(o.iterations), tolerance=float(o.tolerance),
        cone=_word(enums.mjtCone(int(o.cone))), impratio=float(o.impratio),
        disabled=_flags(o.disableflags, enums.mjtDisableBit), enabled=_flags(o.enableflags, enums.mjtEnableBit),
        can_be_simulated=refused is None, refused=refused,
    )  # fmt: skip
    if as_json:
        return print_json(found)
    rows(console, name, [("sizes", "  ".join(f"{s} {v}" for s, v in found["sizes"].items() if v))])
    cameras = [("cameras", ", ".join(c or "(no name)" for c in found["cameras"]))] if m.ncam else []
    rows(console, None, [
        ("geoms", _in_words(found["geoms"])),
        ("joints", _in_words(found["joints"])),
        *cameras,
        ("mass", f"{found['mass']:.6g} kg"),
        ("timestep", f"{found['timestep']:g} s, integrator {found['integrator']}"),
        ("gravity", " ".join(f"{v:g}" for v in found["gravity"]) + " m/s2"),
        ("solver", f"{found['solver']}, at most {found['iterations']} iterations, tolerance {found['tolerance']:g}"),
        ("cone", f"{found['cone']}, impratio {found['impratio']:g}"),
        ("disabled", ", ".join(found["disabled"]) or "nothing"),
        ("enabled", ", ".join(found["enabled"]) or "nothing"),
    ])  # fmt: skip
    rows(console, None, [("can be simulated", f"no: {refused}" if refused else "yes")])


def _folder_size(folder):
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) if os.path.isdir(folder) else 0


def _road():
    """How a CPU gets its kernels, and why."""
    start_taichi(arch="cpu")
    shipped, made, size = images.state()
    if native.road() is None:
        return f"compiled by Taichi in every process: {native.why}"
    lines = [f"machine code for {native.road().target} from disk: {shipped} images came with tisim, "
             f"{made} in {images.folder()}, {size / 2**20:.1f} MiB"]  # fmt: skip
    if not machine_code.available():
        lines.append("others are compiled in every process; to keep them: pip install llvmlite==0.44.0")
    lines += [f"not used: {path}: {why}" for path, why in images.troubles.items()]
    return "\n".join(lines)


def _own_launches(backends):
    """How CUDA gets its kernels, None where there is no such device."""
    if "cuda" not in backends:
        return None
    start_taichi(arch="cuda")
    return own.told()


def _films():
    """Which films can be made, and by what."""
    from tisim.viewer import encode

    try:
        return f".webp and .gif by Pillow, .mp4 by {encode.ffmpeg()}"
    except Error:
        return f".webp and .gif by Pillow; for .mp4 {encode.MISSING}"


def _window(missing, display):
    """Whether a window can be opened, and why not."""
    if missing:
        return f"none: {missing}"
    if not display:
        return "none: no display, DISPLAY is not set"
    from tisim.viewer import imgui, vulkan, window

    devices = vulkan.devices()
    how = f"by rays (caster) from {window.MANY} bodies on" if window.software(devices) else "by Vulkan"
    lacks = "" if imgui.load() else f"; no wheel, no labels, no curves, fewer keys: {imgui.why}"
    return f"GGUI on display {display}, drawn {how}{lacks}"


def _browser():
    """How a page in a browser shows a simulation."""
    if importlib.util.find_spec("viser") is None:
        return "pictures (--web --pictures); shapes need viser: pip install 'tisim[web]'"
    return "shapes by viser (--web), or pictures (--web --pictures)"


def _found():
    """(what doctor tells, Vulkan's devices or why there are none, versions of packages)."""
    from tisim.viewer import vulkan

    with Quiet():
        taichi_import.load()
        from taichi._lib import core

        backends = ["cpu", *(a for a in ("cuda", "vulkan", "metal") if getattr(core, f"with_{a}")())]
        devices = vulkan.devices()
        missing = vulkan.missing()
    cache = pathlib.Path(runtime.cache_path({})).parent
    versions = {}
    for package in (*PACKAGES, *EXTRAS):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    found = dict(
        tisim=__version__, python=platform.python_version(), system=platform.system(), machine=platform.machine(),
        cores=os.cpu_count(), packages=versions, backends=backends, auto="cuda" if "cuda" in backends else "cpu",
        vulkan=devices if isinstance(devices, list) else [], vulkan_refused=vulkan.loses_pairs(), pictures=DRAWN_BY,
        films=_films(), window=_window(missing, display), browser=_browser(), display=display,
        kernels=_road(), own_launches=_own_launches(backends), kernel_cache=str(cache),
        kernel_cache_bytes=_folder_size(cache), debug=runtime.debug(),
    )  # fmt: skip
    return found, devices, versions


def doctor(console, as_json):
    """tisim doctor."""
    with busy("looking at the installation"):
        found, devices, versions = _found()
    if as_json:
        return print_json(found)
    needed = ", ".join(f"{p} {versions[p] or 'MISSING'}" for p in PACKAGES)
    rows(console, f"tisim {__version__}", [
        ("python", f"{found['python']} on {found['system']} {found['machine']}, {found['cores']} cores"),
        ("packages", needed),
        ("backends", ", ".join(found["backends"]) + f"; auto is {found['auto']}"),
        ("Vulkan", ", ".join(devices) if isinstance(devices, list) else devices),
        *([("--arch vulkan", found["vulkan_refused"])] if found["vulkan_refused"] else []),
        ("pictures", found["pictures"]),
        ("films", found["films"]),
        ("window", found["window"]),
        ("browser", found["browser"]),
        ("kernels", found["kernels"]),
        *([("CUDA kernels", found["own_launches"])] if found["own_launches"] else []),
        ("kernel cache", f"{found['kernel_cache']}, {found['kernel_cache_bytes'] / 2**20:.1f} MiB"),
        ("TISIM_DEBUG", "set: kernels check bounds, every step is validated" if found["debug"] else "not set"),
    ])  # fmt: skip
    if versions["taichi"] != "1.7.4":
        console.print("tisim needs taichi==1.7.4: pip install taichi==1.7.4", style="yellow")
