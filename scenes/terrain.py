"""Cylinders on hills."""

import numpy as np
from tisim.scenes.common import arena, color, document

SIDE = 2.0  # half width of the ground [m]
HEIGHT = 0.5  # of the hills [m]
POINTS = 49  # of the height field along a side


def terrain(n=40, cone="pyramidal", seed=0, sleep=False):
    """n cylinders roll over hills, a height field, into its valley.

    seed  of the hills and of the directions at the start.
    """
    rng = np.random.default_rng(seed)
    x, y = np.meshgrid(*[np.linspace(-1, 1, POINTS)] * 2)
    ground = 0.75 * np.maximum(np.abs(x), np.abs(y)) ** 4
    for _ in range(9):
        (cx, cy), width = rng.uniform(-0.7, 0.7, 2), rng.uniform(0.12, 0.25)
        ground += rng.uniform(0.15, 0.45) * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / width**2)
    ground = (ground - ground.min()) / np.ptp(ground)
    field = (
        f'  <asset><hfield name="hills" nrow="{POINTS}" ncol="{POINTS}" size="{SIDE} {SIDE} {HEIGHT} .2" '
        f'elevation="{" ".join(f"{v:.4f}" for v in ground[::-1].ravel())}"/></asset>'
    )
    world = ['    <geom name="ground" type="hfield" hfield="hills" rgba=".55 .68 .42 1"/>']
    side = int(np.ceil(n**0.5))
    for i in range(n):
        px, py = (1.2 * SIDE * ((c + 0.5) / side - 0.5) for c in (i % side, i // side))
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        world.append(
            f'    <body pos="{px:.4f} {py:.4f} {HEIGHT + 0.25:.4f}" quat="%.5f %.5f %.5f %.5f"><freejoint/>'
            f'<geom type="cylinder" size=".07 .05" condim="4" friction=".8 .01 .001" rgba="{color(i)}"/></body>'
            % tuple(q)
        )
    return document("terrain", world, 0.004, cone, sleep, field, memory=arena(2 * n))
