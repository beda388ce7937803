"""Programs that are run with several numbers of threads."""

import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent


def printed(program):
    """The set of what a Python program, which may import from `shared`, prints with 1, 2 and 3 threads."""
    found = set()
    for threads in (1, 2, 3):
        env = dict(os.environ, TISIM_THREADS=str(threads))
        env["PYTHONPATH"] = os.pathsep.join([str(TESTS), env.get("PYTHONPATH", "")])
        ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
        found.add(ran.stdout)
    return found
