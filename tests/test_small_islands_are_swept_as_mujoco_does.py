"""PGS on islands whose forces are vectors of four makes MuJoCo's sweeps: after as many of them qacc and the forces on
rows are MuJoCo's, and what is told of each; a world of a batch is that world alone, bit for bit."""

import mujoco
import numpy as np
import pytest

import tisim

LEGS = """<mujoco><option solver="PGS" iterations="{sweeps}" tolerance="0" timestep=".004"/><worldbody>
<geom type="plane" size="9 9 .1" condim="1"/><body pos="0 0 .33"><freejoint/><geom size=".12"/>
<replicate count="3" euler="0 0 120"><body pos=".1 0 0">
<joint axis="0 1 0" range="-10 60" limited="true" damping=".1" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .2 0 -.1" size=".03"/><body pos=".2 0 -.1">
<joint axis="0 1 0" range="-30 30" limited="true" frictionloss=".2"/>
<geom type="capsule" fromto="0 0 0 .05 0 -.25" size=".03" condim="{condim}" friction="1 .02 .01"/></body></body>
</replicate></body></worldbody></mujoco>"""
ROUNDS = "nactive", "nchange", "improvement"


def models(condim, sweeps):
    text = LEGS.format(condim=condim, sweeps=sweeps)
    return tisim.Model.from_xml_string(text), mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("condim, sweeps", [(1, 7), (3, 1), (3, 40), (4, 7), (6, 7)])
def test_sweeps_are_mujocos(condim, sweeps):
    tisim.init(arch="cpu", precision="f64")
    m, mm = models(condim, sweeps)
    d, md = tisim.Data(m), mujoco.MjData(mm)
    md.qvel[:] = np.random.default_rng(1).normal(size=mm.nv)
    rows = 0
    for step in range(60):
        mujoco.mj_step(mm, md)
        mujoco.mj_forward(mm, md)
        d.qpos, d.qvel, d.qacc_warmstart = md.qpos, md.qvel, md.qacc_warmstart
        tisim.forward(m, d)
        mujoco.mj_forward(mm, md)
        scale = max(1.0, np.abs(md.qacc).max())
        assert np.abs(d.qacc - md.qacc).max() < 1e-7 * scale, step
        assert np.abs(d.qfrc_constraint - md.qfrc_constraint).max() < 1e-7 * max(1.0, np.abs(md.qfrc_constraint).max())
        n = int(md.solver_niter[0])
        assert n == d.solver_niter[0]
        theirs = {name: np.array([getattr(x, name) for x in md.solver[:n]]) for name in ROUNDS}
        if sweeps < 10:  # later a force on its bound may be there or just beside it, by rounding
            for name in ROUNDS[:2]:
                assert np.array_equal(getattr(d.solver, name)[0, :n], theirs[name]), (step, name)
        assert np.abs(d.solver.improvement[0, :n] - theirs["improvement"]).max() < 1e-7 * max(1.0, scale)
        rows = max(rows, md.nefc)
    assert rows > 8
    assert "small_vec" in d.memory()


def test_worlds_are_worlds_alone():
    tisim.init(arch="cpu", precision="f64")
    m, _ = models(3, 50)
    m.opt.tolerance = 1e-8
    rng = np.random.default_rng(2)
    batch = tisim.Data(m, nworld=5)
    batch.qpos = np.tile(m.qpos0, (5, 1)) + 0.1 * rng.random((5, m.nq))
    batch.qvel = rng.normal(size=(5, m.nv))
    singles = [tisim.Data(m) for _ in range(5)]
    for one, q, v in zip(singles, np.array(batch.qpos), np.array(batch.qvel)):
        one.qpos, one.qvel = q, v
    for _ in range(8):
        tisim.step(m, batch, 10)
        for w, one in enumerate(singles):
            tisim.step(m, one, 10)
            assert np.array_equal(batch.qpos[w], one.qpos) and np.array_equal(batch.qacc[w], one.qacc), w
