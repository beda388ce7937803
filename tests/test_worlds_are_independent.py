"""Three worlds of one Data are three single worlds, bit for bit, also when the loops run in parallel."""

import numpy as np
import pytest
from shared.smooth import MODELS, smooth_step

import tisim
from tisim import dynamics


@pytest.mark.parametrize("path", [p for p in MODELS if p.stem in ("static", "springs")], ids=lambda p: p.stem)
@pytest.mark.parametrize("threshold", [dynamics.PARALLEL_BODIES, 0])
def test_three_worlds(path, threshold, monkeypatch):
    monkeypatch.setattr(dynamics, "PARALLEL_BODIES", threshold)
    m = tisim.Model.from_xml_path(path)
    m.opt.enableflags = 2
    rng = np.random.default_rng(3)
    qpos = m.qpos0 + 0.3 * rng.normal(size=(3, m.nq))
    qvel = rng.normal(size=(3, m.nv))
    batch = tisim.Data(m, nworld=3)
    batch.qpos, batch.qvel = qpos, qvel
    for _ in range(3):
        smooth_step(m, batch)
    for w in range(3):
        one = tisim.Data(m)
        one.qpos, one.qvel = qpos[w], qvel[w]
        for _ in range(3):
            smooth_step(m, one)
        for name in "qpos qvel xpos geom_xmat site_xpos subtree_com cinert crb M qLD cvel qfrc_passive energy".split():
            assert np.array_equal(np.asarray(getattr(batch, name))[w], getattr(one, name)), name
        assert batch.time[w] == one.time
