"""A sweep takes no results but its own: not those of functions that hold other numbers, of another folder, or of cases
that went wrong; and what it writes takes the place of nothing."""

import csv
import functools
import pathlib
import sys

import numpy as np
import pytest
from shared.disk import full_disk
from shared.sweeps import STACK, rows_of

import tisim
from tisim.sweeping.case import read
from tisim.sweeping.results import Store

FILE = """
import tisim
model, cases, steps = tisim.Model.from_scene("pendulum"), 2, 1
def measure(m, d, case):
    return 1
"""


def model():
    return tisim.Model.from_xml_string(STACK)


def gives(value, m, d, case):
    return value


class Gives:
    def __init__(self, value):
        self.value = value

    def __call__(self, m, d, case):
        return self.value

    def method(self, m, d, case):
        return self.value


def given_by_default(value):
    def f(m, d, case, value=value):
        return value

    return f


FACTOR = 1.0


def scaled():
    return FACTOR


def gives_scaled(m, d, case):
    return scaled()


@pytest.mark.parametrize("make", [
    lambda value: lambda m, d, case: value, given_by_default, Gives, lambda value: Gives(value).method,
    lambda value: functools.partial(gives, value), lambda value: eval(f"lambda m, d, case: {value}"),
    lambda value: lambda m, d, case: gives(np.full(2, value), m, d, case)[0],
])  # fmt: skip
def test_functions_that_hold_other_numbers_are_another_sweep(tmp_path, make):
    """Once only their text counted, and what was measured for one number went on as the other's."""
    tisim.sweep(model(), 2, 0, make(1), out=tmp_path)
    with pytest.raises(tisim.Error, match="another sweep"):
        tisim.sweep(model(), 2, 0, make(2), out=tmp_path, resume=True)
    assert tisim.sweep(model(), 2, np.int64(0), make(1), out=tmp_path, resume=True)["value"].tolist() == [1, 1]


def test_functions_that_read_other_numbers_are_another_sweep(tmp_path, monkeypatch):
    tisim.sweep(model(), 2, 0, gives_scaled, out=tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 2.0)
    with pytest.raises(tisim.Error, match="another sweep"):
        tisim.sweep(model(), 2, 0, gives_scaled, out=tmp_path, resume=True)
    m = model()
    tisim.sweep(m, 2, 1, gives_scaled, out=tmp_path / "m")
    m.callback.control = lambda m, d: None
    with pytest.raises(tisim.Error, match="another sweep"):
        tisim.sweep(m, 2, 1, gives_scaled, out=tmp_path / "m", resume=True)


def test_results_of_an_unknown_sweep_are_not_taken_for_this_ones(tmp_path):
    """Once a folder without its sweep.json was begun anew beside them, and a resume read them all."""
    tisim.sweep(model(), 3, 0, lambda m, d, case: 1, out=tmp_path)
    (tmp_path / "sweep.json").unlink()
    with pytest.raises(tisim.Error, match="holds results, and no sweep.json"):
        tisim.sweep(model(), 3, 0, lambda m, d, case: 2, out=tmp_path)
    (tmp_path / "sweep.json").write_text("null")
    with pytest.raises(tisim.Error, match="holds results, and no sweep.json"):
        tisim.sweep(model(), 3, 0, lambda m, d, case: 2, out=tmp_path, resume=True)


def test_cases_that_went_wrong_are_tried_again_where_errors_end_a_sweep(tmp_path):
    """Once a resume with errors="raise" returned a table that lacked them."""

    def measure(m, d, case):
        return 1 / (case.index != 1 or (tmp_path / "mended").exists())

    def run(errors):
        return tisim.sweep(model(), 3, 0, measure, out=tmp_path / "out", resume=True, errors=errors)

    assert list(run("keep").errors) == [1] and list(run("keep").errors) == [1]
    with pytest.raises(tisim.Error, match="^case 1: ZeroDivisionError"):
        run("raise")
    (tmp_path / "mended").touch()
    assert list(run("keep").errors) == [1]
    for errors in ("raise", "keep"):
        table = run(errors)
        assert table["value"].tolist() == [1, 1, 1] and not table.errors and not table.missing


def test_what_measure_writes_is_not_seen_by_other_cases():
    """Once the next case in the same process had its timestep, and the user's Model, too."""

    def measure(m, d, case):
        before = m.opt.timestep
        m.opt.timestep, m.body_mass[1] = 0.1, 7 + m.body_mass[1]
        return [before, m.body_mass[1]]

    m = model()
    table = tisim.sweep(m, 3, 1, measure)
    assert table["value"].tolist() == [[0.005, 9.0]] * 3 and m.opt.timestep == 0.005


def test_columns_of_a_table_hide_no_others(tmp_path):
    """Once a parameter named case stood in place of the numbers of the cases."""

    def measure(m, d, case):
        return {"x": [5, 6], "x_0": 7, "case": 8, "warnings_": 9}

    params = {"case": [3, 4], "x": [[1, 2], [1, 2]], "x_1": [0, 0]}  # and of the columns of x
    tisim.sweep(model(), params, lambda m, d, case: None, measure).to_csv(tmp_path / "t.csv")
    head, first, _ = csv.reader((tmp_path / "t.csv").read_text().splitlines())
    assert len(head) == len({*head}) == 12
    row = dict(zip(head, first))
    assert row["case"] == "0" and row["case_parameter"] == "3" and row["case_measured"] == "8"
    assert row["x_0"] == "1" and row["x_0_measured"] == "7" and row["x_measured_1"] == "6"


