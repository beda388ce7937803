"""What a stage did, as rows of the table that machine code works through (program.py): see machine_code.SUPPORT.

A way is a list of notes, of three kinds that their lengths tell apart:

    (Bound, whether in parallel)                        a launch
    (numbers, function, first, n, value)                n numbers of an array of int32 that were written
    (numbers, outside, first, n, limit, answer)         a question: is one of them above a limit
"""

import bisect
import functools

import numpy as np

from . import native

WAYS = 8  # that are kept of a stage: most have one or two
LAUNCH, QUESTION = 2, 6  # lengths of these notes
LEAST, MOST = -(1 << 31), (1 << 31) - 1
STOP = (1 << 64) - 1  # -1
_one = np.ones(1, np.int32)  # it is above 0


class Record:
    """What a stage launched, asked and wrote, in each of the ways that it is known to go: they part at questions.

    ways  the latest one first;  parallel  whether a launch in them is worth waking threads.
    """

    def __init__(self, way, earlier=None):
        """Of a way, and those of an earlier Record where all of them part from it at a question."""
        self.ways, self.parallel = [way], any(note[1] for note in way if len(note) == LAUNCH)
        if earlier and earlier.parallel == self.parallel and all(_part(way, other) for other in earlier.ways):
            self.ways += earlier.ways[: WAYS - 1]
        for what, *_ in way:
            if isinstance(what, native.Bound):
                what.recorded = True

    def knows(self, way):
        """Whether this is one of its ways."""
        return any(len(way) == len(other) and all(map(_same, way, other)) for other in self.ways)

    def launches(self, bound):
        """Whether these kernels are launched in one of its ways."""
        return any(note[0] is bound for way in self.ways for note in way)

    @functools.cached_property
    def rows(self):
        """Rows of a table: a way after the other, each from where it parts from those before it."""
        rows, ends = [], []
        self._contexts = np.zeros((sum(map(len, self.ways)) + len(self.ways), 3), np.uint64)  # rows have their places
        free = iter(self._contexts)

        def call(function, numbers, first, n, a, b=0, other=0):
            context = next(free)
            context[:] = numbers.ctypes.data + 4 * first, n, (a & 0xFFFFFFFF) | (b & 0xFFFFFFFF) << 32
            rows.append([function, context.ctypes.data, other])

        def add(ways, k):
            """Ways that are one up to note k."""
            while k < len(ways[0]):
                what, *rest = ways[0][k]
                k += 1
                if len(rest) == LAUNCH - 1:
                    rows.extend(what.tables[rest[0]].tolist())
                elif len(rest) < QUESTION - 1:
                    function, first, n, value = rest
                    call(function, what, first, n, value)
                else:
                    function, first, n, limit, answer = rest
                    limit = min(limit, MOST - 1)
                    if len({way[k - 1][-1] for way in ways}) == 1:
                        call(function, what, first, n, *((limit + 1, MOST) if answer else (LEAST, limit)), STOP)
                        continue
                    place = len(rows)
                    call(function, what, first, n, LEAST, limit)
                    add([way for way in ways if not way[k - 1][-1]], k)
                    rows[place][2] = len(rows) - place
                    return add([way for way in ways if way[k - 1][-1]], k)
            ends.append(len(rows))
            call(native.road().outside, _one, 0, 1, LEAST, 0)

        add(self.ways, 0)
        rows.pop(ends.pop())  # the last row, which goes on behind itself
        for place in ends:
            rows[place][2] = len(rows) - place
        return np.array(rows, np.uint64).reshape(-1, 3)


def _same(a, b):
    return a[0] is b[0] and a[1:] == b[1:]


def _part(a, b):
    """Whether the first in which two ways differ is the answer to a question."""
    for x, y in zip(a, b):
        if not _same(x, y):
            return len(x) == len(y) == QUESTION and _same(x[:-1], y[:-1])
    return False


class Table:
    """The records of stages, one behind the other; it stops where there is none.

    first  place of each stage's first entry;  length  entries in all.
    """

    def __init__(self, records, stages):
        self.stages, road = stages, native.road()
        stop = Record([(_one, road.outside, 0, 1, 0, False)])
        self._records = [records.get(s, stop) for s in stages]
        parts = [record.rows for record in self._records]
        self._parallel = any(record.parallel for record in self._records)
        self.first = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).tolist()
        self.length, self._rows = self.first[-1], np.concatenate(parts)
        self._call, self._address = road.call, self._rows.ctypes.data

    def call(self, d, place, times):
        """Calls the entries from a place on, until the last one was reached so often, or to a question with an answer
        that no record holds. Returns where it stopped: length * how often the last one was reached + place."""
        return self._call(d, self._parallel, self._address, place, self.length, times)

    def stage_of(self, place):
        """The stage that an entry belongs to."""
        return self.stages.start + bisect.bisect_right(self.first, place) - 1
