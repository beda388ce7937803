"""Results of a sweep: a table, and the folder it grows in.

The folder holds sweep.json, which tells what is swept, and a file results-NNNN.npz for each run that worked on it.
Such a file grows by whole entries, one for cases of a group that came back; one cut off anywhere loses no more than
its last. An entry is a structured array: index of the case, a field for each result.
"""

import contextlib
import csv
import hashlib
import json
import os
import pathlib

import numpy as np

from tisim.device.whole_file import whole
from tisim.errors import Error, brief
from tisim.recording.archive import Reader, Writer

FORMAT = "tisim sweep 1"
ERRORS = ("raise", "keep")  # what a case that fails does to the sweep


def is_own(path):
    """Whether a path is named as a file that a sweep keeps in its folder."""
    name, _, number = path.stem.partition("-")
    return path.name == "sweep.json" or (path.suffix == ".npz" and name == "results" and number.isdecimal())


class Table:
    """What was measured: table["height"] is an array over the cases that are done, in the order of the cases.

    cases  those that were measured;  index  their numbers;  names  of the results;  missing  numbers of cases that are
    not done yet;  errors  dict of what went wrong, by number of the case, where errors="keep".
    """

    def __init__(self, cases, rows, errors):
        self.errors = dict(sorted(errors.items()))
        self._rows = rows[np.argsort(rows["index"], kind="stable")] if len(rows) else rows
        self.index = self._rows["index"] if len(rows) else np.zeros(0, np.int64)
        self.cases = [cases[k] for k in self.index]
        done = {*self.index.tolist(), *errors}
        self.missing = [c.index for c in cases if c.index not in done]
        self.names = [n for n in (rows.dtype.names or ()) if n != "index"]

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, name):
        if name not in self.names:
            raise Error(f"no result is named {brief(name)}; there are {', '.join(self.names) or 'none yet'}")
        return self._rows[name]

    def __repr__(self):
        left = f", {len(self.missing)} to do" if self.missing else ""
        wrong = f", {len(self.errors)} went wrong" if self.errors else ""
        return f"<tisim Table: {len(self)} cases{wrong}{left}; {', '.join(self.names)}>"

    @property
    def hash(self):
        """Hash of all results, by case: equal however and wherever they were computed."""
        h = hashlib.sha256(repr(self._rows.dtype.descr if len(self) else "").encode())
        for name in ("index", *self.names):
            h.update(np.ascontiguousarray(self._rows[name]).tobytes())
        h.update(repr(self.errors).encode())
        return h.hexdigest()[:16]

    def to_csv(self, path):
        """Writes a row for each case: number, seed, parameters, results. Raises Error where that fails."""
        params = list(self.cases[0]) if self.cases else []
        columns = {"case": self.index, "seed": np.array([c.seed for c in self.cases])}
        for name in params:
            _add(columns, name, [c[name] for c in self.cases], "_parameter")
        for name in self.names:
            _add(columns, name, self[name], "_measured")
        with whole(path) as part, open(part, "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f)
            out.writerow(columns)
            out.writerows(zip(*(np.asarray(c).tolist() for c in columns.values())))


def _add(columns, name, values, kind):
    """Adds the columns of a parameter or result; kind is behind a name that others have."""
    while name in columns or not columns.keys().isdisjoint(_columns(name, values)):
        name += kind
    columns.update(_columns(name, values))


def _columns(name, values):
    """Columns of numbers of a parameter or result: name, or name_0, name_1, ... of an array."""
    shapes = {np.shape(v) for v in values}
    if len(shapes) != 1 or shapes == {()}:
        return {name: [v if np.ndim(v) == 0 else np.array2string(np.asarray(v)) for v in values]}
    flat = np.reshape(np.array(list(values)), (len(values), -1))
    return {f"{name}_{k}": flat[:, k] for k in range(flat.shape[1])}


class Store:
    """Results as they come in, on disk where there is a folder.

    folder  path or None;  key  of what is swept;  number  of cases;  resume  whether results may be there already.
    """

    def __init__(self, folder, key, number, resume):
        self._rows, self.errors, self._measured, self._writer, self._count = [], {}, set(), None, 0
        self._names = {}  # names and shapes of results -> the names in their order
        if folder is not None and (not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder)):
            raise Error(f"out={brief(folder)}: expected the path of a folder, or None")
        self._folder = None if folder is None else pathlib.Path(folder)
        if self._folder is not None:
            self._open(key, number, resume)

    @property
    def done(self):
        """Numbers of the cases that were measured, or went wrong and were kept."""
        return self._measured | self.errors.keys()

    def forgive(self):
        """Cases that went wrong are to be done, too."""
        self.errors = {}
        own, _ = self._fitting()
        self._rows = [rows for rows in self._rows if _form(rows.dtype) == own]
        self._measured = {k for rows in self._rows for k in rows["index"].tolist()}
        self._names = {form: names for form, names in self._names.items() if form == own}

    def _open(self, key, number, resume):
        about, head = self._folder / "sweep.json", dict(format=FORMAT, sweep=key, cases=number)
        with self._told(), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._folder.stat()
        parts = sorted(filter(is_own, self._folder.glob("results-*.npz")))
        try:
            found = json.loads(about.read_text()) if about.exists() else None
        except (OSError, ValueError) as e:
            raise Error(f"{about}: damaged: {e}") from None
        if found is not None and not resume:
            raise Error(f"{self._folder} holds a sweep; resume=True (--resume) goes on with it, or name another folder")
        if found is not None and found != head:
            raise Error(f"{self._folder} holds another sweep: model, steps, cases, precision or functions differ")
        if found is None and parts:  # which a later resume would take for its own
            raise Error(f"{self._folder} holds results, and no sweep.json that tells of what: name another folder")
        for path in parts:
            self._read(path)
        with self._told():
            if found is None:
                with whole(about, folder=True) as part:
                    part.write_text(json.dumps(head))
            last = max((int(p.stem.partition("-")[2]) for p in parts), default=-1)
            self._writer = Writer(_claimed(self._folder, last + 1))

    @contextlib.contextmanager
    def _told(self):
        """A block in which the folder is looked for or written to."""
        try:
            yield
        except (OSError, ValueError) as e:  # of a name with a zero in it
            raise Error(f"out={str(self._folder)!r}: cannot write there: {getattr(e, 'strerror', None) or e}") from None

    def _read(self, path):
        try:
            reader = Reader(path)
            for name in reader.names:
                if name.endswith(".npy"):
                    self._take(reader.array(name[:-4]))
                else:
                    self._fail({int(k): text for k, text in json.loads(reader.bytes(name)).items()})
        except (OSError, ValueError, AttributeError) as e:
            raise Error(f"{path}: damaged: {e}") from None

    def _take(self, rows):
        fresh = rows[[k not in self._measured for k in rows["index"].tolist()]]
        self._names.setdefault(_form(rows.dtype), [n for n in rows.dtype.names if n != "index"])
        self._rows += [fresh] if len(fresh) else []
        self._measured.update(fresh["index"].tolist())
        self._fail({})

    def _fail(self, errors):
        """Notes what went wrong in cases; those that were measured another time are well."""
        self.errors = {k: text for k, text in (self.errors | errors).items() if k not in self._measured}

    def add(self, outcomes, cases, errors="raise"):
        """Outcomes of some cases, of which none is lost from here on. Whole numbers in some cases and others elsewhere
        are one column of the latter, in the end, whichever came first. Raises Error where results are of other names or
        shapes than before; with errors="keep" `table` tells which are."""
        good = {}
        for k, found, error in outcomes:
            if error is None:
                good.setdefault(frozenset((n, a.shape) for n, a in found.items()), []).append((k, found))
        own = next(iter(self._names or good), None)
        bad = {k: error for k, _, error in outcomes if error is not None}
        if bad:
            self._write(".json", json.dumps(bad).encode())
        self._fail(bad)
        for form, some in good.items():
            if form == own or errors == "keep":
                rows = self._rows_of(some, self._names.get(form) or list(some[0][1]))
                self._write("", rows)
                self._take(rows)
        for form in good if errors == "raise" else ():
            if form != own:
                raise Error(f"{cases[good[form][0][0]]}: {_misfit(form, own)}")

    def _rows_of(self, some, names):
        rows = np.zeros(len(some), _widest([_dtype(found, names) for _, found in some]))
        for row, (k, found) in enumerate(some):
            rows["index"][row] = k
            for name, array in found.items():
                rows[name][row] = array
        return rows

    def _write(self, end, content):
        if self._writer is not None:
            with self._told():
                self._writer.add({f"{self._count:08d}{end}": content})
        self._count += 1

    def _fitting(self):
        """Names and shapes of the first case that was measured, and what is wrong with cases of others, by number."""
        first = {}
        for rows in self._rows:
            form = _form(rows.dtype)
            first[form] = min(first.get(form, np.inf), rows["index"].min())
        own = min(first, key=first.get, default=None)
        odd = {k: _misfit(form, own) for rows in self._rows if (form := _form(rows.dtype)) != own
               for k in rows["index"].tolist()}  # fmt: skip
        return own, odd

    def table(self, cases):
        """The Table of what there is: of the names and shapes of the first case, so that it is the same whichever case
        came back first; others went wrong."""
        own, odd = self._fitting()
        fitting = [rows for rows in self._rows if _form(rows.dtype) == own]
        widest = _widest([rows.dtype for rows in fitting])
        rows = [rows.astype(widest) for rows in fitting] or [np.zeros(0, widest)]
        return Table(cases, np.concatenate(rows), self.errors | odd)

    def close(self):
        if self._writer is not None:
            with self._told():
                self._writer.close()


def _claimed(folder, number):
    """Path of a file for results, from this number on, that no other process on the same sweep has."""
    path = folder / f"results-{number:04d}.npz"
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return _claimed(folder, number + 1)
    return path


def _dtype(found, names):
    """dtype of a row for what was measured in a case, in the order of these names."""
    return np.dtype([("index", "i8"), *((n, found[n].dtype, found[n].shape) for n in names)])


def _widest(dtypes):
    """dtype of rows that hold those of all these, which differ in kinds of numbers alone."""
    if not dtypes:
        return np.dtype([("index", "i8")])
    first = dtypes[0]
    kinds = {n: {dtype[n].base for dtype in dtypes} for n in first.names}
    return np.dtype([(n, np.result_type(*kind), first[n].shape) for n, kind in kinds.items()])


def _form(dtype):
    """Names and shapes of results in rows of this dtype."""
    return frozenset((n, dtype[n].shape) for n in dtype.names if n != "index")


def _misfit(form, other):
    """What is wrong with a case of one form where the first is of another."""
    have, need = (", ".join(f"{n}{list(shape)}" for n, shape in sorted(f) if n != "warnings") for f in (form, other))
    return f"measure returned {have}, for other cases {need}"
