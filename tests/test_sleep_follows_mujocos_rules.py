"""Who sleeps, who wakes, and when, is step by step as in MuJoCo 3.4.0: tree_asleep, islands, state.

Each case is a scene and what is done to it; both engines go through it side by side from the same start.
"""

import mujoco
import numpy as np
import pytest
from shared.sleepers import BALL, DOLL, PLAIN, STACKS, UPPER, Both, free, scene

import tisim

GAP = BALL + ' margin=".1" gap=".1"'
UNSEEN = 'contype="0" conaffinity="0"'
ROW = "".join(free(f"b{i}", f"{0.25 * i} 0 .1", GAP) for i in range(5))
INIT = 'sleep="init"'
AIR = free("a", "0 0 1", body=INIT) + free("b", "0 0 1.15", UPPER, INIT) + free("c", "0 0 3", body=INIT)
MOCAP = '<body name="hand" mocap="true" pos="1 0 .1"><geom type="sphere" size=".05"/></body>'
HANGING = f"""<body name="hand" mocap="true" pos="0 0 1"><geom size=".05" {UNSEEN}/>
<body><joint type="hinge" axis="0 1 0" damping="1"/><geom type="box" size=".02 .02 .1" pos="0 0 -.1" {UNSEEN}/></body>
</body>"""


def hung(pos):
    """HANGING at a place, its pendulum asleep from the start."""
    return HANGING.replace('pos="0 0 1"', f'pos="{pos}"', 1).replace("<body><joint", f"<body {INIT}><joint")


SHELF = f"""<body pos="0 0 1"><geom size=".05" {UNSEEN}/>
<body pos=".2 0 0"><joint axis="0 1 0" damping=".3"/><geom type="capsule" size=".02 .1" pos="0 0 -.1"/></body>
<body pos=".5 0 0"><joint axis="0 1 0" damping=".3"/><geom type="capsule" size=".02 .1" pos="0 0 -.1"/></body>
</body>""" + free("z", ".6 0 1.5", BALL)
CHAIN = "".join(free(f"b{i}", f"{0.3 * i} 0 .1", BALL) for i in range(6))


def put(field, index, value):
    """A poke that writes one number."""

    def act(m, d):
        getattr(d, field)[index] = value

    return act


def scale_quat(by):
    def act(m, d):
        d.qpos[3:7] = np.asarray(d.qpos[3:7]) * by

    return act


def flag(bit):
    def act(m, d):
        m.opt.enableflags = bit

    return act


def lift(m, d):
    d.qpos[14:17] = [0.05, 0.02, 0.62]


def turn_gravity(m, d):
    m.opt.gravity[2] = 9.81


