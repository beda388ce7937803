"""Python's search for garbage, put off while objects are made that stay."""

import contextlib
import gc


@contextlib.contextmanager
def collected_later():
    """Importing and compiling make a hundred thousand objects; looking through them again and again takes a tenth."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
