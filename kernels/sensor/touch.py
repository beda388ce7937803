"""Sensors of the normal force on a body where it passes through a site."""

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE
from ..queries import ray_shapes
from ..types import FP, SERIAL, func, kernel, ti, vec3
from .output import is_awake, place_of


@func
def meets_site(m, d, w, site, point, direction):
    """1 if the ray from a point in a direction meets the shape of a site, else 0."""
    i = w * m.nsite + site
    v = d.site_xmat[i].transpose() @ direction
    p = d.site_xmat[i].transpose() @ (point - d.site_xpos[i])
    size = m.site_size[site]
    kind = m.site_type[site]
    x = ray_shapes.FAR
    if kind == SPHERE:
        x = ray_shapes.ray_sphere(p, v, size[0] * size[0], 0.0)
    elif kind == CAPSULE:
        x = ray_shapes.ray_capsule(p, v, size, 0.0)
    elif kind == ELLIPSOID:
        x = ray_shapes.ray_ellipsoid(p, v, size, 0.0)
    elif kind == CYLINDER:
        x = ray_shapes.ray_cylinder(p, v, size, 0.0)
    elif kind == BOX:
        x = ray_shapes.ray_box(p, v, size, 0.0)
    return ti.cast(x < ray_shapes.FAR, ti.i32)


@kernel
def touch_values(m, d):
    """Sum of the normal forces of the contacts of a site's body whose normal, from there into the body, meets the site;
    parallel over (world, sensor). Seed 000, "Sensors".
    """
    ti.loop_config(serialize=SERIAL)
    for k in range(d.nworld * m.ntouch):
        w = k // m.ntouch
        s = m.touch_sensor[k % m.ntouch]
        if is_awake(m, d, w, s) != 0:
            site = m.sensor_objid[s]
            place = m.body_sensed[m.site_bodyid[site]]
            total = FP(0.0)
            if place >= 0:
                place += w * m.nsensed
                for e in range(d.sense_adr[place], d.sense_adr[place] + d.sense_num[place]):
                    c = d.sense_con[e] // 2
                    if d.contact_exclude[c] == 0:
                        normal = d.contact_frame[c, 0]
                        f = d.con_force[c]
                        force = normal.dot(vec3(f[0], f[1], f[2]))
                        if force > 0.0:
                            inward = normal * (1.0 - 2.0 * (d.sense_con[e] % 2))
                            if meets_site(m, d, w, site, d.contact_pos[c], inward) != 0:
                                total += force
            d.sensordata[place_of(m, d, w, s)] = total
