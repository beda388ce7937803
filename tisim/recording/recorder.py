"""tisim.Recorder: what is seen of a simulation, written to a file while it runs.

The file is a NumPy .npz that grows (archive.py):

    recording.json   format "tisim recording 1", which worlds, and what else is recorded
    model.npz        the model, as Model.save writes it: no other file is needed
    NAME_000000.npy  frames 0 to k of what is recorded, NAME_000001.npy those behind them, and so on:
      time           (k,) of the first world recorded [s]
      world_time     (k, worlds) of each, where they differ [s]
      qpos           (k, worlds, nq) f32: poses
      mocap          (k, worlds, nmocap, 7) f32: position and orientation of mocap bodies, if there are some
      asleep         (k, worlds, ntree) bool, where things may sleep
      removed        (k, worlds, ntree) bool, where some were (tisim.remove)
      solver         (k, 4) int: contacts, rows, islands, most rounds of an island; on request
      contact_first  (k + 1,) int: where the contacts of each frame begin in what follows; on request
      contact_geom   (n, 3) int: world, and the two geoms;  contact_pos (n, 3) f32 [m]
      contact_force  (n, 3) f32: force on the second geom, in the world's frame [N]
"""

import json
import os
import time

import numpy as np

from tisim.data import asleep, given, varied
from tisim.data.state import world_indices
from tisim.errors import Error
from tisim.model.file import to_bytes
from tisim.queries.motion import contact_force

from .archive import Writer

FORMAT = "tisim recording 1"
CHUNK = 8 << 20  # bytes of frames that are kept in memory at most
PAUSE = 1.0  # wall time after which what there is goes to disk [s]


class Recorder:
    """Writes frames of a simulation to a file.

        with tisim.Recorder("fall.npz", m, d) as recorder:
            for _ in range(300):
                tisim.step(m, d, 4)
                recorder.add()

    path    of the file, an .npz; it is replaced.  m, d  what is simulated: the model is written as it is now.
    worlds  index of the world to record, several, or None for all.
    solver  True: numbers of contacts, rows, islands and rounds, too;  forces  True: contacts and their forces, too,
            as d has them when a frame is added: those of the last step or forward.
    Frames are on disk a second after they were added at the latest, where others follow; after a kill all these can be
    read (tisim.Recording). Raises Error where the file cannot be written.
    """

    def __init__(self, path, m, d, worlds=None, solver=False, forces=False):
        given.check(m, d)
        varied.refuse(d, "a recording, which has one model,")
        self.path, self.model, self.data = os.fspath(path), m, d
        self._worlds = world_indices(d, worlds)
        if not len(self._worlds):
            raise Error("worlds: expected one at least")
        self._solver, self._forces, self._sleep = bool(solver), bool(forces), asleep.enabled(m)
        self._frames, self._bytes, self._chunk, self._since = [], 0, 0, time.monotonic()
        self.number = 0  # of frames added
        header = dict(
            format=FORMAT, modelname=m.modelname, timestep=float(m.opt.timestep), nworld=d.nworld,
            worlds=self._worlds.tolist(), solver=self._solver, forces=self._forces, sleep=self._sleep,
        )  # fmt: skip
        try:
            self._out = Writer(self.path)
            self._out.add({"recording.json": json.dumps(header).encode()})
            self._out.add({"model.npz": to_bytes(m)})
        except OSError as e:
            raise self._unwritten(e) from None

    def _unwritten(self, error):
        return Error(f"{self.path}: cannot write the recording: {error.strerror or error}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def add(self):
        """Adds a frame: what d holds now."""
        if self._out is None:
            raise Error(f"{self.path}: the recording is closed")
        frame = self._frame()
        if self._frames and frame.keys() != self._frames[0].keys():  # a chunk has the same arrays of all its frames
            self.flush()
        self._frames.append(frame)
        self._bytes += sum(np.asarray(v).nbytes for v in frame.values())
        self.number += 1
        if self._bytes >= CHUNK or time.monotonic() - self._since >= PAUSE:
            self.flush()

    def flush(self):
        """Writes what was added so far. Where that cannot be it is kept, and tried again with the next frame."""
        frames, columns, self._since = self._frames, {}, time.monotonic()
        if not frames:
            return
        if self._forces:
            counts = [len(frame["contact_geom"]) for frame in frames]
            columns["contact_first"] = np.cumsum([0, *counts])
        for name in frames[0]:
            join = np.concatenate if name.startswith("contact_") else np.stack
            columns[name] = join([frame[name] for frame in frames])
        try:
            # time comes last: a chunk that has it is whole
            names = sorted(columns, key=lambda name: name == "time")
            self._out.add({f"{name}_{self._chunk:06d}": columns[name] for name in names})
        except OSError as e:
            raise self._unwritten(e) from None
        self._frames, self._bytes = [], 0
        self._chunk += 1

    def close(self):
        """Writes what is left; frames cannot be added any more."""
        if self._out is not None:
            out = self._out
            try:
                self.flush()
            finally:
                self._out = None
                try:
                    out.close()
                except OSError as e:
                    raise self._unwritten(e) from None

    def _frame(self):
        m, d, worlds = self.model, self.data, self._worlds
        times = d.host("world_time").reshape(d.nworld)[worlds]
        frame = dict(time=times[0], qpos=d.host("qpos").reshape(d.nworld, m.nq)[worlds].astype(np.float32))
        if (times != times[0]).any():
            frame["world_time"] = times
        if m.nmocap:
            parts = [d.host(name).reshape(d.nworld, m.nmocap, -1)[worlds] for name in ("mocap_pos", "mocap_quat")]
            frame["mocap"] = np.concatenate(parts, axis=-1).astype(np.float32)
        trees = d.host("tree_asleep").reshape(d.nworld, m.ntree)[worlds]
        if self._sleep:
            frame["asleep"] = (trees >= 0) & (trees != asleep.GONE)
        if m.comes_and_goes:
            frame["removed"] = trees == asleep.GONE
        if self._solver:
            niter = np.asarray(d.solver_niter)
            frame["solver"] = np.array([np.sum(d.ncon), d.nefc, d.nisland, niter.max() if niter.size else 0])
        if self._forces:
            frame.update(self._contacts())
        return frame

    def _contacts(self):
        d = self.data
        here = np.flatnonzero(np.isin(np.asarray(d.contact.worldid), self._worlds))
        force = contact_force(self.model, d, here)[:, :3]
        frame = np.asarray(d.contact.frame, float).reshape(-1, 3, 3)[here]
        return dict(
            contact_geom=np.column_stack([np.asarray(d.contact.worldid)[here], np.asarray(d.contact.geom)[here]]),
            contact_pos=np.asarray(d.contact.pos)[here].astype(np.float32),
            contact_force=np.einsum("ck,cki->ci", force, frame).astype(np.float32),
        )  # fmt: skip
