"""Several Data that are advanced at the same time, each by one thread, who meet only when all are done.

Small worlds are quickest where one thread takes a block of them through whole steps: its memory stays in that
processor's cache, and no loop waits for another thread. So who holds many worlds for himself, as an environment or a
rollout does, makes a Data of each block and gives it a hand: `give`. Its machine code then stays on the thread that calls
it, with a runtime of its own (native.py), and `at_once` calls such work by threads who have a processor each.

Python is one thread's at a time: who runs in `at_once` holds `_turn`, but for calls of machine code (`aside`), which let
go of it and of the interpreter's lock. So nothing but kernels has to bear a second thread, and each has arrays of its
own; what they share, the model's arrays, they only read.
"""

import contextlib
import itertools
import os
import threading
from concurrent import futures

from . import session

_turn = threading.Lock()  # whose Python it is
_inside = threading.local()  # held: whether this thread has it
_pool, _stopped = None, False


class Stopped(BaseException):
    """Ends what others do at the same time when an interrupt comes."""


def number():
    """How many threads can be at work at once: one for each of Taichi's that has a processor, on a CPU."""
    from . import native  # which asks for aside

    return session.workers if session.arch == "cpu" and native.road() else 1


def give(d, hand):
    """Lets the work of a new Data be one thread's. Two with the same number are not to be at work at once."""
    d._hand = hand


@contextlib.contextmanager
def aside():
    """While machine code of a Data with a hand runs: others may go on in Python."""
    held = getattr(_inside, "held", False)
    if held:
        _turn.release()
    try:
        yield
    finally:
        if held:
            _turn.acquire()
            if _stopped:
                raise Stopped


def at_once(jobs):
    """Results of functions without arguments, called at the same time where there are threads, else one by one. The
    caller takes the first, on the first processor as long as that takes.

    Raises the first error there was when all have ended. An interrupt lets each end where its machine code next does.
    """
    global _stopped
    if len(jobs) < 2 or number() < 2:
        return [job() for job in jobs]
    places = sorted(usual := os.sched_getaffinity(0))
    pool, error = _threads(places[1:] or places), None
    calls = [pool.submit(_call, job) for job in jobs[1:]]
    try:
        _pin({places[0]})
        found = [_call(jobs[0])]
        futures.wait(calls)
    except Exception as e:
        error = e
    except BaseException:
        _stopped = True
        raise
    finally:
        futures.wait(calls)
        _stopped = False
        _pin(usual)
    if error:
        raise error
    return found + [call.result() for call in calls]


def _call(job):
    with _turn:
        _inside.held = True
        try:
            return job()
        finally:
            _inside.held = False


def _threads(places):
    """The threads beside the caller, on a processor each."""
    global _pool
    if _pool is None:
        places = itertools.cycle(places)
        _pool = futures.ThreadPoolExecutor(number() - 1, "tisim", lambda: _pin({next(places)}))
    return _pool


def _pin(processors):
    """Lets this thread run on these processors only."""
    with contextlib.suppress(OSError):  # some systems do not allow it
        os.sched_setaffinity(threading.get_native_id(), processors)


def _after_fork():
    """A new process has none of the threads, and one turn."""
    global _pool, _turn, _inside
    _pool, _turn, _inside = None, threading.Lock(), threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
