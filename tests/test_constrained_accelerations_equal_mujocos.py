"""From equal states, tisim and MuJoCo 3.4.0 list equal contacts and rows and reach the same minimum.

Contract: number of contacts, rows and islands equal; qacc and constraint forces within 1e-6 of their scale, for every
pair of primitives, both cones and condim 1, 3, 4, 6, for joint limits and friction loss, and for every scene. In f32
poses and M within 1e-5, forces within 1e-3 and accelerations within 1e-2, where the contacts are the same: shapes that
just touch or are just parallel may have others.
"""

import pathlib

import pytest
from shared.reference import Pair, error

import tisim
from tisim import scenes

CONTACTS = sorted((pathlib.Path(__file__).parent / "testdata" / "contacts").glob("*.xml"))
SCENES = {
    "pile": dict(n=30), "dominos": dict(n=15), "ragdolls": dict(n=2), "wall": {}, "pyramid": dict(n=91), "chain": {},
    "pendulum": {}, "joints": {},
}  # fmt: skip
LIMITS = """
<mujoco>
  <option cone="{cone}"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 .5">
      <joint type="ball" limited="true" range="0 30" frictionloss=".01"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/>
      <body pos=".4 0 0">
        <joint type="hinge" axis="0 1 0" range="-20 20" margin="2"/>
        <joint type="slide" axis="1 0 0" range="-.01 .02" frictionloss=".3" solreflimit="-500 -20"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def compare(pair, count, steps):
    for k in pair.states(count, steps):
        assert (pair.d.ncon, pair.d.nefc, pair.d.nisland) == (pair.md.ncon, pair.md.nefc, pair.md.nisland), k
        for name in ("qacc_smooth", "qacc", "qfrc_constraint"):
            assert pair.error(name) < 1e-6, (k, name)


def test_the_models_cover_all_pairs_cones_and_dims():
    names = [p.stem for p in CONTACTS]
    assert len(names) >= 40
    shapes = ("plane", "sphere", "capsule", "box")
    for i, a in enumerate(shapes):
        for b in shapes[i:]:
            for dim in (1, 3, 4, 6):
                for cone in ("pyramidal", "elliptic"):
                    assert f"{a}_{b}_{dim}_{cone}" in names


@pytest.mark.parametrize("path", CONTACTS, ids=lambda p: p.stem)
def test_contact_states(path):
    pair = Pair(None, path)
    compare(pair, 3, 15)


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name):
    compare(Pair(scenes.build(name, **SCENES[name])), 3, 40)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_limits_and_friction_loss(cone):
    compare(Pair(LIMITS.format(cone=cone)), 6, 60)


F32 = dict(xpos=1e-5, M=1e-5, qfrc_constraint=1e-3, qacc_smooth=1e-2, qacc=1e-2)


def compare_f32(pair, count, steps):
    """Number of states in which the contacts are the same; asserts that all else is near in those."""
    same = 0
    for k in pair.states(count, steps):
        if (pair.d.ncon, pair.d.nefc, pair.d.nisland) == (pair.md.ncon, pair.md.nefc, pair.md.nisland):
            same += 1
            for name, tolerance in F32.items():
                assert pair.error(name) < tolerance, (k, name)
    return same


@pytest.mark.slow
def test_contact_states_in_f32():
    """Both cones in turn."""
    some = CONTACTS[::5]
    assert {path.stem.split("_")[-1] for path in some} == {"pyramidal", "elliptic"}
    assert sum(compare_f32(Pair(None, path, "f32"), 3, 15) for path in some) >= 0.9 * 3 * len(some)


@pytest.mark.parametrize(
    "name", ["pile", *(pytest.param(n, marks=pytest.mark.slow) for n in ("ragdolls", "joints", "chain"))]
)
def test_scenes_in_f32(name):
    assert compare_f32(Pair(scenes.build(name, **SCENES[name]), precision="f32"), 3, 40) >= 2


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_limits_and_friction_loss_in_f32(cone):
    assert compare_f32(Pair(LIMITS.format(cone=cone), precision="f32"), 6, 60) == 6


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_rows_read_as_mujocos(cone):
    """efc_*; MuJoCo 3.4.0 lists a stale efc_state with islands, so they are off here."""
    xml = LIMITS.format(cone=cone).replace("<option", '<option><flag island="disable"/></option><option impratio="2"')
    pair = Pair(xml)
    contacts = 0
    for _ in pair.states(9, 25):
        contacts += pair.d.ncon
        assert pair.d.nefc == pair.md.nefc > 0
        for name in "type id state pos margin frictionloss diagApprox D R vel aref force".split():
            assert pair.error("efc_" + name) < 1e-7, name
        assert error(pair.d.efc_KBIP[:, :3], pair.md.efc_KBIP.reshape(-1, 4)[:, :3]) < 1e-9
    assert contacts > 0


def test_forward_twice_changes_nothing():
    pair = Pair(scenes.build("pile", n=30))
    for _ in pair.states(2, 150):
        first = pair.d.qacc[:].copy()
        tisim.forward(pair.m, pair.d)
        assert (pair.d.qacc[:] == first).all()


def test_options_changed_later_are_checked():
    pair = Pair(scenes.build("pendulum"))
    pair.m.opt.enableflags |= tisim.mjtEnableBit.mjENBL_SLEEP
    pair.m.opt.integrator = tisim.mjtIntegrator.mjINT_RK4
    with pytest.raises(tisim.UnsupportedError, match="sleep"):
        tisim.step(pair.m, pair.d)
