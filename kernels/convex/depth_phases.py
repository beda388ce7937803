"""What each turn of the search does once the shapes overlap: EPA, from the first polytope to the nearest face.

A phase either sets what the next support point is for, or takes it in (`take_...`, y being the vertex it makes).
"""

from ..rotation import at3
from ..wide import *
from .distance_phases import ask
from .epa import MADE, ON_FACE, UNUSABLE, close_up, first_polytope, open_up
from .gjk import FAR, ROUNDING, barycentric
from .memory import DIST2, FIRST, FOOT, copy_vertex, corner_of, face_f, number, point, vertex
from .search import BUILD, DONE, EXPAND, touch_of

SIN120 = 0.86602540378


@ti.func
def third_of_turn(axis):
    """Matrix of a rotation by 120 degrees about an axis of any length."""
    u = over(axis, ti.max(root(dot(axis, axis)), MINVAL))
    v = apart(FP(SIN120) * u)
    return mat3(
        -0.5 + apart(u[0] * u[0] * 1.5),
        apart(u[0] * u[1] * 1.5) - v[2],
        apart(u[0] * u[2] * 1.5) + v[1],
        apart(u[1] * u[0] * 1.5) + v[2],
        -0.5 + apart(u[1] * u[1] * 1.5),
        apart(u[1] * u[2] * 1.5) - v[0],
        apart(u[0] * u[2] * 1.5) - v[1],
        apart(u[1] * u[2] * 1.5) + v[0],
        -0.5 + apart(u[2] * u[2] * 1.5),
    )


@func
def enter_simplex(m, d, mem: ti.template(), s: ti.template()):
    """Copies the simplex to the polytope's vertices, and finds a direction off a segment or triangle."""
    for c in range(s.kind):
        copy_vertex(m, d, mem, c, FIRST + c)
    s.nvert = s.kind
    a = vertex(m, d, mem, 0)
    s.axis = vertex(m, d, mem, 1) - a
    if s.kind == 2:
        q = ti.abs(s.axis)
        e = vec3(0.0, 0.0, 1.0)
        if q[0] <= q[1] and q[0] <= q[2]:
            e = vec3(1.0, 0.0, 0.0)
        elif q[1] <= q[2]:
            e = vec3(0.0, 1.0, 0.0)
        s.side = cross(e, s.axis)
    elif s.kind == 3:
        edge = vertex(m, d, mem, 2) - a
        s.side = -cross(s.axis, edge)
        if s.side.norm() < ti.max(MINVAL, ROUNDING * s.axis.norm() * edge.norm()):
            s.dist = 0.0
            s.phase = DONE


@func
def build(m, d, mem: ti.template(), s: ti.template()):
    """BUILD: around a segment three vertices, on both sides of a triangle one; then the first polytope is made."""
    if s.nvert == 0:
        enter_simplex(m, d, mem, s)
    if s.phase == BUILD:
        if s.nvert < 5 and s.kind < 4:
            length = root(dot(s.side, s.side))
            direction = vec3(1.0, 0.0, 0.0)
            if length > MINVAL:
                direction = over(s.side, length)
            ask(s, FIRST + s.nvert, direction)
        else:
            found = first_polytope(m, d, mem, s)
            s.dist = 0.0  # touching
            s.phase = DONE
            if found == MADE:
                s.phase = EXPAND
                s.k = 0
                s.upper = FAR
            elif found == UNUSABLE:
                s.failed = True
            elif found == ON_FACE:  # once more from the face that the origin lies on
                s.kind = 3
                s.nvert = 0
                s.phase = BUILD


@ti.func
def take_build(s: ti.template()):
    """BUILD: a vertex of the first polytope."""
    s.nvert += 1
    if s.kind == 2:
        s.side = times(third_of_turn(s.axis), s.side)
    else:
        s.side = -s.side


@func
def nearest_candidate(m, d, mem: ti.template(), s: ti.template()):
    """The candidate nearest to the origin, -1 if there is none, and its squared distance."""
    least = FP(FAR * FAR)
    best = -1
    for c in range(s.ncandidate):
        face = d.ccd_i[mem.candidates + c]
        dist2 = d.ccd_f[face_f(mem, face) + DIST2]
        if dist2 < least:
            least = dist2
            best = face
    return best, least


