"""Contacts of the pairs of convex shapes that have no collider of their own, by GJK and EPA (kernels/ccd.py).

Both shapes are inflated by half the margin, and the contact is where they overlap then. With the flag multiccd, pairs
of boxes and meshes get the corners of the overlap of their flat faces, others are searched again four times, turned a
little against each other. After MuJoCo 3.4.0's mjc_Convex (engine_collision_convex.c, Apache-2.0).
"""

import types

from tisim.kernels.boxes import TODO
from tisim.kernels.ccd import ccd, shapes_f, shapes_i
from tisim.kernels.constants import BOX, CONVEX, ELLIPSOID, MESH, SPHERE
from tisim.kernels.contact import frame_of
from tisim.kernels.multiccd import multicontact
from tisim.kernels.rotation import quat_to_mat
from tisim.kernels.slots import dist_at, pos_at, put, put_place
from tisim.kernels.support import SHAPE_F, SHAPE_I, enter_shape
from tisim.kernels.types import *

TURN = 1e-3  # angle between the first search and each of four more [rad]
APART = 1e-3  # distance of a new contact from others, relative to the smaller shape's radius
MULTI = False  # set by convex()
_made = {}


@ti.func
def turned(axis, angle):
    """Matrix of a rotation about a unit axis."""
    v = ti.sin(0.5 * angle) * axis
    return quat_to_mat(vec4(ti.cos(0.5 * angle), v[0], v[1], v[2]))


