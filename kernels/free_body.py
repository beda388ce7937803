"""Trees of one free body in the linear solver: their vectors are twists and wrenches, not dof vectors.

The six dofs of a free body and its twist are one change of variables apart, V = S x with S the body's cdof, so
conjugate gradients take the same road in either; twists need no products with cdof. S has unit linear columns and
orthonormal angular ones, so its inverse is explicit.
"""

from tisim.kernels.spatial import head, join, tail
from tisim.kernels.types import ld6, mat3, ti, vec3


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
def twist_of_dofs(i, x, cdof: ti.template()):
    """S x."""
    w = vec3(0.0)
    u = head(x)
    for k in ti.static(range(3)):
        s = ld6(cdof, i + 3 + k)
        w += x[3 + k] * head(s)
        u += x[3 + k] * tail(s)
    return join(w, u)


@ti.func
def forces_of_wrench(i, f, cdof: ti.template()):
    """S' f."""
    r = vec3(0.0)
    for k in ti.static(range(3)):
        r[k] = ld6(cdof, i + 3 + k).dot(f)
    return join(tail(f), r)


@ti.func
def invert_twist(o, a: ti.template()):
    """Inverse of the symmetric positive 6 x 6 matrix whose lower triangle is at a[o:o+21], in place, by 3 x 3 blocks.

    A product with the inverse has no chain of dependent operations, as two triangular solves have.
    """
    ww = mat3(0.0)
    vw = mat3(0.0)
    vv = mat3(0.0)
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            vw[r, s] = a[o + (3 + r) * (4 + r) // 2 + s]
            ww[r, s] = a[o + max(r, s) * (max(r, s) + 1) // 2 + min(r, s)]
            vv[r, s] = a[o + (3 + max(r, s)) * (4 + max(r, s)) // 2 + 3 + min(r, s)]
    inner = vv.inverse()
    b = inner @ vw
    top = (ww - vw.transpose() @ b).inverse()
    left = -1.0 * (b @ top)
    corner = inner - left @ b.transpose()
    for r in ti.static(range(3)):
        for s in ti.static(range(3)):
            a[o + (3 + r) * (4 + r) // 2 + s] = left[r, s]
            if ti.static(s <= r):
                a[o + r * (r + 1) // 2 + s] = top[r, s]
                a[o + (3 + r) * (4 + r) // 2 + 3 + s] = corner[r, s]
