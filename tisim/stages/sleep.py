"""Sleeping: who wakes before poses and after collision, who falls asleep at the end of a step.

Seed 003, "Sleeping islands", in the order of MuJoCo 3.4.0. What is awake stands in lists (kernels/sleep/lists.py), made
anew where a tree woke or fell asleep; all other stages go by them.
"""

import numpy as np

from tisim.data import asleep, given, impulses
from tisim.device import launch, memory, runtime
from tisim.enums import mjtDisableBit, mjtEnableBit, mjtSensor, mjtSleepPolicy
from tisim.errors import Error

from . import actuation, callbacks, collision, constraint, dynamics, sensor, tendon

LATER = "later"  # in the notes of a Data: accelerations and forces that are shown once the step is over


def wake_written(m, d):
    """Before poses are made: sleepers that the user moved or pushed wake up, and the lists of what is awake follow.

    Seed 003, "Waking". Without the flag nobody sleeps, but some may be gone.
    """
    if not asleep.listed(m):
        if d._info.pop("sleeping", None) is not None:
            d.program.spoil()
            d.fill("tree_asleep", asleep.AWAKE)
            impulses.unite(d)
        return
    conditions = m.edits, asleep.enabled(m), m.comes_and_goes
    if d._info.get("sleeping") != conditions:  # the flag was off, or arrays of the model were written
        d.program.spoil()
        if not asleep.enabled(m):
            trees, whole, _ = _asleep(m, d)
            trees[trees != asleep.GONE] = asleep.AWAKE
            memory.upload(d.device("tree_asleep"), whole)
            impulses.unite(d)
        d._info["sleeping"] = conditions
        asleep.edited(d)
    if d.exceeds(rarely=True, nwritten=0):
        with d.program.aside():
            launch.run(m, d, [_kernels("waking").find_poked], dynamics.parallel(m, d))
    _list(m, d)


def wake_pulled(m, d):
    """Before collision: islands that a tendon binds to a tree which is awake wake up."""
    if asleep.enabled(m) and m.ntendon and m.scalar("ntie"):
        launch.run(m, d, [_kernels("ties").wake_by_tendons], False)
        if d.exceeds(rarely=True, nwoken=0):
            with d.program.aside():
                _join(m, d)


def wake_touched(m, d):
    """After collision: islands that a tree which is awake touches wake up, and collision is done again with them.

    As in MuJoCo any contact wakes that is listed; those that follow from it do so where they make force.
    """
    if asleep.enabled(m) and m.has_contacts():
        _wake_by_contacts(m, d)
        if d.exceeds(rarely=True, nwoken=0):
            with d.program.aside():
                for _ in range(m.ntree):  # as often as there may be islands, once nearly always
                    _join(m, d)
                    collision.collide(m, d)
                    _wake_by_contacts(m, d, acting=1)
                    if not d.count("nwoken"):
                        break


def wake_tied(m, d):
    """Behind the contacts: islands that an equality ties to something awake, or to each other, wake up. As in MuJoCo
    their contacts are found in the next step.
    """
    if not asleep.listed(m):
        return
    if m.neq and asleep.enabled(m):
        launch.run(m, d, [_kernels("ties").wake_by_equalities], False)
        if d.exceeds(rarely=True, nwoken=0):
            with d.program.aside():
                _join(m, d)
    d.set_counts(nwhole=0, nallbox=0)


def _join(m, d):
    """Those that woke are in the lists of what is awake, and what follows from their poses is known."""
    d.set_counts(nwoken=0)
    _list(m, d)
    dynamics.fwd_position(m, d)
    tendon.tendons(m, d)


def ready(m, d, worlds):
    """Trees whose policy is to start asleep are ready to, in these worlds; other worlds are left out of what follows.

    Returns what tree_asleep was, for `settled`. Seed 003, "Sleeping".
    """
    others = np.setdiff1d(np.arange(d.nworld), worlds)
    if len(others):  # what a user wrote to sleepers there is found as long as poses are those of before
        launch.run(m, d, [_kernels("waking").find_poked], dynamics.parallel(m, d))
    trees, whole, before = _asleep(m, d)
    # what is there sleeps as one island, which no equality within it wakes
    gone = (trees == asleep.GONE).any(1)
    trees[others] = np.where(gone[others, None], trees[others], np.roll(np.arange(m.ntree), -1))
    for w in others[gone[others]]:
        there = np.flatnonzero(trees[w] != asleep.GONE)
        trees[w, there] = np.roll(there, -1)
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
    if not asleep.enabled(m):
        return
    k = _kernels("falling")
    launch.run(m, d, [k.count_down, k.fall_asleep], dynamics.parallel(m, d))


