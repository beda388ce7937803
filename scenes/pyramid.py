"""A pyramid of boxes."""

from tisim.scenes.common import FLOOR, SINK, arena, document, jitter, rainbow

HALF = 0.1  # of a box [m]
GAP = 0.01  # between boxes of a layer [m]
SHIFT = 0.001  # by which a box lies beside its place [m]


def pyramid(n=385, cone="pyramidal", sleep=False):
    """n boxes stand as a square pyramid, as a test of stable stacking."""
    base = 1
    while base * (base + 1) * (2 * base + 1) // 6 < n:
        base += 1
    world, placed = [FLOOR], 0
    for layer in range(base):
        side = base - layer
        for k in range(min(side * side, n - placed)):
            x, y = (((c - (side - 1) / 2) * (2 * HALF + GAP)) for c in (k % side, k // side))
            x, y = x + SHIFT * jitter(placed), y + SHIFT * jitter(placed, 1)
            z = HALF * (2 * layer + 1) - SINK * (layer + 1)
            world.append(
                f'    <body pos="{x:.6f} {y:.6f} {z:.6f}"><freejoint/><geom type="box" '
                f'size="{HALF} {HALF} {HALF}" rgba="{rainbow(layer / max(1, base - 1))}"/></body>'
            )
            placed += 1
    return document("pyramid", world, 0.005, cone, sleep, memory=arena(2 * n))
