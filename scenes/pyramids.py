"""Pyramids of boxes, each a little later at rest than the one before."""

import math

from tisim.scenes.common import SINK, arena, document, jitter, rainbow

HALF = 0.1  # of a box [m]
GAP = 0.01  # between boxes of a layer [m]
APART = 1.6  # from pyramid to pyramid [m]
DROP = 0.002  # height from which a pyramid falls, more than the one before it [m]
FLOOR = '    <geom name="floor" type="plane" size="{0} {0} 1" material="floor"/>'


def pyramids(n=9, layers=3, cone="pyramidal", sleep=False):
    """n square pyramids of 1 + 4 + 9 + ... boxes come to rest, one later than the other.

    layers  of each pyramid; five have 55 boxes.
    """
    side = math.ceil(math.sqrt(n))
    world, placed = [FLOOR.format(APART * side)], 0
    for p in range(n):
        x0, y0 = (APART * (c - (side - 1) / 2) for c in (p % side, p // side))
        for layer in range(layers):
            wide = layers - layer
            for k in range(wide * wide):
                x, y = ((c - (wide - 1) / 2) * (2 * HALF + GAP) + 0.001 * jitter(placed, a)
                        for a, c in enumerate((k % wide, k // wide)))  # fmt: skip
                z = HALF * (2 * layer + 1) - SINK * (layer + 1) + DROP * p
                world.append(
                    f'    <body pos="{x0 + x:.5f} {y0 + y:.5f} {z:.5f}"><freejoint/><geom type="box" '
                    f'size="{HALF} {HALF} {HALF}" rgba="{rainbow(layer / max(1, layers - 1))}"/></body>'
                )
                placed += 1
    return document("pyramids", world, 0.005, cone, sleep, memory=arena(2 * placed))
