"""Attributes of MJCF: their kinds (see grammar.py), the words of keywords, and how text becomes a value and back."""

import math

from tisim import enums as e


def _words(*names):
    return {name: i for i, name in enumerate(names)}


KEYWORDS = {
    "bool": _words("false", "true"),
    "tri": _words("false", "true", "auto"),
    "enable": _words("disable", "enable"),
    "angle": _words("radian", "degree"),
    "coordinate": _words("local", "global"),
    "cone": _words("pyramidal", "elliptic"),
    "integrator": {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3},
    "jacobian": _words("dense", "sparse", "auto"),
    "solver": _words("PGS", "CG", "Newton"),
    "lrmode": _words("none", "muscle", "muscleuser", "all"),
    "joint": _words("free", "ball", "slide", "hinge"),
    "geom": _words("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"),
    "fluid": _words("none", "ellipsoid"),
    "sleep": {
        "auto": e.mjtSleepPolicy.mjSLEEP_AUTO,
        "never": e.mjtSleepPolicy.mjSLEEP_NEVER,
        "allowed": e.mjtSleepPolicy.mjSLEEP_ALLOWED,
        "init": e.mjtSleepPolicy.mjSLEEP_INIT,
    },
    "camlight": _words("fixed", "track", "trackcom", "targetbody", "targetbodycom"),
    "light": _words("spot", "directional", "point", "image"),
    "texture": {"2d": 0, "cube": 1, "skybox": 2},
    "texrole": _words(
        "user", "rgb", "occlusion", "roughness", "metallic", "normal", "opacity", "emissive", "rgba", "orm"
    ),
    "builtin": _words("none", "gradient", "checker", "flat"),
    "mark": _words("none", "edge", "cross", "random"),
    "colorspace": {"auto": 0, "linear": 1, "sRGB": 2},
    "meshinertia": _words("convex", "exact", "legacy", "shell"),
    "meshbuiltin": _words("none", "sphere", "hemisphere", "cone", "supersphere", "supertorus", "wedge", "plate"),
    "dyn": _words("none", "integrator", "filter", "filterexact", "muscle", "user"),
    "gain": _words("fixed", "affine", "muscle", "user"),
    "bias": _words("none", "affine", "muscle", "user"),
    "objtype": {kind.name[6:].lower(): int(kind) for kind in e.mjtObj if 0 < kind < e.mjtObj.mjNOBJECT},
    "stage": _words("none", "pos", "vel", "acc"),
    "datatype": _words("real", "positive", "axis", "quaternion"),
    "reduce": _words("none", "mindist", "maxforce", "netforce"),
}


def _numbers(low, high):
    if low == high:
        expected = "one number" if low == 1 else f"{low} numbers"
    else:
        expected = f"{low} to {high} numbers" if high < math.inf else "numbers"

    def convert(text):
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            raise ValueError(f"expected {expected}, found '{_short(text)}'") from None
        if "_" in text or not text.isascii() or not all(map(math.isfinite, values)):
            raise ValueError(f"expected {expected}, each finite, found '{_short(text)}'")
        if not low <= len(values) <= high:
            raise ValueError(f"expected {expected}, found {len(values)}")
        return values[0] if high == 1 else values

    return convert


def _integers(low, high):
    expected = "an integer" if high == 1 else "integers" if high == math.inf else f"{low} integers"

    def convert(text):
        try:
            values = [int(word) for word in text.split()]
        except ValueError:
            values = None
        if (
            values is None
            or "_" in text
            or not text.isascii()
            or not low <= len(values) <= high
            or any(not -(2**31) <= v < 2**31 for v in values)
        ):
            raise ValueError(f"expected {expected}, found '{_short(text)}'")
        return values[0] if high == 1 else values

    return convert


def _keyword(words):
    def convert(text):
        if text not in words:
            raise ValueError(f"expected one of {', '.join(words)}, found '{_short(text)}'")
        return words[text]

    return convert


def _text(text):
    return text


def _short(text):
    return text if len(text) <= 40 else text[:37] + "..."


class Attribute:
    """One attribute: convert(text) -> typed value (ValueError says what was expected), required.

    partial  True where fewer numbers than the full length may be given;  numeric  True for real numbers and pairs,
    which an empty text leaves at their default, as in MuJoCo;  words  dict word -> value of a keyword, else None;
    kind  as in grammar.py.
    """

    __slots__ = ("convert", "kind", "required", "partial", "numeric", "words")

    def __init__(self, kind):
        self.required = kind.endswith("!")
        self.kind = kind = kind.rstrip("!")
        self.numeric = kind == "int2" or (kind != "" and kind[0] in ".*0123456789")
        self.partial = kind.startswith("..")
        self.words = KEYWORDS[kind[1:]] if kind.startswith("=") else None
        if kind in ("", "text"):
            self.convert = _text
        elif self.words:
            self.convert = _keyword(self.words)
        elif kind.startswith("int"):
            self.convert = _integers(*{"int": (1, 1), "int2": (2, 2), "ints": (0, math.inf)}[kind])
        elif kind == "*":
            self.convert = _numbers(0, math.inf)
        else:
            n = int(kind.lstrip("."))
            self.convert = _numbers(1 if self.partial else n, n)

    def text(self, value):
        """The text that `convert` turns into exactly this typed value."""
        if isinstance(value, str):
            return value
        if self.words:
            return next(word for word, known in self.words.items() if known == value)
        values = value if isinstance(value, (list, tuple)) else [value]
        return " ".join(map(_number, values))


def _number(value):
    """The shortest text of a number that reads back exactly."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text
