"""Where trees with joints in worlds that are alike are worked on four side by side."""

import numpy as np

from tisim.data import asleep
from tisim.device import session, team

SUM, BODY = 6, 25  # numbers of a worker in abreast_tree: a vector, and of each body (kernels/smooth/inertia_abreast.py)


def some(m, d):
    """Whether there are such trees. On a GPU a thread has one lane."""
    return session.arch == "cpu" and d.nworld > 1 and bool((m.derived("tree_free") == 0).any())


def in_loops(m, d):
    """Whether loops over trees take four worlds at a time: not where they go over lists of what is awake."""
    return some(m, d) and not asleep.listed(m)


def sizes(m, d):
    """Most numbers in the rows of a tree's M, dofs and bodies of a tree."""
    if "abreast" not in d._info:
        begin = np.asarray(m.dof_Madr)[np.asarray(m.tree_dofadr)[np.asarray(m.tree_dofnum) > 0]]
        numbers = int(np.diff(begin, append=m.nM).max())
        d._info["abreast"] = numbers, int(np.max(m.tree_dofnum)), int(np.max(m.tree_bodynum))
    return d._info["abreast"]


def matrices(m, d, hands):
    """Makes room for matrices and axes of four trees for so many workers; numbers that kernels ask for."""
    numbers, dofs, _ = sizes(m, d)
    d.scratch("abreast_hess", hands * numbers)
    d.scratch("abreast_cdof", hands * 6 * dofs)
    return dict(lanehess=numbers, laneaxes=6 * dofs)


def loops(m, d, parallel):
    """The same of kernels whose loops take four worlds at a time; none where they do not."""
    if not in_loops(m, d):
        return {}
    hands = team.hands(d) if parallel else 1
    _, dofs, bodies = sizes(m, d)
    tree = max(SUM + BODY * bodies, 2 * dofs)
    d.scratch("abreast_tree", hands * tree)
    return dict(nhand=hands, lanetree=tree, **matrices(m, d, hands))
