"""Arrays on the device that read and write like NumPy arrays."""

import numpy as np

from tisim.device import dlpack, memory, session
from tisim.errors import Error, IdError, UnsupportedError, ValuesError
from tisim.model.watched import WRITE_FIRST, Source, fitting

from . import asleep, owed
from .state import check_time


class Part(Source):
    """A copy of an array of a Data that is a state or an input, of which parts are written through."""

    def __init__(self, array, whole):
        super().__init__(f"d.{array._array.name}", whole)
        self._array = array

    def begin(self, view):
        """An input follows what was written since the copy was made; a state that has changed is refused, so that no
        `v[0] += x` brings back what was before a step.
        """
        old = self.view(view)
        now = np.ndarray(old.shape, old.dtype, self._array._host().data, self.place(view), old.strides)
        if not np.array_equal(now, old, equal_nan=True):
            if self._array._array.role == "state":
                raise ValuesError(f"{self.name} has changed since this copy of it was made; take it again, then write")
            old[...] = now

    def wrote(self, view, index):
        """Uploads what was written."""
        item = self.whole.itemsize
        written = np.zeros(self.whole.shape, bool)
        strides = [s // item for s in view.strides]
        np.ndarray(view.shape, bool, written.data, self.place(view) // item, strides)[index] = True
        now = self._array._host()
        now[written] = self.whole[written]
        self._array._upload(now)


class Copy(Source):
    """A copy of an array of a Data that is computed: it cannot be written."""

    def __init__(self, array, whole):
        super().__init__(f"d.{array.name}", whole)
        self._stage = array.stage

    def begin(self, view):
        raise ValuesError(f"this copy of {self.name} is read-only: the {self._stage} stage computes it")


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array on the device that reads as a NumPy array and writes through.

    `a[i] = x` changes the simulation, and so does `a[i][j] = x`; what is read are copies, which do not follow later
    steps. Shape as in mujoco for one world, with a leading world axis for several; `first` is where it begins.
    """

    def __init__(self, data, array, shape, first=0):
        for name, value in dict(_data=data, _array=array, shape=shape, _first=first).items():
            object.__setattr__(self, name, value)

    dtype = property(lambda self: np.dtype(session.numpy_type(self._array.dtype)))
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape)))

    def __len__(self):
        return self.shape[0]

    def _host(self):
        return memory.part(self._data.device(self._array.name), self._first, self.size).reshape(self.shape)

    def __bool__(self):
        return bool(self._host())

    def __contains__(self, value):
        return value in self._host()

    def __array__(self, dtype=None, copy=None):
        if copy is False:  # as NumPy asks: who wants the memory itself would write into a copy
            name = self._array.name
            raise ValueError(f"d.{name} is read as a copy; np.from_dlpack(d.{name}) shares its memory on a CPU")
        return np.asarray(self._host(), dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        def host(a):
            return a._host() if isinstance(a, DeviceArray) else a

        if method == "at" and isinstance(inputs[0], DeviceArray):
            return ufunc.at(inputs[0][...], *map(host, inputs[1:]), **kwargs)
        out = kwargs.pop("out", None)
        if out is None:
            return getattr(ufunc, method)(*map(host, inputs), **kwargs)
        results = tuple(map(host, out))
        getattr(ufunc, method)(*map(host, inputs), out=results, **kwargs)
        for a, result in zip(out, results):  # d.qvel += 1, np.add(..., out=d.qvel)
            if isinstance(a, DeviceArray):
                a[...] = result
        return out[0] if len(out) == 1 else out

    def __array_function__(self, func, types, args, kwargs):
        """np.copyto(d.qpos, x) and its like write through; others do what they do with what has no such method."""
        if func in WRITE_FIRST and args and isinstance(args[0], DeviceArray):
            return func(args[0][...], *args[1:], **kwargs)
        return np.empty(0).__array_function__(func, (), args, kwargs)

    def __getitem__(self, index):
        host = self._host()
        if not isinstance(value := host[index], np.ndarray):
            return value
        return (Part(self, host) if self._is_open() else Copy(self._array, host)).array()[index]

    def _is_open(self):
        """Whether users write it: a state, an input, or what the callback that runs now is there for."""
        return self._array.role in ("state", "input") or self._array.name in (self._data._open or ())

    def __setitem__(self, index, value):
        a = self._array
        if not self._is_open():
            raise Error(f"{a.name} is computed by the {a.stage} stage; writing it would be lost")
        host, value = self._host(), fitting(value, self.dtype)
        try:
            host[index] = value
        except (ValueError, TypeError, OverflowError) as e:
            raise ValuesError(f"d.{a.name}, of shape {self.shape}, cannot be written so: {e}") from None
        except IndexError as e:
            raise IdError(f"d.{a.name}, of shape {self.shape}: {e}") from None
        self._upload(host)

    def __dlpack_device__(self):
        return (dlpack.CUDA, 0) if session.arch == "cuda" else (1, 0)  # kDLCPU

    def __dlpack__(self, *, stream=None, **options):
        """The array itself, without a copy: torch.from_dlpack(d.ctrl), jax.dlpack.from_dlpack, np.from_dlpack.

        It follows each step, and the next step reads what is written to it; what a stage computes is overwritten. It
        serves as long as the Data does, across resets. `__array_interface__` is left out on purpose: with it np.asarray
        would follow steps, too, and is a copy. On CUDA steps run on the default stream: work on others is waited for
        when the array is taken, later on by whoever uses them.
        Raises UnsupportedError on Vulkan and Metal, BufferError where a copy or another device is asked for on CUDA.
        """
        a = self._shared()
        if session.arch == "cuda":
            if options.get("copy") or options.get("dl_device") not in (None, self.__dlpack_device__()):
                raise BufferError(f"d.{self._array.name} is shared where it is, on the CUDA device, without a copy")
            return dlpack.capsule(a, self._first, self.shape, stream)
        whole = memory.host_view(a)
        return whole[self._first : self._first + self.size].reshape(self.shape).__dlpack__(stream=stream, **options)

    @property
    def __cuda_array_interface__(self):
        """The array itself on CUDA, for CuPy, Numba and torch.as_tensor, as by __dlpack__; elsewhere there is none."""
        if session.arch != "cuda":
            raise AttributeError("__cuda_array_interface__")
        return dlpack.interface(self._shared(), self._first, self.shape)

    def _shared(self):
        """The device's array, which others look at from now on."""
        if session.arch not in ("cpu", "cuda"):
            raise UnsupportedError(f"d.{self._array.name}: arrays are shared without copies on a CPU and on CUDA")
        if self._array.role in ("state", "input"):
            asleep.shared(self._data, self._array.name)
        owed.asked(self._data, self._array.name)
        return self._data.device(self._array.name)

    def _upload(self, host):
        if self._array.name == "world_time":
            check_time(host)
        memory.upload(self._data.device(self._array.name), host.reshape(-1), self._first)
        asleep.wrote(self._data, self._array.name)

    def __iter__(self):
        return iter(self[...])

    def __setattr__(self, name, value):
        if name not in ("real", "flat"):
            raise Error(f"the {name} of d.{self._array.name} cannot be written")
        setattr(self[...], name, value)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self[...], name)  # d.qpos.fill(0) is written through

    def __copy__(self):
        return np.array(self)

    def __deepcopy__(self, memo):
        return np.array(self)

    def __reduce__(self):
        return np.array(self).__reduce__()

    def __repr__(self):
        return repr(np.asarray(self))

    def __str__(self):
        return str(np.asarray(self))

    __hash__ = None
