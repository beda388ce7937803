"""Images of machine code on disk: written whole or not at all, looked at before they are used, mapped to be run.

An image is looked up by its key, first among those that ship with tisim, then in the user's cache. One that is cut or
changed, of another version or processor, or in a folder that others can write, is as good as none.
"""

import contextlib
import ctypes
import functools
import hashlib
import json
import mmap
import os
import pathlib
import platform
import struct
import tempfile
import time

from . import cache
from .machine_code import Unsupported

FORMAT = b"tisim image 2\n"
SHIPPED = pathlib.Path(__file__).parent / "shipped"
PART, STALE = ".part-", 86400.0  # how names of unfinished files begin; age at which nobody works on one [s]
TARGETS = {  # what LLVM compiles for -> flags in /proc/cpuinfo of a processor that can run it
    "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma movbe abm",
    "x86-64-v2": "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3",
}
troubles = {}  # path -> why an image there was not used; `tisim doctor` tells


@functools.lru_cache(None)
def target():
    """The kind of processor that images are made for and found by; None where there can be none."""
    if platform.system() != "Linux" or platform.machine() != "x86_64" or struct.calcsize("P") != 8:
        return None
    try:
        with open("/proc/cpuinfo") as f:
            flags = next(line for line in f if line.startswith("flags")).split()
    except (OSError, StopIteration):
        return None
    return next((name for name, needed in TARGETS.items() if set(needed.split()) <= set(flags)), None)


def folder():
    """Folder of the user's images."""
    return cache.folder() / "images"


def own_folder():
    """The folder, made if need be; Unsupported if others than this user could write there."""
    path = folder()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = path.stat()
    except OSError as e:
        raise Unsupported(f"{path}: {e.strerror}") from None
    if state.st_uid != os.geteuid() or state.st_mode & 0o022:
        raise Unsupported(f"{path}: others can write there; take that right away (chmod go-w) or set TISIM_CACHE")
    return path


class Record:
    """What is kept of one kernel.

    tasks       offsets of its tasks in `code`, in their order.
    externals   [name, offset of the slot for its address] of each function of the C library that it calls.
    parameters  [name, kind as in machine_code.layout, whether launches pass it] of each argument.
    """

    def __init__(self, code, tasks, externals, parameters=()):
        self.code, self.tasks, self.externals, self.parameters = code, tasks, externals, parameters

    def pack(self, key):
        """The bytes that stand on disk; the key is one of them, so that no file is taken for another."""
        head = json.dumps([key, self.tasks, self.externals, self.parameters]).encode()
        data = struct.pack("<QQ", len(head), len(self.code)) + head + self.code
        return FORMAT + hashlib.sha256(data).digest() + data

    @classmethod
    def unpack(cls, key, data):
        """The Record of such bytes; Unsupported if they are not what `pack` made of this key."""
        start = len(FORMAT) + 32
        if data[: len(FORMAT)] != FORMAT:
            raise Unsupported("no image of this version")
        if hashlib.sha256(data[start:]).digest() != data[len(FORMAT) : start]:
            raise Unsupported("damaged")
        head, code = struct.unpack_from("<QQ", data, start)
        name, tasks, externals, parameters = json.loads(data[start + 16 : start + 16 + head])
        if name != key:
            raise Unsupported(f"it is that of {name}")
        return cls(bytes(data[start + 16 + head : start + 16 + head + code]), tasks, externals, parameters)


def usable():
    """Whether images can be kept in the user's cache."""
    try:
        path = own_folder()
        if not os.access(path, os.W_OK | os.X_OK):
            raise Unsupported(f"{path}: cannot be written")
        tempfile.TemporaryFile(dir=path).close()
    except (OSError, Unsupported) as e:
        troubles[str(folder())] = str(e)
        return False
    return True


@functools.lru_cache(None)
def sweep(path):
    """Removes what processes that were killed left in a folder, once in a process."""
    for part in path.glob(PART + "*"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()


def write(path, data):
    """Writes a file at once: whoever reads it at the same time finds all of it, or what was there before."""
    sweep(path.parent)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=PART)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