@func
def aim_beyond_nearest(m, d, mem: ti.template(), s: ti.template()):
    """EXPAND: beyond the polytope's nearest face; if there is none, the one before was it."""
    if s.k >= d.niter:
        s.phase = DONE
    else:
        s.face, s.lower2 = nearest_candidate(m, d, mem, s)
        if s.face < 0 or s.lower2 > s.upper * s.upper:
            s.phase = DONE
        else:
            s.foot = at3(d.ccd_f, face_f(mem, s.face) + FOOT)
            s.foot2 = s.lower2
            for c in ti.static(range(3)):
                s.corner[c] = corner_of(m, d, mem, s.face, c)
            if s.lower2 <= 0.0:
                s.phase = DONE
            else:
                ask(s, FIRST + s.nvert, over(s.foot, root(s.lower2)))


@func
def is_known(m, d, mem: ti.template(), k):
    """True if the polytope has a vertex of the same two corners as its vertex k."""
    known = False
    for c in range(FIRST, k):
        if number(m, d, mem, c, 0) == number(m, d, mem, k, 0) and number(m, d, mem, c, 1) == number(m, d, mem, k, 1):
            known = True
    return known


@func
def take_expand(m, d, mem: ti.template(), s: ti.template(), y):
    """EXPAND: the polytope's new vertex, unless it is no farther out than the face."""
    s.nvert += 1
    lower = root(s.lower2)
    s.own = dot(s.foot, y) / lower
    if ti.static(m.has.closing):
        if s.own < s.upper:
            s.held = s.corner
            s.held_foot = s.foot * (s.own / lower)
    s.upper = ti.min(s.upper, s.own)
    again = False
    if s.flat:
        again = is_known(m, d, mem, s.at)
    close = m.opt.ccd_tolerance
    if s.flat:  # to the last face
        close = MINVAL
    if ti.static(FP == ti.f32):
        close = ti.max(close, ti.select(s.flat, 0.25, 1.0) * ROUNDING * y.norm())
    if s.upper - lower < close or again:
        s.phase = DONE
    else:
        s.k += 1
        nedge = open_up(m, d, mem, s, s.face, y)
        good = nedge >= 3
        if good:
            good = close_up(m, d, mem, s, s.at, nedge)
        if not good:
            s.corner[0] = -1
            s.failed = True
            s.phase = DONE
        elif s.ncandidate == 0:
            s.phase = DONE


@func
def is_false(m, s: ti.template()):
    """True if a distance was asked for, and the depth is more than the shapes can overlap: they just touch, and the
    polytope misses the origin. Contacts are MuJoCo's, which has no such test.
    """
    depth = ti.sqrt(s.foot2)
    return s.cutoff > 0.0 and s.near > 0.0 and depth > ti.max(s.most, 0.0) + 2.0 * touch_of(m, s)


@func
def take_depth(m, d, mem: ti.template(), s: ti.template()):
    """The depth, and the points of either shape that belong to the origin's projection on the last face; the nearest
    points that GJK found where the depth is false.
    """
    turned = False
    if ti.static(m.has.closing):
        turned = s.own > s.upper + touch_of(m, s)  # what ended it was known of another face, perhaps across the shapes
        if turned:
            s.corner = s.held
            s.foot = s.held_foot
            s.foot2 = dot(s.foot, s.foot)
    if is_false(m, s):
        s.dist = s.near
        s.corner[0] = -1
    else:
        a = vertex(m, d, mem, s.corner[0])
        t = barycentric(a, vertex(m, d, mem, s.corner[1]), vertex(m, d, mem, s.corner[2]), s.foot)
        s.p1 = vec3(0.0, 0.0, 0.0)
        s.p2 = vec3(0.0, 0.0, 0.0)
        for c in ti.static(range(3)):
            s.p1 += t[c] * point(m, d, mem, s.corner[c], 0)
            s.p2 += t[c] * point(m, d, mem, s.corner[c], 1)
        s.dist = -ti.sqrt(s.foot2)
        if turned:
            error = 0.5 * (s.foot - (s.p1 - s.p2))
            s.p1 += error
            s.p2 -= error
