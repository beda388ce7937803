"""How what has named fields prints: a line for each, by name, as mujoco prints its own."""

import numpy as np

INDENT = 2


def listing(head, fields):
    """Text of (name, value) pairs."""
    lines = [f"{name}: {_text(value)}" for name, value in sorted(fields, key=lambda field: field[0])]
    return "\n".join([f"<{head}", *(" " * INDENT + line for line in lines), ">"])


def _text(value):
    if isinstance(value, np.ndarray):
        value = np.asarray(value)  # of a subclass, too
    return repr(value).replace("\n", "\n" + " " * INDENT)
