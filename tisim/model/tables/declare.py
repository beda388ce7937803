"""How a table is declared that kernels read and that is made from a model's arrays."""

import dataclasses
import math
from typing import Callable


@dataclasses.dataclass(frozen=True)
class Table:
    """One table: name, dtype as in tisim/data/declare.py, shape in sizes, maker (of a model), arrays that users may
    write, meaning.

    dtype  None: kernels do not read it, other tables are made from it.
    reads  the arrays whose change makes it anew; what it reads besides does not change in a model.
    """

    name: str
    dtype: str
    shape: tuple
    make: Callable
    reads: tuple
    doc: str

    @property
    def width(self):
        """Numbers of an element, as kernels see it."""
        return self.shape[-1] if len(self.shape) > 1 else 1

    @property
    def rows(self):
        """Elements of one item."""
        return math.prod(self.shape[1:-1])


def declared(*tables):
    """dict name -> Table."""
    return {t.name: t for t in tables}
