"""Open-loop rollouts of many worlds at once, in the manner of mujoco.rollout.

    from tisim import rollout

    state, sensordata = rollout.rollout(m, d, initial_state, control)

Trajectories are the worlds of a batch. On a CPU there are several, small enough for a processor's cache, each with a
thread of its own; and they are smaller where memory is short. The results are the same.
"""

import numpy as np

from tisim import pipeline
from tisim.data import given, varied
from tisim.data.data import Data
from tisim.data.state import check_state, restart, set_state, state_parts, state_size, write_rows
from tisim.device import hands, runtime, session
from tisim.enums import mjtState, mjtWarning
from tisim.enums.members import integer
from tisim.errors import CapacityError, Error, brief
from tisim.model.watched import floats

FULL = mjtState.mjSTATE_FULLPHYSICS
# what a control may hold: MuJoCo's mjSTATE_USER
CONTROLS = mjtState.mjSTATE_USER
# a trajectory with one of these has ended: what follows is as its last step
ENDS = (mjtWarning.mjWARN_BADQPOS, mjtWarning.mjWARN_BADQVEL, mjtWarning.mjWARN_BADQACC, mjtWarning.mjWARN_BADCTRL)

CACHED = 256  # trajectories that a thread takes at once: their worlds fit its cache better than all of them
LEAST = 4  # of them that are worth a thread


