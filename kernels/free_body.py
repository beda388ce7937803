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
def invert_twist(o, a: ti.template()):
    """Inverse of the symmetric positive 6 x 6 matrix whose lower triangle is at a[o:o+21], in place.

    By six symmetric sweeps (Goodnight 1979), which leave minus the inverse. A product with the inverse has no chain
    of dependent operations, as two triangular solves have.
    """
    for k in range(6):
        d = 1.0 / a[o + k * (k + 3) // 2]
        for i in range(6):
            if i != k:
                e = a[o + place(i, k)] * d
                for j in range(i + 1):
                    if j != k:
                        a[o + place(i, j)] -= e * a[o + place(j, k)]
        for i in range(6):
            if i != k:
                a[o + place(i, k)] *= d
        a[o + k * (k + 3) // 2] = -d
    for i in range(21):
        a[o + i] = -a[o + i]


@ti.func
def place(i, j):
    """Place of element (i, j) in a lower triangle by rows."""
    r = ti.max(i, j)
    return r * (r + 1) // 2 + ti.min(i, j)
