"""Faults that stay where they are: an island that diverges is stopped or put back alone, the others go on.

MuJoCo resets the whole world; that is the default. Islands do not feel each other, so what is done to one leaves the
others as they are, bit for bit.
"""

import warnings

import numpy as np

from tisim.data import asleep
from tisim.device import memory
from tisim.enums import mjtWarning
from tisim.errors import DivergedWarning

MAXVAL = 1e10  # mjMAXVAL
NAMED = 8  # bodies that a warning names at most
KINDS = (("qpos", mjtWarning.mjWARN_BADQPOS), ("qvel", mjtWarning.mjWARN_BADQVEL), ("qacc", mjtWarning.mjWARN_BADQACC))


def contain(m, d):
    """Puts back or stops the islands of trees whose state or acceleration is not finite or too large (d.faults).

    "reset"   they begin anew where the model has them, at rest.
    "freeze"  they stop where they are, as long as that is known, and sleep where the sleep flag is set.
    They are not advanced in this step. A DivergedWarning names their bodies, d.warning counts.
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
    ill |= _islands(m, d, ill)
    _stop(m, d, ill, ill if d.faults == "reset" else lost, tree, values)
    _tell(m, d, ill)


def _islands(m, d, ill):
    """Trees in the islands of these."""
    island = d.host("tree_island")
    hit = np.zeros(d.nworld * m.ntree + 1, bool)
    hit[island[ill & (island >= 0)]] = True
    return (island >= 0) & hit[island]


def _stop(m, d, ill, back, tree, values):
    """Writes their state: velocities and accelerations zero, positions of those in `back` as modelled."""
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
    if asleep.enabled(m):
        sleeps = memory.download(d.device("tree_asleep"))
        trees = sleeps[: d.nworld * m.ntree].reshape(d.nworld, m.ntree)
        trees[ill] = asleep.AWAKE
        frozen = ill & ~back if d.faults == "freeze" else np.zeros_like(ill)
        for world, own in enumerate(frozen):
            for group in _groups(d.host("tree_island")[world], np.flatnonzero(own)):
                trees[world, group] = np.roll(group, -1)
        memory.upload(d.device("tree_asleep"), sleeps)
        asleep.stale(d)


def _groups(island, trees):
    """These trees by island; a tree without one is alone."""
    label = np.where(island[trees] >= 0, island[trees], -1 - trees)
    return [trees[label == k] for k in np.unique(label)]


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