class Rollout:
    """Rollouts that keep their Data between calls.

        with rollout.Rollout() as r:
            for control in plans:
                state, sensordata = r.rollout(m, d, initial_state, control)

    nthread  as in MuJoCo and unused, but kept as an attribute, 0 for None: threads are those of tisim.init.
    """

    def __init__(self, *, nthread=None):
        self.nthread = 0 if nthread is None else _count("nthread", nthread, least=0)
        self._kept, self._closed = {}, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees what is kept; the object cannot be used any more."""
        self._kept, self._closed = {}, True

    def rollout(
        self, model, data, initial_state, control=None, *, control_spec=mjtState.mjSTATE_CTRL, skip_checks=False,
        nstep=None, initial_warmstart=None, state=None, sensordata=None, chunk_size=None,
    ):  # fmt: skip
        """As the function `rollout` of this module."""
        if self._closed:
            raise Error("this Rollout is closed")
        m, d = model, data
        for name, value, kind in (("model", m, "Model; data.vary gives the worlds values of their own"),
                                  ("data", d, "Data or None, whatever the threads")):  # fmt: skip
            if isinstance(value, (list, tuple)):
                raise Error(f"{name}: got {len(value)}, a rollout is of one tisim.{kind}")
        given.model(m)
        if d is not None:
            given.check(m, d)
        task = _Task(m, initial_state, control, control_spec, nstep, initial_warmstart, state, sensordata)
        runtime.ensure()
        chunk = task.nbatch if chunk_size is None else min(_count("chunk_size", chunk_size), task.nbatch)
        if d is not None and not d.nworld == chunk == task.nbatch:  # a trajectory would be in another's
            varied.refuse(d, "a rollout of another number of worlds")
        if d is not None and d.nworld == chunk:
            number = 1
        else:
            d, number = None, hands.number() if task.nbatch >= LEAST * hands.number() else 1
            chunk = _chunk(task.nbatch, number) if chunk_size is None else chunk
        left = _Left(task.nbatch, chunk)

        def work(hand):
            while part := left.take():
                size = part.stop - part.start
                try:
                    task.run(d if d is not None and d.nworld == size else self._data(m, hand, size), part)
                except CapacityError:
                    if size == 1 or chunk_size is not None:
                        raise
                    self._drop(hand)
                    left.halve(part)
                except BaseException:
                    left.end()
                    raise

        hands.at_once([lambda hand=hand: work(hand if number > 1 else None) for hand in range(number)])
        return task.state, task.sensordata

    def _data(self, m, hand, nworld):
        """The Data of so many worlds that is kept for a thread."""
        kept = self._kept.get((hand, nworld))
        if kept is not None and kept._generation != session.generation:  # nothing outlives another tisim.init
            self._drop(hand)
            kept = None
        if kept is None or kept.model is not m:
            kept = self._kept[hand, nworld] = Data(m, nworld=nworld)
            hands.give(kept, hand)
        return kept

    def _drop(self, hand):
        """Frees what is kept for a thread."""
        for key in [key for key in self._kept if key[0] == hand]:
            del self._kept[key]


def _chunk(nbatch, number):
    """Trajectories that one of so many threads takes at once."""
    return min(CACHED, -(-nbatch // number)) if session.arch == "cpu" else nbatch


class _Left:
    """Trajectories that nobody has taken so far, in slices of so many at most."""

    def __init__(self, n, size):
        self._parts = _cut(slice(0, n), size)

    def take(self):
        """The next slice, None where there is none."""
        return self._parts.pop(0) if self._parts else None

    def halve(self, part):
        """Gives a slice back that was too long: it and all others are cut to half of that."""
        size = (part.stop - part.start + 1) // 2
        self._parts = [piece for p in (part, *self._parts) for piece in _cut(p, size)]

    def end(self):
        """Leaves the rest."""
        self._parts = []


def _cut(part, size):
    """A slice in slices of so many at most."""
    return [slice(a, min(a + size, part.stop)) for a in range(part.start, part.stop, size)]


def rollout(
    model, data, initial_state, control=None, *, control_spec=mjtState.mjSTATE_CTRL, skip_checks=False, nstep=None,
    initial_warmstart=None, state=None, sensordata=None, chunk_size=None, persistent_pool=False,
):  # fmt: skip
    """Trajectories from initial states under given controls.

    model, data        Model, and a Data of it or None: it is used, and changed, if it has nbatch worlds.
    initial_state      (nbatch or 1, size) states of mjSTATE_FULLPHYSICS, as tisim.get_state(m, d, sig) gives them.
    control            (nbatch or 1, nstep or 1, size of control_spec), None: zeros.
    control_spec       mjtState bits of what a control holds: ctrl, qfrc_applied, xfrc_applied, eq_active, mocap_pos,
                       mocap_quat, userdata. What it does not hold is as after a reset.
    nstep              number of steps; by default that of the other arguments, or 1. A control of one step is held;
                       another number of steps is refused, also beside nstep=1, which MuJoCo takes for unknown.
    initial_warmstart  (nbatch or 1, nv) qacc_warmstart at the start, None: zeros.
    state, sensordata  arrays to write to.
    chunk_size         trajectories taken at once, None: as many as there is memory for.
    skip_checks, persistent_pool  as in MuJoCo, and unused: a Rollout object keeps its Data.
    Returns (state (nbatch, nstep, size), sensordata (nbatch, nstep, nsensordata)): states after each step, sensors of
    that step. Behind a step with a bad state, which resets its world, a trajectory stays as it is, as in MuJoCo.
    Raises Error for shapes that do not fit, and for a sequence of models.
    """
    with Rollout() as once:
        return once.rollout(model, data, initial_state, control, control_spec=control_spec, nstep=nstep,
                            initial_warmstart=initial_warmstart, state=state, sensordata=sensordata,
                            chunk_size=chunk_size)  # fmt: skip


def shutdown_persistent_pool():
    """Does nothing, for programs that call it: there is no pool, and `rollout` keeps nothing between calls."""


class _Task:
    """Inputs and outputs of all trajectories."""

    def __init__(self, m, initial_state, control, control_spec, nstep, warmstart, state, sensordata):
        control_spec = integer(control_spec)
        self.m, self.spec = m, control_spec
        whole = isinstance(control_spec, (int, np.integer)) and not isinstance(control_spec, bool)
        if not whole or int(control_spec) & ~int(CONTROLS) or not int(control_spec):
            raise Error(f"control_spec={brief(control_spec)}: expected bits of mjSTATE_USER")
        self.start = _array("initial_state", initial_state, 2, state_size(m, FULL))
        self.control = None if control is None else _array("control", control, 3, state_size(m, control_spec))
        if control is not None:
            check_state(m, self.control, control_spec)
        self.warmstart = None if warmstart is None else _array("initial_warmstart", warmstart, 2, m.nv)
        for name, out, width in (("state", state, self.start.shape[1]), ("sensordata", sensordata, m.nsensordata)):
            fits = isinstance(out, np.ndarray) and out.ndim == 3 and out.shape[2] == width and out.dtype == np.float64
            if out is not None and not fits:
                raise Error(f"{name}: expected an array of float64 of shape (nbatch, nstep, {width}) to write to")
            if out is not None and not out.flags.writeable:
                raise Error(f"{name}: this array is read-only, and trajectories would be written to it")
        outputs = dict(state=state, sensordata=sensordata)
        starts = dict(initial_state=self.start, initial_warmstart=self.warmstart)
        self.nbatch = _common("nbatch", starts | dict(control=self.control) | outputs, 0, None)
        self.nstep = _common("nstep", dict(control=self.control) | outputs, 1,
                             None if nstep is None else _count("nstep", nstep))  # fmt: skip
        shape = self.nbatch, self.nstep
        try:
            self.state = np.empty((*shape, self.start.shape[1])) if state is None else state
            self.sensordata = np.empty((*shape, m.nsensordata)) if sensordata is None else sensordata
        except (MemoryError, ValueError):
            raise Error(f"nbatch={shape[0]}, nstep={shape[1]}: so many states do not fit in memory") from None

    def run(self, d, part):
        """Takes the trajectories of a slice."""
        m, n = self.m, d.nworld
        restart(m, d, _rows(self.start, part, n), np.arange(n), FULL)
        if self.warmstart is not None:
            set_state(m, d, _rows(self.warmstart, part, n), mjtState.mjSTATE_WARMSTART)
        going, parts, sensed = np.ones(n, bool), state_parts(d, FULL), np.zeros((n, 0))
        for k in range(self.nstep):
            if self.control is not None:
                here = _rows(self.control, part, n)
                set_state(m, d, here[:, min(k, here.shape[1] - 1)], self.spec)
            pipeline.step(m, d)
            if m.nsensordata:
                sensed = d.host("sensordata").reshape(n, m.nsensordata)
            out, sensors = self.state[part], self.sensordata[part]  # views
            write_rows(d, parts, out[:, k])
            sensors[:, k] = sensed
            if k and not going.all():
                out[~going, k], sensors[~going, k] = out[~going, k - 1], sensors[~going, k - 1]
            going &= ~_ended(d)


def _ended(d):
    """(nworld,) whether a trajectory had a bad state."""
    numbers = d.host("warning").reshape(d.nworld, 2, 8)[:, 0]
    return numbers.any(axis=1) if not numbers.any() else numbers[:, list(ENDS)].any(axis=1)


def _rows(a, part, n):
    """Rows of a chunk, one for each world."""
    return np.broadcast_to(a, (n, *a.shape[1:])) if len(a) == 1 else a[part]


def _array(name, values, ndim, width):
    if isinstance(values, (list, tuple)) and any(hasattr(v, "nq") for v in values):
        raise Error(f"{name}: expected numbers")
    a = floats(name, values)
    a = a.reshape((1,) * (ndim - a.ndim) + a.shape) if a.ndim < ndim else a
    if a.ndim != ndim or a.shape[-1] != width or not a.shape[0] or (ndim == 3 and not a.shape[1]):
        wanted = "(nbatch or 1, " + "nstep or 1, " * (ndim == 3) + f"{width})"
        raise Error(f"{name} has shape {np.shape(values)}, expected {wanted}")
    return a


def _common(name, arrays, axis, asked):
    """The size that all arguments have, but for inputs of size 1, which serve all."""
    sizes = {key: a.shape[axis] for key, a in arrays.items() if a is not None}
    told = sizes if asked is None else {name: asked} | sizes
    found = {n for key, n in told.items() if n != 1 or key == name}
    size = max(found, default=1)
    if len(found) > 1 or any(sizes.get(key, size) != size for key in ("state", "sensordata")):
        words = ", ".join(f"{key} {n}" for key, n in told.items())
        raise Error(f"{name}: arguments are of different lengths: {words}")
    return size


def _count(name, value, least=1):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise Error(f"{name}={brief(value)}: expected a {'positive number' if least else 'number from 0 on'}")
    if value > pipeline.MOST_STEPS:
        raise Error(f"{name}: more than {pipeline.MOST_STEPS:,} is too many")
    return int(value)