def settle(m, d):
    """What follows from velocities, once more where some trees fell asleep and users or actuators go on from it.

    As in MuJoCo activations are advanced before that, but velocities by accelerations and forces as they were; those of
    now are shown, and new activations wait in rk_act, until the step is over. Worlds in which nothing fell asleep keep
    what they had: here their activations are still as they were.
    """
    used = m.nu or m.ntendon or m._sizes["nsensor"]
    if not (asleep.enabled(m) and (used or energy_follows(m))) or not d.exceeds(rarely=True, nslept=0):
        return
    with d.program.aside():
        trees = memory.download(d.device("tree_asleep"))
        awake = _count_as_awake(d, trees)
        if energy_follows(m):
            dynamics.energy(m, d)
        if used:
            _settle(m, d, np.isin(np.arange(d.nworld), awake[trees[awake] >= 0] // m.ntree))
        memory.upload(d.device("tree_asleep"), trees)


def show_settled(m, d):
    """Behind the integration: what `settle` found, of which those awake begin the next step."""
    if not asleep.enabled(m) or not d.exceeds(rarely=True, nslept=0):
        return
    with d.program.aside():
        later = d._info.pop(LATER, {})
        for name, now in later.items():
            memory.upload(d.device(name), now)
        if later:
            trees = memory.download(d.device("tree_asleep")).reshape(d.nworld, m.ntree)
            awake = (trees < 0)[:, np.asarray(m.dof_treeid)].ravel()
            warm = memory.download(d.device("qacc_warmstart"))
            memory.upload(d.device("qacc_warmstart"), np.where(awake, later["qacc"], warm))


def _settle(m, d, fell):
    """The same, where something fell asleep: in these worlds (a mask)."""
    kept = {name: memory.download(d.device(name)) for name in ("qfrc_smooth", "qfrc_constraint", "qacc")}
    if m.na:
        before = memory.download(d.device("act"))
        launch.run(m, d, actuation.advance_kernels(m), dynamics.parallel(m, d))
        after = memory.download(d.device("act"))
        memory.upload(d.device("act"), _chosen(fell, after, before))
    for stage in (dynamics.fwd_velocity, tendon.tendon_passive, callbacks.passive, actuation.transmission,
                  constraint.make_constraints, sensor.sensor_vel, callbacks.control,
                  actuation.fwd_actuation, dynamics.fwd_acceleration, constraint.constrain,
                  sensor.sensor_acc):  # fmt: skip
        stage(m, d)
    if m._sizes["nsensor"]:
        sensor.lay_down(m, d)
    d._info[LATER] = {name: _chosen(fell, memory.download(d.device(name)), kept[name]) for name in kept}
    for name, values in kept.items():
        memory.upload(d.device(name), values)
    if m.na:
        memory.upload(d.device("act"), before)
        memory.upload(d.device("rk_act"), after)
        d.set_counts(nacted=1)


def energy_follows(m):
    """Whether d.energy follows where trees fell asleep: as in 3.4.0 with the flag, but not where a sensor asks for the
    kinetic energy. What sensors leave there without the flag stays.
    """
    sensed = not m.disabled(mjtDisableBit.mjDSBL_SENSOR) and (m.sensor_type == mjtSensor.mjSENS_E_KINETIC).any()
    return bool(m.opt.enableflags & mjtEnableBit.mjENBL_ENERGY) and not sensed


def settle_velocities(m, d):
    """The same under the second dynamics, behind whose velocities come the sensors."""
    trees = memory.download(d.device("tree_asleep"))
    _count_as_awake(d, trees)
    if energy_follows(m):
        dynamics.energy(m, d)
    for stage in (dynamics.fwd_velocity, callbacks.passive, actuation.transmission, sensor.sensor_vel,
                  callbacks.control, actuation.fwd_actuation):  # fmt: skip
        stage(m, d)
    if m._sizes["nsensor"]:
        sensor.lay_down(m, d)
    memory.upload(d.device("tree_asleep"), trees)


def _count_as_awake(d, trees):
    """None of those that fell asleep in this step counts as asleep yet; trees: tree_asleep. Returns which trees were
    awake in it."""
    falling = trees.copy()
    awake = memory.download(d.device("awake_tree"))[: d.count("ntawake")]
    falling[awake] = np.minimum(falling[awake], -1)
    memory.upload(d.device("tree_asleep"), falling)
    return awake


def _chosen(worlds, a, b):
    """Numbers of `a` in these worlds (a mask), of `b` in the others."""
    return np.where(np.repeat(worlds, len(a) // len(worlds)), a, b)


def _kernels(name):
    return runtime.kernels(f"sleep.{name}")


def _list(m, d):
    tasks = [_kernels("ties").list_tasks] if has_tasks(m) else []
    launch.run(m, d, [*tasks, _kernels("lists").list_awake], False)


def has_tasks(m):
    """Whether there are tendons, actuators or equalities, which have lists of their own of what is awake."""
    return bool(m.ntendon or m.nu or m.neq)


def _wake_by_contacts(m, d, acting=0):
    launch.run(m, d, [_kernels("waking").wake_by_contacts], False, acting=acting)


def wake(m, d, bodies=None):
    """Wakes sleeping islands.

    bodies  ids or names of bodies, or one of them: the islands of their trees; None: all. In every world.
    Raises Error for a body that does not exist or does not move.
    """
    given.check(m, d)
    trees, whole, _ = _asleep(m, d)
    for t in range(m.ntree) if bodies is None else _trees(m, bodies):
        for world in trees:
            while 0 <= world[t] < asleep.GONE:
                world[t], t = asleep.AWAKE, world[t]
    memory.upload(d.device("tree_asleep"), whole)
    d.set_counts(nstale=1)


def _trees(m, bodies):
    """Trees of bodies."""
    ids = given.bodies(m, bodies)
    trees = np.asarray(m.body_treeid)[ids]
    for b in ids[trees < 0][:1]:
        raise Error(f"body {m.id2name('body', int(b)) or b} is static: it neither sleeps nor wakes")
    return np.unique(trees).tolist()
