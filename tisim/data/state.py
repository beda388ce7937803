"""State of a Data: reset, keyframes, and the state vector by mjtState bits."""

import numpy as np

from tisim.device import memory, native
from tisim.enums import mjtState, mjtWarning
from tisim.enums.members import integer
from tisim.errors import Error, IdError, ValuesError, brief
from tisim.model.watched import fitting, floats

from . import asleep, given, impulses
from .arrays import DATA
from .stat import Stat

# parts of the state vector, in its order: bit, array
STATE = (
    (mjtState.mjSTATE_TIME, "world_time"),
    (mjtState.mjSTATE_QPOS, "qpos"),
    (mjtState.mjSTATE_QVEL, "qvel"),
    (mjtState.mjSTATE_ACT, "act"),
    (mjtState.mjSTATE_WARMSTART, "qacc_warmstart"),
    (mjtState.mjSTATE_CTRL, "ctrl"),
    (mjtState.mjSTATE_QFRC_APPLIED, "qfrc_applied"),
    (mjtState.mjSTATE_XFRC_APPLIED, "xfrc_applied"),
    (mjtState.mjSTATE_EQ_ACTIVE, "eq_active"),
    (mjtState.mjSTATE_MOCAP_POS, "mocap_pos"),
    (mjtState.mjSTATE_MOCAP_QUAT, "mocap_quat"),
    (mjtState.mjSTATE_USERDATA, "userdata"),
)


