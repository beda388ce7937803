"""Distance and penetration of two convex shapes: GJK, then EPA where they overlap.

`ccd` is one loop over support points, so that the support function, the longest part, is compiled once: each turn asks
for a point in some direction and hands it to the phase that wanted it. Spheres and capsules are first taken as point
and segment, and only if those overlap at full size. Rules, tolerances and the order of decisions are those of MuJoCo
3.4.0 (mjc_ccd in engine_collision_gjk.c, Apache-2.0).
"""

from ..constants import BOX, CAPSULE, HFIELD, MESH, SPHERE
from ..rotation import at3
from ..types import *
from .epa import FACE_F, FACE_I, FIRST, close_up, corner_of, first_polytope, open_up
from .gjk import (
    FAR,
    ROUNDING,
    VERT_F,
    VERT_I,
    barycentric,
    copy_vertex,
    nearest_face,
    nearest_on_simplex,
    vertex,
)
from .multiccd import NPOLY_F, NPOLY_I
from .support import (
    BOTTOM,
    INFLATE,
    POS,
    RADIUS,
    ROUND,
    SHAPE_F,
    SHAPE_I,
    TOP,
    TYPE,
    VERTEX,
    put3,
    support,
)

# what the next support point is for; REDUCE and ENDED need none
NEAREST, REDUCE, ENDED, SEARCH, BUILD, EXPAND, DONE = range(7)
SIN120 = 0.86602540378
MAXTRY = 5  # starts of a search that fails in f32


def scratch_size(niter, npoly):
    """Numbers and integers of a worker's scratch memory for this many iterations and corners of a mesh's polygon."""
    nvert, nface = niter + FIRST + 5, 2 * niter + 12
    size_i = VERT_I * nvert + (FACE_I + 4) * nface + 20 + 2 * SHAPE_I
    size_f = VERT_F * nvert + FACE_F * nface + 2 * SHAPE_F
    return size_f + NPOLY_F * npoly, size_i + NPOLY_I * npoly


@func
def nvertmax(m, d):
    """Vertices of a worker's list for this many iterations."""
    return d.niter + FIRST + 5


@func
def nfacemax(m, d):
    """Faces that can exist at once: each expansion adds two."""
    return 2 * d.niter + 12


@func
def shapes_f(m, d, fb):
    """Where the numbers of a worker's shapes start."""
    return fb + VERT_F * nvertmax(m, d) + FACE_F * nfacemax(m, d)


@func
def shapes_i(m, d, ib):
    """Where the integers of a worker's shapes start: behind vertices, faces, four lists of faces, an order of four."""
    return ib + VERT_I * nvertmax(m, d) + (FACE_I + 4) * nfacemax(m, d) + 20


@func
def center(m, d, s, sf, si):
    """Where the search starts: a geom's position, the mean of a prism's corners."""
    f = sf + s * SHAPE_F
    x = at3(d.ccd_f, f + POS)
    if d.ccd_i[si + s * SHAPE_I + TYPE] == HFIELD:
        x = vec3(0.0, 0.0, 0.0)
        for k in range(6):
            p = at3(d.ccd_f, f + TOP + 3 * (k % 3))
            if k < 3:
                p[2] = d.ccd_f[f + BOTTOM]
            x += p
        x *= 1.0 / 6.0
    return x


@ti.func
def third_of_turn(axis):
    """Matrix of a rotation by 120 degrees about an axis of any length."""
    u = axis / ti.max(axis.norm(), MINVAL)
    v = SIN120 * u
    return mat3(
        -0.5 + u[0] * u[0] * 1.5,
        u[0] * u[1] * 1.5 - v[2],
        u[0] * u[2] * 1.5 + v[1],
        u[1] * u[0] * 1.5 + v[2],
        -0.5 + u[1] * u[1] * 1.5,
        u[1] * u[2] * 1.5 - v[0],
        u[0] * u[2] * 1.5 - v[1],
        u[1] * u[2] * 1.5 + v[0],
        -0.5 + u[2] * u[2] * 1.5,
    )


@func
def witness(m, d, w, n, fb):
    """The points of the two shapes that belong to weights of the first n vertices."""
    p1 = vec3(0.0, 0.0, 0.0)
    p2 = vec3(0.0, 0.0, 0.0)
    for c in ti.static(range(4)):
        if c < n:
            p1 += w[c] * at3(d.ccd_f, fb + VERT_F * c + 3)
            p2 += w[c] * at3(d.ccd_f, fb + VERT_F * c + 6)
    return p1, p2


