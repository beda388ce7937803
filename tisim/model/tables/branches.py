"""Dofs that follow each other on a branch of a tree, six at most: the nodes of an island's sparse factor. Which trees
are alike, so that four of them are factored side by side."""

import numpy as np

from .declare import Table, declared

MOST = 6  # dofs of a node
LANES = 4  # trees that are solved side by side, as in kernels/solver/lanes.py


def nodes(m):
    """dict(body_node, node_parent, node_dofadr, node_dofnum (nbody,); tree_nodenum (ntree,)).

    A node is known by its first body with dofs, its head. body_node is the node whose last dof moves a body with no
    dof behind it, -1: none moves it. A body joins the node of the body above it if that has no other below it.
    """
    parent, number = np.asarray(m.body_parentid), np.asarray(m.body_dofnum)
    node, above, size = np.full(m.nbody, -1), np.full(m.nbody, -1), np.zeros(m.nbody, int)
    moved = np.full(m.nbody, -1)  # nearest body with dofs, from a body upwards
    jointed = np.isin(np.asarray(m.body_treeid), np.flatnonzero(np.asarray(m.tree_bodynum) > 1))
    alone = ~jointed & (number > 0)
    moved[alone] = node[alone] = np.flatnonzero(alone)
    size[alone] = number[alone]
    below = np.zeros(m.nbody, int)  # bodies with dofs next to a body with dofs
    for b in np.flatnonzero(jointed):
        moved[b] = b if number[b] else moved[parent[b]]
        if number[b] and moved[parent[b]] >= 0:
            below[moved[parent[b]]] += 1
    for b in np.flatnonzero(jointed):
        up = moved[parent[b]]
        if not number[b]:
            node[b] = node[up] if up >= 0 else -1
        elif up >= 0 and below[up] == 1 and size[node[up]] + number[b] <= MOST:
            node[b] = node[up]
            size[node[b]] += number[b]
        else:
            node[b], size[b] = b, number[b]
            above[b] = node[up] if up >= 0 else -1
    head = node == np.arange(m.nbody)
    count = np.bincount(np.asarray(m.body_treeid)[head], minlength=m.ntree)
    return dict(
        body_node=node, node_parent=above, node_dofadr=np.asarray(m.body_dofadr), node_dofnum=size, tree_nodenum=count
    )


def same(m):
    """(ntree - 1,) whether a tree and the one behind it have joints, and the same bodies and dofs below each other."""
    number, first, count = np.asarray(m.tree_bodynum), np.asarray(m.tree_dofadr), np.asarray(m.tree_dofnum)
    up = np.asarray(m.dof_parentid)
    up = np.where(up < 0, 0, np.arange(m.nv) - up)
    found = (number[1:] == number[:-1]) & (count[1:] == count[:-1]) & (number[1:] > 1) & (count[1:] > 0)
    other = np.arange(m.nv) + np.repeat(count, count)  # the dof at the same place of a tree as large behind it
    differ = up != up[np.minimum(other, max(0, m.nv - 1))]
    before = np.append(0, np.cumsum(differ))
    return found & (before[first + count] == before[first])[:-1]


def alike(m):
    """(ntree,) 1 where LANES such trees begin."""
    found = np.zeros(m.ntree, int)
    if m.ntree >= LANES:
        found[: m.ntree - LANES + 1] = np.lib.stride_tricks.sliding_window_view(same(m), LANES - 1).all(1)
    return found


def shapes(m):
    """(ntree,) the first of the trees in a row that are the same."""
    begins = np.arange(m.ntree)
    begins[1:][same(m)] = 0
    return np.maximum.accumulate(begins)


def pairs(m):
    """(dof, ancestor), each (nM,): every dof with itself and its ancestors, upwards, in the places of dof_Madr."""
    above = np.asarray(m.dof_parentid, np.int64)
    place, dof, found = np.asarray(m.dof_Madr, np.int64), np.arange(m.nv), np.zeros((2, m.nM), np.int64)
    ancestor = dof
    while len(dof):
        found[:, place] = dof, ancestor
        ancestor = above[ancestor]
        place, dof, ancestor = (x[ancestor >= 0] for x in (place + 1, dof, ancestor))
    return found


def ancestors(m):
    """(nM,) the dof of each place in dof_Madr's rows; none where no trees are alike."""
    return pairs(m)[1] if m.derived("tree_alike").any() else np.zeros(0, int)


def table(name, sizes, doc):
    return Table(name, "i", sizes, lambda m: nodes(m)[name], (), doc)


TABLES = declared(
    table("body_node", ("nbody",), "first body of the node that a body's last dof belongs to, -1: none"),
    table("node_parent", ("nbody",), "of a node's first body: the node above it, -1: none"),
    table("node_dofadr", ("nbody",), "its first dof"),
    table("node_dofnum", ("nbody",), "its dofs"),
    table("tree_nodenum", ("ntree",), "nodes of a tree"),
    Table("tree_alike", "i", ("ntree",), alike, (), "1: it and the three behind it are alike"),
    Table("tree_shape", "i", ("ntree",), shapes, (), "the first tree of those in a row that are like it"),
    Table("above_dof", "i", ("nabove",), ancestors, (), "dofs by dof_Madr's rows, if some are alike"),
)
COUNTED = dict(nabove="above_dof")
