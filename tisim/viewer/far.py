"""How many lamps the sky has, where the sun and other lamps far away stand, and the axes of their views."""

import functools

import numpy as np

from tisim.errors import Error, brief
from tisim.model.tables.colors import QUALITY

SUN_SIDE, SUN_HEIGHT = 75.0, 46.0  # where the sun stands: to the left of the camera, above the ground [degree]
MOST_LAMPS = 32  # each is a further view of all that throws shadows; shaded parts hardly change beyond


def sun_of(camera):
    """Direction towards the sun (3,) for a picture from this camera."""
    around, up = np.radians(camera.azimuth + 180 - SUN_SIDE), np.radians(SUN_HEIGHT)
    return np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])


def sky_lamps(quality, lamps=None):
    """How many lamps the sky has in pictures of this quality; lamps  how many were asked for, None: nothing was said.

    Raises Error for what is no quality, for a number that is not from 0 to MOST_LAMPS, and where there is no sky.
    """
    if quality not in QUALITY:
        raise Error(f"quality={quality!r}: expected {', '.join(map(repr, QUALITY))}")
    if lamps is None:
        return QUALITY[quality]
    if isinstance(lamps, (bool, np.bool_)) or not isinstance(lamps, (int, np.integer)) or not 0 <= lamps <= MOST_LAMPS:
        raise Error(f"lamps={brief(lamps)}: expected how many lamps the sky has, a whole number from 0 to {MOST_LAMPS}")
    if quality != "sky":
        raise Error(f"lamps={lamps}: a picture of quality {quality!r} has no lamps of a sky; ask for quality='sky'")
    return int(lamps)


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
