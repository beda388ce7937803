"""A model of one's own: an arm with two motors follows a path.

python scenes/examples/own_model.py
"""

import numpy as np

import tisim

ARM = """<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
      <body name="lower" pos="0 0 -0.4">
        <joint name="elbow" axis="0 1 0" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03"/>
        <site name="hand" pos="0 0 -0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="at_shoulder" joint="shoulder" kp="200" kv="10"/>
    <position name="at_elbow" joint="elbow" kp="100" kv="5"/>
  </actuator>
  <sensor><framepos name="where" objtype="site" objname="hand"/></sensor>
</mujoco>"""


def follow(seconds=2.0):
    """Angles wanted and reached (n, 2) [rad], and places of the hand (n, 3) [m]."""
    m = tisim.Model.from_xml_string(ARM)
    d = tisim.Data(m)
    wanted, reached, hand = [], [], []
    for _ in range(round(seconds / m.opt.timestep)):
        d.ctrl[:] = 0.5 * np.sin(2 * d.time), 0.8 * np.sin(3 * d.time)
        wanted.append(np.array(d.ctrl))
        tisim.step(m, d)
        reached.append(np.array(d.qpos))
        hand.append(np.array(d.sensor("where").data))
    return np.array(wanted), np.array(reached), np.array(hand)


if __name__ == "__main__":
    wanted, reached, hand = follow()
    print(f"the joints are off by at most {np.degrees(np.abs(wanted - reached).max()):.1f} degrees")
    print(f"the hand went through {np.linalg.norm(np.diff(hand, axis=0), axis=1).sum():.2f} m")
