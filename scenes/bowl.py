"""Meshes in a bowl."""

import math

import numpy as np
from tisim.scenes.common import FLOOR, arena, color, document

RADIUS = 0.06  # of a fig [m]
ACROSS, DOWN = 18, 11  # grid of its surface: round the axis, from pole to pole
PANELS = 20  # boards of each ring of the bowl
RINGS = ((0.32, 30), (0.46, 55))  # distance of a ring's boards from the axis [m], their slope [degree]
SPACING = 0.2  # between figs at the start [m]


def _fig():
    """(vertices (n, 3), faces (f, 3)) of a lumpy body: a surface that every ray cuts once."""
    bumps = [((0.8, 0.0, 0.6), 0.45, 6), ((0.35, 0.35, 0.95), 0.75, 22), ((0.35, -0.35, 0.95), 0.75, 22),
             ((-1.0, 0.0, -0.1), 0.2, 12)]  # fmt: skip
    phi = np.arange(ACROSS) * 2 * np.pi / ACROSS
    theta = np.arange(1, DOWN) * np.pi / DOWN
    ring = np.stack(np.broadcast_arrays(
        np.sin(theta)[:, None] * np.cos(phi), np.sin(theta)[:, None] * np.sin(phi), np.cos(theta)[:, None]
    ), -1).reshape(-1, 3)  # fmt: skip
    way = np.concatenate([[[0, 0, 1]], ring, [[0, 0, -1]]])
    reach = np.ones(len(way))
    for axis, height, sharp in bumps:
        reach += height * np.exp(sharp * (way @ np.array(axis) / np.linalg.norm(axis) - 1))
    last, faces = len(way) - 1, []
    for k in range(ACROSS):
        right = (k + 1) % ACROSS
        faces += [(0, 1 + k, 1 + right), (last, last - ACROSS + right, last - ACROSS + k)]
        for row in range(DOWN - 2):
            a, b = 1 + row * ACROSS + k, 1 + row * ACROSS + right
            faces += [(a, a + ACROSS, b), (b, a + ACROSS, b + ACROSS)]
    return RADIUS * reach[:, None] * way, np.array(faces)


def bowl(n=50, cone="pyramidal", seed=0, sleep=False):
    """n figs, meshes of 182 vertices, drop into a bowl of boards; meshes collide as their convex hulls.

    seed  of the directions at the start.
    """
    rng = np.random.default_rng(seed)
    vertices, faces = _fig()
    mesh = (
        f'  <asset><mesh name="fig" vertex="{" ".join(f"{v:.5f}" for v in vertices.ravel())}" '
        f'face="{" ".join(str(f) for f in faces.ravel())}"/></asset>'
    )
    world = [FLOOR]
    for distance, slope in RINGS:
        half = 1.15 * distance * math.tan(math.pi / PANELS) + 0.03
        height = 0.02 if distance == RINGS[0][0] else 0.12
        for k in range(PANELS):
            turn = 360 * k / PANELS
            x, y = (distance * f(math.radians(turn)) for f in (math.cos, math.sin))
            world.append(
                f'    <body pos="{x:.4f} {y:.4f} {height}" euler="0 0 {turn:.2f}"><geom type="box" '
                f'size=".12 {half:.4f} .02" euler="0 {-slope} 0" rgba=".75 .62 .45 1"/></body>'
            )
    for i in range(n):
        layer, k = divmod(i, 9)
        x, y = ((c - 1) * SPACING + rng.uniform(-0.02, 0.02) for c in (k % 3, k // 3))
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        world.append(
            f'    <body pos="{x:.4f} {y:.4f} {0.25 + layer * SPACING:.4f}" quat="%.5f %.5f %.5f %.5f"><freejoint/>'
            f'<geom type="mesh" mesh="fig" density="300" rgba="{color(i, 0.35)}"/></body>' % tuple(q)
        )
    return document("bowl", world, 0.004, cone, sleep, mesh, memory=arena(2 * n))
