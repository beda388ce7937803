"""Arrays of a CUDA device lent without a copy: DLPack's capsule, and the dict of `__cuda_array_interface__`.

Source: DLPack's C header (DLManagedTensor) and its Python specification; Numba's page on the CUDA array interface.
Steps run on CUDA's default stream, which waits for others that were made in the usual way, and they for it.
"""

import ctypes

import numpy as np

from . import cuda, memory

CUDA = 2  # kDLCUDA
CODES = dict(i=0, u=1, f=2)  # kDLInt, kDLUInt, kDLFloat
DEFAULT = (None, 1)  # how a consumer says that it reads on the default stream
NAME = b"dltensor"  # of a capsule that nobody has taken
_lent = {}  # address of a Lent -> what it needs


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Lent(ctypes.Structure):
    """DLManagedTensor."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Lent._fields_ = [("tensor", _Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter)]
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@_Deleter
def _give_back(address):
    _lent.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _capsule_dies(capsule):
    if _is_valid(capsule, NAME):  # else it was taken, and the consumer gives the array back
        _give_back(_pointer(capsule, NAME))


def capsule(a, first, shape, stream=None):
    """The numbers of a device array from `first` on, in this shape, for a consumer that reads on this stream."""
    if stream not in DEFAULT:
        memory.sync()
    kind, a.lent = np.dtype(memory.number_type(a)), True
    lengths = (ctypes.c_int64 * len(shape))(*shape)
    tensor = _Tensor(
        cuda.address(a, first * kind.itemsize), CUDA, 0, len(shape), CODES[kind.kind], 8 * kind.itemsize, 1, lengths
    )
    managed = Lent(tensor, None, _give_back)
    place = ctypes.addressof(managed)
    _lent[place] = managed, lengths, a
    return _new(place, NAME, ctypes.cast(_capsule_dies, ctypes.c_void_p))


def interface(a, first, shape):
    """The same as `__cuda_array_interface__` has it; who looks keeps the Data, not the array, alive."""
    kind, a.lent = np.dtype(memory.number_type(a)), True
    place = cuda.address(a, first * kind.itemsize).value
    return dict(shape=tuple(shape), typestr=kind.str, data=(place, False), version=3, stream=1)
