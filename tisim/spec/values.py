"""Python values as typed attributes of MJCF, and back: what tisim.Spec reads and writes."""

import re
import sys

import numpy as np

from tisim import enums as e
from tisim.enums.members import integer
from tisim.errors import brief

# keyword kinds whose values read as members of an enum
ENUMS = {
    "joint": e.mjtJoint, "geom": e.mjtGeom, "camlight": e.mjtCamLight, "light": e.mjtLightType, "texture": e.mjtTexture,
    "dyn": e.mjtDyn, "gain": e.mjtGain, "bias": e.mjtBias, "sleep": e.mjtSleepPolicy,
}  # fmt: skip
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def typed(attribute, value):
    """The typed value of an attribute for a Python value: text as in MJCF, number, sequence, array, bool or enum.

    attribute  an Attribute of the grammar. Raises ValueError that says what was expected.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0 or isinstance(value, np.generic):
        value = value.item()
    if attribute.kind in ("", "text") and not isinstance(value, str):
        found = getattr(value, "name", None)  # an element may stand for its name
        if not isinstance(found, str) or isinstance(value, e.IntEnum):
            raise ValueError(f"expected a text or an element with a name, found {brief(value)}")
        if not found:
            raise ValueError("the element has no name; give it one first")
        value = found
    if isinstance(value, str):
        if bad := _UNWRITABLE.search(value):
            raise ValueError(f"the character {bad[0]!r} cannot stand in XML")
        if attribute.numeric and not value.strip():
            raise ValueError("expected numbers, found an empty text")
        return attribute.convert(value)
    if attribute.words:
        value = integer(value)
        if isinstance(value, (int, float)) and value in attribute.words.values():
            return int(value)
        words = ", ".join(f"{word} ({int(known)})" for word, known in attribute.words.items())
        raise ValueError(f"expected one of {words}, found {brief(value)}")
    return attribute.convert(_text(value))


def _text(value):
    """Numbers as the text that MJCF would hold, so that one converter checks both."""
    if isinstance(value, (bool, int)):
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub" and array.size:
            raise ValueError
        if array.dtype.kind == "f":
            array = array.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"expected numbers, found {brief(value)}") from None
    whole = array.dtype.kind in "iub"
    return " ".join(str(int(v)) if whole else repr(v) for v in array.ravel().tolist())


class Vector(np.ndarray):
    """Numbers of an attribute: writing a part of them, as in geom.pos[2] = 1, sets the attribute."""

    _write = None

    def __new__(cls, values, write):
        vector = np.array(values, float).view(cls)
        vector._write = write
        return vector

    def __array_finalize__(self, other):
        self._write = None  # slices and results are plain arrays

    def __setitem__(self, index, value):
        super().__setitem__(index, value)
        if self._write:
            self._write(np.array(self))


def readable(attribute, value, write):
    """What Python reads for a typed value: enums, bools and Vectors, None where there is none.

    write  called with the new numbers when a part of a Vector is written.
    """
    if value is None:
        return "" if attribute.kind in ("", "text") else None
    if attribute.words:
        kind = attribute.kind[1:]
        return bool(value) if kind in ("bool", "enable") else ENUMS.get(kind, int)(value)
    if isinstance(value, (list, tuple)):
        return np.array(value, np.int32) if attribute.kind.startswith("int") else Vector(value, write)
    return value


def caller():
    """(file, line) of the code outside this package that called it: where an error of the specification belongs."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "tisim":
        frame = frame.f_back
    return ("<python>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
