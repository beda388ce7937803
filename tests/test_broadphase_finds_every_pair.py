"""The sweep lists exactly the pairs whose boxes and bounding spheres overlap, each once, whatever the scene's shape."""

import mujoco
import numpy as np
import pytest
from shared.contacts import both, collide, difference, scatter, their_contacts

import tisim
from tisim.device import memory

SHAPES = {"box": "0.08 0.06 0.07", "sphere": "0.08", "capsule": "0.05 0.05"}
# half extents of the cloud of bodies, and what stands in it
CLOUDS = {
    "heap": ([0.6, 0.5, 0.4], ""),
    "floor": ([4, 5, 0.01], '<geom type="box" size="6 6 .1"/>'),
    "tower": ([0.1, 0.1, 9], '<geom type="box" size=".01 2 9"/><geom type="box" size="2 .01 9"/>'),
    "rope": ([0.01, 8, 0.01], ""),
    "point": ([1e-3, 1e-3, 1e-3], ""),
}


def brute(m, d):
    """All pairs by comparing every box with every other: those of the shapes themselves, not of their local boxes."""
    x, R = np.asarray(d.geom_xpos).reshape(-1, 3), np.asarray(d.geom_xmat).reshape(-1, 3, 3)
    reach = 1.000001 * m.geom_rbound[:, None]
    center = x + np.einsum("nij,nj->ni", R, m.geom_aabb[:, :3])
    size, box = np.asarray(m.geom_size), (m.geom_type == tisim.mjtGeom.mjGEOM_BOX)[:, None]
    half = np.where(box, size, size * 0)
    half[m.geom_type == tisim.mjtGeom.mjGEOM_CAPSULE, 2] = size[m.geom_type == tisim.mjtGeom.mjGEOM_CAPSULE, 1]
    extent = 1.000001 * (np.einsum("nij,nj->ni", np.abs(R), half) + np.where(box, 0, size[:, :1]))
    lo = np.maximum(center - extent, x - reach) - m.geom_margin[:, None]
    hi = np.minimum(center + extent, x + reach) + m.geom_margin[:, None]
    reach = np.add.outer(m.geom_rbound, m.geom_rbound) + np.maximum.outer(m.geom_margin, m.geom_margin)
    hit = (lo[:, None] <= hi[None]).all(2) & (lo[None] <= hi[:, None]).all(2)
    hit &= ((x[:, None] - x[None]) ** 2).sum(2) <= reach**2
    hit[m.geom_type == 0] = False
    weld = m.body_weldid[m.geom_bodyid]
    hit &= np.not_equal.outer(weld, weld)
    return {tuple(p) for p in np.argwhere(np.triu(hit, 1))}


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("stray", [0, 1e6, 1e30])
def test_every_pair_once(cloud, stray):
    size, static = CLOUDS[cloud]
    n = 60 if cloud == "point" else 250
    geoms = [f'<geom type="{k}" size="{s}" margin="{margin}"/>' for k, s in SHAPES.items() for margin in (0, 0.02)]
    bodies = "".join(f"<body><freejoint/>{geoms[i % 6]}</body>" for i in range(n))
    mm, dd, m, d = both(f"<mujoco><worldbody>{static}{bodies}</worldbody></mujoco>")
    scatter(dd, np.random.default_rng(2), size)
    if stray:
        dd.qpos[:14].reshape(2, 7)[:, :3] = [[stray, 0, -stray], [stray, 0, -stray]]
    mujoco.mj_kinematics(mm, dd)
    collide(m, d, [dd], keep=False)
    check(m, d)


def check(m, d, exact=True):
    """Asserts that the pairs, those with planes aside, are those of `brute` (or some of them), each once, in order."""
    npair = d.count("ncpair")
    pairs = np.stack([memory.download(d.device(k))[:npair] for k in ("cpair_geom1", "cpair_geom2")], 1)
    order = pairs[:, 0].astype(np.int64) * m.ngeom + pairs[:, 1]
    assert np.all(np.diff(order) > 0)
    assert np.all(m.geom_type[pairs[:, 0]] <= m.geom_type[pairs[:, 1]])
    bounded = pairs[m.geom_type[pairs[:, 0]] != 0]
    found, expected = {tuple(sorted(p)) for p in bounded}, brute(m, d)
    assert found == expected if exact else found <= expected and len(found) > 0.7 * len(expected)


def bush(rng, count, low=3):
    """`count` geoms in one frame, some with margins."""
    kinds = list(SHAPES.items())
    return "".join(
        f'<geom type="{k}" size="{s}" pos="{x} {y} {z}" euler="{30 * i} 20 0" margin="{0.01 * (i % 2)}" mass="1"/>'
        for i, ((k, s), (x, y, z)) in enumerate(zip(kinds * count, rng.uniform(-0.5, 0.5, (count, low))))
    )


@pytest.mark.parametrize("override", ["disable", "enable"])
def test_bodies_with_many_geoms_and_static_geoms(override):
    rng = np.random.default_rng(3)
    bodies = "".join(f"<body><freejoint/>{bush(rng, n)}</body>" for n in (40, 16, 15, 1, 1, 1, 130))
    static = bush(rng, 90) + f'<body pos="1 0 0" euler="10 20 30">{bush(rng, 20)}</body>'
    mocap = f'<body mocap="true" pos=".5 0 0">{bush(rng, 20)}</body>'
    mm, dd, m, d = both(f"""<mujoco><option o_margin="0.03"><flag override="{override}"/></option><worldbody>
        <geom type="plane" size="5 5 .1"/>{static}{mocap}{bodies}</worldbody></mujoco>""")
    scatter(dd, rng, [1, 1, 1])
    theirs = their_contacts(mm, dd)
    (mine,) = collide(m, d, [dd], keep=False)
    assert len(theirs["dist"]) > 200 and difference(mine, theirs, ["dist", "geom"]) < 1e-6
    planes = m.geom_type[memory.download(d.device("cpair_geom1"))[: d.count("ncpair")]] == 0
    assert planes.any()
    if override == "disable":  # with an override the trees keep the model's margins besides
        check(m, d, exact=False)  # boxes that meet in the world may miss each other in the frame of a body


def test_static_trees_follow_the_model():
    xml = """<mujoco><worldbody><geom name="shelf" type="box" size="1 1 .1" pos="0 0 -5"/>
        <body><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    m = tisim.Model.from_xml_string(xml)
    d = tisim.Data(m)
    tisim.forward(m, d)
    assert d.ncon == 0
    m.geom_pos[0, 2] = -0.15
    tisim.forward(m, d)
    assert d.ncon == 1
