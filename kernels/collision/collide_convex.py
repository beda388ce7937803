"""Contacts of the pairs of convex shapes that have no collider of their own, by GJK and EPA (kernels/convex/ccd.py).

Both shapes are inflated by half the margin, and the contact is where they overlap then. With the flag multiccd, pairs
of boxes and meshes get the corners of the overlap of their flat faces, others are searched again four times, turned a
little against each other. After MuJoCo 3.4.0's mjc_Convex (engine_collision_convex.c, Apache-2.0).
"""

from tisim.device.specialise import specialise

from ..constants import BOX, CONVEX, ELLIPSOID, MESH, SPHERE
from ..convex.ccd import ccd
from ..convex.memory import memory_of
from ..convex.multiccd import multicontact
from ..convex.support import enter_shape
from ..rotation import quat_to_mat
from ..slots import dist_at, pos_at, put, put_place
from ..types import *
from .boxes import TODO
from .contact import frame_of

TURN = 1e-3  # angle between the first search and each of four more [rad]
APART = 1e-3  # distance of a new contact from others, relative to the smaller shape's radius
MULTI = False  # set by convex()
_made = {}


@ti.func
def turned(axis, angle):
    """Matrix of a rotation about a unit axis."""
    v = ti.sin(0.5 * angle) * axis
    return quat_to_mat(vec4(ti.cos(0.5 * angle), v[0], v[1], v[2]))


def _convex(m, d):
    """Contacts of every pair of this kind, parallel over workers, which have scratch memory each."""
    first = d.bin_adr[CONVEX]
    last = d.bin_adr[CONVEX + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nccd * SPREAD):
        worker = t // SPREAD
        if t % SPREAD == 0:
            mem = memory_of(m, d, worker)
            c = first + worker
            while c < last:
                p = d.cpair_bin[c]
                c += d.nccd
                if d.cpair_ncon[p] != TODO:
                    continue
                i1 = d.cpair_geom1[p]
                g1 = i1 % m.ngeom
                g2 = d.cpair_geom2[p]
                i2 = i1 - g1 + g2
                slot = d.cpair_slot[p]
                margin = d.cpair_margin[p]
                half = 0.5 * margin
                type1 = m.geom_type[g1]
                type2 = m.geom_type[g2]
                R1 = d.geom_xmat[i1]
                R2 = d.geom_xmat[i2]
                origin = vec3(0.0, 0.0, 0.0)
                if ti.static(FP == ti.f32):
                    origin = d.geom_xpos[i1]  # a far origin costs digits
                x1 = d.geom_xpos[i1] - origin
                x2 = d.geom_xpos[i2] - origin
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
                        enter_shape(m, d, mem, 0, Q1, y1, g1)
                        enter_shape(m, d, mem, 1, Q2, y2, g2)
                        dist, p1, p2, corner = ccd(m, d, mem, 0.0, half, half)
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
                                near = APART * ti.min(m.geom_rbound[g1], m.geom_rbound[g2])
                                for j in range(ncon):
                                    if (pos - pos_at(m, d, slot + j)).norm() <= near:
                                        new = False
                            if new:
                                put(m, d, slot + ncon, dist0, pos, normal)
                                ncon += 1
                            if ti.static(MULTI):
                                if faces and corner[0] >= 0:
                                    ncon = multicontact(m, d, mem, slot, dist0, p1, p2, corner)
                if ti.static(FP == ti.f32):
                    for j in range(ncon):
                        put_place(m, d, slot + j, dist_at(m, d, slot + j), pos_at(m, d, slot + j) + origin)
                d.cpair_ncon[p] = ncon


def convex(multi):
    """The kernel, with or without the search for more than one contact."""
    if multi not in _made:
        _made[multi] = kernel(specialise(_convex, "convex", MULTI=multi))
    return _made[multi]
