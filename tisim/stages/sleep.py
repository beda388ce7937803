"""Sleeping: who wakes before poses and after collision, who falls asleep at the end of a step.

Seed 003, "Sleeping islands", in the order of MuJoCo 3.4.0. What is awake stands in lists (kernels/sleep/lists.py), made
anew where a tree woke or fell asleep; all other stages go by them.
"""

import numpy as np

from tisim.data import asleep
from tisim.device import launch, memory, runtime
from tisim.enums import mjtDisableBit
from tisim.errors import Error

from . import collision, dynamics


def wake_written(m, d):
    """Before poses are made: sleepers that the user moved or pushed wake up, and the lists of what is awake follow.

    Seed 003, "Waking". Without the flag nobody sleeps.
    """
    if not asleep.enabled(m):
        if d._info.pop("sleeping", False):
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
                acting = 0
                while d.count("nwoken"):
                    _list(m, d)
                    dynamics.fwd_position(m, d)
                    collision.collide(m, d)
                    acting = 1
                    _wake_by_contacts(m, d, acting)
    d.set_counts(nwhole=0, nallbox=0)


def fall_asleep(m, d):
    """At the end of a step, before anything is advanced: trees at rest count down, islands that are ready sleep."""
    if asleep.enabled(m) and not m.disabled(mjtDisableBit.mjDSBL_ISLAND):
        k = _kernels("falling")
        launch.run(m, d, [k.count_down, k.fall_asleep], dynamics.parallel(m, d))


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
    whole = memory.download(d.device("tree_asleep"))
    trees = whole[: d.nworld * m.ntree].reshape(d.nworld, m.ntree)
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
