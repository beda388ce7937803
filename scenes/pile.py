"""A pile: the scene of most benchmarks."""

import numpy as np
from tisim.scenes.common import FLOOR, arena, document

from tisim.errors import Error

SIZES = dict(box="0.08 0.06 0.07", sphere="0.08", capsule="0.05 0.05", cylinder="0.06 0.06", ellipsoid="0.08 0.06 0.07")
COLORS = dict(
    box="0.90 0.42 0.28 1", sphere="0.97 0.76 0.30 1", capsule="0.24 0.56 0.68 1", cylinder="0.45 0.70 0.42 1",
    ellipsoid="0.62 0.45 0.72 1",
)  # fmt: skip
SPACING = 0.25  # between bodies at the start [m]


def pile(n=1000, shape="mixed", cone="pyramidal", seed=0, sleep=False):
    """n boxes, spheres and capsules drop into a walled container and pile up.

    shape  "mixed" (box, sphere, capsule in turn) or one of box, sphere, capsule, cylinder, ellipsoid.
    seed   of the small random offsets at the start.
    """
    if shape != "mixed" and shape not in SIZES:
        raise Error(f"scene pile: shape={shape!r}: expected mixed, {', '.join(SIZES)}")
    rng = np.random.default_rng(seed)
    side = max(3, int(round((n / 10) ** 0.5)))
    width = side * SPACING
    world, long = [FLOOR], width / 2 + 0.1
    for x, y, sx, sy in (
        (width / 2 + 0.05, 0, 0.05, long), (-width / 2 - 0.05, 0, 0.05, long),
        (0, width / 2 + 0.05, long, 0.05), (0, -width / 2 - 0.05, long, 0.05),
    ):  # fmt: skip
        world.append(f'    <geom type="box" pos="{x} {y} 2" size="{sx} {sy} 3" rgba=".55 .7 .85 .13"/>')
    for i in range(n):
        layer, r = divmod(i, side * side)
        x = (r % side - (side - 1) / 2) * SPACING + rng.uniform(-0.02, 0.02)
        y = (r // side - (side - 1) / 2) * SPACING + rng.uniform(-0.02, 0.02)
        t = ("box", "sphere", "capsule")[i % 3] if shape == "mixed" else shape
        world.append(
            f'    <body pos="{x:.4f} {y:.4f} {0.15 + layer * SPACING:.4f}"><freejoint/>'
            f'<geom type="{t}" size="{SIZES[t]}" rgba="{COLORS[t]}"/></body>'
        )
    return document("pile", world, 0.005, cone, sleep, memory=arena(n))
