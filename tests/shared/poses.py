"""Poses of two shapes for the collision tests, and the contacts both engines find in them."""

import types

import mujoco
import numpy as np

import tisim
from shared.contacts import collide, quaternion

KINDS = ("random", "deep", "touch", "flat", "tilt", "lattice")
PLACES = ("geom_xpos", "geom_xmat", "xpos", "xmat")
NSIZE = {"plane": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3, "mesh": 3}
QUARTER = np.array([q for q in np.ndindex(2, 2, 2, 2) if any(q)], float)  # axes along axes, and some at 120 degrees
QUARTER /= np.linalg.norm(QUARTER, axis=1, keepdims=True)


def sizes_of(rng, shape, spread):
    """Sizes of a shape, the largest 1, the others down to 10^-spread."""
    s = 10.0 ** rng.uniform(-spread, 0, NSIZE[shape])
    s[rng.integers(len(s))] = 1
    return s


def two_shapes(rng, shapes, spread, scale, margin):
    """MJCF of two shapes of random sizes, the first on a mocap body, the second free; a mesh is a hull of 8 to 60."""
    asset, geom = "", []
    for k, shape in enumerate(shapes):
        size = sizes_of(rng, shape, spread) * scale * (1 if k == 0 else 10 ** rng.uniform(-0.5, 0.5))
        text = " ".join(f"{x:.6g}" for x in size)
        if shape == "mesh":
            vertex = rng.normal(size=(rng.integers(8, 60), 3)) * size
            if rng.integers(2):  # a brick: flat sides
                vertex = np.array(list(np.ndindex(2, 2, 2)) * 2)[:8] * 2 * size - size
            asset += f'<mesh name="m{k}" vertex="{" ".join(f"{x:.6g}" for x in vertex.ravel())}"/>'
            geom.append(f'<geom type="mesh" mesh="m{k}" margin="{margin if k else 0}"/>')
        else:
            geom.append(f'<geom type="{shape}" size="{text}" margin="{margin if k else 0}"/>')
    return (
        f'<mujoco><asset>{asset}</asset><worldbody><body mocap="true">{geom[0]}</body><body><freejoint/>'
        f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geom[1]}</body></worldbody></mujoco>'
    )


def place(mm, dd, pose):
    """Writes a pose (quaternion of shape 1, position and quaternion of shape 2) and finds MuJoCo's contacts."""
    dd.mocap_quat[0], dd.qpos[:3], dd.qpos[3:] = pose
    mujoco.mj_kinematics(mm, dd)
    mujoco.mj_comPos(mm, dd)
    mujoco.mj_collision(mm, dd)


def poses(mm, rng, count, scale, plane):
    """Poses of the model of two_shapes, whose margin is raised, by KINDS in turn.

    random and deep  anyhow;  touch  from 1e-12 to 1e-3 apart or inside;  flat  axes along axes, pressed in by 1e-6 to
    0.1;  tilt  the same, turned by 1e-7 to 1e-2;  lattice  axes along axes, on a lattice of 1/4.
    """
    mm.geom_margin[:] = 100 * scale
    dd, out = mujoco.MjData(mm), []
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        base = quaternion(rng) if i % len(KINDS) < 3 or rng.integers(2) else np.eye(4)[0]
        turn = quaternion(rng) if i % len(KINDS) < 3 else QUARTER[rng.integers(len(QUARTER))]
        if kind == "flat" and rng.integers(2):
            turn = product(np.array([np.cos(1.3 * i), 0, 0, np.sin(1.3 * i)]), turn)
        if kind == "tilt":
            turn = turn + [0, *rng.normal(size=3) * 10 ** rng.uniform(-7, -2)]
            turn /= np.linalg.norm(turn)
        x = rng.uniform(-1, 1, 3) * scale + rng.normal(size=3) * 0.3 * scale
        if kind == "lattice":
            x = np.round(x * 4 / scale) / 4 * scale
        if plane:
            x[2] = 0
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, base)
        x = rotation.reshape(3, 3) @ x
        turn = product(base, turn)
        place(mm, dd, (base, x, turn))
        if kind != "lattice" and dd.ncon:  # move along the deepest contact's normal to the distance that is wanted
            c = int(np.argmin(dd.contact.dist))
            dist = dd.contact.dist[c]
            wanted = {
                "random": rng.uniform(-0.5, 0.1) * scale,
                "deep": -rng.uniform(0, 2) * scale if plane else dist,
                "touch": rng.choice([-1, 1]) * 10 ** rng.uniform(-12, -3) * scale,
            }.get(kind, -(10 ** rng.uniform(-6, -1)) * scale)
            x = x + (wanted - dist) * dd.contact.frame[c][:3]
        out.append((base, x, turn))
    return out


def product(a, b):
    """Product of two quaternions."""
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, a, b)
    return out / np.linalg.norm(out)


def sweep(shapes, nmodel, npose, seed=0, option=""):
    """Contacts of both engines in nmodel * npose poses of two shapes, as dicts of dist, pos, frame, kind and scale.

    Yields (tisim's, MuJoCo's) for each pose. Scales are 1, 0.02 and 5 in turn, aspect ratios up to 1, 10 and 1000, the
    margin 0 or a tenth of the scale.
    """
    rng = np.random.default_rng(seed)
    for k in range(nmodel):
        scale, spread = (1, 0.02, 5)[k % 3], (0, 1, 3)[k // 3 % 3]
        xml = two_shapes(rng, shapes, spread, scale, (0, 0.1 * scale)[k % 2])
        xml = xml.replace("<mujoco>", "<mujoco>" + option)
        mm = mujoco.MjModel.from_xml_string(xml)
        m = tisim.Model.from_xml_string(xml)
        d = tisim.Data(m, nworld=npose)
        dd, theirs, at = mujoco.MjData(mm), [], []
        for i, pose in enumerate(poses(mujoco.MjModel.from_xml_string(xml), rng, npose, scale, shapes[0] == "plane")):
            place(mm, dd, pose)
            at.append(types.SimpleNamespace(**{f: getattr(dd, f).copy() for f in PLACES}))
            theirs.append(
                dict(dist=dd.contact.dist.copy(), pos=dd.contact.pos.copy(), frame=dd.contact.frame.copy(),
                     kind=KINDS[i % len(KINDS)], scale=scale, model=k, pose=pose)
            )  # fmt: skip
        for mine, b in zip(collide(m, d, at), theirs):
            yield dict(dist=mine["dist"].reshape(-1), pos=mine["pos"], frame=mine["frame"]), b


def apart(a, b):
    """Differences of two lists of contacts, matched by position: of depths and of points (by scale) and frames.

    (inf, inf) if their numbers differ.
    """
    if len(a["dist"]) != len(b["dist"]):
        return np.inf, np.inf
    depth = place = 0.0
    free = list(range(len(b["dist"])))
    for i in range(len(a["dist"])):
        gap = {j: max(abs(a["dist"][i] - b["dist"][j]), np.abs(a["pos"][i] - b["pos"][j]).max()) for j in free}
        j = min(gap, key=gap.get)
        free.remove(j)
        depth = max(depth, abs(a["dist"][i] - b["dist"][j]) / b["scale"])
        place = max(place, gap[j] / b["scale"], np.abs(a["frame"][i] - b["frame"][j]).max())
    return depth, place
