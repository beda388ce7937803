"""Parts of GJK: the point of a simplex nearest to the origin, and the search for a tetrahedron around it.

Vertices of the Minkowski difference stand in the worker's memory (convex/memory.py). The distance follows M. Montanari,
N. Petrinic, E. Barbieri: "Improving the GJK algorithm for faster and more reliable distance queries between convex
objects", ACM Transactions on Graphics 36 (2017): barycentric coordinates from signed volumes. What is dropped in a tie
is chosen as in MuJoCo 3.4.0 (engine_collision_gjk.c, Apache-2.0).
"""

from ..wide import *
from .memory import vertex

FAR = 1e10  # no distance is larger
ROUNDING = 0.0 if FP == ti.f64 else 4e-7  # relative error of products that f32 must reckon with; f64 goes by MINVAL


@ti.func
def direction_of(v):
    """The unit vector along v; along x if v vanishes."""
    length = root(dot(v, v))
    u = vec3(1.0, 0.0, 0.0)
    if not length < MINVAL:
        u = v * (1.0 / length)
    return u


@ti.func
def area2(p, q, r):
    """Twice the signed area of a plane triangle."""
    plus = apart(p[0] * q[1]) + apart(p[1] * r[0]) + apart(q[0] * r[1])
    return plus - apart(p[0] * r[1]) - apart(p[1] * q[0]) - apart(r[0] * q[1])


@ti.func
def minor(p, q, i: ti.template(), j: ti.template()):
    return apart(p[i] * q[j]) - apart(p[j] * q[i])


@ti.func
def same_sign(a, b):
    return (a > 0.0 and b > 0.0) or (a < 0.0 and b < 0.0)


@ti.func
def foot_on_plane(a, b, c):
    """The origin projected on the plane of a, b, c, and whether they span one.

    The normal is taken from b; from a, then c, if the origin seems to lie on the plane or the triangle is tiny.
    """
    n = cross(c - b, b - a)
    height = dot(n, b)
    nn = dot(n, n)
    spans = nn != 0.0
    if spans and (height == 0.0 or nn <= MINVAL):
        n = cross(b - a, c - a)
        height = dot(n, a)
        nn = dot(n, n)
        spans = nn != 0.0
        if spans and (height == 0.0 or nn <= MINVAL):
            n = cross(c - a, c - b)
            height = dot(n, c)
            nn = dot(n, n)
    p = vec3(0.0, 0.0, 0.0)
    if spans:
        p = n * (height / nn)
    return p, spans


@ti.func
def shadow(a, b, c, p):
    """The triangle's shadow on the coordinate plane where it is largest: twice its signed area, and those of the
    triangles that p makes with the edges opposite a, b and c.
    """
    n = vec3(
        minor(b, c, 1, 2) - apart(a[1] * c[2]) + apart(a[2] * c[1]) + apart(a[1] * b[2]) - apart(a[2] * b[1]),
        minor(b, c, 0, 2) - apart(a[0] * c[2]) + apart(a[2] * c[0]) + apart(a[0] * b[2]) - apart(a[2] * b[0]),
        minor(b, c, 0, 1) - apart(a[0] * c[1]) + apart(a[1] * c[0]) + apart(a[0] * b[1]) - apart(a[1] * b[0]),
    )
    if ti.static(FP == ti.f32):  # the same numbers with fewer digits lost; their order decides ties in f64
        u = b - a
        v = c - a
        n = cross(u, v)
        n[1] = -n[1]
        a = a - p
        b = b - p
        c = c - p
        p = vec3(0.0, 0.0, 0.0)
    k = ti.abs(n)
    area = n[2]
    a2 = vec2(a[0], a[1])
    b2 = vec2(b[0], b[1])
    c2 = vec2(c[0], c[1])
    p2 = vec2(p[0], p[1])
    if k[0] >= k[1] and k[0] >= k[2]:
        area = n[0]
        a2 = vec2(a[1], a[2])
        b2 = vec2(b[1], b[2])
        c2 = vec2(c[1], c[2])
        p2 = vec2(p[1], p[2])
    elif k[1] >= k[2]:
        area = n[1]
        a2 = vec2(a[0], a[2])
        b2 = vec2(b[0], b[2])
        c2 = vec2(c[0], c[2])
        p2 = vec2(p[0], p[2])
    s = vec3(area2(p2, b2, c2), area2(p2, c2, a2), area2(p2, a2, b2))
    if ti.static(FP == ti.f32):
        area = s[0] + s[1] + s[2]
    return area, s


@ti.func
def barycentric(a, b, c, p):
    """Affine coordinates of a point p of the plane of a, b, c."""
    area, s = shadow(a, b, c, p)
    return over(s, area)


@ti.func
def nearest_on_segment(a, b):
    """Weights of a and b at the point of the line a, b nearest to the origin; b if that is beyond an end."""
    ab = b - a
    x = b - apart(dot(b, ab) / dot(ab, ab) * ab)
    long = a[0] - b[0]
    part = x[0] - b[0]
    rest = a[0] - x[0]
    for i in ti.static((1, 2)):
        if ti.abs(a[i] - b[i]) >= ti.abs(long):
            long = a[i] - b[i]
            part = x[i] - b[i]
            rest = a[i] - x[i]
    w = vec2(0.0, 1.0)
    if same_sign(long, part) and same_sign(long, rest):
        w = over(vec2(part, rest), long)
    return w


