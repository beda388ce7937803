"""Rotations: quaternions (w x y z, unit), matrices and rotation vectors, shared by every stage. Products are kept
apart, so that a GPU places shapes as a CPU does, to the last bit of f64: where a search of depths stops hangs on it.
"""

from tisim.kernels.sine import sin_cos
from tisim.kernels.types import FP, MINVAL, apart, cross, ti, vec3, vec4


@ti.func
def at3(a: ti.template(), k):
    """Three elements from position k."""
    return ti.Vector([a[k], a[k + 1], a[k + 2]])


@ti.func
def at4(a: ti.template(), k):
    """Four elements from position k."""
    return ti.Vector([a[k], a[k + 1], a[k + 2], a[k + 3]])


@ti.func
def mul_quat(p, q):
    return ti.Vector(
        [
            apart(p[0] * q[0]) - apart(p[1] * q[1]) - apart(p[2] * q[2]) - apart(p[3] * q[3]),
            apart(p[0] * q[1]) + apart(p[1] * q[0]) + apart(p[2] * q[3]) - apart(p[3] * q[2]),
            apart(p[0] * q[2]) - apart(p[1] * q[3]) + apart(p[2] * q[0]) + apart(p[3] * q[1]),
            apart(p[0] * q[3]) + apart(p[1] * q[2]) - apart(p[2] * q[1]) + apart(p[3] * q[0]),
        ]
    )


@ti.func
def conj_quat(q):
    """The inverse rotation."""
    return ti.Vector([q[0], -q[1], -q[2], -q[3]])


@ti.func
def normalize_quat(q):
    """Unit quaternion; the identity for a vanishing one, NaN for one of NaN."""
    n = ti.sqrt(apart(q[0] * q[0]) + apart(q[1] * q[1]) + apart(q[2] * q[2]) + apart(q[3] * q[3]))
    r = q / ti.max(n, MINVAL)
    if n < MINVAL:
        r = vec4(1.0, 0.0, 0.0, 0.0)
    return r


@ti.func
def rotate(q, v):
    """Vector v turned by q."""
    u = ti.Vector([q[1], q[2], q[3]])
    t = 2.0 * cross(u, v)
    return v + apart(q[0] * t) + cross(u, t)


@ti.func
def quat_to_mat(q):
    ww, xx, yy, zz = apart(q[0] * q[0]), apart(q[1] * q[1]), apart(q[2] * q[2]), apart(q[3] * q[3])
    xy, xz, yz = apart(2.0 * q[1] * q[2]), apart(2.0 * q[1] * q[3]), apart(2.0 * q[2] * q[3])
    wx, wy, wz = apart(2.0 * q[0] * q[1]), apart(2.0 * q[0] * q[2]), apart(2.0 * q[0] * q[3])
    return ti.Matrix(
        [
            [ww + xx - yy - zz, xy - wz, xz + wy],
            [xy + wz, ww - xx + yy - zz, yz - wx],
            [xz - wy, yz + wx, ww - xx - yy + zz],
        ]
    )


@ti.func
def axis_angle_to_quat(axis, angle):
    """Turn by angle [rad] about a unit axis."""
    s, c = sin_cos(0.5 * angle)
    return ti.Vector([c, s * axis[0], s * axis[1], s * axis[2]])


@ti.func
def integrate_quat(q, omega, h):
    """q turned for a time h [s] at angular velocity omega [rad/s] in its own frame; unit."""
    speed = ti.sqrt(omega.dot(omega))
    axis = omega / ti.max(speed, MINVAL)
    if not speed >= MINVAL:
        axis = vec3(1.0, 0.0, 0.0)
    return normalize_quat(mul_quat(q, axis_angle_to_quat(axis, h * speed)))


@ti.func
def quat_to_rotvec(q):
    """Rotation vector [rad], of length at most pi."""
    u = ti.Vector([q[1], q[2], q[3]])
    s = ti.sqrt(u.dot(u))
    angle = 2.0 * ti.atan2(s, q[0])
    if angle > ti.math.pi:
        angle -= 2.0 * ti.math.pi
    r = u * (angle / ti.max(s, MINVAL))
    if not s >= MINVAL:
        r = vec3(0.0, 0.0, 0.0)
    return r


@ti.func
def sub_quat(qa, qb):
    """Rotation vector, in the frame of qb, that leads from qb to qa."""
    return quat_to_rotvec(mul_quat(conj_quat(qb), qa))


@ti.func
def any_nonzero6(v):
    """True if a 6-vector has a component other than 0, also if it is NaN (ti.max drops it, != is false)."""
    s = ti.cast(0.0, FP)
    for c in ti.static(range(6)):
        s += ti.abs(v[c])
    return not s == 0.0