SLEEP = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
# name: scene, steps, {step: poke}, how many sleep at the end
CASES = {
    "stacks fall asleep, each island at its time": (scene(STACKS), 120, {}, 5),
    "elliptic cones": (scene(STACKS, 'cone="elliptic"'), 120, {}, 5),
    "a pose that moved by one bit": (scene(PLAIN), 160, {100: put("qpos", 0, 1e-12)}, 3),
    "a quaternion of twice the length is the same pose": (scene(PLAIN), 110, {100: scale_quat(2)}, 3),
    "a quaternion of the other sign is another": (scene(PLAIN), 105, {100: scale_quat(-1)}, 1),
    "a velocity that cannot be felt": (scene(PLAIN), 103, {100: put("qvel", 2, 1e-300)}, 1),
    "a velocity of minus zero": (scene(PLAIN), 103, {100: put("qvel", 2, -0.0)}, 1),
    "a velocity that lasts": (scene(PLAIN), 200, {100: put("qvel", 0, 0.5)}, 3),
    "a force of minus zero keeps awake": (scene(PLAIN), 150, {100: put("qfrc_applied", 2, -0.0)}, 1),
    "a wrench of minus zero keeps awake": (scene(PLAIN), 150, {100: put("xfrc_applied", (2, 0), -0.0)}, 1),
    "a wrench on the world wakes nobody": (scene(PLAIN), 110, {100: put("xfrc_applied", (0, 2), 1.0)}, 3),
    "pushed, then let go": (
        scene(STACKS), 250, {100: put("xfrc_applied", (2, 2), 300.0), 110: put("xfrc_applied", (2, 2), 0.0)}, None,
    ),
    "lifted onto another stack, all wake at once": (scene(STACKS), 160, {100: lift}, None),
    "a ball falls onto sleepers": (scene(PLAIN + free("s", "0 0 1.5", BALL)), 300, {}, 4),
    "contacts that make no force wake one by one": (scene(ROW), 260, {200: put("qvel", 2, 0.01)}, 5),
    "an island with one that never sleeps": (scene(PLAIN + free("n", "0 0 .5", BALL, 'sleep="never"')), 120, {}, 1),
    "asleep from the start, in the air": (scene(AIR + free("z", "2 0 .1")), 60, {}, 4),
    "asleep from the start, then poked": (scene(AIR + free("z", "2 0 .1")), 100, {50: put("qvel", 0, 0.5)}, 2),
    "a mocap body wakes nobody": (scene(free("a", "0 0 .1") + MOCAP), 90, {70: put("mocap_pos", 0, [0.14, 0, 0.1])}, 1),
    "a mocap body carries its tree away": (scene(HANGING), 105, {80: put("mocap_pos", 0, [0.5, 0, 1])}, 1),
    "what hangs on a mocap body starts asleep and wakes": (scene(hung("0 0 1")), 60, {}, None),
    "what hangs on one at the origin sleeps on": (scene(hung("0 0 0")), 60, {}, 1),
    "a removed support is not noticed": (scene(free("a", "0 0 .1") + MOCAP), 90, {70: put("qpos", 2, 0.0999)}, None),
    "two trees below one static body": (scene(SHELF), 250, {}, None),
    "without islands nobody sleeps": (scene(STACKS, flag='island="disable"'), 80, {}, 0),
    "without constraints trees sleep alone": (
        scene(PLAIN, 'gravity="0 0 0"', 'constraint="disable"'), 40, {20: put("qvel", 2, 0.1)}, 2,
    ),
    "just as fast as the tolerance is too fast": (
        scene(free("a", "0 0 1"), 'gravity="0 0 0" sleep_tolerance=".01"'), 40, {0: put("qvel", 0, 0.01)}, 0,
    ),
    "a bit slower is at rest": (
        scene(free("a", "0 0 1"), 'gravity="0 0 0" sleep_tolerance=".01"'), 40,
        {0: put("qvel", 0, np.nextafter(0.01, 0))}, 1,
    ),
    "rotations count by the length of the body": (
        scene(free("a", "0 0 1"), 'gravity="0 0 0" sleep_tolerance=".01"'), 40, {0: put("qvel", 4, 0.057)}, 1,
    ),
    "gravity that turns wakes nobody": (scene(PLAIN), 110, {100: turn_gravity}, 3),
    "the flag off and on again": (scene(PLAIN), 150, {100: flag(0), 110: flag(SLEEP)}, 3),
    "a doll with limits and friction": (
        scene(DOLL.format(name="doll", pos="0 0 .5") + free("a", "1 0 .1"), 'sleep_tolerance=".01"'), 700, {}, 2,
    ),
    "balls hit sleepers one after the other": (scene(CHAIN), 300, {60: put("qvel", 0, 2.0)}, None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    xml, steps, pokes, asleep = CASES[case]
    both = Both(xml)
    for i in range(steps):
        if i in pokes:
            both.poke(pokes[i])
        both.step()
        assert both.same(), f"step {i}: {both.data[0].tree_asleep} and {both.data[1].tree_asleep}"
        assert both.apart() < 1e-9, f"step {i}"
    if asleep is not None:
        assert (both.data[0].tree_asleep >= 0).sum() == asleep


@pytest.mark.parametrize("flag", ["CONTACT", "CONSTRAINT"])
def test_contacts_may_end_and_begin_while_some_sleep(flag):
    """step() of Both checks the rules of a Data: no list of pairs is left from before."""
    both = Both(scene(STACKS))
    for bit in (0, int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")), 0):
        for model in (both.theirs, both.ours):
            model.opt.disableflags = bit
        for _ in range(45 if bit == 0 else 3):
            both.step()
            assert both.same() and both.apart() < 1e-9
    assert both.data[0].tree_asleep.max() >= 0


def test_forward_wakes_and_does_not_count():
    both = Both(scene(PLAIN))
    for _ in range(100):
        both.step()
    for _ in range(2):
        both.poke(put("qvel", 2, 1.0))
        mujoco.mj_forward(both.theirs, both.data[0])
        tisim.forward(both.ours, both.data[1])
        assert both.same()
        assert both.data[1].tree_asleep.tolist() == [-11, -11, 2]


def test_a_force_between_step1_and_step2_wakes_in_the_next_step():
    both = Both(scene(PLAIN))
    for _ in range(100):
        both.step()
    mujoco.mj_step1(both.theirs, both.data[0])
    tisim.step1(both.ours, both.data[1])
    both.poke(put("xfrc_applied", (1, 2), 5.0))
    mujoco.mj_step2(both.theirs, both.data[0])
    tisim.step2(both.ours, both.data[1])
    assert both.same()
    both.step()
    assert both.same() and both.data[1].ntree_awake == 2


def test_reset_and_keyframe_put_to_sleep_as_a_new_data():
    key = '<keyframe><key qpos="0 0 2 1 0 0 0 0 0 1.15 1 0 0 0 0 0 3 1 0 0 0"/></keyframe>'
    both = Both(scene(AIR, rest=key))
    assert both.same_sleepers() and both.data[1].ntree_awake == 0
    for _ in range(5):
        both.poke(put("qvel", 0, 1.0))
        both.step()
    mujoco.mj_resetDataKeyframe(both.theirs, both.data[0], 0)
    tisim.reset_keyframe(both.ours, both.data[1], 0)
    assert both.same_sleepers()
    both.step()  # the pose that the keyframe wrote wakes
    assert both.same() and both.data[1].ntree_awake == 2


def test_a_part_of_an_island_cannot_start_asleep():
    model = tisim.Model.from_xml_string(scene(free("low", "0 0 1", body=INIT) + free("high", "0 0 1.15", UPPER)))
    with pytest.raises(tisim.Error, match="body low"):
        tisim.Data(model)


def test_wake_wakes_whole_islands():
    both = Both(scene(PLAIN))
    for _ in range(100):
        both.step()
    m, d = both.ours, both.data[1]
    tisim.wake(m, d, "b")
    assert d.tree_asleep.tolist() == [-11, -11, 2]
    tisim.wake(m, d)
    assert d.ntree_awake == 3
    tisim.step(m, d)
    assert d.ncon >= 12
    for bad in ("floor", 0, 9):
        with pytest.raises(tisim.Error):
            tisim.wake(m, d, bad)


def test_a_copy_sleeps_on():
    both = Both(scene(STACKS))
    for _ in range(45):
        both.step()
    m, d = both.ours, both.data[1]
    other = d.__copy__()
    assert other.tree_asleep.tolist() == d.tree_asleep.tolist() and 0 < d.ntree_awake < 5
    for data in (d, other):
        tisim.step(m, data, 30)
        data.qvel[2] = 0.5
        tisim.step(m, data, 30)
    assert np.array_equal(other.qpos, d.qpos) and np.array_equal(other.tree_asleep, d.tree_asleep)