@ti.func
def is_flat(gtype):
    return gtype == BOX or gtype == MESH or gtype == HFIELD


@func
def ccd(m, d, fb, ib, tolerance, cutoff, half1, half2):
    """Signed distance of a worker's two shapes, inflated by half1 and half2, the nearest points or those of deepest
    penetration, and the corners of the polytope's face they lie on (-1: none).

    niter   most iterations, of GJK and of EPA each.
    cutoff  distances above it need not be known; 0: only overlap counts. FAR is returned for shapes farther apart.
    """
    sf = shapes_f(m, d, fb)
    si = shapes_i(m, d, ib)
    ff = fb + VERT_F * nvertmax(m, d)
    fi = ib + VERT_I * nvertmax(m, d)
    mp = fi + FACE_I * nfacemax(m, d)  # candidates
    fr = mp + nfacemax(m, d)  # free places
    st = fr + nfacemax(m, d)  # stack
    hz = st + nfacemax(m, d) + 8  # edges around a hole
    order = si - 4
    type1 = d.ccd_i[si + TYPE]
    type2 = d.ccd_i[si + SHAPE_I + TYPE]
    full1 = d.ccd_f[sf + RADIUS] + half1
    full2 = d.ccd_f[sf + SHAPE_F + RADIUS] + half2
    round1 = type1 == SPHERE or type1 == CAPSULE
    round2 = type2 == SPHERE or type2 == CAPSULE
    core = round1 or round2
    flat = is_flat(type1) and is_flat(type2) and half1 == 0.0 and half2 == 0.0
    x1 = center(m, d, 0, sf, si)
    x2 = center(m, d, 1, sf, si)
    x = x1 - x2
    for s in range(2):
        d.ccd_f[sf + SHAPE_F * s + ROUND] = 0.0
    d.ccd_f[sf + INFLATE] = 0.0 if round1 else ti.max(half1, 0.0)
    d.ccd_f[sf + SHAPE_F + INFLATE] = 0.0 if round2 else ti.max(half2, 0.0)
    reach = cutoff
    if core:
        reach = cutoff + (full1 if round1 else 0.0) + (full2 if round2 else 0.0)
    exact = reach > 0.0  # the distance is wanted, not only whether they overlap
    shortcut = not exact
    eps = 0.0 if flat else 0.5 * tolerance * tolerance
    dist = FAR
    p1 = x1
    p2 = x2
    w = vec4(1.0, 0.0, 0.0, 0.0)
    n = 0
    k = 0
    kind = 0
    at = 0
    direction = vec3(1.0, 0.0, 0.0)
    side = vec3(0.0, 0.0, 0.0)  # first direction off a segment or triangle
    axis = vec3(0.0, 0.0, 0.0)
    nvert = 0
    nmap = 0
    nfree = 0
    ntop = 0
    lower2 = 0.0
    upper = FAR
    foot = vec3(0.0, 0.0, 0.0)
    foot2 = 0.0
    corner = ti.Vector([-1, -1, -1], ti.i32)
    before = foot
    before2 = foot2
    corner_before = corner
    size = 0.0  # of the Minkowski difference, as far as it was seen
    failed = False
    ntry = 1
    phase = NEAREST
    while phase != DONE:
        ask = False
        if phase == SEARCH:
            face, normal, depth, on_face = nearest_face(m, d, order, fb)
            if k >= d.niter or on_face:
                phase = REDUCE
                shortcut = False
            elif depth > 0.0:
                for c in range(4):
                    copy_vertex(m, d, fb, ib, d.ccd_i[order + c], c)
                n = 4
                dist = 0.0
                phase = ENDED
            else:
                at = d.ccd_i[order + face]
                direction = normal
                kind = face
                ask = True
        if phase == REDUCE:
            w = nearest_on_simplex(m, d, n + 1, fb)
            n = 0
            v = vec4(0.0, 0.0, 0.0, 0.0)
            y = vec3(0.0, 0.0, 0.0)
            for c in ti.static(range(4)):
                if w[c] != 0.0:
                    if n != c:
                        copy_vertex(m, d, fb, ib, c, n)
                    y += w[c] * vertex(m, d, fb, n)
                    for e in ti.static(range(4)):
                        if e == n:
                            v[e] = w[c]
                    n += 1
            w = v
            change = ti.abs(y - x).max()
            phase = NEAREST
            if n == 0:
                dist = FAR
                phase = DONE
            elif not change >= MINVAL or (ROUNDING > 0.0 and exact and k > 0 and not y.dot(y) < x.dot(x)):
                phase = ENDED
            else:
                if ti.static(FP == ti.f32):
                    p1, p2 = witness(m, d, w, n, fb)
                x = y
                k += 1
                if n == 4:
                    dist = 0.0
                    phase = ENDED
                elif k >= d.niter:
                    phase = ENDED
        if phase == NEAREST:
            xx = x.dot(x)
            at = n
            dist = ti.sqrt(xx)
            if xx < MINVAL * MINVAL:
                phase = ENDED
            else:
                direction = -x * (1.0 / dist)
                ask = True
        if phase == ENDED:
            if dist > 0.0 and ROUNDING == 0.0:  # f32 keeps those of the nearest simplex
                p1, p2 = witness(m, d, w, n, fb)
            phase = DONE
            touch = tolerance
            if ti.static(FP == ti.f32):
                touch = ti.max(tolerance, 2.0 * ROUNDING * size)
            if core:
                if dist > touch:
                    normal = p2 - p1
                    length = normal.norm()
                    if length < MINVAL:
                        normal = vec3(1.0, 0.0, 0.0)
                    else:
                        normal *= 1.0 / length
                    thick1 = full1 if round1 else 0.0
                    thick2 = full2 if round2 else 0.0
                    p1 += thick1 * normal
                    p2 -= thick2 * normal
                    dist -= thick1 + thick2
                    if dist > cutoff:
                        dist = FAR
                else:
                    core = False
                    for s in range(2):
                        d.ccd_f[sf + SHAPE_F * s + ROUND] = d.ccd_f[sf + SHAPE_F * s + RADIUS]
                        d.ccd_f[sf + SHAPE_F * s + INFLATE] = ti.max(half1 if s == 0 else half2, 0.0)
                    x = x1 - x2
                    n = 0
                    k = 0
                    exact = cutoff > 0.0
                    shortcut = not exact
                    reach = cutoff
                    phase = NEAREST
            elif dist <= touch and n > 1:
                kind = n
                nvert = 0
                phase = BUILD
        if phase == BUILD and nvert == 0:
            for c in range(kind):
                copy_vertex(m, d, fb, ib, c, FIRST + c)
            nvert = kind
            a = vertex(m, d, fb, 0)
            axis = vertex(m, d, fb, 1) - a
            if kind == 2:
                q = ti.abs(axis)
                e = vec3(0.0, 0.0, 1.0)
                if q[0] <= q[1] and q[0] <= q[2]:
                    e = vec3(1.0, 0.0, 0.0)
                elif q[1] <= q[2]:
                    e = vec3(0.0, 1.0, 0.0)
                side = e.cross(axis)
            elif kind == 3:
                side = -axis.cross(vertex(m, d, fb, 2) - a)
                if side.norm() < ti.max(MINVAL, ROUNDING * axis.norm() * (vertex(m, d, fb, 2) - a).norm()):
                    dist = 0.0
                    phase = DONE
        if phase == BUILD:
            if nvert < 5 and kind < 4:
                length = side.norm()
                direction = vec3(1.0, 0.0, 0.0)
                if length > MINVAL:
                    direction = side / length
                at = FIRST + nvert
                ask = True
            else:
                good, ntop = first_polytope(m, d, kind, dist, fb, ib, ff, fi, mp)
                dist = 0.0  # touching
                phase = DONE
                nmap = ntop
                nfree = 0
                if good == 1:
                    phase = EXPAND
                    k = 0
                    upper = FAR
                elif good == 0:
                    failed = True
                elif good == -1:  # once more from the face that the origin lies on
                    kind = 3
                    nvert = 0
                    phase = BUILD
        if phase == EXPAND and k >= d.niter:
            phase = DONE
        if phase == EXPAND:
            before = foot
            before2 = foot2
            corner_before = corner
            lower2 = FAR * FAR
            best = -1
            for c in range(nmap):
                f = d.ccd_i[mp + c]
                if d.ccd_f[ff + FACE_F * f + 3] < lower2:
                    lower2 = d.ccd_f[ff + FACE_F * f + 3]
                    best = f
            if best >= 0:
                foot = at3(d.ccd_f, ff + FACE_F * best)
                foot2 = lower2
                for c in ti.static(range(3)):
                    corner[c] = corner_of(m, d, best, c, fi)
            if best < 0 or lower2 > upper * upper:
                foot = before
                foot2 = before2
                corner = corner_before
                phase = DONE
            elif lower2 <= 0.0:
                phase = DONE
            else:
                direction = foot / ti.sqrt(lower2)
                at = FIRST + nvert
                kind = best
                ask = True
        if ask:
            y = vec3(0.0, 0.0, 0.0)
            for s in range(2):
                p = support(m, d, s, ti.select(s == 0, direction, -direction), sf, si)
                put3(d.ccd_f, fb + VERT_F * at + 3 + 3 * s, p)
                d.ccd_i[ib + VERT_I * at + s] = d.ccd_i[si + SHAPE_I * s + VERTEX]
                y = p - y
            y = -y
            put3(d.ccd_f, fb + VERT_F * at, y)
            size = ti.max(size, y.norm())
            along = direction.dot(y)
            if phase == NEAREST:
                xy = x.dot(y)
                xx = x.dot(x)
                if x.dot(x - y) < ti.max(eps, ROUNDING * ti.sqrt(xx * ti.max(xx, y.dot(y)))):
                    if k == 0:
                        n = 1
                    phase = ENDED
                elif xy > 0.0 and (not exact or xy * xy / xx >= reach * reach):
                    dist = FAR
                    phase = DONE
                elif n == 3 and shortcut:
                    for c in range(4):
                        copy_vertex(m, d, fb, ib, c, 4 + c)
                        d.ccd_i[order + c] = 4 + c
                    phase = SEARCH
                else:
                    phase = REDUCE
            elif phase == SEARCH:
                if along < 0.0:
                    dist = FAR
                    phase = DONE
                else:
                    k += 1
                    i = order + ((kind + 1) & 3)
                    j = order + ((kind + 2) & 3)
                    moved = d.ccd_i[i]
                    d.ccd_i[i] = d.ccd_i[j]
                    d.ccd_i[j] = moved
            elif phase == BUILD:
                nvert += 1
                if kind == 2:  # a third of a turn around the segment
                    side = third_of_turn(axis) @ side
                else:
                    side = -side
            elif phase == EXPAND:
                nvert += 1
                lower = ti.sqrt(lower2)
                upper = ti.min(upper, foot.dot(y) / lower)
                again = False
                if flat:  # a pair of corners that is a vertex already
                    i = ib + VERT_I * at
                    for c in range(FIRST, at):
                        if d.ccd_i[ib + VERT_I * c] == d.ccd_i[i] and d.ccd_i[ib + VERT_I * c + 1] == d.ccd_i[i + 1]:
                            again = True
                close = tolerance
                if ti.static(FP == ti.f64):
                    if flat:
                        close = MINVAL
                else:
                    close = ti.max(tolerance, ROUNDING * y.norm())
                if upper - lower < close or again:
                    phase = DONE
                else:
                    k += 1
                    nmap, nfree, nedge = open_up(m, d, kind, y, ff, fi, mp, fr, st, hz, nmap, nfree, nfacemax(m, d) + 8)
                    good = nedge >= 3
                    if good:
                        good, nmap, nfree, ntop = close_up(
                            m,
                            d,
                            at,
                            nedge,
                            lower2,
                            upper * upper,
                            fb,
                            ff,
                            fi,
                            mp,
                            fr,
                            st,
                            hz,
                            nmap,
                            nfree,
                            ntop,
                            nfacemax(m, d),
                        )
                    if not good:
                        corner[0] = -1
                        failed = True
                        phase = DONE
                    elif nmap == 0:
                        phase = DONE
        if ti.static(FP == ti.f32):
            if failed and ntry < MAXTRY and phase == DONE:  # rounding spoilt the polytope: from another start
                x = x1 - x2 + 0.01 * size * vec3(ntry & 1, ntry >> 1 & 1, 1 - ntry // 2)
                ntry += 1
                failed = False
                n = 0
                k = 0
                dist = FAR
                shortcut = not exact
                phase = NEAREST
    if corner[0] >= 0:
        t = barycentric(vertex(m, d, fb, corner[0]), vertex(m, d, fb, corner[1]), vertex(m, d, fb, corner[2]), foot)
        p1 = vec3(0.0, 0.0, 0.0)
        p2 = vec3(0.0, 0.0, 0.0)
        for c in ti.static(range(3)):
            p1 += t[c] * at3(d.ccd_f, fb + VERT_F * corner[c] + 3)
            p2 += t[c] * at3(d.ccd_f, fb + VERT_F * corner[c] + 6)
        dist = -ti.sqrt(foot2)
    return dist, p1, p2, corner
