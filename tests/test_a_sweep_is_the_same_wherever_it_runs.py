"""A sweep gives every case exactly once, with the same bits in one process, in many, on a cluster, and after kills."""

import csv
import functools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import mujoco
import numpy as np
import pytest

import tisim
from tisim.recording.archive import Reader

STACK = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="a" pos="0 0 .1"><freejoint/><geom name="a" type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="b" pos=".03 0 .31"><freejoint/><geom name="b" type="sphere" size=".1" mass="1"/></body>
</worldbody></mujoco>"""
FILE = """
import multiprocessing, os, time
import numpy as np
import tisim
model = tisim.Spec.from_string({xml!r}).compile()
cases = {{"opt.gravity": [[0.02 * k, 0, -9.81] for k in range({number})]}}
steps = {steps}
def measure(m, d, case):
    while case.index >= int(os.environ.get("TISIM_TEST_HOLD", 99)) and multiprocessing.parent_process().is_alive():
        time.sleep(0.05)
    return {{"pos": np.array(d.qpos), "energy": float(case.rng.random())}}
"""
NUMBER = 40


def measure(m, d, case):
    return {"qpos": np.array(d.qpos), "drawn": case.rng.random(), "rises": bool(d.qvel[2] > 0)}


def push(m, d, case):
    d.qvel[0] = case["push"]


def dies(m, d, case):
    """The process ends at case 5, as often as the file `deaths` asks."""
    if case.index == 5:
        path = pathlib.Path(os.environ["TISIM_TEST_DEATHS"])
        left = int(path.read_text())
        if left:
            path.write_text(str(left - 1))
            os._exit(9)


def fails(m, d, case):
    if case.index == 3:
        raise ValueError("no such luck")


def model():
    return tisim.Model.from_xml_string(STACK)


def cases(number=NUMBER):
    rng = np.random.default_rng(0)
    return {
        "qvel": rng.normal(size=(number, 12)),
        "opt.gravity": rng.normal(size=(number, 3)) + [0, 0, -9.8],
        "push": rng.normal(size=number),
    }


def test_one_process_and_many_give_the_same_bits():
    m, some = model(), cases()
    whole = tisim.sweep(m, some, 30, measure, prepare=push)
    assert whole["qpos"].shape == (NUMBER, 14) and whole["rises"].dtype == bool
    assert len({*whole["drawn"].tolist()}) == NUMBER, "each case has a seed of its own"
    apart = tisim.sweep(m, some, 30, measure, prepare=push, workers=3)
    assert apart.hash == whole.hash
    backwards = {name: values[::-1] for name, values in some.items()}
    backwards["seed"] = np.arange(NUMBER)[::-1]
    turned = tisim.sweep(m, backwards, 30, measure, prepare=push)
    for name in whole.names:
        assert (turned[name][::-1] == whole[name]).all(), name


def test_a_case_that_only_starts_elsewhere_does_not_see_the_one_before():
    m, some = model(), {"qvel": cases()["qvel"]}
    table = tisim.sweep(m, some, 30, measure)
    for k in (0, 7, NUMBER - 1):
        d = tisim.Data(m)
        d.qvel[:] = some["qvel"][k]
        tisim.step(m, d, 30)
        assert np.asarray(d.qpos).tobytes() == table["qpos"][k].tobytes()


@pytest.mark.parametrize("name, values", [
    ("opt.gravity", [[1.0, 0, -5]]),
    ("opt.timestep", [0.002]),
    ("body_mass", [[0, 4.0, 0.5]]),
    ("body_inertia", [[[0, 0, 0], [0.02, 0.03, 0.04], [0.01, 0.01, 0.01]]]),
    ("geom_friction", [[[1, 0.005, 1e-4], [0.2, 0.005, 1e-4], [0.1, 0.005, 1e-4]]]),
    ("geom_solref", [[[0.01, 1], [0.01, 1], [0.01, 1]]]),
    ("dof_damping", [np.linspace(0, 1, 12)]),
    ("qvel", [np.linspace(-1, 1, 12)]),
    ("xfrc_applied", [[[0, 0, 0, 0, 0, 0], [1, 2, 3, 0, 0, 0], [0, 0, 5, 0, 0, 0.1]]]),
])  # fmt: skip
def test_a_parameter_does_what_it_does_in_mujoco(name, values):
    found = tisim.sweep(model(), {name: values}, 60, measure)
    m = mujoco.MjModel.from_xml_string(STACK)
    d = mujoco.MjData(m)
    if name.startswith("opt."):
        value = values[0]
        if name == "opt.gravity":
            m.opt.gravity[:] = value
        else:
            m.opt.timestep = value
    elif hasattr(m, name):
        getattr(m, name)[...] = values[0]
        mujoco.mj_setConst(m, d)
        mujoco.mj_resetData(m, d)
    else:
        getattr(d, name)[...] = values[0]
    for _ in range(60):
        mujoco.mj_step(m, d)
    assert np.allclose(found["qpos"][0], d.qpos, rtol=0, atol=1e-6)


def test_a_process_that_dies_is_replaced_and_its_case_tried_again(tmp_path, monkeypatch):
    deaths = tmp_path / "deaths"
    monkeypatch.setenv("TISIM_TEST_DEATHS", str(deaths))
    m, some = model(), cases(12)
    deaths.write_text("0")
    whole = tisim.sweep(m, some, 5, measure, prepare=dies)
    deaths.write_text("2")
    assert tisim.sweep(m, some, 5, measure, prepare=dies, workers=2).hash == whole.hash
    deaths.write_text("99")
    with pytest.raises(tisim.Error, match="^case 5 .*process died"):
        tisim.sweep(m, some, 5, measure, prepare=dies, workers=2, retries=1)
    kept = tisim.sweep(m, some, 5, measure, prepare=dies, workers=2, retries=0, errors="keep")
    assert list(kept.errors) == [5] and len(kept) == 11 and not kept.missing


def test_a_case_that_fails_is_named_and_the_others_are_kept(tmp_path):
    m, some = model(), cases(6)
    with pytest.raises(tisim.Error, match="^case 3 .*push=.*ValueError: no such luck"):
        tisim.sweep(m, some, 5, measure, prepare=fails, out=tmp_path / "a")
    kept = tisim.sweep(m, some, 5, measure, prepare=fails, errors="keep", out=tmp_path / "a", resume=True)
    assert kept.errors == {3: "ValueError: no such luck"} and kept.index.tolist() == [0, 1, 2, 4, 5]


def test_a_folder_cut_off_at_any_byte_is_gone_on_with(tmp_path):
    m, some, folder = model(), cases(5), tmp_path / "out"
    whole = tisim.sweep(m, some, 3, measure, prepare=push, out=folder)
    file = folder / "results-0000.npz"
    data, chance = file.read_bytes(), random.Random(1)
    for length in (0, len(data), *(chance.randrange(len(data)) for _ in range(20))):
        for path in folder.glob("results-*"):
            path.unlink()
        file.write_bytes(data[:length])
        again = tisim.sweep(m, some, 3, measure, prepare=push, out=folder, resume=True)
        assert again.hash == whole.hash, length
    with pytest.raises(tisim.Error, match="resume"):
        tisim.sweep(m, some, 3, measure, prepare=push, out=folder)
    with pytest.raises(tisim.Error, match="another sweep"):
        tisim.sweep(m, some, 4, measure, prepare=push, out=folder, resume=True)


def test_a_killed_sweep_resumes_with_every_case_once(tmp_path):
    (tmp_path / "many.py").write_text(FILE.format(xml=STACK, number=NUMBER, steps=400))
    line = [sys.executable, "-m", "tisim", "sweep", "many.py", "--workers", "2", "--resume", "--json"]
    whole = subprocess.run([*line, "-o", "whole"], cwd=tmp_path, capture_output=True, text=True)
    hash_ = json.loads(whole.stdout)["hash"]
    for hold in (13, 26, 39, 99):  # cases from this one on do not end, so that each kill but the last comes in time
        part = subprocess.Popen([*line, "-o", "part"], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
                                env=os.environ | {"TISIM_TEST_HOLD": str(hold)})  # fmt: skip
        before, end = len(list(tmp_path.glob("part/results-*"))), time.monotonic() + 300
        while hold < NUMBER:
            files = sorted(tmp_path.glob("part/results-*"))
            if len(files) > before and files[-1].stat().st_size > 1500:
                part.send_signal(signal.SIGKILL)
                break
            assert part.poll() is None and time.monotonic() < end
            time.sleep(0.005)
        out, _ = part.communicate()
        assert part.returncode == (-signal.SIGKILL if hold < NUMBER else 0)
    assert json.loads(out)["hash"] == hash_
    index = [k for f in sorted(tmp_path.glob("part/results-*")) for k in rows_of(f)]
    assert sorted(index) == list(range(NUMBER)), "none twice"


def rows_of(path):
    reader = Reader(path)
    return [int(k) for name in reader.names if name.endswith(".npy") for k in reader.array(name[:-4])["index"]]


@pytest.mark.parametrize("change, words", [
    (dict(cases={"geom_frictoin": [1]}), "geom_friction"),
    (dict(cases={"geom_size": [[1]]}), "follow from it"),
    (dict(cases={"jnt_type": [[0]]}), "function of the case"),
    (dict(cases={"opt.gravty": [1]}), "gravity"),
    (dict(cases={"qvel": [[1, 2, 3]]}), r"^case 0 .qvel=.1 2 3..: qvel: has shape \(3,\), which does not fit \(12,\)"),
    (dict(cases={"qvel": [1, 2], "ctrl": [1]}), "different lengths"),
    (dict(cases=[{"qvel": 1}, {"qpos": 1}]), "case 1 has the parameters"),
    (dict(cases=[]), "there are none"),
    (dict(cases={"qpos": [[[1], [1, 2]]]}), r"case 0: qpos=.*expected numbers"),
    (dict(cases={"qpos": ["x"]}), "^case 0 .qpos='x'.: expected numbers, got 'x'"),
    (dict(cases={"time": ["x"]}), "^case 0 .time='x'.: expected numbers, got 'x'"),
    (dict(cases={"time": [np.nan]}), "^case 0 .time=nan.: time: expected finite numbers"),
    (dict(cases={"time": [[0, 1]]}), "^case 0 .*world_time, of shape"),
    (dict(seed=None), "seed=None: expected a whole number"),
    (dict(out=3), "out=3: expected the path of a folder"),
    (dict(show=3), "show=3: expected a function"),
    (dict(cases={"seed": [-1]}), "seed=-1"),
    (dict(cases={"ctrl": [1]}), r"^case 0 .ctrl=1.: ctrl: there is nothing to set, it has shape \(0,\)"),
    (dict(cases={"mocap_pos": [1]}), r"mocap_pos: there is nothing to set, it has shape \(0, 3\) in this model"),
    (dict(measure=lambda m, d, case: 2**63), "^case 0 .*value is above the largest whole number of 64 bits"),
    (dict(steps=-1), "steps=-1"),
    (dict(measure=3), "measure=3"),
    (dict(measure=lambda m, d, case: {"a": "b"}), "a is no number"),
    (dict(measure=lambda m, d, case: {"a": np.zeros(1 + case.index)}), r"case 1 .*measure returned"),
    (dict(measure=lambda m, d, case: 1, workers=2), "by name"),
    (dict(workers="some"), "workers='some'"),
    (dict(errors="no"), "errors='no'"),
    (dict(model=7), "expected a Model"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(change, words):
    with pytest.raises(tisim.Error, match=words):
        tisim.sweep(**{**dict(model=model(), cases={"time": [0, 1]}, steps=1, measure=measure), **change})


@pytest.mark.parametrize("values", [(0, 0.5, 1, True), (0.5, 0, True, 1), (True, 2, 3, 4)])
def test_whole_numbers_and_others_are_one_column(tmp_path, values):
    """Once `0 if it fell else height` ended a sweep at the first case of the other kind."""

    def run(**how):
        return tisim.sweep(model(), 4, 0, lambda m, d, case: {"a": values[case.index], "b": case.index}, **how)

    table = run()
    assert table["a"].tolist() == list(values) and table["b"].dtype == np.int64
    for number in range(1, 4):
        folder = tmp_path / str(number)
        assert len(run(out=folder, show=lambda done, _, number=number: done >= number)) == number
        assert run(out=folder, resume=True).hash == table.hash
    table.to_csv(tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 5


def test_a_file_of_the_users_in_the_folder_is_left_alone(tmp_path):
    (tmp_path / "results-abc.npz").write_text("mine")
    tisim.sweep(model(), 2, 1, lambda m, d, case: 1, out=tmp_path)
    assert (tmp_path / "results-abc.npz").read_text() == "mine" and (tmp_path / "results-0000.npz").exists()


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
    (tmp_path / "some.py").write_text(FILE.format(xml=STACK, number=2, steps=1))
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


def test_models_made_by_case():
    def pendulum(case):
        return tisim.Model.from_scene("pendulum") if case["long"] else model()

    found = tisim.sweep(pendulum, {"long": [0, 1]}, 1, lambda m, d, case: m.nq)
    assert found["value"].tolist() == [14, 1]


def test_a_cluster_that_loses_a_node_gives_the_same_table(tmp_path):
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'tisim[ray]'")
    from ray.cluster_utils import Cluster

    m, some = model(), cases(300)
    whole = tisim.sweep(m, some, 100, measure, prepare=push)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    lost, began = [cluster.add_node(num_cpus=1)], []

    def show(done, total):
        began.append(done)
        if lost and done > total // 3:
            cluster.remove_node(lost.pop(), allow_graceful=False)
            cluster.add_node(num_cpus=1)

    try:
        ray.init(address=cluster.address, log_to_driver=False)
        found = tisim.sweep(m, some, 100, measure, prepare=push, workers="ray", show=show, out=tmp_path / "out")
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert not lost and found.hash == whole.hash
    assert sorted(k for f in (tmp_path / "out").glob("results-*") for k in rows_of(f)) == list(range(300))


DRIVER = """
import sys
import ray
import tisim
import {name} as t

ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
table = tisim.sweep(t.model(), t.cases({number}), 20, t.measure, prepare=t.push, workers="ray", out="out", resume=True,
                    show=lambda done, total: print(done, total, flush=True))
