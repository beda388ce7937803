"""Four trees in a row that are alike are factored and solved side by side, as a processor of vectors likes it.

Contract: nobody can tell. Accelerations, forces and counts of products have the bits that they have where each tree is
solved alone, whatever stands between alike trees, in one world or several, by any number of workers. Which trees are
alike follows from bodies and dofs below each other, not from sizes.
"""

import dataclasses

import numpy as np
import pytest
from shared.golden import force

import tisim
from tisim.model import device_model

FIGURE = """<body pos="{x} {y} {z}"><freejoint/><geom type="capsule" size=".1 .2" mass="{mass}"/>
<body pos="0 0 .35"><joint type="ball" range="0 50" limited="true" damping=".1"/><geom size=".12"/></body>
<body pos=".25 0 0"><joint axis="0 1 0" range="-60 60" limited="true"/><joint axis="0 0 1" damping=".1"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".06"/>
<body pos=".35 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".05"/></body></body></body>"""
OTHER = """<body pos="{x} {y} {z}"><freejoint/><geom type="box" size=".1 .1 .1" mass="{mass}"/>
<body pos="0 0 .2"><joint axis="1 0 0"/><geom type="capsule" fromto="0 0 0 0 .3 .1" size=".06"/></body></body>"""
BALL = """<body pos="{x} {y} {z}"><freejoint/><geom size=".15" mass="{mass}"/></body>"""


def heap(kinds):
    rng = np.random.default_rng(3)
    bodies = []
    for i, kind in enumerate(kinds):
        x, y = rng.uniform(-0.3, 0.3, 2)
        text = dict(f=FIGURE, o=OTHER, b=BALL)[kind]
        bodies.append(text.format(x=x, y=y, z=0.3 + 0.35 * i, mass=rng.uniform(0.5, 2)))
    return f'<mujoco><worldbody><geom type="plane" size="9 9 1"/>{"".join(bodies)}</worldbody></mujoco>'


def fallen(kinds, worlds, workers, steps=250):
    """What a heap has after some steps, all of it by conjugate gradients, and the most products of a step."""
    with force("team", workers=workers):
        m = tisim.Model.from_xml_string(heap(kinds))
        d = tisim.Data(m, nworld=worlds)
        if worlds > 1:
            d.qvel = np.random.default_rng(0).normal(size=(worlds, m.nv))
        most = 0
        for _ in range(steps // 10):
            tisim.step(m, d, 10)
            most = max(most, int(d.host("island_nproduct").reshape(-1)[: d.count("nisland")].sum()))
        return [np.array(x) for x in (d.qpos, d.qvel, d.qacc, d.qfrc_constraint)], most, m.derived("tree_alike")


@pytest.fixture
def apart(monkeypatch):
    """No trees are alike."""

    def none(m):
        return np.zeros(m.ntree, int)

    def do():
        table = dataclasses.replace(device_model.DERIVED["tree_alike"], make=none)
        monkeypatch.setitem(device_model.DERIVED, "tree_alike", table)

    return do


@pytest.mark.parametrize("kinds, worlds", [("ffffffff", 1), ("fffffoooobfffffbffffff", 1), ("fffffffff", 3)])
def test_the_bits_are_those_of_trees_alone(kinds, worlds, apart):
    together, products, alike = fallen(kinds, worlds, 1)
    assert alike.any() and products > 10
    for x, y in zip(together, fallen(kinds, worlds, 2)[0]):
        assert np.array_equal(x, y)
    apart()
    alone, same, alike = fallen(kinds, worlds, 1)
    assert not alike.any() and same == products
    for x, y in zip(together, alone):
        assert np.array_equal(x, y)


@pytest.mark.parametrize(
    "kinds, expected",
    [("ffff", "1000"), ("fff", "000"), ("fffff", "11000"), ("ffoffff", "0001000"), ("offffooo", "01000000"),
     ("oooobbbb", "10000000"), ("", "")],
)  # fmt: skip
def test_which_trees_are_alike(kinds, expected):
    m = tisim.Model.from_xml_string(heap(kinds))
    assert "".join(map(str, m.derived("tree_alike"))) == expected


def test_a_model_without_alike_trees_has_no_room_for_them():
    m = tisim.Model.from_xml_string(heap("fff"))
    assert m.scalar("nlane") == m.scalar("nlanedof") == 0
    assert len(m.derived("above_dof")) == 0
