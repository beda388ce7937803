"""Whether this machine's memory holds what steps of so many worlds need, asked before any of it is filled."""

import numpy as np

from tisim.device import flow, memory, session
from tisim.errors import CapacityError

from .arrays import DATA
from .declare import LENGTHS
from .overlay import STAGE_OF

MANY = 1000  # worlds from which the question is worth its time


def check(m, d, kernels):
    """Raises CapacityError where the arrays of these kernels, lists at their present lengths, are more than there is
    room for. Scratch that shares memory or whose length a stage sets is not counted: it is the least that is needed."""
    if d.nworld < MANY:
        return
    names = {path.partition(".")[2] for kernel in kernels for path in flow.flow(kernel.function, m.features()).paths}
    own = [DATA[n] for n in names if n in DATA and n not in STAGE_OF and DATA[n].shape[0] not in LENGTHS]
    numbers = {a: a.size(d._size_of) * (1 if a.is_shared else d.nworld) for a in own}
    needed = sum(n * (np.dtype(session.numpy_type(a.dtype)).itemsize) for a, n in numbers.items())
    if needed > memory.most_bytes():
        raise CapacityError(
            f"steps of {d.nworld} worlds need {needed / 2**30:.1f} GiB or more: more than this machine has"
        )
