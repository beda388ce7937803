"""The inertia matrix of the reference pose, and what follows from its inverse: weights of dofs and bodies.

It is block-diagonal over trees. Trees of the same shape (same parents, joints and addresses) are treated together, as
one batch of small dense matrices; ten thousand free bodies are one batch. No array grows with the square of the model.
"""

import numpy as np

from tisim.enums import mjtJoint

from .. import rotations
from ..numbers import MINVAL

# entries of one batch of inertia matrices; larger batches are cut to keep memory bounded
BATCH = 4_000_000
# trees with more dofs are factored by LAPACK, which is much faster for them
LAPACK = 100


def inverse_weights(a, pose, xipos, moment, blocks=None):
    """Adds dof_M0, dof_invweight0 and body_invweight0, tree by tree; the inverses to the list of blocks.

    moment  of the tendons (tendon_moment), whose armature is part of the inertia. Returns the diagonal of M (nv,).
    """
    nv = len(a["dof_bodyid"])
    a["dof_M0"], a["dof_invweight0"] = np.zeros(nv), np.zeros(nv)
    a["body_invweight0"] = np.zeros((len(xipos), 2))
    forest = Trees(a, pose, xipos, moment)
    for trees, parents, owners in _shapes(a):
        n = len(owners)
        step = max(1, BATCH // (n * n))
        for start in range(0, len(trees), step):
            part = trees[start : start + step]
            inverse = forest.weigh(part, parents, owners)
            if blocks is not None:
                blocks.append((a["tree_dofadr"][part][:, None] + np.arange(n), inverse))
    _slide_only(a)
    return forest.diagonal


class Trees:
    """All trees in the reference pose, to be weighed in batches of one shape.

    inertia, xipos  (nbody, 3, 3), (nbody, 3) of the bodies, world frame;  heavy  see _armature;  diagonal  (nv,) of M.
    """

    def __init__(self, a, pose, xipos, moment):
        self.a, self.pose, self.xipos, self.heavy = a, pose, xipos, _armature(a, moment)
        frame = rotations.matrix(rotations.mul(pose.xquat, rotations.normalize(a["body_iquat"])))
        self.inertia = np.einsum("nij,nj,nkj->nik", frame, a["body_inertia"], frame)
        self.diagonal = np.zeros(len(a["dof_bodyid"]))

    def weigh(self, trees, parents, owners):
        """Fills the three fields for trees of one shape; returns the inverses of their inertia matrices (t, n, n).

        parents, owners  (n,) parent dof and body of each dof, local to the tree.
        """
        a, n, diagonal = self.a, len(owners), np.arange(len(owners))
        dof = a["tree_dofadr"][trees][:, None] + np.arange(n)
        body = a["tree_bodyadr"][trees][:, None] + np.arange(int(a["tree_bodynum"][trees[0]]))
        chains = self.chains(body[0], parents, owners)
        m = self.inertia_matrix(dof, body, chains)
        a["dof_M0"][dof] = m[:, diagonal, diagonal]
        for i, tree in enumerate(trees.tolist() if self.heavy else ()):
            if tree in self.heavy:
                _add_armature(a, m[i], parents, *self.heavy[tree])
        self.diagonal[dof] = m[:, diagonal, diagonal]
        inverse = _inverse(m)
        a["dof_invweight0"][dof] = _averaged(a, dof[0], inverse[:, diagonal, diagonal])
        for local, chain in enumerate(chains):
            turn, shift = self.jacobian(dof[:, chain], body[:, local])
            part = inverse[_square(chain)]
            a["body_invweight0"][body[:, local], 0] = np.sum(shift * _product(part, shift), (1, 2)) / 3
            a["body_invweight0"][body[:, local], 1] = np.sum(turn * _product(part, turn), (1, 2)) / 3
        return inverse

    def chains(self, bodies, parents, owners):
        """For each body of one tree the dofs that move it, local to the tree, from the root on."""
        last, chains = {int(b): i for i, b in enumerate(owners)}, []
        for body in bodies.tolist():
            i = last.get(int(self.a["body_weldid"][body]) - int(bodies[0]), -1)
            chain = []
            while i >= 0:
                chain.append(i)
                i = int(parents[i])
            chains.append(np.array(chain[::-1]))
        return chains

    def inertia_matrix(self, dof, body, chains):
        """(t, n, n) of trees with the dofs (t, n) and bodies (t, b), by the Jacobians of the bodies."""
        m = np.zeros((*dof.shape, dof.shape[1]))
        for local, chain in enumerate(chains):
            turn, shift = self.jacobian(dof[:, chain], body[:, local])
            mass = self.a["body_mass"][body[:, local]]
            block = _product(shift, shift.swapaxes(1, 2)) * mass[:, None, None]
            block += _product(_product(turn, self.inertia[body[:, local]]), turn.swapaxes(1, 2))
            m[_square(chain)] += block
        diagonal = np.arange(dof.shape[1])
        m[:, diagonal, diagonal] += self.a["dof_armature"][dof]
        return m

    def jacobian(self, dof, body):
        """Rotational and translational Jacobians (t, n, 3) of bodies (t,), by the dofs (t, n) that move them."""
        axis = self.pose.axis[dof]
        spin = self.pose.angular[dof][..., None]
        turn = np.where(spin, axis, 0.0)
        return turn, np.where(spin, np.cross(axis, self.xipos[body][:, None] - self.pose.anchor[dof]), axis)


def _armature(a, moment):
    """dict tree -> (rows, dofs, values) of the moments of tendons with armature."""
    _, rows, dof, value = moment
    armature = a["tendon_armature"][rows]
    some = np.flatnonzero(armature != 0)
    if not len(some):
        return {}
    tree = a["dof_treeid"][dof[some]]
    some = some[np.argsort(tree, kind="stable")]
    trees, start = np.unique(np.sort(tree), return_index=True)
    parts = np.split(some, start[1:])
    return {int(t): (rows[i], dof[i], value[i]) for t, i in zip(trees, parts)}


def _add_armature(a, m, parents, rows, dof, value):
    """Adds the armature of tendons to the inertia matrix m (n, n) of a tree, where m may differ from zero.

    As in MuJoCo, what a tendon would couple besides (dofs of which neither moves the other's body) is left out.
    """
    n, first = len(m), int(a["tree_dofadr"][a["dof_treeid"][dof[0]]])
    ids, row = np.unique(rows, return_inverse=True)
    moment = np.zeros((len(ids), n))
    moment[row, dof - first] = value
    added = moment.T @ (moment * a["tendon_armature"][ids, None])
    above = np.eye(n, dtype=bool)
    for i, p in enumerate(parents.tolist()):
        if p >= 0 and not a["dof_simplenum"][first + i]:
            above[i] |= above[p]
    m += np.where(above | above.T, added, 0)


def _shapes(a):
    """Yields (tree ids, parent of each dof, body of each dof), both local to the tree, for each shape of tree."""
    groups = {}
    dofs, bodies = a["tree_dofadr"], a["tree_bodyadr"]
    parent = np.maximum(a["dof_parentid"].astype(np.int64) - dofs[a["dof_treeid"]], -1)
    owner = a["dof_bodyid"].astype(np.int64) - bodies[a["dof_treeid"]]
    above = a["body_weldid"] - bodies[a["body_treeid"]] if len(bodies) else a["body_weldid"]
    # the place of each dof in its joint, and the joint's type
    place = 4 * (np.arange(len(parent)) - a["jnt_dofadr"][a["dof_jntid"]]) + a["jnt_type"][a["dof_jntid"]]
    start, number = dofs.tolist(), a["tree_dofnum"].tolist()
    first, many = bodies.tolist(), a["tree_bodynum"].tolist()
    for tree in range(len(start)):
        d, b = slice(start[tree], start[tree] + number[tree]), slice(first[tree], first[tree] + many[tree])
        key = (parent[d].tobytes(), owner[d].tobytes(), place[d].tobytes(), above[b].tobytes())
        groups.setdefault(key, []).append(tree)
    for trees in groups.values():
        d = slice(start[trees[0]], start[trees[0]] + number[trees[0]])
        yield np.array(trees), parent[d], owner[d]


def _product(x, y):
    """x y of matrices (t, n, k), (t, k, m), summed from the first term on.

    BLAS sums in an order that depends on the processor, and with it would the last digits of models; it is asked only
    where LAPACK makes the inverses, which does the same.
    """
    n, k, m = x.shape[1], x.shape[2], y.shape[2]
    if max(n, k, m) > LAPACK:
        return np.matmul(x, y)
    total = np.zeros((len(x), n, m))
    for i in range(k):
        total += x[:, :, i, None] * y[:, i, None, :]
    return total


def _square(chain):
    """Index of the rows and columns `chain` in an array (t, n, n); slices where they are consecutive, for speed."""
    if len(chain) and chain[-1] - chain[0] == len(chain) - 1:
        run = slice(int(chain[0]), int(chain[-1]) + 1)
        return slice(None), run, run
    return slice(None), chain[:, None], chain


def _inverse(m):
    """Inverses of symmetric matrices (t, n, n) by L'DL from the last row up, as MuJoCo factors M.

    A pivot of zero (four hinges in one body) is replaced by mjMINVAL: a huge inverse weight, where MuJoCo has nan.
    """
    n = m.shape[1]
    if n > LAPACK:
        from scipy import linalg  # 0.2 s to import, and few models need it

        try:
            # the same order of elimination: from the last row up
            return np.array([linalg.cho_solve(linalg.cho_factor(x[::-1, ::-1]), np.eye(n))[::-1, ::-1] for x in m])
        except linalg.LinAlgError:
            pass
    m = m.copy()
    pivot = np.empty(m.shape[:2])
    lower = np.broadcast_to(np.eye(n), m.shape).copy()
    for k in range(n - 1, -1, -1):
        pivot[:, k] = np.where(np.abs(m[:, k, k]) < MINVAL, MINVAL, m[:, k, k])
        row = m[:, k, :k] / pivot[:, k, None]
        m[:, :k, :k] -= row[:, :, None] * m[:, k, None, :k]
        lower[:, k, :k] = row
    # M = L' D L, so M^-1 = L^-1 D^-1 L^-T
    solved = np.broadcast_to(np.eye(n), m.shape).copy()
    for k in range(1, n):
        solved[:, k] -= np.einsum("ti,tij->tj", lower[:, k, :k], solved[:, :k])
    return np.einsum("tik,tk,tjk->tij", solved, 1 / pivot, solved)


def _averaged(a, dof, values):
    """Averages values (t, n) over the three linear and three angular dofs of free joints and those of ball joints."""
    joint = a["dof_jntid"][dof]
    k = dof - a["jnt_dofadr"][joint]
    free = a["jnt_type"][joint] == mjtJoint.mjJNT_FREE
    group = np.cumsum((k == 0) | (free & (k == 3))) - 1
    sums = np.zeros((len(values), group[-1] + 1))
    for i, g in enumerate(group):
        sums[:, g] += values[:, i]
    return (sums / np.bincount(group))[:, group]


def _slide_only(a):
    """MuJoCo's shortcut for simple bodies with slides only: the inverse weight is 1 / mass, armature or not."""
    rows = np.flatnonzero((a["body_simple"] == 2) & (a["body_weldid"] != 0))
    weight = 1 / np.maximum(MINVAL, a["body_mass"])
    a["body_invweight0"][rows] = np.stack([weight[rows], np.zeros(len(rows))], 1)
    mine = a["body_simple"][a["dof_bodyid"]] == 2
    a["dof_invweight0"][mine] = weight[a["dof_bodyid"][mine]]
