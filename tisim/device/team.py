"""How many workers may share the loops of a table of launches (team_code.py) and wait for each other in one of them
(kernels/team.py): as many as have a processor of their own.

What comes out does not depend on it. Two workers on one processor would wait for each other's slices of time, thousands
of times longer than they compute, so there are never more than pinned threads, or threads that are fewer than the
processors, and what a container may use; and where much time went by with waiting, the next tables do without a team.
"""

import contextlib
import os
import pathlib

from . import session

MOST = 32  # places in d.team, and chunks of a parallel loop in machine code
BRIEF, LONG = 10, 160  # calls on one worker after some in which the processors were shared; twice as many each time
SHORT = 3e-4  # seconds; a shorter call tells nothing
LOOK = 6e-9  # seconds that one look of kernels/team.py takes at least
BAD, GOOD, ENOUGH = 3, 1, 8  # what a call adds to the doubt, or takes from it, and how much of it is too much
PATIENCE = 20000  # looks for workers that have not come to a launch: a thread takes 0.1 ms to wake
LINE, LOOKED, FIRST = 32, 1, 2  # of kernels/team.py: numbers of a line; lines
_rest = 0  # calls still to be made on one worker
_doubt = 0  # whether the processors are shared
_next = BRIEF  # calls on one worker the next time


def hands(d):
    """Workers that a launch of this Data can ask for: the threads of Taichi's pool, or the one that has it in hand."""
    return min(MOST, session.threads or os.cpu_count() or 1) if d._hand is None else 1


def workers():
    """How many of them may be in a team now."""
    return 1 if _rest else session.workers


def of(d):
    """The same for the kernels of a Data, which may be one thread's (hands.py)."""
    return workers() if d._hand is None else 1


def rests():
    """Whether calls are made on one worker for want of processors."""
    return _rest > 0


def rest():
    """Counts a call that was made on one worker for want of processors."""
    global _rest
    _rest = max(0, _rest - 1)


def most(places, roaming=0):
    """How many may be in a team at most. places: dict thread -> its processor, of the pinned threads;  roaming: how
    many there are that are fewer than the processors, and not pinned."""
    if len(set(places.values())) < len(places) or _real_time():
        return 1
    return max(1, int(min(MOST, len(places) or roaming, _quota())))


def ask(lines):
    """Before a call. lines: d.team of the Data in question, where kernels note how often they looked in vain."""
    lines[LINE + 1] = 0
    lines[(FIRST + LOOKED) * LINE :: 2 * LINE] = 0


def look(lines, size, seconds, asleep, waited):
    """After a call by so many workers that took so long; asleep, waited: the parts of it before and after the leader's
    work, and in which the leader waited for chunks of loops. Who does 1/size of the work may wait for the rest of the
    time that he would need alone."""
    global _rest, _doubt, _next
    if seconds < SHORT:
        return
    looked = lines[LINE + 1] + lines[(FIRST + LOOKED) * LINE :: 2 * LINE].max()
    bad = asleep + waited + looked * LOOK / seconds > 1 - 1 / size
    _doubt = max(0, _doubt + BAD if bad else _doubt - GOOD)
    if _doubt > ENOUGH:
        _rest, _doubt = _next, ENOUGH - 1  # the next bad one is enough again
        _next = min(2 * _next, LONG)
    elif _doubt == 0:
        _next = BRIEF  # what disturbed is gone


def spins(team):
    """How often each worker of the last launch looked in vain, from d.team."""
    return team[(FIRST + LOOKED) * LINE :: 2 * LINE][: int(team[LINE])]


def _real_time():
    """Whether this process runs before all others: its workers would not let those of another have their processor."""
    with contextlib.suppress(OSError, AttributeError):
        return os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)
    return False


def _quota():
    """Processors that the container or service may use at a time, infinite where there is no such limit."""
    found = float("inf")
    root = pathlib.Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            folder = root / "cpu" if "cpu" in kinds.split(",") else root
            if kinds and folder == root:
                continue
            at = folder / path.lstrip("/")
            for folder in (at, *at.parents):
                if folder.is_relative_to(root):
                    found = min(found, _limit(folder))
    return found


def _limit(folder):
    """The limit of one group of processes."""
    with contextlib.suppress(OSError, ValueError):
        time, period = (folder / "cpu.max").read_text().split()
        return int(time) / int(period)
    with contextlib.suppress(OSError, ValueError):
        time, period = (int((folder / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
        return time / period if time > 0 else float("inf")
    return float("inf")


def _forked():
    """A child has no threads but its own."""
    session.workers = 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