def ragged_as_objects(value):
    """What a user gives as an array: lists of different lengths are of type object, which whoever asks refuses."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray([value], object)


def world_indices(d, worlds):
    """Indices of worlds, given as an index, several, or a mask of all; None is all of them."""
    if worlds is None:
        return np.arange(d.nworld)
    index = np.atleast_1d(ragged_as_objects(worlds))
    if index.ndim == 1 and index.dtype == bool and np.ndim(worlds):
        if len(index) != d.nworld:
            raise Error(f"worlds: a mask of {len(index)}, expected one of all {d.nworld} worlds")
        return np.flatnonzero(index)
    if index.ndim > 1 or (index.size and index.dtype.kind not in "iu"):
        raise Error(f"worlds={brief(worlds)}: expected the index of a world, several, a mask, or None for all")
    index = index.astype(np.int64)
    if index.size and (index.min() < 0 or index.max() >= d.nworld):
        raise Error(f"world index {index[(index < 0) | (index >= d.nworld)][0]} outside 0..{d.nworld - 1}")
    often = np.bincount(index)  # np.unique imports numpy.ma
    if (often > 1).any():
        raise Error(f"worlds: {often.argmax()} is named twice")
    return index


FEW = 16  # worlds up to which their rows are sent to a GPU one by one, and nothing is read from there


def write_worlds(d, name, worlds, values):
    """Writes one row per world (or one for all) into an array of Data."""
    if _width(d, name) and len(worlds):
        asleep.wrote(d, name)
        _write_rows(d, name, worlds, values)


def _width(d, name):
    """How many numbers of an array each world has, 0 if the worlds share it; it stays as it is."""
    widths = d._info.setdefault("widths", {})
    if name not in widths:
        widths[name] = 0 if DATA[name].is_shared else DATA[name].size(d._size_of)
    return widths[name]


def _write_rows(d, name, worlds, values):
    """The same without a word to sleepers."""
    n = _width(d, name)
    if not n or not len(worlds):
        return
    a, values = d.device(name), np.asarray(values).reshape(-1, n)
    if (view := memory.host_view(a)) is not None:
        view[: d.nworld * n].reshape(d.nworld, n)[worlds] = values
        return
    if len(worlds) <= FEW < d.nworld:
        rows = np.broadcast_to(values, (len(worlds), n)).astype(memory.number_type(a))
        for world, row in zip(worlds.tolist(), rows):
            memory.upload(a, row, world * n)
        return
    whole = memory.download(a)
    whole[: d.nworld * n].reshape(d.nworld, n)[worlds] = values
    memory.upload(a, whole)


def _clear(d, worlds):
    """Zeros in the rows of some worlds, but where arrays share memory (overlay.py): nobody reads what is left in
    one of those."""
    last = d._info.get("rows")
    if last is None or last[0] != d._changes:
        names = [name for name in d._device if DATA[name].role != "stage" and not d._overlay.takes(name)]
        widths = {name: n for name in names if (n := _width(d, name))}
        views = {name: memory.host_view(d._device[name]) for name in widths}
        views = [
            v[: d.nworld * n].reshape(d.nworld, n) for v, n in zip(views.values(), widths.values()) if v is not None
        ]
        places = np.array([(v.ctypes.data, v.strides[0]) for v in views], np.uint64).reshape(-1, 2, 1)
        last = d._info["rows"] = d._changes, views, {} if views else widths, places
    if road := native.road():
        begin, size = last[3][:, 0], last[3][:, 1]
        road.clear(begin + size * worlds.astype(np.uint64), size // 4)
    else:
        for rows in last[1]:
            rows[worlds] = 0
    for name, n in last[2].items():
        _write_rows(d, name, worlds, np.zeros((1, n)))


def _clear_all(d):
    """Zeros in all arrays but those of stages."""
    last = d._info.get("whole")
    if last is None or last[0] != d._changes:
        arrays = [a for name, a in d._device.items() if DATA[name].role != "stage"]
        views = [v for a in arrays if (v := memory.host_view(a)) is not None]
        places = np.array([(v.ctypes.data, v.nbytes // 4) for v in views], np.uint64).reshape(-1, 2).T
        last = d._info["whole"] = d._changes, arrays, places if len(views) == len(arrays) else None
    if (road := native.road()) and last[2] is not None:
        road.clear(*last[2])
    else:
        for array in last[1]:
            memory.fill(array, 0)


MOCAP = ("mocap_pos", "mocap_quat")


def _start(m, d, index):
    """What a reset of these worlds writes besides zeros."""
    none, awake = np.full(m.ntree, -1), np.full(m.ntree, asleep.AWAKE)
    start = dict(qpos=m.qpos0, eq_active=m.eq_active0, tree_asleep=awake, tree_island=none)
    if m.nmocap:
        mocap = np.flatnonzero(np.asarray(m.body_mocapid) >= 0)
        mocap = mocap[np.argsort(np.asarray(m.body_mocapid)[mocap])]
        for name, source in zip(MOCAP, ("body_pos", "body_quat")):
            values = d._varied[source][index] if source in d._varied else np.asarray(getattr(m, source))[None]
            start[name] = values[:, mocap]
    return start


def reset(m, d, worlds=None):
    """Sets the state to the model's start: qpos0, mocap bodies and equalities as modelled, all else zero.

    worlds  index, indices or mask (nworld,) of the worlds to reset; None: all of them. The others go on to the same
            bits; lists of contacts and rows are those of the last step until the next.
    """
    given.check(m, d)
    _reset(m, d, world_indices(d, worlds))


def _reset(m, d, index):
    whole = len(index) == d.nworld
    d.device("counts")  # refuses a Data of an earlier tisim.init
    if whole:
        d._owes = False
        _clear_all(d)
    else:
        d.pay()
        _clear(d, index)
    d.forget_counts()
    if whole:
        d.timer.clear()
        d._info.pop(impulses.LAST, None)
    asleep.begin(d)
    start = _start(m, d, index)
    for name, values in start.items():
        if name not in MOCAP:
            _write_rows(d, name, index, values)
    asleep.start(m, d, index)  # as in MuJoCo before mocap bodies stand where the model has them
    for name in MOCAP:
        if name in start:
            write_worlds(d, name, index, start[name])


# what a keyframe holds: array of the data, of the model
KEY = dict(
    world_time="key_time", qpos="key_qpos", qvel="key_qvel", act="key_act", ctrl="key_ctrl", mocap_pos="key_mpos",
    mocap_quat="key_mquat",
)  # fmt: skip


def _keyframe(m, key):
    """Index of a keyframe given as index or name."""
    key = m.name2id("key", key) if isinstance(key, str) else key
    if not isinstance(key, (int, np.integer)) or isinstance(key, bool):
        raise Error(f"key={brief(key)}: expected the index or the name of a keyframe")
    if not 0 <= int(key) < m.nkey:
        raise Error(f"keyframe {key} does not exist: the model has {m.nkey}")
    return int(key)


def reset_keyframe(m, d, key, worlds=None):
    """Resets, then sets time, qpos, qvel, act, ctrl and mocap poses of a keyframe.

    key  index or name of the keyframe;  worlds  as in reset.
    """
    given.check(m, d)
    key = _keyframe(m, key)
    reset(m, d, worlds)
    index = world_indices(d, worlds)
    for name, source in KEY.items():
        write_worlds(d, name, index, np.asarray(getattr(m, source)).reshape(m.nkey, -1)[key])


def _sig(sig):
    sig = integer(sig)
    if not isinstance(sig, (int, np.integer)) or not 0 <= sig < 1 << int(mjtState.mjNSTATE):
        got = f"an array of {sig.size}" if isinstance(sig, np.ndarray) else brief(sig)
        raise Error(f"sig={got}: expected a sum of mjtState bits (the state is returned, no array is filled)")
    return int(sig)


def state_parts(d, sig):
    """[(array, numbers of a world)] of a state vector."""
    known, sig = d._info.setdefault("state_parts", {}), _sig(sig)
    if sig not in known:
        known[sig] = [(name, DATA[name].size(d._size_of)) for bit, name in STATE if sig & bit]
    return known[sig]


def state_size(m, sig):
    """Number of values of one world's state for the mjtState bits in sig."""
    given.model(m)
    sig = _sig(sig)
    return sum(DATA[name].size(lambda s: getattr(m, s)) for bit, name in STATE if sig & bit)


