"""Contact of a sphere with a cylinder. The rules are those of MuJoCo 3.4.0, after its engine_collision_primitive.c
(Apache-2.0); seed 000, "Checking".
"""

from ..slots import put
from ..wide import *
from .collide_primitive import axis_of, sphere_sphere


@func
def sphere_cylinder(m, d, slot, margin, i1, i2, g1, g2):
    """Sphere against cylinder: against a cap, else against a sphere on the axis (the side) or of radius 0 on the rim.

    From inside, the nearer of cap and side.
    """
    x1 = d.geom_xpos[i1]
    x2 = d.geom_xpos[i2]
    r1 = m.geom_size[i1, g1][0]
    r2 = m.geom_size[i2, g2][0]
    half = m.geom_size[i2, g2][1]
    axis = axis_of(m, d, i2)
    delta = x1 - x2
    along = axis.dot(delta)
    out = delta - along * axis
    dist_axis = out.norm()
    side = ti.abs(along) < half
    cap = out.norm_sqr() < r2 * r2
    if side and cap:
        if half - ti.abs(along) < r2 - dist_axis:
            side = False
        else:
            cap = False
    n = 0
    toward = ti.select(along > 0.0, 1.0, -1.0) * axis
    dist = FP(0.0)
    pos = x1
    normal = -toward
    if cap:
        dist = toward.dot(x1 - (x2 + half * toward)) - r1
        pos = x1 - (0.5 * dist + r1) * toward
    else:
        y = x2 + along * axis
        radius = r2
        if not side:
            y = x2 + half * toward + (r2 / dist_axis) * out
            radius = 0.0
        dist, pos, normal = sphere_sphere(x1, r1, axis_of(m, d, i1), y, radius, axis)
    if dist <= margin:
        put(m, d, slot, dist, pos, normal)
        n = 1
    return n
