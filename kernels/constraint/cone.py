"""The cost of one contact as a function of its residual acceleration, and that function's derivatives.

j is the residual Jx - aref in the contact frame: normal, two tangents, spin, two rolls; components at and beyond the
contact's dim are zero. A pyramidal cone penalises its 2(dim - 1) edges j0 +- mu_k j_k, an elliptic one the distance
from the cone, in three zones. Seed 000, "Constraint model" and "Convex solver".
"""

from ..spatial import head, join, symmetric, tail
from ..types import (
    FP,
    MINVAL,
    func,
    store,
    ti,
    vec3,
    vec6,
)

vec2f = ti.types.vector(2, FP)
vec7 = ti.types.vector(7, FP)


@func
def cone_force(m, d, j, dim, D, mu, fri):
    """(cost, force[6]) of a contact. D of the normal, regularised mu, fri[k] friction of component k >= 1."""
    out = vec7(0.0)
    if dim == 1:
        if j[0] < 0.0:
            out[0] = 0.5 * D * j[0] * j[0]
            out[1] = -D * j[0]
    elif ti.static(not m.has.elliptic):
        for k in ti.static(range(1, m.has.dims)):
            if k < dim:
                a = ti.min(j[0] + fri[k] * j[k], 0.0)
                b = ti.min(j[0] - fri[k] * j[k], 0.0)
                out[0] += 0.5 * D * (a * a + b * b)
                out[1] -= D * (a + b)
                out[1 + k] = -D * (a - b) * fri[k]
    else:
        n = j[0] * mu
        t = tangent_norm(j, fri)
        if mu * n + t <= 0.0 or (t < MINVAL and n < 0.0):  # bottom: every row is a quadratic
            out[0] = 0.5 * D * j[0] * j[0]
            out[1] = -D * j[0]
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    dk = D * m.opt.impratio * fri[k] * fri[k] / (fri[1] * fri[1])
                    out[0] += 0.5 * dk * j[k] * j[k]
                    out[1 + k] = -dk * j[k]
        elif n < mu * t:  # middle: distance to the cone
            dm = D / (mu * mu * (1.0 + mu * mu))
            e = n - mu * t
            out[0] = 0.5 * dm * e * e
            out[1] = -dm * e * mu
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    out[1 + k] = dm * e * mu / t * fri[k] * fri[k] * j[k]
    return out


@ti.func
def tangent_norm(j, fri):
    s = 0.0
    for k in ti.static(range(1, 6)):
        s += fri[k] * fri[k] * j[k] * j[k]
    return ti.sqrt(s)


@func
def cone_rows(m, d, old, new, dim, mu, fri):
    """(rows that act at residual `new`, those that came or went since `old`): edges, or all rows of an elliptic cone by
    its zone."""
    active = 0.0
    changed = 0.0
    if dim == 1:
        active = ti.select(new[0] < 0.0, 1.0, 0.0)
        changed = ti.abs(active - ti.select(old[0] < 0.0, 1.0, 0.0))
    elif ti.static(not m.has.elliptic):
        for k in ti.static(range(1, m.has.dims)):
            if k < dim:
                up = ti.select(new[0] + fri[k] * new[k] < 0.0, 1.0, 0.0)
                down = ti.select(new[0] - fri[k] * new[k] < 0.0, 1.0, 0.0)
                active += up + down
                changed += ti.abs(up - ti.select(old[0] + fri[k] * old[k] < 0.0, 1.0, 0.0))
                changed += ti.abs(down - ti.select(old[0] - fri[k] * old[k] < 0.0, 1.0, 0.0))
    else:
        zone = zone_of(new, mu, fri)
        active = ti.select(zone > 0, ti.cast(dim, FP), 0.0)
        changed = ti.select(zone != zone_of(old, mu, fri), ti.cast(dim, FP), 0.0)
    return vec2f(active, changed)


@ti.func
def zone_of(j, mu, fri):
    """Zone of an elliptic cone: 0 top, 1 middle, 2 bottom."""
    n = j[0] * mu
    t = tangent_norm(j, fri)
    zone = ti.select(n < mu * t, 1, 0)
    if mu * n + t <= 0.0 or (t < MINVAL and n < 0.0):
        zone = 2
    return zone


