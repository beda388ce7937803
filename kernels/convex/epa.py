"""Parts of EPA: a polytope inside the Minkowski difference grows around the origin until its nearest face is a face of
the difference, whose distance is the penetration depth.

Polytope vertices are slots of the worker's vertex list (convex/gjk.py) from FIRST on; a face is three of them, its
three neighbours, its place in the list of candidates, the origin's projection on it, and that one's squared length.
Method: G. van den Bergen, "Proximity queries and penetration depth computation on 3D game objects", GDC 2001. First
polytopes, order of faces and what ends the search are those of MuJoCo 3.4.0 (engine_collision_gjk.c, Apache-2.0).
"""

from ..rotation import at3
from ..types import *
from .gjk import ROUNDING, barycentric, copy_vertex, foot_on_plane, vertex
from .support import put3

FIRST = 8  # slots before the polytope: the simplex, the tetrahedron that is searched
FACE_F, FACE_I = 4, 5
# of a face's integers: its place in the list of candidates, OUT if it is none, GONE if it was removed
PLACE = 4
OUT, GONE = -1, -2
BITS = 10  # of a corner's number: three fit into an integer, and MAX_ITERATIONS (stages/collision.py) keeps below it
# faces of the first polytope: three corners, the neighbours across the edges 01, 12, 20 being those that share them
SEGMENT = ((0, 2, 3), (0, 4, 2), (0, 3, 4), (1, 3, 2), (1, 2, 4), (1, 4, 3))
TRIANGLE = ((4, 0, 1), (4, 2, 0), (4, 1, 2), (3, 1, 0), (3, 0, 2), (3, 2, 1))
TETRAHEDRON = ((0, 1, 2), (0, 3, 1), (0, 2, 3), (3, 2, 1))


def code(faces, j):
    """Face j in digits of 32: its corners, then for each edge 4 * neighbour + that one's edge."""
    digits = list(faces[j])
    for e in range(3):
        edge = faces[j][(e + 1) % 3], faces[j][e]
        digits += [4 * k + i for k, f in enumerate(faces) for i in range(3) if (f[i], f[(i + 1) % 3]) == edge]
    return sum(x << (5 * k) for k, x in enumerate(digits))


CODES = tuple(
    (n, j, code(faces, j)) for n, faces in ((2, SEGMENT), (3, TRIANGLE), (4, TETRAHEDRON)) for j in range(len(faces))
)


@ti.func
def code_of(kind, j):
    """The code of face j of the first polytope over a simplex of `kind` vertices."""
    x = 0
    for n, i, value in ti.static(CODES):
        if kind == n and j == i:
            x = value
    return x


@func
def corner_of(m, d, face, e, fi):
    """Number of a face's corner e in the list of vertices."""
    return d.ccd_i[fi + FACE_I * face] >> BITS * e & (1 << BITS) - 1


@func
def attach(m, d, k, a, b, c, ab, bc, ca, x, y, z, ff, fi):
    """Writes face k with corners a at x, b at y, c at z and what is across its edges, 4 * neighbour + that one's edge.

    Returns its squared distance, 0 if it is degenerate.
    """
    i = fi + FACE_I * k
    d.ccd_i[i] = a + (b << BITS) + (c << 2 * BITS)
    d.ccd_i[i + 1] = ab
    d.ccd_i[i + 2] = bc
    d.ccd_i[i + 3] = ca
    p, spans = foot_on_plane(z, y, x)
    dist2 = p.dot(p)  # 0 if they span no plane
    if ti.static(FP == ti.f32):
        if not spans or dist2 < ROUNDING * ROUNDING * x.dot(x):
            dist2 = 0.0
    put3(d.ccd_f, ff + FACE_F * k, p)
    d.ccd_f[ff + FACE_F * k + 3] = dist2
    return dist2


@ti.func
def same_side(a, b, c, delta):
    """True if the origin and d are on the same side of the plane of a, b, c."""
    n = (b - a).cross(c - a)
    x = n.dot(delta - a)
    y = -n.dot(a)
    return (x > 0.0 and y > 0.0) or (x < 0.0 and y < 0.0)


@ti.func
def holds_origin(a, b, c, delta):
    """True if the origin is inside the tetrahedron."""
    found = True
    for _ in range(4):
        found = found and same_side(a, b, c, delta)
        t = a
        a = b
        b = c
        c = delta
        delta = t
    return found


@ti.func
def in_triangle(a, b, c, p):
    """True if p is a point of the triangle."""
    w = barycentric(a, b, c, p)
    inside = not (w[0] < 0.0 or w[1] < 0.0 or w[2] < 0.0)
    return inside and (w[0] * a + w[1] * b + w[2] * c - p).norm() < ti.max(MINVAL, ROUNDING * p.norm())


