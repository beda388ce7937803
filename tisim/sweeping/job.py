"""What is done with each case, and where it is done: in this process, in one of its own, on another machine."""

import contextlib
import copy
import hashlib
import inspect
import os
import pathlib
import pickle
import sys
import time
import types
import warnings

import numpy as np

from tisim import __version__, pipeline
from tisim.data.data import Data
from tisim.data.state import reset
from tisim.device import cache, runtime, session
from tisim.errors import DivergedWarning, Error, brief
from tisim.model.model import Model
from tisim.spec.spec import Spec

from . import case as cases
from .words import words

FUNCTIONS = "model steps measure prepare".split()


class Job:
    """Model, steps and functions of a sweep, which are the same for all cases."""

    def __init__(self, model, steps, measure, prepare=None, source=None):
        self.model = model if callable(model) and not isinstance(model, type) else as_model(model)
        if not callable(steps) and (isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 0):
            raise Error(
                f"steps={brief(steps)}: expected a number of steps, or a function of (m, d, case) that takes them"
            )
        if not callable(steps) and steps > pipeline.MOST_STEPS:
            raise Error(f"steps: more than {pipeline.MOST_STEPS:,} do not end")
        for name, f in (("measure", measure), ("prepare", prepare)):
            if not callable(f) and not (name == "prepare" and f is None):
                raise Error(f"{name}={brief(f)}: expected a function of (m, d, case)")
        for name, f in (("steps", steps), ("measure", measure), ("prepare", prepare)):
            if callable(f):
                _check_takes_three(name, f)
        self.steps, self.measure, self.prepare = steps, measure, prepare
        self._source = source  # (name, path, text) of the file that the functions are from

    @property
    def free(self):
        """Whether a function may read parameters that are no fields."""
        return callable(self.model) or callable(self.steps) or self.prepare is not None

    def check(self, cases_):
        """Refuses cases with parameters that set nothing."""
        if not callable(self.model):
            cases.check_names(self.model, cases_[0], self.free)

    def fingerprint(self):
        """Hash of all that results depend on besides the cases: model, steps, functions and precision."""
        h = hashlib.sha256(repr((__version__, session.arch, session.precision)).encode())
        for name in FUNCTIONS:
            h.update(f"{name} {words(getattr(self, name))}".encode())
        return h.hexdigest()[:16]

    def pickled(self, dumps=pickle.dumps):
        """Bytes for `unpickled` in another process. Raises Error for functions that cannot be found there."""
        parts = {name: getattr(self, name) for name in FUNCTIONS}
        try:
            return pickle.dumps((self._source, session.settings[:2], dumps(parts)))
        except (pickle.PicklingError, AttributeError, TypeError) as e:
            raise Error(
                "processes get the functions of a sweep by name: define them at the top of a module or script, or use "
                f"workers=1 ({e})"
            ) from None


def _check_takes_three(name, function):
    """Raises Error for a function that cannot be called with (m, d, case)."""
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        taken = str(inspect.signature(function))
        raise Error(f"{name} takes {taken}: expected a function of (m, d, case)") from None
    except ValueError:  # it does not say what it takes
        pass


def unpickled(data):
    """A Runner of a pickled job, in a process that serves one; starts the engine with one thread."""
    source, (arch, precision), parts = pickle.loads(data)
    if source is not None:
        module_of(*source)
    runtime.init(arch=arch, precision=precision, threads=1)
    return Runner(Job(**pickle.loads(parts), source=source))


def module_of(name, path, text):
    """The module made of the text of a file, under a name of its own."""
    if name not in sys.modules:
        module = types.ModuleType(name)
        module.__file__ = path
        sys.modules[name] = module
        try:
            exec(compile(text, path, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


class Runner:
    """Runs cases, one behind the other, in this process."""

    def __init__(self, job):
        self.job, self._ready = job, False
        self._kept = self._as_kept = None

    def chunk(self, some):
        """(outcomes, seconds): for each case (index, what was measured, None), or (index, None, what went wrong)."""
        began = time.perf_counter()
        outcomes = [self._one(case) for case in some]
        return outcomes, time.perf_counter() - began

    def _one(self, case):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DivergedWarning)  # a column of the results counts them
                return case.index, self.run(case), None
        except (Exception, SystemExit) as e:  # the latter would end the sweep without a word
            name = "" if isinstance(e, Error) else f"{type(e).__name__}: "
            return case.index, None, f"{name}{e}"

    def run(self, case):
        """What was measured in a case: a dict of numbers, with how many warnings there were."""
        job = self.job
        m, d = self._scene(case)
        cases.write_inputs(d, case)
        if job.prepare is not None:
            job.prepare(m, d, case)
        if callable(job.steps):
            job.steps(m, d, case)
        else:
            pipeline.step(m, d, int(job.steps))
        return _numbers(
            job.measure(m, d, case),
            int(sum(np.sum(w.number) for w in map(d.warning.__getitem__, range(len(d.warning))))),
        )

    def _scene(self, case):
        """Model and Data of a case: its own where something may write the model, else the ones kept, at the start."""
        job = self.job
        kept = self._kept is not None and self._kept[0].decisions() == self._as_kept  # which `measure` may have written
        if kept and not _writes(self._kept[0], case):
            reset(*self._kept)
            return self._kept
        own = callable(job.model) or job.prepare is not None or callable(job.steps) or _writes(job.model, case)
        m = as_model(job.model(case)) if callable(job.model) else copy.deepcopy(job.model)
        if callable(job.model):
            cases.check_names(m, case, True)
        cases.write(m, case)
        d = Data(m)
        if not self._ready:
            with _alone_on_machine():  # else all processes would make the same kernels
                pipeline.prepare(m, d)
            self._ready = True
        if not own:
            self._kept, self._as_kept = (m, d), m.decisions()
        return m, d


def _writes(m, case):
    return any(name.startswith("opt.") or (name in m._arrays and name not in cases.INPUTS) for name in case)


def as_model(source):
    """The Model of a Model, a Spec, or the path of a file."""
    if isinstance(source, Model):
        return source
    if isinstance(source, Spec):
        return source.compile()
    if isinstance(source, (str, os.PathLike)):
        path = pathlib.Path(source)
        return Model.load(path) if path.suffix.lower() == ".npz" else Model.from_xml_path(path)
    raise Error(f"model: expected a Model, a Spec, a path, or a function of a case; got a {type(source).__name__}")


def _numbers(found, warned):
    """What `measure` returned, as arrays by name."""
    if not isinstance(found, dict):
        found = {"value": found}
    out = {}
    for name, value in found.items():
        array = np.array(value)
        if array.dtype.kind not in "biuf":
            raise Error(f"measure: {name} is no number or array of numbers: {brief(value)}")
        if not isinstance(name, str) or not name or name in ("index", "warnings"):
            raise Error(f"measure: {brief(name)} is no name of a result (index and warnings are there by themselves)")
        if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
            raise Error(f"measure: {name} is above the largest whole number of 64 bits: {brief(value)}")
        out[name] = array.astype({"b": bool, "f": np.float64}.get(array.dtype.kind, np.int64))
    out["warnings"] = np.array(warned, np.int64)
    return out


@contextlib.contextmanager
def _alone_on_machine():
    """While active, no other process of a sweep is in here that has the same folder of kernels."""
    try:
        import fcntl
    except ImportError:  # Windows: kernels are made by each
        yield
        return
    folder = cache.folder()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "sweep.lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield
