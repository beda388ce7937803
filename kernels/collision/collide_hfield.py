"""Contacts of a height field with any convex shape: one for every prism under its triangles that the shape overlaps.

Everything happens in the frame of the height field. Two triangles fill a cell of the grid; a prism reaches from its
triangle down to the bottom of the base. After MuJoCo 3.4.0's mjc_ConvexHField (engine_collision_convex.c, Apache-2.0).
"""

from ..constants import HEIGHT_FIELD, HFIELD, HFIELD_SLOTS
from ..convex.ccd import ccd
from ..convex.memory import (
    BOTTOM,
    FOUND,
    RADIUS,
    ROT,
    ROUND,
    SHAPE_F,
    TOP,
    TYPE,
    memory_of,
    put3,
    shape_f,
    shape_i,
)
from ..convex.support import LOWEST, enter_shape, support
from ..slots import put
from ..wide import *
from .boxes import TODO
from .closing import margin_now

ivec4 = ti.types.vector(4, ti.i32)


@ti.func
def grid_place(x, n):
    """A column or row as an integer inside the grid."""
    return ti.cast(ti.max(0.0, ti.min(x, n - 1.0)), ti.i32)


@func
def put_prism_shape(m, d, mem: ti.template(), bottom):
    """Makes a worker's shape 0 a prism in the frame of the height field; its upper corners follow."""
    f = shape_f(mem, 0)
    for k in range(SHAPE_F):
        d.ccd_f[f + k] = 0.0
    for k in ti.static(range(3)):
        d.ccd_f[f + ROT + 4 * k] = 1.0
    d.ccd_f[f + BOTTOM] = bottom
    d.ccd_i[shape_i(mem, 0) + TYPE] = HFIELD
    d.ccd_i[shape_i(mem, 0) + FOUND] = -1


@ti.dataclass
class Field:
    ncol: ti.i32
    nrow: ti.i32
    adr: ti.i32  # of its first height
    half: vec2  # half of its lengths
    top: FP  # of its heights
    base: FP  # thickness below height 0
    dx: FP  # between columns
    dy: FP  # between rows


@func
def field_of(m, d, k):
    size = m.hfield_size[k]
    f = Field(ncol=m.hfield_ncol[k], nrow=m.hfield_nrow[k], adr=m.hfield_adr[k])
    f.half = vec2(size[0], size[1])
    f.top = size[2]
    f.base = size[3]
    f.dx = 2.0 * f.half[0] / (f.ncol - 1)
    f.dy = 2.0 * f.half[1] / (f.nrow - 1)
    return f


@func
def box_of_shape(m, d, mem: ti.template(), i):
    """Bounds of a worker's shape i."""
    f = shape_f(mem, i)
    d.ccd_f[f + ROUND] = d.ccd_f[f + RADIUS]
    lo = vec3(0.0, 0.0, 0.0)
    hi = vec3(0.0, 0.0, 0.0)
    for k in range(6):
        axis = vec3(0.0, 0.0, 0.0)
        for e in ti.static(range(3)):
            if k >> 1 == e:
                axis[e] = 1.0 - 2.0 * (k & 1)
        q = support(m, d, mem, i, axis)
        for e in ti.static(range(3)):
            if k == 2 * e:
                hi[e] = q[e]
            elif k == 2 * e + 1:
                lo[e] = q[e]
    return lo, hi


@ti.func
def meets(field: ti.template(), x, lo, hi, reach, margin):
    """True if a shape with these bounds, at x, in a sphere of radius `reach`, can touch the height field."""
    return (
        ti.abs(x[0]) <= field.half[0] + reach
        and ti.abs(x[1]) <= field.half[1] + reach
        and x[2] - reach <= field.top
        and x[2] + reach >= -field.base
        and lo[0] - margin <= field.half[0]
        and hi[0] + margin >= -field.half[0]
        and lo[1] - margin <= field.half[1]
        and hi[1] + margin >= -field.half[1]
        and lo[2] - margin <= field.top
        and hi[2] + margin >= -field.base
    )


