"""Fixtures of several test files."""

from shared.command_line import call

__all__ = ["call"]
