"""A safety net."""

import math

from tisim.scenes.common import FLOOR, arena, color, document

from tisim.errors import Error

MESH = 0.1  # from knot to knot [m]
DIP = 0.08  # by which the middle hangs lower than the rim at the start, as a share of the net's width
KNOT = 0.012  # radius of a knot [m]
BALL = 0.25  # radius of the ball [m]


def net(n=400, hold="rim", ball=2.0, cone="pyramidal", sleep=False):
    """A net of n knots, each connected to its neighbours, catches a ball.

    hold  what is fastened to the world: all knots of the "rim", or the four "corners";  ball  its mass [kg].
    """
    if hold not in ("rim", "corners"):
        raise Error(f"scene net: hold={hold!r}: expected 'rim' or 'corners'")
    across = max(1, round(math.sqrt(n)))
    rows = [range(i, min(i + across, n)) for i in range(0, n, across)]
    deep = len(rows)
    width = MESH * max(across, deep)
    place = {}
    for y, row in enumerate(rows):
        for x, i in enumerate(row):
            u, v = (2 * (c + 0.5) / size - 1 for c, size in ((x, across), (y, deep)))
            drop = DIP * width * (1 - u * u) * (1 - v * v)
            place[i] = (MESH * (x - (across - 1) / 2), MESH * (y - (deep - 1) / 2), width / 2 + 0.3 - drop)
    arms, ties = {i: [] for i in range(n)}, []
    for i, p in place.items():
        x, y = i % across, i // across
        for k in ([i + 1] if x + 1 < across else []) + [i + across]:
            if k < n:
                half = [0.5 * (b - a) for a, b in zip(p, place[k])]
                arms[i].append(half)
                arms[k].append([-h for h in half])
                ties.append(f'<connect body1="k{i}" body2="k{k}" anchor="{_text(half)}"/>')
        rim = (x in (0, len(rows[y]) - 1), y in (0, deep - 1))
        if all(rim) or (hold == "rim" and any(rim)):
            ties.append(f'<connect body1="k{i}" body2="world" anchor="0 0 0"/>')
    world = [FLOOR]
    for i, p in place.items():
        rope = "".join(
            f'<geom type="capsule" fromto="0 0 0 {_text(a)}" size="{KNOT / 3:.4f}" mass=".002" contype="0" '
            f'conaffinity="0" rgba=".75 .72 .62 1"/>'
            for a in arms[i]
        )
        world.append(
            f'    <body name="k{i}" pos="{_text(p)}"><freejoint/><geom size="{KNOT}" mass=".01" contype="0" '
            f'conaffinity="2" rgba=".85 .5 .25 1"/>{rope}</body>'
        )
    size = min(BALL, 0.2 * width)
    world.append(
        f'    <body name="ball" pos="0.02 0.03 {width / 2 + 0.3 + size:.4f}"><freejoint/><geom size="{size:.4f}" '
        f'mass="{ball}" contype="3" rgba="{color(0)}"/></body>'
    )
    rest = "\n".join(["  <equality>", *(f"    {tie}" for tie in ties), "  </equality>"])
    return document("net", world, 0.004, cone, sleep, rest, memory=arena(8 * n))


def _text(x):
    return " ".join(f"{c:.6f}" for c in x)
