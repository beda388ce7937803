"""What runs now: the backend, its precision, and how often Taichi was started. Set by device.runtime.init only."""

import os
import threading
import time

import numpy as np

arch = None  # name of the running backend, None before init
precision = None  # "f32" or "f64"
generation = 0  # counts starts; device memory of an earlier one is gone
settings = None  # what init was asked for
threads = None  # number of CPU threads that init was asked for, None: one per processor
workers = 1  # how many of them may wait for each other, see device/team.py
ARCHS = "cpu", "cuda", "vulkan", "metal"
PRECISIONS = "f64", "f32"
WIDE_ARCHS = "cpu", "cuda"  # that have f64; not all others do
ARENA_ARCHS = "vulkan", "metal"  # where a task takes few buffers: arrays lie in arenas (arena.py)
NUMPY = dict(i32=np.int32, f32=np.float32, f64=np.float64)
began = time.time()  # when this process imported tisim
compiler = threading.RLock()  # of whoever starts Taichi or compiles by it, which is one thread's at a time


def _after_fork():
    """A new process has none of the threads, one of which may have been compiling."""
    global compiler
    compiler = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def numpy_float():
    """NumPy's type of the running precision."""
    return np.float32 if precision == "f32" else np.float64


def type_name(dtype):
    """Taichi's name of the type of an array that is declared with this dtype: "f", the running precision; "w", f64 in
    either precision where the backend surely has it; "i", int32."""
    if dtype == "i":
        return "i32"
    return "f64" if dtype == "w" and arch in WIDE_ARCHS else precision


def numpy_type(dtype):
    """NumPy's type of an array that is declared with this dtype."""
    return NUMPY[type_name(dtype)]
