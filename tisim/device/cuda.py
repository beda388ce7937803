"""Copies between the host and a CUDA device, one call of the driver each.

Taichi's own to_numpy takes two launches, three waits and an allocation. The driver is asked only where it gives what
Taichi gives: the first copy after a start is made both ways.
"""

import ctypes
import sys

import numpy as np

from . import session

NAMES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so", "libcuda.so.1")
_found = {}  # generation -> the driver, None: Taichi copies


def driver(a):
    """The driver by which arrays such as this one are copied, or None."""
    if session.generation not in _found:
        _found[session.generation] = _checked(a) if session.arch == "cuda" else None
    return _found[session.generation]


def read(a, out):
    """Copies a device array's numbers into a NumPy array of as many."""
    _call(driver(a).cuMemcpyDtoH_v2, ctypes.c_void_p(out.ctypes.data), address(a), ctypes.c_size_t(out.nbytes))


def write(a, first, values):
    """Copies a NumPy array of the device array's type to its numbers from `first` on."""
    given = np.ascontiguousarray(values)
    place = address(a, first * given.itemsize)
    _call(driver(a).cuMemcpyHtoD_v2, place, ctypes.c_void_p(given.ctypes.data), ctypes.c_size_t(given.nbytes))


def fill(a, value):
    """Sets all numbers of a device array of int32, or of any type to 0."""
    words = a.numbers * (2 if str(a.dtype) == "f64" else 1)
    _call(driver(a).cuMemsetD32_v2, address(a), ctypes.c_uint(value & 0xFFFFFFFF), ctypes.c_size_t(words))


def copy_device(a, b):
    """Begins to copy a device array to another of its size, both on the device."""
    nbytes = a.numbers * (8 if str(a.dtype) == "f64" else 4)
    _call(driver(a).cuMemcpyDtoD_v2, address(b), address(a), ctypes.c_size_t(nbytes))


def about(a):
    """What the driver tells of the device on which an array is: its name, CUDA's version, and `software`, whether it is
    the one of tests/gpu, whose times mean nothing. None where there is no such driver."""
    found = driver(a)
    if found is None:
        return None
    name, version = ctypes.create_string_buffer(256), ctypes.c_int()
    _call(found.cuDeviceGetName, name, ctypes.c_int(256), ctypes.c_int(0))
    _call(found.cuDriverGetVersion, ctypes.byref(version))
    cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"
    return dict(name=name.value.decode(), cuda=cuda, software=hasattr(found, "softgpu_clear"))


def address(a, offset=0):
    """Where a device array is on the device, or a place so many bytes behind it."""
    from taichi.lang import impl

    return ctypes.c_void_p(impl.get_runtime().prog.get_ndarray_data_ptr_as_int(a.arr) + offset)


def _call(function, *arguments):
    if code := function(*arguments):
        raise RuntimeError(f"CUDA driver: error {code} in {function.__name__}")


def _checked(a):
    """The driver, if what it copies is what Taichi copies."""
    for name in NAMES:
        try:
            found = ctypes.CDLL(name)
        except OSError:
            continue
        theirs = a.to_numpy().reshape(-1)
        ours = np.empty_like(theirs)
        args = ctypes.c_void_p(ours.ctypes.data), address(a), ctypes.c_size_t(ours.nbytes)
        if found.cuMemcpyDtoH_v2(*args) == 0 and ours.tobytes() == theirs.tobytes():
            return found
    return None
