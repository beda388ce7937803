"""What pictures show besides shapes: colours by mode, and how forces go from body to body.

Forces are those of the contacts that the Data lists: of the last step or forward, without those between sleepers.
"""

import numpy as np

from tisim.errors import Error
from tisim.mjcf.rotations import cross
from tisim.queries.motion import contact_force
from tisim.viewer.drawing import (
    ASLEEP,
    AWAKE_COLOR,
    GROUP_COLORS,
    PALETTE,
    SLEEPING_COLOR,
    island_of_geom,
    sleeping_geoms,
)
from tisim.viewer.shapes import PLANE

STOPS = np.array([[0.16, 0.20, 0.52], [0.10, 0.55, 0.62], [0.48, 0.75, 0.36], [0.98, 0.80, 0.22], [0.84, 0.16, 0.12]])
ROD = np.array([0.86, 0.10, 0.10, 1.0])  # colour of a chain
THICK = 0.25  # radius of the rod of the greatest force, in radii of a middling geom
FAINT = 1e-3  # part of the greatest force below which no rod is drawn


def colors_of(values):
    """(n, 3) colours from blue, 0, by green and yellow to red, the greatest."""
    most = np.max(values, initial=0.0)
    place = np.asarray(values) / most * (len(STOPS) - 1) if most > 0 else np.zeros(len(values))
    low = np.minimum(place.astype(int), len(STOPS) - 2)
    part = (place - low)[:, None]
    return (1 - part) * STOPS[low] + part * STOPS[low + 1]


def speeds(m, d, world):
    """(nbody,) speed of the centre of mass of each body [m/s]."""
    twist = np.asarray(d.cvel, float).reshape(-1, m.nbody, 6)[world]
    about = np.asarray(d.subtree_com, float).reshape(-1, m.nbody, 3)[world][np.asarray(m.body_rootid)]
    at = np.asarray(d.xipos, float).reshape(-1, m.nbody, 3)[world]
    speed = np.linalg.norm(twist[:, 3:] + cross(twist[:, :3], at - about), axis=1)
    return np.where(np.asarray(m.body_weldid) > 0, speed, 0.0)


def pressing(m, d, world):
    """(places (k,) in d.contact of the contacts of a world that press, their normal forces (k,) [N], bodies (k, 2))."""
    places = np.flatnonzero(np.asarray(d.contact.worldid) == world)
    force = contact_force(m, d, places)[:, 0]
    places, force = places[force > 0], force[force > 0]
    bodies = np.asarray(m.geom_bodyid)[np.asarray(d.contact.geom).reshape(-1, 2)[places]].reshape(-1, 2)
    return places, force, bodies


def forces(m, d, world):
    """(nbody,) sum of the normal forces of the contacts of each body [N]."""
    _, force, bodies = pressing(m, d, world)
    total = np.zeros(m.nbody)
    np.add.at(total, bodies.ravel(), np.repeat(force, 2))
    return np.where(np.asarray(m.body_weldid) > 0, total, 0.0)


MEASURES = dict(speed=speeds, force=forces)
COLORS = ("geom", "island", "asleep", "group", *MEASURES)


def check_color(color):
    """Refuses what is no colour mode."""
    if color not in COLORS:
        raise Error(f"color={color!r}: expected {', '.join(map(repr, COLORS[:-1]))} or {COLORS[-1]!r}")


def shaded(m, d, world, mode, own):
    """Colours of the geoms by a mode of `render`, from their own (ngeom, 3 or 4): a new array, or the same one where
    nothing differs. What sleeps is darker, but where colours say so or tell groups."""
    dark = sleeping_geoms(m, d, world)
    if mode == "geom" and not dark.any():
        return own
    colors = np.array(own)
    if mode == "island":
        labels = island_of_geom(m, d, world)
        colors[labels >= 0, :3] = PALETTE[labels[labels >= 0] % len(PALETTE)]
    elif mode == "group":
        things = np.asarray(m.geom_type) != PLANE
        colors[things, :3] = GROUP_COLORS[np.clip(m.geom_group, 0, len(GROUP_COLORS) - 1)][things]
    elif mode != "geom":
        body = np.asarray(m.geom_bodyid)
        moves = np.asarray(m.body_weldid)[body] > 0
        if mode == "asleep":
            colors[moves, :3] = np.where(dark[moves, None], SLEEPING_COLOR, AWAKE_COLOR)
        else:
            colors[moves, :3] = colors_of(MEASURES[mode](m, d, world))[body][moves]
    if mode not in ("asleep", "group"):
        colors[dark, :3] *= ASLEEP
    return colors


def chains(m, d, world):
    """Rods from the centres of bodies to their contacts: (middles (k, 3), rotations (k, 3, 3) with z along the rod,
    radii (k,), half lengths (k,)) [m]. The cross section of a rod grows with the normal force."""
    places, force, bodies = pressing(m, d, world)
    strong = force > FAINT * np.max(force, initial=0.0)
    places, force, bodies = places[strong], force[strong], bodies[strong]
    at = np.asarray(d.contact.pos, float).reshape(-1, 3)[places]
    centre = np.asarray(d.xipos, float).reshape(-1, m.nbody, 3)[world]
    begin, end = np.concatenate([centre[bodies[:, 0]], centre[bodies[:, 1]]]), np.concatenate([at, at])
    moves = (np.asarray(m.body_weldid) > 0)[bodies.T.ravel()]
    begin, end, force = begin[moves], end[moves], np.concatenate([force, force])[moves]
    length = np.linalg.norm(end - begin, axis=1)
    long = length > 0
    begin, end, force, length = begin[long], end[long], force[long], length[long]
    z = (end - begin) / length[:, None]
    side = np.where(np.abs(z[:, 2:]) > 0.9, [[1.0, 0, 0]], [[0, 0, 1.0]])
    x = cross(side, z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    radius = np.asarray(m.geom_rbound, float)
    thick = THICK * np.median(radius[radius > 0]) if (radius > 0).any() else 0.0
    radii = thick * np.sqrt(force / force.max(initial=1e-300))
    return 0.5 * (begin + end), np.stack([x, cross(z, x), z], 2), radii, 0.5 * length
