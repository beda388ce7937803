"""tisim.settle ends when all rests, and tells what moves, what left, how deep things are and who rests on whom."""

import csv
import json

import numpy as np
import pytest
from shared.disk import full_disk

import tisim

G = 9.81
STACK = """<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="9 9 1"/>
  <body name="low" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="3"/></body>
  <body name="middle" pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="high" pos="0 0 .5"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  {}</worldbody></mujoco>"""
PENDULUM = """<body name="swing" pos="3 0 2"><joint type="hinge" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .5 0 0" size=".05"/></body>"""
STUCK = '<body name="stuck" pos=".05 0 .15"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
BALL = '<body name="ball" pos="9.5 0 .2"><freejoint/><geom name="round" size=".1"/></body>'


def scene(more=""):
    m = tisim.Model.from_xml_string(STACK.format(more))
    return m, tisim.Data(m)


def test_a_stack_settles_and_each_box_rests_on_the_one_below():
    m, d = scene()
    found = tisim.settle(m, d, timeout=5)
    assert found.settled and not len(found.moving) and not len(found.left)
    assert found.time == pytest.approx(d.time) and found.time < 5
    assert d.ntree_awake == 0 and not np.asarray(d.qvel).any()
    s = found.support
    assert [(m.id2name("body", a), m.id2name("body", b)) for a, b in zip(s.below, s.above)] == [
        ("world", "low"), ("low", "middle"), ("middle", "high")]  # fmt: skip
    assert s.lift == pytest.approx([6 * G, 3 * G, G], rel=2e-3)  # asleep within sleep_tolerance of rest
    assert s.force == pytest.approx(s.lift, rel=1e-4) and s.contacts.tolist() == [4, 4, 4]
    assert s.under("high").tolist() == [2] and s.on("low").tolist() == [2] and s.on(3).tolist() == []


def test_hard_contacts_settle_and_carry_the_weights():
    m, d = scene()
    m.opt.dynamics = "lcp"
    found = tisim.settle(m, d, timeout=5)
    assert found.settled and found.support.lift == pytest.approx([6 * G, 3 * G, G], rel=2e-3)
    before = tisim.get_state(m, d)
    assert tisim.support(m, d).lift == pytest.approx(found.support.lift, rel=1e-3)
    assert (tisim.get_state(m, d) == before).all(), "looking leaves the state as it is"
    moving = tisim.settle(m, tisim.Data(m), timeout=0.02)
    assert not moving.settled and moving.support.lift == pytest.approx([6 * G, 3 * G, G], rel=0.2)


def test_the_deepest_pair_is_mujocos():
    mujoco = pytest.importorskip("mujoco")
    m, d = scene()
    found = tisim.settle(m, d, timeout=5)
    mm = mujoco.MjModel.from_xml_string(STACK.format(""))
    md = mujoco.MjData(mm)
    md.qpos[:] = d.qpos
    mujoco.mj_forward(mm, md)
    deepest = min(md.contact, key=lambda c: c.dist)
    assert found.deepest.depth[0] == pytest.approx(-deepest.dist, abs=1e-9)
    assert [found.deepest.geom1[0], found.deepest.geom2[0]] == list(deepest.geom)


def test_what_swings_is_told_and_what_left_is_not_waited_for():
    m, d = scene(PENDULUM)
    found = tisim.settle(m, d, timeout=1)
    assert not found.settled and found.time == pytest.approx(1)
    assert found.moving.tolist() == [[0, m.name2id("body", "swing")]] and "1 move after" in str(found)
    m, d = scene(BALL)
    m.geom_contype[m.name2id("geom", "round")] = m.geom_conaffinity[m.name2id("geom", "round")] = 0
    found = tisim.settle(m, d, timeout=9, below=-1)
    assert found.settled and found.time < 3 and found.left.tolist() == [[0, m.name2id("body", "ball")]]
    d = tisim.Data(m)
    found = tisim.settle(m, d, timeout=9, box=((-9, -9, -1), (9, 9, 9)))
    assert found.settled and found.left.tolist() == [[0, m.name2id("body", "ball")]], "seen before the first step"


SPINNER = """<body name="top" pos="0 0 .7"><freejoint/><geom type="box" size=".1 .1 .1"/>
  <body pos="0 0 .3"><joint axis="0 0 1"/><geom size=".1" contype="0" conaffinity="0"/></body></body>"""