def get_state(m, d, sig=mjtState.mjSTATE_INTEGRATION, worlds=None):
    """State as one vector, in mujoco's order.

    sig  sum of mjtState bits.  worlds  as in reset.
    Returns (size,) for a Data of one world, else (worlds, size).
    """
    given.check(m, d)
    parts = state_parts(d, sig)
    index = slice(None) if worlds is None else world_indices(d, worlds)
    out = np.empty((d.nworld if worlds is None else len(index), sum(n for _, n in parts)))
    write_rows(d, parts, out, index)
    return out[0] if d.nworld == 1 and len(out) else out


def write_rows(d, parts, out, index=slice(None)):
    """Writes the parts of the state of these worlds side by side to the rows of `out`."""
    at = 0
    for name, n in parts:
        a = d.device(name)
        numbers = memory.host_view(a)
        numbers = memory.download(a) if numbers is None else numbers
        out[:, at : at + n] = numbers[: d.nworld * n].reshape(d.nworld, n)[index]
        at += n


def check_time(time):
    """Raises ValuesError for a time that is not finite: unlike such a position or velocity, no step would find it."""
    if not np.isfinite(time).all():
        raise ValuesError(f"time: expected finite numbers, got {np.array2string(np.squeeze(time), threshold=8)}")


def check_state(m, state, sig):
    """Raises ValuesError for such a time in states, and for what cannot be in eq_active, whose numbers are whole."""
    if sig & mjtState.mjSTATE_TIME:
        check_time(state[..., 0])
    if sig & mjtState.mjSTATE_EQ_ACTIVE:
        fitting(extract_state(m, state, sig, mjtState.mjSTATE_EQ_ACTIVE), np.dtype(np.int32))