@func
def cone_line(m, d, j, p, alpha, dim, D, mu, fri):
    """First and second derivative of the cost along j + alpha p."""
    d1 = 0.0
    d2 = 0.0
    n0 = j[0] + alpha * p[0]
    if dim == 1:
        if n0 < 0.0:
            d1 = D * n0 * p[0]
            d2 = D * p[0] * p[0]
    elif ti.static(not m.has.elliptic):
        for k in ti.static(range(1, m.has.dims)):
            if k < dim:
                e = fri[k] * (j[k] + alpha * p[k])
                pe = fri[k] * p[k]
                if n0 + e < 0.0:
                    d1 += D * (n0 + e) * (p[0] + pe)
                    d2 += D * (p[0] + pe) * (p[0] + pe)
                if n0 - e < 0.0:
                    d1 += D * (n0 - e) * (p[0] - pe)
                    d2 += D * (p[0] - pe) * (p[0] - pe)
    else:
        v = j + alpha * p
        n = n0 * mu
        t = tangent_norm(v, fri)
        if mu * n + t <= 0.0 or (t < MINVAL and n < 0.0):
            d1 = D * n0 * p[0]
            d2 = D * p[0] * p[0]
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    dk = D * m.opt.impratio * fri[k] * fri[k] / (fri[1] * fri[1])
                    d1 += dk * v[k] * p[k]
                    d2 += dk * p[k] * p[k]
        elif n < mu * t:
            dm = D / (mu * mu * (1.0 + mu * mu))
            up = 0.0
            pp = 0.0
            for k in ti.static(range(1, m.has.dims)):
                up += fri[k] * fri[k] * v[k] * p[k]
                pp += fri[k] * fri[k] * p[k] * p[k]
            e = n - mu * t
            e1 = p[0] * mu - mu * up / t
            t2 = (pp - up * up / (t * t)) / t
            d1 = dm * e * e1
            d2 = dm * (e1 * e1 - e * mu * t2)
    return vec2f(d1, d2)


@func
def cone_hessian(m, d, j, dim, D, mu, fri):
    """Second derivative of the cost as h, g, e, a, q: in the contact frame it is [h, g'; g, diag(e) + a q q']."""
    h = 0.0
    a = 0.0
    g = vec6(0.0)
    e = vec6(0.0)
    q = vec6(0.0)
    if dim == 1:
        if j[0] < 0.0:
            h = D
    elif ti.static(not m.has.elliptic):
        for k in ti.static(range(1, m.has.dims)):
            if k < dim:
                up = ti.select(j[0] + fri[k] * j[k] < 0.0, D, FP(0.0))
                down = ti.select(j[0] - fri[k] * j[k] < 0.0, D, FP(0.0))
                h += up + down
                g[k] = fri[k] * (up - down)
                e[k] = fri[k] * fri[k] * (up + down)
    else:
        n = j[0] * mu
        t = tangent_norm(j, fri)
        if mu * n + t <= 0.0 or (t < MINVAL and n < 0.0):
            h = D
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    e[k] = D * m.opt.impratio * fri[k] * fri[k] / (fri[1] * fri[1])
        elif n < mu * t:
            dm = D / (mu * mu * (1.0 + mu * mu))
            h = dm * mu * mu
            a = dm * mu * n / (t * t * t)
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    q[k] = fri[k] * fri[k] * j[k]
                    g[k] = -dm * mu * mu * q[k] / t
                    e[k] = dm * (mu * mu - mu * n / t) * fri[k] * fri[k]
    return h, g, e, a, q


@ti.func
def pushes(f0, f1, f2, h, g, e, a, q):
    """The Hessian of translations in the world frame, xx yy zz xy xz yz, from what cone_hessian gives and the axes of
    the contact's frame."""
    gv = g[1] * f1 + g[2] * f2
    qv = q[1] * f1 + q[2] * f2
    x = vec6(0.0)
    for r in ti.static(range(3)):
        x[r] = h * f0[r] * f0[r] + 2.0 * f0[r] * gv[r] + e[1] * f1[r] * f1[r] + e[2] * f2[r] * f2[r] + a * qv[r] * qv[r]
    for r, s in ti.static(((0, 1), (0, 2), (1, 2))):
        x[r + s + 2] = (
            h * f0[r] * f0[s]
            + f0[r] * gv[s]
            + gv[r] * f0[s]
            + e[1] * f1[r] * f1[s]
            + (e[2] * f2[r] * f2[s] + a * qv[r] * qv[s])
        )
    return x


