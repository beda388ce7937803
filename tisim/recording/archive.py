"""An .npz file that grows: each entry is on disk as a whole or not at all, and what is there is found without the
directory, which such a file gets only when it is closed.
"""

import collections
import errno
import io
import os
import struct
import zipfile
import zlib

import numpy as np

from tisim.errors import Error

LOCAL = struct.Struct("<4s5H3I2H")  # header of an entry: PKZIP Application Note 6.3, section 4.3.7
SIGNATURE = b"PK\x03\x04"
DIRECTORY, END, END_SIZE = b"PK\x01\x02", b"PK\x05\x06", 22  # how the directory begins, and its end without a comment


class Writer:
    """Writes entries behind each other.  path  of the file, which is replaced."""

    def __init__(self, path):
        self._file = open(path, "wb", buffering=0)
        self._behind = _Behind(self._file)
        self._zip = zipfile.ZipFile(self._behind, "w", zipfile.ZIP_STORED)

    def add(self, entries):
        """Entries by name: bytes, or arrays, which become name.npy. They are on their way to disk on return; where that
        cannot be none of them is in the file, and it can be tried again."""
        before = self._zip.start_dir, list(self._zip.filelist), dict(self._zip.NameToInfo)
        try:
            for name, data in entries.items():
                if not isinstance(data, bytes):
                    stream = io.BytesIO()
                    np.lib.format.write_array(stream, np.ascontiguousarray(data), allow_pickle=False)
                    name, data = f"{name}.npy", stream.getvalue()
                self._zip.writestr(name, data)
            self._behind.commit()
        except BaseException:
            self._behind.forget()
            self._zip.start_dir, self._zip.filelist, self._zip.NameToInfo = before
            raise

    def close(self):
        """Writes the directory."""
        if not self._file.closed:
            try:
                self._zip.close()
                self._behind.commit()
            except BaseException:
                self._behind.forget()
                raise
            finally:
                self._file.close()


class _Behind:
    """What zipfile writes to: the part of a file behind what was committed, in memory until it is committed."""

    def __init__(self, file):
        self._file, self._part, self._start = file, io.BytesIO(), 0

    def write(self, data):
        return self._part.write(data)

    def tell(self):
        return self._start + self._part.tell()

    def seek(self, place, whence=0):
        return self._start + (self._part.seek(place, 2) if whence == 2 else self._part.seek(place - self._start))

    def seekable(self):
        return True

    def flush(self):
        pass

    def commit(self):
        """Appends what was written, by one call of the system where that takes all."""
        if not os.fstat(self._file.fileno()).st_nlink:  # written on, and to be found nowhere
            raise FileNotFoundError(errno.ENOENT, "the file was removed")
        part, done = self._part.getbuffer(), 0
        while done < len(part):
            done += self._file.write(part[done:])
        self._start += done
        self._part = io.BytesIO()

    def forget(self):
        """Takes back what was not committed, from the file, too."""
        self._part = io.BytesIO()
        self._file.seek(self._start)
        self._file.truncate()


class Reader:
    """Entries of a file that Writer wrote, as far as they are whole.

    names  of the entries, in their order;  closed  whether the directory stands behind them: the file was closed.
    """

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            found = list(_entries(f))
            self._entries = dict(found)
            behind = max((start + length for start, length, _ in self._entries.values()), default=0)
            f.seek(behind)
            begun = f.read(len(DIRECTORY))
            f.seek(max(0, f.seek(0, 2) - END_SIZE))
            self.closed = begun == DIRECTORY and f.read(len(END)) == END
        self.names = [name for name, _ in found]
        self._twice = {name for name, times in collections.Counter(self.names).items() if times > 1}

    def bytes(self, name):
        """Contents of an entry. Raises Error where they are damaged, or not there any more."""
        if name not in self._entries:
            raise Error(f"{self.path}: damaged: {name} is missing")
        if name in self._twice:
            raise Error(f"{self.path}: damaged: {name} is there twice")
        start, length, crc = self._entries[name]
        try:
            with open(self.path, "rb") as f:
                f.seek(start)
                data = f.read(length)
        except OSError as e:
            raise Error(f"{self.path}: cannot read the recording: {e.strerror or e}") from None
        if len(data) != length or zlib.crc32(data) != crc:
            raise Error(f"{self.path}: damaged: {name} is not what was written")
        return data

    def array(self, name):
        """The array of an entry name.npy. Raises Error where it is damaged."""
        data = self.bytes(f"{name}.npy")
        try:
            return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, MemoryError) as e:
            raise Error(f"{self.path}: damaged: {name} is no array: {e}") from None


def _entries(f):
    """(name, (place of the contents, their length, checksum)) of the entries that are whole, up to what is no entry."""
    end = f.seek(0, 2)
    f.seek(0)
    while len(head := f.read(LOCAL.size)) == LOCAL.size:
        signature, _, flags, method, _, _, crc, packed, length, name_length, extra = LOCAL.unpack(head)
        start = f.tell() + name_length + extra
        if signature != SIGNATURE or flags & 8 or method != zipfile.ZIP_STORED or packed != length:
            return
        if start + length > end:
            return
        name = f.read(name_length).decode("utf-8", "replace")
        f.seek(start + length)
        yield name, (start, length, crc)