@ti.func
def cells_under(field: ti.template(), lo, hi):
    """Columns and rows of the grid that bounds cover: first column, last, first row, last."""
    half = field.half
    return ivec4(
        grid_place(ti.floor((lo[0] + half[0]) / (2.0 * half[0]) * (field.ncol - 1)), field.ncol),
        grid_place(ti.ceil((hi[0] + half[0]) / (2.0 * half[0]) * (field.ncol - 1)), field.ncol),
        grid_place(ti.floor((lo[1] + half[1]) / (2.0 * half[1]) * (field.nrow - 1)), field.nrow),
        grid_place(ti.ceil((hi[1] + half[1]) / (2.0 * half[1]) * (field.nrow - 1)), field.nrow),
    )


@func
def put_prism(m, d, mem: ti.template(), field: ti.template(), row, column, k, margin):
    """Writes the upper corners of prism k of a strip, a row of cells from this column on; returns the greatest z."""
    highest = FP(LOWEST)
    for v in range(3):
        c = column + (k + v) // 2
        r = row + 1 - (k + v) % 2
        z = apart(m.hfield_data[field.adr + r * field.ncol + c] * field.top) + margin
        corner = vec3(apart(field.dx * c) - field.half[0], apart(field.dy * r) - field.half[1], z)
        put3(d.ccd_f, shape_f(mem, 0) + TOP + 3 * v, corner)
        highest = ti.max(highest, z)
    return highest


@func
def collide_field(m, d, mem: ti.template(), slot, margin, i1, i2):
    """Writes the contacts of a height field and a geom to slots; returns their number."""
    g1 = i1 % m.ngeom
    g2 = i2 % m.ngeom
    field = field_of(m, d, m.geom_dataid[g1])
    R1 = d.geom_xmat[i1]
    x1 = d.geom_xpos[i1]
    x = times(R1.transpose(), d.geom_xpos[i2] - x1)
    enter_shape(m, d, mem, 1, product(R1.transpose(), d.geom_xmat[i2]), x, i2, g2)
    put_prism_shape(m, d, mem, -field.base)
    lo, hi = box_of_shape(m, d, mem, 1)
    cells = ivec4(0, 0, 0, 0)
    if meets(field, x, lo, hi, m.geom_rbound[i2, g2] + margin, margin):
        cells = cells_under(field, lo, hi)
    ncon = 0
    for row in range(cells[2], cells[3]):
        for k in range(2 * (cells[1] - cells[0])):
            found = False
            if ncon < HFIELD_SLOTS:
                found = put_prism(m, d, mem, field, row, cells[0], k, margin) >= lo[2]
            if found:
                dist, p1, p2, corner = ccd(m, d, mem, 0.0, 0.0, 0.5 * margin)
                if dist < 0.0:
                    normal = p1 - p2
                    length = root(dot(normal, normal))
                    if length < MINVAL:
                        normal = vec3(1.0, 0.0, 0.0)
                    else:
                        normal = over(normal, length)
                    if ti.static(m.has.closing):  # MuJoCo tells the distance of what it raised and inflated
                        up = ti.max(normal[2], 0.0)
                        dist += margin * (up + 0.5)
                        p1 -= margin * up * normal
                        p2 += 0.5 * margin * normal
                    put(m, d, slot + ncon, dist, R1 @ (0.5 * (p1 + p2)) + x1, R1 @ normal)
                    ncon += 1
    return ncon


@kernel
def hfield(m, d):
    """Contacts of every pair of this kind, parallel over workers, which have scratch memory each."""
    first = d.bin_adr[HEIGHT_FIELD]
    last = d.bin_adr[HEIGHT_FIELD + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nccd * SPREAD):
        if t % SPREAD == 0:
            worker = t // SPREAD
            mem = memory_of(m, d, worker)
            at = first + worker
            while at < last:
                p = d.cpair_bin[at]
                if d.cpair_ncon[p] == TODO:
                    i1 = d.cpair_geom1[p]
                    i2 = i1 - i1 % m.ngeom + d.cpair_geom2[p]
                    d.cpair_ncon[p] = collide_field(m, d, mem, d.cpair_slot[p], margin_now(m, d, p), i1, i2)
                at += d.nccd
