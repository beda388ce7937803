"""All threads of a (software) device put rows where one thread of the CPU does: limits of joints and tendons, their
friction, and equalities of 2,200 worlds, of which some act."""

import os
import subprocess
import sys

import numpy as np

from .software import HERE, needs_compiler, start


@needs_compiler
def test_rows_are_equal(tmp_path):
    on_cpu, on_device = tmp_path / "cpu.npz", tmp_path / "device.npz"
    subprocess.run([sys.executable, HERE / "rows.py", on_cpu], env=os.environ | dict(TISIM_ARCH="cpu"), check=True)
    start(HERE / "rows.py", on_device, environment=dict(TISIM_ARCH="cuda"))
    theirs, ours = np.load(on_cpu), np.load(on_device)
    assert theirs["nefc"] > 8000 and len(set(theirs["efc_type"])) == 5
    for name in ("nefc", "efc_type", "efc_id", "efc_frictionloss"):
        assert np.array_equal(ours[name], theirs[name]), name
    assert np.abs(ours["efc_pos"] - theirs["efc_pos"]).max() < 1e-12
