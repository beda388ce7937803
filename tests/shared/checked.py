"""Stepping with every rule of tisim.data.validate checked after each step."""

import tisim
from tisim.data.validate import validate


def step(m, d, nstep=1):
    """tisim.step, and validate() after each step."""
    for _ in range(nstep):
        tisim.step(m, d)
        validate(m, d)
