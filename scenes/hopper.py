"""Grains in a hopper."""

import math

import numpy as np
from tisim.scenes.common import FLOOR, arena, document

from tisim.errors import Error

RADIUS = 0.03  # of a grain [m]
SPACING = 2.2 * RADIUS  # between grains at the start [m]
HEIGHT = 0.6  # of the outlet above the floor [m]
SIDES = 4  # of the funnel
TOP = 0.55  # half the width of the funnel at its rim [m]


def hopper(n=400, outlet=0.2, slope=50.0, cone="pyramidal", seed=0, sleep=False):
    """n grains run through the outlet of a funnel into a tray.

    outlet  its width [m];  slope  of the funnel's walls [degree];  seed  of the small random offsets at the start.
    """
    if not 0.05 <= outlet <= 1 or not 20 <= slope <= 80:
        raise Error(f"scene hopper: outlet={outlet!r}, slope={slope!r}: expected 0.05 to 1 m and 20 to 80 degrees")
    rng = np.random.default_rng(seed)
    world, rise = [FLOOR], math.tan(math.radians(slope))
    inner, thick = outlet / 2, 0.02
    half = (TOP - inner) / math.cos(math.radians(slope)) / 2
    middle, top = (TOP + inner) / 2, HEIGHT + (TOP - inner) * rise
    for k in range(SIDES):
        turn = 2 * math.pi * k / SIDES
        x, y = math.cos(turn), math.sin(turn)
        # the inner face of each board goes through the outlet's edge and the rim
        off, down = thick * math.sin(math.radians(slope)), thick * math.cos(math.radians(slope))
        world.append(
            f'    <body pos="{(middle + off) * x:.4f} {(middle + off) * y:.4f} {(HEIGHT + top) / 2 - down:.4f}" '
            f'euler="0 0 {90 * k}"><geom type="box" size="{half + thick:.4f} {TOP + 0.1:.4f} {thick}" '
            f'euler="0 {-slope} 0" rgba=".55 .7 .85 .25"/></body>'
        )
        world.append(
            f'    <geom type="box" pos="{0.7 * x:.4f} {0.7 * y:.4f} .1" euler="0 0 {90 * k}" size=".02 .72 .1" '
            'rgba=".75 .62 .45 1"/>'
        )
        reach = TOP + thick
        world.append(
            f'    <geom type="box" pos="{reach * x:.4f} {reach * y:.4f} {top + 1:.4f}" euler="0 0 {90 * k}" '
            f'size="{thick} {TOP + 2 * thick:.4f} 1" rgba=".55 .7 .85 .12"/>'
        )
    side = int((2 * TOP - 4 * RADIUS) / SPACING)
    for i in range(n):
        layer, r = divmod(i, side * side)
        x, y = ((k - (side - 1) / 2) * SPACING + rng.uniform(-0.002, 0.002) for k in (r % side, r // side))
        z = top + 0.1 + layer * 1.25 * SPACING  # capsules stand
        shape = (f'type="sphere" size="{RADIUS}"', f'type="capsule" size="{0.8 * RADIUS:.4f} {0.5 * RADIUS:.4f}"')[
            i % 2
        ]
        rgba = (".93 .78 .42 1", ".80 .52 .30 1")[i % 2]
        world.append(
            f'    <body pos="{x:.4f} {y:.4f} {z:.4f}"><freejoint/><geom {shape} rgba="{rgba}" condim="4" '
            'friction=".4 .005 .0001"/></body>'
        )
    return document("hopper", world, 0.004, cone, sleep, memory=arena(2 * n))
