"""Faults that stay where they are: an island that diverges is stopped or put back alone, the others go on.

MuJoCo resets the whole world; that is the default. Islands do not feel each other, so what is done to one leaves the
others as they are, bit for bit.
"""

import warnings

import numpy as np

from tisim.data import asleep, impulses
from tisim.device import launch, memory, runtime
from tisim.enums import mjtWarning
from tisim.errors import DivergedWarning
from tisim.model import lcp

MAXVAL = 1e10  # mjMAXVAL
NAMED = 8  # bodies that a warning names at most
KINDS = (("qpos", mjtWarning.mjWARN_BADQPOS), ("qvel", mjtWarning.mjWARN_BADQVEL), ("qacc", mjtWarning.mjWARN_BADQACC))


def contain(m, d):
    """Puts back or stops the islands of trees whose state or acceleration is not finite or too large (d.faults).

    "reset"   they begin anew where the model has them, at rest.
    "freeze"  they stop where they are, as long as that is known, and sleep where the sleep flag is set.
    They are not advanced in this step. A DivergedWarning names their bodies, d.warning counts. Returns those that were
    made to sleep where they are, world-major trees.
    """
    values = {name: memory.download(d.device(name)) for name, _ in KINDS}
    tree = dict(qpos=np.repeat(np.arange(m.ntree), m.derived("tree_qposnum")), qvel=np.asarray(m.dof_treeid))
    tree["qacc"] = tree["qvel"]
    ill, lost = np.zeros((d.nworld, m.ntree), bool), np.zeros((d.nworld, m.ntree), bool)
    counted = memory.download(d.device("warning")).reshape(d.nworld, 2, 8)
    for name, kind in KINDS:
        rows = values[name][: d.nworld * len(tree[name])].reshape(d.nworld, -1)
        world, place = np.nonzero(~(np.abs(rows) <= MAXVAL))
        ill[world, tree[name][place]] = True
        if name == "qpos":
            lost[world, tree[name][place]] = True
        np.add.at(counted[:, 0, kind], np.unique(world), 1)
        counted[world[::-1], 1, kind] = place[::-1]
    memory.upload(d.device("warning"), counted.reshape(-1))
    ill[d.host("tree_asleep") == asleep.GONE] = False
    if lcp.chosen(m) and not asleep.enabled(m):
        launch.run(m, d, [runtime.kernels("lcp.islands").lcp_islands], False)
    island = _islands(m, d)
    ill = np.isin(island, island[ill])
    if asleep.enabled(m):  # who is to stop sleeps from here on: what was written to other sleepers is found before
        launch.run(m, d, [runtime.kernels("sleep.waking").find_poked], False)
    impulses.forget(m, d, ill)
    frozen = _stop(m, d, ill, ill if d.faults == "reset" else lost, tree, values, island)
    _tell(m, d, ill)
    return np.flatnonzero(frozen)


def _islands(m, d):
    """(nworld, ntree) a number of each island of trees, of sleepers that of who sleeps together; others are alone."""
    island, sleeps = d.host("tree_island"), d.host("tree_asleep").astype(np.int64)
    label = np.where(island >= 0, island, d.nworld * m.ntree + np.arange(island.size).reshape(island.shape))
    sleeps[sleeps == asleep.GONE] = asleep.AWAKE
    for world, t in np.argwhere(sleeps >= 0):
        following = sleeps[world, t]
        while following != t and label[world, following] != label[world, t]:
            label[world, following], following = label[world, t], sleeps[world, following]
    return label


def _stop(m, d, ill, back, tree, values, island):
    """Writes their state: velocities and accelerations zero, positions of those in `back` as modelled. Returns which
    sleep now where they are."""
    of_dof, of_qpos = ill[:, tree["qvel"]], back[:, tree["qpos"]]
    n, q = of_dof.size, of_qpos.size
    values["qpos"][:q].reshape(d.nworld, -1)[of_qpos] = np.broadcast_to(m.qpos0, of_qpos.shape)[of_qpos]
    for name in ("qvel", "qacc", "qacc_warmstart", "qacc_smooth", "qfrc_smooth", "qfrc_constraint", "qfrc_applied"):
        whole = values[name] if name in values else memory.download(d.device(name))
        whole[:n].reshape(d.nworld, -1)[of_dof] = 0.0
        memory.upload(d.device(name), whole)
    memory.upload(d.device("qpos"), values["qpos"])
    force = memory.download(d.device("xfrc_applied"))
    body = np.append(np.asarray(m.body_treeid), -1)[: m.nbody]
    force[: d.nworld * m.nbody * 6].reshape(d.nworld, m.nbody, 6)[(body >= 0) & ill[:, body]] = 0.0
    memory.upload(d.device("xfrc_applied"), force)
    frozen = np.zeros_like(ill)
    if asleep.enabled(m):
        sleeps = memory.download(d.device("tree_asleep"))
        trees = sleeps[: d.nworld * m.ntree].reshape(d.nworld, m.ntree)
        trees[ill] = asleep.AWAKE
        if d.faults == "freeze":
            frozen = ill & ~back
        for world, own in enumerate(frozen):
            for k in np.unique(island[world, own]):
                group = np.flatnonzero(own & (island[world] == k))
                trees[world, group] = np.roll(group, -1)
        memory.upload(d.device("tree_asleep"), sleeps)
        asleep.stale(d)
        d.set_counts(nwhole=1)  # the last step moved them since their poses were made
    return frozen


def _tell(m, d, ill):
    """A warning for each world, with the names of the bodies."""
    for world in np.flatnonzero(ill.any(1)):
        bodies = np.flatnonzero((np.asarray(m.body_treeid) >= 0) & ill[world][np.maximum(m.body_treeid, 0)])
        names = [m.id2name("body", int(b)) or f"number {b}" for b in bodies[:NAMED]]
        more = f" and {len(bodies) - NAMED} others" if len(bodies) > NAMED else ""
        done = "put back to the start" if d.faults == "reset" else "stopped"
        kind = "body" if len(bodies) == 1 else "bodies"
        where = f" in world {world}" if d.nworld > 1 else ""
        warnings.warn(
            f"the island of {kind} {', '.join(names)}{more}{where} diverged at time "
            f"{np.atleast_1d(d.time)[world]:.6g}: it is {done}, all else goes on",
            DivergedWarning, stacklevel=8,
        )  # fmt: skip
