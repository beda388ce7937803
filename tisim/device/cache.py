"""Where tisim keeps what it made once: kernels, machine code, convex parts."""

import contextlib
import os
import pathlib
import time

STALE = 60  # s: Taichi holds the lock of its cache for a moment only, seconds where it writes much


def folder():
    """TISIM_CACHE, or `tisim` in the user's folder of caches."""
    return pathlib.Path(
        os.environ.get("TISIM_CACHE")
        or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tisim")
    )


def reachable(path):
    """Whether one can ask for files in a folder, be it there or not: where not, Taichi raises an error of its own when
    it starts, also where it is to keep nothing."""
    try:
        os.stat(os.path.join(path, "ticache.tcb"))
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return True


def unlock(path):
    """Takes away the lock of Taichi's cache in a folder that a process left which was killed: else each later one warns
    of it and keeps nothing."""
    lock = pathlib.Path(path, "ticache.lock")
    with contextlib.suppress(OSError):
        if time.time() - lock.stat().st_mtime > STALE:
            lock.unlink()
