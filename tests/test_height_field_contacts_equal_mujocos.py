"""Contacts of height fields with every shape are MuJoCo 3.4.0's: number, depth, point and normal.

f64. Fields with random, flat and stepped elevations, turned and moved, with margins; shapes in, on, above, beside and
under them, shapes smaller than a cell and larger than the field, with up to 50 contacts. Depths differ by less than
1e-5 of the size, points and normals by less than 1e-3.
"""

import mujoco
import numpy as np
import pytest
from shared.contacts import both, collide, difference, quaternion, their_contacts

SHAPES = {
    "sphere": 'size="{0}"', "capsule": 'size="{0} {1}"', "ellipsoid": 'size="{0} {1} {2}"',
    "cylinder": 'size="{0} {1}"', "box": 'size="{0} {1} {2}"', "mesh": 'mesh="m"',
}  # fmt: skip
KINDS = ("rough", "flat", "steps")


def model(rng, shape, kind, scale, margin):
    """MJCF of a turned height field and one free shape of this size, relative to the field's half width of 1."""
    nrow, ncol = rng.integers(2, 14, 2)
    height = {"rough": rng.uniform(0, 1, nrow * ncol), "flat": np.ones(nrow * ncol)}.get(
        kind, np.round(rng.uniform(0, 2, nrow * ncol)) / 2
    )
    size = scale * 10 ** rng.uniform(-0.5, 0, 3)
    vertex = rng.normal(size=(20, 3)) * size
    turn = " ".join(f"{x:.6g}" for x in quaternion(rng))
    return (
        f'<mujoco><asset><hfield name="h" nrow="{nrow}" ncol="{ncol}" size="1 {rng.uniform(0.5, 1):.3g} .3 .2" '
        f'elevation="{" ".join(f"{x:.4g}" for x in height)}"/>'
        f'<mesh name="m" vertex="{" ".join(f"{x:.6g}" for x in vertex.ravel())}"/></asset><worldbody>'
        f'<geom type="hfield" hfield="h" pos="1 2 3" quat="{turn}" margin="{margin}"/><body><freejoint/>'
        f'<geom type="{shape}" {SHAPES[shape].format(*size)}/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        "</body></worldbody></mujoco>"
    )


def compare(shape, nmodel, npose, seed=0):
    """Numbers of poses, of contacts and of the most in one pose; the largest difference."""
    rng, count, most, worst = np.random.default_rng(seed), 0, 0, 0.0
    for k in range(nmodel):
        scale, margin = (0.2, 0.05, 1)[k % 3], (0, 0.05)[k % 2]
        mm, dd, m, d = both(model(rng, shape, KINDS[k // 2 % 3], scale, margin), npose)
        R = mm.geom_quat[0]
        theirs, datas = [], []
        for i in range(npose):
            dd = mujoco.MjData(mm)
            x = rng.uniform(-1.2, 1.2, 3) * [1, 1, 0.5]
            if i % 3 == 0:  # on the surface, nearly
                x[2] = 0.3 + scale * rng.uniform(0, 0.5)
            at = np.zeros(3)
            mujoco.mju_rotVecQuat(at, x, R)
            turn = R if i % 4 == 0 else quaternion(rng)
            dd.qpos[:] = [*(at + mm.geom_pos[0]), *turn]
            theirs.append(their_contacts(mm, dd))
            datas.append(dd)
        for a, b in zip(collide(m, d, datas), theirs):
            count += len(b["dist"])
            most = max(most, len(b["dist"]))
            assert len(a["dist"]) == len(b["dist"])
            worst = max(worst, difference(a, b, ("dist",)) / 1e-5, difference(a, b, ("pos", "frame")) / 1e-3)
    return count, most, worst


@pytest.mark.parametrize("shape", SHAPES)
def test_some_poses(shape):
    count, most, worst = compare(shape, 6, 40)
    assert count > 300
    assert most == 50 or shape == "mesh"
    assert worst < 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_many_poses(shape):
    count, most, worst = compare(shape, 18, 120, seed=1)
    assert count > 3000
    assert most == 50
    assert worst < 1


def test_a_field_and_a_plane_do_not_touch_it():
    """Height fields have no contacts with planes and other height fields."""
    field = '<geom type="hfield" hfield="h"/>'
    mm, dd, m, d = both(
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody><geom type="plane" '
        f'size="1 1 1"/><body mocap="true">{field}</body><body><freejoint/><inertial pos="0 0 0" mass="1" '
        f'diaginertia="1 1 1"/>{field}</body></worldbody></mujoco>'
    )
    assert len(their_contacts(mm, dd)["dist"]) == len(collide(m, d, [dd])[0]["dist"]) == 0
