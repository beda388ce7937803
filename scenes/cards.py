"""Playing cards."""

import numpy as np
from tisim.scenes.common import FLOOR, arena, document

CARD = (0.045, 0.032, 0.0015)  # half sizes [m]
SPACING = 0.02  # between cards at the start [m]
TILT = 15  # of a card at the start, at most [degree]


def cards(n=40, cone="pyramidal", seed=0, sleep=False):
    """n cards, thin boxes, flutter down onto a heap, as a test of thin shapes.

    seed  of their places and tilts at the start.
    """
    rng = np.random.default_rng(seed)
    world = [FLOOR]
    for i in range(n):
        x, y = rng.uniform(-0.03, 0.03, 2)
        a, b, turn = *rng.uniform(-TILT, TILT, 2), rng.uniform(0, 360)
        shade = ".85 .25 .22 1" if i % 2 else ".93 .91 .86 1"
        world.append(
            f'    <body pos="{x:.4f} {y:.4f} {0.03 + i * SPACING:.4f}" euler="{a:.2f} {b:.2f} {turn:.2f}"><freejoint/>'
            f'<geom type="box" size="%g %g %g" density="1200" solref=".004 1.5" rgba="{shade}"/></body>' % CARD
        )
    return document("cards", world, 0.002, cone, sleep, memory=arena(2 * n))
