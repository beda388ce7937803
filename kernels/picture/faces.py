"""Rays against meshes, in f32: one ray against the eight faces of a leaf at once, in a heap of boxes over the leaves.

The tables are those of tisim/model/tables/faces.py. Corners are seen along the ray, so that an edge is the same number
for both of its faces, and no ray slips through between them.
"""

from ..constants import LEAF_FACES
from ..queries.ray_shapes import FAR, next_node
from ..types import *
from .shapes import F, bits, high, low, per, real, row3

SLACK = 1e-6  # a ray leaves a box later by this share, for rounding
Look = ti.types.matrix(3, 4, ti.f32)
NONE = 0x7F000000  # of a key: above all others


@ti.func
def ordered(x):
    """A whole number that rises with x, and the other way round."""
    word = bits(x)
    return word ^ ((word >> 31) & 0x7FFFFFFF)


@ti.func
def place_of(leaf, k):
    """Where the numbers of face k of a leaf of all meshes' begin in m.face_corner."""
    return leaf * (9 * LEAF_FACES) + k


@func
def number(m, at, what):
    """One of the nine numbers of the corners of the face at a place."""
    place = at + what * LEAF_FACES
    return real(m.face_corner[place])


@func
def corner(m, at, c):
    return row3(number(m, at, 3 * c), number(m, at, 3 * c + 1), number(m, at, 3 * c + 2))


