"""tisim.remove takes kinematic trees out of a Data, tisim.add brings them back.

Contract: what was removed costs, touches and weighs nothing and is not seen; all else goes on to the same bits; what
lay on it falls as in MuJoCo's run of a model without it; what is added collides as if it had always been there.
"""

import copy
import gc
import json
import os
import pathlib
import pickle
import runpy

import mujoco
import numpy as np
import pytest
from shared.sleepers import BALL, UPPER, free, scene

import tisim
from tisim.data.validate import validate
from tisim.errors import Error, UnsupportedError
from tisim.viewer.camera import Camera
from tisim.viewer.drawing import poses
from tisim.viewer.scene import Look

STACK = free("a", "0 0 .1") + free("b", "0 0 .3", UPPER) + free("c", "0 0 .5", BALL)
HEAP = free("p", "2 0 .1") + free("q", "2 0 .3", UPPER) + free("r", "2.05 0 .5", UPPER)
MANY = '<body name="many" pos="0 2 .1"><freejoint/>' + "".join(
    f'<geom type="box" size=".04 .04 .05" pos="{x} {y} 0"/>' for x in (-0.1, 0, 0.1) for y in (-0.1, 0, 0.1)
) + "</body>" + free("on", "0 2 .3", BALL)  # fmt: skip


def start(world, sleep=False, nworld=1, **more):
    m = tisim.Model.from_xml_string(scene(world, sleep=sleep, **more))
    return m, tisim.Data(m, nworld)


def state_of(m, d, *names):
    """Bits of the state of free bodies, and of what follows."""
    bodies = [m.name2id("body", n) for n in names]
    dofs = np.concatenate([m.body_dofadr[b] + np.arange(6) for b in bodies])
    q = np.concatenate([m.jnt_qposadr[m.body_jntadr[b]] + np.arange(7) for b in bodies])
    flat = [np.asarray(x)[at] for x, at in ((d.qpos, q), (d.qvel, dofs), (d.qacc, dofs), (d.qacc_warmstart, dofs))]
    return b"".join(x.tobytes() for x in [*flat, np.asarray(d.xpos)[bodies], np.asarray(d.cvel)[bodies]])


def place_of(m, d, name):
    return np.asarray(d.qpos)[m.jnt_qposadr[m.body_jntadr[m.name2id("body", name)]] :][:7]


@pytest.mark.parametrize("sleep", [False, True])
def test_all_else_keeps_its_bits_and_what_lay_on_it_falls(sleep):
    (m, d), (without, e) = start(STACK + HEAP, sleep), start(HEAP, sleep)
    without.stat.meaninertia = m.stat.meaninertia  # by which the solver scales its tolerance
    tisim.step(m, d, 30)
    tisim.step(without, e, 30)
    assert state_of(m, d, "p", "q", "r") == state_of(without, e, "p", "q", "r")
    tisim.remove(m, d, "a")
    for _ in range(10):
        tisim.step(m, d, 4)
        tisim.step(without, e, 4)
        validate(m, d)
        assert state_of(m, d, "p", "q", "r") == state_of(without, e, "p", "q", "r")
    assert place_of(m, d, "b")[2] < 0.2
    assert not np.isin(np.asarray(d.contact.geom), m.name2id("geom", "a")).any()
    tisim.remove(m, d, ["b", "c"])
    for world, other in ((m, d), (without, e)):
        tisim.step(world, other, 20)
    assert state_of(m, d, "p", "q", "r") == state_of(without, e, "p", "q", "r")
    assert d.ncon == e.ncon and d.nefc == e.nefc


def test_what_lay_on_it_falls_as_in_mujoco():
    m, d = start(STACK + HEAP)
    theirs = mujoco.MjModel.from_xml_string(scene(STACK.split("</body>", 1)[1] + HEAP, sleep=False))
    m.opt.tolerance, m.opt.iterations, theirs.opt.tolerance, theirs.opt.iterations = 1e-14, 200, 0, 200
    tisim.step(m, d, 30)
    data = mujoco.MjData(theirs)
    data.qpos, data.qvel = np.asarray(d.qpos)[7:], np.asarray(d.qvel)[6:]
    data.qacc_warmstart = np.asarray(d.qacc_warmstart)[6:]
    tisim.remove(m, d, "a")
    for _ in range(100):
        tisim.step(m, d)
        mujoco.mj_step(theirs, data)
    for ours, other in ((np.asarray(d.qpos)[7:], data.qpos), (np.asarray(d.qvel)[6:], data.qvel)):
        assert np.abs(ours - other).max() < 1e-4 * max(1, np.abs(other).max())


