"""geom_distance gives MuJoCo 3.4.0's distances and segments, or better ones, for every pair of types.

f64, 1e-9 (points of nearly parallel faces 5e-5), with iterations to converge. Three faults of 3.4.0 are not copied, and
the tests look for nothing else to differ:
- It leaves the weight of a dropped corner standing when GJK reduces some tetrahedra. For a few separated boxes and
  meshes it then returns 0; there the result must prove itself: the points lie in the shapes, and a plane between them
  is as far from both. For a few overlapping shapes EPA then starts elsewhere, and stops elsewhere within its tolerance.
- Of ellipsoids and cylinders less than ccd_tolerance from each other, boxes and meshes it often tells a depth, up to
  half a metre here: more than how far they overlap along the direction that GJK ended with.
- Its segment is zero for pairs farther apart than distmax only where GJK gave up early; here it always is.
"""

import mujoco
import numpy as np
import pytest
from shared.contacts import both, quaternion
from shared.support import proves_itself, width

import tisim
from tisim.device import memory

TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
PAIRS = [(a, b) for i, a in enumerate(TYPES) for b in TYPES[i:] if b != "plane"]
NPOSE = 60


def model(rng, pair):
    """MJCF of two shapes; the first is static if it is a plane or height field, else free."""
    geom = []
    for shape in pair:
        size = " ".join(f"{x:.4g}" for x in rng.uniform(0.05, 0.3, 3))
        more = {"hfield": 'hfield="h"', "mesh": 'mesh="m"'}.get(shape, f'size="{size}"')
        geom.append(f'<geom type="{shape}" {more}/>')
    vertex = " ".join(f"{x:.5g}" for x in rng.normal(size=60) * 0.2)
    height = " ".join(f"{x:.4g}" for x in rng.uniform(0, 1, 30))
    free = '<body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    first = geom[0] if pair[0] in ("plane", "hfield") else f"{free}{geom[0]}</body>"
    return (
        '<mujoco><option ccd_iterations="150"/><asset><hfield name="h" nrow="5" ncol="6" size=".6 .5 .1 .2" '
        f'elevation="{height}"/><mesh name="m" vertex="{vertex}"/></asset>'
        f"<worldbody>{first}{free}{geom[1]}</body></worldbody></mujoco>"
    )


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_pair(pair):
    rng = np.random.default_rng(0)
    mm, dd, m, d = both(model(rng, pair), NPOSE)
    poses = []
    for k in range(NPOSE):
        dd.qpos[:] = np.concatenate([[*rng.uniform(-0.5, 0.5, 3), *quaternion(rng)] for _ in range(mm.nq // 7)])
        mujoco.mj_kinematics(mm, dd)
        poses.append((dd.geom_xpos.copy(), dd.geom_xmat.copy()))
    for name, values in zip(("geom_xpos", "geom_xmat"), zip(*poses)):
        memory.upload(d.device(name), np.ravel(values))
    segment, faults = np.zeros(6), 0
    for distmax in (10.0, 0.1, 0.0, -0.05):
        for first, second in ((0, 1), (1, 0)):
            dist, fromto = tisim.geom_distance(m, d, first, second, distmax)
            assert dist.shape == (NPOSE,) and fromto.shape == (NPOSE, 6)
            for k, (dd.geom_xpos[:], dd.geom_xmat[:]) in enumerate(poses):
                theirs = mujoco.mj_geomDistance(mm, dd, first, second, distmax, segment)
                if theirs == 0 != dist[k] and {*pair} <= {"box", "mesh"}:
                    faults += 1
                    if distmax == 10:
                        one, two = (fromto[k, :3], fromto[k, 3:]) if first == 0 else (fromto[k, 3:], fromto[k, :3])
                        assert abs(np.linalg.norm(two - one) - dist[k]) < 1e-9
                        assert proves_itself(mm, dd, 0, 1, np.r_[one, two])
                    continue
                if pair[0] not in ("plane", "hfield") and dist[k] < 0 and 1e-9 < abs(dist[k] - theirs) < 2e-6:
                    faults += 1
                    continue
                assert abs(dist[k] - theirs) < 1e-9
                if dist[k] < distmax:
                    assert np.abs(fromto[k] - segment).max() < (1e-9 if pair[0] in ("plane", "hfield") else 5e-5)
                else:
                    assert not fromto[k].any()
    assert faults < 0.1 * 8 * NPOSE


@pytest.mark.parametrize("pair", [("cylinder", "box"), ("cylinder", "mesh"), ("ellipsoid", "cylinder")], ids="-".join)
def test_what_just_touches_is_not_deep(pair):
    """Shapes are moved along the segment of their distance until planes across it part them by 1e-8 to 3e-7 m."""
    rng = np.random.default_rng(0)
    many = 300
    mm, dd, m, d = both(model(rng, pair), many)
    way = rng.normal(size=(many, 3))
    way *= 2 / np.linalg.norm(way, axis=1, keepdims=True)
    qpos = np.array([[0, 0, 0, *quaternion(rng), *x, *quaternion(rng)] for x in way])
    gap = rng.choice([1e-8, 1e-7, 3e-7], many)
    d.qpos = qpos
    tisim.forward(m, d)
    dist, fromto = tisim.geom_distance(m, d, 0, 1, 10)
    assert dist.min() > 1e-3
    for k in range(many):
        dd.qpos[:] = qpos[k]
        mujoco.mj_kinematics(mm, dd)
        n = (fromto[k, 3:] - fromto[k, :3]) / dist[k]
        qpos[k, 7:10] += n * (gap[k] + width(mm, dd, 0, 1, n))
    d.qpos = qpos
    tisim.forward(m, d)
    dist, fromto = tisim.geom_distance(m, d, 0, 1, 10)
    assert np.abs(dist - gap).max() < 2e-6
    assert np.abs(np.linalg.norm(fromto[:, 3:] - fromto[:, :3], axis=1) - np.abs(dist)).max() < 2e-6


def test_names_sequences_and_one_world():
    mm, dd, m, d = both(
        '<mujoco><worldbody><geom name="a" size=".1"/><geom name="b" size=".2" pos="1 0 0"/>'
        '<geom name="c" type="box" size=".1 .1 .1" pos="0 2 0"/></worldbody></mujoco>'
    )
    tisim.forward(m, d)
    dist, fromto = tisim.geom_distance(m, d, "a", "b", 5)
    assert isinstance(dist, float) and abs(dist - 0.7) < 1e-12
    assert np.allclose(fromto, [0.1, 0, 0, 0.8, 0, 0])
    dist, fromto = tisim.geom_distance(m, d, ["a", 2, "b"], 1, 5)
    assert dist.shape == (3,) and fromto.shape == (3, 6)
    assert np.allclose(dist[:2], [0.7, np.hypot(0.9, 1.9) - 0.2])
    assert np.allclose(fromto[1, :3], [0.1, 1.9, 0])
    assert np.allclose(fromto[1, 3:], np.array([1, 0, 0]) + 0.2 * np.array([-0.9, 1.9, 0]) / np.hypot(0.9, 1.9))


@pytest.mark.parametrize(
    "geom1, geom2, distmax", [(0, 5, 1), (-1, 0, 1), ("a", "nobody", 1), (0, 1, "far"), (0, 1, np.nan), (0, 1, np.inf),
                              ([0, 1], [0, 1, 0], 1), (0.5, 1, 1), (None, 1, 1), ([], 1, 1)],
)  # fmt: skip
def test_wrong_arguments_are_refused(geom1, geom2, distmax):
    m = tisim.Model.from_xml_string(
        '<mujoco><worldbody><geom name="a" size=".1"/><geom size=".2" pos="1 0 0"/></worldbody></mujoco>'
    )
    d = tisim.Data(m)
    with pytest.raises(tisim.Error):
        tisim.geom_distance(m, d, geom1, geom2, distmax)
