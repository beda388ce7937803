"""Cases on a Ray cluster: tasks of one processor each, which Ray gives to its nodes."""

import sys

from tisim.errors import Error

from .job import unpickled

AHEAD = 2  # groups for each processor: while one is computed the next is there
_runners = {}  # by job; of a process that serves Ray


def on_ray(job, feed, address):
    """On a cluster: one at an address, one that this process or RAY_ADDRESS names, or one made of this machine."""
    try:
        import ray
    except ImportError:
        raise Error("a sweep on Ray needs it: pip install 'tisim[ray]'") from None
    from ray import cloudpickle
    from ray.exceptions import RayError, RayTaskError

    own = not ray.is_initialized()
    if own:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    running = {}
    try:
        data = ray.put(job.pickled(lambda parts: _with_functions(cloudpickle, parts)))
        work = ray.remote(num_cpus=1, max_retries=0)(_work)
        while True:
            number = max(1, int(ray.cluster_resources().get("CPU", 1)))
            while len(running) < AHEAD * number and (group := feed.take(number)):
                running[work.remote(data, group)] = group
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)  # nodes may have come meanwhile
            for ref in done:
                group = running.pop(ref)
                try:
                    outcomes, seconds = ray.get(ref)
                except RayTaskError as e:
                    raise Error(f"a process of the sweep could not begin: {e.cause}") from None
                except RayError as e:
                    outcomes = feed.lost(group, f"its process died ({type(e).__name__})")
                else:
                    feed.returned(group, seconds)
                if outcomes:
                    yield outcomes
    finally:
        for ref in running:
            ray.cancel(ref, force=True)
        if own:
            ray.shutdown()


def _with_functions(cloudpickle, parts):
    """Pickles the parts of a job with the code of their functions: nodes need not have the modules these are from."""
    names = {getattr(f, "__module__", None) for f in parts.values() if callable(f)}
    modules = [sys.modules[name] for name in names if name in sys.modules and name not in ("__main__", "builtins")]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps(parts)
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _work(data, group):
    """A group of cases, in a process of Ray, which keeps its engine for the next."""
    if data not in _runners:
        _runners.clear()
        _runners[data] = unpickled(data)
    return _runners[data].chunk(group)
