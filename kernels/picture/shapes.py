"""Rays against simple shapes, in f32 and without branches, so that a processor computes a row of pixels at once.

A ray is the points o + x v with x >= 0 in the shape's frame; the functions return the least such x, or FAR, as those of
kernels/queries/ray_shapes.py do. Numbers of f32 stand as their bits in arrays of int32 (`bits`, `real`), and constants
are written F(...), for in a process of f64 they would be f64.
"""

from ..queries.ray_shapes import FAR
from ..types import *

F = ti.f32
row3 = ti.types.vector(3, ti.f32)
THIN = 1e-30  # stands for a zero component of a direction
FLAT = 1e-12  # a ray nearer to an axis or a plane than this share meets no side that lies along it


@ti.func
def bits(x):
    """The bits of a number of f32."""
    return ti.bit_cast(x, ti.i32)


@ti.func
def real(word):
    """The number of f32 of these bits."""
    return ti.bit_cast(word, ti.f32)


@ti.func
def earliest(x0, x1, met):
    """The lower of x0 and x1 that is not negative, FAR if there is none or nothing is met."""
    x = ti.select(x0 >= F(0.0), x0, x1)
    return ti.select(met & (x >= F(0.0)), x, F(FAR))


@ti.func
def per(v):
    """1 / v of each component, very large where it is zero."""
    return row3(
        F(1.0) / ti.select(ti.abs(v[0]) < F(THIN), F(THIN), v[0]),
        F(1.0) / ti.select(ti.abs(v[1]) < F(THIN), F(THIN), v[1]),
        F(1.0) / ti.select(ti.abs(v[2]) < F(THIN), F(THIN), v[2]),
    )


@ti.func
def low(a, b):
    return ti.select(a < b, a, b)


@ti.func
def high(a, b):
    return ti.select(a > b, a, b)


@ti.func
def meet_box(o, v, s):
    return meet_box_per(o, per(v), s)


@ti.func
def meet_box_per(o, w, s):
    """A box, by the ray's 1 / v."""
    x0 = F(-FAR)
    x1 = F(FAR)
    for k in ti.static(range(3)):
        a = (-s[k] - o[k]) * w[k]
        b = (s[k] - o[k]) * w[k]
        x0 = high(x0, low(a, b))
        x1 = low(x1, high(a, b))
    return earliest(x0, x1, x0 <= x1)


@ti.func
def ball(o, v, radius2):
    """Both ends of the chord within a ball, and whether there is one; from the point of the ray nearest to it."""
    per_a = F(1.0) / v.dot(v)
    middle = -o.dot(v) * per_a
    q = o + middle * v
    det = (radius2 - q.dot(q)) * per_a
    half = ti.sqrt(high(det, F(0.0)))
    return middle - half, middle + half, det >= F(0.0)


@ti.func
def meet_sphere(o, v, s):
    x0, x1, met = ball(o, v, s[0] * s[0])
    return earliest(x0, x1, met)


@ti.func
def meet_ellipsoid(o, v, s):
    w = row3(F(1.0) / s[0], F(1.0) / s[1], F(1.0) / s[2])
    x0, x1, met = ball(o * w, v * w, F(1.0))
    return earliest(x0, x1, met)


@ti.func
def meet_tube(o, v, s):
    """The round side of a capsule or cylinder; only its first intersection counts."""
    a = v[0] * v[0] + v[1] * v[1]
    per_a = F(1.0) / high(a, F(FLAT))
    middle = -(o[0] * v[0] + o[1] * v[1]) * per_a
    q0 = o[0] + middle * v[0]
    q1 = o[1] + middle * v[1]
    det = (s[0] * s[0] - q0 * q0 - q1 * q1) * per_a
    half = ti.sqrt(high(det, F(0.0)))
    x = earliest(middle - half, middle + half, (det >= F(0.0)) & (a > F(FLAT)))
    return ti.select(ti.abs(o[2] + x * v[2]) <= s[1], x, F(FAR))


@ti.func
def meet_capsule(o, v, s):
    x = meet_tube(o, v, s)
    for end in ti.static((1.0, -1.0)):
        x0, x1, met = ball(row3(o[0], o[1], o[2] - F(end) * s[1]), v, s[0] * s[0])
        for t in ti.static((0, 1)):
            y = x1 if ti.static(t) else x0
            here = met & (y >= F(0.0)) & (y < x) & (F(end) * (o[2] + y * v[2]) >= s[1])
            x = ti.select(here, y, x)
    return x


@ti.func
def meet_cylinder(o, v, s):
    x = meet_tube(o, v, s)
    per_v = F(1.0) / ti.select(ti.abs(v[2]) < F(FLAT), F(FLAT), v[2])
    for end in ti.static((1.0, -1.0)):
        y = (F(end) * s[1] - o[2]) * per_v
        q0 = o[0] + y * v[0]
        q1 = o[1] + y * v[1]
        x = ti.select((y >= F(0.0)) & (y < x) & (q0 * q0 + q1 * q1 <= s[0] * s[0]), y, x)
    return x


@ti.func
def meet_plane(o, v, s):
    """From above, within the plane's rectangle; a size of 0 is unbounded."""
    x = -o[2] / ti.select(v[2] < F(-FLAT), v[2], F(-FLAT))
    q0 = ti.abs(o[0] + x * v[0])
    q1 = ti.abs(o[1] + x * v[1])
    inside = ((s[0] <= F(0.0)) | (q0 <= s[0])) & ((s[1] <= F(0.0)) | (q1 <= s[1]))
    return ti.select((v[2] < F(-FLAT)) & (x >= F(0.0)) & inside, x, F(FAR))


@ti.func
def normal_box(q, s):
    """Outward normals of the shapes at a point q of their surface; of any length."""
    a0 = ti.abs(q[0]) * (s[1] * s[2])
    a1 = ti.abs(q[1]) * (s[0] * s[2])
    a2 = ti.abs(q[2]) * (s[0] * s[1])
    first = (a0 >= a1) & (a0 >= a2)
    second = (first == 0) & (a1 >= a2)
    third = (first == 0) & (second == 0)
    return row3(
        ti.select(first, ti.select(q[0] > F(0.0), F(1.0), F(-1.0)), F(0.0)),
        ti.select(second, ti.select(q[1] > F(0.0), F(1.0), F(-1.0)), F(0.0)),
        ti.select(third, ti.select(q[2] > F(0.0), F(1.0), F(-1.0)), F(0.0)),
    )


@ti.func
def normal_ellipsoid(q, s):
    return row3(q[0] / (s[0] * s[0]), q[1] / (s[1] * s[1]), q[2] / (s[2] * s[2]))


@ti.func
def normal_capsule(q, s):
    return row3(q[0], q[1], q[2] - high(-s[1], low(s[1], q[2])))


@ti.func
def normal_cylinder(q, s):
    """Of the disc where its plane is nearer than the round side."""
    disc = ti.abs(q[2]) - s[1] >= ti.sqrt(q[0] * q[0] + q[1] * q[1]) - s[0]
    return row3(ti.select(disc, F(0.0), q[0]), ti.select(disc, F(0.0), q[1]), ti.select(disc, q[2], F(0.0)))
