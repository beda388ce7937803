"""A slider-crank. Seed 001, "slider-crank transmission"."""

import numpy as np
from tisim.scenes.common import document

AMPLITUDE, RATE = 0.8, 2.0  # of the wave that asks for the slider's place [m], cut off by the range; [rad/s]


def wave(m, d):
    """The servo's slider goes to and fro, most of the time at an end of its range."""
    d.ctrl[..., 0] = AMPLITUDE * np.sin(RATE * np.asarray(d.time))


def crank():
    """A slider that is not drawn pushes a lever round by a rod, both ways: one servo on two sites."""
    world = [
        '    <camera name="front" pos=".1 0 .6" xyaxes="1 0 0 0 1 0"/>',
        '    <site name="slidersite" pos="0 -.1 .2" zaxis="0 1 0" size=".012" rgba="1 0 0 1"/>',
        '    <body pos="0 0 .2">',
        '      <joint name="crank" damping=".1"/>',
        '      <geom type="capsule" size=".01" fromto="0 0 0 .2 0 0" rgba=".5 .52 .55 1"/>',
        '      <site name="cranksite" pos=".1 0 0" size=".012" rgba="1 0 0 1"/>',
        "    </body>",
    ]
    rest = (
        '  <actuator>\n    <position name="slider-crank" cranksite="cranksite" slidersite="slidersite" '
        'cranklength=".11" ctrllimited="true" ctrlrange="-.1 .1" kp="30"/>\n  </actuator>'
    )
    return document("crank", world, 0.002, rest=rest)
