"""tisim bench --device: one scene in several sizes on a GPU, its steps, their tasks and the device itself."""

import contextlib
import time

import numpy as np

import tisim
from tisim.data.digest import state_hash
from tisim.device import cuda, memory, session, tasks
from tisim.device.tally import tally
from tisim.errors import Error

from . import quiet, report
from .bench import SETTLE, Bar, measure
from .simulate import INTERRUPTED, advance, load, option_of, runtime_sync

COPIED = 1 << 26  # numbers of the array by which the speed of the device's memory is taken
COPIES = 8
PROFILED = 10  # steps at most of which the tasks are timed: two events each
SHOWN = 8  # tasks in the table of a size, the longest
NO_MEANING = "a device in software: its times and bytes per second mean nothing, its counts, hash and residual do"


def bench(console, asked):
    """Measures and prints; asked  the options of tisim bench by their names.  Returns the exit code."""
    sizes, settle = _checked(asked), SETTLE if asked.settle is None else asked.settle
    progress, source = report.beside(console, asked.as_json), asked.source or "pile"
    quiet.start_taichi(arch=asked.arch, precision=asked.precision)
    if session.arch == "cpu":
        raise Error("--device measures a GPU, and this is the CPU: see `tisim doctor`, and --arch")
    found = dict(scene=source, settle=settle, device=_device(), arch=session.arch, precision=session.precision)
    found["sizes"] = []
    states = []
    with Bar(progress) as bar:
        for n in sizes:
            m, _ = load(source, n, asked.param, asked.sleep)
            told, state = _steps(progress, bar, m, settle, asked.repeats)
            if told is None:
                break
            found["sizes"].append(dict(n=n) | told)
            states.append((m, state))
        if session.arch == "cuda":
            quiet.start_taichi(arch=session.arch, precision=session.precision, profile=True)
            for told, (m, state) in zip(found["sizes"], states):
                if not bar.stopped:
                    told |= _tasks(bar, m, state, min(asked.repeats, PROFILED))
        found["stopped"] = bar.stopped
    if asked.as_json:
        report.print_json(found)
    else:
        show(console, found, asked.kernels)
    return INTERRUPTED if found["stopped"] else 0


