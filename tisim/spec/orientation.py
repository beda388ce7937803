"""`alt` of an element: its orientation in other words than a quaternion, as in mujoco.MjSpec."""

from tisim.enums import mjtOrientation
from tisim.errors import Error, FieldError, brief

from .values import Vector

LENGTHS = dict(quat=4, axisangle=4, xyaxes=6, zaxis=3, euler=3)
_TYPES = {mjtOrientation[f"mjORIENTATION_{name.upper()}"]: name for name in LENGTHS}


class Orientation:
    """Euler angles and the like of an element: alt.euler = [0, 0, 90] is element.euler = [0, 0, 90].

    What was written last holds. type tells which it is, an mjtOrientation; to write it chooses one, of zeros if that
    is not the one that holds.
    """

    __slots__ = ("_element",)

    def __init__(self, element):
        object.__setattr__(self, "_element", element)

    def __dir__(self):
        return ["type", *list(LENGTHS)[1:]]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "type":
            return next(kind for kind, word in _TYPES.items() if word == self._held())
        value = getattr(self._element, self._known(name))
        return Vector([0.0] * LENGTHS[name], lambda v: setattr(self, name, v)) if value is None else value

    def __setattr__(self, name, value):
        if name != "type":
            setattr(self._element, self._known(name), value)
            return
        if value not in _TYPES:
            raise Error(f"expected an mjtOrientation, found {brief(value)}")
        held, word = self._held(), _TYPES[value]
        if word != held:
            self._element._set(held, None)
            if word != "quat":
                self._element._set(word, [0.0] * LENGTHS[word])

    def _held(self):
        own = self._element._node.attrib
        return next((word for word in LENGTHS if word in own), "quat")

    def _known(self, name):
        if name not in dir(self):
            raise FieldError(f"'alt' has no attribute '{name}'; it has {', '.join(dir(self))}")
        return name
