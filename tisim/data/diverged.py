"""Which worlds diverged, and by what: what the step notes in `warning`, in words."""

from typing import NamedTuple

import numpy as np

from tisim.enums import mjtWarning

CAUSES = (("qpos", mjtWarning.mjWARN_BADQPOS), ("qvel", mjtWarning.mjWARN_BADQVEL), ("qacc", mjtWarning.mjWARN_BADQACC))


class Diverged(NamedTuple):
    """A world that had a bad state: the last bad number of a quantity, its joint and body, and how often one was since
    the world began anew, which it does when it has diverged."""

    world: int
    quantity: str
    index: int
    joint: str
    body: str
    number: int


def joint_of(m, quantity, index):
    """Joint to which number `index` of qpos, qvel or qacc belongs."""
    start = m.jnt_qposadr if quantity == "qpos" else m.jnt_dofadr
    return int(np.searchsorted(np.asarray(start), index, "right")) - 1


def words_of(m, quantity, index):
    """(joint, body) to which it belongs: names, or "number k" where there is none."""
    joint = joint_of(m, quantity, index)
    return tuple(m.id2name(kind, i) or f"number {i}" for kind, i in (("joint", joint), ("body", m.jnt_bodyid[joint])))


def found(m, d):
    """Diverged of each world and quantity that was bad, of the last time since a reset by the user, by world."""
    number, info = d.host("warning").reshape(d.nworld, 2, 8).transpose(1, 0, 2)
    hits = [(w, name, kind) for name, kind in CAUSES for w in np.flatnonzero(number[:, kind]).tolist()]
    return [
        Diverged(w, name, int(info[w, kind]), *words_of(m, name, info[w, kind]), int(number[w, kind]))
        for w, name, kind in sorted(hits, key=lambda hit: hit[0])
    ]
