"""A geom whose contype and conaffinity fit those of no other geom takes no part in the search for pairs.

Contract: the contacts are those of all pairs whose bits fit, whatever the bits; where none fit, and the model lists no
pair, nothing is searched for; bits written later count from the next step on.
"""

import itertools

import numpy as np
import pytest

import tisim
from tisim.model.tables import midphase
from tisim.stages import collision


def heap(bits):
    """Spheres that all meet each other, each a body of its own but the first two, which are the world's."""
    geoms = [f"<geom size='1' pos='0 0 {0.01 * k}' contype='{a}' conaffinity='{b}'/>" for k, (a, b) in enumerate(bits)]
    bodies = "".join(f"<body><freejoint/>{geom}</body>" for geom in geoms[2:])
    return tisim.Model.from_xml_string(f"<mujoco><worldbody>{geoms[0]}{geoms[1]}{bodies}</worldbody></mujoco>")


def fit(bits, i, j):
    (a, b), (c, e) = bits[i], bits[j]
    return bool(a & e or c & b)


@pytest.mark.parametrize("seed", range(12))
def test_contacts_are_those_of_all_pairs_that_fit(seed):
    rng = np.random.default_rng(seed)
    words = [0, 0, 1, 2, 4, 6, 1 << 30, -1]
    bits = [tuple(int(word) for word in rng.choice(words, 2)) for _ in range(8)]
    m = heap(bits)
    pairs = {(i, j) for i, j in itertools.combinations(range(8), 2) if fit(bits, i, j)}
    taking_part = np.unique(list(itertools.chain(*pairs))).astype(int)
    assert np.array_equal(np.flatnonzero(midphase.can_collide(m)), taking_part)
    d = tisim.Data(m)
    tisim.forward(m, d)
    assert {tuple(sorted(geoms)) for geoms in d.contact.geom.tolist()} == pairs - {(0, 1)}


def test_nothing_is_searched_for_where_no_bits_fit():
    bits = [(0, 1)] * 5
    m = heap(bits)
    d = tisim.Data(m)
    tisim.step(m, d, 3)
    assert not collision.of(m, d).members.some() and d.ncon == 0
    m.geom_contype[3] = 1
    tisim.forward(m, d)
    assert {tuple(sorted(geoms)) for geoms in d.contact.geom.tolist()} == {(0, 3), (1, 3), (2, 3), (3, 4)}
    m.geom_contype[3] = 0
    tisim.forward(m, d)
    assert d.ncon == 0