open("hash", "w").write(table.hash)
"""


@pytest.mark.slow
def test_two_thousand_cases_survive_a_killed_driver_and_a_killed_node(tmp_path):
    pytest.importorskip("ray", reason="needs Ray: pip install 'tisim[ray]'")
    from ray.cluster_utils import Cluster

    number = 2000
    whole = tisim.sweep(model(), cases(number), 20, measure, prepare=push)
    (tmp_path / "driver.py").write_text(DRIVER.format(name=pathlib.Path(__file__).stem, number=number))
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    node = cluster.add_node(num_cpus=1)
    line = [sys.executable, "driver.py", cluster.address]

    def drive(at, act):
        """Runs the driver; acts once so large a part of its cases is done."""
        with subprocess.Popen(line, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as driver:
            for said in filter(None, map(str.split, driver.stdout)):  # Ray says something, too
                if act and len(said) == 2 and said[0].isdigit() and int(said[0]) > at * int(said[1]):
                    act = act(driver)

    try:
        drive(1 / 4, lambda driver: driver.send_signal(signal.SIGKILL))
        before = [k for f in (tmp_path / "out").glob("results-*") for k in rows_of(f)]
        assert number / 8 < len(before) < number

        lost = []

        def lose(_):
            cluster.remove_node(node, allow_graceful=False)
            cluster.add_node(num_cpus=1)
            lost.append(node)

        drive(1 / 2, lose)
    finally:
        cluster.shutdown()
    assert lost and (tmp_path / "hash").read_text() == whole.hash
    assert sorted(k for f in (tmp_path / "out").glob("results-*") for k in rows_of(f)) == list(range(number))
