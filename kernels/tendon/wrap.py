"""The shortest path from one point to another round a sphere or cylinder, or through the inside of it.

The rules are those of MuJoCo's mju_wrap; tisim/mjcf/reference/tendon_path.py has the same in NumPy for the compiler,
and tests hold the two together. Seed 000, "Tendon length and moment"; seed 001, "tendon/spatial".
"""

from ..wide import FP, MINVAL, mat3, ti, vec2, vec3

# Newton's method for inner wrapping: most iterations, start, tolerance [rad]; MuJoCo's, to end where MuJoCo ends.
MAX_ITERATIONS, START, TOLERANCE = 20, 1 - 1e-7, 1e-6
NO_WAY = -10000.0  # how good a pair of tangents is whose lines cross: worse than any other


@ti.func
def unit2(v):
    """Unit vector; the first axis where there is no length."""
    n = ti.sqrt(v.dot(v))
    r = vec2(1.0, 0.0)
    if n >= MINVAL:
        r = v / n
    return r


@ti.func
def unit3(v):
    """Unit vector; the first axis where there is no length."""
    n = ti.sqrt(v.dot(v))
    r = vec3(1.0, 0.0, 0.0)
    if n >= MINVAL:
        r = v / n
    return r


@ti.func
def arcsin(x):
    return ti.asin(ti.max(FP(-1.0), ti.min(FP(1.0), x)))


@ti.func
def crosses(p1, p2, p3, p4):
    """1 if the segments p1 p2 and p3 p4 meet."""
    a, b, c = p2 - p1, p4 - p3, p1 - p3
    det = b[1] * a[0] - b[0] * a[1]
    meet = 0
    if ti.abs(det) >= MINVAL:
        s = (b[0] * c[1] - b[1] * c[0]) / det
        t = (a[0] * c[1] - a[1] * c[0]) / det
        if s >= 0.0 and s <= 1.0 and t >= 0.0 and t <= 1.0:
            meet = 1
    return meet


@ti.func
def is_free(d0, d1, side, has_side, radius):
    """1 if the straight line from d0 to d1 passes the circle on the right side, or cannot be wrapped."""
    square = radius * radius
    along = d1 - d0
    dd = along.dot(along)
    free = 0
    if d0.dot(d0) < square or d1.dot(d1) < square or radius < MINVAL or dd < MINVAL:
        free = 1
    else:
        nearest = d0 + along * ti.max(FP(0.0), ti.min(FP(1.0), -along.dot(d0) / dd))
        if nearest.dot(nearest) > square and (has_side == 0 or side.dot(nearest) >= 0.0):
            free = 1
    return free


@ti.func
def outside(d0, d1, side, has_side, radius):
    """Path round a circle: arc [m], -1 where the line is free, and the points where it touches.

    side  a point on the circle, on the side where the path is to be, if has_side.
    """
    t0, t1 = vec2(0.0), vec2(0.0)
    arc = FP(-1.0)
    if is_free(d0, d1, side, has_side, radius) == 0:
        square = radius * radius
        s0, s1 = d0.dot(d0), d1.dot(d1)
        r0, r1 = ti.sqrt(ti.max(s0 - square, FP(0.0))), ti.sqrt(ti.max(s1 - square, FP(0.0)))
        best = FP(0.0)
        way = 0
        meet = 0
        for k in range(2):  # round one way, then the other
            sign = ti.cast(1 - 2 * k, FP) * radius
            u0 = (square * d0 + sign * r0 * vec2(d0[1], -d0[0])) / s0
            u1 = (square * d1 - sign * r1 * vec2(d1[1], -d1[0])) / s1
            good = -(u0 - u1).dot(u0 - u1)
            if has_side == 1:
                good = unit2(u0 + u1).dot(side)
            meets = crosses(d0, u0, d1, u1)
            if meets == 1:
                good = FP(NO_WAY)
            if k == 0 or not best > good:
                best, way, meet = good, k, meets
                t0, t1 = u0, u1
        if meet == 0:
            turn = t0[1] * t1[0] - t0[0] * t1[1]
            angle = ti.atan2(ti.abs(turn), t0.dot(t1))
            if ti.static(FP == ti.f64):  # as MuJoCo, whose small angles are right to 1e-8
                angle = ti.acos(ti.max(FP(-1.0), ti.min(FP(1.0), unit2(t0).dot(unit2(t1)))))
            if (turn > 0.0 and way == 1) or (turn < 0.0 and way == 0):
                angle = 2.0 * ti.math.pi - angle
            arc = radius * angle
    return arc, t0, t1


