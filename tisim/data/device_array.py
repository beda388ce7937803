"""Arrays on the device that read and write like NumPy arrays."""

import numpy as np

from tisim.device import memory, session
from tisim.errors import Error


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on the device that reads as a NumPy array and writes through.

    `a[i] = x` changes the simulation; `a[i]` and `np.asarray(a)` are copies (slices are read-only, so that a chained
    assignment cannot be lost). Shape as in mujoco for one world, with a leading world axis for several.
    """

    def __init__(self, data, array, shape):
        self._data, self._array, self.shape = data, array, shape

    dtype = property(lambda self: np.dtype(np.int32 if self._array.dtype == "i" else session.numpy_float()))
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))

    def __len__(self):
        return self.shape[0]

    def _host(self):
        return memory.download(self._data.device(self._array.name))[: self.size].reshape(self.shape)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._host(), dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        def host(a):
            return a._host() if isinstance(a, DeviceArray) else a

        out = kwargs.pop("out", None)
        if out is None:
            return getattr(ufunc, method)(*map(host, inputs), **kwargs)
        results = tuple(map(host, out))
        getattr(ufunc, method)(*map(host, inputs), out=results, **kwargs)
        for a, result in zip(out, results):  # d.qvel += 1, np.add(..., out=d.qvel)
            if isinstance(a, DeviceArray):
                a[...] = result
        return out[0] if len(out) == 1 else out

    def __getitem__(self, index):
        value = self._host()[index]
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value

    def __setitem__(self, index, value):
        a = self._array
        if a.role not in ("state", "input"):
            raise Error(f"{a.name} is computed by the {a.stage} stage; writing it would be lost")
        host = self._host()
        host[index] = value
        memory.upload(self._data.device(a.name), host.reshape(-1))

    def __iter__(self):
        return iter(self[...])

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self[...], name)  # read-only: d.qpos.fill(0) fails instead of filling a copy

    def __repr__(self):
        return repr(np.asarray(self))

    __hash__ = None
