"""Members of enums of another module, as mujoco's, which are no integers themselves."""

import operator


def integer(value):
    """The integer that a member of another module's enum stands for; all else as it is."""
    if isinstance(value, int) or hasattr(value, "dtype") or not hasattr(type(value), "__index__"):
        return value
    return operator.index(value)
