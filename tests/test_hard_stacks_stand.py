"""dynamics="lcp", with its defaults: towers stand still, walls and piles come to rest without sinking in."""

import numpy as np
import pytest

import tisim


def tower(n, **given):
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("tower", n=n)
    m.opt.timestep, m.opt.dynamics = 0.005, "lcp"
    m.lcp.take(given)
    return m, tisim.Data(m)


@pytest.mark.parametrize("n, given, most", [(10, {}, 0.5e-3), (20, {}, 5e-3), (20, dict(substeps=20), 1e-3)])
def test_towers_stand_for_twenty_seconds(n, given, most):
    m, d = tower(n, **given)
    before = np.array(d.qpos).reshape(-1, 7)
    tisim.step(m, d, 4000)
    way = np.array(d.qpos).reshape(-1, 7) - before
    assert np.hypot(way[:, 0], way[:, 1]).max() < most and np.abs(way[:, 2]).max() < 5e-3


def test_a_pile_of_a_thousand_rests_without_sinking_in():
    """After 4 s: mean depth below 0.02 mm, greatest below 2 mm, velocities below 6 mm/s."""
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_scene("pile", n=1000)
    m.opt.dynamics = "lcp"
    d = tisim.Data(m)
    tisim.step(m, d, int(round(4 / m.opt.timestep)))
    depth = np.maximum(0, -np.asarray(d.contact.dist))
    v = np.array(d.qvel).reshape(-1, 6)[:, :3]
    assert 1e3 * depth[depth > 0].mean() < 0.02 and 1e3 * depth.max() < 2
    assert np.sqrt((v**2).sum(1).mean()) < 6e-3 and np.array(d.qpos).reshape(-1, 7)[:, 2].min() > 0