def set_state(m, d, state, sig=mjtState.mjSTATE_INTEGRATION, worlds=None):
    """Writes a vector made by get_state with the same sig; one vector is written to all worlds.

    state  (size,) or (worlds, size).  worlds  as in reset.
    Impulses of the last step, from which dynamics="lcp" goes on, are in no vector: its next step begins without.
    Raises Error for shapes that do not fit and for a time that is not finite; the next step looks at the rest.
    """
    given.check(m, d)
    index = world_indices(d, worlds)
    size = state_size(m, sig)
    state = floats("state", state)
    if state.shape not in ((size,), (len(index), size)):
        raise Error(f"state has shape {state.shape}, expected ({size},) or ({len(index)}, {size})")
    check_state(m, state, sig)
    _write_state(d, np.atleast_2d(state), sig, index)


def _write_state(d, state, sig, index):
    at = 0
    for name, n in state_parts(d, sig):
        write_worlds(d, name, index, state[:, at : at + n])
        at += n
    if int(sig) & mjtState.mjSTATE_WARMSTART:
        impulses.clear(d, index)


def reset_state(m, d, state, worlds=None, sig=mjtState.mjSTATE_INTEGRATION, seed=None):
    """Resets, then sets a state, one of each world's own, or one drawn from a pool, such as settled piles.

    state   (size,) for all these worlds, (worlds, size), or with a seed a pool (any number, size), of get_state.
    worlds  as in reset;  sig  sum of mjtState bits: what they hold, the rest is as after a reset.
    seed    number, or one for each of these worlds, such as counts of episodes. What a world gets follows from its
            index and its seed alone, not from which others are reset with it; each of the pool is as likely.
    Returns which of `state` each of these worlds got, (worlds,). Raises Error for what does not fit, changing nothing.
    """
    given.check(m, d)
    index = world_indices(d, worlds)
    size, state = state_size(m, sig), np.atleast_2d(floats("state", state))
    if state.ndim != 2 or state.shape[1] != size or not len(state):
        raise Error(f"state has shape {state.shape}, expected (any number, {size}) for sig={int(sig)}")
    check_state(m, state, sig)
    if seed is not None:
        drawn = _draw(seed, index, len(state))
    elif len(state) in (1, len(index)):
        drawn = np.zeros(len(index), np.int64) if len(state) == 1 else np.arange(len(index))
    else:
        raise Error(f"{len(state)} states for {len(index)} worlds: expected one, as many, or a seed to draw by")
    restart(m, d, state[drawn], index, sig)
    return drawn


def restart(m, d, state, index, sig):
    """Resets worlds and sets a state of each, as reset_state does, which looks at what it is given.

    state  (worlds, size);  index  different worlds.
    """
    _reset(m, d, index)
    _write_state(d, state, sig, index)


def seeded(seed, index):
    """A seed for each of these worlds, of one for all or one for each."""
    seeds = ragged_as_objects(seed)
    if seeds.dtype.kind not in "iu" or seeds.shape not in ((), index.shape) or (seeds.size and seeds.min() < 0):
        raise Error(f"seed={brief(seed)}: expected a number from 0 on, or one for each of {len(index)} worlds")
    return np.broadcast_to(seeds, index.shape).tolist()


def _draw(seed, index, n):
    """(worlds,) numbers below n, each of the seed and index of its world."""
    pairs = zip(seeded(seed, index), index.tolist())
    words = [np.random.SeedSequence(pair).generate_state(1, np.uint64)[0] for pair in pairs]
    return (np.array(words, np.uint64) % np.uint64(n)).astype(np.int64)


def extract_state(m, state, srcsig, dstsig):
    """Parts of a state vector made by get_state.

    state  (..., size of srcsig);  srcsig, dstsig  sums of mjtState bits; what dstsig has must be in srcsig.
    Returns (..., size of dstsig).
    """
    given.model(m)
    srcsig, dstsig = _sig(srcsig), _sig(dstsig)
    state = floats("state", state)
    if dstsig & ~srcsig:
        raise Error(f"dstsig={dstsig}: has parts that srcsig={srcsig} has not")
    size = state_size(m, srcsig)
    if not state.ndim or state.shape[-1] != size:
        raise Error(f"state has shape {state.shape}, expected ({size},) or (..., {size}) for srcsig={srcsig}")
    sizes = [(state_size(m, bit), bit) for bit, _ in STATE if srcsig & bit]
    keep = np.repeat([bool(dstsig & bit) for _, bit in sizes], [n for n, _ in sizes])
    return state[..., keep.astype(bool)]


