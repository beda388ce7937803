"""Copies of a function in which some of its module's names mean something else: variants compiled from one source."""

import types


def specialise(function, name=None, **names):
    """A copy of the function that finds `names` where it looks up globals."""
    made = types.FunctionType(
        function.__code__, dict(function.__globals__, **names), name or function.__name__, closure=function.__closure__
    )
    made.__annotations__ = function.__annotations__
    made.__qualname__ = made.__name__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    return made
