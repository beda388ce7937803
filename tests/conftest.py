"""Fixtures of several test files; the backend of tests that leave it open: the CPU, unless TISIM_ARCH says another."""

import os

from shared.command_line import call

os.environ.setdefault("TISIM_ARCH", "cpu")

__all__ = ["call"]
