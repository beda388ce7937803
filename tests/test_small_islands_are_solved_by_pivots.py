"""dynamics="lcp", m.lcp.direct: small islands of free bodies are solved exactly, whatever sweeps leave of them.

Judged by the seed's problem (002) as dense matrices (tests/shared/lemke.py), which know nothing of records or colours.
"""

import numpy as np
import pytest
from shared.threads import printed
from test_hard_contacts_solve_the_seeds_problem import solved, stack

import tisim


@pytest.mark.parametrize("turned", [False, True])
def test_one_sweep_and_pivots_solve_the_same_polygons(turned):
    """201 islands of one to three boxes, one sweep: valid to 1e-8 in all, where a sweep alone leaves 1e-3 in most; of
    upright boxes the velocities are those of the judge's pivots in nine of ten."""
    alike = []
    for eta in (4, 6, 8):
        rng, plain = np.random.default_rng(eta), np.random.default_rng(eta)
        left = []
        for _ in range(67):
            _, island, p, v = solved(rng, turned, friction="polygon", eta=eta, sweeps=1, cfm=0.0, direct=24)
            theirs, _ = island.lemke(eta)
            assert island.violation(p, v, eta) < 1e-8
            alike.append(np.abs(v - theirs).max() < 1e-8)
            _, island, p, v = solved(plain, turned, friction="polygon", eta=eta, sweeps=1, cfm=0.0, direct=0)
            left.append(island.violation(p, v, eta))
        assert np.median(left) > 1e-3
    assert turned or np.mean(alike) >= 0.9, np.mean(alike)


def test_softness_belongs_to_the_problem():
    """With CFM the answer is one: that of many sweeps."""
    for seed in range(5):
        given = dict(friction="polygon", eta=6, cfm=1e-3)
        by_pivots = solved(np.random.default_rng(seed), sweeps=1, direct=24, **given)[3]
        by_sweeps = solved(np.random.default_rng(seed), sweeps=5000, direct=0, **given)[3]
        assert np.abs(by_pivots - by_sweeps).max() < 1e-8


def test_larger_islands_are_swept():
    given = dict(friction="polygon", eta=4, sweeps=3)
    few, none = (solved(np.random.default_rng(3), direct=n, **given) for n in (3, 0))
    assert np.array_equal(few[3], none[3]) and len(few[2]) > 3


THREADS = """
import tisim
from tisim.data.digest import state_hash
tisim.init(arch="cpu", precision="f64")
m = tisim.Model.from_scene("pile", n=120)
m.opt.dynamics = "lcp"
m.lcp.take(dict(friction="polygon", direct=24))
d = tisim.Data(m)
tisim.step(m, d, 60)
print(state_hash(d), d.ncon)
"""


def test_threads_change_no_bit():
    assert len(printed(THREADS)) == 1


def test_what_it_does_not_solve_is_refused_by_name():
    m = stack(1)
    d = tisim.Data(m)
    for given, words in (
        (dict(direct=4, friction="circle"), 'direct with friction "circle"'),
        (dict(friction="polygon", direct=64, eta=100), "direct with 64 contacts of 100 corners"),
        (dict(friction="box", order="ode", direct=4, eta=4), "direct in the order of ODE"),
    ):
        m.lcp.take(given)
        with pytest.raises(tisim.UnsupportedError, match=words):
            tisim.step(m, d)
    m.lcp.take(dict(friction="circle", order="colour", direct=0))
