"""Several Data that are advanced at the same time, each by one thread, who meet only when all are done.

Small worlds are quickest where one thread takes a block of them through whole steps: its memory stays in that
processor's cache, and no loop waits for another thread. So who holds many worlds for himself, as an environment or a
rollout does, makes a Data of each block and gives it a hand: `give`. Its machine code then stays on the thread that
calls it, with a runtime of its own (native.py), and `at_once` has such work done by threads with a processor each.

Python is one thread's at a time: who runs in `at_once` holds `_turn`, but for calls of machine code (`aside`), which
let go of it and of the interpreter's lock. So nothing but kernels has to bear a second thread, and each has arrays of
its own; what they share, the model's arrays, they only read. A hand's number is one for the whole process: where a
user's threads have such Data each, one after the other is at work (`_busy`).
"""

import contextlib
import os
import threading

from . import session

_turn = threading.Lock()  # whose Python it is
_inside = threading.local()  # held: whether this thread has it
_busy = threading.Lock()  # of whoever has the hands
_workers, _stopped = [], False


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
    if not getattr(_inside, "held", False):
        with _busy:
            yield
        return
    _turn.release()
    try:
        yield
    finally:
        _turn.acquire()
        if _stopped:
            raise Stopped


def at_once(jobs):
    """Results of functions without arguments, called at the same time where there are threads, else one by one. The
    caller takes some, on the first processor as long as that takes.

    Raises the first error there was when all have ended. An interrupt lets each end where its machine code next does.
    """
    if len(jobs) < 2 or number() < 2 or getattr(_inside, "held", False):
        return [job() for job in jobs]
    with _busy:
        return _shared(jobs)


def _shared(jobs):
    global _stopped
    left, found, errors = dict(enumerate(jobs)), {}, []

    def work(own):  # the same job in each call, whose memory is in this processor's cache
        with _turn:
            _inside.held = True
            try:
                while left:
                    k = own if own in left else next(iter(left))
                    found[k] = left.pop(k)()
            except Stopped:
                pass
            except Exception as e:
                errors.append(e)
            finally:
                _inside.held = False

    places = sorted(usual := os.sched_getaffinity(0))
    while len(_workers) < number() - 1:
        _workers.append(_Worker(places[(len(_workers) + 1) % len(places)]))
    for own, worker in enumerate(_workers, 1):
        worker.begin(work, own)
    waits = [*_workers]
    try:
        _pin({places[0]})
        work(0)
        while errors and left:  # who met with one has left the rest
            work(0)
        while waits:
            waits[-1].wait()
            waits.pop()
    except BaseException:
        _stopped = True
        raise
    finally:
        left.clear()
        for worker in waits:
            worker.wait()
        _stopped = False
        _pin(usual)
    if errors:
        raise errors[0]
    return [found[k] for k in range(len(jobs))]


class _Worker(threading.Thread):
    """A thread beside the caller, on a processor of its own, that waits for work."""

    def __init__(self, place):
        super().__init__(name="tisim", daemon=True)
        self._place, self._work, self._own = place, None, None
        self._begun, self._ended = threading.Lock(), threading.Lock()
        self._begun.acquire(), self._ended.acquire()
        self.start()

    def begin(self, work, own):
        """Gives it work, a function of a number."""
        self._work, self._own = work, own
        self._begun.release()

    def wait(self):
        """Waits until it has done that."""
        self._ended.acquire()

    def run(self):
        _pin({self._place})
        while True:
            self._begun.acquire()
            try:
                self._work(self._own)
            finally:
                self._work = None
                self._ended.release()


def _pin(processors):
    """Lets this thread run on these processors only."""
    with contextlib.suppress(OSError):  # some systems do not allow it
        os.sched_setaffinity(threading.get_native_id(), processors)


def _after_fork():
    """A new process has none of the threads, and one turn."""
    global _workers, _turn, _inside, _busy
    _workers, _turn, _inside, _busy = [], threading.Lock(), threading.local(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
