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
def factor_twist(b, o, body_hess: ti.template(), factor: ti.template()):
    """factor[o:o+21] = L D L' of body b's Hessian, by rows; unit L, the diagonal holds 1/D."""
    h = 21 * b
    for r in ti.static(range(3)):
        factor[o + r * (r + 3) // 2] = body_hess[h + r]
        for s in ti.static(range(3)):
            factor[o + (3 + r) * (4 + r) // 2 + s] = body_hess[h + 6 + 3 * r + s]
        factor[o + (3 + r) * (4 + r) // 2 + 3 + r] = body_hess[h + 15 + r]
    for r, s in ti.static(((0, 1), (0, 2), (1, 2))):
        factor[o + s * (s + 1) // 2 + r] = body_hess[h + 2 + r + s]
        factor[o + (3 + s) * (4 + s) // 2 + 3 + r] = body_hess[h + 17 + r + s]
    for i in range(6):
        row = o + i * (i + 1) // 2
        d = factor[row + i]
        for j in range(i):
            other = o + j * (j + 1) // 2
            s = factor[row + j]
            for k in range(j):
                s -= factor[row + k] * factor[other + k]
            factor[row + j] = s  # L D until the row is done
        for j in range(i):
            e = factor[row + j]
            q = e * factor[o + j * (j + 3) // 2]
            d -= e * q
            factor[row + j] = q
        factor[row + i] = 1.0 / d


@ti.func
def solve_twist(o, b, factor: ti.template()):
    """x with L D L' x = b."""
    x = vec6(0.0)
    for i in ti.static(range(6)):
        x[i] = b[i]
        for j in ti.static(range(i)):
            x[i] -= factor[o + i * (i + 1) // 2 + j] * x[j]
    for i in ti.static(range(6)):
        x[i] *= factor[o + i * (i + 3) // 2]
    for m in ti.static(range(6)):
        for j in ti.static(range(5 - m)):
            x[j] -= factor[o + (5 - m) * (6 - m) // 2 + j] * x[5 - m]
    return x
