"""Python's search for garbage, put off while objects are made by the thousands that stay: it would look through all of
them again and again, half of the time where a model has a million elements."""

import contextlib
import gc


@contextlib.contextmanager
def unsearched():
    """Within it nothing searches for garbage."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
