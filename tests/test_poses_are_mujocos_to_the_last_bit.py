"""Where bodies stand at first is MuJoCo's to the last bit: in a state taken from there, those asleep sleep on."""

import mujoco
import numpy as np

import tisim

BODY = '<body pos="{0}" {1}><freejoint/><geom type="box" size=".1 .2 .3" pos="{2}" euler="{3}"/></body>'


def bodies(rng, n=20, turn="euler"):
    """MJCF of n free boxes; turn  the attribute that turns them."""

    def draw(most, count=3):
        return " ".join(f"{x:.3f}" for x in rng.uniform(-most, most, count))

    turns = {"euler": lambda: draw(170), "quat": lambda: draw(1, 4), "axisangle": lambda: draw(1) + " " + draw(170, 1)}
    parts = [BODY.format(draw(9), f'{turn}="{turns[turn]()}"', draw(1), draw(90)) for _ in range(n)]
    return "".join(f'<frame pos="{draw(2)}" euler="{draw(170)}">{part}</frame>' if i % 2 else part
                   for i, part in enumerate(parts))  # fmt: skip


def test_bodies_in_frames_replicates_and_aligned():
    rng = np.random.default_rng(0)
    several = "".join(bodies(rng, turn=turn) for turn in ("euler", "quat", "axisangle"))
    nested = f'<frame euler="10 20 30" pos="1 2 3">{bodies(rng)}</frame>'
    copies = f'<replicate count="20" offset=".3 .2 .1" euler="3 5 7">{bodies(rng, 2)}</replicate>'
    for align in ("false", "true"):
        xml = f'<mujoco><compiler alignfree="{align}"/><worldbody>{several}{nested}{copies}</worldbody></mujoco>'
        theirs, ours = mujoco.MjModel.from_xml_string(xml), tisim.Model.from_xml_string(xml)
        for name in ("body_pos", "body_quat", "qpos0"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), (align, name)


def test_a_state_of_mujocos_wakes_nobody():
    world = "".join(BODY.format(f"0 0 {z}", 'sleep="init" euler="10 20 30"', ".1 .2 .3", "0 30 0") for z in (1, 3, 5))
    world = world.replace("<freejoint/>", '<freejoint align="true"/>')
    xml = f'<mujoco><option><flag sleep="enable"/></option><worldbody>{world}</worldbody></mujoco>'
    m = tisim.Model.from_xml_string(xml)
    d = tisim.Data(m)
    d.qpos[:] = mujoco.MjModel.from_xml_string(xml).qpos0
    tisim.step(m, d)
    assert d.ntree_awake == 0
