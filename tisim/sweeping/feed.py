"""Which case is next, and what becomes of those whose worker died."""

import collections

SECONDS = 0.5  # that a group of cases is to take: short beside what is lost with a worker, long beside its way there


class Feed:
    """Cases to be done, in groups.  retries  how often a case may lose its worker before it is given up."""

    def __init__(self, cases, retries):
        self._todo, self._retries = collections.deque(cases), retries
        self._lost, self._seconds, self._count = {}, 0.0, 0

    def __len__(self):
        return len(self._todo)

    def take(self, workers):
        """The next group, [] where none is left."""
        if not self._todo:
            return []
        each = self._seconds / self._count if self._count else SECONDS
        number = max(1, min(int(SECONDS / max(each, 1e-9)), len(self._todo) // (2 * workers)))
        if self._todo[0].index in self._lost:
            number = 1  # alone, to tell which it was
        group = []
        while self._todo and len(group) < number and (not group or self._todo[0].index not in self._lost):
            group.append(self._todo.popleft())
        return group

    def returned(self, group, seconds):
        """Counts a group that came back, and how long it took."""
        self._seconds, self._count = self._seconds + seconds, self._count + len(group)

    def lost(self, group, why):
        """Takes back a group whose worker died; returns outcomes of those cases that are given up."""
        given_up = []
        for case in reversed(group):
            times = self._lost[case.index] = self._lost.get(case.index, 0) + (len(group) == 1)
            if times > self._retries:
                given_up.append((case.index, None, f"{why}, {times} times"))
            else:
                self._todo.appendleft(case)
        return given_up
