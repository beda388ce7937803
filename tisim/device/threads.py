"""Processors of this process, and Taichi's CPU threads, each kept on one of its own.

A scheduler that wakes two threads may queue them on one processor and move the second only at the next tick, a
millisecond later: longer than most parallel loops take. Measured with two processors, a loop of 0.4 ms of work takes
0.56 ms where the threads may go anywhere, no less than on one thread, and 0.30 ms where each has its place.
"""

import os


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def running():
    """Ids of the threads of this process, oldest first; empty where the system does not tell."""
    try:
        return sorted(map(int, os.listdir("/proc/self/task")))
    except OSError:
        return []


def pin(before, threads):
    """Gives each of Taichi's threads a processor; returns dict thread id -> processor.

    before   what running() told before Taichi was started: its CPU threads are the last ones it starts.
    threads  how many there are, None for one per processor. Fewer than the process may use stay free to move, since
             another process with as few would choose the same processors. TISIM_PIN=0 leaves all of them free.
    """
    if not _allowed():
        return {}
    processors = sorted(os.sched_getaffinity(0))
    workers = [t for t in running() if t not in set(before)][-len(processors) :]
    if len(processors) < 2 or len(workers) < len(processors) or threads not in (None, len(processors)):
        return {}
    places = dict(zip(workers, processors))
    try:
        for thread, processor in places.items():
            os.sched_setaffinity(thread, {processor})
    except OSError:  # some systems do not allow it; all works without
        return {}
    return places


def roaming(threads):
    """How many threads share out more processors than they are, each of which finds one of its own; 0 where they are
    pinned or may not be."""
    return threads if threads and _allowed() and threads < len(os.sched_getaffinity(0)) else 0


def _allowed():
    return hasattr(os, "sched_setaffinity") and os.environ.get("TISIM_PIN", "1") not in ("", "0")
