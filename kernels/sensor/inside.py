"""Sensors that tell whether a point is inside the shape of a site."""

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from ..types import func, ti


@func
def inside_site(m, d, w, site, point):
    """1 if a point is inside the shape of a site, else 0."""
    i = w * m.nsite + site
    x = d.site_xmat[i].transpose() @ (point - d.site_xpos[i])
    size = m.site_size[site]
    kind = m.site_type[site]
    inside = False
    if kind == SPHERE:
        inside = x.dot(x) < size[0] * size[0]
    elif kind == CAPSULE:
        x[2] -= ti.min(ti.max(x[2], -size[1]), size[1])
        inside = x.dot(x) < size[0] * size[0]
    elif kind == ELLIPSOID:
        y = x / size
        inside = y.dot(y) < 1.0
    elif kind == CYLINDER:
        inside = ti.abs(x[2]) < size[1] and x[0] * x[0] + x[1] * x[1] < size[0] * size[0]
    elif kind == BOX:
        inside = ti.abs(x[0]) < size[0] and ti.abs(x[1]) < size[1] and ti.abs(x[2]) < size[2]
    return ti.cast(inside, ti.i32)
