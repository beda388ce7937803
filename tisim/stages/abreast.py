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


def room(m, d, parallel):
    """Makes room for workers who take four trees at a time; numbers that their kernels ask for."""
    hands = team.hands(d) if parallel else 1
    numbers, dofs, bodies = sizes(m, d)
    d.scratch("abreast_hess", hands * numbers)
    d.scratch("abreast_cdof", hands * 6 * dofs)
    tree = max(SUM + BODY * bodies, 2 * dofs)
    d.scratch("abreast_tree", hands * tree)
    return dict(nhand=hands, lanehess=numbers, laneaxes=6 * dofs, lanetree=tree)
