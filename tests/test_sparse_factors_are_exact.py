"""The sparse factor of a small island gives the same Newton direction as a dense one, and a tower's has no fill.

Contract: after one round and after two, from accelerations of zero, these are those of a dense Cholesky factor, within
rounding: free bodies, jointed trees that touch themselves and each other, rows over several trees, contacts of
dimension 4 and 6, both cones, several worlds, both precisions. Blocks lie between bodies that touch and nowhere else
where bodies touch as a tree's nodes do; where welds hold them so, there may be hundreds of bodies. A body that touches
more others than a node has links leaves its island to conjugate gradients.
"""

import numpy as np
import pytest
from shared import golden

import tisim
from tisim.stages import solver

SCENES = [
    ("wall n=40", 60), ("pile n=60", 120), ("pile n=40 cone=elliptic worlds=2", 100), ("bowl n=20 multiccd=1", 100),
    ("ragdolls n=6", 150), ("ragdolls n=6 cone=elliptic worlds=2", 150), ("golden/everything.xml", 120),
    ("golden/everything.xml elliptic=1 worlds=2", 120), ("bridge n=60", 150), ("bridge n=60 cone=elliptic", 150),
]  # fmt: skip
PLATE = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 .05"><freejoint/><geom type="box" size="2 2 .05" mass="{mass}"/></body>{balls}</worldbody></mujoco>"""
BALL = '<body pos="{x} {y} {z}"><freejoint/><geom size=".1"/></body>'


@pytest.fixture
def start():
    """Starts Taichi in a precision; afterwards in double precision again."""
    yield lambda precision: tisim.init(arch="cpu", precision=precision)
    tisim.init(arch="cpu", precision="f64")


def settled(scene, steps):
    m, d, _ = golden.load(golden.Case(scene, 0))
    tisim.step(m, d, steps)
    return tisim.get_state(m, d)


def after(scene, state, rounds, **how):
    """Accelerations after some rounds from none, and how many islands have a sparse factor."""
    with golden.force(**how):
        m, d, _ = golden.load(golden.Case(scene, 0))
        m.opt.iterations = rounds
        m.opt.ls_tolerance = 1e-10  # a search that ends one step earlier would hide the direction
        m.opt.ls_iterations = 200
        tisim.set_state(m, d, state)
        d.qacc_warmstart[...] = 0  # a start that needs no search
        tisim.forward(m, d)
        return np.array(d.qacc), d.host("island_factored").reshape(-1)[: d.count("nisland")].sum()


def check(scene, steps, agree):
    state = settled(scene, steps)
    for rounds in (1, 2):
        sparse, some = after(scene, state, rounds)
        dense, none = after(scene, state, rounds, dense_up_to=10_000)
        assert some > 0 and none == 0
        assert np.abs(sparse - dense).max() <= agree * np.abs(dense).max()


@pytest.mark.parametrize("scene, steps", SCENES)
def test_directions_are_those_of_a_dense_factor(start, scene, steps):
    start("f64")
    check(scene, steps, 1e-8)


@pytest.mark.parametrize("scene, steps", [SCENES[1], SCENES[4]])
def test_they_are_in_single_precision(start, scene, steps):
    start("f32")
    check(scene, steps, 2e-2)


def test_a_tower_has_no_fill(start):
    start("f64")
    m = tisim.Model.from_scene("tower", n=30)
    d = tisim.Data(m)
    tisim.step(m, d, 20)
    order = d.host("node_order").reshape(-1)[:30]
    assert d.count("nisland") == 1 and sorted(order) == list(range(1, 31))
    assert d.host("node_linknum").reshape(-1)[order].sum() == 29
    assert d.host("island_niter").reshape(-1)[0] <= 3


def test_a_long_chain_of_welds_has_no_fill(start):
    start("f64")
    n = solver.MAX_JOINED + 20
    bodies = "".join(f'<body name="b{i}" pos="0 0 {i}"><freejoint/><geom size=".1"/></body>' for i in range(n))
    welds = "".join(f'<weld body1="b{i}" body2="b{i + 1}"/>' for i in range(n - 1))
    m = tisim.Model.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody><equality>{welds}</equality></mujoco>")
    d = tisim.Data(m)
    d.xfrc_applied[1, 0] = 1.0
    tisim.forward(m, d)
    assert d.count("nisland") == 1 and d.host("island_factored").reshape(-1)[0] == 1
    assert d.host("node_linknum").reshape(-1)[1 : n + 1].sum() == n - 1
    assert d.host("island_niter").reshape(-1)[0] <= 2


def test_a_body_with_too_many_neighbours_is_solved(start):
    start("f64")
    places = [(x, y) for x in np.linspace(-1.5, 1.5, 7) for y in np.linspace(-1.5, 1.5, 7)]
    m = tisim.Model.from_xml_string(
        PLATE.format(mass=50, balls="".join(BALL.format(x=x, y=y, z=0.199) for x, y in places))
    )
    found = []
    for how in ({}, dict(dense_up_to=0), dict(dense_up_to=10_000)):
        with golden.force(**how):
            d = tisim.Data(m)
            tisim.forward(m, d)
            found.append(np.array(d.qacc))
            assert d.count("nisland") == 1
    for other in found[1:]:
        assert np.abs(found[0] - other).max() <= 1e-6 * np.abs(other).max()
