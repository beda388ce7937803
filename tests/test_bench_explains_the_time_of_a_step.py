"""`tisim bench` tells the time of a step, of its stages and kernels, what there was to do, and the memory; with
--compare it takes steps in turn with the newest MuJoCo and judges both answers in one problem."""

import json
import os
import signal

import mujoco
import numpy as np
import pytest

import tisim
from tisim import scenes
from tisim.cli import app as cli
from tisim.cli import peer, peer_process
from tisim.data import groups
from tisim.data.arrays import DATA
from tisim.enums import mjtTimer

HANDLER = signal.getsignal(signal.SIGINT)  # that of who runs the tests: a background job may have none
JOINTS = """<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .09"><freejoint/><geom size=".1" condim="6"/></body>
  <body pos="1 0 .3" euler="0 80 0"><joint type="hinge" axis="0 1 0" limited="true" range="-10 0" ref="5"
    frictionloss=".1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*argv):
        with pytest.raises(SystemExit) as end:
            cli.main(["bench", *argv, "--arch", "cpu"])
        printed = capsys.readouterr()
        return end.value.code, printed.out, printed.err

    return run


def test_json_tells_all_and_the_counts_are_the_datas(call):
    for _ in range(5):  # a stall may fall between two pieces that are told; the best counts
        code, out, err = call("pile", "--n", "12", "--settle", "40", "--repeats", "1", "--json")
        assert code == 0 and err == "", err
        found = json.loads(out)
        times = {s["timer"]: s["ms"] for s in found["stages"]}
        whole = sum(k["ms"] for k in found["kernels"]) + found["python_ms"]
        if whole > 0.9 * times["mjTIMER_STEP"]:
            break
    m = tisim.Model.from_xml_string(scenes.build("pile", n=12))
    d = tisim.Data(m)
    tisim.forward(m, d)
    tisim.step(m, d, 40 + 2)  # the first step from the settled state makes the records
    assert (found["pairs"], found["contacts"], found["rows"]) == (d.count("ncpair"), d.ncon, d.nefc)
    assert (found["islands"], found["rounds"]) == (d.nisland, d.solver_niter.sum())
    assert found["most_solver_iterations"] == d.solver_niter.max() and found["spins"] >= 0
    assert [s["timer"] for s in found["stages"]] == [t.name for t in mjtTimer if t != mjtTimer.mjNTIMER]
    assert 0.9 * times["mjTIMER_STEP"] < whole <= 1.01 * times["mjTIMER_STEP"]
    assert found["launches"] == sum(k["launches"] for k in found["kernels"]) >= 12
    assert found["median_ms"] > 0 and not found["stopped"]
    state = found["memory"]["state"]["bytes"]
    assert state >= 8 * (m.nq + 3 * m.nv) and sum(g["bytes"] for g in found["memory"].values()) > state


def test_every_array_is_in_one_group_of_memory():
    m = tisim.Model.from_xml_string(JOINTS)
    d = tisim.Data(m)
    tisim.step(m, d)
    found = groups.memory(m, d)
    assert sum(size for size, _ in found.values()) == sum(d.memory().values()) + sum(m.memory().values())
    of = dict(contact_pos="contacts", con_D="contacts", row_R="rows", cpair_geom1="pairs", sol_p="solver", qpos="state")
    assert {name: groups.group_of(DATA[name]) for name in of} == of


def test_tables_are_printed(call):
    code, out, err = call("pile", "--n", "12", "--settle", "40", "--repeats", "3", "--kernels")
    assert code == 0, err
    for words in ("col_narrow", "solve_islands", "launches", "MiB", "rounds of the solver", "ms median"):
        assert words in out, words


def test_what_a_user_gets_wrong_is_told(call):
    for argv, words in (
        (["--compare", "bullet"], "expected mujoco"), (["--compare", "mujoco", "--peer", "nowhere"], "pip install"),
        (["--compare", "mujoco", "--nworld", "2"], "one world"), (["--limit", "0"], "--limit"),
    ):  # fmt: skip
        code, out, err = call("pendulum", *argv)
        assert code == 2 and words in err and "Traceback" not in err, err


def test_no_mujoco_at_all_is_told_with_what_installs_it(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(peer, "installed", lambda: None)
    with pytest.raises(tisim.Error, match="pip install .* mujoco=="):
        peer.find(None)


def test_the_newest_mujoco_is_taken(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".peers" / "mujoco").mkdir(parents=True)
    for version, ours, expected in (("3.10.0", "3.4.0", "3.10.0"), ("3.2.0", "3.4.0", "3.4.0")):
        info = tmp_path / ".peers" / f"mujoco-{version}.dist-info"
        info.mkdir()
        monkeypatch.setattr(peer, "installed", lambda ours=ours: ours)
        folder, found = peer.find(None)
        assert found == expected and bool(folder) == (expected == version)
        info.rmdir()


def test_mujoco_is_compared_with(call):
    code, out, err = call("pile", "--n", "12", "--settle", "100", "--repeats", "4", "--json", "--compare", "mujoco")
    assert code == 0, err
    found = json.loads(out)["mujoco"]
    assert found["version"] == mujoco.__version__ and found["median_ms"] > 0
    assert found["ratio"] == pytest.approx(found["median_ms"] / json.loads(out)["median_ms"])
    assert {s["solver"] for s in found["solvers"]} == set(peer_process.SOLVERS)
    assert found["solver"] == found["solvers"][0]["solver"]
    answers = found["answers"]
    assert answers["equal"] and answers["tisim"]["contacts"] == answers["judge"]["contacts"]
    assert answers["tisim"]["cost"] == pytest.approx(answers["judge"]["cost"], rel=1e-5)
    assert answers["tisim"]["gradient"] < 1e-5 and answers["mujoco"]["cost"] is not None


def test_ctrl_c_keeps_what_was_measured(call, monkeypatch):
    step, calls = tisim.step, []

    def interrupted(m, d, nstep=1):
        step(m, d, nstep)
        calls.append(nstep)
        if len(calls) == 10:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tisim, "step", interrupted)
    code, out, err = call("pendulum", "--settle", "0", "--repeats", "100000", "--json")
    found = json.loads(out)
    assert code == 130 and found["stopped"] and found["repeats"] == 10 and found["median_ms"] > 0
    assert found["stages"][0]["ms"] > 0
    assert signal.getsignal(signal.SIGINT) is HANDLER


@pytest.mark.parametrize("cone", [mujoco.mjtCone.mjCONE_PYRAMIDAL, mujoco.mjtCone.mjCONE_ELLIPTIC])
def test_the_gradient_is_that_of_the_objective(cone):
    """By differences of the objective, and zero at MuJoCo's own minimum."""
    m = mujoco.MjModel.from_xml_string(JOINTS)
    m.opt.cone, m.opt.tolerance, m.opt.iterations = cone, 1e-12, 200
    d = mujoco.MjData(m)
    d.qvel[:] = 0.3
    mujoco.mj_forward(m, d)
    x, rng = d.qacc.copy(), np.random.default_rng(0)
    assert d.ncon and d.nefc > 4 * d.ncon - 1
    evaluate = peer_process.objective(mujoco, m, d)
    least, gradient = evaluate(x)
    assert gradient < 1e-8
    scale = 1 / (m.stat.meaninertia * m.nv)
    for _ in range(5):
        y, h = x + rng.normal(size=m.nv), 1e-6
        slopes = [(evaluate(y + h * e)[0] - evaluate(y - h * e)[0]) / (2 * h) for e in np.eye(m.nv)]
        cost, norm = evaluate(y)
        assert cost > least and norm == pytest.approx(scale * np.linalg.norm(slopes), rel=1e-5)


