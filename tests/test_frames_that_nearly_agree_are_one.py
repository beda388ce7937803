"""A frame that lies within a millionth of its body's, or of that body's inertia, is taken as that very one.

Contract: poses of inertia, geoms and sites are MuJoCo 3.4.0's to 1e-14 for each mjtSameFrame, with numbers that are off
by less than the compiler's tolerance; a frame that a user moves by more goes where it was moved.
"""

import mujoco
import numpy as np
from shared.reference import Pair

import tisim

XML = """<mujoco><worldbody>
<body pos="0 0 1" euler="10 20 30"><freejoint/><inertial pos=".1 .2 .3" quat=".8 .6 0 0"
  mass="1" diaginertia="1 2 2.5"/>
  <geom size=".1 .2 .3" type="box" pos="5e-7 0 3e-7" quat="1 4e-7 0 2e-7"/>
  <geom size=".1" quat="1 0 4e-7 0" pos="1 0 0"/>
  <geom size=".1 .2 .3" type="box" pos=".1000004 .2 .3" quat=".8000003 .5999996 2e-7 0"/>
  <geom size=".1 .2 .3" type="box" pos=".4 .2 .3" quat="-.8000003 -.5999996 2e-7 0"/><geom size=".1" euler="9 8 7"/>
  <site pos="0 5e-7 0" quat="1 4e-7 0 0"/><site pos=".1 .2 .3000005" quat=".8000003 .5999996 0 3e-7"/>
  <site pos="1 0 0"/>
</body>
<body pos="2 0 1" euler="20 0 40"><freejoint/><inertial pos="4e-7 0 0" quat="1 0 5e-7 0"
  mass="1" diaginertia="1 2 2.5"/>
  <geom size=".1 .1 .2" type="box" pos="0 0 3e-7" quat="1 5e-7 0 0"/></body></worldbody></mujoco>"""
POSES = "xipos ximat geom_xpos geom_xmat site_xpos site_xmat subtree_com cinert".split()


def test_poses():
    pair = Pair(XML)
    assert len(set(pair.mm.geom_sameframe)) == 5, "each kind stands in the model"
    assert np.array_equal(pair.m.geom_sameframe, pair.mm.geom_sameframe)
    for _ in pair.states(2, 20):
        assert [pair.error(name) < 1e-14 for name in POSES] == [True] * len(POSES)


def test_a_frame_that_is_moved():
    pair = Pair(XML)
    tisim.step(pair.m, pair.d)
    pair.m.geom_pos[2] += 0.1
    mujoco.mj_resetData(pair.mm, pair.md)
    pair.mm.geom_pos[2] += 0.1
    pair.mm.geom_sameframe[2] = 0
    pair.forward()
    assert pair.error("geom_xpos") < 1e-14 and pair.error("geom_xmat") < 1e-6


def test_a_floor_that_is_moved():
    """As tisim/MIGRATION.md tells: where MuJoCo looks at geom_sameframe alone, it stays."""
    pair = Pair('<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/></worldbody></mujoco>')
    for m in (pair.mm, pair.m):
        m.geom_pos[0, 2] = -1
    pair.forward()
    assert (pair.md.geom_xpos[0, 2], pair.d.geom_xpos[0, 2]) == (0, -1)
