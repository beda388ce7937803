"""Programs on the software device (driver.c), for tests: started, and what the driver reports of them."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from tisim.device.tasks import short

from . import run

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("read / write", "write / write", "float atomics", "integer atomics", "atomic / plain", "same value")
NUMBERS = ("launches", "threads", "instructions", "longest", "loads", "deepest", "atomics", "sectors", "worst")
needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="the software device is compiled by gcc")


def start(*arguments, seconds=1800, environment=None, **options):
    """Runs a Python program (path and arguments) on the device and returns what it wrote; options: those of run.py."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], env=run.environment(**options) | (environment or {}),
        capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def on_cpu(name, n, steps, out, *state, precision="f64"):
    """Steps a scene on the CPU, from its start or from a state file; the state and its contacts are in `out`."""
    environment = os.environ | dict(TISIM_ARCH="cpu", TISIM_PRECISION=precision)
    arguments = map(str, (name, n, steps, out, *state))
    subprocess.run([sys.executable, HERE / "scene.py", *arguments], env=environment, check=True, timeout=600)


def read_report(path):
    """(driver calls by name, tasks by name, races) of a report of the driver."""
    calls, tasks, races = {}, {}, []
    for line in pathlib.Path(path).read_text().splitlines():
        what, *words = line.split()
        if what == "call":
            calls[words[0]] = int(words[1])
        elif what == "task":
            told, before = dict(zip(NUMBERS, map(int, words[1:]))), tasks.get(short(words[0]), {})
            sums = {name: n + before.get(name, 0) for name, n in told.items()}
            tasks[short(words[0])] = sums | dict(worst=max(told["worst"], before.get("worst", 0)))  # variants together
        else:
            races.append(
                dict(task=short(words[0]), kind=KINDS[int(words[1])], base=int(words[2]), offset=int(words[3]))
            )
    return calls, tasks, races
