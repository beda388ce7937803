"""dynamics="lcp": the same bits for any number of threads, in copies, files and batches; reset forgets."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tisim
from tisim.data.digest import state_hash
from tisim.device import memory, session, team

PILE = """
import os
import tisim
from tisim.data.digest import state_hash
from tisim.device import session
tisim.init(arch="cpu", precision="f64")
m = tisim.Model.from_scene("pile", n={n})
m.opt.dynamics = "lcp"
d = tisim.Data(m)
tisim.step(m, d, {steps})
assert d.ncon > {n} and 1 <= session.workers <= len(os.sched_getaffinity(0))
print(state_hash(d))
"""


def printed(n, steps):
    """What the program prints with 1, 2, 3 and 8 threads asked for."""
    found = set()
    for threads in (1, 2, 3, 8):
        env = dict(os.environ, TISIM_THREADS=str(threads))
        words = [sys.executable, "-c", PILE.format(n=n, steps=steps)]
        found.add(subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout)
    return found


def test_threads_change_no_bit():
    assert len(printed(400, 150)) == 1


@pytest.mark.parametrize("scene", [("pile", 400), ("ragdolls", 30)])
def test_parts_of_workers_change_no_bit_and_follow_their_pace(scene, monkeypatch):
    """In whatever proportion they have them; where one worker got nearly all, the other one gets more again."""
    tisim.init(arch="cpu", precision="f64", threads=2)
    if session.workers < 2:
        pytest.skip("needs two processors")
    monkeypatch.setattr(team, "SHORT", np.inf)  # none is sent home where others take a processor's time
    monkeypatch.setattr(team, "_rest", 0)
    m = tisim.Model.from_scene(scene[0], n=scene[1])
    m.opt.dynamics, m.lcp.bounce, m.lcp.armature = "lcp", 0.2, "ignore"
    start = tisim.Data(m)
    tisim.step(m, start, 100)
    found, shared, whole = [], [], 1 << 16
    for part in (None, 0, 3000, 60000, whole):
        d = copy.copy(start)
        for _ in range(20):
            if part is not None:
                memory.upload(d.device("parts"), np.array([2, 0, part, whole], np.int32))
            tisim.step(m, d)
        found.append(state_hash(d))
        tisim.step(m, d, 60)
        shared.append(d.host("parts").ravel()[:4].tolist())
    assert len(set(found)) == 1
    assert all(number == 2 and begin == 0 and 0.1 < mid / end < 0.9 for number, begin, mid, end in shared)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 4000, 10000])
def test_threads_change_no_bit_of_piles_of_ten_seconds(n):
    assert len(printed(n, 2000)) == 1


@pytest.fixture
def heap():
    """(Model, Data) of a heap that has just fallen."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=60)
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, 120)
    assert d.ncon > 60
    return m, d


def test_copies_go_on_alike(heap):
    m, d = heap
    copies = [copy.copy(d), pickle.loads(pickle.dumps(d))]
    other = tisim.Data(m)
    tisim.copy_state(m, d, other)
    for each in (d, *copies, other):
        tisim.step(each.model, each, 40)
    assert len({state_hash(each) for each in (d, *copies, other)}) == 1


def test_models_are_copied_and_saved_with_their_dynamics(heap, tmp_path):
    m, d = heap
    m.lcp.friction = "box"
    m.save(tmp_path / "m.npz")
    for other in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m)), tisim.Model.load(tmp_path / "m.npz")):
        assert other.opt.dynamics == "lcp" and dict(other.lcp.items()) == dict(m.lcp.items())
        other.lcp.friction = "circle"
        assert m.lcp.friction == "box"


def test_a_reset_forgets_all_impulses(heap):
    m, d = heap
    tisim.reset(m, d)
    fresh = tisim.Data(m)
    for each in (d, fresh):
        tisim.step(m, each, 120)
    assert state_hash(d) == state_hash(fresh)


def test_a_state_vector_begins_without_impulses_whatever_was_before(heap):
    m, d = heap
    state = tisim.get_state(m, d)
    fresh = tisim.Data(m)
    ends = []
    for each in (d, fresh):
        tisim.set_state(m, each, state)
        tisim.step(m, each, 20)
        ends.append(state_hash(each))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("step", [tisim.step, lambda m, d: (tisim.step1(m, d), tisim.step2(m, d))])
@pytest.mark.parametrize("through", [lambda d: d, copy.copy])
def test_a_step_of_the_convex_dynamics_leaves_no_impulses(heap, step, through):
    """What the last hard step ended with is not the last step's any more: a state vector is all there is again."""
    m, d = heap
    tisim.step(m, d)
    d = through(d)
    try:
        m.opt.dynamics = "convex"
        step(m, d)
        m.opt.dynamics = "lcp"
        fresh = tisim.Data(m)
        tisim.copy_state(m, d, fresh, int(tisim.mjtState.mjSTATE_INTEGRATION) & ~int(tisim.mjtState.mjSTATE_WARMSTART))
        for each in (d, fresh):
            tisim.step(m, each)
        assert d.ncon > 20 and np.array_equal(d.qvel, fresh.qvel) and np.array_equal(d.qpos, fresh.qpos)
    finally:
        m.opt.dynamics = "lcp"


