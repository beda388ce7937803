"""Contacts found by GJK and EPA need no reference to be checked.

They change sides when the shapes do, move with them, do not depend on threads, are never deeper than the true
penetration and are finite for shapes that coincide or touch exactly. f64, the last f32 too; with iterations to
converge, within ccd_tolerance.
"""

import mujoco
import numpy as np
import pytest
from shared import golden
from shared.contacts import both, collide, quaternion
from shared.support import width

import tisim

SIZE = {"sphere": ".1", "capsule": ".05 .1", "ellipsoid": ".06 .09 .12", "cylinder": ".07 .1", "box": ".08 .06 .1",
        "mesh": "1"}  # fmt: skip
PAIRS = [("sphere", "ellipsoid"), ("sphere", "mesh"), ("capsule", "ellipsoid"), ("capsule", "cylinder"),
         ("capsule", "mesh"), ("ellipsoid", "ellipsoid"), ("ellipsoid", "cylinder"), ("ellipsoid", "box"),
         ("ellipsoid", "mesh"), ("cylinder", "cylinder"), ("cylinder", "box"), ("cylinder", "mesh"), ("box", "mesh"),
         ("mesh", "mesh")]  # fmt: skip
NPOSE = 60


def model(shapes):
    """MJCF of free shapes; a mesh is a hull of 20 vertices."""
    vertex = " ".join(f"{x:.5g}" for x in np.random.default_rng(5).normal(size=60) * 0.07)
    body = "".join(
        '<body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        + ('<geom type="mesh" mesh="m"/>' if s == "mesh" else f'<geom type="{s}" size="{SIZE[s]}"/>') + "</body>"
        for s in shapes
    )  # fmt: skip
    return (
        f'<mujoco><option ccd_iterations="150"/><asset><mesh name="m" vertex="{vertex}"/></asset>'
        f"<worldbody>{body}</worldbody></mujoco>"
    )


def contacts(mm, m, d, qpos):
    """tisim's contacts in these poses of the geoms, one world each, and the poses."""
    datas = []
    for q in qpos:
        dd = mujoco.MjData(mm)
        dd.qpos[:] = q
        mujoco.mj_kinematics(mm, dd)
        datas.append(dd)
    return collide(m, d, datas), datas


def poses(rng):
    """Two poses each, of shapes that mostly overlap."""
    return [[*rng.uniform(-1, 1, 3), *quaternion(rng), 0, 0, 0, *quaternion(rng)] for _ in range(NPOSE)]


def near(rng):
    out = np.array(poses(rng))
    out[:, 7:10] = out[:, :3] + rng.uniform(-0.12, 0.12, (NPOSE, 3))
    return out


@pytest.fixture(scope="module", params=["f64", "f32"])
def precision(request):
    tisim.init(arch="cpu", precision=request.param)
    yield request.param
    tisim.init(arch="cpu", precision="f64")


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_swapped_moved_and_bounded(pair):
    rng = np.random.default_rng(2)
    qpos = near(rng)
    mm, _, m, d = both(model(pair), NPOSE)
    here, datas = contacts(mm, m, d, qpos)
    # the other way round: MuJoCo orders types, so that only the bodies change places for two different ones
    mm2, _, m2, d2 = both(model(pair[::-1]), NPOSE)
    swapped, _ = contacts(mm2, m2, d2, np.roll(qpos, 7, axis=1))
    # all moved and turned by the same
    base, shift = quaternion(rng), rng.uniform(-2, 2, 3)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, base)
    R = R.reshape(3, 3)
    there = qpos.copy()
    for q in there:
        for k in (0, 7):
            q[k : k + 3] = R @ q[k : k + 3] + shift
            mujoco.mju_mulQuat(q[k + 3 : k + 7], base, q[k + 3 : k + 7].copy())
    moved, _ = contacts(mm, m, d, there)
    turned = -1 if pair[0] == pair[1] else 1
    found = 0
    for a, b, c, dd in zip(here, swapped, moved, datas):
        assert len(a["dist"]) == len(b["dist"]) == len(c["dist"])
        if not len(a["dist"]):
            continue
        found += 1
        assert abs(a["dist"][0, 0] - b["dist"][0, 0]) < 3e-6
        assert abs(a["dist"][0, 0] - c["dist"][0, 0]) < 3e-6
        n = a["frame"][0, :3]
        overlap = width(mm, dd, 0, 1, n)  # along any direction at least the penetration depth
        assert -1e-9 < overlap + a["dist"][0, 0] < 0.01
        assert abs(np.linalg.norm(n) - 1) < 1e-12
        if overlap + a["dist"][0, 0] < 1e-5:  # a normal that is well known
            assert turned * (n @ b["frame"][0, :3]) > 0.99 or overlap > 0.05
            assert (R @ n) @ c["frame"][0, :3] > 0.99 or overlap > 0.05
    assert found > NPOSE // 4


def test_threads_change_no_bit():
    """A serial and a parallel run, whose workers keep their scratch memory elsewhere, give the same numbers."""
    rng = np.random.default_rng(4)
    mm, _, m, d = both(model(("cylinder", "mesh")), NPOSE)
    m.opt.enableflags = int(tisim.mjtEnableBit.mjENBL_MULTICCD)
    found, datas = contacts(mm, m, d, near(rng))
    assert sum(len(c["dist"]) for c in found) > NPOSE
    for variant in ("parallel", "serial", "parallel"):
        with golden.force(variant):
            again = collide(m, tisim.Data(m, nworld=NPOSE), datas)
        assert all(np.array_equal(a[f], b[f]) for a, b in zip(found, again) for f in ("dist", "pos", "frame"))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_coincident_and_touching_shapes_are_finite(pair, precision):
    rng = np.random.default_rng(3)
    qpos = np.zeros((NPOSE, 14))
    qpos[:, 3] = qpos[:, 10] = 1
    for k, q in enumerate(qpos):
        if k % 3:
            q[7 + k % 7 % 3] = (0.0, 1e-12, 1e-7, 0.1, 0.17, 0.2)[k % 6]  # some of these touch exactly
        if k % 4 > 1:
            q[10 + k % 3] = (1, -1)[k % 2]
        if k % 5 == 0:
            q[10:] = quaternion(rng)
        q[10:] /= np.linalg.norm(q[10:])
    mm, _, m, d = both(model(pair), NPOSE)
    found, _ = contacts(mm, m, d, qpos)
    assert sum(len(c["dist"]) for c in found) > 5
    for c in found:
        assert all(np.isfinite(c[f]).all() for f in ("dist", "pos", "frame"))
        assert np.allclose(np.linalg.norm(c["frame"][:, :3], axis=1), 1, atol=1e-5)
