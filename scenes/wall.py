"""A brick wall."""

import math

from tisim.scenes.common import FLOOR, SINK, arena, document, jitter

BRICK = (0.12, 0.06, 0.05)  # half sizes: along the wall, through it, up [m]
GAP = 0.002  # between bricks of a course [m]
SHIFT = 0.0004  # by which a brick lies beside its place [m]
SHADES = ("0.76 0.36 0.28 1", "0.70 0.32 0.25 1", "0.82 0.43 0.33 1", "0.65 0.30 0.26 1")
ROPE_ANGLE = 75  # of the ball's rope from the vertical at the start [degree]


def wall(n=200, ball=0.3, cone="pyramidal", sleep=False):
    """A wall of n bricks is hit by a wrecking ball.

    ball  radius of the ball [m].
    """
    across = max(3, round(math.sqrt(n * BRICK[2] / BRICK[0]) * 1.6))
    half = [0.5 * BRICK[0] - 0.25 * GAP, BRICK[1], BRICK[2]]
    pitch, world, i, course = 2 * BRICK[0] + GAP, [FLOOR], 0, 0
    while i < n:
        # every second course starts and ends with half a brick, so that both ends are straight
        cells = [(k * pitch, False) for k in range(across)]
        if course % 2:
            cells = [(-0.25 * pitch, True), *((k * pitch + 0.5 * pitch, False) for k in range(across - 1)),
                     ((across - 0.75) * pitch, True)]  # fmt: skip
        for x, is_half in cells[: n - i]:
            size = half if is_half else BRICK
            x -= 0.5 * (across - 1) * pitch
            z = BRICK[2] * (2 * course + 1) - SINK * (course + 1)
            pos = f"{x + SHIFT * jitter(i):.6f} {SHIFT * jitter(i, 1):.6f} {z:.6f}"
            world.append(
                f'    <body pos="{pos}"><freejoint/><geom type="box" '
                f'density="900" size="{size[0]:.4f} {size[1]} {size[2]}" '
                f'rgba="{SHADES[(i * 7 + course * 3) % 4]}"/></body>'
            )
            i += 1
        course += 1
    height = 2 * BRICK[2] * course
    rope = max(1.2 * height, 4 * ball)
    pivot = max(0.55 * height, 1.1 * ball) + rope
    world.append(
        f'    <body name="ball" pos="0 {-BRICK[1] - ball:.4f} {pivot:.4f}" euler="{-ROPE_ANGLE} 0 0">'
        '<joint name="rope" type="hinge" axis="1 0 0"/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 {-rope:.4f}" size=".015" contype="0" conaffinity="0" density="100" '
        'rgba=".3 .3 .32 1"/>'
        f'<geom type="sphere" pos="0 0 {-rope:.4f}" size="{ball}" density="2000" rgba=".22 .24 .28 1"/></body>'
    )
    return document("wall", world, 0.004, cone, sleep, memory=arena(2 * n))
