"""Gravity compensation as it acts: MuJoCo 3.4.0 looks whether some body has one above 0, else none has any."""

import numpy as np

from .declare import Table, declared

READS = ("body_gravcomp",)


def acts(m):
    """Whether weights are compensated; as in MuJoCo not, where all that is given adds to them."""
    return bool(np.any(np.asarray(m.body_gravcomp) > 0))


def body_compensation(m):
    """(nbody,) part of each body's weight that is compensated."""
    given = np.asarray(m.body_gravcomp)
    return given if acts(m) else 0.0 * given


# for device_model.DERIVED
TABLES = declared(
    Table(
        "body_compensation", "f", ("nbody",), body_compensation, READS, "part of a body's weight that is compensated"
    ),
)
