"""How a rule of tisim/model/validate.py is declared, and how it names the place where it is broken."""

import numpy as np


def rule(names):
    """Makes of a function of (dict of arrays, sizes) that returns a text or None a pair (names it reads, function)."""
    return lambda function: (tuple(names.split()), function)


def wrong_at(name, array, ok, expected):
    """A text that names the first row that is not `ok` (n, ...), or None where all are."""
    if ok.all():
        return None
    place = tuple(int(i) for i in np.argwhere(~ok)[0])
    return f"{name}[{', '.join(map(str, place))}] is {np.asarray(array)[place]}, expected {expected}"


def tiles(a, adr, num, total):
    """What is wrong with runs that should follow each other and fill `total` rows, or None; empty ones lie anywhere."""
    number = a[num].astype(np.int64)
    if found := wrong_at(num, a[num], number >= 0, "a number, not negative"):
        return found
    end = np.cumsum(number)
    if found := wrong_at(adr, a[adr], (a[adr] == end - number) | (number == 0), "the end of the one before"):
        return found
    if (end[-1] if len(end) else 0) != total:
        return f"{num} adds up to {end[-1] if len(end) else 0}, expected {total}"
    return None
