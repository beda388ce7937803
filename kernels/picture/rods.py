"""Records of simple shapes that stand for no geom: one shape, a rod, an arrow. Place j of the records is written whole.

Colours are rows of `pic_ink`, the first of which is the look of what has no material.
"""

from ..constants import CYLINDER, ELLIPSOID
from ..types import *

SHORT = 1e-12  # what is shorter has no direction [m]
NARROW = 1e-30  # stands for a length of zero [m]
HEAD = 3.0  # width of an arrow's head, by that of its shaft
NOWHERE = 1e15  # what is farther away has no place [m]


@ti.func
def along(z):
    """Rotation whose z axis points along a vector."""
    u = z / ti.max(z.norm(), FP(NARROW))
    side = vec3(0.0, 0.0, 1.0)
    if ti.abs(u[2]) > 0.9:
        side = vec3(1.0, 0.0, 0.0)
    x = side.cross(u)
    x = x / ti.max(x.norm(), FP(NARROW))
    y = u.cross(x)
    return mat3(x[0], y[0], u[0], x[1], y[1], u[1], x[2], y[2], u[2])


@func
def dress(m, d, j, rgba):
    """A record of this colour, of no material and texture, that stands for no thing of the model."""
    plain = d.pic_ink[0]
    d.pic_rgba[j] = rgba
    d.pic_second[j] = vec3(0.0, 0.0, 0.0)
    d.pic_map[j] = vec3(0.0, 0.0, 0.0)
    d.pic_matter[j] = vec3(plain[0], plain[1], plain[2])
    d.pic_tex[j] = -1
    d.pic_data[j] = -1
    for k in ti.static(range(2)):
        d.pic_thing[j][k] = -1


@func
def put(m, d, j, kind, x, R, size, ink):
    """A shape, mjtGeom, at x, turned by R, in colour `ink`; nothing if kind is -1 or its place is no number."""
    far = ti.max(ti.abs(x[0]), ti.abs(x[1]), ti.abs(x[2]))
    d.pic_pos[j] = x
    d.pic_mat[j] = R
    d.pic_size[j] = size
    d.pic_kind[j] = ti.select(far < NOWHERE, kind, -1)
    dress(m, d, j, d.pic_ink[ink])


@func
def put_rod(m, d, j, kind, begin, end, radius, ink):
    """A rod, a cylinder or capsule, from point to point; nothing if it has no length."""
    way = end - begin
    length = way.norm()
    shape = ti.select(length > SHORT, kind, -1)
    put(m, d, j, shape, 0.5 * (begin + end), along(way), vec3(radius, 0.5 * length, 0.0), ink)


@func
def put_axes(m, d, j, apart, kind, x, R, size, ink):
    """Three axes of a frame at x as rods, so many records apart, in a colour each; size  their radius and length."""
    for k in range(3):
        axis = vec3(one_of(k, R[0, 0], R[0, 1], R[0, 2]), one_of(k, R[1, 0], R[1, 1], R[1, 2]),
                    one_of(k, R[2, 0], R[2, 1], R[2, 2]))  # fmt: skip
        put_rod(m, d, j + k * apart, kind, x, x + size[1] * axis, size[0], ink + k)


@func
def put_arrow(m, d, j, top, begin, vector, radius, ink):
    """An arrow by a vector: its shaft is record j, its head record `top`; nothing if it has no length."""
    length = vector.norm()
    some = length > SHORT
    wide = ti.min(HEAD * radius, 0.25 * length)
    high = ti.min(2.0 * wide, 0.25 * length)
    neck = begin
    if some:
        neck = begin + vector * (1.0 - high / length)
    put_rod(m, d, j, ti.select(some, CYLINDER, -1), begin, neck, radius, ink)
    put(m, d, top, ti.select(some, ELLIPSOID, -1), neck, along(vector), vec3(wide, wide, high), ink)
