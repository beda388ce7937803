"""Makes broken saved models out of good ones, and says what becomes of them; run as a script in a process of its own.

python tests/shared/mutate_models.py model.npz FIRST LAST     mutants of these seeds; the last line is a summary
"""

import json
import pathlib
import sys
import tempfile
import warnings
import zipfile

import numpy as np

import tisim
from tisim.data.validate import validate
from tisim.model.fields import FIELDS

INTEGERS = (-1, -2, 0, 1, 2, 3, 7, 100, 65536, 2**31 - 1, -(2**31))
REALS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-300, 1e20, 1e300)
HEADER = (None, "x", -1, 0, 1e300, float("nan"), [], {}, 2**40, [1, 2])


def contents(path):
    """(header, arrays) of a saved model."""
    with zipfile.ZipFile(path) as z:
        header = json.loads(z.read("header.json"))
        return header, {name: np.lib.format.read_array(z.open(f"{name}.npy")) for name in FIELDS}


def write(path, header, arrays):
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("header.json", json.dumps(header))
        for name, a in arrays.items():
            with z.open(f"{name}.npy", "w") as f:
                np.lib.format.write_array(f, a)


def mutated(header, arrays, seed):
    """(header, arrays, words for it) with one to three changes, most of them of whole numbers."""
    rng = np.random.default_rng(seed)
    header, arrays, told = json.loads(json.dumps(header)), dict(arrays), []
    some = [n for n, a in arrays.items() if a.size]
    whole = [n for n in some if arrays[n].dtype.kind != "f"]
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(10)
        if kind == 0:
            group = header[("opt", "stat", "sizes")[rng.integers(3)]]
            name = sorted(group)[rng.integers(len(group))]
            group[name] = HEADER[rng.integers(len(HEADER))]
            told.append(f"{name} = {group[name]!r}")
            continue
        name = (whole if kind < 8 else some)[rng.integers(len(whole if kind < 8 else some))]
        a = arrays[name] = arrays[name].copy()
        at = rng.integers(a.size)
        if kind < 3:  # a neighbour's value, or one next to the right one: hard to tell from good ones
            value = a.flat[rng.integers(a.size)] if rng.random() < 0.5 else a.flat[at] + 1
        else:
            values = REALS if a.dtype.kind == "f" else INTEGERS
            value = values[rng.integers(len(values))]
        with np.errstate(all="ignore"):
            a.flat[at] = np.array(value).astype(a.dtype)
        told.append(f"{name}.flat[{at}] = {a.flat[at]}")
    return header, arrays, ", ".join(told)


def main(path, first, last):
    """Steps each mutant that loads; anything but a tisim.Error is an error here."""
    header, arrays = contents(path)
    refused = 0
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "mutant.npz"
        for seed in range(first, last):
            *both, told = mutated(header, arrays, seed)
            write(file, *both)
            print(seed, told, flush=True)
            try:
                m = tisim.Model.load(file)
                d = tisim.Data(m)
                for _ in range(3):
                    tisim.step(m, d)
                    validate(m, d)
                tisim.ray(m, d, [0, 0, 3], [0.1, 0, -1])
            except tisim.Error as e:
                assert "validate:" not in str(e), e
                refused += 1
    print("refused", refused, "stepped", last - first - refused)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