def test_sleepers_that_lose_a_support_wake_and_others_sleep_on():
    m, d = start(STACK + HEAP, sleep=True)
    tisim.step(m, d, 200)
    assert d.ntree_awake == 0
    kept = state_of(m, d, "p", "q", "r")
    tisim.remove(m, d, "a")
    tisim.step(m, d, 20)
    assert d.ntree_awake == 2 and place_of(m, d, "b")[2] < 0.25
    assert list(np.asarray(d.body_present)) == [True, False, *[True] * 5]
    tisim.step(m, d, 300)
    assert d.ntree_awake == 0 and state_of(m, d, "p", "q", "r") == kept
    tisim.add(m, d, "a", (2.0, 0, 0.8))
    tisim.step(m, d, 60)
    assert d.ntree_awake == 4  # it fell on the heap, and woke it
    validate(m, d)


def test_one_about_to_sleep_does_not_sleep_in_the_air():
    m, d = start(free("a", "0 0 .1") + free("b", "0 0 .3", UPPER), sleep=True)
    for _ in range(200):
        tisim.step(m, d)
        if d.tree_asleep[1] == -2:
            break
    assert d.tree_asleep[1] == -2
    tisim.remove(m, d, "a")
    tisim.step(m, d, 60)
    assert place_of(m, d, "b")[2] < 0.12


def test_what_is_added_moves_as_if_it_had_always_been_there():
    m, d = start(STACK + HEAP + MANY)
    names = ["a", "b", "c", "many", "on"]
    fresh, q, v = tisim.Data(m), np.asarray(d.qpos), np.asarray(d.qvel)
    tisim.step(m, d, 20)
    tisim.remove(m, d, names)
    tisim.step(m, d, 20)
    assert not np.isin(np.asarray(d.contact.geom), np.flatnonzero(~np.isin(m.geom_bodyid, [0, 4, 5, 6]))).any()
    rng = np.random.default_rng(0)
    pos, quat, vel = rng.uniform(0, 0.05, (5, 3)), rng.normal(size=(5, 4)), rng.normal(size=(5, 6))
    pos += np.array([(0, 0, 0.1), (0, 0, 0.35), (0, 0, 0.6), (0, 2, 0.15), (0, 2, 0.4)])
    tisim.add(m, d, names, pos, quat, vel)
    for name in ("qpos", "qvel", "qacc_warmstart", "time"):
        setattr(fresh, name, getattr(d, name))
    for k, name in enumerate(names):
        place = place_of(m, d, name)
        assert np.allclose(place[:3], pos[k]) and np.allclose(place[3:], quat[k] / np.linalg.norm(quat[k]))
    for _ in range(10):
        tisim.step(m, d, 3)
        tisim.step(m, fresh, 3)
        assert tisim.get_state(m, d).tobytes() == tisim.get_state(m, fresh).tobytes()
    assert d.ncon == fresh.ncon > 8 and q.shape == place.shape[:0] + q.shape and v.any() == 0
    validate(m, d)


def test_what_comes_back_where_it_was_is_found_by_a_search():
    m, d = start(STACK + HEAP + MANY)
    fresh, names = tisim.Data(m), ["c", "many"]
    tisim.step(m, d, 20)
    tisim.remove(m, d, names)
    d.qpos[m.jnt_qposadr[m.name2id("body", "r") - 1]] += 3  # pairs are searched for without them
    tisim.step(m, d, 2)
    tisim.add(m, d, names)
    for name in ("qpos", "qvel", "qacc_warmstart", "time"):
        setattr(fresh, name, getattr(d, name))
    for data in (d, fresh):
        tisim.step(m, data, 5)
    assert d.ncon == fresh.ncon > 12 and tisim.get_state(m, d).tobytes() == tisim.get_state(m, fresh).tobytes()


