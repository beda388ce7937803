"""Forces of the medium on one shape that moves in it, and how they change with its velocity.

A velocity or force of six numbers is rotation first, at the shape's centre and along its axes. The box model takes the
box that has a body's inertia; the ellipsoid model takes each geom by itself: added mass, Magnus and Kutta lift, blunt
and slender drag, and viscous resistance. Model: the chapter *Fluid forces* of MuJoCo's documentation; ellipsoid model:
Andersen, Pesavento, Wang 2005, and Lamb, "Hydrodynamics".
"""

from ..spatial import cross, head, join, tail
from ..types import MINVAL, ti, vec3

PI = 3.141592653589793


@ti.func
def box_force(v, box, density, viscosity):
    """Force on a box of these edges [m] that moves with v."""
    w, u = head(v), tail(v)
    mean = (box[0] + box[1] + box[2]) / 3.0
    turn, slide = box_drag(box, density)
    torque = -PI * mean * mean * mean * viscosity * w
    force = -3.0 * PI * mean * viscosity * u
    for c in ti.static(range(3)):
        torque[c] -= turn[c] * ti.abs(w[c]) * w[c]
        force[c] -= slide[c] * ti.abs(u[c]) * u[c]
    return join(torque, force)


@ti.func
def box_rate(v, dv, box, density, viscosity):
    """Change of box_force as v changes by dv."""
    w, u, dw, du = head(v), tail(v), head(dv), tail(dv)
    mean = (box[0] + box[1] + box[2]) / 3.0
    turn, slide = box_drag(box, density)
    torque = -PI * mean * mean * mean * viscosity * dw
    force = -3.0 * PI * mean * viscosity * du
    for c in ti.static(range(3)):
        torque[c] -= 2.0 * turn[c] * ti.abs(w[c]) * dw[c]
        force[c] -= 2.0 * slide[c] * ti.abs(u[c]) * du[c]
    return join(torque, force)


@ti.func
def box_drag(box, density):
    """Quadratic drag of a box about and along its axes."""
    turn, slide = vec3(0.0), vec3(0.0)
    for c in ti.static(range(3)):
        a, b = box[(c + 1) % 3], box[(c + 2) % 3]
        turn[c] = density * box[c] * (a * a * a * a + b * b * b * b) / 64.0
        slide[c] = 0.5 * density * a * b
    return turn, slide


@ti.func
def added_mass(v, mass, inertia, density):
    """Force of the medium that is carried along."""
    w, u = head(v), tail(v)
    p, L = density * mass * u, density * inertia * w
    return join(cross(p, u) + cross(L, w), cross(p, w))


@ti.func
def added_mass_rate(v, dv, mass, inertia, density):
    w, u, dw, du = head(v), tail(v), head(dv), tail(dv)
    p, L = density * mass * u, density * inertia * w
    dp, dL = density * mass * du, density * inertia * dw
    return join(cross(dp, u) + cross(p, du) + cross(dL, w) + cross(L, dw), cross(dp, w) + cross(p, dw))


@ti.func
def silhouette(u, s):
    """Of an ellipsoid of half axes s that moves with u: the area that it shows, a normal of its silhouette (of no
    length in particular), how that is turned from u, and by what these change relatively: numerator, denominator.
    """
    a = vec3(s[1] * s[2], s[2] * s[0], s[0] * s[1])
    n = a * a * u
    num, den = n.dot(u), n.dot(n)
    area = PI * ti.sqrt(den / ti.max(MINVAL, num))
    speed = ti.sqrt(u.dot(u))
    cosine = num / ti.max(MINVAL, speed * den)
    return n, area, cosine, num, den


@ti.func
def extents(s):
    """Largest, middle and smallest of the half axes."""
    most = ti.max(s[0], ti.max(s[1], s[2]))
    least = ti.min(s[0], ti.min(s[1], s[2]))
    return most, s[0] + s[1] + s[2] - most - least, least


@ti.func
def turning(s, slender, angular):
    """Quadratic angular drag about each axis."""
    most, middle, _ = extents(s)
    largest = 8.0 / 15.0 * PI * middle * most * most * most * most
    k = vec3(0.0)
    for c in ti.static(range(3)):
        r = ti.max(s[(c + 1) % 3], s[(c + 2) % 3])
        about = 8.0 / 15.0 * PI * s[c] * r * r * r * r
        k[c] = angular * about + slender * (largest - about)
    return k


@ti.func
def ellipsoid_force(v, s, coef, density, viscosity):
    """Lift and drag of an ellipsoid of half axes s; coef: blunt, slender, angular drag, Kutta and Magnus lift."""
    w, u = head(v), tail(v)
    volume = 4.0 / 3.0 * PI * s[0] * s[1] * s[2]
    most, middle, _ = extents(s)
    n, area, cosine, num, den = silhouette(u, s)
    mean = 2.0 / 3.0 * (s[0] + s[1] + s[2])
    force = coef[4] * density * volume * cross(w, u)
    force += coef[3] * density * cosine * area * cross(cross(n, u), u)
    speed = ti.sqrt(u.dot(u))
    shown = area * coef[0] + coef[1] * (PI * most * middle - area)
    force -= (3.0 * PI * mean * viscosity + density * speed * shown) * u
    moment = turning(s, coef[1], coef[2]) * w
    torque = -(PI * mean * mean * mean * viscosity + density * ti.sqrt(moment.dot(moment))) * w
    return join(torque, force)


@ti.func
def ellipsoid_rate(v, dv, s, coef, density, viscosity):
    """Change of ellipsoid_force as v changes by dv. MINVAL stands where MuJoCo has it, and is not small there: with
    half axes of 5 cm, below half a metre per second, the area that is shown changes less than it should.
    """
    w, u, dw, du = head(v), tail(v), head(dv), tail(dv)
    volume = 4.0 / 3.0 * PI * s[0] * s[1] * s[2]
    most, middle, _ = extents(s)
    n, area, _, num, den = silhouette(u, s)
    a = vec3(s[1] * s[2], s[2] * s[0], s[0] * s[1])
    dnum, dden = n.dot(du), n.dot(a * a * du)  # halves of their changes
    speed2 = u.dot(u)
    speed = ti.sqrt(speed2)
    mean = 2.0 / 3.0 * (s[0] + s[1] + s[2])
    force = coef[4] * density * volume * (cross(dw, u) + cross(w, du))
    lift = cross(cross(n, u), u)
    dlift = num * (cross(cross(a * a * du, u) + cross(n, du), u) + cross(cross(n, u), du))
    dlift += (dnum - num / ti.max(MINVAL, den) * dden - num / ti.max(MINVAL, speed2) * u.dot(du)) * lift
    force += coef[3] * density * PI / ti.max(MINVAL, ti.sqrt(den * num * speed2)) * dlift
    shown = area * coef[0] + coef[1] * (PI * most * middle - area)
    darea = PI * (dden * num - dnum * den) / ti.max(MINVAL, ti.sqrt(num * num * num * den))
    force -= (3.0 * PI * mean * viscosity + density * speed * shown) * du
    dspeed = u.dot(du) / ti.max(MINVAL, speed)
    force -= density * (dspeed * shown + speed * darea * (coef[0] - coef[1])) * u
    k = turning(s, coef[1], coef[2])
    moment = k * w
    size = ti.sqrt(moment.dot(moment))
    dsize = moment.dot(k * dw) / ti.max(MINVAL, size)
    torque = -(PI * mean * mean * mean * viscosity + density * size) * dw - density * dsize * w
    return join(torque, force)
