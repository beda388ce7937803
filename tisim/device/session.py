"""What runs now: the backend, its precision, and how often Taichi was started. Set by device.runtime.init only."""

import time

import numpy as np

arch = None  # name of the running backend, None before init
precision = None  # "f32" or "f64"
generation = 0  # counts starts; device memory of an earlier one is gone
settings = None  # what init was asked for
threads = None  # number of CPU threads that init was asked for, None: one per processor
workers = 1  # how many of them may wait for each other, see device/team.py
began = time.time()  # when this process imported tisim


def numpy_float():
    """NumPy's type of the running precision."""
    return np.float32 if precision == "f32" else np.float64
