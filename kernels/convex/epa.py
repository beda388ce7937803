"""Parts of EPA: a polytope inside the Minkowski difference grows around the origin until its nearest face is a face of
the difference, whose distance is the penetration depth.

The polytope's vertices are those of the worker's list from FIRST on; its faces and lists of faces stand in the worker's
memory too (convex/memory.py), their lengths in the Search (convex/search.py).
Method: G. van den Bergen, "Proximity queries and penetration depth computation on 3D game objects", GDC 2001. First
polytopes, order of faces and what ends the search are those of MuJoCo 3.4.0 (engine_collision_gjk.c, Apache-2.0).
"""

from ..rotation import at3
from ..wide import *
from .gjk import ROUNDING, barycentric, foot_on_plane
from .memory import (
    ACROSS,
    BITS,
    CORNERS,
    DIST2,
    FIRST,
    FOOT,
    OUT,
    PLACE,
    REMOVED,
    SPARE,
    copy_vertex,
    corner_of,
    face_f,
    face_i,
    nfacemax,
    put3,
    vertex,
)

MADE, UNUSABLE, ON_FACE = range(3)  # what became of the first polytope
ivec3 = ti.types.vector(3, ti.i32)
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
def attach(m, d, mem: ti.template(), face, corners, across):
    """Writes a face with these vertices and what is across its edges 01, 12, 20, 4 * neighbour + that one's edge.

    Returns its squared distance, 0 if it is degenerate.
    """
    i = face_i(mem, face)
    d.ccd_i[i + CORNERS] = corners[0] + (corners[1] << BITS) + (corners[2] << 2 * BITS)
    for e in ti.static(range(3)):
        d.ccd_i[i + ACROSS + e] = across[e]
    first = vertex(m, d, mem, corners[0])
    p, spans = foot_on_plane(vertex(m, d, mem, corners[2]), vertex(m, d, mem, corners[1]), first)
    dist2 = dot(p, p)  # 0 if they span no plane
    if ti.static(FP == ti.f32):
        if not spans or dist2 < ROUNDING * ROUNDING * dot(first, first):
            dist2 = 0.0
    put3(d.ccd_f, face_f(mem, face) + FOOT, p)
    d.ccd_f[face_f(mem, face) + DIST2] = dist2
    return dist2


@ti.func
def same_side(a, b, c, p):
    """True if the origin and p are on the same side of the plane of a, b, c."""
    n = cross(b - a, c - a)
    x = dot(n, p - a)
    y = -dot(n, a)
    return (x > 0.0 and y > 0.0) or (x < 0.0 and y < 0.0)


@ti.func
def holds_origin(a, b, c, e):
    """True if the origin is inside the tetrahedron."""
    found = True
    for _ in range(4):
        found = found and same_side(a, b, c, e)
        first = a
        a = b
        b = c
        c = e
        e = first
    return found


@ti.func
def in_triangle(a, b, c, p):
    """True if p is a point of the triangle."""
    w = barycentric(a, b, c, p)
    inside = not (w[0] < 0.0 or w[1] < 0.0 or w[2] < 0.0)
    off = apart(w[0] * a) + apart(w[1] * b) + apart(w[2] * c) - p
    return inside and root(dot(off, off)) < ti.max(MINVAL, ROUNDING * p.norm())


@func
def encloses(m, d, mem: ti.template(), dist):
    """False if the first polytope over a triangle cannot hold the origin, at this distance from the simplex."""
    a = vertex(m, d, mem, FIRST)
    b = vertex(m, d, mem, FIRST + 1)
    c = vertex(m, d, mem, FIRST + 2)
    below = vertex(m, d, mem, FIRST + 3)
    above = vertex(m, d, mem, FIRST + 4)
    good = True
    for e in range(2):
        if in_triangle(a, b, c, above if e == 0 else below):
            good = False
    if dist > 10.0 * MINVAL and not holds_origin(a, b, c, above) and not holds_origin(a, b, c, below):
        good = False
    return good


@func
def pierces(m, d, mem: ti.template()):
    """True if the segment of the first polytope's two ends pierces the triangle around it."""
    end = vertex(m, d, mem, FIRST)
    u = vertex(m, d, mem, FIRST + 1) - end
    x = vertex(m, d, mem, FIRST + 2) - end
    y = vertex(m, d, mem, FIRST + 3) - end
    z = vertex(m, d, mem, FIRST + 4) - end
    side = vec3(dot(x, cross(y, u)), dot(y, cross(z, u)), dot(z, cross(x, u)))
    return side.min() >= 0.0 or side.max() <= 0.0


@func
def first_polytope(m, d, mem: ti.template(), s: ti.template()):
    """Builds the faces of the first polytope over a simplex of s.kind vertices, and the list of candidates.

    Returns MADE; UNUSABLE if it cannot be used; ON_FACE if the origin lies on one of its faces, whose corners are then
    the first vertices of the worker's list.
    """
    result = MADE
    s.ncandidate = 4 if s.kind == 4 else 6
    s.nface = s.ncandidate
    s.nfree = 0
    if s.kind == 3 and not encloses(m, d, mem, s.dist):
        result = UNUSABLE
    if result == MADE:
        bad = -1
        for j in range(s.nface):
            if bad < 0:
                x = code_of(s.kind, j)
                corners = FIRST + ivec3(x & 31, x >> 5 & 31, x >> 10 & 31)
                dist2 = attach(m, d, mem, j, corners, ivec3(x >> 15 & 31, x >> 20 & 31, x >> 25))
                d.ccd_i[face_i(mem, j) + PLACE] = j
                d.ccd_i[mem.candidates + j] = j
                if dist2 < MINVAL * MINVAL:
                    bad = j
        if bad >= 0:
            result = UNUSABLE if s.kind == 3 else ON_FACE
            for c in range(3):
                copy_vertex(m, d, mem, corner_of(m, d, mem, bad, c), c)
        elif s.kind == 4:
            a = vertex(m, d, mem, FIRST)
            b = vertex(m, d, mem, FIRST + 1)
            if not holds_origin(a, b, vertex(m, d, mem, FIRST + 2), vertex(m, d, mem, FIRST + 3)):
                result = UNUSABLE
        elif s.kind == 2:
            if not pierces(m, d, mem):
                result = UNUSABLE
    return result


