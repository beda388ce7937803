"""What is drawn of a model: colours of sites and planes, and where its geoms are."""

import numpy as np

from tisim.data.asleep import GONE
from tisim.model.tables.colors import geom_colors
from tisim.viewer.shapes import HFIELD

CONTACT_COLOR = (1.0, 0.45, 0.05, 1.0)


def tree_of_geom(m):
    """Kinematic tree of each geom (ngeom,), -1 for what cannot move."""
    return np.asarray(m.body_treeid)[np.asarray(m.geom_bodyid)]


def _asleep(m, d, world):
    """(ntree,) tree_asleep of a world; all awake where the engine does not tell."""
    if not hasattr(d, "tree_asleep"):
        return np.full(m.ntree, -1)
    return np.asarray(d.tree_asleep).reshape(-1, m.ntree)[world]


def removed_geoms(m, d, world=0):
    """(ngeom,) bool: geoms of trees that were removed."""
    tree = tree_of_geom(m)
    if not m.ntree:
        return np.zeros(m.ngeom, bool)
    return (tree >= 0) & (_asleep(m, d, world)[np.maximum(tree, 0)] == GONE)


def in_groups(flags, group):
    """(n,) bool: whether groups (n,) are among those shown, 6 flags; groups beyond the last are it, as MuJoCo's."""
    return np.asarray(flags, bool)[np.clip(group, 0, len(flags) - 1)]


def moving_bodies(m):
    """(nbody,) bool: bodies that are not static in MuJoCo's pictures: joints move them, or they are mocap bodies."""
    return (np.asarray(m.body_weldid) != 0) | (np.asarray(m.body_mocapid) >= 0)


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
