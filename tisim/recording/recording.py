"""tisim.Recording: what tisim.Recorder wrote, also where it was cut off."""

import json
import os

import numpy as np

from tisim.data import given
from tisim.data.asleep import AWAKE, GONE, listed, stale, take
from tisim.data.state import write_worlds
from tisim.errors import Error, IdError, brief
from tisim.model.file import from_bytes
from tisim.model.model import Model
from tisim.stages import dynamics, tendon
from tisim.stages.sleep import wake_written

from .archive import Reader
from .recorder import FORMAT

OPTIONAL = ("world_time", "mocap", "asleep", "removed", "solver")
SAID = dict(solver="solver", sleep="asleep")  # word of the header -> array that all chunks have then
CONTACTS = ("contact_geom", "contact_pos", "contact_force")
COLUMNS = {"time", "qpos", *OPTIONAL, "contact_first", *CONTACTS}


class Recording:
    """A recording, read frame by frame.

    path   of the file;  model  the Model;  time  (n,) of each frame [s];  worlds  indices of the worlds in it.
    whole  False: it was cut off or damaged, and the frames in it are those before that place.
    len() is the number of frames. Raises Error for what is no recording, or ends before its model.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        try:
            self._in = Reader(self.path)
        except OSError as e:
            raise Error(f"{self.path}: cannot read the recording: {e.strerror or e}") from None
        if "recording.json" not in self._in.names:
            raise Error(f"{self.path}: no recording of tisim")
        try:
            self.header = json.loads(self._in.bytes("recording.json"))
            self.worlds = [int(w) for w in self.header["worlds"]]
            if self.header["format"] != FORMAT:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise Error(f"{self.path}: no recording that this tisim reads (expected {FORMAT!r})") from None
        if "model.npz" not in self._in.names:
            raise Error(f"{self.path}: cut off before the model that it is of: nothing can be shown")
        self._model = None
        contacts = ("contact_first", *CONTACTS) if self.header.get("forces") else ()
        self._always = ("qpos", *contacts, *(name for key, name in SAID.items() if self.header.get(key)))
        chunks = [n for n in self._in.names if n.startswith("time_")]
        expected = [f"time_{k:06d}.npy" for k in range(len(chunks))]
        if chunks != expected or self.whole and self._in.names[-1] not in ("model.npz", *expected[-1:]):
            raise Error(f"{self.path}: damaged: times of some frames are missing")
        times = [self._in.array(n.removesuffix(".npy")) for n in chunks]
        if any(t.ndim != 1 for t in times):
            raise Error(f"{self.path}: damaged: times are no list")
        self.time = np.concatenate([np.empty(0), *times])
        self._first = np.cumsum([0, *map(len, times)])
        self._strange = _strange(self._in.names)
        self._kept = (None, {})  # number of a chunk, and arrays of it

    @property
    def whole(self):
        """Whether it was closed, and all that was written is there."""
        return self._in.closed

    @property
    def model(self):
        """The Model that was recorded."""
        if self._model is None:
            self._model = Model(from_bytes(self._in.bytes("model.npz"), self.path))
        return self._model

    def __len__(self):
        return len(self.time)

    def __repr__(self):
        span = f", {self.time[0]:.3f} to {self.time[-1]:.3f} s" if len(self) else ""
        return f"<tisim Recording of '{self.header.get('modelname')}': {len(self)} frames{span}>"

    def __getitem__(self, k):
        """Frame k as a dict of arrays, named and shaped as in tisim.Recorder, without the axis of frames."""
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not -len(self) <= k < len(self):
            raise IdError(f"no frame {brief(k)}: there are {len(self)}")
        k = int(k) % len(self)
        chunk = int(np.searchsorted(self._first, k, side="right")) - 1
        at = k - int(self._first[chunk])
        out = dict(time=float(self.time[k]))
        for name in ("qpos", *OPTIONAL):
            values = self._array(name, chunk)
            if values is not None:
                out[name] = values[at]
        first = self._array("contact_first", chunk)
        if first is not None:
            for name in CONTACTS:
                out[name] = self._array(name, chunk)[first[at] : first[at + 1]]
        if chunk in self._strange:
            raise Error(f"{self.path}: damaged: {self._strange[chunk]!r} is the name of nothing that frame {k} has")
        return out

    def _array(self, name, chunk):
        """An array of a chunk, None if it is not recorded."""
        if self._kept[0] != chunk:
            self._kept = (chunk, {})
        arrays, entry = self._kept[1], f"{name}_{chunk:06d}"
        if name not in arrays:
            arrays[name] = self._in.array(entry) if f"{entry}.npy" in self._in.names else None
            frames = int(self._first[chunk + 1] - self._first[chunk])
            if arrays[name] is None and name in self._always:
                raise Error(f"{self.path}: damaged: {entry} is missing")
            if name in ("qpos", *OPTIONAL) and arrays[name] is not None and len(arrays[name]) != frames:
                raise Error(f"{self.path}: damaged: {entry} has not as many frames as times")
        return arrays[name]

    def data(self):
        """A tisim.Data with as many worlds as were recorded, for `show`."""
        from tisim.data.data import Data

        return Data(self.model, nworld=len(self.worlds))

    def show(self, d, k):
        """Puts frame k into a Data of `data()`: time, qpos, mocap bodies, who sleeps, and the poses that follow."""
        m, frame = self.model, self[k]
        given.check(m, d)
        every = np.arange(d.nworld)
        if frame["qpos"].shape != (d.nworld, m.nq):
            raise Error(f"{self.path}: frame {k} is of {frame['qpos'].shape[0]} worlds, the Data has {d.nworld}")
        write_worlds(d, "world_time", every, frame.get("world_time", frame["time"]))
        write_worlds(d, "qpos", every, frame["qpos"])
        if "mocap" in frame:
            write_worlds(d, "mocap_pos", every, frame["mocap"][..., :3])
            write_worlds(d, "mocap_quat", every, frame["mocap"][..., 3:])
        d.program.spoil()
        none = np.zeros((d.nworld, m.ntree), bool)
        trees = np.where(frame.get("asleep", none), np.arange(m.ntree), AWAKE)
        trees[frame.get("removed", none)] = GONE
        take(m, trees)
        if listed(m):  # all are awake while they are placed
            write_worlds(d, "tree_asleep", every, np.full((d.nworld, m.ntree), AWAKE))
            stale(d)
            wake_written(m, d)
        dynamics.fwd_position(m, d)
        tendon.tendons(m, d)
        write_worlds(d, "tree_asleep", every, trees)


def _strange(names):
    """{number of a chunk: a name among its entries that none of a recording has there}.

    The entry of what is not always recorded would not be missed, were its name damaged, for which there is no checksum.
    """
    out, chunk = {}, 0
    for name in names:
        if name in ("recording.json", "model.npz"):
            continue
        column = name.removesuffix(f"_{chunk:06d}.npy")
        if column not in COLUMNS:
            out[chunk] = name
        chunk += column == "time"
    return out
