"""dynamics="lcp" with the flag sleep: islands at rest sleep and cost nothing, those that are awake do not feel it, who
is woken goes on from the impulses it fell asleep with."""

import copy
import pickle

import numpy as np
import pytest
from shared.threads import printed

import tisim
from tisim.data import impulses
from tisim.data.digest import state_hash

SLEEP = int(tisim.mjtEnableBit.mjENBL_SLEEP)
BOX = '<body pos="{} 0 {}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
FLOOR = '<geom type="plane" size="9 9 1"/>'


def model(body, tolerance=5e-3, sleep=True, more=""):
    tisim.init(arch="cpu", precision="f64")
    option = f'<option timestep=".005" sleep_tolerance="{tolerance}"/>'
    m = tisim.Model.from_xml_string(f"<mujoco>{option}<worldbody>{FLOOR}{body}</worldbody>{more}</mujoco>")
    m.opt.dynamics = "lcp"
    m.opt.enableflags = SLEEP * sleep
    return m


def tower(n, x=0):
    return "".join(BOX.format(x, 0.1 + 0.2 * k) for k in range(n))


def sleepers(d):
    """Whether each tree sleeps, by world."""
    return d.host("tree_asleep").reshape(d.nworld, -1) >= 0


def test_a_tower_that_is_woken_stands_on_what_it_stood_on():
    """In the first step it sinks by less than 5e-6 m, one that begins without impulses by 7e-5."""
    m = model(tower(6), 0.05)
    d = tisim.Data(m)
    tisim.step(m, d, 400)
    assert sleepers(d).all() and d.ncon == 0 and np.abs(d.qvel).max() == 0
    before = np.array(d.qpos)
    tisim.step(m, d, 100)
    assert np.array_equal(before, d.qpos) and d.time == pytest.approx(2.5)
    cold = tisim.Data(m)
    tisim.set_state(m, cold, tisim.get_state(m, d))
    sunk = []
    for each in (d, cold):
        tisim.wake(m, each)
        tisim.step(m, each)
        sunk.append((before - each.qpos)[2::7].max())
        assert each.ncon >= 24
    assert sunk[0] < 5e-6 and sunk[1] > 5e-5, sunk


def test_those_awake_do_not_feel_who_sleeps():
    """A pendulum of boxes and a heap that falls later move by the same bits whether the tower beside them sleeps."""
    body = tower(3) + BOX.format(2, 1) + BOX.format(2.05, 1.5) + BOX.format(2.1, 2)
    ends = []
    for sleep in (True, False):
        m = model(body, sleep=sleep)
        d = tisim.Data(m)
        slept = 0
        for _ in range(60):
            tisim.step(m, d, 2)
            slept = max(slept, sleepers(d)[0, :3].sum() if sleep else 0)
            if sleep and slept:
                assert not sleepers(d)[0, 3:].any()
        ends.append(np.array(d.qpos)[21:])
        assert slept == 3 * sleep and np.abs(d.qvel).max() > 0.05
    assert np.array_equal(*ends)


def test_what_falls_on_a_sleeper_wakes_its_island():
    m = model(tower(3) + BOX.format(0.02, 1.5))
    d = tisim.Data(m)
    d.qvel[18 + 2] = 2.5
    tisim.step(m, d, 60)
    assert sleepers(d)[0].tolist() == [True] * 3 + [False]
    tisim.step(m, d, 100)
    assert not sleepers(d).any() and np.abs(d.qvel).max() > 1e-3
    tisim.step(m, d, 1500)
    assert sleepers(d).all()
    assert np.array(d.xpos)[1:, 2].min() > 0.0999


CREATURES = (
    '<body name="{0}" pos="{1} 0 .1"><freejoint/><geom type="box" size=".2 .1 .05"/>'
    '<body pos=".2 0 0"><joint axis="0 1 0" damping=".1"/><geom type="capsule" size=".04" fromto=".05 0 0 .3 0 0"/>'
    '<body pos=".35 0 0"><joint type="ball" damping=".1"/><geom type="sphere" size=".05"/></body></body></body>'
)


def test_trees_sleep_and_wake():
    """One lies down; writing a joint's position, or a push, wakes it; its bodies go on from where they were."""
    m = model(CREATURES.format("a", 0))
    d = tisim.Data(m)
    tisim.step(m, d, 800)
    assert sleepers(d).all() and np.abs(d.qvel).max() == 0
    pose = d.host("lcp_pose").copy()
    d.qpos[:] = np.array(d.qpos)  # nothing new
    tisim.step(m, d, 5)
    assert sleepers(d).all() and np.array_equal(pose, d.host("lcp_pose"))
    d.xfrc_applied[1, 5] = 0.01
    tisim.step(m, d, 1)
    assert not sleepers(d).any()
    assert np.abs(d.host("lcp_pose") - pose).max() < 1e-4 and np.abs(d.qvel).max() < 1e-2
    d.xfrc_applied[:] = 0
    tisim.step(m, d, 400)
    assert sleepers(d).all()
    d.qpos[7] += 0.1
    tisim.step(m, d, 1)
    assert not sleepers(d).any()