@func
def store_hessian(m, d, c, dim, h, g, e, a, q):
    """con_hess* of contact c, with respect to the relative twist in the world frame, from what cone_hessian gives."""
    x = pushes(d.contact_frame[c, 0], d.contact_frame[c, 1], d.contact_frame[c, 2], h, g, e, a, q)
    store(d.con_hess, c, x)
    if ti.static(m.has.torsion):
        if dim > 3:
            f0 = d.contact_frame[c, 0]
            f1 = d.contact_frame[c, 1]
            f2 = d.contact_frame[c, 2]
            qv = q[1] * f1 + q[2] * f2
            gw = g[3] * f0 + g[4] * f1 + g[5] * f2
            qw = q[3] * f0 + q[4] * f1 + q[5] * f2
            for r in ti.static(range(3)):
                for s in ti.static(range(3)):
                    d.con_hess_mix[c][r, s] = f0[r] * gw[s] + a * qv[r] * qw[s]
                d.con_hess_rot[c][r] = (
                    e[3] * f0[r] * f0[r] + e[4] * f1[r] * f1[r] + e[5] * f2[r] * f2[r] + a * qw[r] * qw[r]
                )
            for r, s in ti.static(((0, 1), (0, 2), (1, 2))):
                d.con_hess_rot[c][r + s + 2] = (
                    e[3] * f0[r] * f0[s] + e[4] * f1[r] * f1[s] + e[5] * f2[r] * f2[s] + a * qw[r] * qw[s]
                )


@func
def hessian_times(m, d, c, dim, twist):
    """Wrench on body 2 (torque at the contact point, force) = world Hessian of contact c times a relative twist."""
    u = tail(twist)
    force = symmetric(d.con_hess, c) @ u
    torque = vec3(0.0)
    if ti.static(m.has.torsion):
        if dim > 3:
            w = head(twist)
            torque = symmetric(d.con_hess_rot, c) @ w
            for r in ti.static(range(3)):
                for s in ti.static(range(3)):
                    force[r] += d.con_hess_mix[c][r, s] * w[s]
                    torque[s] += d.con_hess_mix[c][r, s] * u[r]
    return join(torque, force)


@ti.func
def to_contact(c, twist, dim, frame: ti.template()):
    """Components of a relative twist in the frame of contact c, zero at and beyond dim."""
    w = head(twist)
    u = tail(twist)
    out = vec6(0.0)
    out[0] = frame[c, 0].dot(u)
    if dim > 1:
        out[1] = frame[c, 1].dot(u)
        out[2] = frame[c, 2].dot(u)
    if dim > 3:
        out[3] = frame[c, 0].dot(w)
    if dim > 4:
        out[4] = frame[c, 1].dot(w)
        out[5] = frame[c, 2].dot(w)
    return out


@ti.func
def to_world(c, f, frame: ti.template()):
    """Wrench (torque, force) in the world frame of contact-frame forces f."""
    f0 = frame[c, 0]
    f1 = frame[c, 1]
    f2 = frame[c, 2]
    force = f[0] * f0 + f[1] * f1 + f[2] * f2
    torque = f[3] * f0 + f[4] * f1 + f[5] * f2
    return join(torque, force)


@func
def load_parameters(m, d, c):
    """Friction coefficients by component: [0, slide, slide, spin, roll, roll]."""
    f = vec6(0.0)
    for k in ti.static(range(5)):
        f[k + 1] = d.contact_friction[c][k]
    return f


@func
def force_of(m, d, c):
    """Force of contact c by components, from what its rows have: con_edge."""
    dim = d.contact_dim[c]
    fri = load_parameters(m, d, c)
    f = vec6(0.0)
    if ti.static(m.has.elliptic):
        for k in ti.static(range(m.has.dims)):
            if k < dim:
                f[k] = d.con_edge[c][k]
    else:
        f[0] = d.con_edge[c][0]
        if dim > 1:
            f[0] = 0.0
            for k in ti.static(range(1, m.has.dims)):
                if k < dim:
                    up = d.con_edge[c][2 * k - 2]
                    down = d.con_edge[c][2 * k - 1]
                    f[0] += up + down
                    f[k] = fri[k] * (up - down)
    return f
