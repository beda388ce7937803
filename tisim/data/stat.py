"""What was counted or measured of one kind: numbers that users read."""

from tisim.errors import Error


class Stat:
    """Numbers by the names in __slots__. Writing one is refused, as it would be lost; refusals end in `told`."""

    __slots__ = ()
    told = "something is counted"

    def __init__(self, *values):
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __reduce__(self):
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    def __setattr__(self, name, value):
        raise Error(f"the {name} of {self.told}")