@ti.func
def reaches_in(d0, d1, radius):
    """1 if both ends are outside the circle and the line between them does not enter it."""
    along = d1 - d0
    dd = along.dot(along)
    ok = 1
    if d0.dot(d0) <= radius * radius or d1.dot(d1) <= radius * radius or radius < MINVAL:
        ok = 0
    elif dd > MINVAL:
        part = -along.dot(d0) / dd
        middle = d0 + along * part
        if part > 0.0 and part < 1.0 and middle.dot(middle) <= radius * radius:
            ok = 0
    return ok


@ti.func
def inner_angle(a, b, gap):
    """Sine of the angle between the radius at the touching point and both pieces of the path, -1 if not found.

    a, b  the radius over the distances of the ends;  gap  angle between the ends, seen from the centre.
    """
    start = FP(START)
    z = start
    f = arcsin(a * z) + arcsin(b * z) - 2.0 * arcsin(z) + gap
    works = 1
    if f > 0.0:
        works = 0
    n = 0
    while works == 1 and n < MAX_ITERATIONS and ti.abs(f) > TOLERANCE:
        slope = a / ti.max(MINVAL, ti.sqrt(ti.max(1.0 - z * z * a * a, FP(0.0))))
        slope += b / ti.max(MINVAL, ti.sqrt(ti.max(1.0 - z * z * b * b, FP(0.0))))
        slope -= 2.0 / ti.max(MINVAL, ti.sqrt(ti.max(1.0 - z * z, FP(0.0))))
        if slope > -MINVAL:
            works = 0
        else:
            z1 = z - f / slope
            if z1 > z:
                works = 0
            else:
                z = z1
                f = arcsin(a * z) + arcsin(b * z) - 2.0 * arcsin(z) + gap
                if f > TOLERANCE:
                    works = 0
        n += 1
    if works == 0 or ti.abs(f) > TOLERANCE:
        z = FP(-1.0)
    return z


@ti.func
def inner_angle_f32(a, b, gap):
    """The same by Newton's method for the angle, not its sine, which f32 cannot tell from 1 near the end.

    The function falls ever faster, so that iterations from the right go down to its zero, if there is one.
    """
    angle = FP(0.5 * ti.math.pi)
    z = FP(-1.0)
    if arcsin(a) + arcsin(b) - 2.0 * angle + gap <= 0.0:
        for _ in range(MAX_ITERATIONS):
            s, c = ti.sin(angle), ti.cos(angle)
            f = arcsin(a * s) + arcsin(b * s) - 2.0 * angle + gap
            slope = a * c / ti.sqrt(1.0 - a * a * s * s) + b * c / ti.sqrt(1.0 - b * b * s * s) - 2.0
            if slope < -MINVAL:
                angle -= f / slope
        z = ti.sin(angle)
    return z


