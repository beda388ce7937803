"""One island of a thousand bodies is solved to a scaled gradient of 1e-6, in memory that grows with bodies + contacts,
and to the same minimum whether one thread or all work on it."""

import numpy as np
import pytest

import tisim
from tisim import launch, scenes, solver
from tisim.arrays import DATA


@pytest.fixture(scope="module")
def pile():
    tisim.init(arch="cpu", precision="f64")
    m = tisim.Model.from_xml_string(scenes.build("pile", n=1000))
    d = tisim.Data(m)
    tisim.step(m, d, 300)
    return m, d


def gradient(m, d):
    """Scaled norm of M qacc - qfrc_smooth - qfrc_constraint, with M applied by MuJoCo's definition."""
    return d.host("island_gradient").reshape(-1)[: d.nisland].max()


def test_settled_pile_reaches_the_gradient(pile):
    m, d = pile
    for _ in range(20):
        tisim.step(m, d)
        assert gradient(m, d) < 1e-6
    assert d.ncon > 2500 and d.host("island_nv").size


def test_memory_is_linear(pile):
    m, d = pile
    items = m.nbody + d.ncon
    for name, a in d._device.items():
        assert a.shape[0] <= 100 * items, (name, DATA[name].doc)


def test_all_threads_reach_the_same_minimum(pile, monkeypatch):
    m, d = pile
    m.opt.tolerance = 1e-12
    tisim.forward(m, d)
    one = d.qacc[:].copy()
    monkeypatch.setattr("tisim.constraint.shared_island", lambda: 10)
    tisim.forward(m, d)
    assert d.count("nlarge") == 1
    all_threads = d.qacc[:].copy()
    m.opt.tolerance = 1e-8
    assert np.abs(one - all_threads).max() < 1e-6 * max(1, np.abs(one).max())


def test_capacities_grow_and_nothing_is_lost(pile):
    """A Data whose lists start far too small computes the same bits."""
    m, d = pile
    tisim.forward(m, d)
    small = tisim.Data(m)
    for name in ("npairmax", "nslotmax", "nconmax", "ndensemax"):
        small._capacity[name] = 8
    tisim.set_state(m, small, tisim.get_state(m, d))
    tisim.forward(m, small)
    assert small.ncon == d.ncon
    assert (small.qacc[:] == d.qacc[:]).all()


def test_a_limit_raises_and_keeps_the_state(pile):
    m, d = pile
    small = tisim.Data(m)
    tisim.set_state(m, small, tisim.get_state(m, d))
    before = tisim.get_state(m, small)
    m.capacity_limit["nconmax"] = 100
    small._capacity["nconmax"] = 100
    with pytest.raises(tisim.CapacityError, match="nconmax"):
        tisim.step(m, small)
    m.capacity_limit.clear()
    assert (tisim.get_state(m, small) == before).all()


def test_work_that_is_zero_costs_nothing(pile, monkeypatch):
    """A scene without contacts launches neither rows nor solver."""
    m = tisim.Model.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    d = tisim.Data(m)
    names = []
    run = launch.run
    monkeypatch.setattr(launch, "run", lambda m, d, ks, *a, **s: (names.extend(k.__name__ for k in ks), run(m, d, ks, *a, **s)))
    tisim.step(m, d)
    assert not set(names) & {"limit_rows", "contact_terms", "find_islands", "solve_island", "cut_blocks"}
    assert solver.MAX_DENSE > 0
