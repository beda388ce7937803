"""Device memory: arrays made, read, written and freed. On a CPU the host looks at the same memory, without copies."""

import ctypes
import gc

import numpy as np

from . import session


def element(is_float, width=1):
    """Taichi's type of an array's element in the running precision: a number, a vector, or for 9 a 3 x 3 matrix."""
    import taichi as ti

    number = (ti.f64 if session.precision == "f64" else ti.f32) if is_float else ti.i32
    if width == 1:
        return number
    return ti.types.matrix(3, 3, number) if is_float and width == 9 else ti.types.vector(width, number)


def new_array(is_float, size, width=1):
    """A device array of max(1, size) zeros in the running precision, or of int32, in elements of `width` numbers."""
    import taichi as ti

    a = ti.ndarray(element(is_float, width), (max(1, -(-int(size) // width)),))
    a.length, a.numbers = int(size), a.shape[0] * width
    fill(a, 0)
    return a


def delete_array(a):
    """Frees a device array now."""
    from taichi.lang import impl

    impl.get_runtime().prog.delete_ndarray(a.arr)
    a.arr = a.host = None


def host_view(a):
    """NumPy array over the memory of a device array on the CPU, without a copy; None on a GPU."""
    view = getattr(a, "host", None)
    return _host_view(a) if view is None else view


def _host_view(a):
    from taichi.lang import impl

    if session.arch != "cpu":
        return None
    np_type = np.dtype({"f64": np.float64, "f32": np.float32}.get(str(a.dtype), np.int32))
    pointer = impl.get_runtime().prog.get_ndarray_data_ptr_as_int(a.arr)
    buffer = (ctypes.c_char * (a.numbers * np_type.itemsize)).from_address(pointer)
    a.host = np.frombuffer(buffer, np_type)
    return a.host


def download(a):
    """Copy of a device array on the host."""
    view = host_view(a)
    return a.to_numpy().reshape(-1) if view is None else view.copy()


def upload(a, values):
    """Writes host values into a device array (the first values.size elements)."""
    view = host_view(a)
    if view is not None:
        view[: values.size] = values
    elif values.size:
        whole = a.to_numpy()
        whole.reshape(-1)[: values.size] = values
        a.from_numpy(whole)


def fill(a, value):
    """Sets every element of a device array."""
    view = host_view(a)
    if view is None:
        a.fill(value)
    else:
        view[:] = value


def sync():
    """Waits for the device."""
    import taichi as ti

    ti.sync()


def forget():
    """Lets go of all arrays, before Taichi is started again.

    An array that dies later would ask the new Taichi to free what lies at its old address, which may be another array.
    Taichi makes some itself when it compiles a graph, so all that Python knows are looked for.
    """
    from taichi.lang._ndarray import Ndarray

    for a in gc.get_objects():
        if issubclass(type(a), Ndarray):
            a.arr = a.host = None
