"""What users hand to a function as (m, d): looked at first, so that a mistake is told in their words."""

from tisim.errors import Error


def check(m, d):
    """Raises Error unless m is a Model and d a Data of it."""
    if m is not None and getattr(d, "model", None) is m and "program" in d.__dict__:  # which a World has not
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
    raise Error("this Data was made from another Model")


def model(m):
    """Raises Error unless m is a Model."""
    from tisim.model.model import Model

    if not isinstance(m, Model):
        raise Error(f"expected a tisim.Model, got {_words(m)}")


def _words(value):
    if type(value).__module__.startswith("mujoco"):
        return f"a mujoco.{type(value).__name__}; tisim.Model.from_mujoco(...) makes a Model of an MjModel"
    return f"a {type(value).__name__}" if value is not None else "None"
