"""Many worlds at once: how hard must the first domino be pushed so that all fall?

python scenes/examples/many_worlds.py [worlds]
"""

import sys

import numpy as np

import tisim

ROW = """<mujoco><worldbody>
  <geom type="plane" size="5 5 0.1"/>
  <replicate count="{n}" offset="0.08 0 0">
    <body pos="0 0 0.08"><freejoint/><geom type="box" size="0.012 0.04 0.08" density="600"/></body>
  </replicate>
</worldbody></mujoco>"""
ABOUT_Y = 4  # dof of a free joint: speed of turning forwards


def pushes(worlds=32, n=10, seconds=1.5):
    """Speeds of the first domino (worlds,) [rad/s], and how many dominos have fallen in each world (worlds,)."""
    m = tisim.Model.from_xml_string(ROW.format(n=n))
    d = tisim.Data(m, nworld=worlds)
    speeds = np.linspace(0, 6, worlds)
    d.qvel[:, ABOUT_Y] = speeds
    tisim.step(m, d, round(seconds / m.opt.timestep))
    tisim.forward(m, d)
    upright = np.asarray(d.xmat).reshape(worlds, m.nbody, 3, 3)[:, 1:, 2, 2]
    return speeds, (upright < 0.9).sum(axis=1)


if __name__ == "__main__":
    speeds, fallen = pushes(int(sys.argv[1]) if len(sys.argv) > 1 else 32)
    print("\n".join(f"{s:5.2f} rad/s: {k:3d} fell" for s, k in zip(speeds, fallen)))
