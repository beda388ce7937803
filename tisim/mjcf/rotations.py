"""Rotations of many elements at once. Quaternions are (w, x, y, z), rows of (n, 4); vectors rows of (n, 3)."""

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def cross(a, b):
    """Cross products of vectors; several times as fast as np.cross where there are few."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def _parts(q):
    q = np.asarray(q, float)
    return q[..., 0], q[..., 1], q[..., 2], q[..., 3]


def mul(a, b):
    """Quaternion products a b."""
    aw, ax, ay, az = _parts(a)
    bw, bx, by, bz = _parts(b)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        -1,
    )


def conjugate(q):
    """Inverse rotations."""
    return np.asarray(q, float) * [1.0, -1.0, -1.0, -1.0]


def rotate(q, v):
    """Vectors v turned by q."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    axis = q[..., 1:]
    t = 2 * cross(axis, v)
    return v + q[..., :1] * t + cross(axis, t)


def matrix(q):
    """Rotation matrices (n, 3, 3) of unit quaternions; columns are the axes."""
    w, x, y, z = _parts(q)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def normalize(q):
    """Unit quaternions; the zero quaternion becomes the identity."""
    q = np.asarray(q, float)
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(norm < 1e-15, IDENTITY, q / np.where(norm < 1e-15, 1.0, norm))


def from_axis_angle(axis, angle):
    """Quaternions of turns by angle (n,) [rad] about unit axes (n, 3)."""
    half = 0.5 * np.asarray(angle, float)
    return np.concatenate([np.cos(half)[..., None], np.sin(half)[..., None] * axis], -1)


def from_matrix(r):
    """Quaternions of rotation matrices (n, 3, 3), from the largest component of each."""
    r = np.asarray(r, float)
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    a, b, c = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    d, e, f = r[..., 0, 1] + r[..., 1, 0], r[..., 0, 2] + r[..., 2, 0], r[..., 1, 2] + r[..., 2, 1]
    by_w = np.stack([1 + xx + yy + zz, a, b, c], -1)
    by_x = np.stack([a, 1 + xx - yy - zz, d, e], -1)
    by_y = np.stack([b, d, 1 - xx + yy - zz, f], -1)
    by_z = np.stack([c, e, f, 1 - xx - yy + zz], -1)
    choose = [(xx + yy + zz) > 0, (xx > yy) & (xx > zz), yy > zz]
    pick = np.select(choose, [0, 1, 2], 3)
    q = np.choose(pick[..., None], [by_w, by_x, by_y, by_z])
    return normalize(q)


def from_z(v):
    """The smallest rotation that takes the z axis to each v."""
    v = np.asarray(v, float)
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    axis = np.stack([-v[..., 1], v[..., 0], np.zeros(v.shape[:-1])], -1)
    sine = np.linalg.norm(axis, axis=-1)
    small = sine < 1e-10
    axis = np.where(small[..., None], [1.0, 0.0, 0.0], axis / np.where(small, 1.0, sine)[..., None])
    return from_axis_angle(axis, np.arctan2(sine, v[..., 2]))


def from_euler(angles, sequence):
    """Turns by angles (n, 3) [rad] about the axes of a sequence of three letters: xyz moving, XYZ fixed."""
    angles = np.asarray(angles, float)
    q = np.broadcast_to(IDENTITY, angles.shape[:-1] + (4,))
    for i, letter in enumerate(sequence):
        turn = from_axis_angle(np.eye(3)["xyz".index(letter.lower())], angles[..., i])
        q = mul(q, turn) if letter.islower() else mul(turn, q)
    return q


def _radian(angles, degree):
    """Angles in radian, rounded as MuJoCo does."""
    return angles / 180 * np.pi if degree else angles


