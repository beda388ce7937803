"""Fixtures of several test files; the backend of tests that leave it open: the CPU, unless TISIM_ARCH says another."""

import os

import pytest
from shared.command_line import call

os.environ.setdefault("TISIM_ARCH", "cpu")


@pytest.fixture(autouse=True, scope="module")
def start_as_usual():
    """A file of tests leaves tisim as it would start: with the precision and the threads of the defaults."""
    yield
    from tisim.device import session

    if session.generation:
        import tisim

        tisim.init()


__all__ = ["call", "start_as_usual"]
