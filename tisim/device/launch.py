"""The only file that launches kernels: arguments are bound by name, and a sequence of kernels is bound as a whole.

A stage is written as `run(m, d, [kernel, kernel])`: which arrays and numbers a kernel takes is found from its source
(bundle.py). A sequence takes one of two roads: machine code from disk (native.py) or Taichi's launcher (plain.py);
on CUDA, if asked for, the driver's own (own.py).
"""

import warnings

from . import flow, garbage, machine_code, memory, native, own, plain, session, variant
from .clock import PYTHON
from .fingerprint import Unknown
from .machine_code import Unsupported

_sequences = {}


def run(m, d, kernels, parallel=True, now=None, **scalars):
    """Runs kernels in order; arrays come from d and m by name, numbers from the call, d or m.

    parallel  False for scenes whose work is less than waking the threads costs.
    now       the same for this time only, if not None: where it is repeated the threads may be awake already.
    scalars   the numbers that tisim/data/scalars.py declares as passed; those that no kernel here asks for are left.
    Raises Error for a number that is not declared, or that is missing.
    """
    d.pay()
    clock = d.program.clock
    if clock.running:
        if len(kernels) > 1:  # each on its own, so that its time is known
            for kernel in kernels:
                run(m, d, [kernel], parallel, now, **scalars)
            return
        clock.tick(PYTHON)
    bound = _bound(m, d, kernels)
    bound.run(d, m.numbers_version(), parallel if now is None else now, scalars)
    d.program.launched(bound, parallel and d._hand is None)
    if clock.running:
        d.program.tick(kernels[0].path or kernels[0].__name__)


def note(m, d, kernels, parallel=True, **scalars):
    """Lets the Data's program repeat this launch, which is not made now: another has done the same."""
    if d.program.clock.running:
        return d.program.spoil()
    bound = _bound(m, d, kernels)
    if isinstance(bound, native.Bound):
        bound.ready(d, m.numbers_version(), scalars)
    d.program.launched(bound, parallel and d._hand is None)


def _bound(m, d, kernels):
    """The kernels with the arrays of a Data."""
    key = tuple(map(id, kernels))
    bound = d.bound(m, key)  # first of all: it refuses a Data whose Taichi is gone, and the kernels with it
    if bound is None:
        bound = _sequence(kernels, d.features()).bind(d)
        d.keep_bound(key, bound)
    return bound


def _sequence(kernels, has):
    """The Sequence of these kernels, by machine code if there is some for each of them."""
    key = (*map(id, kernels), has)
    if key not in _sequences:
        with session.compiler, garbage.collected_later():
            _sequences[key] = _made(kernels, has)
    return _sequences[key]


def _made(kernels, has):
    road = native.road() or own.road()
    try:
        made = plain.Sequence(kernels, has)
        if road:
            made = (own if road is own.road() else native).Sequence(road, kernels, has)
        return made
    except (Unsupported, Unknown) as e:
        names = ", ".join(k.__name__ for k in kernels)
        road.plain[names] = str(e)
        if isinstance(e, Unsupported) and road is native.road() and machine_code.available():
            warnings.warn(f"{names}: no machine code, each process compiles it anew: {e}", RuntimeWarning, 3)
        return plain.Sequence(kernels, has)


def forget():
    """Lets go of all sequences and arrays, before Taichi is started again."""
    _sequences.clear()
    native.forget()
    variant.forget()
    flow.forget()
    memory.forget()
