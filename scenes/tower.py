"""A tower of boxes."""

from tisim.scenes.common import FLOOR, SINK, arena, document, jitter, rainbow

HALF = 0.1  # of a box [m]
STIFF = 0.004  # time constant of the contacts: softer ones let a tower of twenty buckle [s]
SHIFT = 0.0005  # by which a box lies beside its place [m]


def tower(n=20, cone="pyramidal", sleep=False):
    """n boxes stand on each other, as a test of tall stacks."""
    world = [FLOOR]
    for i in range(n):
        shade = rainbow(i / max(1, n - 1))
        x, y = SHIFT * jitter(i), SHIFT * jitter(i, 1)
        world.append(
            f'    <body pos="{x:.6f} {y:.6f} {HALF * (2 * i + 1) - SINK * (i + 1):.6f}"><freejoint/>'
            f'<geom type="box" size="{HALF} {HALF} {HALF}" solref="{STIFF} 1" rgba="{shade}"/></body>'
        )
    return document("tower", world, 0.002, cone, sleep, memory=arena(n))
