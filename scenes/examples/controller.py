"""A controller of one's own balances a pole on a cart: the law comes from tisim.transition_fd, and runs in each step.

python scenes/examples/controller.py
"""

import numpy as np
from scipy.linalg import solve_discrete_are

import tisim

CART = """<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" damping="0.1"/>
      <geom type="box" size="0.2 0.1 0.05" mass="1"/>
      <body name="pole" pos="0 0 0.05">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.02" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="slide" ctrlrange="-20 20"/></actuator>
</mujoco>"""


def gain(m, d):
    """(1, 4) what to push by how far the state is off: the linear quadratic regulator around the upright state."""
    A, B, _, _ = tisim.transition_fd(m, d)
    Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), np.eye(1)
    P = solve_discrete_are(A, B, Q, R)
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def balance(angle=0.3, seconds=4.0):
    """Angle of the pole after each step (n,) [rad], from this angle on."""
    m = tisim.Model.from_xml_string(CART)
    d = tisim.Data(m)
    K = gain(m, d)

    def control(m, d):
        d.ctrl[:] = np.clip(-K @ np.concatenate([d.qpos, d.qvel]), -20, 20)

    m.callback.control = control
    d.qpos[1] = angle
    angles = []
    for _ in range(round(seconds / m.opt.timestep)):
        tisim.step(m, d)
        angles.append(float(d.qpos[1]))
    return np.array(angles)


if __name__ == "__main__":
    angles = balance()
    print(f"from {np.degrees(angles[0]):.1f} to {np.degrees(angles[-1]):.3f} degrees in {len(angles)} steps")
