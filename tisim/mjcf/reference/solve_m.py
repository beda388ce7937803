"""Sparse rows times the inverse inertia matrix of the reference pose."""

import numpy as np

# entries of one gathered batch of inverse matrices; larger batches are cut to keep memory bounded
BATCH = 4_000_000


def solve_m(blocks, rows, cols, values):
    """M^-1 times sparse rows: (rows, cols, values) of the products.

    blocks  list of (dofs (t, n), inverse (t, n, n)): the inverses of trees of one shape each, covering all dofs;
    rows, cols, values  entries of the sparse rows, columns are dofs.
    """
    nv = sum(dof.size for dof, _ in blocks)
    group, tree, place = np.empty(nv, int), np.empty(nv, int), np.empty(nv, int)
    for g, (dof, _) in enumerate(blocks):
        group[dof], tree[dof], place[dof] = g, np.arange(len(dof))[:, None], np.arange(dof.shape[1])
    out = [(np.zeros(0, int), np.zeros(0, int), np.zeros(0))]
    for g, (dof, inverse) in enumerate(blocks):
        mine = np.flatnonzero(group[cols] == g)
        if not len(mine):
            continue
        n = dof.shape[1]
        # a right-hand side is what one row has in one tree
        key, pair = np.unique(rows[mine] * np.int64(len(dof)) + tree[cols[mine]], return_inverse=True)
        right = np.zeros((len(key), n))
        np.add.at(right, (pair, place[cols[mine]]), values[mine])
        of, row = key % len(dof), key // len(dof)
        step = max(1, BATCH // (n * n))
        for start in range(0, len(key), step):
            part = slice(start, start + step)
            x = np.einsum("pij,pj->pi", inverse[of[part]], right[part])
            out.append((np.repeat(row[part], n), dof[of[part]].ravel(), x.ravel()))
    return tuple(np.concatenate(column) for column in zip(*out))
