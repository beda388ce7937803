"""Bodies with joints under dynamics="lcp": their own poses and twists, momenta, energy; a chain of links."""

import numpy as np

H = 0.01  # timestep of `tree`
INERTIA = '<inertial pos="0 0 0" mass="{:.3f}" diaginertia="{:.4f} {:.4f} {:.4f}"/>'


def rotation(q):
    """(n, 3, 3) of (n, 4) unit quaternions."""
    w, x, y, z = np.asarray(q).T
    R = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]  # fmt: skip
    return np.array(R).transpose(2, 0, 1)


def bodies(m, d):
    """(centre of mass, principal axes (nbody, 3, 3), velocity, angular velocity) by the bodies' own state."""
    pose, twist = d.host("lcp_pose").reshape(-1, 8), d.host("lcp_twist").reshape(-1, 8)
    R = rotation(pose[:, 3:7])
    x = pose[:, :3] + np.einsum("bij,bj->bi", R, m.body_ipos)
    return x, R @ rotation(m.body_iquat), twist[:, :3].copy(), twist[:, 3:6].copy()


def momenta(m, d):
    """(momentum, angular momentum about the origin) of all bodies."""
    x, R, v, w = bodies(m, d)
    mass = np.asarray(m.body_mass)[:, None]
    spin = np.einsum("bij,bj,bkj,bk->bi", R, m.body_inertia, R, w)
    return (mass * v).sum(0), (np.cross(x, mass * v) + spin).sum(0)


def energy(m, d):
    """Kinetic and potential energy of all bodies [J], by their own state."""
    x, R, v, w = bodies(m, d)
    mass = np.asarray(m.body_mass)
    local = np.einsum("bji,bj->bi", R, w)
    potential = -(mass * (x @ np.asarray(m.opt.gravity)))[1:].sum()
    return potential + 0.5 * (mass * (v**2).sum(1) + (m.body_inertia * local**2).sum(1))[1:].sum()


def chain(n, horizontal=False, joint="ball"):
    """MJCF of a chain of n links of 0.1 m, without contacts."""
    way = "1 0 0" if horizontal else "0 0 -1"
    x, y, z = (0.1 * float(c) for c in way.split())
    link = f'<geom type="capsule" size=".02" fromto="{0.15 * x} 0 {0.15 * z} {0.85 * x} 0 {0.85 * z}"/>'
    body = f'<body pos="{x} {y} {z}"><joint type="{joint}" axis="0 1 0"/>{link}'
    return (
        '<mujoco><option timestep=".005"><flag contact="disable"/></option><worldbody>'
        + body * n + "</body>" * n + "</worldbody></mujoco>"
    )  # fmt: skip


def many(n, damping=0.0):
    """MJCF of n snakes of four links, of all kinds of joints, that fall on one another. Without damping a link that
    hangs in the air by a ball swings and spins for ever."""
    words = ("ball", "hinge", "fixed")

    def link(k, number):
        word = words[(k + number) % 3]
        joint = "" if word == "fixed" else f'<joint type="{word}" axis="0 1 0" damping="{damping}"/>'
        inner = link(k + 1, number) if k < 3 else ""
        return f'<body pos=".2 0 0">{joint}<geom type="capsule" size=".04" fromto=".04 0 0 .16 0 0"/>{inner}</body>'

    snakes = "".join(
        f'<body pos="{0.3 * (i % 3)} {0.2 * (i // 3 % 3)} {0.2 + 0.1 * i}" euler="0 0 {40 * i}"><freejoint/>'
        f'<geom type="capsule" size=".04" fromto=".04 0 0 .16 0 0"/>{link(1, i)}</body>'
        for i in range(n)
    )
    floor = '<geom type="plane" size="9 9 1"/>'
    return f'<mujoco><option timestep="0.005"/><worldbody>{floor}{snakes}</worldbody></mujoco>'


def tree(rng, kinds, more=""):
    """MJCF of a free body from which a random tree of bodies with these joints, both named by number, grows.
    more  what stands behind the bodies."""
    children = {}
    for k in range(len(kinds)):
        children.setdefault(int(rng.integers(k + 1)), []).append(k + 1)

    def body(k):
        word = kinds[k - 1] if k else "free"
        axis, pos = rng.normal(size=3), rng.uniform(-0.1, 0.1, 3)
        joint = (
            f'<joint name="{k}" type="{word}" axis="{axis[0]} {axis[1]} {axis[2]}" pos="{pos[0]} {pos[1]} {pos[2]}"/>'
        )
        if word == "universal":
            other = np.cross(axis, rng.normal(size=3))
            place = f'pos="{pos[0]} {pos[1]} {pos[2]}"'
            joint = "".join(f'<joint axis="{a[0]} {a[1]} {a[2]}" {place}/>' for a in (axis, other))
        joint = "" if word == "fixed" else "<freejoint/>" if word == "free" else joint
        at, turn = rng.uniform(-0.4, 0.4, 3), rng.uniform(-90, 90, 3)
        least = rng.uniform(0.01, 0.02, 3)
        inner = "".join(map(body, children.get(k, [])))
        frame = f'pos="{at[0]} {at[1]} {at[2]}" euler="{turn[0]} {turn[1]} {turn[2]}"'
        return f'<body name="body{k}" {frame}>{joint}{INERTIA.format(rng.uniform(0.5, 2), *least)}{inner}</body>'

    return f'<mujoco><option timestep="{H}" gravity="0 0 -9.81"/><worldbody>{body(0)}</worldbody>{more}</mujoco>'
