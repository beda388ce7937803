"""Trees of one free body in the linear solver: their vectors are twists and wrenches, not dof vectors.

The six dofs of a free body and its twist are one change of variables apart, V = S x with S the body's cdof, so
conjugate gradients take the same road in either; twists need no products with cdof. S has unit linear columns and
orthonormal angular ones, so its inverse is explicit.
"""

from ..spatial import head, join, tail
from ..types import (
    FP,
    func,
    ti,
    vec3,
)

mat6 = ti.types.matrix(6, 6, FP)
LEAST_PIVOT = 1e-14 if FP == ti.f64 else 1e-6  # of a diagonal element; less is rounding


@func
def wrench_of_forces(m, d, i, r):
    """Wrench W with S' W = r (dof forces of the body whose first world-major dof is i)."""
    f = head(r)
    t = vec3(0.0)
    for k in ti.static(range(3)):
        s = d.cdof[i + 3 + k]
        t += (r[3 + k] - tail(s).dot(f)) * head(s)
    return join(t, f)


@func
def dofs_of_twist(m, d, i, v):
    """x with S x = v."""
    x = vec3(0.0)
    u = tail(v)
    for k in ti.static(range(3)):
        s = d.cdof[i + 3 + k]
        x[k] = head(s).dot(head(v))
        u -= x[k] * tail(s)
    return join(u, x)


@func
def twist_of_dofs(m, d, i, x):
    """S x."""
    w = vec3(0.0)
    u = head(x)
    for k in ti.static(range(3)):
        s = d.cdof[i + 3 + k]
        w += x[3 + k] * head(s)
        u += x[3 + k] * tail(s)
    return join(w, u)


@func
def forces_of_wrench(m, d, i, f):
    """S' f."""
    r = vec3(0.0)
    for k in ti.static(range(3)):
        r[k] = d.cdof[i + 3 + k].dot(f)
    return join(tail(f), r)


@ti.func
def invert_twist(b, a: ti.template()):
    """Inverse of the symmetric positive 6 x 6 matrix whose lower triangle is record b of a, in place.

    A product with the inverse has no chain of dependent operations, as two triangular solves have. It is made from
    Cholesky's factor, which stays positive where contacts are 1e10 times stiffer than the body (pyramids without
    friction); inverses by cofactors do not.
    """
    x = mat6(0.0)  # the factor, its diagonal inverted
    for i in ti.static(range(6)):
        for j in ti.static(range(i + 1)):
            s = a[b][i * (i + 1) // 2 + j]
            least = LEAST_PIVOT * s
            for k in ti.static(range(j)):
                s -= x[i, k] * x[j, k]
            if ti.static(i == j):
                x[i, i] = 1.0 / ti.sqrt(ti.max(s, least))
            else:
                x[i, j] = s * x[j, j]
    for i in ti.static(range(1, 6)):  # x becomes its inverse
        for j in ti.static(range(i)):
            s = FP(0.0)
            for k in ti.static(range(j, i)):
                s += x[i, k] * x[k, j]
            x[i, j] = -x[i, i] * s
    for i in ti.static(range(6)):
        for j in ti.static(range(i + 1)):
            s = FP(0.0)
            for k in ti.static(range(i, 6)):
                s += x[k, i] * x[k, j]
            a[b][i * (i + 1) // 2 + j] = s


@ti.func
def solve6(parts, g):
    """x with H x = g for the symmetric positive H of these angular, coupling and linear parts, by Cholesky's factor."""
    ww, vw, vv = parts
    x = mat6(0.0)  # the factor, its diagonal inverted
    y = g
    for i in ti.static(range(6)):
        for j in ti.static(range(i + 1)):
            s = FP(0.0)
            if ti.static(i < 3):
                s = ww[i, j]
            elif ti.static(j < 3):
                s = vw[i - 3, j]
            else:
                s = vv[i - 3, j - 3]
            least = LEAST_PIVOT * s
            for k in ti.static(range(j)):
                s -= x[i, k] * x[j, k]
            if ti.static(i == j):
                x[i, i] = 1.0 / ti.sqrt(ti.max(s, least))
            else:
                x[i, j] = s * x[j, j]
        for k in ti.static(range(i)):
            y[i] -= x[i, k] * y[k]
        y[i] *= x[i, i]
    for n in ti.static(range(6)):
        i = ti.static(5 - n)
        for k in ti.static(range(i + 1, 6)):
            y[i] -= x[k, i] * y[k]
        y[i] *= x[i, i]
    return y
