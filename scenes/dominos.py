"""A row of dominos."""

import math

from tisim.scenes.common import FLOOR, SINK, arena, document, rainbow

THICKNESS, WIDTH, HEIGHT = 0.024, 0.08, 0.16  # of a stone [m]
SPACING = 0.08  # along the row [m]
FIRST_RADIUS, TURN = 0.5, 0.22  # of the spiral: inner radius, distance of its turns [m]
PACE = 19.0  # so many stones fall in a second, measured
TIP = 0.28  # angle of the first stone [rad]: past its point of balance, atan(thickness / height) = 0.15


def spiral(n):
    """Places (x, y) and headings of n points SPACING apart on a spiral from its middle outwards."""
    angle, places = 0.0, []
    for _ in range(n):
        r = FIRST_RADIUS + TURN * angle / (2 * math.pi)
        slope = TURN / (2 * math.pi)
        heading = angle + math.atan2(r, slope)
        places.append((r * math.cos(angle), r * math.sin(angle), heading))
        angle += SPACING / math.hypot(r, slope)
    return places


def falling(n=300, **_):
    """Time after which all stones lie [s]."""
    return 1 + n / PACE


def dominos(n=300, cone="pyramidal", sleep=False):
    """n dominos stand on a spiral; the first one is tipped and the others follow."""
    world = [FLOOR]
    size = f"{THICKNESS / 2} {WIDTH / 2} {HEIGHT / 2}"
    for i, (x, y, heading) in enumerate(spiral(n)):
        tilt, z = 0.0, HEIGHT / 2
        if i == 0:  # turned about its front lower edge
            tilt = TIP
            along = HEIGHT / 2 * math.sin(tilt) - THICKNESS / 2 * math.cos(tilt) + THICKNESS / 2
            x, y = x + along * math.cos(heading), y + along * math.sin(heading)
            z = HEIGHT / 2 * math.cos(tilt) + THICKNESS / 2 * math.sin(tilt)
        # first about y by the tilt, then about z by the heading
        ct, st, ch, sh = math.cos(tilt / 2), math.sin(tilt / 2), math.cos(heading / 2), math.sin(heading / 2)
        quat = f"{ch * ct:.6f} {-sh * st:.6f} {ch * st:.6f} {sh * ct:.6f}"
        world.append(
            f'    <body pos="{x:.5f} {y:.5f} {z - SINK:.6f}" quat="{quat}"><freejoint/><geom type="box" size="{size}" '
            f'density="700" friction=".4 .005 .0001" rgba="{rainbow(i / max(1, n - 1))}"/></body>'
        )
    return document("dominos", world, 0.002, cone, sleep, memory=arena(n))
