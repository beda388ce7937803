"""Chosen worlds of a batch begin anew, and the others go on to the same bits; d.world(k) is one world of it."""

import numpy as np
import pytest

import tisim
from tisim.enums import mjtWarning

XML = """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="hand" mocap="true" pos="0 2 1"><geom size=".1"/></body>
  <body name="arm" pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0" damping=".1"/>
    <geom name="upper" type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
  </body>
  <body name="ball" pos="0 1 .3"><freejoint/><geom size=".1"/></body></worldbody>
  <actuator><motor name="motor" joint="a"/><general joint="b" gear="2" dyntype="filter" dynprm=".1"/></actuator>
  <sensor><jointpos joint="a"/><framelinvel objtype="body" objname="ball"/><actuatorfrc actuator="motor"/></sensor>
  <keyframe>
    <key name="up" time="2" qpos="1 .5 0 1 .25 1 0 0 0" qvel="1 0 0 0 0 0 0 0" act=".3" ctrl=".1 .2"/>
  </keyframe>
</mujoco>"""
NWORLD = 5
CHOSEN = [3, 1]


def arms():
    return tisim.Model.from_xml_string(XML)


def sleepers():
    m = tisim.Model.from_scene("pile", n=8)
    m.opt.enableflags |= tisim.mjtEnableBit.mjENBL_SLEEP
    return m


def batch(m, nworld=NWORLD, steps=40):
    """Worlds that differ, on their way."""
    d = tisim.Data(m, nworld=nworld)
    d.qvel[...] = np.random.default_rng(0).normal(size=(nworld, m.nv)) * 0.3
    tisim.step(m, d, steps)
    return d


def bits(m, d, worlds=None):
    return tisim.get_state(m, d, worlds=worlds).tobytes()


WAYS = dict(
    start=lambda m, d, worlds: tisim.reset(m, d, worlds),
    state=lambda m, d, worlds: tisim.reset_state(m, d, tisim.get_state(m, batch(m, 1, 7)), worlds),
    keyframe=lambda m, d, worlds: tisim.reset_keyframe(m, d, "up", worlds),
)


@pytest.mark.parametrize(
    "way, make", [("start", arms), ("keyframe", arms), ("state", arms), ("start", sleepers), ("state", sleepers)]
)
def test_the_others_stay_bit_for_bit(way, make):
    m = make()
    d, untouched, alone = batch(m), batch(m), tisim.Data(m)
    WAYS[way](m, d, CHOSEN)
    WAYS[way](m, alone, None)
    others = [w for w in range(NWORLD) if w not in CHOSEN]
    assert bits(m, d, others) == bits(m, untouched, others)
    for x in (d, untouched, alone):
        tisim.step(m, x, 60)
    assert bits(m, d, others) == bits(m, untouched, others)
    assert bits(m, d, [3]) == bits(m, d, [1]) == bits(m, alone) != bits(m, untouched, [3])


def test_a_mask_is_as_good_as_indices():
    m = arms()
    a, b = batch(m), batch(m)
    tisim.reset(m, a, CHOSEN)
    tisim.reset(m, b, np.isin(np.arange(NWORLD), CHOSEN))
    assert bits(m, a) == bits(m, b)
    tisim.reset(m, a, np.zeros(NWORLD, bool))
    assert bits(m, a) == bits(m, b)


def test_each_world_gets_its_own_state_in_the_order_of_the_worlds():
    m = arms()
    d = batch(m)
    states = tisim.get_state(m, d, worlds=[0, 4])
    assert tisim.reset_state(m, d, states, CHOSEN).tolist() == [0, 1]
    assert tisim.get_state(m, d, worlds=CHOSEN).tobytes() == states.tobytes()
    states = tisim.get_state(m, d, worlds=[4, 3, 2, 1, 0])
    tisim.set_state(m, d, states, worlds=[0, 1, 2, 3, 4])
    assert tisim.get_state(m, d).tobytes() == states.tobytes()


def test_a_draw_follows_from_seed_and_world_alone():
    m = arms()
    pool = tisim.get_state(m, batch(m, 7))
    d = tisim.Data(m, nworld=700)
    drawn = tisim.reset_state(m, d, pool, seed=5)
    assert tisim.get_state(m, d).tobytes() == pool[drawn].tobytes()
    assert np.bincount(drawn, minlength=7).min() > 60  # of 100 expected
    assert tisim.reset_state(m, d, pool, [699, 2], seed=5).tolist() == drawn[[699, 2]].tolist()
    assert tisim.reset_state(m, d, pool, [2, 699], seed=[6, 5])[1] == drawn[699]
    assert (tisim.reset_state(m, d, pool, seed=6) != drawn).mean() > 0.7


def test_a_diverged_world_is_reset_alone_and_told_with_its_cause():
    m = arms()
    d, untouched = batch(m), batch(m)
    assert d.diverged == []
    d.qvel[2, 1] = np.nan
    with pytest.warns(tisim.DivergedWarning, match="joint b of body .* in world 2"):
        tisim.step(m, d)
    tisim.step(m, untouched)
    others = [0, 1, 3, 4]
    assert bits(m, d, others) == bits(m, untouched, others)
    assert d.diverged == [(2, "qvel", 1, "b", "number 3", 1)] == d.world(2).diverged and d.world(1).diverged == []
    assert d.diverged[0].joint == "b" and d.world(2).warning[mjtWarning.mjWARN_BADQVEL].number == 1
    tisim.reset(m, d, 2)
    assert d.diverged == []