@func
def first_polytope(m, d, kind, dist, fb, ib, ff, fi, mp):
    """Builds the faces of the first polytope over a simplex of `kind` vertices, and the list of candidates.

    Returns 1 if it is good; 0 if it cannot be used; -1 if the origin lies on one of its faces, whose corners are then
    the first vertices of the worker's list.
    """
    good = 1
    bad = -1
    nface = 4 if kind == 4 else 6
    v0 = vertex(m, d, fb, FIRST)
    v1 = vertex(m, d, fb, FIRST + 1)
    v2 = vertex(m, d, fb, FIRST + 2)
    v3 = vertex(m, d, fb, FIRST + 3)
    v4 = vertex(m, d, fb, FIRST + 4)
    if kind == 3:
        for e in range(2):
            if in_triangle(v0, v1, v2, v4 if e == 0 else v3):
                good = 0
        if dist > 10.0 * MINVAL and not holds_origin(v0, v1, v2, v4) and not holds_origin(v0, v1, v2, v3):
            good = 0
    if good == 1:
        for j in range(nface):
            if bad < 0:
                x = code_of(kind, j)
                a = FIRST + (x & 31)
                b = FIRST + (x >> 5 & 31)
                c = FIRST + (x >> 10 & 31)
                dist2 = attach(
                    m,
                    d,
                    j,
                    a,
                    b,
                    c,
                    x >> 15 & 31,
                    x >> 20 & 31,
                    x >> 25,
                    vertex(m, d, fb, a),
                    vertex(m, d, fb, b),
                    vertex(m, d, fb, c),
                    ff,
                    fi,
                )
                d.ccd_i[fi + FACE_I * j + PLACE] = j
                d.ccd_i[mp + j] = j
                if dist2 < MINVAL * MINVAL:
                    bad = j
        if bad >= 0:
            good = -1
            if kind == 3:
                good = 0
            for c in range(3):
                copy_vertex(m, d, fb, ib, corner_of(m, d, bad, c, fi), c)
        elif kind == 4:
            if not holds_origin(v0, v1, v2, v3):
                good = 0
        elif kind == 2:  # the segment must pierce the triangle around it
            u = v1 - v0
            s = vec3(
                (v2 - v0).dot((v3 - v0).cross(u)), (v3 - v0).dot((v4 - v0).cross(u)), (v4 - v0).dot((v2 - v0).cross(u))
            )
            if not (s.min() >= 0.0 or s.max() <= 0.0):
                good = 0
    return good, nface


@func
def open_up(m, d, face, w, ff, fi, mp, fr, st, hz, nmap, nfree, nroom):
    """Removes the faces that w sees, from `face` on; the edges around the hole go to the list hz in their order.

    An entry of hz and of the stack st, which have room for nroom, is 4 * face + edge. Returns the lengths of the
    candidates, free places and hz; 0 for hz if rounding has spoilt the polytope.
    """
    nedge = 0
    nstack = 0
    ww = w.dot(w)
    entry = 4 * face + 3
    while entry >= 0:
        if nstack + 2 >= nroom or nedge >= nroom:
            nedge = 0
            break
        f = entry >> 2
        e = entry & 3
        i = fi + FACE_I * f
        j = ff + FACE_F * f
        place = d.ccd_i[i + PLACE]
        least = MINVAL
        if ti.static(FP == ti.f32):
            least = ti.max(MINVAL, ROUNDING * ti.sqrt(ww * d.ccd_f[j + 3]))
        gone = place == GONE
        if not gone and (e == 3 or at3(d.ccd_f, j).dot(w) - d.ccd_f[j + 3] > least):
            if place >= 0:
                nmap -= 1
                moved = d.ccd_i[mp + nmap]
                d.ccd_i[mp + place] = moved
                d.ccd_i[fi + FACE_I * moved + PLACE] = place
            d.ccd_i[i + PLACE] = GONE
            d.ccd_i[fr + nfree] = f
            nfree += 1
            # across the two edges after e, the next one first; from the first face all three, 0 first
            d.ccd_i[st + nstack] = d.ccd_i[i + 1 + ti.select(e == 3, 2, e + ti.select(e > 0, -1, 2))]
            nstack += 1
            entry = d.ccd_i[i + 1 + ti.select(e > 1, e - 2, e + 1)]
            if e == 3:
                d.ccd_i[st + nstack] = entry
                nstack += 1
                entry = d.ccd_i[i + 1]
        else:
            d.ccd_i[hz + nedge] = entry
            nedge += ti.select(gone, 0, 1)
            nstack -= 1
            entry = -1
            if nstack >= 0:
                entry = d.ccd_i[st + nstack]
    return nmap, nfree, nedge


@func
def close_up(m, d, w, nedge, lower2, upper2, fb, ff, fi, mp, fr, st, hz, nmap, nfree, ntop, nface):
    """Joins vertex w with the edges of hz. Returns whether all new faces are good, and the lengths of the lists.

    nface  places for faces; a polytope that rounding has spoilt could need more.
    """
    good = ntop + nedge - nfree <= nface
    if not good:
        nedge = 0
    x = vertex(m, d, fb, w)
    for k in range(nedge):  # places of the new faces
        if nfree > 0:
            nfree -= 1
            d.ccd_i[st + k] = d.ccd_i[fr + nfree]
        else:
            d.ccd_i[st + k] = ntop
            ntop += 1
    before = d.ccd_i[st + ti.max(0, nedge - 1)]
    face = d.ccd_i[st]
    b = 0
    if nedge > 0:
        e = d.ccd_i[hz] & 3
        b = corner_of(m, d, d.ccd_i[hz] >> 2, ti.select(e == 2, 0, e + 1), fi)
    y = vertex(m, d, fb, b)
    for k in range(nedge):  # each starts where the one before ends
        f = d.ccd_i[hz + k] >> 2
        e = d.ccd_i[hz + k] & 3
        after = d.ccd_i[st + ti.select(k == nedge - 1, 0, k + 1)]
        d.ccd_i[fi + FACE_I * f + 1 + e] = 4 * face + 1
        c = corner_of(m, d, f, e, fi)
        z = vertex(m, d, fb, c)
        dist2 = attach(m, d, face, w, b, c, 4 * before + 2, 4 * f + e, 4 * after, x, y, z, ff, fi)
        if dist2 == 0.0:
            good = False
        d.ccd_i[mp + nmap] = face
        near = dist2 >= lower2 and dist2 <= upper2
        d.ccd_i[fi + FACE_I * face + PLACE] = ti.select(near, nmap, OUT)
        nmap += ti.select(near, 1, 0)
        before = face
        face = after
        b = c
        y = z
    return good, nmap, nfree, ntop
