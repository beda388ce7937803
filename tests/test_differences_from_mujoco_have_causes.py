"""Where models of gymnasium and dm_control, or random ones, differ from MuJoCo 3.4.0, it is for one of four causes,
shown here on small models of the same kind.

- Another library: Kinova's Jaco arm sets nativeccd="disable", by which 3.4.0 asks libccd for the depth of its flat
  cylinders and meshes, which lie deep in each other. That gives more than the least depth; tisim, which has no such
  library, gives the least, as 3.4.0 does without that flag.
- No direction: legs of dm_control's ant are capsules that begin at the same point, so that the distance of their
  segments is 0 but for rounding, and rounding makes the normal. It has no effect, as they are hinged there.
- Chaos: the humanoids of CMU fall onto themselves. A rollout parts from MuJoCo's no faster than MuJoCo's own does when
  it starts with velocities of 1e-15.
- Rounding in flat triangles: near a round shape the last points that GJK and EPA find lie close together, and rounding
  decides where the nearest place is. MuJoCo's own contact moves as far when its pose changes by a last digit.
"""

import mujoco
import numpy as np
import pytest
from shared.contacts import both, collide, quaternion, their_contacts
from shared.reference import Pair
from shared.support import width

import tisim

NPOSE = 20


def least(mm, dd, rng):
    """The least width over all directions: the best of many, then of ever more near the best."""

    def unit(v):
        return v / np.linalg.norm(v, axis=1)[:, None]

    n = unit(rng.normal(size=(2000, 3)))
    w = width(mm, dd, 0, 1, n)
    starts, found = n[np.argsort(w)[:6]], []
    for best in starts:
        value, spread = np.inf, 0.1
        while spread > 1e-6:
            near = unit(np.vstack([best, best + spread * rng.normal(size=(60, 3))]))
            w = width(mm, dd, 0, 1, near)
            spread *= 0.5 if w.min() >= value - 1e-12 else 1.0
            best, value = near[w.argmin()], w.min()
        found.append(value)
    return min(found)


def hull(n):
    """Vertices of a mesh, n points of an ellipsoid."""
    points = np.random.default_rng(5).normal(size=(n, 3))
    points *= [0.03, 0.04, 0.1] / np.linalg.norm(points, axis=1)[:, None]
    return " ".join(f"{x:.5g}" for x in points.ravel())


@pytest.mark.parametrize("other", ("cylinder", "mesh"))
def test_depths_are_the_least_where_the_other_librarys_are_not(other):
    shape = dict(cylinder='type="cylinder" size=".035 .009"', mesh='type="mesh" mesh="m"')[other]
    text = f"""<mujoco><option><flag nativeccd="disable"/></option><asset><mesh name="m" vertex="{hull(60)}"/></asset>
      <worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <geom type="cylinder" size=".044 .011"/></body>
      <body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom {shape}/></body></worldbody>
      </mujoco>"""
    mm, _, m, d = both(text, NPOSE)
    rng, datas, depths = np.random.default_rng(1), [], {True: [], False: []}
    for _ in range(NPOSE):
        dd = mujoco.MjData(mm)
        dd.qpos[:] = [0, 0, 0, *quaternion(rng), *rng.uniform(-0.012, 0.012, 3), *quaternion(rng)]
        datas.append(dd)
        for native, found in depths.items():
            mm.opt.disableflags = 0 if native else mujoco.mjtDisableBit.mjDSBL_NATIVECCD
            found.append(-their_contacts(mm, dd)["dist"][0, 0])
    ours = np.array([-c["dist"][0, 0] for c in collide(m, d, datas)])
    true = np.array([least(mm, dd, rng) for dd in datas])
    np.testing.assert_allclose(ours, true, atol=2e-6)
    np.testing.assert_allclose(depths[True], true, atol=2e-6)
    assert (np.array(depths[False]) > 1.1 * true).sum() > NPOSE // 4