@contextlib.contextmanager
def making(key):
    """What is done within is done by one process at a time for each key, where the system can lock files."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError, Unsupported):
            import fcntl

            held = stack.enter_context(open(own_folder().parent / "making", "ab"))  # a lock ends with its process
            fcntl.lockf(held, fcntl.LOCK_EX, 1, int(key[:15], 16))
        yield


def find_request(request):
    """The Record to which a request was answered before, None if it was not."""
    key = _shipped().requests.get(request)
    if key is None:
        try:
            text = (own_folder() / f"{request}.ref").read_text()
            key, check = text.split()
            if check != _check(request, key):
                return None
        except (OSError, ValueError, Unsupported):
            return None
    return find(key)


def keep_request(request, key):
    """Notes the key of the Record that answers a request."""
    try:
        write(own_folder() / f"{request}.ref", f"{key} {_check(request, key)}".encode())
    except (OSError, Unsupported) as e:
        troubles[str(folder())] = str(e)


def _check(request, key):
    return hashlib.sha256(f"{request} {key}".encode()).hexdigest()[:16]


def find(key):
    """The Record of a key, None if there is none that can be trusted."""
    shipped = _shipped()
    if key in shipped.places:
        at, size = shipped.places[key]
        return _trusted(shipped.path, key, shipped.data[at : at + size])
    try:
        path = own_folder() / f"{key}.img"
        return _trusted(path, key, path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, Unsupported) as e:
        troubles[str(folder())] = str(e)
        return None


def _trusted(path, key, data):
    try:
        return Record.unpack(key, data)
    except (Unsupported, ValueError, struct.error) as e:
        troubles[str(path)] = str(e)
        return None


def keep(key, record):
    """Writes a Record to the user's cache; False if that is not possible."""
    try:
        write(own_folder() / f"{key}.img", record.pack(key))
    except (OSError, Unsupported) as e:
        troubles[str(folder())] = str(e)
        return False
    return True


class _Pack:
    """The images that ship: one file. places: {key: [offset, bytes]};  requests: {request: key}; both at its end."""

    def __init__(self, path):
        self.path, self.places, self.requests, self.data = path, {}, {}, b""
        try:
            with open(path, "rb") as f:
                self.data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
            at, size = struct.unpack_from("<QQ", self.data, len(self.data) - 16)
            self.places, self.requests = json.loads(self.data[at : at + size])
        except FileNotFoundError:
            pass
        except (OSError, ValueError, struct.error) as e:
            troubles[str(path)] = str(e)


@functools.lru_cache(None)
def _shipped():
    return _Pack(shipped_path())


def forget_shipped():
    """Looks for the file of images that ship anew, after it was written or deleted."""
    _shipped.cache_clear()


def shipped_path():
    """Where the images that ship stand, if there are some."""
    return SHIPPED / f"{target()}.pack"


def state():
    """What there is, for `tisim doctor`: (images that ship, images in the cache, their bytes)."""
    own = [path.stat().st_size for path in folder().glob("*.img")] if os.path.isdir(folder()) else []
    return len(_shipped().places), len(own), sum(own)


def write_pack(path, records, requests):
    """Writes the file that ships. records: {key: bytes of a packed Record};  requests: {request: key}."""
    data, places = bytearray(), {}
    for key in sorted(records):
        places[key] = len(data), len(records[key])
        data += records[key]
    index = json.dumps([places, requests]).encode()
    write(path, bytes(data) + index + struct.pack("<QQ", len(data), len(index)))


class Code:
    """Machine code in executable memory. tasks: the addresses of the kernel's tasks."""

    def __init__(self, record):
        code = bytearray(record.code)
        for name, at in record.externals:
            struct.pack_into("<Q", code, at, _address(name))
        self.memory = mmap.mmap(-1, max(1, len(code)), prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self.memory[: len(code)] = bytes(code)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if _library("c").mprotect(ctypes.c_void_p(base), ctypes.c_size_t(len(code)), mmap.PROT_READ | mmap.PROT_EXEC):
            raise Unsupported("the system gives no executable memory")
        self.tasks = [base + at for at in record.tasks]
        self.parameters = record.parameters


@functools.lru_cache(None)
def _library(name):
    return ctypes.CDLL(None if name == "c" else "libm.so.6")


@functools.lru_cache(None)
def _address(name):
    """Address of a function of the C library."""
    for library in ("m", "c"):
        function = getattr(_library(library), name, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value
    raise Unsupported(f"the C library has no function {name}")
