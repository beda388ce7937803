"""Geoms that a user adds to a scene, as records of what is drawn."""

import dataclasses

import numpy as np

from tisim.enums import mjtCatBit, mjtGeom
from tisim.errors import UnsupportedError
from tisim.viewer.few import BOX, CAPSULE, CYLINDER, ELLIPSOID, NO_SHADOW, SHORT, SPHERE, along

ARROW, ARROW1, ARROW2, LINE, LABEL, NONE = (
    int(mjtGeom[f"mjGEOM_{k}"]) for k in "ARROW ARROW1 ARROW2 LINE LABEL NONE".split()
)
SIMPLE = (SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX)
# arrows as MuJoCo 3.4.0 draws them: how far they reach, by size[2]; of that the head; its width, by that of the shaft
REACH, HEAD_LONG, HEAD_WIDE = 0.5, 1 / 3, 1.75
DISCS = 12  # of which a head consists: there are no cones
THICK = 2e-3  # of a line's pixel where it is not known how far away it is [m]


@dataclasses.dataclass
class Added:
    """Records (n): kind, pos (n, 3), mat (n, 9), size (n, 3), rgba (n, 4), thing (n, 2), matter (n, 3)."""

    kind: np.ndarray
    pos: np.ndarray
    mat: np.ndarray
    size: np.ndarray
    rgba: np.ndarray
    thing: np.ndarray
    matter: np.ndarray

    @property
    def part(self):
        """The first five, as Scene.write takes them."""
        return self.kind, self.pos, self.mat, self.size, self.rgba


def of(geoms, where="scene", first=0, pixel=None):
    """The Added of MjvGeoms; one of category mjCAT_DECOR throws no shadow.

    where, first  what they are called in errors: the first is where.geoms[first];  pixel  function of places (n, 3)
    that tells how large a pixel is there [m].
    Raises UnsupportedError for a shape that is not drawn.
    """
    n = len(geoms)
    kind = np.array([g.type for g in geoms], int)
    for k in np.flatnonzero(~np.isin(kind, (*SIMPLE, ARROW, ARROW1, ARROW2, LINE, LABEL, NONE))):
        name = mjtGeom(kind[k]).name if kind[k] in [int(t) for t in mjtGeom] else kind[k]
        raise UnsupportedError(f"{where}.geoms[{first + k}].type {name}: drawn are spheres, capsules, ellipsoids, "
                               "cylinders, boxes, arrows and lines")  # fmt: skip
    pos, size, mat, rgba = (_rows(geoms, name, width) for name, width in dict(pos=3, size=3, mat=9, rgba=4).items())
    parts = []  # whose records, kind, pos, mat, size
    mine = np.flatnonzero(np.isin(kind, SIMPLE))
    parts.append((mine, kind[mine], pos[mine], mat[mine], _of_model(kind[mine], size[mine])))
    mine = np.flatnonzero(kind == LINE)
    way = mat[mine, 2::3] * size[mine, 2:]
    middle = pos[mine] + 0.5 * way
    thick = np.full(len(mine), THICK) if pixel is None else pixel(middle)
    parts.append(_rods(mine, pos[mine], way, 0.5 * thick * size[mine, 0]))
    for shape, wide in ((ARROW, HEAD_WIDE), (ARROW1, 1.0), (ARROW2, HEAD_WIDE)):
        mine = np.flatnonzero(kind == shape)
        way = REACH * mat[mine, 2::3] * size[mine, 2:]
        neck = (1 - HEAD_LONG) * way
        back = neck if shape == ARROW2 else 0.0
        parts.append(_rods(mine, pos[mine] - back, neck + back, size[mine, 0]))
        for sign in (1, -1) if shape == ARROW2 else (1,):
            for k in range(DISCS):
                radius = wide * size[mine, 0] * (1 - (k + 0.5) / DISCS)
                begin = pos[mine] + sign * (neck + k / DISCS * HEAD_LONG * way)
                parts.append(_rods(mine, begin, sign * HEAD_LONG / DISCS * way, radius))
    whose, kind, pos, mat, size = (np.concatenate(column) for column in zip(*parts))
    there = np.isfinite(pos).all(1) & np.isfinite(mat).all(1) & (rgba[whose, 3] > 0)
    whose = whose[there]
    rgba = rgba[whose]
    mark = np.array([g.category for g in geoms], int)[whose] == mjtCatBit.mjCAT_DECOR if n else np.zeros(0, bool)
    rgba[mark, 3] = np.minimum(rgba[mark, 3], NO_SHADOW)
    matter = np.array([(g.emission, g.specular, 128 * g.shininess) for g in geoms], float).reshape(n, 3)
    matter[[g.type == LINE for g in geoms], :2] = 1, 0  # lines have their colour in any light
    thing = np.array([(g.objid, g.objtype) for g in geoms], int).reshape(n, 2)
    return Added(kind[there], pos[there], mat[there], size[there], rgba, thing[whose], matter[whose])


def _of_model(kind, size):
    """Sizes (n, 3) as a model's geoms have them: behind a radius stands half the length, not the radius once more."""
    long = np.isin(kind, (CAPSULE, CYLINDER))
    return np.where((long | (kind == SPHERE))[:, None], size[:, [0, 2, 0]], size)


def of_mjv(kind, size):
    """The same backwards: the size (3,) of a MjvGeom."""
    if kind in (CAPSULE, CYLINDER):
        return size[[0, 0, 1]]
    return size[[0, 0, 0]] if kind == SPHERE else size


def _rows(geoms, name, width):
    return np.array([getattr(g, name) for g in geoms], float).reshape(len(geoms), width)


def _rods(whose, begin, way, radius):
    """Cylinders from points (n, 3) by vectors (n, 3), without those that have no length."""
    length = np.linalg.norm(way, axis=1)
    size = np.column_stack([radius, 0.5 * length, np.zeros(len(length))])
    long = length > SHORT
    kind = np.full(int(long.sum()), CYLINDER)
    return whose[long], kind, (begin + 0.5 * way)[long], along(way[long]), size[long]