@func
def normal_at(m, mesh, place):
    """The outward normal of a mesh's face at its place in the order of leaves, of any length."""
    at = place_of(m.face_mesh[mesh][2] + place // LEAF_FACES, place % LEAF_FACES)
    c0 = corner(m, at, 0)
    return (corner(m, at, 1) - c0).cross(corner(m, at, 2) - c0)


@func
def enter(m, node, q, per_v, start, last):
    """Where the ray enters the box of a node, FAR if it is empty, missed or beyond `last`."""
    x = start
    leaves = F(FAR)
    for k in ti.static(range(3)):
        middle = (real(m.face_box[node][k]) - q[k]) * per_v[k]
        half = real(m.face_box[node][3 + k]) * ti.abs(per_v[k])
        x = high(x, middle - half)
        leaves = low(leaves, middle + half)
    return ti.select((x > leaves + F(SLACK) * ti.abs(leaves)) | (x > last), F(FAR), x)


@func
def looks_along(m, node, way, sine, cosine):
    """Whether all faces of a node look along a direction, from which those may be turned by an angle."""
    box = m.face_box[node]
    axis = row3(real(box[6]), real(box[7]), real(box[8]))
    narrow = real(box[10]) * cosine > real(box[9]) * sine  # both angles together are below a right one
    return narrow & (axis.dot(way) >= real(box[9]) * cosine + real(box[10]) * sine)


@ti.func
def side_on(v):
    """Two vectors normal to v, of which none is much longer than 1."""
    w = row3(ti.abs(v[0]), ti.abs(v[1]), ti.abs(v[2]))
    b0 = row3(0.0, 0.0, 0.0)
    b1 = row3(0.0, 0.0, 0.0)
    if w[0] >= w[1] and w[0] >= w[2]:
        b0 = row3(-v[1] / v[0], 1.0, 0.0)
        b1 = row3(-v[2] / v[0], 0.0, 1.0)
    elif w[1] >= w[2]:
        b0 = row3(1.0, -v[0] / v[1], 0.0)
        b1 = row3(0.0, -v[2] / v[1], 1.0)
    else:
        b0 = row3(1.0, 0.0, -v[0] / v[2])
        b1 = row3(0.0, 1.0, -v[1] / v[2])
    return b0, b1


@ti.func
def look_along(q, v):
    """What two coordinates across the ray q + x v, and the x of the nearest point of it, are of a point: linear."""
    b0, b1 = side_on(v)
    b2 = v * (F(1.0) / v.dot(v))
    c = row3(b0.dot(q), b1.dot(q), b2.dot(q))
    return Look([[b0[0], b0[1], b0[2], -c[0]], [b1[0], b1[1], b1[2], -c[1]], [b2[0], b2[1], b2[2], -c[2]]])


@ti.func
def across(look, k: ti.template(), c):
    """Number k of look_along at a point."""
    return look[k, 0] * c[0] + look[k, 1] * c[1] + look[k, 2] * c[2] + look[k, 3]


@func
def seen_along(m, at, look):
    """Where the ray meets the plane of the face at a place, and whether that is within the face."""
    c0 = corner(m, at, 0)
    c1 = corner(m, at, 1)
    c2 = corner(m, at, 2)
    x0 = across(look, 0, c0)
    x1 = across(look, 0, c1)
    x2 = across(look, 0, c2)
    y0 = across(look, 1, c0)
    y1 = across(look, 1, c1)
    y2 = across(look, 1, c2)
    a0 = x1 * y2 - y1 * x2
    a1 = x2 * y0 - y2 * x0
    a2 = x0 * y1 - y0 * x1
    det = a0 + a1 + a2
    t = (a0 * across(look, 2, c0) + a1 * across(look, 2, c1) + a2 * across(look, 2, c2)) / det
    front = (a0 >= F(0.0)) & (a1 >= F(0.0)) & (a2 >= F(0.0)) & (det > F(0.0))
    back = (a0 <= F(0.0)) & (a1 <= F(0.0)) & (a2 <= F(0.0)) & (det < F(0.0))
    return t, front | back


@func
def leaf_key(m, leaf, lanes, look, start):
    """The first that the ray meets of a leaf's faces: `ordered` of where, with its number in the last bits."""
    last = ti.static(LEAF_FACES - 1)
    key = NONE
    begin = place_of(leaf, 0)
    # LEAF_FACES rounds, which a compiler must not know, or it would write them out one by one
    for at in range(begin, begin + lanes):
        t, inside = seen_along(m, at, look)
        mine = (ordered(t) & ~last) | ((at - begin) & last)
        key = ti.min(key, ti.select(inside & (t >= start), mine, NONE))
    return key


@func
def meet_first(m, d, o, v, mesh, reach):
    """Where the ray o + x v, 0 <= x <= reach, first meets a mesh in its frame, and the place of the face among the
    mesh's in order of leaves; FAR, -1 if it does not."""
    last_bits = ti.static(LEAF_FACES - 1)
    per_vv = F(1.0) / v.dot(v)
    shift = -o.dot(v) * per_vv  # to the point nearest to the mesh's middle, so that a far origin costs no digits
    q = o + shift * v
    last = reach - shift
    per_v = per(v)
    first = m.face_mesh[mesh]
    met = -1
    if enter(m, first[0] + 1, q, per_v, -shift, last) < F(FAR):
        look = look_along(q, v)
        best = ordered(last)
        node = 1
        trail = 0
        while node > 0:
            t1 = F(FAR)
            t2 = F(FAR)
            if node >= first[1]:
                leaf = first[2] + node - first[1]
                key = leaf_key(m, leaf, first[4], look, -shift)
                if (key & ~last_bits) < best:
                    best = key
                    last, _ = seen_along(m, place_of(leaf, key & last_bits), look)
                    met = (node - first[1]) * ti.static(LEAF_FACES) + (key & last_bits)
            else:
                t1 = enter(m, first[0] + 2 * node, q, per_v, -shift, last)
                t2 = enter(m, first[0] + 2 * node + 1, q, per_v, -shift, last)
            node, trail = next_node(node, trail, t1, t2)
    return ti.select(met < 0, F(FAR), last + shift), met


@func
def ellipsoids_say(m, o, v, mesh, reach):
    """Whether the ray o + x v, 0 <= x <= reach, meets a mesh: 1 if it meets an ellipsoid within it, -1 if none around
    it; 0 if that does not tell."""
    shift = -o.dot(v) / v.dot(v)
    q = o + shift * v
    first = m.face_mesh[mesh]
    box = m.face_box[first[0] + 1]
    # how near the ray comes to the box's middle, where its ellipsoid is a ball
    per_half = row3(real(first[7]), real(first[8]), real(first[9]))
    w = v * per_half
    u = (q - row3(real(box[0]), real(box[1]), real(box[2]))) * per_half
    nearest = -u.dot(w) / w.dot(w)
    u = u + nearest * w
    away = u.dot(u)
    met = (away < real(first[5])) & (nearest > -shift) & (nearest < reach - shift)
    return ti.select(met, 1, ti.select(away <= real(first[6]), 0, -1))


@func
def blocking_node(m, d, o, v, mesh, reach, guess):
    """A node whose faces the ray o + x v, 0 <= x <= reach, meets; 0 if it meets none of the mesh.

    guess  a leaf that is asked first, or 0. The answer 1 is also given where no face was looked at. Faces of a closed
    mesh that look along the ray are passed over, for who meets one of those from outside met another before.
    """
    shift = -o.dot(v) / v.dot(v)
    q = o + shift * v
    last = reach - shift
    first = m.face_mesh[mesh]
    box = first[0] + 1
    found = 0
    said = ellipsoids_say(m, o, v, mesh, reach)
    if said > 0:
        found = 1
    elif said == 0:
        per_v = per(v)
        if enter(m, box, q, per_v, -shift, last) < F(FAR):
            look = look_along(q, v)
            node = ti.select(guess >= first[1], guess, 1)
            trail = 0
            guessing = guess >= first[1]
            way = v * (F(1.0) / ti.sqrt(v.dot(v)))
            while node > 0:
                t1 = F(FAR)
                t2 = F(FAR)
                if node >= first[1]:
                    leaf = first[2] + node - first[1]
                    key = leaf_key(m, leaf, first[4], look, -shift)
                    if key < ordered(last):
                        found = node
                        trail = 0
                    elif guessing:
                        trail = 1
                else:
                    if not looks_along(m, first[0] + 2 * node, way, F(0.0), F(1.0)):
                        t1 = enter(m, first[0] + 2 * node, q, per_v, -shift, last)
                    if not looks_along(m, first[0] + 2 * node + 1, way, F(0.0), F(1.0)):
                        t2 = enter(m, first[0] + 2 * node + 1, q, per_v, -shift, last)
                if guessing:
                    node = trail
                    trail = 0
                    guessing = False
                else:
                    node, trail = next_node(node, trail, t1, t2)
    return found
