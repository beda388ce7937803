"""A sweep gives every case exactly once, with the same bits in one process, in many, on a cluster, and after kills."""

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
from shared.sweeps import STACK, rows_of

import tisim

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
    (dict(cases={"geom_contype": [1, 1.5]}), "^case 1 .*: geom_contype: expected whole numbers of 32 bits, got 1.5"),
    (dict(cases={"geom_contype": [[1, 2, np.nan]]}), "geom_contype: expected whole numbers of 32 bits, got nan"),
    (dict(cases={"geom_conaffinity": [2**40]}), "geom_conaffinity: expected whole .* got 1099511627776"),
    (dict(cases={"geom_priority": [0.5]}), "geom_priority: expected whole"),
    (dict(cases={"jnt_limited": [0.5]}), "jnt_limited: expected whole numbers of 8 bits, got 0.5"),
    (dict(cases={"opt.iterations": [2.5]}), "opt.iterations needs an integer, got 2.5"),
    (dict(out=3), "out=3: expected the path of a folder"), (dict(out=""), "out='': expected the path of a folder"),
    (dict(out="a\0b"), r"^out='a\\x00b': cannot write there: embedded null"),
    (dict(out="a" * 300), "^out='a*': cannot write there: File name too long"),
    (dict(show=3), "show=3: expected a function"),
    (dict(cases={"seed": [-1]}), "seed=-1"), (dict(cases={"seed": [True]}), "case 0: seed=True: expected a whole"),
    (dict(cases={"qpos": [0, np.ma.masked_less([1, 2], 2)]}), "case 1: qpos is a masked array"),
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


def test_whole_numbers_may_be_written_as_floats():
    values = [2, 3.0, np.float32(4), np.array([1.0, 0, 2])]
    table = tisim.sweep(model(), {"geom_contype": values}, 0, lambda m, d, case: m.geom_contype)
    assert table["value"].tolist() == [[2, 2, 2], [3, 3, 3], [4, 4, 4], [1, 0, 2]]


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
