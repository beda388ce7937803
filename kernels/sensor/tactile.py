"""Sensors of how deep the vertices of a mesh are in other geoms, and how they slide there.

After MuJoCo 3.4.0's engine_sensor.c and engine_collision_sdf.c (Apache-2.0).
"""

from ..constants import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE
from ..rotation import rotate
from ..types import FP, MINVAL, SERIAL, func, kernel, narrow, ti, vec2, vec3
from .frame import twist_at
from .lists import is_before
from .output import is_awake, place_of

THICK = 0.05  # depth at which the pressure would be infinite, were it outside [m]


@func
def enter_pressed(m, d, first, n, side):
    """Enters the geom on the other side of a contact into a list of n geoms, of which each is known by its contact that
    MuJoCo lists first; returns how many there are then.
    """
    c = side // 2
    geom = d.contact_geom[c][1 - side % 2]
    at = n
    for e in range(n):
        known = d.pressed_con[first + e]
        if d.contact_geom[known // 2][1 - known % 2] == geom:
            at = e
            if is_before(m, d, c, known // 2):
                d.pressed_con[first + e] = side
    if at == n:
        d.pressed_con[first + n] = side
    return ti.max(n, at + 1)


@func
def order_pressed(m, d, first, n):
    """Sorts a list of geoms by their contacts."""
    for e in range(1, n):
        side = d.pressed_con[first + e]
        at = e
        moves = True
        while at > 0 and moves:
            other = d.pressed_con[first + at - 1]
            moves = is_before(m, d, side // 2, other // 2)
            if moves:
                d.pressed_con[first + at] = other
                at -= 1
        d.pressed_con[first + at] = side


@kernel
def pressed_geoms(m, d):
    """The geoms that touch each body with tactile sensors, and what is welded to it; serial."""
    ti.loop_config(serialize=True)
    for _ in range(1):
        first = 0
        for k in range(d.nworld * m.npressed):
            w = k // m.npressed
            q = k - w * m.npressed
            n = 0
            for place in range(m.pressed_places[q][0], m.pressed_places[q][1]):
                if m.body_weldid[m.sensed_body[place]] == m.pressed_body[q]:
                    body = w * m.nsensed + place
                    for e in range(d.sense_adr[body], d.sense_adr[body] + d.sense_num[body]):
                        n = enter_pressed(m, d, first, n, d.sense_con[e])
            order_pressed(m, d, first, n)
            d.pressed_adr[k] = first
            d.pressed_num[k] = n
            first += n


@ti.func
def box_depth(a, size):
    """Distance inside a box along a field that turns from radial to normal; a: distances from its sides, negative."""
    field = vec3(0.0)
    for e in ti.static(range(3)):
        field[e] = -size[e] / a[e]
    field = field / ti.max(field.norm(), MINVAL)
    return ti.max(a[0] / ti.abs(field[0]), ti.max(a[1] / ti.abs(field[1]), a[2] / ti.abs(field[2])))


@ti.func
def signed_distance(kind, size, x):
    """Of a point x in the frame of a geom from its surface, negative inside; 0 for types that are not felt."""
    dist = FP(0.0)
    if kind == PLANE:
        dist = x[2]
    elif kind == SPHERE:
        dist = x.norm() - size[0]
    elif kind == CAPSULE:
        y = x
        y[2] -= ti.min(ti.max(x[2], -size[1]), size[1])
        dist = y.norm() - size[0]
    elif kind == ELLIPSOID:
        y = x / size
        z = y / size
        dist = y.norm() * (y.norm() - 1.0) / z.norm()
    elif kind == CYLINDER:
        a = vec2(ti.sqrt(x[0] * x[0] + x[1] * x[1]) - size[0], ti.abs(x[2]) - size[1])
        b = ti.max(a, 0.0)
        dist = ti.min(ti.max(a[0], a[1]), 0.0) + b.norm()
    elif kind == BOX:
        a = ti.abs(x) - size
        if a.max() < 0.0:
            dist = box_depth(a, size)
    return dist


@func
def feel(m, d, w, weld, x, vert, mesh, geom):
    """(pressure, sliding along two tangents) of a vertex at x that belongs to body `weld`, in a geom; zeros outside."""
    out = vec3(0.0)
    i = w * m.ngeom + geom
    local = narrow(d.geom_xmat[i]).transpose() @ (x - narrow(d.geom_xpos[i]))
    depth = signed_distance(m.geom_type[geom], narrow(m.geom_size[i, geom]), local)
    if depth < 0.0:
        own = twist_at(m, d, w, weld, x)
        other = twist_at(m, d, w, m.geom_bodyid[geom], narrow(d.geom_xpos[i]))
        slide = vec3(own[3] - other[3], own[4] - other[4], own[5] - other[5])
        first = m.mesh_normaladr[mesh] + 3 * vert
        for e in ti.static(range(3)):
            v = m.mesh_normal[first + e]
            axis = rotate(m.mesh_quat[mesh], vec3(v[0], v[1], v[2]))
            if ti.static(e == 0):
                out[0] = depth / ti.max(THICK - depth, MINVAL) * axis.dot(axis)
            else:
                out[e] = ti.abs(slide.dot(axis))
    return out


@kernel
def tactile_values(m, d):
    """Pressure and sliding at each vertex, in the geom that feels it last; parallel over (world, vertex)."""
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nworld * m.ntactilevert):
        w = t // m.ntactilevert
        k = m.tactile_of[t % m.ntactilevert]
        s = m.tactile_sensor[k]
        if is_awake(m, d, w, s) != 0:
            vert = m.tactile_vert[t % m.ntactilevert]
            mesh = m.sensor_objid[s]
            i = w * m.ngeom + m.sensor_refid[s]
            q = w * m.npressed + m.tactile_group[k]
            v = m.mesh_vert[m.mesh_vertadr[mesh] + vert]
            x = narrow(d.geom_xpos[i]) + narrow(d.geom_xmat[i]) @ vec3(v[0], v[1], v[2])
            out = vec3(0.0)
            for e in range(d.pressed_adr[q], d.pressed_adr[q] + d.pressed_num[q]):
                side = d.pressed_con[e]
                geom = d.contact_geom[side // 2][1 - side % 2]
                felt = feel(m, d, w, m.pressed_body[m.tactile_group[k]], x, vert, mesh, geom)
                if felt[0] < 0.0:
                    out = felt
            for e in ti.static(range(3)):
                d.sensordata[place_of(m, d, w, s) + e * m.mesh_vertnum[mesh] + vert] = out[e]
