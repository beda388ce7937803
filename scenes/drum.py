"""Bodies in a rotating drum."""

import math

import numpy as np
from tisim.scenes.common import FLOOR, arena, document, rainbow

BOARDS = 16  # of the drum's wall
LIFTERS = 4  # ribs that carry bodies up
SPACING = 0.13  # between bodies at the start [m]
SIZES = dict(box=".05 .04 .045", sphere=".05", capsule=".035 .03")


def turn(m, d):
    """The drum's motor turns on at a constant speed of 1.5 rad/s."""
    d.ctrl[..., 0] = 1.5


def drum(n=200, cone="pyramidal", seed=0):
    """n boxes, spheres and capsules are kept moving by a drum that a motor turns.

    seed  of the small random offsets at the start.
    """
    rng = np.random.default_rng(seed)
    across = max(4, int(math.ceil((n / 4) ** (1 / 3))))  # bodies along each side of the block at the start
    radius = across * SPACING * 0.72 + 0.1
    half = max(0.3, (n / across**2 + 1) * SPACING / 2)
    wall = radius * math.tan(math.pi / BOARDS) + 0.03
    height = radius + 0.2
    world = [FLOOR, f'    <body name="drum" pos="0 0 {height:.4f}">',
             '      <joint name="axle" type="hinge" axis="0 1 0" armature="1"/>']  # fmt: skip
    for k in range(BOARDS):
        a = 360 * k / BOARDS
        x, z = ((radius + 0.03) * f(math.radians(a)) for f in (math.cos, math.sin))
        world.append(
            f'      <geom type="box" pos="{x:.4f} 0 {z:.4f}" euler="0 {-a:.3f} 0" size=".03 {half + 0.06:.4f} '
            f'{wall:.4f}" rgba=".55 .7 .85 .35"/>'
        )
    for k in range(LIFTERS):
        a = 360 * (k + 0.5 / BOARDS) / LIFTERS
        x, z = ((radius - 0.05) * f(math.radians(a)) for f in (math.cos, math.sin))
        world.append(
            f'      <geom type="box" pos="{x:.4f} 0 {z:.4f}" euler="0 {-a:.3f} 0" size=".08 {half:.4f} .02" '
            'rgba=".75 .62 .45 1"/>'
        )
    for y in (-half - 0.03, half + 0.03):
        world.append(
            f'      <geom type="cylinder" pos="0 {y:.4f} 0" euler="90 0 0" size="{radius + 0.06:.4f} .03" '
            'rgba=".55 .7 .85 .12"/>'
        )
    world.append("    </body>")
    for i in range(n):
        layer, r = divmod(i, across * across)
        x, z = ((k - (across - 1) / 2) * SPACING + rng.uniform(-0.01, 0.01) for k in (r % across, r // across))
        y = (layer - (n - 1) // across**2 / 2) * SPACING
        shape = ("box", "sphere", "capsule")[i % 3]
        world.append(
            f'    <body pos="{x:.4f} {y:.4f} {height + z:.4f}"><freejoint/><geom type="{shape}" size="{SIZES[shape]}" '
            f'rgba="{rainbow(i / max(1, n - 1))}"/></body>'
        )
    strength = max(2000, round(20 * n * radius))  # enough for what it lifts [N m s]
    rest = f'  <actuator><velocity name="motor" joint="axle" kv="{strength}"/></actuator>'
    return document("drum", world, 0.004, cone, rest=rest, memory=arena(2 * n))
