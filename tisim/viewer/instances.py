"""A scene as instances: a mesh for each shape, and for each frame the poses of the geoms that have it."""

import numpy as np

from tisim.data import varied
from tisim.mjcf.rotations import from_matrix
from tisim.viewer.drawing import geom_colors, in_groups, moving_bodies, removed_geoms
from tisim.viewer.glb import shape_of


class Instances:
    """The geoms of a model that are drawn, by shape.

    geoms  (n,) their ids;  kind  (n,) which of `meshes` each has, a list of trimesh.Trimesh;  rgba  (n, 4);
    moves  (n,) whether its body can move.
    group  groups up to this one are drawn;  groups  in its place 6 flags, which of them;  static  False: only what can
    move is.
    """

    def __init__(self, m, group=2, groups=None, static=True):
        groups = np.arange(6) <= group if groups is None else np.array(groups, bool)
        colors, keys, self.meshes, kind, geoms = geom_colors(m), {}, [], [], []
        moves = moving_bodies(m)[np.asarray(m.geom_bodyid)]
        shown = in_groups(groups, m.geom_group)
        for g in range(m.ngeom):
            if not shown[g] or colors[g, 3] <= 0 or not (static or moves[g]):
                continue
            key = (int(m.geom_type[g]), int(m.geom_dataid[g]), *np.asarray(m.geom_size[g]).tolist())
            if key not in keys:
                keys[key] = len(keys)
                self.meshes.append(shape_of(m, g))
            kind.append(keys[key])
            geoms.append(g)
        self.geoms, self.kind = np.array(geoms, np.int64), np.array(kind, np.int64)
        self.rgba = colors[self.geoms].reshape(-1, 4)
        self.moves = moves[self.geoms]
        self._m = m

    def poses(self, d, world=0):
        """(positions (n, 3) [m], quaternions (n, 4), whether each is there (n,)) in a world of a Data."""
        m = self._m
        varied.refuse(d, "a file or page of instances", "geom_size")
        at = np.asarray(d.geom_xpos, float).reshape(d.nworld, m.ngeom, 3)[world][self.geoms]
        turn = np.asarray(d.geom_xmat, float).reshape(d.nworld, m.ngeom, 3, 3)[world][self.geoms]
        return at, from_matrix(turn), ~removed_geoms(m, d, world)[self.geoms]
