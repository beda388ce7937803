"""Where tisim keeps what it made once: kernels, machine code, convex parts."""

import os
import pathlib


def folder():
    """TISIM_CACHE, or `tisim` in the user's folder of caches."""
    return pathlib.Path(
        os.environ.get("TISIM_CACHE")
        or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tisim")
    )
