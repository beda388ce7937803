"""Contacts of the pairs of convex shapes that have no collider of their own, by GJK and EPA (kernels/convex/ccd.py).

Both shapes are inflated by half the margin, and the contact is where they overlap then. With the flag multiccd, pairs
of boxes and meshes get the corners of the overlap of their flat faces, others are searched again four times, turned a
little against each other. Under the second dynamics faces and straight sides have all their corners, with or without it
(kernels/convex/manifold.py). After MuJoCo 3.4.0's mjc_Convex (engine_collision_convex.c, Apache-2.0).
"""

from tisim.device.specialise import specialise

from ..constants import CONVEX, ELLIPSOID, SPHERE
from ..convex.ccd import ccd
from ..convex.gjk import direction_of
from ..convex.manifold import face_contacts
from ..convex.memory import memory_of
from ..convex.multiccd import multicontact
from ..convex.outlines import has_faces, has_outline
from ..convex.support import enter_shape
from ..rotation import quat_to_mat
from ..sine import sin_cos
from ..slots import dist_at, pos_at, put, put_place
from ..wide import *
from .boxes import TODO
from .closing import margin_now
from .contact import frame_of

TURN = 1e-3  # angle between the first search and each of four more [rad]
APART = 1e-3  # distance of a new contact from others, relative to the smaller shape's radius
MULTI = False  # set by convex(), as is the next
FACES = False
_made = {}


@ti.dataclass
class Pair:
    i1: ti.i32
    i2: ti.i32
    g1: ti.i32
    g2: ti.i32
    R1: mat3
    R2: mat3
    x1: vec3  # from the origin, which is shape 1's place in f32: a far origin costs digits
    x2: vec3
    origin: vec3


@func
def pair_of(m, d, p):
    """Geoms and poses of a listed pair."""
    i1 = d.cpair_geom1[p]
    g1 = i1 % m.ngeom
    i2 = i1 - g1 + d.cpair_geom2[p]
    origin = vec3(0.0, 0.0, 0.0)
    if ti.static(FP == ti.f32):
        origin = d.geom_xpos[i1]
    return Pair(
        i1=i1,
        i2=i2,
        g1=g1,
        g2=d.cpair_geom2[p],
        R1=d.geom_xmat[i1],
        R2=d.geom_xmat[i2],
        x1=d.geom_xpos[i1] - origin,
        x2=d.geom_xpos[i2] - origin,
        origin=origin,
    )


@ti.func
def turned(axis, angle):
    """Matrix of a rotation about a unit axis."""
    s, c = sin_cos(0.5 * angle)
    v = s * axis
    return quat_to_mat(vec4(c, v[0], v[1], v[2]))


@ti.func
def turn_about(pair: ti.template(), k, pos, frame):
    """Poses of the shapes turned against each other about a contact's tangents: turn k of four."""
    axis = vec3(frame[1, 0], frame[1, 1], frame[1, 2])
    if k > 2:
        axis = vec3(frame[2, 0], frame[2, 1], frame[2, 2])
    turn = turned(axis, FP(-TURN) if k & 1 else FP(TURN))
    y1 = pair.x1 - (turn @ (pos - pair.x1) - (pos - pair.x1))
    y2 = pair.x2 - (turn.transpose() @ (pos - pair.x2) - (pos - pair.x2))
    return turn @ pair.R1, y1, turn.transpose() @ pair.R2, y2


@ti.func
def is_curved(gtype):
    """True if all of the surface curves in all directions."""
    return gtype == SPHERE or gtype == ELLIPSOID


@func
def is_near(m, d, slot, n, pos, distance):
    """True if one of the first n contacts from the slot on is as near as this to a position."""
    near = False
    for j in range(n):
        if (pos - pos_at(m, d, slot + j)).norm() <= distance:
            near = True
    return near


def _collide_pair(m, d, mem: ti.template(), p):
    """Writes the contacts of a listed pair to its slots; returns their number."""
    pair = pair_of(m, d, p)
    slot = d.cpair_slot[p]
    margin = margin_now(m, d, p)
    type1 = m.geom_type[pair.g1]
    type2 = m.geom_type[pair.g2]
    ntry = 1
    faces = has_faces(type1) and has_faces(type2) and margin <= 0.0
    if ti.static(FACES):
        faces = has_outline(type1) and has_outline(type2)
    if ti.static(MULTI):
        if not is_curved(type1) and not is_curved(type2) and not faces:
            ntry = 5
    ncon = 0
    frame = mat3(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    pos0 = vec3(0.0, 0.0, 0.0)
    dist0 = FP(0.0)
    for k in range(ntry):
        if k == 0 or ncon > 0:
            R1 = pair.R1
            R2 = pair.R2
            x1 = pair.x1
            x2 = pair.x2
            if ti.static(MULTI):
                if k > 0:
                    R1, x1, R2, x2 = turn_about(pair, k, pos0, frame)
            enter_shape(m, d, mem, 0, R1, x1, pair.i1, pair.g1)
            enter_shape(m, d, mem, 1, R2, x2, pair.i2, pair.g2)
            dist, p1, p2, corner = ccd(m, d, mem, 0.0, 0.5 * margin, 0.5 * margin)
            if dist < 0.0:
                normal = direction_of(p1 - p2)
                pos = 0.5 * (p1 + p2)
                if k == 0:
                    dist0 = margin + dist
                    pos0 = pos
                    frame = frame_of(normal, vec3(0.0, 0.0, 0.0))
                apart = APART * ti.min(m.geom_rbound[pair.i1, pair.g1], m.geom_rbound[pair.i2, pair.g2])
                if not is_near(m, d, slot, ncon, pos, apart):
                    put(m, d, slot + ncon, dist0, pos, normal)
                    ncon += 1
                if ti.static(FACES):
                    if faces:
                        ncon = face_contacts(m, d, mem, slot, dist0, margin, normal, apart)
                elif ti.static(MULTI):
                    if faces and corner[0] >= 0:
                        ncon = multicontact(m, d, mem, slot, dist0, p1, p2, corner)
    if ti.static(FP == ti.f32):
        for j in range(ncon):
            put_place(m, d, slot + j, dist_at(m, d, slot + j), pos_at(m, d, slot + j) + pair.origin)
    return ncon


collide_pair = func(_collide_pair)


def _convex(m, d):
    """Contacts of every pair of this kind, parallel over workers, which have scratch memory each."""
    first = d.bin_adr[CONVEX]
    last = d.bin_adr[CONVEX + 1]
    ti.loop_config(serialize=SERIAL)
    for t in range(d.nccd * SPREAD):
        if t % SPREAD == 0:
            worker = t // SPREAD
            mem = memory_of(m, d, worker)
            c = first + worker
            while c < last:
                p = d.cpair_bin[c]
                if d.cpair_ncon[p] == TODO:
                    d.cpair_ncon[p] = collide_pair(m, d, mem, p)
                c += d.nccd


def convex(multi, faces):
    """The kernel, with or without MuJoCo's search for more than one contact, and all corners of faces."""
    if (multi, faces) not in _made:
        one = func(specialise(_collide_pair, MULTI=multi, FACES=faces))
        _made[multi, faces] = kernel(specialise(_convex, "convex", collide_pair=one))
    return _made[multi, faces]