class Fake:
    """A peer whose solvers have these times and objectives."""

    def __init__(self, found):
        self.found = found

    def ask(self, do, within, solver, limit, out):
        ms, cost = self.found[solver]
        if ms is None:
            raise peer.Slow
        return dict(solver=solver, ms=ms, cost=cost)


def test_the_best_solver_is_the_fastest_of_those_as_good_as_any():
    def best(**found):
        return [f["solver"] for f in peer.choose(Fake(found), "", 1.0)]

    assert best(CG=(2.0, 5.0 + 1e-9), Newton=(3.0, 5.0), PGS=(1.0, 5.1)) == ["CG", "Newton", "PGS"]
    assert best(CG=(2.0, 5.1), Newton=(3.0, 5.0), PGS=(1.0, 5.2)) == ["Newton", "CG", "PGS"]
    assert best(CG=(2.0, 5.0), Newton=(None, None), PGS=(4.0, 5.0)) == ["CG", "PGS", "Newton"]
    with pytest.raises(tisim.Error, match="--limit"):
        best(CG=(None, None), Newton=(None, None), PGS=(None, None))


def test_a_slow_solver_is_ended_and_the_next_one_begins_anew(tmp_path):
    path, state = tmp_path / "model.xml", str(tmp_path / "state.npz")
    path.write_text(scenes.build("pile", n=300))
    d = mujoco.MjData(m := mujoco.MjModel.from_xml_path(str(path)))
    mujoco.mj_step(m, d, 30)
    np.savez(state, time=d.time, qpos=d.qpos, qvel=d.qvel, qacc_warmstart=d.qacc_warmstart)
    p = peer.Peer("", str(path), state)
    try:
        p._start()
        first = p.process.pid
        with pytest.raises(peer.Slow):
            p.ask("step", 0.2, n=100000)
        assert p.process is None and not os.path.exists(f"/proc/{first}")
        assert p.ask("begin", None, solver="CG")["version"] == mujoco.__version__
        with pytest.raises(tisim.Error, match="MuJoCo: AttributeError"):
            p.ask("begin", None, solver="none")
    finally:
        p.close()