def test_worlds_of_a_batch_are_like_single_ones(heap):
    m, _ = heap
    batch, single = tisim.Data(m, nworld=3), tisim.Data(m)
    batch.qvel[1, 0] = 1.0
    tisim.step(m, batch, 100)
    tisim.step(m, single, 100)
    assert np.array_equal(batch.qpos[0], single.qpos) and np.array_equal(batch.qpos[2], single.qpos)
    assert not np.array_equal(batch.qpos[1], single.qpos)
    tisim.reset(m, batch, [0])
    tisim.step(m, batch, 30)
    tisim.step(m, single, 30)
    fresh = tisim.Data(m)
    tisim.step(m, fresh, 30)
    assert np.array_equal(batch.qpos[2], single.qpos) and np.array_equal(batch.qpos[0], fresh.qpos)


@pytest.mark.parametrize("given", [{}, dict(friction="box"), dict(friction="polygon", eta=6), dict(bounce=0.4)])
def test_contacts_visited_side_by_side_are_as_those_visited_alone(given):
    """In one world each of a tower's manifolds is alone in its colour or with one other, in five worlds four and four
    are side by side and some are left."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("tower", n=3)
    m.opt.dynamics = "lcp"
    m.lcp.take(given)
    single, batch = tisim.Data(m), tisim.Data(m, nworld=5)
    single.qvel[:] = pushed = 0.5 * np.random.default_rng(0).normal(size=m.nv)
    batch.qvel[:] = pushed
    most = 0
    for _ in range(50):
        tisim.step(m, single, 4)
        tisim.step(m, batch, 4)
        assert all(np.array_equal(q, single.qpos) for q in batch.qpos)
        most = max(most, single.ncon)
    assert most > 4


def test_runs_of_the_command_line_resume_to_the_same_bits(tmp_path):
    def run(folder, *more):
        words = ["run", "pile", "--n", "60", "--dynamics", "lcp", "--no-picture", "-o", str(tmp_path / folder), *more]
        subprocess.run([sys.executable, "-m", "tisim", *words], capture_output=True, text=True, check=True)
        with np.load(tmp_path / folder / "state.npz") as saved:
            return {name: saved[name] for name in saved.files}

    whole = run("whole", "--steps", "160")
    first = run("half", "--steps", "100")
    half = run("half", "--steps", "60", "--from", str(tmp_path / "half" / "state.npz"))
    assert len(first["lcp_impulse"]) > 20
    assert half["state"].tobytes() == whole["state"].tobytes()
    assert half["lcp_impulse"].tobytes() == whole["lcp_impulse"].tobytes()


def test_forces_it_does_not_tell_are_refused_and_accelerations_leave_those_it_does(heap):
    m, d = heap
    tisim.step(m, d, 700)
    known = tisim.contact_force(m, d, range(d.ncon))
    for read in (d, d.world(0)):
        for name in ("cfrc_ext", "cfrc_int", "qfrc_constraint"):
            with pytest.raises(tisim.UnsupportedError, match=f"{name}: tisim.contact_force"):
                getattr(read, name)
        assert np.allclose(np.median(read.cacc[1:], axis=0), [0, 0, 0, 0, 0, 9.81], atol=0.05), "most of them rest"
    with pytest.raises(tisim.UnsupportedError, match="cfrc_ext"):
        tisim.rne_post_constraint(m, d)
    assert (tisim.contact_force(m, d, range(d.ncon)) == known).all() and known[:, 0].max() > 0
    m.opt.dynamics = "convex"
    tisim.step(m, d)
    assert np.abs(d.cfrc_ext[1:]).max() > 0


def test_forces_are_those_of_the_dynamics_that_stepped_last(heap):
    """To choose another one changes no number that is there, nor does reading them."""
    m, d = heap
    tisim.step(m, d, 400)
    known = tisim.contact_force(m, d, range(d.ncon))
    assert known[:, 0].max() > 0
    m.opt.dynamics = "convex"
    for data in (d, copy.copy(d)):
        assert (tisim.contact_force(m, data, range(data.ncon)) == known).all()
        for name in ("cfrc_ext", "cfrc_int", "qfrc_constraint"):
            with pytest.raises(tisim.UnsupportedError, match=f"lcp stepped last and has no {name}"):
                getattr(data, name)
        assert np.abs(data.cacc[1:, 5]).max() > 9
        assert (tisim.contact_force(m, data, range(data.ncon)) == known).all()
    tisim.forward(m, d)
    soft = tisim.contact_force(m, d, range(d.ncon))
    assert soft[:, 0].sum() == pytest.approx(d.efc_force.sum()) and np.abs(d.cfrc_ext[1:]).max() > 0
    m.opt.dynamics = "lcp"
    assert (tisim.contact_force(m, d, range(d.ncon)) == soft).all() and d.ncon
    tisim.forward(m, d)
    with pytest.raises(tisim.Error, match="another pose; ask for them behind tisim.step, before tisim.forward"):
        tisim.contact_force(m, d, range(d.ncon))
