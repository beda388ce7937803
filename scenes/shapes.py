"""Every primitive shape in one heap."""

import numpy as np
from tisim.scenes.common import FLOOR, arena, color, document

SIZES = dict(
    sphere=".12", capsule=".07 .1", ellipsoid=".14 .1 .07", cylinder=".1 .09", box=".1 .08 .12",
)  # fmt: skip


def shapes(n=50, cone="pyramidal", seed=0, sleep=False):
    """n spheres, capsules, ellipsoids, cylinders and boxes fall in a heap.

    seed  of the directions at the start.
    """
    rng = np.random.default_rng(seed)
    side, world = max(2, int(np.ceil(np.sqrt(n / 3)))), [FLOOR]
    for i in range(n):
        kind = list(SIZES)[i % len(SIZES)]
        layer, k = divmod(i, side * side)
        x, y = ((c - (side - 1) / 2) * 0.36 for c in (k % side, k // side))
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        world.append(
            f'    <body pos="{x:.4f} {y:.4f} {0.3 + 0.4 * layer:.4f}" quat="%.5f %.5f %.5f %.5f"><freejoint/>'
            f'<geom type="{kind}" size="{SIZES[kind]}" condim="4" friction=".7 .01 .001" rgba="{color(i % 5)}"/></body>'
            % tuple(q)
        )
    return document("shapes", world, 0.004, cone, sleep, memory=arena(n))
