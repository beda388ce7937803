"""Lists that a collapse made long are made shorter when that is long past."""

from tisim.data import asleep
from tisim.device import session

# what is counted in a list, by its length
COUNTED = dict(npairmax=("ncpair", "nentry", "nmid"), nentrymax=("nentry",), nslotmax=("nslot",), nconmax=("ncon",),
               ndensemax=("ndense",))  # fmt: skip
SEARCHES = 8  # for pairs, after which lists are cut to what was needed at them


class Shrinker:
    """How long the lists of collision were when it searched for pairs. What is cut grows again where it has to, and
    keeps that length.

    They are not where some trees sleep, whose contacts are not counted, on a GPU, which would be waited for, or where
    the user set limits: an error then leaves the contacts that there were.
    """

    def __init__(self):
        self._most = dict.fromkeys(COUNTED, 0)
        self._searches = 0

    def shrink(self, m, d):
        """Before a search; whether a list was cut, whose contents are lost."""
        if session.arch != "cpu" or m.capacity_limit or asleep.listed(m) and d.count("ntawake") < d.nworld * m.ntree:
            self._searches = 0
            return False
        for name, counts in COUNTED.items():
            most = max(map(d.count, counts))
            self._most[name] = max(most, self._most[name]) if self._searches else most
        self._searches += 1
        if self._searches < SEARCHES:
            return False
        self._searches = 0
        return any([d.shrink(name, most) for name, most in self._most.items()])