@pytest.mark.slow
def test_what_a_weld_ties_sleeps_and_wakes_together():
    more = '<equality><weld body1="a" body2="b"/></equality>'
    m = model(CREATURES.format("a", 0) + CREATURES.format("b", 1.5), more=more)
    d = tisim.Data(m)
    tisim.step(m, d, 1200)
    assert sleepers(d).all()
    held = d.host("lcp_eq_impulse").copy()
    d.qvel[2] = 0.02
    tisim.step(m, d, 2)
    assert not sleepers(d).any() and np.abs(held).max() > 0
    assert np.abs(d.host("lcp_eq_impulse") - held).max() < 0.5 * np.abs(held).max() + 1e-3


def test_sensors_of_sleepers_are_those_of_rest():
    more = '<sensor><framelinvel objtype="body" objname="a"/><velocimeter site="s"/></sensor>'
    box = '<freejoint/><site name="s"/><geom type="box" size=".1 .1 .1"/>'
    m = model(f'<body name="a" pos="0 0 .1">{box}</body>', more=more)
    d = tisim.Data(m)
    tisim.step(m, d, 200)
    assert sleepers(d).all() and np.abs(d.sensordata).max() == 0


def test_sensors_change_nothing_of_who_sleeps():
    """Boxes that land one after the other fall asleep in the same steps, whether something is sensed or not."""
    more = '<sensor><framelinvel objtype="body" objname="a"/></sensor>'
    body = "".join(BOX.format(k, 0.1 + 0.002 * k) for k in range(6)).replace("<body", '<body name="a"', 1)
    seen = []
    for words in ("", more):
        m = model(body, more=words)
        d = tisim.Data(m)
        rows = []
        for _ in range(150):
            tisim.step(m, d)
            rows.append(np.array(d.tree_asleep))
        seen.append(np.array(rows))
    assert len({tuple(row) for row in seen[0] >= 0}) > 3 and sleepers(d).all()
    assert np.array_equal(*seen)


def test_who_falls_asleep_has_no_kinetic_energy():
    m = model(tower(1))
    m.opt.enableflags = SLEEP | int(tisim.mjtEnableBit.mjENBL_ENERGY)
    d = tisim.Data(m)
    for _ in range(200):
        tisim.step(m, d)
        if sleepers(d).all():
            break
    assert sleepers(d).all() and d.energy[1] == 0 and d.energy[0] > 0


def test_copies_with_sleepers_go_on_to_the_same_bits():
    m = model(tower(4) + tower(3, 1) + BOX.format(0, 6))
    d = tisim.Data(m)
    tisim.step(m, d, 200)
    assert sleepers(d)[0].sum() == 7
    copies = copy.copy(d), pickle.loads(pickle.dumps(d))
    for each in (d, *copies):
        tisim.step(each.model, each, 100)
    assert not sleepers(d)[0, :4].any() and len({state_hash(each) for each in (d, *copies)}) == 1


def test_lists_that_grow_keep_what_sleepers_have():
    """A tower sleeps while others fall beside it, and in the end on it."""
    m = model(tower(4) + "".join(BOX.format(2 + 0.5 * k, 8) for k in range(20)) + BOX.format(0, 12))
    ends, grown = [], False
    for short in (False, True):
        d = tisim.Data(m)
        for _ in range(350):
            tisim.step(m, d)
            if short and d.time == pytest.approx(1.0):
                assert sleepers(d)[0, :4].all()
                held = impulses.kept(d)
                d._resize("nlcpmax", len(held["lcp_geom"]))
                impulses.give(d, held)
            grown = grown or (short and d.time > 1.1 and sleepers(d)[0, :4].all() and d.capacity("nlcpmax") > 40)
        ends.append(state_hash(d))
    assert grown and len(set(ends)) == 1 and not sleepers(d)[0, :4].any()


def test_sleepers_contacts_are_in_no_list_of_a_step():
    """They wait apart while a ball rolls beside twenty towers, and are with those of the last step for who wakes, for
    copies, and where the flag is taken off."""
    m = model("".join(tower(5, 2 * k) for k in range(20)) + '<body pos="0 -3 .1"><freejoint/><geom size=".1"/></body>')
    d = tisim.Data(m)
    tisim.step(m, d, 200)
    d.qvel[-6:] = 1, 0, 0, 0, 10, 0
    tisim.step(m, d, 3)
    assert sleepers(d)[0, :-1].all() and not sleepers(d)[0, -1] and d.ncon == 1
    assert d.count("nlcp") == 1 and d.count("nlcpslept") >= 20 * 5 * 4
    held = impulses.kept(d)
    assert len(held["lcp_geom"]) == d.count("nlcpslept") + 1 and (np.diff(held["lcp_geom"][:, 0]) >= 0).all()
    slept = d.count("nlcpslept")
    tisim.wake(m, d, 1)
    tisim.step(m, d)
    assert 20 <= slept - d.count("nlcpslept") == d.count("nlcp") - 1 == d.ncon - 1
    m.opt.enableflags = 0
    before, other = np.array(d.qpos), copy.copy(d)
    tisim.step(m, d)
    tisim.step(m, other)
    assert np.array_equal(d.qpos, other.qpos)
    assert d.count("nlcpslept") == 0 and d.count("nlcp") == d.ncon > 400
    assert (before - d.qpos)[2::7].max() < 5e-6, "they go on from what they fell asleep with"


