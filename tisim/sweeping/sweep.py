"""One simulation for each of many cases: tables of what stands, what settles where, what friction fits."""

import hashlib

import numpy as np

from tisim.device import runtime, session, threads
from tisim.errors import Error, brief

from . import case as reading
from . import pools
from .feed import Feed
from .job import Job
from .results import ERRORS, Store


def sweep(model, cases, steps, measure, *, prepare=None, workers=1, out=None, resume=False, errors="raise", seed=0,
          retries=3, show=None, source=None):  # fmt: skip
    """Simulates every case and returns a Table of what was measured.

        table = tisim.sweep("stack.xml", {"opt.gravity": gravities}, 1000, lambda m, d, case: {"top": d.qpos[-5]})

    model    a Model, a Spec, a path, or a function of a case that returns one.
    cases    a number of them, a list of dicts, or a dict of columns: parameters by name. Those that are fields of Data
             (qpos, qvel, ctrl, ...), of Model (geom_friction, body_mass, ...; set_const follows) or opt.X are set
             before the first step, shapes are broadcast. Others are for the functions.
    steps    number of steps, or a function of (m, d, case) that takes them.
    measure  a function of (m, d, case) that returns a number, or a dict of numbers and arrays.
    prepare  a function of (m, d, case), called before the first step, which may write anything in both.
    workers  1: this process, with all its threads; N: N processes of one thread each; "all": one for each processor;
             "ray" or "ray://host:port": a Ray cluster (extra tisim[ray]). Functions go there by name.
    out      a folder for the results as they come in;  resume  goes on with what it holds.
    errors   "raise": a case that fails ends the sweep, and those that went wrong in `out` are tried again; "keep":
             Table.errors has it, and the sweep goes on.
    seed     case k has the seed `seed + k`, unless a parameter named seed gives it; case.rng starts from it.
    retries  how often a case whose process died is tried again.
    show     a function of (cases done, cases), called as results come in; what it returns is true where it shall end.
    source   (name, path, text) of a file that is a module only here, for the command line.
    A result depends on its case alone: the Table and its hash are the same for all workers. A world that diverged is
    counted in the column `warnings`. Raises Error for wrong arguments, and for a case that fails.
    """
    job = Job(model, steps, measure, prepare, source)
    if errors not in ERRORS:
        raise Error(f"errors={brief(errors)}: expected 'raise' or 'keep'")
    for name, value in (("retries", retries), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise Error(f"{name}={brief(value)}: expected a whole number, 0 or more")
    if show is not None and not callable(show):
        raise Error(f"show={brief(show)}: expected a function of (cases done, cases)")
    read = reading.read(cases, seed)
    job.check(read)
    pool = _pool(workers)
    if not session.generation:
        runtime.init()
    store = Store(out, _key(job, read), len(read), resume)
    if errors == "raise":
        store.forgive()
    work = pool(job, Feed([c for c in read if c.index not in store.done], retries))
    try:
        if show is not None and show(len(store.done), len(read)):
            return store.table(read)
        for outcomes in work:
            failed = [(k, error) for k, _, error in outcomes if error is not None]
            if failed and errors == "raise":
                good = [o for o in outcomes if o[2] is None]
                if good:
                    store.add(good, read)
                raise Error(f"{read[failed[0][0]]}: {failed[0][1]}")
            store.add(outcomes, read, errors)
            if show is not None and show(len(store.done), len(read)):
                break
    finally:
        work.close()
        store.close()
    return store.table(read)


def _pool(workers):
    """A function of (job, feed) that yields outcomes."""
    if isinstance(workers, str) and workers.startswith("ray"):
        from .on_ray import on_ray

        if workers != "ray" and not workers.startswith("ray://"):
            raise Error(f"workers={brief(workers)}: expected 'ray' or 'ray://host:port'")
        return lambda job, feed: on_ray(job, feed, None if workers == "ray" else workers)
    number = threads.processors() if workers == "all" else workers
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise Error(f"workers={brief(workers)}: expected a positive number, 'all', 'ray' or 'ray://host:port'")
    if number == 1 and workers != "all":
        return pools.here
    return lambda job, feed: pools.processes(job, feed, int(number))


def _key(job, cases):
    """Hash of a sweep: what results in a folder must have been computed for."""
    h = hashlib.sha256(job.fingerprint().encode())
    for case in cases:
        h.update(repr((case.seed, *((k, np.asarray(v).dtype.str, np.shape(v)) for k, v in case.items()))).encode())
        for value in case.values():
            h.update(np.ascontiguousarray(value).tobytes())
    return h.hexdigest()[:16]
