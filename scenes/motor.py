"""A motor at a pendulum. Seed 001, the first example."""

import numpy as np
from tisim.scenes.common import document

START, TORQUE = 1.0, -100.0  # when the motor is switched on [s], and what it then does [N m]


def turn_back(m, d):
    """The pendulum falls for a second; then the motor turns it the other way."""
    d.ctrl[..., 0] = np.where(np.asarray(d.time) < START, 0.0, TORQUE)


def motor():
    """A rod on a hinge falls from a slant, and after a second a motor turns it back and round."""
    world = [
        '    <camera name="fixed" pos="0 -5 2" xyaxes="1 0 0 0 0 1"/>',
        '    <body pos="0 0 2">',
        '      <joint name="hinge" type="hinge" axis="0 1 0"/>',
        '      <geom type="capsule" size=".03" fromto="0 0 0 1 0 1" rgba=".85 .3 .25 1"/>',
        "    </body>",
    ]
    rest = '  <actuator>\n    <motor name="hmotor" joint="hinge" gear="1"/>\n  </actuator>'
    return document("motor", world, 0.002, rest=rest)
