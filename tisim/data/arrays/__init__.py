"""Every array of a Data, declared once: allocation, access, copying, reset, saving and printing follow this list.

`shape` counts one world, and an array has nworld times that many elements, world by world, unless its first dimension
says that all worlds share it: a name in `CAPACITIES` is a list that grows, one in `LENGTHS` has a length that its stage
sets by `Data.scratch`, and `ALL` means one row. The arrays of a Model are declared in tisim/model/fields.py, the tables
made from them in tisim/model/device_model.py, the numbers that kernels ask for in tisim/data/scalars.py.
"""

import itertools

from ..declare import LENGTHS, Array
from . import collision, dynamics, islands, lcp, pictures, rows, sensors, solver

# indices into `counts`; a count may exceed its capacity, then nothing was written beyond it and the stage is redone
COUNTS = dict(ncpair=0, nslot=1, ncon=2, nrow=3, nefc=4, nisland=5, nJ=6, ndense=7,
              ntblk=9, ncblk=10, nrblk=11, nsmall=12, nlarge=13, nentry=14, nraykey=18,
              nmid=19, nout=20, nY=21, npart=22, nislandtree=23, nislandcon=24, nislandrow=25, groupsize=26, nbad=27,
              nstale=40, nwritten=41, nwhole=42, nallbox=43, nlivestale=44, nwoken=45, nlive=46, ntawake=47, nbawake=48,
              noawake=49, nvawake=50, nqawake=51, nlawake=52, nfawake=53, nboxawake=54, nslept=55,
              nacted=56, nchanged=57, nlcp=58, nlcpwant=59,
              nlcpslept=60, nlcpstale=61)  # fmt: skip

ROLES = "state", "input", "computed", "scratch", "stage"


def _declared(*tables):
    """{name: Array} of (name, dtype, shape, unit, stage, meaning), perhaps with the numbers of an element, by role."""
    found = {}
    for table, role in itertools.product(tables, ROLES):
        for name, dtype, shape, unit, stage, doc, *element in getattr(table, role.upper(), ()):
            if name in found:
                raise ValueError(f"array {name} is declared twice")
            if shape[0] in LENGTHS and role != "stage":
                raise ValueError(f"array {name} has its stage's length, which resets and copies do not know")
            found[name] = Array(name, dtype, shape, role, unit, stage, doc, *element)
    return found


DATA = _declared(dynamics, sensors, collision, rows, islands, solver, lcp, pictures)
