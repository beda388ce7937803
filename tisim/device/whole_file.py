"""Files that are written at once."""

import contextlib
import errno
import os
import pathlib

from tisim.errors import Error


def _part_of(path):
    """(path, its part) as Paths."""
    path = pathlib.Path(path)
    if not path.name:
        raise Error(f"{str(path)!r} is no name of a file")
    return path, path.with_name(f"part-{path.name}")


@contextlib.contextmanager
def told(path, what="file"):
    """A block in which a file is written: raises Error, which names it and what it is, where that cannot be."""
    try:
        yield
    except OSError as e:
        raise Error(f"{path}: cannot write the {what}: {e.strerror or e}") from None


def check(path, what="file", folder=True):
    """Raises Error where `whole` could not write: for what is told before long work, not behind it. Nothing stays."""
    path, part = _part_of(path)
    made = [parent for parent in path.parents if folder and not parent.exists()]
    try:
        with told(path, what):
            if folder:
                path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            part.touch()
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
            for parent in made:
                parent.rmdir()


@contextlib.contextmanager
def whole(path, what="file", folder=False):
    """Gives the path of a part to write; at the end of the block it takes the place of `path`. folder: makes that, too.

    Whoever reads `path` finds all of it or what was there before, also where the block is left by an error or an
    interrupt. Raises Error, with what is written by name, where the part cannot be written.
    """
    path, part = _part_of(path)
    try:
        with told(path, what):
            if folder:
                path.parent.mkdir(parents=True, exist_ok=True)
            yield part
            os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
