"""Numbers of a simulation over time, as CSV or NPZ: energy, contacts, what the solver had to do, sensors, states.

A row is a moment: the state then, and what the step from there, or forward, computed of it.
"""

import csv
import pathlib

import numpy as np

from tisim.data import given
from tisim.device.damaged import DAMAGED
from tisim.device.whole_file import check, whole
from tisim.errors import Error

COUNTS = ("contacts", "rows", "islands", "iterations")
OWN = ("time", "potential", "kinetic", *COUNTS)
SUFFIXES = (".csv", ".npz")


def sensor_names(m):
    """(nsensordata,) names: that of the sensor, with [k] where it has several numbers; `sensor time` of one named time,
    as another column is."""
    out = []
    for i in range(m.nsensor):
        name, dim = m.id2name("sensor", i) or f"sensor {i}", int(m.sensor_dim[i])
        name = f"sensor {name}" if name in OWN else name
        out += [name] if dim == 1 else [f"{name}[{k}]" for k in range(dim)]
    return out


class Log:
    """Writes moments of one world of a simulation to a file.

    path   ends in .csv: a line for each, on disk at once; or in .npz: written whole when it is closed.
    m, d   what is simulated; energy is computed if the model's flag asks for it, else it is 0.
    world  which one of the Data;  state  True: qpos and qvel, too.

        with Log("numbers.csv", m, d) as log:
            for _ in range(300):
                log.begin()         # time and state
                tisim.step(m, d)
                log.end()           # what that step computed there

    Columns: time [s], potential, kinetic [J], contacts, rows, islands, iterations (the most of an island), sensors by
    name, qpos[i], qvel[i]. An .npz has time (n,), energy (n, 2), the counts (n,), sensordata (n, nsensordata), qpos,
    qvel, and sensor_names. Raises Error where the file cannot be written.
    """

    def __init__(self, path, m, d, world=0, state=False):
        given.check(m, d)
        self.path, self.m, self.d, self.world, self.state = pathlib.Path(path), m, d, world, bool(state)
        if self.path.suffix.lower() not in SUFFIXES:
            raise Error(f"{path}: expected a name ending in {' or '.join(SUFFIXES)}")
        if not 0 <= world < d.nworld:
            raise Error(f"world={world}: this Data has {d.nworld} worlds")
        self.number, self._rows, self._begun = 0, [], None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "w", newline="", encoding="utf-8") if self._is_csv else None
        except OSError as e:
            raise self._unwritten(e) from None
        if self._is_csv:
            self._write(self.columns())
        else:
            check(self.path, "log")

    def _unwritten(self, error):
        return Error(f"{self.path}: cannot write the log: {error.strerror or error}")

    def _write(self, row):
        """A line of a CSV, on disk at once."""
        try:
            csv.writer(self._file).writerow(row)
            self._file.flush()
        except OSError as e:
            raise self._unwritten(e) from None

    @property
    def _is_csv(self):
        return self.path.suffix.lower() == ".csv"

    def columns(self):
        """Names of the columns."""
        m = self.m
        states = [f"qpos[{i}]" for i in range(m.nq)] + [f"qvel[{i}]" for i in range(m.nv)] if self.state else []
        return [*OWN, *sensor_names(m), *states]

    def _of_world(self, name):
        values = np.asarray(getattr(self.d, name))
        return values[self.world] if self.d.nworld > 1 else values

    def begin(self):
        """Takes down time and state."""
        states = [np.array(self._of_world(k), float).ravel() for k in ("qpos", "qvel")] if self.state else []
        self._begun = float(np.atleast_1d(self.d.time)[self.world]), states

    def end(self):
        """Writes a row: what was taken down, and what has been computed of it since."""
        if self._begun is None:
            raise Error("nothing has been begun: call begin() before the step")
        (time, states), self._begun = self._begun, None
        row = np.concatenate([[time], self._of_world("energy"), self._counts(), self._of_world("sensordata"), *states])
        if self._file:
            counts = range(3, 3 + len(COUNTS))
            self._write([int(v) if k in counts else repr(float(v)) for k, v in enumerate(row)])
        else:
            self._rows.append(row)
        self.number += 1

    def _counts(self):
        """Contacts, rows, islands and most iterations, of all worlds where they are not counted by world."""
        d = self.d
        niter = np.asarray(d.solver_niter)
        return [np.atleast_1d(d.ncon)[self.world], int(d.nefc), int(d.nisland), niter.max() if niter.size else 0]

    def close(self):
        """Finishes the file."""
        if self._file:
            try:
                self._file.close()
            except OSError as e:
                raise self._unwritten(e) from None
        elif self._rows is not None:
            m, rows = self.m, np.array(self._rows).reshape(self.number, len(self.columns()))
            cuts = np.cumsum([1, 2, *[1] * len(COUNTS), m.nsensordata, *([m.nq] if self.state else [])])
            names = ["time", "energy", *COUNTS, "sensordata", *(["qpos", "qvel"] if self.state else [])]
            arrays = {k: v for k, v in zip(names, np.split(rows, cuts, axis=1))}
            arrays = {k: v[:, 0] if k in ("time", *COUNTS) else v for k, v in arrays.items()}
            with whole(self.path, "log") as part, open(part, "wb") as f:
                np.savez(f, sensor_names=np.array(sensor_names(m), str), **arrays)
        self._rows = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def read(path):
    """A log as a dict of columns (n,): those of a .csv; of an .npz all but the states. Raises Error if it is none."""
    path = pathlib.Path(path)
    if not path.is_file():
        raise Error(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}")
    try:
        if path.suffix.lower() == ".csv":
            with open(path, newline="", encoding="utf-8") as f:
                names, *rows = csv.reader(f)
            rows = [row for row in rows if len(row) == len(names)]  # the last one may be cut off
            return dict(zip(names, np.array(rows, float).reshape(len(rows), len(names)).T))
        with np.load(path, allow_pickle=False) as f:
            out = dict(time=f["time"], potential=f["energy"][:, 0], kinetic=f["energy"][:, 1])
            out |= {k: f[k] for k in COUNTS}
            return out | dict(zip(f["sensor_names"].tolist(), f["sensordata"].T))
    except (OSError, *DAMAGED) as error:
        raise Error(f"{path}: this is no log that tisim wrote ({type(error).__name__})") from None
