"""PTX assembled for the device at hand, where ptxas is installed: the driver then compiles nothing at the first launch.

ptxas is a part of CUDA's toolkit, or of the package nvidia-cuda-nvcc. Of PTX that it does not take, and of what the
driver does not load, the driver makes code itself, as without it.
"""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

from tisim.errors import Error

from .whole_file import whole

MINUTE = 60


def assembler():
    """The path of ptxas, or None."""
    if found := shutil.which("ptxas"):
        return found
    name = "ptxas.exe" if sys.platform == "win32" else "ptxas"
    try:
        spec = importlib.util.find_spec("nvidia.cuda_nvcc")
    except ModuleNotFoundError:
        return None
    places = spec.submodule_search_locations if spec else []
    return next((str(p) for p in (pathlib.Path(q) / "bin" / name for q in places) if p.is_file()), None)


def path_of(ptx, capability):
    """Where the code of a file of PTX is kept for a device of compute capability (major, minor)."""
    return ptx.with_suffix(".sm_{}{}.cubin".format(*capability))


def assemble(ptxas, ptx, capability):
    """Makes that file; returns why not, or None."""
    words = [ptxas, "-arch=sm_{}{}".format(*capability), "-o"]
    try:
        with whole(path_of(ptx, capability)) as part:
            subprocess.run([*words, part, ptx], capture_output=True, text=True, timeout=MINUTE, check=True)
    except subprocess.CalledProcessError as e:
        return f"{ptxas}: {(e.stderr or e.stdout).strip()[:200]}"
    except (Error, OSError, subprocess.SubprocessError) as e:
        return str(e)
    return None