THREADS = """
import tisim
from tisim.data.digest import state_hash
from shared.joints import many
from shared.loops import many as rings
tisim.init(arch="cpu", precision="f64")
late = '<body pos="7 7 160"><freejoint/><geom size=".1"/></body></worldbody>'  # still falls when others sleep
for text in (many(30, 0.02), rings(12)):
    m = tisim.Model.from_xml_string(text.replace("</worldbody>", late))
    m.opt.dynamics = "lcp"
    m.opt.enableflags = int(tisim.mjtEnableBit.mjENBL_SLEEP)
    m.opt.sleep_tolerance = 0.05
    d = tisim.Data(m)
    tisim.step(m, d, 900)
    print(state_hash(d), (d.host("tree_asleep") >= 0).sum(), d.ncon)
"""


def test_threads_change_no_bit_of_sleepers():
    found = printed(THREADS)
    assert len(found) == 1
    assert 0 < int(found.pop().split()[1]) <= 30


ARM = (
    '<body name="base" pos="0 0 .5"><body name="arm"><joint name="a" axis="0 1 0" damping="1" stiffness="30"/>'
    '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/><body name="hand" pos=".3 0 0">'
    '<joint name="b" axis="0 1 0" damping="1" stiffness="30"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>'
    "</body></body></body>"
)


def test_trees_wake_where_the_model_has_them_elsewhere():
    """As under convex dynamics: places, axes and what is static below; a colour wakes nobody."""
    m = model(ARM, 0.05)
    d = tisim.Data(m)
    tisim.step(m, d, 600)
    for field, name, value in (
        ("body_pos", "base", [0, 0, 0.6]), ("body_pos", "hand", [0.31, 0, 0]), ("body_quat", "arm", [1, 0, 0.01, 0]),
        ("jnt_axis", "a", [0, 1, 0.01]), ("jnt_pos", "b", [0.01, 0, 0]), ("geom_rgba", 1, [1, 0, 0, 1]),
    ):  # fmt: skip
        assert sleepers(d).all(), field
        assert np.abs(d.lcp_drift).max() > 0
        before = np.array(d.qpos), np.array(d.xpos)
        getattr(m, field)[m.name2id(field.split("_")[0].replace("jnt", "joint"), name) if name != 1 else 1] = value
        tisim.set_const(m)
        if field == "geom_rgba":  # written back, and no impulses known: still all stays where it is
            tisim.set_state(m, d, tisim.get_state(m, d))
        other = tisim.Data(m)
        tisim.copy_state(m, d, other)
        tisim.step(m, d)
        tisim.step(m, other)
        assert sleepers(d).all() == (field == "geom_rgba")
        if field != "geom_rgba":
            assert np.array_equal(d.qpos, other.qpos), field
            tisim.step(m, d, 600)
    assert np.array_equal(before[0], d.qpos) and np.array_equal(before[1], d.xpos)


def test_trees_wake_where_their_bodies_are_copied_elsewhere():
    """Also what comes from a Data in which it sleeps, and so has no velocity."""
    m = model(CREATURES.format("a", 0))
    d, other, same = (tisim.Data(m) for _ in range(3))
    other.qpos[0] += 1
    tisim.step(m, d, 800)
    tisim.step(m, other, 800)
    assert sleepers(d).all() and sleepers(other).all()
    tisim.copy_state(m, d, same)
    tisim.copy_state(m, same, d)
    tisim.step(m, d)
    assert sleepers(d).all()
    tisim.copy_state(m, other, d)
    tisim.step(m, d)
    assert not sleepers(d).any() and np.abs(d.xpos - other.xpos).max() < 1e-4


def test_trees_wake_in_worlds_in_which_they_are_elsewhere():
    m = model(ARM, 0.05)
    d = tisim.Data(m, nworld=2)
    tisim.step(m, d, 600)
    place = np.array(m.body_pos)
    place[m.name2id("body", "hand"), 2] = 0.01
    d.vary("body_pos", place[None], worlds=1)
    tisim.step(m, d)
    assert sleepers(d)[:, 0].tolist() == [True, False]
    tisim.step(m, d, 600)
    assert sleepers(d).all()
    copies = copy.copy(d), pickle.loads(pickle.dumps(d))
    for each in copies:
        tisim.step(each.model, each)
        assert sleepers(each).all()
