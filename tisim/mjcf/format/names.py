"""Names that a user may have misspelt."""

import difflib
import os

MAX_NAMES, COMPARED = 20_000, 300  # names looked at, and those that are compared letter by letter


def nearest(name, names):
    """ " (did you mean ...?)" for a wrong name, or "" where nothing is near."""
    name, names = str(name), [n for n in list(names)[:MAX_NAMES] if n]
    if len(name) > 200:
        return ""
    if len(names) > COMPARED:  # those that begin or end most like it

        def alike(other):
            ends = os.path.commonprefix((name, other)), os.path.commonprefix((name[::-1], other[::-1]))
            return sum(map(len, ends)) - abs(len(name) - len(other))

        names = sorted(names, key=alike, reverse=True)[:COMPARED]
    near = difflib.get_close_matches(name, [n for n in names if len(n) <= 2 * len(name) + 10], 3)
    return f" (did you mean {' or '.join(repr(n) for n in near)}?)" if near else ""
