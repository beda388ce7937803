"""Device memory: arrays made, read, written and freed. On a CPU the host looks at the same memory, without copies."""

import gc
import os

import numpy as np

from . import arena, cuda, session
from .tally import tally


def element(dtype, width=1):
    """Taichi's type of an element of an array declared with this dtype (session.type_name): a number, a vector, or for
    9 a 3 x 3 matrix."""
    import taichi as ti

    number = getattr(ti, session.type_name(dtype))
    if width == 1:
        return number
    return ti.types.matrix(3, 3, number) if dtype != "i" and width == 9 else ti.types.vector(width, number)


LINE = 64  # bytes: arrays on the host begin with a line of cache; JAX copies what does not


class HostArray:
    """A device array on a CPU: NumPy's memory. host: all its numbers;  shape: (elements,);  dtype: "f64" ..."""

    def __init__(self, dtype, count, width):
        self.shape, self.dtype = (count,), session.type_name(dtype)
        kind = np.dtype(session.numpy_type(dtype))
        size = count * width * kind.itemsize
        whole = np.zeros(size + LINE, np.uint8)
        begin = -whole.ctypes.data % LINE
        self.host = whole[begin : begin + size].view(kind)


def most_bytes():
    """What all arrays of a Data may take: the machine's memory; a GPU refuses by itself."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if session.arch == "cpu" else 1 << 60
    except (ValueError, OSError, AttributeError):
        return 1 << 60


def new_array(dtype, size, width=1):
    """A device array of max(1, size) zeros, declared with this dtype, in elements of `width` numbers."""
    count = max(1, -(-int(size) // width))
    if session.arch == "cpu":
        a = HostArray(dtype, count, width)
    elif arena.used():
        a = arena.new(dtype, width, count, element(dtype, width))
    else:
        import taichi as ti

        a = ti.ndarray(element(dtype, width), (count,))  # zeros
    a.length, a.numbers = int(size), count * width
    return a


def delete_array(a):
    """Frees a device array now; one that others look at (dlpack.py) when they are done."""
    if getattr(a, "lent", False):
        return
    if isinstance(a, arena.Array):
        a.free()
    elif not isinstance(a, HostArray):
        from taichi.lang import impl

        impl.get_runtime().prog.delete_ndarray(a.arr)
        a.arr = None
    a.host = None


def size_of(a):
    """Bytes of a device array."""
    return a.numbers * np.dtype(number_type(a)).itemsize


def number_type(a):
    """NumPy's type of a device array's numbers."""
    return session.NUMPY[str(a.dtype)]


def host_view(a):
    """NumPy array over the memory of a device array on the CPU, without a copy; None on a GPU."""
    return getattr(a, "host", None)


def download(a):
    """Copy of a device array on the host."""
    view = host_view(a)
    if view is not None:
        return view.copy()
    tally.reads += 1
    if isinstance(a, arena.Array):
        return a.read()
    if cuda.driver(a) is None:
        return a.to_numpy().reshape(-1)
    out = np.empty(a.numbers, number_type(a))
    cuda.read(a, out)
    return out


def part(a, first, count):
    """Copy of some numbers of a device array on the host."""
    view = host_view(a)
    return (download(a) if view is None else view)[first : first + count].copy()


def upload(a, values, first=0):
    """Writes host values into a device array, from element `first` on."""
    view = host_view(a)
    if view is not None:
        view[first : first + values.size] = values
    elif isinstance(a, arena.Array):
        if values.size:
            a.write(values, first)
    elif values.size and cuda.driver(a) is not None:
        cuda.write(a, first, values.astype(number_type(a), copy=False))
    elif values.size:
        whole = a.to_numpy()
        whole.reshape(-1)[first : first + values.size] = values
        a.from_numpy(whole)


def fill(a, value):
    """Sets every number of a device array of int32, or of any type to 0."""
    view = host_view(a)
    if view is not None:
        view[:] = value
    elif isinstance(a, arena.Array):
        a.fill(value)
    elif cuda.driver(a) is not None:
        cuda.fill(a, value)
    else:
        a.fill(value)


def sync():
    """Waits for the device."""
    import taichi as ti

    ti.sync()


def forget():
    """Lets go of all arrays, before Taichi is started again.

    An array that dies later would ask the new Taichi to free what lies at its old address, which may be another array.
    Taichi makes some itself when it compiles a graph, so all that Python knows are looked for.
    """
    from taichi.lang import impl
    from taichi.lang._ndarray import Ndarray

    arena.forget()
    if impl.get_runtime().prog is None:  # the first start: there are none
        return
    for a in gc.get_objects():
        if issubclass(type(a), Ndarray):
            a.arr = a.host = None