def test_a_case_that_exits_is_one_that_fails():
    def measure(m, d, case):
        sys.exit(case.index or None)

    table = tisim.sweep(model(), 2, 0, measure, errors="keep")
    assert table.errors == {0: "SystemExit: ", 1: "SystemExit: 1"}


def test_sweeps_in_one_folder_at_once_write_files_of_their_own(tmp_path):
    """Once both wrote to one file, over each other's results."""
    other = []
    claim = pathlib.Path.touch

    def both(path, **how):  # between the look at the folder and the file of one comes the other
        pathlib.Path.touch = claim
        other.append(tisim.sweep(model(), 3, 0, Gives(1), out=tmp_path, resume=True))
        claim(path, **how)

    try:
        pathlib.Path.touch = both
        table = tisim.sweep(model(), 3, 0, Gives(1), out=tmp_path)
    finally:
        pathlib.Path.touch = claim
    assert [rows_of(path) for path in sorted(tmp_path.glob("results-*"))] == [[0, 1, 2]] * 2
    assert table.hash == other[0].hash == tisim.sweep(model(), 3, 0, Gives(1), out=tmp_path, resume=True).hash


def test_a_table_replaces_no_results(tmp_path, call):
    """Once --csv out/sweep.json, or a results file there, took their place; and a folder that is not there was told of
    behind the last case."""
    (tmp_path / "some.py").write_text(FILE)
    for path, words in (("o/sweep.json", "keeps its results there"), ("o/results-0000.npz", "keeps its results there"),
                        ("o", "keeps its results there"), ("o/no/t.csv", "cannot write the table")):  # fmt: skip
        code, out, err = call("sweep", "some.py", "-o", "o", "--csv", path)
        assert code == 2 and words in out + err and not (tmp_path / "o").exists()
    code, out, err = call("sweep", "some.py", "--workers", "²")
    assert code == 2 and "expected a positive number" in out + err


@pytest.mark.parametrize("damage", ["folder", "entry"])
def test_damaged_results_are_told(tmp_path, damage):
    tisim.sweep(model(), 3, 0, Gives(1), out=tmp_path)
    part = tmp_path / "results-0000.npz"
    if damage == "folder":
        part.unlink()
        part.mkdir()
    else:
        part.write_bytes(part.read_bytes().replace(b"00000000.npy", b"00000000.nqy"))
    with pytest.raises(tisim.Error, match="results-0000.npz: damaged: "):
        tisim.sweep(model(), 3, 0, Gives(1), out=tmp_path, resume=True)


def test_a_full_disk_is_told_and_what_was_measured_before_serves(tmp_path):
    def measure(m, d, case):
        return np.full(1000, case.index)

    m, cases = model(), {"opt.timestep": [0.001, 0.002, 0.003, 0.004]}
    with full_disk() as fill, pytest.raises(tisim.Error, match="cannot write there: File too large"):
        fill(20_000)
        tisim.sweep(m, cases, 1, measure, out=tmp_path / "out")
    again = tisim.sweep(m, cases, 1, measure, out=tmp_path / "out", resume=True)
    assert again["value"][:, 0].tolist() == [0, 1, 2, 3]


def test_results_of_another_shape_are_errors_of_their_cases(tmp_path):
    """Once such a case ended a sweep with errors="keep", and its group was measured again."""
    log = tmp_path / "log"

    def measure(m, d, case):
        with open(log, "a") as f:
            f.write(str(case.index))
        return {"b": case.index, "a": np.zeros(case.index % 2)} if case.index < 4 else {"a": np.zeros(0)}

    def run(errors="keep", out=tmp_path / "out"):
        return tisim.sweep(model(), 6, 0, measure, out=out, resume=True, errors=errors)

    table = run()
    assert table.index.tolist() == [0, 2] and not table.missing and table.names == ["b", "a", "warnings"]
    words = "measure returned a[1], b[], for other cases a[0], b[]"
    assert table.errors == {1: words, 3: words, 4: "measure returned a[0], for other cases a[0], b[]",
                            5: "measure returned a[0], for other cases a[0], b[]"}  # fmt: skip
    assert log.read_text() == "012345"
    again = run()
    assert again.hash == table.hash == run(out=None).hash and again.errors == table.errors
    assert log.read_text() == "012345" * 2
    with pytest.raises(tisim.Error, match=r"^case 1: measure returned a\[1\], b\[\], for other cases a\[0\]"):
        run("raise")


def test_the_first_case_tells_the_shape_whoever_comes_back_first():
    store = Store(None, "", 3, False)
    cases = read(3)
    for k in (2, 1, 0):
        store.add([(k, {"value": np.zeros(2 if k == 0 else 1), "warnings": np.array(0)}, None)], cases, "keep")
    table = store.table(cases)
    assert table.index.tolist() == [0] and list(table.errors) == [1, 2]
    assert table.errors[2] == "measure returned value[1], for other cases value[2]"
