"""Rotation vectors as quaternions, and what a body that turns freely does in a step."""

from ..rotation import axis_angle_to_quat, mul_quat, quat_to_mat
from ..types import ti, vec4

SMALL = 0.0625  # square of half an angle, below which seven terms of a series are exact


@ti.func
def turned(way):
    """Quaternion of a rotation vector [rad]; of a small one, as most are, by series."""
    turn = turned_little(way)
    if not half_squared(way) < SMALL:
        angle = way.norm()
        turn = axis_angle_to_quat(way / angle, angle)
    return turn


@ti.func
def half_squared(way):
    """Square of half the angle of a rotation vector."""
    return 0.25 * way.dot(way)


@ti.func
def turned_little(way):
    """Quaternion of a small rotation vector, by the series of cos and sin."""
    q = half_squared(way)
    c = 1.0 - q / 90.0 * (1.0 - q / 132.0)
    c = 1.0 - q / 2.0 * (1.0 - q / 12.0 * (1.0 - q / 30.0 * (1.0 - q / 56.0 * c)))
    s = 1.0 - q / 110.0 * (1.0 - q / 156.0)
    s = 0.5 - q / 12.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 * s)))
    return vec4(c, s * way[0], s * way[1], s * way[2])


@ti.func
def turned_by_midpoint(inertia, R, old, turn, way, h, little: ti.template()):
    """(orientation, world angular velocity, whether its turns are so small that series give them) behind a step, of a
    body along whose principal axes, with world axes R and orientation `old`, its angular velocity is `turn` and its way
    `way`: "Rotation" in tisim/LCP.md. little: they are taken for small."""
    H = inertia * turn
    middle = 0.5 * way
    half = quat_to_mat(turn_of(middle, little))
    way += h * (half @ ((half.transpose() @ H) / inertia) - turn)
    new = mul_quat(old, turn_of(way, little))
    S = quat_to_mat(new)
    small = (half_squared(middle) < SMALL) & (half_squared(way) < SMALL)
    return new, S @ ((S.transpose() @ (R @ H)) / inertia), small


@ti.func
def turn_of(way, little: ti.template()):
    """turned or turned_little."""
    if ti.static(little):
        turn = turned_little(way)
        return turn
    else:
        turn = turned(way)
        return turn


@ti.func
def axle_of(inertia):
    """The principal axis whose moment of inertia differs most from the mean of the others: a wheel's axle."""
    mean = (inertia[0] + inertia[1] + inertia[2]) / 3.0
    axis, most = 0, ti.abs(inertia[0] - mean)
    for c in ti.static(range(1, 3)):
        if ti.abs(inertia[c] - mean) > most:
            axis, most = c, ti.abs(inertia[c] - mean)
    return axis
