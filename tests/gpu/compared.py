"""What a device and the CPU find from one state, compared: files that scene.py wrote."""

import numpy as np


def check_same_step(device, *cpu):
    """That a step in f32 on a device has the contacts of those on the CPU (f32 first), within 1e-7 m, and f32's
    velocities within 1e-4 m/s, or of the largest where things still roll."""
    ours, others = np.load(device), [np.load(path) for path in cpu]
    for other in others:
        assert np.array_equal(ours["geom"], other["geom"])
        assert np.abs(ours["dist"] - other["dist"]).max(initial=0) < 1e-7
    theirs = others[0]["qvel"]
    assert np.abs(ours["qvel"] - theirs).max(initial=0) < 1e-4 * max(1, np.abs(theirs).max())
