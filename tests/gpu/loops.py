"""Kernels whose loops are those of a GPU (tisim/device/grid.py): prints, as JSON, what they do and how many tasks."""

import ctypes
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

import tisim

tisim.init()

from tisim.kernels.types import func, kernel, ti  # noqa: E402

from tisim.device import launch  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gpu.software import read_report  # noqa: E402


@func
def last_of(m, d, n):
    end = n - 1
    return end


@kernel
def each_once(m, d):
    """Every place from 2 on but the last, once."""
    n = m.nv
    end = last_of(m, d, n)
    for i in range(2, end):
        d.qfrc_applied[i] = d.qfrc_applied[i] + i


@kernel
def grows(m, d):
    """A loop that raises what it is bound by."""
    for _ in range(d.ncon):
        ti.atomic_add(d.ncon, 1)


@kernel
def two_loops(m, d):
    """A number that is read before the loop that changes it, and used behind it."""
    n = d.nefc
    for i in range(4):
        if i == 0:
            d.nefc = 100
    for i in range(n):
        d.qfrc_applied[i] = -1.0


def main():
    m = tisim.Model.from_xml_string("<mujoco><worldbody>" + "<body><freejoint/><geom size='1'/></body>" * 9
                                    + "</worldbody></mujoco>")  # fmt: skip
    d = tisim.Data(m)
    device = ctypes.CDLL("libcuda.so")
    told = {}
    for one in (each_once, grows, two_loops):
        d.set_counts(ncon=5, nefc=3)
        device.softgpu_clear()
        launch.run(m, d, [one])
        with tempfile.NamedTemporaryFile() as file:
            device.softgpu_report(file.name.encode())
            _, tasks, _ = read_report(file.name)
        told[one.__name__] = dict(
            ncon=d.count("ncon"), applied=np.asarray(d.qfrc_applied).tolist(), serial=sum("serial" in t for t in tasks)
        )
    print(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


main()