def test_those_that_move_are_told_apart_from_those_awake_with_them():
    m, d = scene(SPINNER)
    d.qvel[-1] = 1
    found = tisim.settle(m, d, timeout=2)
    assert d.ntree_awake == 4 and not found.settled
    assert found.moving.tolist() == [[0, m.name2id("body", "top")]]
    assert found.waiting.tolist() == [[0, m.name2id("body", name)] for name in ("low", "middle", "high")]
    assert str(found).startswith("1 move after 2.000 s, 3 at rest are awake with them")
    d.qvel[-1] = 0
    found = tisim.settle(m, d, timeout=2)
    assert found.settled and not len(found.moving) and not len(found.waiting)


def test_what_rests_on_something_that_may_not_sleep_has_settled():
    m = tisim.Model.from_xml_string(STACK.format("").replace('body name="low"', 'body sleep="never" name="low"'))
    found = tisim.settle(m, tisim.Data(m), timeout=5)
    assert found.settled and found.time < 4 and len(found.waiting) == 3


def test_what_may_not_sleep_is_at_rest_by_its_velocity():
    text = STACK.format(PENDULUM.replace("body name", 'body sleep="never" name').replace("fromto=\"0 0 0 .5 0 0\"",
                        'fromto="0 0 0 0 0 -.5"'))  # fmt: skip
    m = tisim.Model.from_xml_string(text)
    assert tisim.settle(m, tisim.Data(m), timeout=5).settled
    d = tisim.Data(m)
    d.qvel[-1] = 1
    assert tisim.settle(m, d, timeout=1).moving.tolist() == [[0, m.name2id("body", "swing")]]


def test_settling_takes_the_steps_that_the_sleep_flag_takes_and_puts_it_back():
    m, d = scene()
    tolerance = float(m.opt.sleep_tolerance)
    found = tisim.settle(m, d, timeout=5, tolerance=1e-3)
    assert not int(m.opt.enableflags) and float(m.opt.sleep_tolerance) == tolerance
    m.opt.enableflags, m.opt.sleep_tolerance = int(tisim.mjtEnableBit.mjENBL_SLEEP), 1e-3
    other = tisim.Data(m)
    tisim.step(m, other, found.steps)
    assert np.array_equal(tisim.get_state(m, d), tisim.get_state(m, other))


def test_what_was_pushed_settles_again():
    m, d = scene()
    assert tisim.settle(m, d, timeout=5).settled
    again = tisim.settle(m, d, timeout=5)
    assert again.settled and again.steps == 1
    d.qvel[-6] = 1  # the upper box slides
    x = float(d.qpos[-7])
    pushed = tisim.settle(m, d, timeout=5)
    assert pushed.settled and pushed.time > 0.05 and d.qpos[-7] > x + 0.03


def test_looking_leaves_the_state_as_it_is():
    m, d = scene()
    tisim.step(m, d, 50)
    kept, other = tisim.get_state(m, d), tisim.Data(m)
    assert len(tisim.support(m, d)) == 3 and not len(tisim.overlaps(m, d))
    assert np.array_equal(tisim.get_state(m, d), kept)
    tisim.step(m, other, 60)
    tisim.step(m, d, 10)
    assert np.array_equal(tisim.get_state(m, d), tisim.get_state(m, other))


def test_bodies_inside_each_other_are_told_before_the_first_step():
    m, d = scene(STUCK)
    with pytest.warns(tisim.OverlapWarning, match=r"^at the start 2 pairs of bodies overlap, up to 150 mm deep: worst "
                      r"are low and stuck$"):  # fmt: skip
        tisim.settle(m, d, timeout=0)
    found = tisim.overlaps(m, d)
    stuck = m.name2id("body", "stuck")
    assert sorted(zip(found.body1.tolist(), found.body2.tolist())) == [(1, stuck), (2, stuck)]
    assert found.depth[0] >= found.depth[1] and d.time == 0
    assert len(tisim.overlaps(m, d, depth=1)) == 0


def test_each_world_settles_for_itself():
    m, _ = scene(PENDULUM)
    d = tisim.Data(m, nworld=2)
    d.qpos[1, -1] = np.pi / 2  # hangs
    found = tisim.settle(m, d, timeout=1)
    assert found.moving.tolist() == [[0, m.name2id("body", "swing")]]
    assert found.support.world.tolist() == [0, 0, 0, 1, 1, 1] and found.support.under("low", 1).tolist() == [0]


