"""Conjugate gradients of a large island that rows hold together are preconditioned by an incomplete sparse factor.

Contract: what is solved with it is what is solved without, for chains, trees, grids and random graphs of connects and
welds, jointed trees and joint equalities among them, also where bodies are numbered without order and where a node has
too many neighbours. Where nothing is dropped, in a chain, a round takes one product with the
Hessian; in a grid it saves most of them. Bits do not depend on the number of threads.
"""

import numpy as np
import pytest

import tisim
from tisim.stages import solver

BODY = (
    '<body name="b{i}" pos="{x:.4f} {y:.4f} {z:.4f}" euler="{e} {f} 0"><freejoint/>'
    '<geom size=".05" mass="{mass}"/></body>'
)
ARM = (
    '<body name="a{i}" pos="{x:.4f} {y:.4f} {z:.4f}"><joint type="ball"/><geom size=".05"/>'
    '<body name="b{i}" pos="0 0 .2"><joint name="j{i}" axis="1 0 0"/><joint axis="0 1 0"/><geom size=".05"/></body>'
    "</body>"
)


def grid(n):
    return [(i, k) for i in range(n * n) for k in ([i + 1] if (i + 1) % n else []) + ([i + n] if i + n < n * n else [])]


def random_graph(n, more):
    rng = np.random.default_rng(n)
    pairs = {(int(rng.integers(i)), i) for i in range(1, n)}
    while len(pairs) < n - 1 + more:
        a, b = sorted(rng.integers(n, size=2).tolist())
        if a != b:
            pairs.add((a, b))
    return sorted(pairs)


GRAPHS = dict(
    chain=[(i, i + 1) for i in range(39)], tree=[((i - 1) // 3, i) for i in range(1, 40)], grid=grid(9),
    random=random_graph(40, 15), star=[(0, i) for i in range(1, 40)] + [(1, 2)],
)  # fmt: skip


def model(graph, kind="connect", shuffled=False, arms=False, joints=False):
    """MJCF of bodies joined as the graph says."""
    pairs = GRAPHS[graph]
    n = 1 + max(b for _, b in pairs)
    rng = np.random.default_rng(1)
    name = rng.permutation(n) if shuffled else np.arange(n)
    place = 0.3 * rng.standard_normal((n, 3)) + [0, 0, 3]
    if graph == "grid":
        place = np.array([(0.2 * (i % 9), 0.2 * (i // 9), 1 + 0.01 * rng.standard_normal()) for i in range(n)])
    bodies = {}
    for i, (x, y, z) in enumerate(place):
        bodies[name[i]] = (ARM if arms else BODY).format(i=name[i], x=x, y=y, z=z, e=7 * i, f=30, mass=0.1 + 0.02 * i)
    ties = ""
    for k, (a, b) in enumerate(pairs):
        anchor = 'anchor="{:.4f} {:.4f} {:.4f}"'.format(*(0.1 * rng.standard_normal(3))) if kind != "weld" else ""
        used = "weld" if kind == "mixed" and k % 3 == 0 else kind.replace("mixed", "connect")
        ties += f'<{used} body1="b{name[a]}" body2="b{name[b]}" {anchor if used == "connect" else ""}/>'
        if joints and k % 4 == 0:
            ties += f'<joint joint1="j{name[a]}" joint2="j{name[b]}"/>'
    world = "".join(bodies[i] for i in range(n))
    return f"""<mujoco><option tolerance="1e-13"/><default><geom contype="0" conaffinity="0"/></default>
      <worldbody>{world}</worldbody><equality>{ties}</equality></mujoco>"""


@pytest.fixture
def limits(monkeypatch):
    """Sets limits of the solver."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setattr(solver, name, value)

    change(MAX_FACTOR=1, MAX_JOINED=1, MAX_CHAIN=1, MAX_DENSE=0, SHARED=0)
    return change


def solved(text):
    """The Data of a forward pass from random velocities; products, and whether there was an incomplete factor."""
    m = tisim.Model.from_xml_string(text)
    d = tisim.Data(m)
    d.qvel[...] = np.random.default_rng(2).standard_normal(m.nv)
    tisim.forward(m, d)
    assert d.count("nisland") == 1
    return d, int(d.host("island_nproduct").reshape(-1)[0]), int(d.host("island_half").reshape(-1)[2])


@pytest.mark.parametrize("graph", list(GRAPHS))
@pytest.mark.parametrize("kind", ["connect", "mixed"])
@pytest.mark.parametrize("how", [{}, dict(shuffled=True), dict(arms=True), dict(arms=True, joints=True)])
def test_accelerations_are_those_without_it(limits, graph, kind, how):
    text = model(graph, kind, **how)
    partly, _, _ = solved(text)
    limits(MAX_TIED=0, MAX_DENSE=10_000)
    dense, products, _ = solved(text)
    assert products == 0
    assert np.abs(partly.qacc - dense.qacc).max() <= 1e-8 * np.abs(dense.qacc).max()


@pytest.mark.parametrize("kind", ["connect", "weld"])
@pytest.mark.parametrize("arms", [False, True])
def test_a_chain_is_solved_by_one_product_a_round(limits, kind, arms):
    d, products, there = solved(model("chain", kind, arms=arms))
    assert there == 1 and products <= np.max(d.solver_niter)


@pytest.mark.parametrize("shuffled", [False, True])
def test_it_saves_most_products_in_a_net(limits, shuffled):
    text = model("grid", shuffled=shuffled)
    _, products, there = solved(text)
    limits(MAX_TIED=0)
    _, without, _ = solved(text)
    assert there == 1 and products <= 0.4 * without


def test_a_node_with_too_many_neighbours_leaves_it_to_trees(limits):
    _, products, there = solved(model("star"))
    assert there == 0 and products > 0


def test_bits_do_not_depend_on_threads(limits):
    found = []
    for threads in (1, 2):
        tisim.init(arch="cpu", threads=threads)
        d, _, there = solved(model("grid", "mixed"))
        assert there == 1
        found.append(np.array(d.qacc).tobytes())
    assert found[0] == found[1]


@pytest.fixture(autouse=True, scope="module")
def afterwards():
    yield
    tisim.init(arch="cpu")
