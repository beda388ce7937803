"""Where cases are run. Each pool yields (outcomes, seconds) of groups of cases, as they come back."""

import multiprocessing
import signal
from multiprocessing.connection import wait

from tisim.errors import Error

from .job import Runner, unpickled


def here(job, feed):
    """In this process, with the threads it has."""
    runner = Runner(job)
    while group := feed.take(1):
        outcomes, seconds = runner.chunk(group)
        feed.returned(group, seconds)
        yield outcomes


def processes(job, feed, number):
    """In so many processes of this machine, each with one thread."""
    data, workers = job.pickled(), []
    start = multiprocessing.get_context("spawn")  # a fork would share what Taichi started
    try:
        number = min(number, len(feed))
        workers = [_Worker(start, data) for _ in range(number)]
        for worker in workers:
            worker.give(feed.take(number))
        while busy := [w for w in workers if w.group]:
            ready = wait([w.pipe for w in busy])
            for worker in busy:
                if worker.pipe not in ready:
                    continue
                group, answer = worker.group, worker.answer()
                if answer is None:
                    outcomes = feed.lost(group, f"its process died (exit code {worker.stop()})")
                    workers[workers.index(worker)] = worker = _Worker(start, data)
                else:
                    outcomes, seconds = answer
                    feed.returned(group, seconds)
                worker.give(feed.take(number))
                if outcomes:
                    yield outcomes
            for worker in workers:  # those that had nothing to do when the last cases were taken back
                if not worker.group:
                    worker.give(feed.take(number))
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that serves cases."""

    def __init__(self, start, data):
        self.group = []
        self.pipe, other = start.Pipe()
        self._process = start.Process(target=_serve, args=(other, data), daemon=True)
        self._process.start()
        other.close()

    def give(self, group):
        self.group = group
        if group:
            try:
                self.pipe.send(group)
            except OSError:
                pass  # it died; `answer` tells

    def answer(self):
        """What came back, None where the process died. Raises Error where it could not begin."""
        try:
            found = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if isinstance(found, str):
            raise Error(found)
        self.group = []
        return found

    def stop(self):
        """Ends the process; returns its exit code."""
        self.pipe.close()
        self._process.join(0.05)
        if self._process.is_alive():
            self._process.terminate()
        self._process.join()
        return self._process.exitcode


def _serve(pipe, data):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that collects the results
    try:
        runner = unpickled(data)
    except Exception as e:
        pipe.send(f"a process of the sweep could not begin: {type(e).__name__}: {e}")
        return
    while True:
        try:
            pipe.send(runner.chunk(pipe.recv()))
        except (EOFError, OSError):
            return