@ti.func
def nearest_on_triangle(a, b, c, only_ab):
    """Weights of a, b, c at the point nearest to the origin; only_ab: of the segment a, b. The edge bc is tried first;
    an end of an edge is its second corner, the newer one.
    """
    w = vec3(0.0, 1.0, 0.0)
    p, spans = foot_on_plane(a, b, c)
    inside = False
    u = vec3(0.0, 0.0, 0.0)  # edges beyond which p lies: opposite a, b, c
    if only_ab or not spans:
        u[0] = 1.0
        u[1] = 1.0
    else:
        area, s = shadow(a, b, c, p)
        inside = True
        for k in ti.static(range(3)):
            if same_sign(area, s[k]):
                u[k] = 1.0
            else:
                inside = False
        if inside:
            w = over(s, area)
    if not inside:
        best = FP(FAR * FAR)
        for k in range(3):
            tried = u[0]
            q = b
            r = c
            if k == 1:
                tried = u[1]
                q = a
            elif k == 2:
                tried = u[2]
                q = a
                r = b
            if tried == 0.0:
                t = nearest_on_segment(q, r)
                x = apart(t[0] * q) + apart(t[1] * r)
                if dot(x, x) < best:
                    best = dot(x, x)
                    if k == 0:
                        w = vec3(0.0, t[0], t[1])
                    elif k == 1:
                        w = vec3(t[0], 0.0, t[1])
                    else:
                        w = vec3(t[0], t[1], 0.0)
    return w


@func
def nearest_on_simplex(m, d, mem: ti.template(), n):
    """Weights of the first n vertices at the point of their simplex that is nearest to the origin."""
    w = vec4(1.0, 0.0, 0.0, 0.0)
    a = vertex(m, d, mem, 0)
    b = vertex(m, d, mem, 1)
    c = vertex(m, d, mem, 2)
    inside = n == 1
    outside = vec4(0.0, 0.0, 0.0, 1.0)  # faces beyond which the origin lies, named by the vertex they leave out
    if n == 4:
        e = vertex(m, d, mem, 3)
        v = vec4(-dot(b, cross(c, e)), dot(a, cross(c, e)), -dot(a, cross(b, e)), dot(a, cross(b, c)))
        total = v[0] + v[1] + v[2] + v[3]
        inside = True
        for k in ti.static(range(4)):
            outside[k] = 0.0
            if not same_sign(total, v[k]):
                outside[k] = 1.0
                inside = False
        if inside:
            w = over(v, total)
    if not inside:
        best = FP(FAR * FAR)
        for k in range(4):
            tried = outside[3]
            if k == 0:
                tried = outside[0]
            elif k == 1:
                tried = outside[1]
            elif k == 2:
                tried = outside[2]
            if tried == 1.0:
                p = vertex(m, d, mem, 1 if k == 0 else 0)
                q = vertex(m, d, mem, 2 if k <= 1 else 1)
                r = vertex(m, d, mem, 3 if k <= 2 else 2)
                if n == 2:
                    r = q
                t = nearest_on_triangle(p, q, r, n == 2)
                x = apart(t[0] * p) + apart(t[1] * q) + apart(t[2] * r)
                if dot(x, x) < best or n < 4:
                    best = dot(x, x)
                    if k == 0:
                        w = vec4(0.0, t[0], t[1], t[2])
                    elif k == 1:
                        w = vec4(t[0], 0.0, t[1], t[2])
                    elif k == 2:
                        w = vec4(t[0], t[1], 0.0, t[2])
                    else:
                        w = vec4(t[0], t[1], t[2], 0.0)
    return w


@func
def nearest_face(m, d, mem: ti.template()):
    """Of the tetrahedron whose vertices mem.order names: the face that the origin is least inside of, named
    by the vertex it leaves out, its outward normal, and the origin's depth below it; 0 depth if it lies on any face.
    """
    least = FP(FAR)
    face = 0
    normal = vec3(0.0, 0.0, 0.0)
    flat = False
    for k in range(4):
        i = 0
        j = 1
        h = 2
        if k == 0:
            i = 2
            h = 3
        elif k == 1:
            j = 2
            h = 3
        elif k == 2:
            i = 1
            j = 0
            h = 3
        a = vertex(m, d, mem, d.ccd_i[mem.order + i])
        n = cross(vertex(m, d, mem, d.ccd_i[mem.order + h]) - a, vertex(m, d, mem, d.ccd_i[mem.order + j]) - a)
        nn = dot(n, n)
        depth = FP(FAR)
        if nn > MINVAL * MINVAL and nn < FAR * FAR:
            n = n * (1.0 / root(nn))
            depth = dot(n, a)
        if ti.abs(depth) <= ROUNDING * a.norm():
            flat = True
        if depth <= least:
            least = depth
            face = k
            normal = n
    if flat:
        least = 0.0
    return face, normal, least, flat
