"""Members of enums of another module, as mujoco's, which are no integers themselves."""

import operator

import numpy as np


def integer(value):
    """The integer that a member of another module's enum stands for; all else as it is."""
    if isinstance(value, int) or hasattr(value, "dtype") or not hasattr(type(value), "__index__"):
        return value
    return operator.index(value)


def integers(value):
    """Members of such enums, or lists of them, as an array of integers; None for all else."""
    try:
        a = np.asarray(value, object)
        return np.array([operator.index(x) for x in a.flat], np.int64).reshape(a.shape)
    except (TypeError, ValueError, OverflowError):
        return None
