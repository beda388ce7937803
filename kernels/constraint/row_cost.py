"""The cost of one row as a function of its residual acceleration j = Jx - aref.

Equality: a quadratic. Friction loss: quadratic near zero, linear beyond R * frictionloss (Huber). Limit: half a
quadratic. Seed 000, "Constraint model".
"""

from ..constants import EQUALITY, FRICTION_DOF, FRICTION_TENDON
from ..types import FP, ti

vec2f = ti.types.vector(2, FP)
vec3f = ti.types.vector(3, FP)


@ti.func
def is_friction(kind):
    """Whether rows of this mjtConstraint are friction loss."""
    return kind == FRICTION_DOF or kind == FRICTION_TENDON


@ti.func
def row_force(kind, j, R, floss):
    """(cost, force, second derivative)."""
    out = vec3f(0.0, 0.0, 0.0)
    if is_friction(kind):
        if j <= -R * floss:
            out = vec3f(-0.5 * R * floss * floss - floss * j, floss, 0.0)
        elif j >= R * floss:
            out = vec3f(-0.5 * R * floss * floss + floss * j, -floss, 0.0)
        else:
            out = vec3f(0.5 * j * j / R, -j / R, 1.0 / R)
    elif kind == EQUALITY or j < 0.0:
        out = vec3f(0.5 * j * j / R, -j / R, 1.0 / R)
    return out


@ti.func
def row_state(kind, j, R, floss):
    """0: the row does not act; 1: its cost is a quadratic; 2, 3: friction loss at its bounds."""
    state = ti.select(kind == EQUALITY or j < 0.0, 1, 0)
    if is_friction(kind):
        state = ti.select(j <= -R * floss, 2, ti.select(j >= R * floss, 3, 1))
    return state


@ti.func
def row_line(kind, j, p, alpha, R, floss):
    """First and second derivative of the cost along j + alpha p."""
    f = row_force(kind, j + alpha * p, R, floss)
    return vec2f(-f[1] * p, f[2] * p * p)
