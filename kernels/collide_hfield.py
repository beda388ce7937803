"""Contacts of a height field with any convex shape: one for every prism under its triangles that the shape overlaps.

Everything happens in the frame of the height field. Two triangles fill a cell of the grid; a prism reaches from its
triangle down to the bottom of the base. After MuJoCo 3.4.0's mjc_ConvexHField (engine_collision_convex.c, Apache-2.0).
"""

from tisim.kernels.boxes import TODO
from tisim.kernels.ccd import ccd, shapes_f, shapes_i
from tisim.kernels.constants import HEIGHT_FIELD, HFIELD, HFIELD_SLOTS
from tisim.kernels.slots import put
from tisim.kernels.support import BOTTOM, RADIUS, ROUND, SHAPE_F, TOP, TYPE, VERTEX, enter_shape, put3, support
from tisim.kernels.types import *


@ti.func
def grid_place(x, n):
    """A column or row as an integer inside the grid."""
    return ti.cast(ti.max(0.0, ti.min(x, n - 1.0)), ti.i32)


@ti.func
def put_prism_shape(sf, si, bottom, ccd_f: ti.template(), ccd_i: ti.template()):
    """Makes a worker's first shape a prism in the frame of the height field; its upper corners follow."""
    for k in range(SHAPE_F):
        ccd_f[sf + k] = 0.0
    for k in ti.static(range(3)):
        ccd_f[sf + 4 * k] = 1.0
    ccd_f[sf + BOTTOM] = bottom
    ccd_i[si + TYPE] = HFIELD
    ccd_i[si + VERTEX] = -1


@kernel
def hfield(
    ngeom: ti.i32, nccd: ti.i32, nccd_f: ti.i32, nccd_i: ti.i32, niter: ti.i32,
    ccd_tolerance: FP,
    bin_adr: I, cpair_bin: I, cpair_geom1: I, cpair_geom2: I, cpair_margin: F, cpair_slot: I,
    geom_xpos: F, geom_xmat: F, geom_type: I, geom_size: F, geom_rbound: F, geom_dataid: I,
    hfield_size: F, hfield_nrow: I, hfield_ncol: I, hfield_adr: I, hfield_data: F,
    mesh_vertadr: I, mesh_vertnum: I, mesh_graphadr: I, mesh_vert: F, mesh_graph: I, hull_vert: F, ccd_f: F, ccd_i: I,
    con_slot: F, cpair_ncon: I,
):  # fmt: skip
    """Contacts of every pair of this kind, parallel over workers, which have scratch memory each."""
    first = bin_adr[HEIGHT_FIELD]
    last = bin_adr[HEIGHT_FIELD + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(nccd * SPREAD):
        worker = t // SPREAD
        if t % SPREAD == 0:
            fb = worker * nccd_f
            ib = worker * nccd_i
            sf = shapes_f(fb, niter)
            si = shapes_i(ib, niter)
            at = first + worker
            while at < last:
                p = cpair_bin[at]
                at += nccd
                if cpair_ncon[p] != TODO:
                    continue
                i1 = cpair_geom1[p]
                g1 = i1 % ngeom
                g2 = cpair_geom2[p]
                i2 = i1 - g1 + g2
                slot = cpair_slot[p]
                margin = cpair_margin[p]
                field = geom_dataid[g1]
                ncol = hfield_ncol[field]
                nrow = hfield_nrow[field]
                adr = hfield_adr[field]
                half = vec2(hfield_size[4 * field], hfield_size[4 * field + 1])
                top = hfield_size[4 * field + 2]
                base = hfield_size[4 * field + 3]
                R1 = ldm(geom_xmat, i1)
                x1 = ld3(geom_xpos, i1)
                x = R1.transpose() @ (ld3(geom_xpos, i2) - x1)
                enter_shape(
                    1, sf, si, R1.transpose() @ ldm(geom_xmat, i2), x, geom_type[g2], ld3(geom_size, g2),
                    geom_dataid[g2], ccd_f, ccd_i, mesh_vertadr, mesh_vertnum, mesh_graphadr,
                )  # fmt: skip
                put_prism_shape(sf, si, -base, ccd_f, ccd_i)
                # the shape's box
                ccd_f[sf + SHAPE_F + ROUND] = ccd_f[sf + SHAPE_F + RADIUS]
                lo = vec3(0.0, 0.0, 0.0)
                hi = vec3(0.0, 0.0, 0.0)
                for k in range(6):
                    axis = vec3(0.0, 0.0, 0.0)
                    for e in ti.static(range(3)):
                        if k >> 1 == e:
                            axis[e] = 1.0 - 2.0 * (k & 1)
                    q = support(1, axis, sf, si, ccd_f, ccd_i, mesh_vert, mesh_graph, hull_vert)
                    for e in ti.static(range(3)):
                        if k == 2 * e:
                            hi[e] = q[e]
                        elif k == 2 * e + 1:
                            lo[e] = q[e]
                reach = geom_rbound[g2] + margin
                ncon = 0
                if (
                    ti.abs(x[0]) <= half[0] + reach and ti.abs(x[1]) <= half[1] + reach
                    and x[2] - reach <= top and x[2] + reach >= -base
                    and lo[0] - margin <= half[0] and hi[0] + margin >= -half[0]
                    and lo[1] - margin <= half[1] and hi[1] + margin >= -half[1]
                    and lo[2] - margin <= top and hi[2] + margin >= -base
                ):  # fmt: skip
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
                                    z = hfield_data[adr + row * ncol + c] * top + margin
                                    put3(
                                        ccd_f, sf + TOP + 3 * v, vec3(dx * c - half[0], dy * row - half[1], z)
                                    )
                                    if z >= lo[2]:
                                        low = False
                            if not low:
                                dist, p1, p2, corner = ccd(
                                    fb, ib, niter, ccd_tolerance, 0.0, 0.0,
                                    0.5 * margin, ccd_f, ccd_i, mesh_vert, mesh_graph, hull_vert,
                                )  # fmt: skip
                                if dist < 0.0:
                                    normal = p1 - p2
                                    length = normal.norm()
                                    if length < MINVAL:
                                        normal = vec3(1.0, 0.0, 0.0)
                                    else:
                                        normal = normal / length
                                    put(
                                        slot + ncon, dist, R1 @ (0.5 * (p1 + p2)) + x1, R1 @ normal,
                                        con_slot,
                                    )  # fmt: skip
                                    ncon += 1
                cpair_ncon[p] = ncon
