"""Where trees with joints in worlds that are alike are worked on four side by side."""

from tisim.data import asleep
from tisim.device import session


def some(m, d):
    """Whether there are such trees. On a GPU a thread has one lane."""
    return session.arch == "cpu" and d.nworld > 1 and bool((m.derived("tree_free") == 0).any())


def in_loops(m, d):
    """Whether loops over trees take four worlds at a time: not where they go over lists of what is awake."""
    return some(m, d) and not asleep.listed(m)
