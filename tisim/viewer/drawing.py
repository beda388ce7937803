"""What is drawn of a model: colours of its geoms, by themselves, by their islands, asleep; and where they are."""

import colorsys

import numpy as np

from tisim.data.asleep import GONE
from tisim.viewer.shapes import HFIELD

CONTACT_COLOR = (1.0, 0.45, 0.05, 1.0)
DEFAULT_RGBA = 0.5


def palette(n):
    """n well separated colours (n, 3)."""
    hue = (0.58 + np.arange(n) * 0.61803399) % 1.0
    value = 0.95 - 0.2 * ((np.arange(n) // 5) % 3) / 2
    return np.array([colorsys.hsv_to_rgb(h, 0.55, v) for h, v in zip(hue, value)], np.float32).reshape(n, 3)


PALETTE = palette(48)
ASLEEP = 0.4  # brightness of what sleeps, of what is awake
AWAKE_COLOR, SLEEPING_COLOR = np.float32([0.95, 0.55, 0.15]), np.float32([0.20, 0.32, 0.58])
GROUP_COLORS = np.array([colorsys.hsv_to_rgb((k / 6 + 0.58) % 1, 0.65, 0.9) for k in range(6)], np.float32)


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


def tree_of_geom(m):
    """Kinematic tree of each geom (ngeom,), -1 for what cannot move."""
    return np.asarray(m.body_treeid)[np.asarray(m.geom_bodyid)]


def island_of_geom(m, d, world=0):
    """Island of each geom (ngeom,), -1 for what cannot move; its tree where the engine labels no islands."""
    tree = tree_of_geom(m)
    if not m.ntree or not getattr(d, "nisland", 0):
        return tree
    island = np.asarray(d.tree_island).reshape(-1, m.ntree)[world]
    labels = np.where(tree >= 0, island[np.maximum(tree, 0)], -1)
    # a tree without contacts has no island: it is drawn in its own colour, a sleeping island in that of its first tree
    first = m.ntree + _first_of_sleeping(_asleep(m, d, world))
    return np.where((tree >= 0) & (labels < 0), first[np.maximum(tree, 0)], labels)


def _first_of_sleeping(asleep):
    """(ntree,) first tree of the sleeping island of each tree, of one that is awake itself."""
    first = np.arange(len(asleep))
    following = np.where((asleep >= 0) & (asleep < len(asleep)), asleep, first)
    for _ in range(max(1, int(len(asleep)).bit_length())):
        first, following = np.minimum(first, first[following]), following[following]
    return first


def _asleep(m, d, world):
    """(ntree,) tree_asleep of a world; all awake where the engine does not tell."""
    if not hasattr(d, "tree_asleep"):
        return np.full(m.ntree, -1)
    return np.asarray(d.tree_asleep).reshape(-1, m.ntree)[world]


def sleeping_geoms(m, d, world=0):
    """(ngeom,) bool: geoms of trees that sleep."""
    if not (m.ntree and m.features().sleep) or (asleep := _asleep(m, d, world)).max(initial=-1) < 0:
        return np.zeros(m.ngeom, bool)
    tree = tree_of_geom(m)
    return (tree >= 0) & (asleep[np.maximum(tree, 0)] >= 0)


def removed_geoms(m, d, world=0):
    """(ngeom,) bool: geoms of trees that were removed."""
    tree = tree_of_geom(m)
    if not m.ntree:
        return np.zeros(m.ngeom, bool)
    return (tree >= 0) & (_asleep(m, d, world)[np.maximum(tree, 0)] == GONE)


def checker_colors(m, geom):
    """Two colours (3,) of a plane: those of its material's chequer texture, or shades of its own colour."""
    own = geom_colors(m)[geom, :3]
    material = int(m.geom_matid[geom])
    if material >= 0:
        for texture in np.asarray(m.mat_texid).reshape(m.nmat, -1)[material]:
            if texture >= 0 and "rgb1" in m.textures[texture]:
                t = m.textures[texture]
                return own * np.float32(t["rgb1"]), own * np.float32(t["rgb2"])
    return own, own * 0.86


def poses(m, d, world=0):
    """Geom positions (ngeom, 3) and rotations (ngeom, 3, 3) of one world; what was removed is nowhere, and a point."""
    n = m.ngeom
    positions = np.array(d.geom_xpos, float).reshape(d.nworld, n, 3)[world]
    rotations = np.array(d.geom_xmat, float).reshape(d.nworld, n, 3, 3)[world]
    gone = removed_geoms(m, d, world)
    positions[gone], rotations[gone] = np.nan, 0.0
    return positions, rotations


def mark_length(m):
    """Length of a contact stick [m]: about the size of a typical geom."""
    size = np.asarray(m.geom_rbound)[np.asarray(m.geom_type) > HFIELD]
    return float(np.median(size)) if size.size else 0.1
