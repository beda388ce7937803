"""Three worlds of one Data are three single worlds, bit for bit, with contacts, joints and limits, whether loops run in
parallel, and whether one thread or all solve an island."""

import numpy as np
import pytest
from shared import checked, golden
from shared.smooth import MODELS

import tisim

EVERYTHING = golden.TESTDATA / "golden" / "everything.xml"
FIELDS = """qpos qvel qacc qacc_warmstart qfrc_constraint xpos geom_xmat site_xpos subtree_com cinert crb M qLD cvel
qfrc_passive energy time""".split()


@pytest.mark.parametrize("variant", ["serial", "parallel", "team", "shared"])
@pytest.mark.parametrize("path", [*(p for p in MODELS if p.stem in ("static", "springs", "ragdoll")), EVERYTHING],
                         ids=lambda p: p.stem)  # fmt: skip
def test_three_worlds(path, variant):
    tisim.init(arch="cpu", precision="f64")
    steps = 40 if path == EVERYTHING else 5
    m = tisim.Model.from_xml_path(path)
    m.opt.enableflags = int(tisim.mjtEnableBit.mjENBL_ENERGY)
    rng = np.random.default_rng(3)
    qpos = m.qpos0 + 0.3 * rng.normal(size=(3, m.nq)) * (path != EVERYTHING)
    qvel = rng.normal(size=(3, m.nv))
    with golden.force(variant):
        batch, single = tisim.Data(m, nworld=3), [tisim.Data(m) for _ in range(3)]
        batch.qpos, batch.qvel = qpos, qvel
        checked.step(m, batch, steps)
        for w, one in enumerate(single):
            one.qpos, one.qvel = qpos[w], qvel[w]
            tisim.step(m, one, steps)
    touching = 0
    for w, one in enumerate(single):
        for name in FIELDS:
            assert np.array_equal(np.asarray(getattr(batch, name))[w], getattr(one, name)), name
        mine = np.asarray(batch.contact.worldid) == w
        for name in golden.CONTACT:
            if name not in ("worldid", "efc_address"):
                assert np.array_equal(np.asarray(getattr(batch.contact, name))[mine], getattr(one.contact, name)), name
        touching += one.ncon
    assert touching > (30 if path == EVERYTHING else -1)
    assert batch.nefc == sum(one.nefc for one in single) and batch.nisland == sum(one.nisland for one in single)
    if path == EVERYTHING:
        assert {1, 3} <= set(np.asarray(batch.efc_type).tolist())  # friction loss and limits
        assert batch.count("nlarge") > 0 or variant not in ("team", "shared")