def _checked(asked):
    """The sizes as numbers. Raises Error for what is nonsense, and for options that have no meaning here."""
    for name in ("n", "seconds", "until", "compare", "peer", "nworld", "threads", "dynamics", "saved"):
        if getattr(asked, name):
            raise Error(f"--device excludes {option_of(name)}")
    if (asked.settle is not None and asked.settle < 0) or asked.repeats < 1:
        raise Error("--settle must not be negative and --repeats must be positive")
    try:
        numbers = [int(text) for text in asked.device_sizes.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise Error(f"--sizes {asked.device_sizes}: expected positive numbers with commas, as 100,1000")
    return numbers


def _device():
    """Name, driver and speed of memory of the device; what is not known is None."""
    a, b = (memory.new_array("i", COPIED) for _ in range(2))
    told = cuda.about(a) or dict(name=None, cuda=None, software=False)
    told |= dict(driver=None, meaning=NO_MEANING if told["software"] else None, copy_bytes_per_second=None)
    with contextlib.suppress(OSError), open("/proc/driver/nvidia/version") as file:
        told["driver"] = None if told["software"] else file.readline().strip()
    if told["cuda"]:
        times = []
        for _ in range(3):
            runtime_sync()
            before = time.perf_counter()
            for _ in range(COPIES):
                cuda.copy_device(a, b)
            runtime_sync()
            times.append(time.perf_counter() - before)
        told["copy_bytes_per_second"] = 2 * COPIES * memory.size_of(a) / min(times)  # read and written
    for array in (a, b):
        memory.delete_array(array)
    return told


def _steps(progress, bar, m, settle, repeats):
    """What single steps of a settled model take, and the state from which they began; (None, None) if stopped."""
    began = time.perf_counter()
    d = tisim.Data(m)
    tisim.pipeline.prepare(m, d)
    tisim.forward(m, d)
    loaded = time.perf_counter() - began
    if advance(progress, m, d, settle, "settling")[3]:
        return None, None
    told = dict(bodies=m.nbody - 1, load_seconds=loaded, hash_after_settling=state_hash(d))
    state = tisim.get_state(m, d)
    tally.clear()
    told |= measure(m, d, bar, repeats)
    if not told["repeats"]:
        return None, None
    done, kernels, reads, moved = told["repeats"], tally.kernels, tally.reads, tally.bytes
    return told | dict(
        contacts=int(d.ncon), islands=int(d.nisland), residual=_residual(d), kernels=kernels / done,
        reads=reads / done, array_bytes=moved / done, array_bytes_per_second=1e3 * moved / done / told["median_ms"],
        memory_bytes=sum(d.memory().values()) + sum(m.memory().values()),
    ), state  # fmt: skip


def _residual(d):
    """The largest scaled gradient of all islands, where the solver ended in the last step."""
    return float(np.max(d.host("island_gradient").reshape(-1)[: d.count("nisland")], initial=0.0))


def _tasks(bar, m, state, repeats):
    """Tasks of a step from this state: means over steps, the longest first."""
    d = tisim.Data(m)
    tisim.set_state(m, d, state)
    tisim.step(m, d)  # compiles, and searches for pairs
    runtime_sync()
    tasks.clear()
    steps, times = 0, {}
    for _ in bar.over("timing the tasks", repeats):
        tisim.step(m, d)
        steps += 1
    for name, ms, registers in tasks.taken():
        total, n, _ = times.get(name, (0.0, 0, None))
        times[name] = total + ms, n + 1, registers
    each = max(1, steps)
    told = [dict(task=name, ms=ms / each, launches=n / each, registers=registers)
            for name, (ms, n, registers) in sorted(times.items(), key=lambda item: -item[1][0])]  # fmt: skip
    return dict(tasks=told, launches=sum(t["launches"] for t in told), tasks_ms=sum(t["ms"] for t in told))


def show(console, r, kernels):
    """Prints the tables of what was found."""
    device = r["device"]
    if device["meaning"]:
        console.print(device["meaning"].capitalize(), style="bold yellow")
    cuda_version = device["cuda"] and f"CUDA {device['cuda']}"
    speed = device["copy_bytes_per_second"]
    report.rows(console, f"{r['scene']} on a device{' (stopped early)' if r['stopped'] else ''}", [
        ("device", device["name"] or "not told"),
        ("driver", ", ".join(filter(None, (device["driver"], cuda_version))) or "not told"),
        ("memory", f"{1e-9 * speed:.1f} GB/s read and written by a copy" if speed else "not measured"),
        ("backend", f"{r['arch']}, {r['precision']}"),
        ("steps", f"after {r['settle']}"),
    ])  # fmt: skip
    columns = "n", "contacts", "islands", "ms", "10 %", "90 %", "launches", "kernels", "reads"
    report.table(console, "a step", columns, [_counted(told) for told in r["sizes"]])
    columns = "n", "ms in tasks", "GB/s at most", "residual", "hash"
    report.table(console, "what it did", columns, [_done(told) for told in r["sizes"]])
    for told in r["sizes"]:
        shown = told.get("tasks", [])[: None if kernels else SHOWN]
        if shown:
            report.table(console, f"tasks of a step, n = {told['n']}", ("task", "ms", "launches", "registers"), [
                (t["task"], f"{t['ms']:.4f}", f"{t['launches']:.1f}", t["registers"] or "-") for t in shown
            ])  # fmt: skip


def _counted(told):
    """A row: how long a step took, and what was asked of the device for it."""
    times = (f"{told[name]:.3f}" for name in ("median_ms", "ms_10_percent", "ms_90_percent"))
    launches = f"{told['launches']:.0f}" if "launches" in told else "-"
    asked = launches, f"{told['kernels']:.0f}", f"{told['reads']:.1f}"
    return told["n"], told["contacts"], told["islands"], *times, *asked


def _done(told):
    """A row: time in tasks, bytes, and what came out."""
    tasks_ms = f"{told['tasks_ms']:.3f}" if "tasks_ms" in told else "-"
    speed = f"{1e-9 * told['array_bytes_per_second']:.1f}"
    return told["n"], tasks_ms, speed, f"{told['residual']:.1e}", told["hash_after_settling"]