@ti.func
def inside(d0, d1, radius):
    """Path that touches a circle from the outer side of a point inside: 0, or -1 where it is free, and the point.

    The angles of both pieces to the radius are equal there; where no such point is found, it is the direction halfway
    between the ends.
    """
    arc = FP(-1.0)
    point = vec2(0.0)
    if reaches_in(d0, d1, radius) == 1:
        l0, l1 = ti.sqrt(d0.dot(d0)), ti.sqrt(d1.dot(d1))
        cosine = (l0 * l0 + l1 * l1 - (d1 - d0).dot(d1 - d0)) / (2.0 * l0 * l1)
        if cosine >= -1.0 + MINVAL:
            arc = FP(0.0)
            point = radius * unit2(0.5 * (d0 + d1))
            if cosine <= 1.0 - MINVAL:
                a, b = radius / l0, radius / l1
                gap = ti.acos(ti.max(FP(-1.0), ti.min(FP(1.0), cosine)))
                z = FP(0.0)
                if ti.static(FP == ti.f64):
                    z = inner_angle(a, b, gap)
                else:
                    z = inner_angle_f32(a, b, gap)
                if z >= 0.0:
                    begin, ratio = d1, b
                    if d0[0] * d1[1] - d0[1] * d1[0] > 0.0:
                        begin, ratio = d0, a
                    angle = arcsin(z) - arcsin(ratio * z)
                    c, s = ti.cos(angle), ti.sin(angle)
                    v = unit2(begin)
                    point = radius * vec2(c * v[0] - s * v[1], s * v[0] + c * v[1])
    return arc, point


@ti.func
def path_plane(p0, p1):
    """Axes of the plane of the origin and two points; the first one points to p0."""
    x = unit3(p0)
    normal = p0.cross(p1)
    if normal.dot(normal) < MINVAL * MINVAL:
        other = vec3(0.0, 1.0, 1.0)
        if ti.abs(x[1]) > ti.abs(x[0]) and ti.abs(x[1]) >= ti.abs(x[2]):
            other = vec3(1.0, 0.0, 1.0)
        elif ti.abs(x[2]) > ti.abs(x[0]) and ti.abs(x[2]) > ti.abs(x[1]):
            other = vec3(1.0, 1.0, 0.0)
        normal = x.cross(other)
    return x, unit3(unit3(normal).cross(x))


@ti.func
def wrap(x0, x1, center, frame, radius, cylinder, side, has_side):
    """Path from x0 to x1 round a sphere or cylinder, on the side of the point `side` if has_side.

    A side point inside the geom makes the path pass through the inside: it touches the surface in one point, arc 0.
    Returns arc [m], -1 where the straight line is free, and the two touching points, world frame.
    """
    back = frame.transpose()
    p0, p1, s = back @ (x0 - center), back @ (x1 - center), back @ (side - center)
    axis0, axis1 = vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)
    if cylinder == 0:
        axis0, axis1 = path_plane(p0, p1)
    d0 = vec2(axis0.dot(p0), axis1.dot(p0))
    d1 = vec2(axis0.dot(p1), axis1.dot(p1))
    arc = FP(-1.0)
    t0, t1 = vec2(0.0), vec2(0.0)
    if p0.dot(p0) >= MINVAL * MINVAL and p1.dot(p1) >= MINVAL * MINVAL:
        if has_side == 1 and s.dot(s) < radius * radius:
            arc, t0 = inside(d0, d1, radius)
            t1 = t0
        else:
            arc, t0, t1 = outside(d0, d1, radius * unit2(vec2(axis0.dot(s), axis1.dot(s))), has_side, radius)
    a = t0[0] * axis0 + t0[1] * axis1
    b = t1[0] * axis0 + t1[1] * axis1
    if cylinder == 1 and arc >= 0.0:
        # a helix, straight when the surface is unrolled
        before, after = ti.sqrt((d0 - t0).dot(d0 - t0)), ti.sqrt((d1 - t1).dot(d1 - t1))
        total = before + arc + after
        rise = p1[2] - p0[2]
        if total > 0.0:
            rise /= total
        a[2] = p0[2] + rise * before
        b[2] = p0[2] + rise * (before + arc)
        arc = ti.sqrt(arc * arc + (b[2] - a[2]) * (b[2] - a[2]))
    turn = mat3(frame)
    return arc, center + turn @ a, center + turn @ b
