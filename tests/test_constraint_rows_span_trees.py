"""A constraint row may have any number of dofs, on several branches and in several trees, and any of the three costs.

Contract: connect, weld, equalities of joints and fixed tendons, friction loss and limits of tendons in one scene: qacc,
forces and efc_ vectors equal MuJoCo's 3.4.0, with the dense factor, with conjugate gradients, and with all threads on
an island; worlds stay independent, and lists that are too short grow.
"""

import numpy as np
import pytest
from shared import golden
from shared.reference import Pair, error

import tisim
from tisim.data.validate import validate
from tisim.device import team
from tisim.model import features
from tisim.stages import constraint, solver

# a tree of two branches, an arm, free bodies in chains of equalities, a floor that some of them touch
XML = """
<mujoco>
  <option cone="{cone}"/>
  <default><geom density="800" friction=".6"/><joint damping=".02" armature=".01"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="trunk" pos="0 0 .6">
      <joint name="a0" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03"/>
      <body pos=".2 0 0">
        <joint name="a1" axis="0 1 0"/><joint name="a2" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 .2 .1 0" size=".03"/>
        <body name="left" pos=".2 .1 0"><joint name="a3" axis="1 1 0" range="-1 1" limited="true"/>
          <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body>
      </body>
      <body pos=".2 0 0">
        <joint name="a4" axis="0 1 0" frictionloss=".05"/><geom type="capsule" fromto="0 0 0 .2 -.1 0" size=".03"/>
        <body name="right" pos=".2 -.1 0"><joint name="a5" type="slide" axis="1 0 0"/>
          <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body>
      </body>
    </body>
    <body name="arm" pos="0 1 .5">
      <joint name="b0" axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 .3 0" size=".03"/>
      <body name="hand" pos="0 .3 0"><joint name="b1" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0 .3 0" size=".03"/></body>
    </body>
    <body pos="-1 0 1"><joint name="g0" axis="0 1 0" frictionloss=".02"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03"/></body>
    <body name="c" pos="1 0 .3" euler="10 20 30"><freejoint/><geom type="box" size=".05 .06 .07"/></body>
    <body name="e" pos="1.2 0 .35" euler="-20 0 15"><freejoint/><geom type="box" size=".05 .04 .05"/></body>
    <body name="f" pos=".02 1.65 .5"><freejoint/><geom size=".05"/></body>
    <body name="alone" pos="2 2 .05"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <tendon>
    <fixed name="whole" frictionloss=".1"><joint joint="a0" coef="1"/><joint joint="a2" coef="-.5"/>
      <joint joint="a3" coef=".7"/><joint joint="a4" coef="1.2"/><joint joint="a5" coef="2"/></fixed>
    <fixed name="across" range="-.05 .1" limited="true" margin=".02"><joint joint="a1" coef="1"/>
      <joint joint="a4" coef="-1"/><joint joint="b0" coef=".5"/><joint joint="b1" coef=".8"/>
      <joint joint="g0" coef="-.6"/></fixed>
    <fixed name="stiff"><joint joint="a0" coef="1"/><joint joint="a3" coef="1"/><joint joint="a5" coef="-1"/></fixed>
  </tendon>
  <equality>
    <weld body1="c" body2="e" torquescale=".7"/>
    <connect body1="hand" body2="f" anchor="0 .3 0"/>
    <weld body1="f" body2="c" solref=".03 1"/>
    <joint joint1="b0" joint2="a4" polycoef=".05 .8 .3 0 .2"/>
    <tendon tendon1="stiff" solimp=".99 .999 .001"/>
  </equality>
</mujoco>
"""
EFC = "type id state pos margin frictionloss diagApprox D R vel aref force".split()


def model(monkeypatch, cone="pyramidal", road="dense"):
    """The pair of models, on a road of the solver."""
    tisim.init(arch="cpu", precision="f64")
    pair = Pair(XML.format(cone=cone))
    if road in ("factor", "gradients", "team"):
        monkeypatch.setattr(solver, "MAX_DENSE", 0)
    if road in ("gradients", "team"):
        monkeypatch.setattr(solver, "MAX_FACTOR", 0)
    if road in ("team", "all threads"):
        monkeypatch.setattr(solver, "SHARED", 0)
        monkeypatch.setattr(solver, "GPU_SHARED", 0)
    if road == "team":
        monkeypatch.setattr(team, "workers", lambda: 2)
    if road == "all threads":
        monkeypatch.setattr(solver, "queued", lambda: True)
    return pair


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("road", [
    "dense", "factor", "gradients", "team", pytest.param("all threads", marks=pytest.mark.slow),
])  # fmt: skip
def test_rows_equal_mujocos(monkeypatch, road, cone):
    pair = model(monkeypatch, cone, road)
    pair.md.qvel[:] = np.random.default_rng(2).normal(size=pair.mm.nv)
    kinds, contacts = set(), 0
    for k in pair.states(8, 10):
        validate(pair.m, pair.d)
        assert (pair.d.ncon, pair.d.nefc, pair.d.nisland) == (pair.md.ncon, pair.md.nefc, pair.md.nisland), k
        for name in ("qacc_smooth", "qacc", "qfrc_constraint"):
            assert pair.error(name) < 1e-8, (k, name)
        for name in EFC:
            if name != "state":  # MuJoCo's is stale with islands
                assert pair.error("efc_" + name) < 1e-7, (k, name)
        kinds.update(np.asarray(pair.d.efc_type).tolist())
        contacts += pair.d.ncon
        assert pair.d.count("nlarge") == (road in ("team", "all threads"))
    assert {0, 1, 2, 3, 4} <= kinds and contacts > 0  # equality, friction and limits of dofs and tendons


def test_rows_grow_and_worlds_are_independent(monkeypatch):
    for road in ("dense", "gradients", "team", "all threads"):
        with monkeypatch.context() as patch:
            pair = model(patch, road=road)
            m = pair.m
            velocity = np.random.default_rng(5).normal(size=(3, m.nv))
            every, single = tisim.Data(m, nworld=3), [tisim.Data(m) for _ in range(3)]
            before = every.capacity("nrowmax"), every.capacity("nJmax")
            every.qvel = velocity
            tisim.step(m, every, 20)
            validate(m, every)
            assert every.capacity("nrowmax") > before[0] and every.capacity("nJmax") > before[1]
            for w, one in enumerate(single):
                one.qvel = velocity[w]
                tisim.step(m, one, 20)
                for name in ("qpos", "qvel", "qacc", "qfrc_constraint"):
                    assert np.array_equal(np.asarray(getattr(every, name))[w], getattr(one, name)), (road, w, name)


def test_roads_and_loops_agree(monkeypatch):
    """Serial and parallel kernels give the same bits."""
    results = []
    for variant in ("serial", "parallel"):
        with monkeypatch.context() as patch, golden.force(variant):
            pair = model(patch)
            pair.d.qvel = np.random.default_rng(5).normal(size=pair.m.nv)
            tisim.step(pair.m, pair.d, 30)
            results.append(pair.d.qpos[:].copy())
    assert error(*results) == 0


def test_makers_are_known_to_the_model():
    """What a maker makes rows of is a reason to compile kernels with rows."""
    assert {maker.size for maker in constraint.MAKERS} == set(features.ROWS)
