"""Copies of a Data, in this process or another: all that users see and what a step goes on from.

What stages keep for themselves is left out: they make it anew, and results do not depend on it.
"""

import numpy as np

from tisim.device import memory

from . import asleep, impulses, varied
from .arrays import DATA

# what is written while an option says so
FILLED = ("energy", "medium", "dual", "inverse", impulses.HELD, impulses.LAST)


def contents(d):
    """What a copy is made of: numbers, and the arrays by name."""
    d.device("counts")  # refuses a Data of an earlier tisim.init
    d.pay()
    made = {name: a for name, a in d._device.items() if DATA[name].role != "stage" and not d._overlay.takes(name)}
    return dict(
        nworld=d.nworld, faults=d.faults, capacity=dict(d._capacity),
        filled=[word for word in FILLED if d._info.get(word)],
        varied={name: np.array(values) for name, values in d._varied.items()},
        arrays={name: memory.download(a)[: a.length] for name, a in made.items()},
    )  # fmt: skip


def restored(m, contents):
    """A Data of m with these contents."""
    from .data import Data

    d = Data(m, contents["nworld"])
    d._capacity.update(contents["capacity"])
    d.faults = contents["faults"]
    d._info.update(dict.fromkeys(contents["filled"], True))
    if contents["varied"]:
        varied.put(d, contents["varied"])
    for name, values in contents["arrays"].items():
        a = d.device(name)
        if a.length == values.size:
            memory.upload(a, values.astype(memory.number_type(a), copy=False))
    asleep.take(m, contents["arrays"].get("tree_asleep", ()))
    d.forget_counts()
    asleep.stale(d)
    impulses.unite(d)  # with the flag off no step of the copy would
    return d
