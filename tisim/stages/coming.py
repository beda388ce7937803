"""Bodies come and go: kinematic trees that a model holds in reserve are removed from a Data and added to it again.

A tree that was removed is marked in tree_asleep and then in no list that a step goes over (kernels/sleep/lists.py); the
search for pairs, rays and sums over all bodies ask for the mark. So the first removal makes all Data of the model go by
lists, as where things sleep, with kernels of their own (`gone` of tisim/model/features.py).
"""

import numpy as np

from tisim.data import asleep, given
from tisim.data.state import world_indices
from tisim.device import memory
from tisim.enums import mjtJoint
from tisim.errors import Error
from tisim.model import simulable
from tisim.model.tables import tasks
from tisim.model.watched import floats

RESTS = ("qvel", "qacc", "qacc_warmstart", "qfrc_applied")  # numbers by dof that are 0 of what is gone
FAR = 1e10  # mjMAXVAL


def remove(m, d, bodies, worlds=None):
    """Removes kinematic trees: they cost nothing, touch nothing, weigh nothing, and no ray or picture finds them.

    bodies  ids or names of the first bodies of moving trees, or one of them.  worlds  index or indices; None: all.
    All else goes on as it is, to the same bits, but that sleeping islands which lose a tree wake. What is removed
    already stays so. `add` brings trees back, `reset` all of them; d.body_present tells who is there.
    From the next step or forward on, sensors that name what is gone are 0, quaternions too.
    Raises Error for a body that is not the first of a moving tree, or to whose tree an equality, tendon or actuator
    refers, UnsupportedError with RK4; nothing is changed then.
    """
    given.check(m, d)
    trees, index = _trees(m, bodies), world_indices(d, worlds)
    simulable.check_removal(m)
    _refuse_referenced(m, trees)
    if not len(trees) or not len(index):
        return
    _get_ready(m, d)
    state = memory.download(d.device("tree_asleep"))
    mine = state[: d.nworld * m.ntree].reshape(d.nworld, m.ntree)
    island = d.host("tree_island")
    for w in index:
        _wake_around(mine[w], island[w], trees)
    mine[np.ix_(index, trees)] = asleep.GONE
    memory.upload(d.device("tree_asleep"), state)
    _rest(m, d, trees, index)
    d.set_counts(nstale=1, nchanged=1)


def add(m, d, bodies, pos=None, quat=None, vel=None, worlds=None):
    """Adds kinematic trees that were removed; they are wide awake and collide from the next step on.

    bodies  as in `remove`; all of them must be gone in all these worlds.
    pos     (3,), (n, 3) or (worlds, n, 3): positions of the n bodies [m]; None: they come back where they were.
    quat    the same with 4, orientations; None: with a pos as modelled.  vel  the same with 6, linear velocity in the
            world's frame and angular velocity in the body's [m/s, rad/s], or with 3, the linear one; None: at rest.
    With a pos the bodies need free joints, and other joints of their trees begin as modelled. Poses of bodies follow in
    the next step or forward. Raises Error for arguments that do not fit; nothing is changed then.
    """
    given.check(m, d)
    trees, index = _trees(m, bodies, ordered=True), world_indices(d, worlds)
    if len(np.unique(trees)) < len(trees):
        raise Error("bodies: one of them is named twice")
    state = memory.download(d.device("tree_asleep"))
    mine = state[: d.nworld * m.ntree].reshape(d.nworld, m.ntree)
    place = np.ix_(index, trees)
    if (there := mine[place] != asleep.GONE).any():
        w, k = np.argwhere(there)[0]
        raise Error(f"{_named(m, trees[k])} was not removed{f' in world {index[w]}' if d.nworld > 1 else ''}")
    free = np.asarray(m.jnt_type)[np.asarray(m.body_jntadr)[_first(m)[trees]]] == mjtJoint.mjJNT_FREE
    if not free.all() and not pos is quat is vel is None:
        raise Error(
            f"{_named(m, trees[~free][0])} has no free joint: it can only come back where it was, without a pos"
        )
    shape = len(index), len(trees)
    new = {name: _numbers(name, value, shape, width) for name, value, width in
           (("pos", pos, (3,)), ("quat", quat, (4,)), ("vel", vel, (6, 3)))}  # fmt: skip
    if not trees.size or not index.size:
        return
    if new["quat"] is not None:
        length = np.linalg.norm(new["quat"], axis=-1, keepdims=True)
        if not (length > 0).all():
            raise Error("quat: one of them is zero")
        new["quat"] = new["quat"] / length
    adr = np.asarray(m.jnt_qposadr)[np.asarray(m.body_jntadr)[_first(m)[trees]]]
    with _Rows(d, "qpos", index) as rows:
        if pos is not None:
            own = np.isin(np.repeat(np.arange(m.ntree), m.derived("tree_qposnum")), trees)
            rows[:, own] = np.asarray(m.qpos0)[own]
            rows[:, adr[:, None] + np.arange(3)] = new["pos"]
        if quat is not None:
            rows[:, adr[:, None] + np.arange(3, 7)] = new["quat"]
    _rest(m, d, trees, index)
    if vel is not None:
        width = new["vel"].shape[-1]
        with _Rows(d, "qvel", index) as rows:
            rows[:, np.asarray(m.tree_dofadr)[trees][:, None] + np.arange(width)] = new["vel"]
    mine[place] = asleep.AWAKE
    memory.upload(d.device("tree_asleep"), state)
    d.set_counts(nstale=1, nchanged=1)


