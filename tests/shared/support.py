"""How far convex geoms reach, which proves distances and depths without another engine."""

import mujoco
import numpy as np

GEOM = mujoco.mjtGeom


def reach(mm, dd, g, n):
    """How far geom g reaches along each direction n, from the world's origin [m]; n: (3,) or (many, 3)."""
    local, s, kind = n @ dd.geom_xmat[g].reshape(3, 3), mm.geom_size[g], mm.geom_type[g]
    if kind == GEOM.mjGEOM_MESH:
        k = mm.geom_dataid[g]
        far = (local @ mm.mesh_vert[mm.mesh_vertadr[k] :][: mm.mesh_vertnum[k]].T).max(-1)
    elif kind == GEOM.mjGEOM_ELLIPSOID:
        far = np.linalg.norm(s * local, axis=-1)
    elif kind == GEOM.mjGEOM_BOX:
        far = np.abs(local) @ s
    elif kind == GEOM.mjGEOM_CYLINDER:
        far = s[0] * np.hypot(local[..., 0], local[..., 1]) + s[1] * np.abs(local[..., 2])
    else:
        assert kind in (GEOM.mjGEOM_SPHERE, GEOM.mjGEOM_CAPSULE)
        far = s[0] * np.linalg.norm(local, axis=-1)
        if kind == GEOM.mjGEOM_CAPSULE:
            far = far + s[1] * np.abs(local[..., 2])
    return far + n @ dd.geom_xpos[g]


def width(mm, dd, g1, g2, n):
    """How far geom g2 has to go along each direction n to leave g1 behind [m]; negative: they are as far apart."""
    return reach(mm, dd, g1, n) + reach(mm, dd, g2, -n)


def proves_itself(mm, dd, g1, g2, fromto, tolerance=1e-9):
    """Whether the segment from g1 to g2 is their distance: the planes through its ends, across it, part them."""
    step = fromto[3:] - fromto[:3]
    n = step / np.linalg.norm(step)
    one, two = reach(mm, dd, g1, n) - fromto[:3] @ n, reach(mm, dd, g2, -n) + fromto[3:] @ n
    return abs(one) < tolerance and abs(two) < tolerance
