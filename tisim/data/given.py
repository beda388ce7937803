"""What users hand to a function as (m, d): looked at first, so that a mistake is told in their words."""

import numpy as np

from tisim.errors import Error, brief

OTHER = (
    "this Data was made from another Model, be it a copy: make one by tisim.Data(m), to which tisim.set_state takes a "
    "state, or copy the two at once, m, d = copy.deepcopy((m, d))"
)


def check(m, d):
    """Raises Error unless m is a Model and d a Data of it."""
    of_it = m is not None and getattr(d, "model", None) is m
    if of_it and "program" in getattr(d, "__dict__", ()):  # which neither a World has nor an MjData
        return
    from tisim.model.model import Model

    from .data import Data
    from .world import World

    if isinstance(m, Data) and isinstance(d, Model):
        raise Error("the Model comes first, then the Data: f(m, d), here they are swapped")
    if isinstance(d, World):
        raise Error(f"the second argument is a tisim.Data, got its world {d.index}: functions take all worlds, w.data")
    for what, value, kind in (("first", m, Model), ("second", d, Data)):
        if not isinstance(value, kind):
            raise Error(f"the {what} argument is a tisim.{kind.__name__}, got {_words(value)}")
    raise Error(OTHER)


def model(m):
    """Raises Error unless m is a Model."""
    from tisim.model.model import Model

    if not isinstance(m, Model):
        raise Error(f"expected a tisim.Model, got {_words(m)}")


def bodies(m, bodies):
    """(n,) ids of bodies, given as ids or names, or one of them. Raises Error for what is neither or does not exist."""
    try:
        rows = np.atleast_1d(bodies).tolist() if isinstance(bodies, np.ndarray) else bodies
        listed = [bodies] if _is_body(bodies) else list(rows)
    except TypeError:
        listed = None
    if listed is None or isinstance(bodies, (bytes, bytearray)) or not all(map(_is_body, listed)):
        raise Error(f"bodies: expected ids or names of bodies, got {brief(bodies)}")
    ids = [m.name2id("body", b) if isinstance(b, str) else int(b) for b in listed]
    for b in ids:
        if not 0 <= b < m.nbody:
            raise Error(f"body {b} does not exist: the model has {m.nbody}")
    return np.array(ids, np.int64)


def _is_body(b):
    return isinstance(b, (str, int, np.integer)) and not isinstance(b, bool)


def _words(value):
    if type(value).__module__.startswith("mujoco"):
        return f"a mujoco.{type(value).__name__}; tisim.Model.from_mujoco(...) makes a Model of an MjModel"
    return f"a {type(value).__name__}" if value is not None else "None"
