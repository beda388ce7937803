"""Sensors that tell whether a point is inside the shape of a site."""

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from ..types import FP, SERIAL, func, kernel, ti
from .frame import pose_of
from .output import is_awake, place_of


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


@kernel
def inside_values(m, d):
    """1 where the place of an object is inside a site, else 0; parallel over (world, sensor)."""
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ninside):
        w = k // m.ninside
        s = m.inside_sensor[k % m.ninside]
        if is_awake(m, d, w, s) != 0:
            x, _ = pose_of(m, d, w, m.sensor_objtype[s], m.sensor_objid[s])
            d.sensordata[place_of(m, d, w, s)] = ti.cast(inside_site(m, d, w, m.sensor_refid[s], x), FP)
