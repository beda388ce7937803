"""A pyramid of boxes."""

from tisim.scenes.common import FLOOR, arena, document, rainbow

HALF = 0.1  # of a box [m]
GAP = 0.01  # between boxes of a layer [m]


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
            world.append(
                f'    <body pos="{x:.4f} {y:.4f} {HALF * (2 * layer + 1):.4f}"><freejoint/><geom type="box" '
                f'size="{HALF} {HALF} {HALF}" rgba="{rainbow(layer / max(1, base - 1))}"/></body>'
            )
            placed += 1
    return document("pyramid", world, 0.005, cone, sleep, memory=arena(2 * n))