def test_a_thousand_times_leaves_no_leak_and_no_drift():
    grains = "".join(free(f"g{k}", f"{k % 6 * 0.2} {k // 6 * 0.2} {0.1 + k % 2 * 0.05}", BALL) for k in range(36))
    (m, d), (alone, e) = (
        start(HEAP.replace('"2 ', '"9 ').replace('"2.05', '"9.05') + grains),
        start(HEAP.replace('"2 ', '"9 ').replace('"2.05', '"9.05')),
    )
    alone.stat.meaninertia = m.stat.meaninertia
    all_grains = np.arange(4, m.nbody)
    rng, sizes = np.random.default_rng(1), []
    for k in range(1000):
        some = rng.permutation(all_grains)[: rng.integers(1, 30)]
        tisim.remove(m, d, some)
        tisim.step(m, d)
        tisim.add(m, d, some, np.c_[rng.uniform(0, 1.2, (len(some), 2)), rng.uniform(0.1, 1.5, len(some))])
        tisim.step(alone, e)
        if k % 100 == 99:
            gc.collect()
            with open("/proc/self/statm") as f:
                sizes.append((sum(d.memory().values()), int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")))
    assert state_of(m, d, "p", "q", "r") == state_of(alone, e, "p", "q", "r")
    memory, process = np.array(sizes).T
    assert memory[-1] <= 1.5 * memory[1] and process[-1] - process[4] < 4 << 20
    assert np.asarray(d.body_present).all() and np.asarray(d.warning[0].number) == 0


def test_it_is_not_hit_by_rays_not_drawn_and_weighs_nothing():
    arm = '<body name="arm" pos="4 0 1"><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body>'
    rack = f'<body name="rack">{arm}</body>'
    sensors = """<sensor><rangefinder site="eye"/><subtreecom body="rack"/><e_potential/></sensor>"""
    eye = '<site name="eye" pos="0 0 3" zaxis="0 0 -1"/>'
    grid = "".join(free(f"g{k}", f"{k * 0.3} 3 .1", BALL) for k in range(40))
    m, d = start(eye + STACK + rack + HEAP + grid, rest=sensors, flag='energy="enable"')
    tisim.forward(m, d)
    down = [0, 0, -1.0]
    assert tisim.ray(m, d, [0, 0, 3.0], down)[1] == m.name2id("geom", "c")
    weight = -float(np.sum(m.opt.gravity * (m.body_mass[:, None] * np.asarray(d.xipos))))
    assert np.isclose(d.energy[0], weight)
    gone = ["c", "arm", *(f"g{k}" for k in range(1, 40))]
    tisim.remove(m, d, gone)
    tisim.forward(m, d)
    there = np.asarray(d.body_present)
    mass = m.body_mass * there
    assert tisim.ray(m, d, [0, 0, 3.0], down)[1] == m.name2id("geom", "b")
    points = np.column_stack([0.3 * np.arange(40), np.full(40, 3.0), np.full(40, 2.0)])
    hit = tisim.ray(m, d, points, np.broadcast_to(down, (40, 3)))[1]
    assert hit[0] == m.name2id("geom", "g0") and not np.isin(hit[1:], m.name2id("geom", "g0") + np.arange(1, 40)).any()
    assert np.isclose(d.energy[0], -np.sum(m.opt.gravity * (mass[:, None] * np.asarray(d.xipos))))
    assert np.allclose(d.subtree_com[0], (mass[:, None] * np.asarray(d.xipos)).sum(0) / mass.sum())
    assert np.isclose(d.sensordata[0], 2.6) and np.isclose(d.sensordata[4], d.energy[0])
    positions, rotations = poses(m, d)
    lost = np.isin(m.geom_bodyid, [m.name2id("body", n) for n in gone])
    assert np.isnan(positions[lost]).all() and (rotations[lost] == 0).all() and np.isfinite(positions[~lost]).all()
    with tisim.Renderer(m, 120, 160) as renderer:
        renderer.update_scene(d, Camera(60, -35, 12, (2, 1.5, 0)), Look(sites=True))
        renderer.enable_segmentation_rendering()
        ids = renderer.render()
    seen = set(ids[ids[..., 1] == tisim.mjtObj.mjOBJ_GEOM][:, 0].tolist())
    assert m.name2id("geom", "g0") in seen and not seen & set(np.flatnonzero(lost).tolist())
    tisim.add(m, d, ["arm"])
    tisim.forward(m, d)
    assert np.isclose(d.subtree_com[m.name2id("body", "rack")][0], 4.1)


SENSED = """<sensor><framepos objtype="body" objname="a"/><framequat objtype="body" objname="b"/>
  <framelinvel objtype="body" objname="b" reftype="body" refname="a"/><accelerometer site="on_a"/>
  <rangefinder site="on_a"/><touch site="on_a"/><subtreecom body="a"/>
  <user name="mine" dim="2" objtype="body" objname="a" needstage="pos"/><contact body1="a" body2="b" data="found"/>
  <distance geom1="a" geom2="b" cutoff="1"/><subtreeangmom body="a"/>
  <framepos objtype="body" objname="c"/><clock/></sensor>"""


def say(m, d, stage):
    d.sensordata[..., m.sensor_adr[m.name2id("sensor", "mine")] + np.arange(2)] = 5


@pytest.mark.parametrize("sleep", [False, True])
def test_sensors_of_what_is_removed_are_0_and_all_others_go_on(sleep):
    body = STACK.replace("<freejoint/>", '<freejoint/><site name="on_a" size=".2"/>', 1)
    m, d = start(body, sleep, nworld=2, rest=SENSED)
    m.callback.sensor = say
    others = np.r_[m.sensor_adr[1] + np.arange(4), m.nsensordata - np.arange(4, 0, -1)]  # b's place, c's and the time
    named = np.setdiff1d(np.arange(m.nsensordata), others)

    def wanted(w):
        return [*d.xquat[w, m.name2id("body", "b")], *d.xpos[w, m.name2id("body", "c")], np.atleast_1d(d.time)[w]]

    d.qvel[:] = np.linspace(0.1, 0.4, m.nv)
    tisim.step(m, d, 10)
    tisim.forward(m, d)
    assert (d.sensordata[:, named] != 0).sum(axis=1).min() > 12
    tisim.remove(m, d, "a", worlds=1)
    tisim.step(m, d)
    tisim.forward(m, d)
    assert not d.sensordata[1, named].any() and (d.sensordata[0, named] != 0).sum() > 12
    for w in range(2):
        assert d.sensordata[w, others] == pytest.approx(wanted(w), abs=1e-12)
    tisim.add(m, d, "a", worlds=1)
    tisim.forward(m, d)
    assert (d.sensordata[1, named] != 0).sum() > 12
    assert d.sensordata[1, :3] == pytest.approx(np.asarray(d.xpos)[1, m.name2id("body", "a")])


def test_copies_and_saved_states_go_on_to_the_same_bits(tmp_path, call):
    m, d = start(STACK + HEAP, sleep=True)
    tisim.step(m, d, 20)
    tisim.remove(m, d, ["a", "r"])
    tisim.step(m, d, 5)
    near, (far_m, far) = copy.copy(d), pickle.loads(pickle.dumps((m, d)))
    tisim.step(m, d, 30)
    for model, data in ((m, near), (far_m, far)):
        tisim.step(model, data, 30)
        assert tisim.get_state(model, data).tobytes() == tisim.get_state(m, d).tobytes()
        assert (np.asarray(data.body_present) == np.asarray(d.body_present)).all()
    tisim.reset(m, near)
    assert np.asarray(near.body_present).all()


@pytest.mark.parametrize("sleep", [False, True])
def test_a_state_of_the_command_line_keeps_what_is_removed(tmp_path, call, sleep):
    from tisim.cli import state

    path = tmp_path / "scene.xml"
    path.write_text(scene(STACK + HEAP, sleep=sleep))
    m = tisim.Model.from_xml_path(str(path))
    d = tisim.Data(m)
    tisim.step(m, d, 10)
    tisim.remove(m, d, ["b", "q"])
    tisim.step(m, d, 10)
    state.save(tmp_path / "state.npz", m, d, "scene", tisim.get_state(m, d))
    tisim.step(m, d, 20)
    out = call("run", str(path), "--from", str(tmp_path / "state.npz"), "--time", 40 * 0.005, "--arch", "cpu",
               "--no-picture", "--json", "-o", str(tmp_path / "out"))[1]  # fmt: skip
    assert json.loads(out)["steps"] == 20
    saved = np.load(tmp_path / "out" / "state.npz")
    assert (saved["state"][0] == tisim.get_state(m, d)).all()
    assert (saved["tree_asleep"][0] == np.asarray(d.tree_asleep)).all()


def test_a_recording_keeps_what_is_removed(tmp_path):
    m, d = start(STACK + HEAP)
    with tisim.Recorder(tmp_path / "r.npz", m, d) as recorder:
        tisim.step(m, d)
        recorder.add()
        tisim.remove(m, d, ["a", "q"])
        tisim.step(m, d)
        recorder.add()
    shown = (r := tisim.Recording(tmp_path / "r.npz")).data()
    for k, number in ((1, 5), (0, 7), (1, 5)):
        r.show(shown, k)
        assert np.sum(shown.body_present) == number


def test_worlds_lose_different_bodies():
    m, d = start(STACK + HEAP, nworld=3)
    lost = [["a"], [], ["b", "q", "r"]]
    tisim.step(m, d, 10)
    for w, names in enumerate(lost):
        tisim.remove(m, d, names, worlds=w)
    tisim.step(m, d, 20)
    tisim.add(m, d, ["q"], [[(0.0, 0.0, 1.0)]], worlds=[2])
    tisim.step(m, d, 20)
    for w, names in enumerate(lost):
        one = tisim.Data(m)
        tisim.step(m, one, 10)
        tisim.remove(m, one, names)
        tisim.step(m, one, 20)
        if w == 2:
            tisim.add(m, one, "q", (0, 0, 1.0))
        tisim.step(m, one, 20)
        assert np.asarray(one.qpos).tobytes() == np.asarray(d.qpos)[w].tobytes()
        assert (np.asarray(one.body_present) == np.asarray(d.body_present)[w]).all()


def test_what_is_removed_stands_in_no_list():
    """10,000 bodies of which 9,900 are removed go over what a model of 100 goes over."""
    balls = [free(f"g{k}", f"{k % 100 * 0.25} {k // 100 * 0.25} .099", BALL) for k in range(10000)]
    (m, d), (small, e) = start("".join(balls)), start("".join(balls[:100]))
    tisim.remove(m, d, np.arange(101, m.nbody))
    for model, data in ((m, d), (small, e)):
        tisim.step(model, data, 3)
    names = "ncpair ncon nefc nisland nentry".split()
    assert [d.count(n) for n in names] == [e.count(n) for n in names] and d.ncon == 100
    assert d.count("noawake") < 250 and [d.count(n) for n in "ntawake nboxawake nvawake nqawake".split()] == [
        100,
        100,
        600,
        700,
    ]


def test_any_number_of_threads_gives_the_same_bits():
    found = []
    for threads in (1, 2, 3):
        tisim.init(threads=threads)
        m = tisim.Model.from_scene("pile", n=700)
        d = tisim.Data(m)
        tisim.remove(m, d, np.arange(1, 701, 3))
        tisim.step(m, d, 40)
        tisim.add(m, d, np.arange(1, 301, 3), np.c_[np.zeros(100), np.zeros(100), 3 + 0.2 * np.arange(100)])
        tisim.step(m, d, 20)
        found.append((tisim.get_state(m, d).tobytes(), d.ncon))
    assert found[0] == found[1] == found[2]
    tisim.init()


def test_listed_pairs_of_what_is_removed_do_not_touch():
    m, d = start(STACK, rest='<contact><pair geom1="a" geom2="b"/><pair geom1="a" geom2="floor"/></contact>')
    tisim.step(m, d, 3)
    assert d.ncon > 4
    tisim.remove(m, d, "a")
    tisim.step(m, d)
    assert not np.isin(np.asarray(d.contact.geom), m.name2id("geom", "a")).any()


TOLD = """<equality><connect body1="a" body2="b" anchor="0 0 .1"/></equality>
<tendon><fixed name="rope"><joint joint="hinge" coef="1"/></fixed></tendon>
<actuator><motor name="push" joint="slide"/></actuator>"""
ARMS = """<body name="x"><joint name="hinge"/><geom size=".1"/>
<body name="tip" pos="0 0 1"><joint/><geom size=".1"/></body></body>
<body name="y"><joint name="slide" type="slide"/><geom size=".1"/></body>
<body name="rock"><geom size=".1" pos="7 7 0"/></body>"""


@pytest.mark.parametrize("sleep", [False, True])
def test_equalities_tendons_and_actuators_of_others_go_on(sleep):
    m, d = start(STACK + HEAP + ARMS.replace("<joint/>", '<joint damping="1"/>'), sleep, rest=TOLD)
    whole = tisim.Data(m)
    for x in (d, whole):
        x.ctrl[0] = 0.1
        tisim.step(m, x, 3)
    tisim.remove(m, d, ["p", "q", "r"])
    others = ~np.isin(m.dof_bodyid, [m.name2id("body", name) for name in "pqr"])
    for x in (d, whole):
        tisim.step(m, x, 100)
    for name in ("qvel", "qacc", "qfrc_constraint"):
        assert np.array_equal(np.asarray(getattr(d, name))[others], np.asarray(getattr(whole, name))[others]), name
    assert (d.efc_type == tisim.mjtConstraint.mjCNSTR_EQUALITY).sum() == 3 and d.actuator_force[0] == 0.1
    assert not sleep or (np.asarray(whole.tree_asleep) >= 0).any()
    validate(m, d)


def test_a_state_of_before_a_removal_can_be_written_back():
    m, d = start(STACK + HEAP, sleep=True)
    d.qvel[:] = 0.1
    tisim.step(m, d, 3)
    state = tisim.get_state(m, d)
    tisim.remove(m, d, "q")
    tisim.set_state(m, d, state)  # says of q, too, how fast it is
    tisim.step(m, d, 3)
    validate(m, d)
    fast = np.asarray(d.cvel)[m.name2id("body", "r")]
    assert d.body_present.sum() == m.nbody - 1 and fast.any()
    tisim.add(m, d, "q")
    assert not np.asarray(d.qvel)[m.dof_bodyid == m.name2id("body", "q")].any()


def test_mistakes_are_told_and_change_nothing():
    m, d = start(STACK + HEAP + ARMS, rest=TOLD)
    before = copy.copy(d)
    for name, words in (
        ("a", "body a cannot be removed: equality number 0"), ("x", "tendon rope"), ("y", "actuator push"),
        ("rock", "rock is static"), ("tip", "hangs on others.*body x"), (99, "does not exist"),
        (1.5, "ids or names"), ("no", "no body"),
    ):  # fmt: skip
        with pytest.raises(Error, match=words):
            tisim.remove(m, d, [name, "q"] if name != 1.5 else [name])
    assert not m.comes_and_goes and np.asarray(d.body_present).all()
    tisim.remove(m, d, ["q", "r"])
    for bodies, more, words in (
        ("c", {}, "body c was not removed"), (["q", "q"], {}, "twice"), ("q", dict(pos=(1, 2)), "pos has shape"),
        ("q", dict(pos=(0, 0, np.nan)), "finite"), ("q", dict(quat=(0, 0, 0, 0)), "quat: one of them is zero"),
        (["q", "r"], dict(pos=np.zeros((3, 3))), "expected .2, 3."), ("q", dict(vel=[1, 2]), "vel has shape"),
        ("q", dict(pos="xyz"), "pos: expected numbers"), ("q", dict(pos=[10**400] * 3), "pos: "),
        ("q", dict(vel=np.ma.masked_all(3)), "vel: expected numbers, got a masked array"),
    ):  # fmt: skip
        with pytest.raises(Error, match=words):
            tisim.add(m, d, bodies, **more)
    assert (
        np.sum(~np.asarray(d.body_present)) == 2
        and tisim.get_state(m, d).tobytes() == tisim.get_state(m, before).tobytes()
    )
    with pytest.raises(Error, match="derivatives: bodies are removed"):
        tisim.transition_fd(m, d)
    m.opt.integrator = tisim.mjtIntegrator.mjINT_RK4
    with pytest.raises(UnsupportedError, match="RK4"):
        tisim.step(m, d)


def test_grains_are_poured_into_a_bowl():
    file = pathlib.Path(__file__).parent.parent / "scenes" / "examples" / "pour.py"
    m, d = runpy.run_path(str(file))["pour"](n=18, steps=250)
    height = np.asarray(d.xpos)[m.tree_bodyadr, 2]
    assert d.body_present.all() and (height > 0).all() and (height < 0.4).all() and d.ncon > 18