def from_alternative(kind, values, degree, sequence):
    """Quaternions (n, 4) of one of MJCF's other orientation specifiers.

    kind  axisangle, xyaxes, zaxis or euler;  values  (n, 4), (n, 6), (n, 3) or (n, 3).
    Returns (quaternions, bad): `bad` marks rows whose axis has no length.
    """
    values = np.asarray(values, float)
    if kind == "euler":
        return from_euler(_radian(values, degree), sequence), np.zeros(len(values), bool)
    norm = np.linalg.norm(values[:, :3], axis=1)
    bad = norm < 1e-14
    first = np.where(bad[:, None], [1.0, 0.0, 0.0], values[:, :3] / np.where(bad, 1.0, norm)[:, None])
    if kind == "axisangle":
        return from_axis_angle(first, _radian(values[:, 3], degree)), bad
    if kind == "zaxis":
        return from_z(first), bad
    y = values[:, 3:] - first * np.sum(first * values[:, 3:], 1, keepdims=True)
    norm = np.linalg.norm(y, axis=1)
    bad = bad | (norm < 1e-14)
    y = y / np.where(norm < 1e-14, 1.0, norm)[:, None]
    return from_matrix(np.stack([first, y, np.cross(first, y)], -1)), bad


def into_parent(pos, quat, child_pos, child_quat):
    """Poses given in frames (pos, quat), expressed in the parents of those frames, to MuJoCo's last bits: a pose that
    is another by a bit wakes what sleeps there.
    """
    r, v = matrix(quat), np.asarray(child_pos, float)[..., None, :]
    turned = r[..., 0] * v[..., 0] + r[..., 1] * v[..., 1] + r[..., 2] * v[..., 2]
    return pos + turned, mul(quat, child_quat)


def _product(a, b):
    """Products of (n, 3, 3) matrices, summed from the left: rounding decides about axes of equal eigenvalues."""
    return a[:, :, :1] * b[:, :1] + a[:, :, 1:2] * b[:, 1:2] + a[:, :, 2:] * b[:, 2:]


def _tidied(q):
    """Almost unit quaternions, normalised only where they are not unit to 1e-14: each division rounds again."""
    norm = np.sqrt(np.add.accumulate(q * q, axis=-1)[..., -1:])
    return np.where(np.abs(norm - 1) > 1e-14, q / norm, q)


def principal_axes(full):
    """Eigen-decomposition of symmetric (n, 3, 3) matrices by Jacobi rotations held as quaternions.

    Returns values (n, 3) in decreasing order and quaternions (n, 4) whose axes are the eigenvectors. Of the many
    equivalent frames this gives MuJoCo's, because it starts from the identity and always turns away the largest
    off-diagonal element first.
    """
    full = np.asarray(full, float)
    quat = np.tile(IDENTITY, (len(full), 1))
    active = np.arange(len(full))
    for _ in range(500):
        axes = matrix(quat[active])
        d = _product(_product(axes.swapaxes(1, 2), full[active]), axes)
        off = np.abs(np.stack([d[:, 0, 1], d[:, 0, 2], d[:, 1, 2]], 1))
        largest = np.where((off[:, 0] > off[:, 1]) & (off[:, 0] > off[:, 2]), 0, np.where(off[:, 1] > off[:, 2], 1, 2))
        row, column, axis = np.array([0, 0, 1])[largest], np.array([1, 2, 2])[largest], np.array([2, 1, 0])[largest]
        n = np.arange(len(active))
        value = d[n, row, column]
        keep = np.abs(value) >= 1e-12
        tau = (d[n, column, column] - d[n, row, row]) / (2 * np.where(keep, value, 1.0))
        sign = np.where(tau >= 0, 1.0, -1.0)
        t = sign / (np.abs(tau) + np.sqrt(1 + tau * tau))
        c = 1 / np.sqrt(1 + t * t)
        keep &= c <= 1 - 1e-12
        if not keep.any():
            break
        # half-angle of the plane rotation, about the third axis; the middle axis turns the other way round
        s = -sign * np.sqrt(np.maximum(0.5 - 0.5 * c, 0)) * np.where(axis == 1, -1.0, 1.0)
        turn = np.zeros((len(active), 4))
        turn[:, 0] = np.sqrt(1 - s * s)
        turn[n, axis + 1] = s
        active = active[keep]
        quat[active] = _tidied(mul(quat[active], _tidied(turn[keep])))
    axes = matrix(quat)
    values = np.einsum("nii->ni", _product(_product(axes.swapaxes(1, 2), full), axes)).copy()
    for i in (0, 1, 0):
        swap = values[:, i] + 1e-12 < values[:, i + 1]
        values[swap, i], values[swap, i + 1] = values[swap, i + 1], values[swap, i].copy()
        turn = np.zeros(4)
        turn[0] = turn[(i + 2) % 3 + 1] = 0.707106781186548
        quat[swap] = _tidied(mul(quat[swap], turn))
    return values, quat
