"""Python's search for garbage, put off while objects are made that stay, and once only at the end of the process;
what Taichi compiled is written to its cache then.
"""

import atexit
import contextlib
import functools
import gc
import sys


@contextlib.contextmanager
def unsearched():
    """Within it Python does not look for garbage: of a model's million elements it would look through all again and
    again, half of the time that they take."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield running
    finally:
        if running:
            gc.enable()


@contextlib.contextmanager
def collected_later():
    """Importing and compiling make a hundred thousand objects; looking through them again and again takes a tenth.

    At the end they are old objects, which Python looks through seldom.
    """
    with unsearched() as running:
        try:
            yield
        finally:
            if running and not gc.get_freeze_count():
                gc.freeze()  # takes them all out of the young generations,
                gc.unfreeze()  # and puts them into the oldest


@functools.cache
def leave_quickly():
    """When the process ends, garbage is collected once more; what is in use then is let go, but not searched again.

    Python searches three times more while it takes its modules apart, for 0.3 s after a step of any scene. Taichi
    writes kernels to its cache when its program is let go, which then never happens: it is told to.
    """
    atexit.register(_last)


def _last():
    gc.collect()
    gc.freeze()
    from . import native

    if native.road() is None:  # machine code has a cache of its own
        ti = sys.modules["taichi"]
        ti.set_logging_level(ti.ERROR)  # another process may be writing
        ti.lang.impl.get_runtime().clear()
