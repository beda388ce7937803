"""What one step of a scene asks of a GPU: driver calls, tasks and their longest threads, conflicts by array.

    TISIM_ARCH=cuda python tests/gpu/run.py --watch --sm 64 tests/gpu/step.py SCENE N STEPS [STATE.npz]

Prints a table, and as its last line the same as JSON. STEPS go before the one that is told of; STATE is as in scene.py.
With --sm N there are 256 N threads: have as many as the longest loop has rounds, so that each thread does one. The time
of a task on a GPU is estimated by its longest thread, in two ways: 6 cycles an instruction and 450 a load, or (quick) 4
and 100, at 1.75 GHz. That finds what is serial; it is no measurement.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import sys
import tempfile

import tisim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gpu.scene import begin  # noqa: E402
from gpu.software import read_report  # noqa: E402

PAGE = 4096
names = {}  # address of an array on the device -> its name


def naming(method):
    def wrapped(self, name):
        from taichi.lang import impl

        array = method(self, name)
        names[impl.get_runtime().prog.get_ndarray_data_ptr_as_int(array.arr) // PAGE * PAGE] = name
        return array

    return wrapped


def measured(m, d):
    """The report of one step."""
    device = ctypes.CDLL("libcuda.so")
    device.softgpu_clear()
    tisim.step(m, d)
    with tempfile.NamedTemporaryFile() as file:
        device.softgpu_report(file.name.encode())
        calls, tasks, races = read_report(file.name)
    for task in tasks.values():
        task["slow"] = (task["longest"] * 6 + task["deepest"] * 450) / 1.75e6
        task["quick"] = (task["longest"] * 4 + task["deepest"] * 100) / 1.75e6
    conflicts = sorted({(r["kind"], names.get(r["base"], "?"), r["task"]) for r in races})
    return dict(ncon=int(d.ncon), nisland=int(d.nisland), calls=calls, tasks=tasks, conflicts=conflicts)


def table(told):
    columns = ("launches", "threads", "longest", "worst", "deepest", "slow", "quick")
    yield f"{told['ncon']} contacts, {told['nisland']} islands; calls: {told['calls']}"
    for kind, array, task in told["conflicts"]:
        yield f"  {kind:16} {array:20} {task}"
    yield f"{'task':44}" + "".join(f"{c:>12}" for c in columns)
    order = sorted(told["tasks"].items(), key=lambda item: -item[1]["quick"])
    for name, task in order[:25]:
        per_launch = {c: task[c] / task["launches"] for c in ("threads", "longest", "deepest")}
        yield f"{name[:43]:44}" + "".join(f"{(task | per_launch)[c]:12.6g}" for c in columns)
    sums = {c: sum(task[c] for task in told["tasks"].values()) for c in ("launches", "slow", "quick", "sectors")}
    sums |= dict(megabytes=sums["sectors"] * 32e-6, worst=max(task["worst"] for task in told["tasks"].values()))
    text = "all: {launches} launches, {quick:.2f} to {slow:.2f} ms in threads, {megabytes:.1f} MB; longest {worst}"
    yield text.format(**sums)


def main():
    scene, n, steps, *state = sys.argv[1:]
    tisim.Data.device, tisim.Model.device = naming(tisim.Data.device), naming(tisim.Model.device)
    m, d = begin(scene, n, *state)
    tisim.step(m, d, int(steps))
    told = measured(m, d)
    with contextlib.suppress(BrokenPipeError):
        print("\n".join(table(told)))
        print(json.dumps(told))
        sys.stdout.flush()
    os._exit(0)


main()
