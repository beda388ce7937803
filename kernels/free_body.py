"""Trees of one free body in the linear solver: their vectors are twists and wrenches, not dof vectors.

The six dofs of a free body and its twist are one change of variables apart, V = S x with S the body's cdof, so
conjugate gradients take the same road in either; twists need no products with cdof. S has unit linear columns and
orthonormal angular ones, so its inverse is explicit.
"""

from tisim.kernels.spatial import head, join, tail
from tisim.kernels.types import ld6, ti, vec3, vec6


@ti.func
def wrench_of_forces(i, r, cdof: ti.template()):
    """Wrench W with S' W = r (dof forces of the body whose first world-major dof is i)."""
    f = head(r)
    t = vec3(0.0)
    for k in ti.static(range(3)):
        s = ld6(cdof, i + 3 + k)
        t += (r[3 + k] - tail(s).dot(f)) * head(s)
    return join(t, f)


@ti.func
def dofs_of_twist(i, v, cdof: ti.template()):
    """x with S x = v."""
    x = vec3(0.0)
    u = tail(v)
    for k in ti.static(range(3)):
        s = ld6(cdof, i + 3 + k)
        x[k] = head(s).dot(head(v))
        u -= x[k] * tail(s)
    return join(u, x)


@ti.func
def invert_twist(b, o, body_hess: ti.template(), inverse: ti.template()):
    """inverse[o:o+21] = inverse of body b's Hessian, lower triangle by rows.

    By six symmetric sweeps (Goodnight 1979), which leave minus the inverse. A product with the inverse has no chain
    of dependent operations, as two triangular solves have.
    """
    h = 21 * b
    for r in ti.static(range(3)):
        inverse[o + r * (r + 3) // 2] = body_hess[h + r]
        for s in ti.static(range(3)):
            inverse[o + (3 + r) * (4 + r) // 2 + s] = body_hess[h + 6 + 3 * r + s]
        inverse[o + (3 + r) * (4 + r) // 2 + 3 + r] = body_hess[h + 15 + r]
    for r, s in ti.static(((0, 1), (0, 2), (1, 2))):
        inverse[o + s * (s + 1) // 2 + r] = body_hess[h + 2 + r + s]
        inverse[o + (3 + s) * (4 + s) // 2 + 3 + r] = body_hess[h + 17 + r + s]
    for k in range(6):
        d = 1.0 / inverse[o + k * (k + 3) // 2]
        for i in range(6):
            if i != k:
                e = inverse[o + at(i, k)] * d
                for j in range(i + 1):
                    if j != k:
                        inverse[o + at(i, j)] -= e * inverse[o + at(j, k)]
        for i in range(6):
            if i != k:
                inverse[o + at(i, k)] *= d
        inverse[o + k * (k + 3) // 2] = -d


@ti.func
def at(i, j):
    """Place of element (i, j) in a lower triangle by rows."""
    a = ti.max(i, j)
    return a * (a + 1) // 2 + ti.min(i, j)


@ti.func
def inverse_times(o, b, inverse: ti.template()):
    """x = H^-1 b from minus the inverse at inverse[o:]."""
    x = vec6(0.0)
    for i in ti.static(range(6)):
        for j in ti.static(range(6)):
            x[i] -= inverse[o + max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] * b[j]
    return x
