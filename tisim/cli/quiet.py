"""Silence for what Taichi's C++ code writes to the terminal."""

import os
import sys

from tisim.device import taichi_import


class Quiet:
    """While active, nothing written to the process's output and error streams arrives."""

    def __enter__(self):
        sys.stdout.flush()
        sys.stderr.flush()
        self._saved = os.dup(1), os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_):
        sys.stdout.flush()
        sys.stderr.flush()
        for fd, saved in zip((1, 2), self._saved):
            os.dup2(saved, fd)
            os.close(saved)


def start_taichi(**settings):
    """tisim.init without Taichi's warnings, then and later: what they mean is said by exceptions."""
    import tisim

    with Quiet():
        tisim.init(**settings)
        ti = taichi_import.load()
        ti.set_logging_level(ti.ERROR)


def open_closed():
    """What is printed where a stream was closed goes nowhere, not to the file that would get its number."""
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            place = os.open(os.devnull, os.O_RDWR)
            if place != number:
                os.dup2(place, number)
                os.close(place)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))


class Output:
    """Standard output while active, whose name an OSError has that writing to it raises; what is left goes nowhere."""

    def __enter__(self):
        self._stream, self._failed = sys.stdout, False
        self._put(self)

    def __exit__(self, *_):
        self._put(self._stream)
        if self._failed:  # at the end Python would try it again
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())

    def _put(self, stream):
        if sys.stdout is sys.__stdout__:  # else Taichi takes this for a notebook, and asks for prints at each launch
            sys.__stdout__ = stream
        sys.stdout = stream

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text):
        return self._named(self._stream.write, text)

    def flush(self):
        return self._named(self._stream.flush)

    def _named(self, f, *args):
        try:
            return f(*args)
        except OSError as e:
            e.filename, self._failed = "standard output", True
            raise
