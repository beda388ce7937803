"""Articulated figures."""

import numpy as np
from tisim.scenes.common import FLOOR, arena, color, document

SKIN = "0.87 0.70 0.58 1"
SPACING = 0.9  # between figures at the start [m]
PER_LAYER = 16  # figures side by side before the next layer starts

_FIGURE = """    <body name="d{i}_torso" pos="{pos}" quat="{quat}">
      <freejoint/>
      <geom type="capsule" fromto="-.09 0 .12 .09 0 .12" size=".09" rgba="{shirt}"/>
      <geom type="capsule" fromto="-.05 0 -.02 .05 0 -.02" size=".085" rgba="{shirt}"/>
      <body name="d{i}_head" pos="0 0 .23">
        <joint type="ball" range="0 40" limited="true" damping="1" armature=".005"/>
        <geom type="sphere" pos="0 0 .12" size=".1" rgba="{skin}"/>
        <geom type="capsule" fromto="0 0 0 0 0 .05" size=".045" rgba="{skin}"/>
      </body>
      <body name="d{i}_pelvis" pos="0 0 -.12">
        <joint type="hinge" axis="1 0 0" range="-60 25" damping="3" armature=".01"/>
        <joint type="hinge" axis="0 0 1" range="-35 35" damping="3" armature=".01"/>
        <geom type="capsule" fromto="-.06 0 -.06 .06 0 -.06" size=".085" rgba="{trousers}"/>
{legs}
      </body>
{arms}
    </body>"""
_LEG = """        <body name="d{i}_thigh_{side}" pos="{x} 0 -.1">
          <joint type="ball" range="0 70" limited="true" damping="1.5" armature=".01"/>
          <geom type="capsule" fromto="0 0 -.03 0 0 -.34" size=".06" rgba="{trousers}"/>
          <body name="d{i}_shin_{side}" pos="0 0 -.38">
            <joint type="hinge" axis="1 0 0" range="0 130" damping="1" armature=".007"/>
            <geom type="capsule" fromto="0 0 -.02 0 0 -.33" size=".046" rgba="{trousers}"/>
            <body name="d{i}_foot_{side}" pos="0 0 -.37">
              <joint type="hinge" axis="1 0 0" range="-40 30" damping=".5" armature=".005"/>
              <geom type="capsule" fromto="0 .03 -.03 0 -.13 -.03" size=".04" rgba="{shoe}"/>
            </body>
          </body>
        </body>"""
_ARM = """      <body name="d{i}_upper_arm_{side}" pos="{x} 0 .15">
        <joint type="ball" range="0 95" limited="true" damping=".7" armature=".007"/>
        <geom type="capsule" fromto="{s}.01 0 0 {s}.25 0 0" size=".045" rgba="{shirt}"/>
        <body name="d{i}_lower_arm_{side}" pos="{s}.28 0 0">
          <joint type="hinge" axis="0 0 1" range="{elbow}" damping=".5" armature=".005"/>
          <geom type="capsule" fromto="{s}.01 0 0 {s}.21 0 0" size=".037" rgba="{skin}"/>
          <geom type="sphere" pos="{s}.26 0 0" size=".05" rgba="{skin}"/>
        </body>
      </body>"""
# parts that touch by construction; parent and child never collide anyway
_APART = (
    ("torso", "thigh_l"), ("torso", "thigh_r"), ("thigh_l", "thigh_r"), ("head", "upper_arm_l"),
    ("head", "upper_arm_r"), ("torso", "lower_arm_l"), ("torso", "lower_arm_r"), ("pelvis", "shin_l"),
    ("pelvis", "shin_r"), ("upper_arm_l", "upper_arm_r"), ("thigh_l", "foot_l"), ("thigh_r", "foot_r"),
)  # fmt: skip


def _figure(i, pos, quat):
    look = dict(i=i, skin=SKIN, shirt=color(i), trousers=color(i + 7, 0.45, 0.5), shoe="0.16 0.16 0.18 1")
    legs = "\n".join(_LEG.format(side=side, x=x, **look) for side, x in (("l", ".09"), ("r", "-.09")))
    arms = "\n".join(
        _ARM.format(side=side, x=x, s=s, elbow=elbow, **look)
        for side, x, s, elbow in (("l", ".19", "", "0 130"), ("r", "-.19", "-", "-130 0"))
    )
    return _FIGURE.format(pos=pos, quat=quat, legs=legs, arms=arms, **look)


def ragdolls(n=16, cone="pyramidal", seed=0, sleep=False):
    """n jointed figures (13 bodies, 24 degrees of freedom beside the free ones) drop on a floor.

    seed  of the places and directions at the start.
    """
    rng = np.random.default_rng(seed)
    world, rest = [FLOOR], ["  <contact>"]
    side = int(np.ceil(np.sqrt(min(n, PER_LAYER))))
    for i in range(n):
        layer, k = divmod(i, side * side)
        x, y = ((c - (side - 1) / 2) * SPACING + rng.uniform(-0.1, 0.1) for c in (k % side, k // side))
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        world.append(_figure(i, f"{x:.4f} {y:.4f} {1.6 + 1.8 * layer:.4f}", "%.5f %.5f %.5f %.5f" % tuple(q)))
        rest += [f'    <exclude body1="d{i}_{a}" body2="d{i}_{b}"/>' for a, b in _APART]
    rest.append("  </contact>")
    return document("ragdolls", world, 0.004, cone, sleep, "\n".join(rest), memory=arena(13 * n))
