"""What each turn of the search does while the shapes may be apart: GJK, and a tetrahedron searched for the origin.

A phase either sets what the next support point is for, or takes it in (`take_...`, y being the vertex it makes).
"""

from ..wide import *
from .gjk import FAR, ROUNDING, direction_of, nearest_face, nearest_on_simplex
from .memory import copy_vertex, point, vertex
from .search import BUILD, DONE, ENDED, NEAREST, REDUCE, SEARCH, START, thickness, touch_of


@func
def witness(m, d, mem: ti.template(), s: ti.template()):
    """Notes the points of the two shapes that belong to the simplex's nearest point."""
    s.p1 = vec3(0.0, 0.0, 0.0)
    s.p2 = vec3(0.0, 0.0, 0.0)
    for c in ti.static(range(4)):
        if c < s.n:
            s.p1 += s.w[c] * point(m, d, mem, c, 0)
            s.p2 += s.w[c] * point(m, d, mem, c, 1)


@ti.func
def ask(s: ti.template(), at, direction):
    """Asks for a support point, to be put at this place of the list of vertices."""
    s.at = at
    s.direction = direction
    s.ask = True


@func
def aim_at_origin(m, d, mem: ti.template(), s: ti.template()):
    """NEAREST: on from the simplex's nearest point towards the origin."""
    xx = dot(s.x, s.x)
    s.dist = root(xx)
    if xx < MINVAL * MINVAL:
        s.phase = ENDED
    else:
        ask(s, s.n, -s.x * (1.0 / s.dist))


@func
def take_nearest(m, d, mem: ti.template(), s: ti.template(), y):
    """NEAREST: the simplex's new vertex, unless the end is reached."""
    eps = 0.0 if s.flat else 0.5 * m.opt.ccd_tolerance * m.opt.ccd_tolerance
    xy = dot(s.x, y)
    xx = dot(s.x, s.x)
    s.most = ti.min(s.most, -xy / s.dist)
    if dot(s.x, s.x - y) < ti.max(eps, ROUNDING * ti.sqrt(xx * ti.max(xx, dot(y, y)))):
        if s.k == 0:
            s.n = 1
        s.phase = ENDED
    elif xy > 0.0 and (not s.exact or xy * xy / xx >= s.reach * s.reach):
        s.dist = FAR
        s.phase = DONE
    elif s.n == 3 and s.shortcut:
        for c in range(4):
            copy_vertex(m, d, mem, c, 4 + c)
            d.ccd_i[mem.order + c] = 4 + c
        s.phase = SEARCH
    else:
        s.phase = REDUCE


@func
def drop_vertices(m, d, mem: ti.template(), s: ti.template(), w):
    """Keeps the vertices that have a weight; returns the point that the weights make of them."""
    s.n = 0
    s.w = vec4(0.0, 0.0, 0.0, 0.0)
    y = vec3(0.0, 0.0, 0.0)
    for c in ti.static(range(4)):
        if w[c] != 0.0:
            if s.n != c:
                copy_vertex(m, d, mem, c, s.n)
            y += apart(w[c] * vertex(m, d, mem, s.n))
            for e in ti.static(range(4)):
                if e == s.n:
                    s.w[e] = w[c]
            s.n += 1
    return y


@func
def reduce_simplex(m, d, mem: ti.template(), s: ti.template()):
    """REDUCE: to the vertices of the simplex that its nearest point needs."""
    y = drop_vertices(m, d, mem, s, nearest_on_simplex(m, d, mem, s.n + 1))
    change = ti.abs(y - s.x).max()
    s.phase = NEAREST
    if s.n == 0:
        s.dist = FAR
        s.phase = DONE
    elif not change >= MINVAL or (ROUNDING > 0.0 and s.exact and s.k > 0 and not dot(y, y) < dot(s.x, s.x)):
        s.phase = ENDED
    else:
        if ti.static(FP == ti.f32):
            witness(m, d, mem, s)
        s.x = y
        s.k += 1
        if s.n == 4:
            s.dist = 0.0
            s.phase = ENDED
        elif s.k >= d.niter:
            s.phase = ENDED


@func
def aim_beyond_face(m, d, mem: ti.template(), s: ti.template()):
    """SEARCH: beyond the tetrahedron's face that the origin is least inside of."""
    face, normal, depth, on_face = nearest_face(m, d, mem)
    if s.k >= d.niter or on_face:
        s.phase = REDUCE
        s.shortcut = False
    elif depth > 0.0:
        for c in range(4):
            copy_vertex(m, d, mem, d.ccd_i[mem.order + c], c)
        s.n = 4
        s.dist = 0.0
        s.phase = ENDED
    else:
        s.face = face
        ask(s, d.ccd_i[mem.order + face], normal)


@func
def take_search(m, d, mem: ti.template(), s: ti.template(), y):
    """SEARCH: the tetrahedron's new corner, turned so that its faces look outwards again."""
    if dot(s.direction, y) < 0.0:
        s.dist = FAR
        s.phase = DONE
    else:
        s.k += 1
        i = mem.order + ((s.face + 1) & 3)
        j = mem.order + ((s.face + 2) & 3)
        moved = d.ccd_i[i]
        d.ccd_i[i] = d.ccd_i[j]
        d.ccd_i[j] = moved


@func
def thicken(m, d, mem: ti.template(), s: ti.template()):
    """From the distance of the cores to that of the round shapes."""
    normal = direction_of(s.p2 - s.p1)
    thick1 = thickness(m, d, mem, s, 0)
    thick2 = thickness(m, d, mem, s, 1)
    s.p1 += thick1 * normal
    s.p2 -= thick2 * normal
    s.dist -= thick1 + thick2
    if s.dist > s.cutoff:
        s.dist = FAR


@func
def end_distance(m, d, mem: ti.template(), s: ti.template()):
    """ENDED: the distance is known; where the shapes touch or overlap, it goes on with full shapes, or the depth."""
    if s.dist > 0.0 and ROUNDING == 0.0:  # f32 keeps those of the nearest simplex
        witness(m, d, mem, s)
    s.near = s.dist
    touch = touch_of(m, s)
    s.phase = DONE
    if s.core:
        if s.dist > touch:
            thicken(m, d, mem, s)
        else:
            s.core = False
            s.phase = START
    elif s.dist <= touch and s.n > 1:
        s.kind = s.n
        s.nvert = 0
        s.phase = BUILD