def _get_ready(m, d):
    """The model's Data go by lists from now on, and this one loads the kernels for it before its next step."""
    if not m.comes_and_goes:
        asleep.come_and_go(m)
        d._checked = False


def _wake_around(trees, island, gone):
    """Wakes the sleeping islands of a world that lose trees; of others what is at rest begins to count anew.

    trees  tree_asleep, written;  island  tree_island of the last step;  gone  the trees.
    """
    label = np.arange(len(trees))
    sleeps = (trees >= 0) & (trees < asleep.GONE)
    following = np.where(sleeps, trees, label)
    for _ in range(int(len(trees)).bit_length()):
        label, following = np.minimum(label, label[following]), following[following]
    hit = np.zeros(len(trees), bool)
    hit[label[gone]] = True
    trees[sleeps & hit[label]] = asleep.AWAKE
    lost = island[gone]
    near = np.isin(island, lost[lost >= 0]) & (trees < 0)
    trees[near] = asleep.AWAKE


class _Rows:
    """Rows (worlds, numbers of one) of an array of the Data to be written within a `with`."""

    def __init__(self, d, name, index):
        self._d, self._name, self._index = d, name, index

    def __enter__(self):
        self._whole = memory.download(self._d.device(self._name))
        rows = self._whole[: len(self._whole) // self._d.nworld * self._d.nworld].reshape(self._d.nworld, -1)
        self._all, self._rows = rows, rows[self._index]
        return self._rows

    def __exit__(self, kind, *_):
        if kind is None:
            self._all[self._index] = self._rows
            memory.upload(self._d.device(self._name), self._whole)


def _rest(m, d, trees, index):
    """Velocities, accelerations and applied forces of trees are 0."""
    dof, body = np.isin(m.dof_treeid, trees), np.repeat(np.isin(m.body_treeid, trees), 6)
    for name in RESTS:
        with _Rows(d, name, index) as rows:
            rows[:, dof] = 0
    with _Rows(d, "xfrc_applied", index) as rows:
        rows[:, body] = 0


def _first(m):
    return np.asarray(m.tree_bodyadr)


def _named(m, t):
    b = int(_first(m)[t])
    return f"body {m.id2name('body', b) or f'number {b}'}"


def _trees(m, bodies, ordered=False):
    """Trees of which bodies are the first, sorted, each once, or in their order; Error where one is not."""
    ids = given.bodies(m, bodies)
    trees = np.asarray(m.body_treeid, np.int64)[ids]
    for b in ids[trees < 0][:1]:
        raise Error(f"body {m.id2name('body', b) or b} is static: only what moves can be removed and added")
    for b, t in zip(ids[off := _first(m)[trees] != ids][:1], trees[off]):
        raise Error(
            f"body {m.id2name('body', b) or b} hangs on others: a tree is removed and added as a whole, by its first "
            f"{_named(m, t)}"
        )
    return trees if ordered else np.unique(trees)


def _refuse_referenced(m, trees):
    """Raises Error where something refers to one of the trees, which is not supported so far."""
    kept = m._derived.get("referenced")
    if kept is None or kept[0] != m.edits:
        kept = m._derived["referenced"] = m.edits, _referenced(m)
    owner = kept[1]
    for t in trees[owner[trees, 0] >= 0][:1]:
        kind, k = ("equality", "tendon", "actuator")[owner[t, 0]], int(owner[t, 1])
        name = m.id2name(kind, k) or f"number {k}"
        raise Error(
            f"{_named(m, t)} cannot be removed: {kind} {name} refers to its tree, which is not supported so far"
        )


def _referenced(m):
    """(ntree, 2) kind and number of the first equality, tendon or actuator that refers to each tree, or -1."""
    owner = np.full((m.ntree, 2), -1)
    for kind, number, (adr, tree) in zip(
        range(3), (m.neq, m.ntendon, m.nu),
        (tasks.equality_trees(m), tasks.tendon_trees(m), tasks.actuator_trees(m)),
    ):  # fmt: skip
        of = np.repeat(np.arange(number), np.diff(adr))
        tree, first = np.unique(tree, return_index=True)
        new = (tree >= 0) & (owner[tree, 0] < 0)
        owner[tree[new], 0], owner[tree[new], 1] = kind, of[first[new]]
    return owner


def _numbers(name, value, shape, widths):
    """The argument as (worlds, n, width), None where it is; Error where it does not fit."""
    if value is None:
        return None
    a = floats(name, value)
    wanted = " or ".join(f"({shape[1]}, {w})" for w in widths)
    if a.ndim == 0 or a.ndim > 3 or a.shape[-1] not in widths:
        raise Error(f"{name} has shape {a.shape}: expected {wanted}, perhaps behind an axis of {shape[0]} worlds")
    try:
        a = np.broadcast_to(a, (*shape, a.shape[-1]))
    except ValueError:
        raise Error(
            f"{name} has shape {a.shape}: expected {wanted}, perhaps behind an axis of {shape[0]} worlds"
        ) from None
    if not (np.abs(a) < FAR).all():
        raise Error(f"{name} has a number that is not finite, or too large")
    return a