def _convex(
    ngeom: ti.i32, nccd: ti.i32, nccd_f: ti.i32, nccd_i: ti.i32, niter: ti.i32,
    npoly: ti.i32, ccd_tolerance: FP,
    bin_adr: I, cpair_bin: I, cpair_geom1: I, cpair_geom2: I, cpair_margin: F, cpair_slot: I,
    geom_xpos: F, geom_xmat: F, geom_type: I, geom_size: F, geom_rbound: F, geom_dataid: I,
    mesh_vertadr: I, mesh_vertnum: I, mesh_graphadr: I, mesh_vert: F, mesh_graph: I, hull_vert: F,
    mesh_polyadr: I, mesh_polynormal: F, mesh_polyvertadr: I, mesh_polyvertnum: I, mesh_polyvert: I,
    mesh_polymapadr: I, mesh_polymapnum: I, mesh_polymap: I, ccd_f: F, ccd_i: I,
    con_slot: F, cpair_ncon: I,
):  # fmt: skip
    """Contacts of every pair of this kind, parallel over workers, which have scratch memory each."""
    first = bin_adr[CONVEX]
    last = bin_adr[CONVEX + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(nccd * SPREAD):
        worker = t // SPREAD
        if t % SPREAD == 0:
            fb = worker * nccd_f
            ib = worker * nccd_i
            sf = shapes_f(fb, niter)
            si = shapes_i(ib, niter)
            c = first + worker
            while c < last:
                p = cpair_bin[c]
                c += nccd
                if cpair_ncon[p] != TODO:
                    continue
                i1 = cpair_geom1[p]
                g1 = i1 % ngeom
                g2 = cpair_geom2[p]
                i2 = i1 - g1 + g2
                slot = cpair_slot[p]
                margin = cpair_margin[p]
                half = 0.5 * margin
                type1 = geom_type[g1]
                type2 = geom_type[g2]
                R1 = ldm(geom_xmat, i1)
                R2 = ldm(geom_xmat, i2)
                origin = vec3(0.0, 0.0, 0.0)
                if ti.static(FP == ti.f32):
                    origin = ld3(geom_xpos, i1)  # a far origin costs digits
                x1 = ld3(geom_xpos, i1) - origin
                x2 = ld3(geom_xpos, i2) - origin
                ntry = 1
                faces = False
                if ti.static(MULTI):
                    faces = (type1 == BOX or type1 == MESH) and (type2 == BOX or type2 == MESH) and margin <= 0.0
                    if type1 != SPHERE and type1 != ELLIPSOID and type2 != ELLIPSOID and not faces:
                        ntry = 5
                ncon = 0
                frame = mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
                pos0 = vec3(0.0, 0.0, 0.0)
                dist0 = 0.0
                for k in range(ntry):
                    if k == 0 or ncon > 0:
                        Q1 = R1
                        Q2 = R2
                        y1 = x1
                        y2 = x2
                        if ti.static(MULTI):
                            if k > 0:
                                axis = vec3(frame[1, 0], frame[1, 1], frame[1, 2])
                                if k > 2:
                                    axis = vec3(frame[2, 0], frame[2, 1], frame[2, 2])
                                turn = turned(axis, -TURN if k & 1 else TURN)
                                Q1 = turn @ R1
                                y1 = x1 - (turn @ (pos0 - x1) - (pos0 - x1))
                                Q2 = turn.transpose() @ R2
                                y2 = x2 - (turn.transpose() @ (pos0 - x2) - (pos0 - x2))
                        enter_shape(
                            0, sf, si, Q1, y1, type1, ld3(geom_size, g1), geom_dataid[g1], ccd_f, ccd_i,
                            mesh_vertadr, mesh_vertnum, mesh_graphadr,
                        )  # fmt: skip
                        enter_shape(
                            1, sf, si, Q2, y2, type2, ld3(geom_size, g2), geom_dataid[g2], ccd_f, ccd_i,
                            mesh_vertadr, mesh_vertnum, mesh_graphadr,
                        )  # fmt: skip
                        dist, p1, p2, corner = ccd(
                            fb, ib, niter, ccd_tolerance, 0.0, half, half, ccd_f, ccd_i,
                            mesh_vert, mesh_graph, hull_vert,
                        )  # fmt: skip
                        if dist < 0.0:
                            normal = p1 - p2
                            length = normal.norm()
                            if length < MINVAL:
                                normal = vec3(1.0, 0.0, 0.0)
                            else:
                                normal *= 1.0 / length
                            pos = 0.5 * (p1 + p2)
                            new = True
                            if k == 0:
                                dist0 = margin + dist
                                pos0 = pos
                                frame = frame_of(normal, vec3(0.0, 0.0, 0.0))
                            else:
                                near = APART * ti.min(geom_rbound[g1], geom_rbound[g2])
                                for j in range(ncon):
                                    if (pos - pos_at(slot + j, con_slot)).norm() <= near:
                                        new = False
                            if new:
                                put(slot + ncon, dist0, pos, normal, con_slot)
                                ncon += 1
                            if ti.static(MULTI):
                                if faces and corner[0] >= 0:
                                    ncon = multicontact(
                                        slot, dist0, p1, p2, corner, fb, ib, sf, si, sf + 2 * SHAPE_F,
                                        si + 2 * SHAPE_I, npoly, ccd_f, ccd_i, mesh_vertadr, mesh_vert, mesh_polyadr,
                                        mesh_polynormal, mesh_polyvertadr, mesh_polyvertnum, mesh_polyvert,
                                        mesh_polymapadr, mesh_polymapnum, mesh_polymap, con_slot,
                                    )  # fmt: skip
                if ti.static(FP == ti.f32):
                    for j in range(ncon):
                        put_place(slot + j, dist_at(slot + j, con_slot), pos_at(slot + j, con_slot) + origin, con_slot)
                cpair_ncon[p] = ncon


def convex(multi):
    """The kernel, with or without the search for more than one contact."""
    if multi not in _made:
        func = types.FunctionType(_convex.__code__, dict(globals(), MULTI=multi), "convex")
        func.__annotations__ = _convex.__annotations__
        func.__qualname__ = func.__name__
        func.__doc__ = _convex.__doc__
        _made[multi] = kernel(func)
    return _made[multi]
