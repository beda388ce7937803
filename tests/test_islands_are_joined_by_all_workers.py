"""Several workers join trees into islands at a time, and the labels are those of connected components, numbered by
their smallest trees.

Contract: scipy's components of the contact graph, for a pile that has met, in many searches with one and two workers.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from shared import golden

import tisim
from tisim.stages import constraint


@pytest.fixture(autouse=True)
def start():
    tisim.init(arch="cpu", threads=2)
    yield
    tisim.init(arch="cpu")


def expected(d, ntree):
    """Labels of trees, -1 for those that nothing touches."""
    body = d.host("con_body").reshape(-1, 2)[: d.count("ncon")] - 1  # tree k has body k + 1 only
    pairs = body[(body >= 0).all(axis=1)]
    graph = sp.coo_matrix((np.ones(len(pairs)), tuple(pairs.T)), shape=(ntree, ntree))
    label = connected_components(graph, directed=False)[1]
    touched = np.unique(body[body >= 0])
    _, first, place = np.unique(label[touched], return_index=True, return_inverse=True)
    found = np.full(ntree, -1)
    found[touched] = np.argsort(np.argsort(first))[place]
    return found


@pytest.mark.parametrize("steps", [60, 150])
def test_labels_are_components(steps):
    with golden.force("team"):
        m = tisim.Model.from_scene("pile", n=1200)
        d = tisim.Data(m)
        tisim.step(m, d, steps)
    for workers in (1, 2):
        with golden.force("team", workers=workers):
            for _ in range(100):
                constraint.make_constraints(m, d)
                found = d.host("tree_island").reshape(-1)[: m.ntree]
                assert d.count("nisland") > 0
                assert (found == expected(d, m.ntree)).all()
