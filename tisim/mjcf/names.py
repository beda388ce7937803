"""Names that a user may have misspelt."""

import difflib


def nearest(name, names):
    """ " (did you mean ...?)" for a wrong name, or "" where nothing is near."""
    near = difflib.get_close_matches(str(name), [n for n in list(names)[:20000] if n], 3)
    return f" (did you mean {' or '.join(repr(n) for n in near)}?)" if near else ""
