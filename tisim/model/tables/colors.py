"""Colours of geoms as pictures show them: their own, and those of islands, groups, sleepers, speeds and forces."""

import colorsys

import numpy as np

from .declare import Table, declared

MODES = ("geom", "island", "asleep", "group", "speed", "force")  # how geoms may be coloured
QUALITY = dict(model=0, plain=0, sun=0, sky=14)  # how pictures may be lit: lamps of the sky
DEFAULT_RGBA = 0.5


def palette(n):
    """n well separated colours (n, 3)."""
    hue = (0.58 + np.arange(n) * 0.61803399) % 1.0
    value = 0.95 - 0.2 * ((np.arange(n) // 5) % 3) / 2
    return np.array([colorsys.hsv_to_rgb(h, 0.55, v) for h, v in zip(hue, value)], np.float32).reshape(n, 3)


PALETTE = palette(48)
GROUP_COLORS = np.array([colorsys.hsv_to_rgb((k / 6 + 0.58) % 1, 0.65, 0.9) for k in range(6)], np.float32)
AWAKE_COLOR, SLEEPING_COLOR = np.float32([0.95, 0.55, 0.15]), np.float32([0.20, 0.32, 0.58])
STOPS = np.array([[0.16, 0.20, 0.52], [0.10, 0.55, 0.62], [0.48, 0.75, 0.36], [0.98, 0.80, 0.22], [0.84, 0.16, 0.12]])
PAINTS = (PALETTE, GROUP_COLORS, [AWAKE_COLOR, SLEEPING_COLOR], STOPS)
FIRST_GROUP, FIRST_AWAKE, FIRST_STOP, NPAINT = np.cumsum([len(p) for p in PAINTS]).tolist()  # places in `paint`
ASLEEP = 0.4  # brightness of what sleeps, of what is awake
GAMMA = 2.2  # light of a colour: its power


def own_colors(m, rgba, material):
    """(n, 4) colours of things: their own, or their material's where their own is the default."""
    rgba, material = np.array(rgba, np.float32).reshape(-1, 4), np.asarray(material)
    plain = (material >= 0) & (rgba == [DEFAULT_RGBA] * 3 + [1]).all(1)
    if plain.any():
        rgba[plain] = np.asarray(m.mat_rgba, np.float32).reshape(-1, 4)[material[plain]]
    return rgba


def geom_colors(m):
    """Colour of each geom (ngeom, 4)."""
    return own_colors(m, m.geom_rgba, m.geom_matid)


def site_colors(m):
    """Colour of each site (nsite, 4)."""
    return own_colors(m, m.site_rgba, m.site_matid)


def tendon_colors(m):
    """Colour of each tendon (ntendon, 4)."""
    return own_colors(m, m.tendon_rgba, m.tendon_matid)


TABLES = declared(
    Table("geom_color", "f", ("ngeom", 4), geom_colors, ("geom_rgba", "geom_matid", "mat_rgba"),
          "colour of each geom, its material's where it has none"),
    Table("site_color", "f", ("nsite", 4), site_colors, ("site_rgba", "site_matid", "mat_rgba"), "the same of sites"),
    Table("tendon_color", "f", ("ntendon", 4), tendon_colors, ("tendon_rgba", "tendon_matid", "mat_rgba"),
          "the same of tendons"),
    Table("paint", "f", ("npaint", 3), lambda m: np.concatenate(PAINTS), (),
          "colours of islands, of groups, of who is awake and who sleeps, from least to greatest"),
)  # fmt: skip
COUNTED = dict(npaint="paint")
