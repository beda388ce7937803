"""Adhesion. Seed 001, "body transmission"."""

import numpy as np
from tisim.scenes.common import FLOOR, document

ADHESION, LIFT, START = 100.0, 50.0, 0.2  # of the right arm; of both arms' motors [N], from this time on [s]

_ARM = """    <body name="{side}arm" pos="{x} 0 .5">
      <joint name="{side}" type="slide"/>
      <geom type="cylinder" size=".03" density="50" fromto="0 0 0 0 0 1" rgba=".5 .52 .55 1"/>
      <geom type="cylinder" size=".2" fromto="0 0 0 0 0 .005" rgba="1 .5 0 1"/>
    </body>"""
_CUBE = """    <body name="{side}cube" pos="{x} 0 .2">
      <freejoint/>
      <geom type="box" size=".2 .2 .2" density="50" rgba=".85 .3 .25 1"/>
    </body>"""


def lift(m, d):
    """The right plate sticks to what it touches; when both lie on their cubes, both are pulled up."""
    late = np.asarray(d.time) > START
    d.ctrl[..., 0] = d.ctrl[..., 1] = np.where(late, LIFT, 0.0)
    d.ctrl[..., 2] = ADHESION


def adhesion(cone="pyramidal"):
    """Two plates fall on two cubes and are pulled up again; the one that sticks takes its cube along."""
    world = [FLOOR, '    <camera name="fixed" pos="0 -2 1" zaxis="0 -2 1"/>']
    world += [part.format(side=side, x=x) for part in (_ARM, _CUBE) for side, x in (("left", -0.35), ("right", 0.35))]
    rest = (
        '  <actuator>\n    <motor joint="left"/>\n    <motor joint="right"/>\n'
        '    <adhesion body="rightarm" ctrlrange="0 500"/>\n  </actuator>'
    )
    return document("adhesion", world, 0.002, cone, rest=rest)
