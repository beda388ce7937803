"""Where lamps far away stand, and the axes of their views."""

import functools

import numpy as np


def sky_directions(n):
    """n directions (n, 3) spread over the upper half sphere, more of them high up."""
    k = np.arange(n)
    up = np.sqrt((k + 0.5) / n) * 0.97
    around = k * 2.399963
    side = np.sqrt(1 - up * up)
    return np.stack([side * np.cos(around), side * np.sin(around), up], 1)


@functools.lru_cache(None)
def sky(n):
    """Directions (n, 3) towards the lamps of the sky, and the axes (n, 9) of their views."""
    directions = sky_directions(n)
    return directions, np.array([axes_to(toward) for toward in directions])


def axes_to(toward):
    """Axes (9,) of the view of a far lamp in this direction: right, up, backward."""
    right = np.cross([0, 0, 1.0], toward)
    right /= max(np.linalg.norm(right), 1e-9)
    return np.ravel([right, np.cross(toward, right), toward])