def copy_state(m, src, dst, sig=mjtState.mjSTATE_INTEGRATION):
    """Copies the state of a Data into another one of the same Model.

    src, dst  Data with as many worlds, or src with one, which goes to all;  sig  sum of mjtState bits.
    """
    given.check(m, src)
    given.check(m, dst)
    if src.nworld not in (1, dst.nworld):
        raise Error(f"src has {src.nworld} worlds and dst {dst.nworld}: expected as many, or one in src")
    for name, n in state_parts(src, sig):
        write_worlds(dst, name, np.arange(dst.nworld), src.host(name).reshape(src.nworld, n))
    if int(sig) & mjtState.mjSTATE_WARMSTART:
        impulses.clear(dst)
        if src.nworld == dst.nworld and (arrays := impulses.kept(src)):
            arrays.pop(impulses.REST, None)  # who sleeps there goes on to, unless it stands elsewhere now
            impulses.give(dst, arrays)


def set_keyframe(m, d, key, world=0):
    """Writes time, qpos, qvel, act, ctrl and mocap poses of a world into a keyframe of the model.

    key  index or name of a keyframe that exists;  world  index of the world.
    """
    given.check(m, d)
    key = _keyframe(m, key)
    index = world_indices(d, world)
    if len(index) != 1:
        raise Error(f"world={brief(world)}: expected the index of one world")
    for name, target in KEY.items():
        field = getattr(m, target)
        if field[key].size:
            field[key] = d.host(name)[index[0]].reshape(field[key].shape)


class Warnings:
    """Warnings counted by kind, as mujoco's mjData.warning: `warning[mjtWarning.mjWARN_BADQPOS].number`."""

    def __init__(self, d):
        self._values = d.host("warning").reshape(d.nworld, 2, 8)
        self._single = d.nworld == 1

    def __len__(self):
        return int(mjtWarning.mjNWARNING)

    def __repr__(self):
        rows = [f"{'warning':<24}{'number':>8}  last info"]
        for kind in mjtWarning:
            if int(kind) < len(self):
                stat = self[kind]
                number, info = (np.atleast_1d(x) for x in (stat.number, stat.lastinfo))
                hit = int(np.argmax(number > 0))
                rows.append(f"{kind.name:<24}{number.sum():>8}  {info[hit] if number.any() else '-'}")
        return "\n".join(rows)

    @property
    def number(self):
        """How often each kind was counted, (8,); a leading axis for several worlds."""
        return self._read_only(0)

    @property
    def lastinfo(self):
        """Last info of each kind, (8,); a leading axis for several worlds."""
        return self._read_only(1)

    def _read_only(self, what):
        values = self._values[0, what] if self._single else self._values[:, what]
        values = values.view()
        values.flags.writeable = False
        return values

    def __getitem__(self, kind):
        if not hasattr(kind, "__index__") or not -len(self) <= int(kind) < len(self):
            raise IdError(f"no warning {brief(kind)}: there are {len(self)}, by mjtWarning")
        number, lastinfo = self._values[:, 0, kind], self._values[:, 1, kind]
        return WarningStat(*((int(number[0]), int(lastinfo[0])) if self._single else (number, lastinfo)))


class WarningStat(Stat):
    """One kind of warning: number, how often, and lastinfo, an index; arrays over worlds if there are several."""

    __slots__ = ("number", "lastinfo")
    told = "a warning is counted; tisim.reset sets it to 0"

    def __repr__(self):
        return f"WarningStat(number={self.number}, lastinfo={self.lastinfo})"
