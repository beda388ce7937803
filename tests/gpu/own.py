"""Steps a scene and prints, as JSON: its state's hash, what is told of own launches, driver calls of the last step and
tasks that ran in it, kernels that are left to Taichi, and the keys of the PTX that is kept.

python own.py NAME N STEPS STATE.npz
"""

import ctypes
import hashlib
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

import tisim
from tisim.device import own

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gpu.scene import begin  # noqa: E402
from gpu.software import read_report  # noqa: E402


def main():
    name, n, steps, state = sys.argv[1:]
    m, d = begin(name, n, state)
    tisim.step(m, d, int(steps))
    device = ctypes.CDLL("libcuda.so")
    device.softgpu_clear()
    tisim.step(m, d)
    with tempfile.NamedTemporaryFile() as file:
        device.softgpu_report(file.name.encode())
        calls, tasks, _ = read_report(file.name)
    values = (np.asarray(getattr(d, k)) for k in ("qpos", "qvel", "qacc_warmstart"))
    digest = hashlib.sha256(b"".join(v.tobytes() for v in values)).hexdigest()
    left = own.road().plain if own.road() else None
    kept = sorted(own.road().codes) if own.road() else []
    launches = sum(t["launches"] for t in tasks.values())
    print(json.dumps(dict(hash=digest, told=own.told(), calls=calls, launches=launches, left=left, kept=kept)))
    sys.stdout.flush()
    os._exit(0)


main()
