"""A disk that is full."""

import contextlib
import resource
import signal


@contextlib.contextmanager
def full_disk():
    """Gives a function by which no file becomes longer than this, as on a full disk, until the block ends."""
    unlimited, old = resource.RLIM_INFINITY, signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, unlimited))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
        signal.signal(signal.SIGXFSZ, old)
