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
from ..convex.support import enter_shape, support
from ..slots import put
from ..types import *
from .boxes import TODO


@ti.func
def grid_place(x, n):
    """A column or row as an integer inside the grid."""
    return ti.cast(ti.max(0.0, ti.min(x, n - 1.0)), ti.i32)


@func
def put_prism_shape(m, d, mem: ti.template(), bottom):
    """Makes a worker's first shape a prism in the frame of the height field; its upper corners follow."""
    f = shape_f(mem, 0)
    for k in range(SHAPE_F):
        d.ccd_f[f + k] = 0.0
    for k in ti.static(range(3)):
        d.ccd_f[f + ROT + 4 * k] = 1.0
    d.ccd_f[f + BOTTOM] = bottom
    d.ccd_i[shape_i(mem, 0) + TYPE] = HFIELD
    d.ccd_i[shape_i(mem, 0) + FOUND] = -1


@kernel
def hfield(m, d):
    """Contacts of every pair of this kind, parallel over workers, which have scratch memory each."""
    first = d.bin_adr[HEIGHT_FIELD]
    last = d.bin_adr[HEIGHT_FIELD + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nccd * SPREAD):
        worker = t // SPREAD
        if t % SPREAD == 0:
            mem = memory_of(m, d, worker)
            at = first + worker
            while at < last:
                p = d.cpair_bin[at]
                at += d.nccd
                if d.cpair_ncon[p] != TODO:
                    continue
                i1 = d.cpair_geom1[p]
                g1 = i1 % m.ngeom
                g2 = d.cpair_geom2[p]
                i2 = i1 - g1 + g2
                slot = d.cpair_slot[p]
                margin = d.cpair_margin[p]
                field = m.geom_dataid[g1]
                ncol = m.hfield_ncol[field]
                nrow = m.hfield_nrow[field]
                adr = m.hfield_adr[field]
                half = vec2(m.hfield_size[field][0], m.hfield_size[field][1])
                top = m.hfield_size[field][2]
                base = m.hfield_size[field][3]
                R1 = d.geom_xmat[i1]
                x1 = d.geom_xpos[i1]
                x = R1.transpose() @ (d.geom_xpos[i2] - x1)
                enter_shape(m, d, mem, 1, R1.transpose() @ d.geom_xmat[i2], x, g2)
                put_prism_shape(m, d, mem, -base)
                # the shape's box
                d.ccd_f[shape_f(mem, 1) + ROUND] = d.ccd_f[shape_f(mem, 1) + RADIUS]
                lo = vec3(0.0, 0.0, 0.0)
                hi = vec3(0.0, 0.0, 0.0)
                for k in range(6):
                    axis = vec3(0.0, 0.0, 0.0)
                    for e in ti.static(range(3)):
                        if k >> 1 == e:
                            axis[e] = 1.0 - 2.0 * (k & 1)
                    q = support(m, d, mem, 1, axis)
                    for e in ti.static(range(3)):
                        if k == 2 * e:
                            hi[e] = q[e]
                        elif k == 2 * e + 1:
                            lo[e] = q[e]
                reach = m.geom_rbound[g2] + margin
                ncon = 0
                if (
                    ti.abs(x[0]) <= half[0] + reach
                    and ti.abs(x[1]) <= half[1] + reach
                    and x[2] - reach <= top
                    and x[2] + reach >= -base
                    and lo[0] - margin <= half[0]
                    and hi[0] + margin >= -half[0]
                    and lo[1] - margin <= half[1]
                    and hi[1] + margin >= -half[1]
                    and lo[2] - margin <= top
                    and hi[2] + margin >= -base
                ):
                    cmin = grid_place(ti.floor((lo[0] + half[0]) / (2.0 * half[0]) * (ncol - 1)), ncol)
                    cmax = grid_place(ti.ceil((hi[0] + half[0]) / (2.0 * half[0]) * (ncol - 1)), ncol)
                    rmin = grid_place(ti.floor((lo[1] + half[1]) / (2.0 * half[1]) * (nrow - 1)), nrow)
                    rmax = grid_place(ti.ceil((hi[1] + half[1]) / (2.0 * half[1]) * (nrow - 1)), nrow)
                    dx = 2.0 * half[0] / (ncol - 1)
                    dy = 2.0 * half[1] / (nrow - 1)
                    ntri = 2 * (cmax - cmin)  # in a row of cells: corners c, c + 1, c + 2 of a strip
                    for r in range(rmin, rmax):
                        for k in range(ntri):
                            low = True  # the whole triangle lies below the shape
                            if ncon < HFIELD_SLOTS:
                                for v in range(3):
                                    c = cmin + (k + v) // 2
                                    row = r + 1 - (k + v) % 2
                                    z = m.hfield_data[adr + row * ncol + c] * top + margin
                                    put3(
                                        d.ccd_f,
                                        mem.shapes_f + TOP + 3 * v,
                                        vec3(dx * c - half[0], dy * row - half[1], z),
                                    )
                                    if z >= lo[2]:
                                        low = False
                            if not low:
                                dist, p1, p2, corner = ccd(m, d, mem, 0.0, 0.0, 0.5 * margin)
                                if dist < 0.0:
                                    normal = p1 - p2
                                    length = normal.norm()
                                    if length < MINVAL:
                                        normal = vec3(1.0, 0.0, 0.0)
                                    else:
                                        normal = normal / length
                                    put(m, d, slot + ncon, dist, R1 @ (0.5 * (p1 + p2)) + x1, R1 @ normal)
                                    ncon += 1
                d.cpair_ncon[p] = ncon