@pytest.mark.parametrize("wrong, told", [
    (dict(timeout=1e300), r"timeout=1e\+300: more than 1,.* steps do not end"),
    (dict(timeout=-1), "timeout=-1: expected seconds"), (dict(timeout="1"), "timeout='1': expected a number"),
    (dict(below=np.nan), "below=nan"), (dict(box=((0, 0, 0), (1, 1))), "expected two corners"),
    (dict(box=((1, 0, 0), (0, 1, 1))), "the lower one first"), (dict(tolerance="x"), "tolerance='x'"),
])  # fmt: skip
def test_wrong_arguments_are_refused(wrong, told):
    m, d = scene()
    with pytest.raises(tisim.Error, match=told):
        tisim.settle(m, d, **wrong)
    assert d.time == 0


def test_the_command_says_so_by_its_exit_code_and_writes_who_rests_on_whom(call, tmp_path):
    (tmp_path / "stack.xml").write_text(STACK.format(""))
    code, out, err = call("settle", "stack.xml", "--json", "--support", "s.csv", "--forces", "f.csv",
                          "--out", "rest.npz")  # fmt: skip
    found = json.loads(out)
    assert (code, err) == (0, "") and found["settled"] and found["moving"] == [] and found["deepest"] > 0
    rows = list(csv.DictReader(open(tmp_path / "s.csv")))
    assert [(r["below_name"], r["above_name"]) for r in rows] == [
        ("world", "low"),
        ("low", "middle"),
        ("middle", "high"),
    ]
    assert float(rows[0]["lift"]) == pytest.approx(6 * G, rel=2e-3)
    rows = list(csv.DictReader(open(tmp_path / "f.csv")))
    floor = [r for r in rows if r["body1"] == "0"]
    assert len(rows) == 12 and len(floor) == 4 and {r["body2_name"] for r in floor} == {"low"}
    assert sum(float(r["force_z"]) for r in floor) == pytest.approx(6 * G, rel=2e-3)
    assert all(float(r["normal_z"]) == pytest.approx(1) and float(r["dist"]) < 0 for r in floor)
    assert sorted(round(float(r["pos_x"]), 2) for r in floor) == [-0.1, -0.1, 0.1, 0.1]
    code, out, _ = call("run", "stack.xml", "--from", "rest.npz", "--steps", "1", "--json", "--no-picture")
    assert code == 0 and json.loads(out)["contacts"] == 12
    (tmp_path / "stuck.xml").write_text(STACK.format(STUCK))
    code, _, err = call("run", "stuck.xml", "--steps", "1", "--no-picture")
    assert code == 0 and err.startswith("tisim: warning: at the start 2 pairs of bodies overlap, up to 150 mm deep")
    code, out, _ = call("settle", "stack.xml", "--json", "--dynamics", "lcp", "--support", "s.csv")
    assert code == 0 and json.loads(out)["dynamics"] == "lcp"
    assert float(next(csv.DictReader(open(tmp_path / "s.csv")))["lift"]) == pytest.approx(6 * G, rel=2e-3)
    (tmp_path / "swing.xml").write_text(STACK.format(PENDULUM))
    code, out, _ = call("settle", "swing.xml", "--timeout", "0.5")
    assert code == 1 and "has not settled" in out and "1: swing" in out
    assert "m/s; at rest is what is below 0.0001 (--tolerance)" in out
    code, out, _ = call("settle", "dominos", "--n", "3", "--timeout", "0.002")
    assert code == 1 and "3: body 1, body 2, body 3" in out and "world and body" in out
    for words, end in (("--seconds 0.1 --out swung.npz", 0.1), ("--from swung.npz -t 0.25", 0.25)):
        code, out, err = call("settle", "swing.xml", "--json", *words.split())
        assert code == 1 and json.loads(out)["time"] == pytest.approx(end), err
    code, _, err = call("settle", "swing.xml", "--from", "swung.npz", "--time", "0.05")
    assert code == 2 and "--time 0.05: the state is at 0.100 s already" in err


def test_a_table_on_a_full_disk_is_told_and_none(tmp_path):
    m = tisim.Model.from_scene("pile", n=5)
    d = tisim.Data(m)
    tisim.step(m, d, 200)
    found = tisim.settle(m, d, timeout=0)
    with full_disk() as fill, pytest.raises(tisim.Error, match="cannot write the file: File too large"):
        fill(40)
        found.forces.to_csv(tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())
