"""The command line."""

from tisim.device import garbage

with garbage.collected_later():
    from .app import main

__all__ = ["main"]