def test_capsules_that_share_an_end_differ_in_the_normal_alone():
    """Four equal legs, equally bent: MuJoCo itself gives some a normal along the hinge, others not."""
    leg = """<body pos="{x} {y} 0"><geom type="capsule" fromto="0 0 0 {x} {y} 0" size=".08"/><body pos="{x} {y} 0">
      <joint axis="{v} {x} 0" range="30 70" limited="true"/>
      <geom type="capsule" fromto="0 0 0 {f} {g} 0" size=".08"/></body></body>"""
    legs = "".join(leg.format(x=x, y=y, v=-y, f=2 * x, g=2 * y) for x in (0.2, -0.2) for y in (0.2, -0.2))
    pair = Pair(f"""<mujoco><option><flag filterparent="disable"/></option><worldbody><body pos="0 0 2"><freejoint/>
      <geom size=".05"/>{legs}</body></worldbody></mujoco>""")
    rng, along = np.random.default_rng(0), []
    for _ in range(10):
        pair.md.qpos[:] = [*rng.uniform(-9, 9, 3), *quaternion(rng), *[rng.uniform(0.6, 1.1)] * 4]
        pair.md.qvel[:] = rng.normal(size=pair.mm.nv)
        pair.forward()
        theirs = pair.md.contact
        ends = np.flatnonzero(np.abs(theirs.dist + 0.16) < 1e-9)
        assert len(ends) >= 4
        hinges = pair.md.xaxis[1 + (theirs.geom[ends].min(1) - 1) // 2]
        along += np.abs((theirs.frame[ends, :3] * hinges).sum(1)).tolist()
        assert pair.d.ncon == pair.md.ncon
        order = [np.lexsort(np.asarray(c.geom).T) for c in (pair.d.contact, theirs)]
        for name in ("geom", "dist", "pos"):
            ours, other = (np.asarray(getattr(c, name))[o] for c, o in zip((pair.d.contact, theirs), order))
            np.testing.assert_allclose(ours, other, atol=1e-12)
        assert pair.error("qacc") < 1e-9
    assert min(along) < 0.5 and max(along) > 0.9


def test_contacts_of_round_shapes_differ_no_more_than_mujocos_own_by_a_last_digit():
    rng, found, other = np.random.default_rng(3), 0, 0
    shapes = dict(ellipsoid=3, sphere=1, capsule=2, cylinder=2)
    for one, two in 20 * [("ellipsoid", "sphere"), ("ellipsoid", "capsule"), ("cylinder", "capsule")]:
        geoms = [f'<geom type="{k}" size="{" ".join(map(str, rng.uniform(0.02, 0.4, shapes[k])))}" margin=".05"/>'
                 for k in (one, two)]  # fmt: skip
        text = f"""<mujoco><worldbody><body><freejoint/>{geoms[0]}</body>
          <body><freejoint/>{geoms[1]}</body></worldbody></mujoco>"""
        mm, _, m, d = both(text, NPOSE)
        datas = [mujoco.MjData(mm) for _ in range(NPOSE)]
        for dd in datas:
            away = rng.normal(size=3)
            away *= mm.geom_rbound.sum() * rng.uniform(0.1, 0.9) / np.linalg.norm(away)
            dd.qpos[:] = [0, 0, 0, *quaternion(rng), *away, *quaternion(rng)]
        theirs = [their_contacts(mm, dd)["pos"] for dd in datas]
        for dd, a, b in zip(datas, collide(m, d, datas), theirs):
            found += len(b)
            if len(a["pos"]) == len(b) and np.abs(a["pos"] - b).max(initial=0) < 1e-8:
                continue
            other, pose, own = other + 1, dd.qpos.copy(), []
            for _ in range(40):
                dd.qpos[:] = pose * (1 + 1e-15 * rng.normal(size=14))
                own.append(their_contacts(mm, dd)["pos"])
            if len(a["pos"]) == len(b) and all(len(x) == len(b) for x in own):
                assert np.abs(a["pos"] - b).max() < 10 * np.abs(np.array(own) - b).max()
            else:
                assert len(a["pos"]) in {len(x) for x in own}
    assert found > 500 and 0 < other < found / 10, (found, other)


PEGS = "".join(
    f'<geom size=".05" pos="{0.25 * (c + 0.5 * (r % 2)):.4g} 0 {-0.2 * r:.4g}"/>'
    for r in range(9)
    for c in range(-6, 7)
)
BOARD = f"""<mujoco><default><geom solref="-20000 -2"/></default><worldbody>{PEGS}
  <body pos=".013 0 .2"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <geom size=".05" mass=".5"/></body></worldbody></mujoco>"""


def test_chaos_parts_rollouts_as_it_parts_mujocos_own():
    """A ball falls through a board of pegs: each bounce makes a difference some times larger, until it is all."""

    def paths(starts, every=60, rounds=25):
        found = []
        for start in starts:
            pair.md.qvel[:] = start
            found.append([])
            for _ in range(rounds):
                mujoco.mj_step(pair.mm, pair.md, every)
                found[-1].append(pair.md.qpos.copy())
            mujoco.mj_resetData(pair.mm, pair.md)
        return np.array(found)

    pair = Pair(BOARD)
    plain, *pushed = paths([0, *(1e-15 * np.random.default_rng(0).normal(size=(8, 2)))])
    ours = []
    for _ in plain:
        tisim.step(pair.m, pair.d, 60)
        ours.append(np.array(pair.d.qpos))
    mine = np.abs(np.array(ours) - plain).max(1)
    theirs = np.abs(np.array(pushed) - plain).max((0, 2))
    assert theirs[5] < 1e-11 and theirs[-1] > 0.1
    assert (mine <= 10 * theirs + 1e-15).all(), (mine, theirs)