def test_a_start_asleep_is_that_of_the_worlds_that_are_reset():
    """Trees with sleep="init" are laid to sleep by a forward(), which leaves other worlds, and what is gone, alone."""
    box = '<body name="{0}" pos="{1} 0 .1" {2}><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    boxes = "".join(box.format(name, x, 'sleep="init"' * (x == 0)) for x, name in enumerate("abcd"))
    m = tisim.Model.from_xml_string(f"""<mujoco><option timestep=".005"><flag sleep="enable"/></option>
        <worldbody><geom type="plane" size="9 9 1"/>{boxes}</worldbody></mujoco>""")
    d, alone = tisim.Data(m, nworld=2), tisim.Data(m)
    for x in (d, alone):
        tisim.step(m, x, 200)
        tisim.remove(m, x, "b", worlds=0)
    assert (np.asarray(d.tree_asleep)[0] >= 0).all()
    tisim.reset(m, d, 1)
    for x in (d, alone):
        tisim.step(m, x)
    assert np.array_equal(d.subtree_com[0], alone.subtree_com) and alone.subtree_com[0, 0] == pytest.approx(5 / 3)
    d.world(0).qvel[12], alone.qvel[12] = 0.3, 0.3  # of a sleeper, before the other world begins anew
    tisim.reset(m, d, 1)
    for x in (d, alone):
        tisim.step(m, x)
    assert d.tree_asleep[0, 2] == alone.tree_asleep[2] < 0
    assert bits(m, d, [0]) == bits(m, alone)
    d.world(0).qpos[23], alone.qpos[23] = 0.5, 0.5  # of another one, which is lifted
    tisim.reset(m, d, 1)
    for x in (d, alone):
        tisim.step(m, x)
    assert d.tree_asleep[0, 3] == alone.tree_asleep[3] < 0
    assert bits(m, d, [0]) == bits(m, alone)


def test_a_world_reads_as_a_data_of_one():
    m = arms()
    d, alone = batch(m, steps=0), tisim.Data(m)
    tisim.set_state(m, alone, tisim.get_state(m, d, worlds=3))
    for x in (d, alone):
        tisim.step(m, x, 100)
    w = d.world(3)
    names = "qpos qvel act ctrl xpos xmat sensordata cfrc_ext subtree_com M time ncon".split()
    for name in names:
        assert np.array_equal(getattr(w, name), getattr(alone, name)), name
        assert np.shape(getattr(w, name)) == np.shape(getattr(alone, name)), name
    assert w.ncon and np.array_equal(w.contact.dist, alone.contact.dist) and w.contact[0].dist == alone.contact[0].dist
    for word, name, field in (("body", "ball", "xpos"), ("joint", "a", "qpos"), ("geom", "upper", "xmat")):
        assert np.array_equal(getattr(getattr(w, word)(name), field), getattr(getattr(alone, word)(name), field))


def test_times_are_written_one_by_one():
    d = tisim.Data(tisim.Model.from_xml_string(XML), 3)
    d.time[...] = [1, 2, 3]
    d.time[1] = 5
    d.time += 1
    assert d.time.tolist() == [2, 6, 4] == d.world_time[:, 0].tolist()
    with pytest.raises(tisim.Error, match="finite"):
        d.time[0] = np.nan
    assert d.time.tolist() == [2, 6, 4]


def test_a_world_writes_through():
    m = arms()
    d = batch(m)
    before = np.array(d.qpos)
    w = d.world(3)
    w.qpos[0], w.ctrl, w.body("ball").xfrc_applied[2], w.time = 0.7, [1, 2], 5.0, 9.0
    assert d.qpos[3, 0] == 0.7 and d.ctrl[3].tolist() == [1, 2] and d.time[3] == 9
    assert d.xfrc_applied[3, 4, 2] == 5
    before[3, 0] = 0.7
    assert np.array_equal(before, d.qpos)
    with pytest.raises(tisim.Error, match="computed"):
        w.xpos[0] = 1


@pytest.mark.parametrize("call, words", [
    (lambda m, d: tisim.reset(m, d, [True, False]), "a mask of 2"),
    (lambda m, d: tisim.reset(m, d, [1, 1]), "named twice"),
    (lambda m, d: tisim.reset(m, d, True), "expected the index"),
    (lambda m, d: tisim.reset(m, d, [5]), "outside"),
    (lambda m, d: tisim.reset_state(m, d, np.zeros((2, 3)), [1, 2]), "expected"),
    (lambda m, d: tisim.reset_state(m, d, tisim.get_state(m, d), [1, 2]), "5 states for 2 worlds"),
    (lambda m, d: tisim.reset_state(m, d, tisim.get_state(m, d), [1, 2], seed=[1, 2, 3]), "one for each of 2"),
    (lambda m, d: tisim.reset_state(m, d, tisim.get_state(m, d), seed=-1), "seed"),
    (lambda m, d: tisim.set_state(m, d, tisim.get_state(m, d), worlds=[1, 2]), "expected"),
    (lambda m, d: d.world(5), "from 0 to 4"),
    (lambda m, d: d.world(True), "from 0 to 4"),
    (lambda m, d: tisim.step(m, d.world(3)), "got its world 3: functions take all worlds"),
    (lambda m, d: tisim.get_state(m, d.world(0)), "got its world 0"),
    (lambda m, d: tisim.remove(m, d.world(0), 1), "got its world 0"),
    (lambda m, d: d.world(0).nonsense, "no field"),
    (lambda m, d: d.world(0).efc_force, "all worlds"),
    (lambda m, d: d.world(0).contact[99], "in this world"),
])  # fmt: skip
def test_mistakes_are_told_and_change_nothing(call, words):
    m = arms()
    d = batch(m, steps=2)
    before = bits(m, d)
    with pytest.raises(tisim.Error, match=words):
        call(m, d)
    assert bits(m, d) == before
