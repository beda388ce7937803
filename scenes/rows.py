"""Boxes, cylinders and balls beside each other."""

import math

from tisim.scenes.common import arena, color, document

SIZES = dict(box=".2 .2 .2", cylinder=".2 .2", sphere=".2")
STEP = 1.5  # from one to the next [m]
FLOOR = '    <geom name="floor" type="plane" size="{0} {0} 1" material="floor"/>'


def rows(n=300, cone="pyramidal", sleep=False):
    """n boxes, cylinders and balls stand in rows on a plane and touch nothing else, as a test of what rest costs."""
    side = math.ceil(math.sqrt(n))
    world = [FLOOR.format(STEP * side)]
    for i in range(n):
        kind = list(SIZES)[i % 3]
        x, y = (STEP * (c - (side - 1) / 2) for c in (i % side, i // side))
        world.append(
            f'    <body pos="{x:g} {y:g} .2"><freejoint/><geom type="{kind}" size="{SIZES[kind]}" '
            f'rgba="{color(i % 3)}"/></body>'
        )
    return document("rows", world, 0.001, cone, sleep, memory=arena(n))
