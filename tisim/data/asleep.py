"""What sleeps: numbers of the rules, and what users see of them. Seed 003, "Sleeping islands"."""

import importlib

import numpy as np

from tisim.enums import mjtEnableBit, mjtSleepPolicy, mjtSleepState
from tisim.errors import Error
from tisim.model import lcp

MINAWAKE = 10  # mjMINAWAKE: steps at rest after which a tree is ready to sleep
AWAKE = -(1 + MINAWAKE)  # tree_asleep of a tree that is wide awake; it counts up to -1, ready; from 0 on it sleeps
GONE = 1 << 30  # tree_asleep of a tree that was removed: it is in no list, and nothing wakes it
NEVER_SLEEPS = 1 << mjtSleepPolicy.mjSLEEP_NEVER | 1 << mjtSleepPolicy.mjSLEEP_AUTO_NEVER
# what wakes sleepers where a user writes to it: bits of the count `nwritten`
WRITTEN = dict(qpos=1, mocap_pos=1, mocap_quat=1, qvel=2, qfrc_applied=4, xfrc_applied=8)
ALL = 15


def listed(m):
    """Whether loops go over lists of what is awake: things may sleep, or be removed, which dynamics lcp refuses."""
    return m.comes_and_goes and not lcp.chosen(m) or enabled(m)


def enabled(m):
    """Whether the sleep flag is set."""
    return bool(int(m.opt.enableflags) & int(mjtEnableBit.mjENBL_SLEEP))


def come_and_go(m):
    """From now on trees of the model may be removed: all its Data go over lists."""
    if not m.comes_and_goes:
        object.__setattr__(m, "comes_and_goes", True)
        object.__setattr__(m.opt, "_edits", m.opt._edits + 1)  # kernels are those of other features now


def take(m, trees):
    """Takes over who sleeps, tree_asleep of another Data: the model gets ready for it where something was removed."""
    if np.any(np.asarray(trees) == GONE):
        come_and_go(m)


def refuse_removed(d, what, kind=Error):
    """Raises Error where something is removed, which what is about to be done does not know."""
    if d.model.comes_and_goes and (d.host("tree_asleep") == GONE).any():
        raise kind(f"{what}: bodies are removed from this Data, which is not supported so far: add them first")


def wrote(d, name):
    """Notes that a user wrote to an array: sleepers are looked at in the next step."""
    if bit := WRITTEN.get(name):
        d.set_counts(nwritten=int(d.count("nwritten")) | bit)


def shared(d, name):
    """Notes that others write to an array unseen: sleepers are looked at whenever steps begin."""
    d._shared = d._shared | WRITTEN.get(name, 0)


def look_at_shared(m, d):
    """Before steps: what others may have written to shared arrays."""
    if d._shared and listed(m):
        d.set_counts(nwritten=int(d.count("nwritten")) | d._shared)


def begin(d):
    """Nothing is known of who is awake and where anything is: all lists are made anew, and all poses."""
    d.set_counts(nwritten=ALL, nwoken=0, nstale=1, nwhole=1, nallbox=1, nchanged=1)


def stale(d):
    """Lists of what is awake are made anew, and all boxes."""
    d.set_counts(nstale=1, nallbox=1, nchanged=1)


def edited(d):
    """What follows from the model may be another: poses are made anew, and whose are others wake up."""
    d.set_counts(nstale=1, nwritten=ALL, nwhole=1, nallbox=1, nchanged=1)


def start(m, d, worlds):
    """After a reset: trees whose policy says so fall asleep where they are. This takes a forward()."""
    if enabled(m) and (np.asarray(m.tree_sleep_policy) == int(mjtSleepPolicy.mjSLEEP_INIT)).any():
        importlib.import_module("tisim.pipeline").start_asleep(m, d, worlds)


def body_awake(m, d):
    """(nworld, nbody) mjtSleepState of each body: static, asleep or awake, as mocap bodies and what they carry."""
    tree = np.asarray(m.body_treeid)
    asleep = d.host("tree_asleep")
    state = np.full((d.nworld, m.nbody), int(mjtSleepState.mjS_STATIC))
    moving = tree >= 0
    if moving.any():
        awake = asleep[:, tree[moving]] < 0
        state[:, moving] = np.where(awake, int(mjtSleepState.mjS_AWAKE), int(mjtSleepState.mjS_ASLEEP))
    carried = ~moving & (np.asarray(m.body_mocapid)[np.asarray(m.body_rootid)] >= 0)
    state[:, carried] = int(mjtSleepState.mjS_AWAKE)
    return state


def body_present(m, d):
    """(nworld, nbody) bool: bodies that were not removed."""
    tree = np.asarray(m.body_treeid)
    gone = np.append(d.host("tree_asleep") == GONE, np.zeros((d.nworld, 1), bool), axis=1)  # the last is of no tree
    return ~gone[:, tree]
