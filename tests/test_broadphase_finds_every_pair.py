"""The sweep lists exactly the pairs whose boxes and bounding spheres overlap, each once, whatever the scene's shape."""

import mujoco
import numpy as np
import pytest
from contacts import both, collide, scatter

from tisim import launch

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
    """All pairs by comparing every box with every other."""
    lo, hi = (launch.download(d.device(n)).reshape(-1, 3)[: m.ngeom] for n in ("geom_boxlo", "geom_boxhi"))
    x = np.asarray(d.geom_xpos).reshape(-1, 3)
    reach = np.add.outer(m.geom_rbound, m.geom_rbound) + np.maximum.outer(m.geom_margin, m.geom_margin)
    hit = (lo[:, None] <= hi[None]).all(2) & (lo[None] <= hi[:, None]).all(2)
    hit &= ((x[:, None] - x[None]) ** 2).sum(2) <= reach**2
    hit &= np.not_equal.outer(m.geom_bodyid, m.geom_bodyid)
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
    collide(m, d, [dd])
    npair = d.count("npair")
    pairs = np.stack([launch.download(d.device(k))[:npair] for k in ("cpair_geom1", "cpair_geom2")], 1)
    order = pairs[:, 0].astype(np.int64) * m.ngeom + pairs[:, 1]
    assert np.all(np.diff(order) > 0)
    assert np.all(m.geom_type[pairs[:, 0]] <= m.geom_type[pairs[:, 1]])
    assert {tuple(sorted(p)) for p in pairs} == brute(m, d)
