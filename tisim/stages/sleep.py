"""Sleeping: who wakes before poses and after collision, who falls asleep at the end of a step.

Seed 003, "Sleeping islands", in the order of MuJoCo 3.4.0. What is awake stands in lists (kernels/sleep/lists.py), made
anew where a tree woke or fell asleep; all other stages go by them.
"""

import numpy as np

from tisim.data import asleep
from tisim.device import launch, memory, runtime
from tisim.enums import mjtDisableBit, mjtSleepPolicy
from tisim.errors import Error

from . import collision, dynamics


def wake_written(m, d):
    """Before poses are made: sleepers that the user moved or pushed wake up, and the lists of what is awake follow.

    Seed 003, "Waking". Without the flag nobody sleeps.
    """
    if not asleep.enabled(m):
        if d._info.pop("sleeping", None) is not None:
            d.program.spoil()
            d.fill("tree_asleep", asleep.AWAKE)
        return
    if d._info.get("sleeping") != m.edits:  # the flag was off, or arrays of the model were written
        d.program.spoil()
        if "sleeping" not in d._info:
            d.set_counts(nstale=1)
        d._info["sleeping"] = m.edits
        d.set_counts(nwritten=asleep.ALL, nwhole=1, nallbox=1)
    if d.exceeds(rarely=True, nwritten=0):
        with d.program.aside():
            launch.run(m, d, [_kernels("waking").find_poked], dynamics.parallel(m, d))
    _list(m, d)


def wake_touched(m, d):
    """After collision: islands that a tree which is awake touches wake up, and collision is done again with them.

    As in MuJoCo any contact wakes that is listed; those that follow from it do so where they make force.
    """
    if not asleep.enabled(m):
        return
    if m.has_contacts():
        _wake_by_contacts(m, d)
        if d.exceeds(rarely=True, nwoken=0):
            with d.program.aside():
                for _ in range(m.ntree):  # as often as there may be islands, once nearly always
                    d.set_counts(nwoken=0)
                    _list(m, d)
                    dynamics.fwd_position(m, d)
                    collision.collide(m, d)
                    _wake_by_contacts(m, d, acting=1)
                    if not d.count("nwoken"):
                        break
    d.set_counts(nwhole=0, nallbox=0)


def ready(m, d, worlds):
    """Trees whose policy is to start asleep are ready to, in these worlds; other worlds are left out of what follows.

    Returns what tree_asleep was, for `settled`. Seed 003, "Sleeping".
    """
    trees, whole, before = _asleep(m, d)
    others = np.setdiff1d(np.arange(d.nworld), worlds)
    trees[others] = 0
    trees[np.ix_(worlds, _starting(m))] = -1
    memory.upload(d.device("tree_asleep"), whole)
    d.set_counts(nwritten=0, nstale=1)
    return before, others


def settled(m, d, worlds, kept):
    """Lets them fall asleep, after forward(). Raises Error where one does not."""
    before, others = kept
    fall_asleep(m, d)
    d.fill("tree_slept", 0)
    trees, whole, _ = _asleep(m, d)
    trees[others] = before[others]
    memory.upload(d.device("tree_asleep"), whole)
    d.set_counts(nstale=1)
    start = _starting(m)
    awake = start[(trees[np.ix_(worlds, start)] < 0).any(0)]
    if len(awake):
        b = int(m.tree_bodyadr[awake[0]])
        raise Error(
            f"{len(start)} trees are to start asleep (sleep='init'), and {len(awake)} of them cannot: first that of "
            f"body {m.id2name('body', b) or f'number {b}'}; all trees of an island have to be marked so"
        )


def _starting(m):
    """Trees whose policy is to start asleep."""
    return np.flatnonzero(np.asarray(m.tree_sleep_policy) == int(mjtSleepPolicy.mjSLEEP_INIT))


def _asleep(m, d):
    """tree_asleep on the host: by world, the whole array, and a copy of the former."""
    whole = memory.download(d.device("tree_asleep"))
    trees = whole[: d.nworld * m.ntree].reshape(d.nworld, m.ntree)
    return trees, whole, trees.copy()


def fall_asleep(m, d):
    """At the end of a step, before anything is advanced: trees at rest count down, islands that are ready sleep."""
    if asleep.enabled(m) and not m.disabled(mjtDisableBit.mjDSBL_ISLAND):
        k = _kernels("falling")
        launch.run(m, d, [k.count_down, k.fall_asleep], dynamics.parallel(m, d))


def some_slept(m, d):
    """Whether, since fall_asleep in this step, some sleep."""
    return asleep.enabled(m) and bool(d.exceeds(rarely=True, nstale=0))


def _kernels(name):
    return runtime.kernels(f"sleep.{name}")


def _list(m, d):
    launch.run(m, d, [_kernels("lists").list_awake], False)


def _wake_by_contacts(m, d, acting=0):
    launch.run(m, d, [_kernels("waking").wake_by_contacts], False, acting=acting)


def wake(m, d, bodies=None):
    """Wakes sleeping islands.

    bodies  ids or names of bodies, or one of them: the islands of their trees; None: all. In every world.
    Raises Error for a body that does not exist or does not move.
    """
    from tisim.data import given

    given.check(m, d)
    trees, whole, _ = _asleep(m, d)
    for t in range(m.ntree) if bodies is None else _trees(m, bodies):
        for world in trees:
            while world[t] >= 0:
                world[t], t = asleep.AWAKE, world[t]
    memory.upload(d.device("tree_asleep"), whole)
    d.set_counts(nstale=1)


def _trees(m, bodies):
    """Trees of bodies."""
    if isinstance(bodies, (str, int, np.integer)):
        bodies = [bodies]
    ids = [m.name2id("body", b) if isinstance(b, str) else int(b) for b in bodies]
    for b in ids:
        if not 0 <= b < m.nbody:
            raise Error(f"body {b} does not exist: the model has {m.nbody}")
        if m.body_treeid[b] < 0:
            raise Error(f"body {m.id2name('body', b) or b} is static: it neither sleeps nor wakes")
    return np.unique(np.asarray(m.body_treeid)[ids]).tolist()
