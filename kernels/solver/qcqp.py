"""Frictional force of a contact whose normal force is given: a quadratic over an ellipsoid.

min v' A v / 2 + b' v with sum (v_k / mu_k)^2 <= normal^2. In v_k = mu_k u_k it is a ball, and where it binds the
multiplier is the zero of 1/|u| - 1/normal, found by Newton's method, which is monotone from 0. Moré and Sorensen,
"Computing a trust region step", 1983. With rows of torsion and rolling, whose mu_k are small, MuJoCo's way is gone:
|u|^2 - normal^2, of which its 20 rounds do not come to the zero there, so that the force is not the best of its length.
"""

from ..types import FP, MINVAL, func, ti

REGULAR = 1e-30  # what is singular where nothing short of it may be
SINGULAR = 1e-10  # pivot, determinant up to three rows, below which friction does nothing and is 0, as MuJoCo has it
ROUNDS = 20  # of Newton's method, far more than it needs for two rows
NEAR = 1e-10  # |u|^2 - normal^2 and a change of the multiplier, in absolute terms, at which MuJoCo ends


@func
def scaled(m, d, A: ti.template(), b, fri, n):
    """(H, g) of u: the n rows and columns of A from 1 on, and -b, by mu; where there are fewer, of the unit matrix."""
    size = ti.static(m.has.dims - 1)
    H = ti.Matrix.zero(FP, size, size)
    g = ti.Vector.zero(FP, size)
    for k in ti.static(range(size)):
        H[k, k] = 1.0
        if k < n:
            g[k] = -b[k + 1] * fri[k + 1]
            for q in ti.static(range(size)):
                if q < n:
                    H[k, q] = A[k + 1, q + 1] * fri[k + 1] * fri[q + 1]
    return H, g


@func
def factor(H: ti.template(), multiplier, smallest):
    """(Cholesky's factor of H + multiplier I with its diagonal inverted, determinant, least pivot), where no pivot is
    taken for less than `smallest`."""
    L = ti.Matrix.zero(FP, H.n, H.n)
    product = FP(1.0)
    least = FP(1.0)
    for k in ti.static(range(H.n)):
        for q in ti.static(range(k + 1)):
            s = H[k, q]
            if ti.static(k == q):
                s += multiplier
            for e in ti.static(range(q)):
                s -= L[k, e] * L[q, e]
            if ti.static(k == q):
                product *= s
                least = ti.min(least, s)
                L[k, k] = 1.0 / ti.sqrt(ti.max(s, smallest))
            else:
                L[k, q] = s * L[q, q]
    return L, product, least


@func
def forward(L: ti.template(), x: ti.template()):
    """L^-1 x."""
    y = x
    for k in ti.static(range(L.n)):
        s = x[k]
        for e in ti.static(range(k)):
            s -= L[k, e] * y[e]
        y[k] = s * L[k, k]
    return y


@func
def backward(L: ti.template(), x: ti.template()):
    """L'^-1 x."""
    y = x
    for e in ti.static(range(L.n)):
        k = ti.static(L.n - 1 - e)
        s = x[k]
        for q in ti.static(range(k + 1, L.n)):
            s -= L[q, k] * y[q]
        y[k] = s * L[k, k]
    return y


@func
def friction_force(m, d, A: ti.template(), b, fri, n, normal, singular):
    """v / mu for the n rows and columns of A from 1 on, where b and fri have theirs; A and b have has.dims of them.

    singular  pivot, or determinant, below which there is no friction.
    """
    H, g = scaled(m, d, A, b, fri, n)
    as_mujoco = ti.static(m.has.dims > 3)
    multiplier = FP(0.0)
    u = ti.Vector.zero(FP, ti.static(m.has.dims - 1))
    for i in range(ROUNDS):
        L, product, least = factor(H, multiplier, ti.min(singular, MINVAL))
        if ti.select(n <= 3, product, least) < singular:
            u = ti.Vector.zero(FP, ti.static(m.has.dims - 1))
            multiplier = 0.0
            break
        u = backward(L, forward(L, g))
        length = u.norm()
        if ti.static(as_mujoco):
            if length * length - normal * normal < NEAR:
                break
        elif length <= normal * (1.0 + 1e-14) or i == ROUNDS - 1:
            break
        v = forward(L, u)  # its square is the slope of -|u|^2 / 2
        slope = ti.max(v.dot(v), 1e-300 if ti.static(FP == ti.f64) else 1e-30)
        more = FP(0.0)
        if ti.static(as_mujoco):
            more = 0.5 * (length * length - normal * normal) / slope
            if more < NEAR:
                break
        else:
            more = length * length / slope * (length - normal) / ti.max(normal, MINVAL)
            if more <= 1e-15 * multiplier:
                break
        multiplier += more
    if multiplier > 0.0:
        u = u * (normal / ti.max(u.norm(), MINVAL))
    return u
