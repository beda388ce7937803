"""Takes arrays of a Data by DLPack as a program on the host does (the software device's memory is the host's), or as
torch does where it sees the device, writes a control there, and prints what steps made of it.

python lent.py ctypes|torch
"""

import ctypes
import gc
import json
import pathlib
import sys

import numpy as np

import tisim
from tisim.device import dlpack, memory

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from shared.arm_and_ball import XML  # noqa: E402


def by_ctypes(a):
    """NumPy's array over what a capsule says, and a function that gives it back."""
    capsule, pointer = a.__dlpack__(stream=1), ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    managed = dlpack.Lent.from_address(pointer(capsule, b"dltensor"))
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor")
    t = managed.tensor
    assert (t.device_type, t.device_id) == a.__dlpack_device__() == (2, 0) and t.lanes == 1 and not t.strides
    shape, kind = tuple(t.shape[: t.ndim]), np.dtype(f"{'iuf'[t.code]}{t.bits // 8}")
    numbers = (ctypes.c_uint8 * (int(np.prod(shape)) * kind.itemsize)).from_address(t.data + t.byte_offset)
    return np.frombuffer(numbers, kind).reshape(shape), lambda: managed.deleter(ctypes.addressof(managed))


def by_torch(a):
    import torch

    seen = torch.from_dlpack(a)
    assert seen.is_cuda and torch.as_tensor(a, device="cuda").data_ptr() == seen.data_ptr()
    return seen, lambda: None


def main():
    take = dict(ctypes=by_ctypes, torch=by_torch)[sys.argv[1]]
    tisim.init(arch="cuda")
    m = tisim.Model.from_xml_string(XML)
    d, wanted = tisim.Data(m, nworld=3), tisim.Data(m, nworld=3)
    (ctrl, done), (qpos, leave), (one, end) = take(d.ctrl), take(d.qpos), take(d.world(2).ctrl)
    for k in range(5):
        ctrl[1, 0] = 3.0 + k
        one[0] = 2.0
        wanted.ctrl[1, 0], wanted.ctrl[2, 0] = 3.0 + k, 2.0
        for x in (d, wanted):
            tisim.step(m, x, 3)
    memory.sync()
    seen = np.asarray(qpos.cpu() if hasattr(qpos, "cpu") else qpos)
    told = dict(shape=seen.shape, type=str(seen.dtype), ctrl=np.asarray(d.ctrl).ravel().tolist(),
                follows=bool(np.array_equal(seen, d.qpos)), equal=bool(np.array_equal(d.qpos, wanted.qpos)),
                moved=bool(d.qvel[1, 0] != d.qvel[0, 0]), lent=len(dlpack._lent))  # fmt: skip
    done(), leave(), end()
    del ctrl, qpos, one, done, leave, end
    d.qpos.__dlpack__()  # a capsule that nobody takes
    gc.collect()
    try:
        d.qpos.__dlpack__(copy=True)
    except BufferError as e:
        told["copy"] = str(e)
    there = d.qvel.__cuda_array_interface__
    told |= dict(left=len(dlpack._lent), interface=there["typestr"], address=type(there["data"][0]).__name__)
    print(json.dumps(told))


main()