@func
def remove_face(m, d, mem: ti.template(), s: ti.template(), face):
    """Takes a face out of the list of candidates, whose last one takes its place, and frees its own place."""
    place = d.ccd_i[face_i(mem, face) + PLACE]
    if place >= 0:
        s.ncandidate -= 1
        moved = d.ccd_i[mem.candidates + s.ncandidate]
        d.ccd_i[mem.candidates + place] = moved
        d.ccd_i[face_i(mem, moved) + PLACE] = place
    d.ccd_i[face_i(mem, face) + PLACE] = REMOVED
    d.ccd_i[mem.free + s.nfree] = face
    s.nfree += 1


@func
def open_up(m, d, mem: ti.template(), s: ti.template(), first, w):
    """Removes the faces that w sees, from the first one on; the edges around the hole go to mem.hole in their order.

    An entry of that list and of the stack is 4 * face + edge; edge 3 stands for the whole first face. Returns the
    number of edges; 0 if rounding has spoilt the polytope.
    """
    nroom = nfacemax(m, d) + SPARE  # of either list
    nedge = 0
    nstack = 0
    ww = dot(w, w)
    entry = 4 * first + 3
    while entry >= 0:
        if nstack + 2 >= nroom or nedge >= nroom:
            nedge = 0
            break
        face = entry >> 2
        e = entry & 3
        i = face_i(mem, face)
        j = face_f(mem, face)
        dist2 = d.ccd_f[j + DIST2]
        least = MINVAL
        if ti.static(FP == ti.f32):
            least = ti.max(MINVAL, ROUNDING * ti.sqrt(ww * dist2))
        gone = d.ccd_i[i + PLACE] == REMOVED
        if not gone and (e == 3 or dot(at3(d.ccd_f, j + FOOT), w) - dist2 > least):
            remove_face(m, d, mem, s, face)
            # across the two edges after e, the next one first; from the first face all three, 0 first
            d.ccd_i[mem.stack + nstack] = d.ccd_i[i + ACROSS + ti.select(e == 3, 2, e + ti.select(e > 0, -1, 2))]
            nstack += 1
            entry = d.ccd_i[i + ACROSS + ti.select(e > 1, e - 2, e + 1)]
            if e == 3:
                d.ccd_i[mem.stack + nstack] = entry
                nstack += 1
                entry = d.ccd_i[i + ACROSS]
        else:
            d.ccd_i[mem.hole + nedge] = entry
            nedge += ti.select(gone, 0, 1)
            nstack -= 1
            entry = -1
            if nstack >= 0:
                entry = d.ccd_i[mem.stack + nstack]
    return nedge


@func
def take_places(m, d, mem: ti.template(), s: ti.template(), n):
    """Puts places for n new faces on the stack: first those that are free."""
    for k in range(n):
        if s.nfree > 0:
            s.nfree -= 1
            d.ccd_i[mem.stack + k] = d.ccd_i[mem.free + s.nfree]
        else:
            d.ccd_i[mem.stack + k] = s.nface
            s.nface += 1


@func
def close_up(m, d, mem: ti.template(), s: ti.template(), w, nedge):
    """Joins vertex w with the edges of the hole. Returns whether all new faces are good."""
    good = s.nface + nedge - s.nfree <= nfacemax(m, d)  # a polytope that rounding has spoilt could need more
    if not good:
        nedge = 0
    take_places(m, d, mem, s, nedge)
    before = d.ccd_i[mem.stack + ti.max(0, nedge - 1)]
    face = d.ccd_i[mem.stack]
    b = 0
    if nedge > 0:
        e = d.ccd_i[mem.hole] & 3
        b = corner_of(m, d, mem, d.ccd_i[mem.hole] >> 2, ti.select(e == 2, 0, e + 1))
    for k in range(nedge):  # each starts where the one before ends
        entry = d.ccd_i[mem.hole + k]
        after = d.ccd_i[mem.stack + ti.select(k == nedge - 1, 0, k + 1)]
        d.ccd_i[face_i(mem, entry >> 2) + ACROSS + (entry & 3)] = 4 * face + 1
        c = corner_of(m, d, mem, entry >> 2, entry & 3)
        dist2 = attach(m, d, mem, face, ivec3(w, b, c), ivec3(4 * before + 2, entry, 4 * after))
        if dist2 == 0.0:
            good = False
        d.ccd_i[mem.candidates + s.ncandidate] = face
        near = dist2 >= s.lower2 and dist2 <= s.upper * s.upper
        d.ccd_i[face_i(mem, face) + PLACE] = ti.select(near, s.ncandidate, OUT)
        s.ncandidate += ti.select(near, 1, 0)
        before = face
        face = after
        b = c
    return good
