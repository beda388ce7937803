"""The file of a state: what `tisim run` writes, and `--from` reads in all commands that step.

A NumPy .npz with these arrays:

    format   "tisim state 1"
    model    a hash of the model's structure: counts, tree, joints, shapes and names; a state fits where it is equal
    scene    name of the scene or file
    nworld   number of worlds
    state    (nworld, size) f64, what tisim.get_state(m, d) gives: time, qpos, qvel, act, qacc_warmstart, controls,
             applied forces, mocap poses; all that the next step depends on, so that it goes on to the same bits
    time, qpos, qvel, act, qacc_warmstart, xpos, xquat    the same and the poses of bodies, for other programs;
             with a leading axis of worlds if there are several
    lcp_geom, lcp_pos, lcp_impulse, lcp_warm    contacts of the last step and their impulses, with dynamics="lcp"
    lcp_pose, lcp_twist, lcp_qpos, lcp_qvel     bodies of trees, and what was measured of them
    lcp_eq_impulse    impulses of connects and welds
    lcp_rest    of bodies of trees that sleep: where their parents and qpos had them as they fell asleep
    tree_asleep    (nworld, ntree) who sleeps or is removed, where something may: they are where xpos, xquat say

In Python: `tisim.set_state(m, d, np.load("state.npz")["state"])`.
"""

import hashlib
import os
import pathlib

import numpy as np

from tisim.data import asleep, impulses
from tisim.data.state import write_worlds
from tisim.device.damaged import DAMAGED
from tisim.device.whole_file import whole
from tisim.errors import Error

FORMAT = "tisim state 1"
NEEDED = ("format", "model", "scene", "state")
SLEEPERS = dict(
    tree_asleep=lambda m: m.ntree, xpos=lambda m: 3 * m.nbody, xquat=lambda m: 4 * m.nbody
)  # numbers a world
COUNTS = "nq nv na nu nbody njnt ngeom nmocap neq nuserdata".split()
STRUCTURE = "body_parentid body_mocapid jnt_type jnt_bodyid geom_type geom_bodyid geom_dataid".split()


def model_hash(m):
    """Hash of the structure of a model: what a state must fit. Masses, friction and options may change."""
    h = hashlib.sha256(repr([int(getattr(m, c)) for c in COUNTS]).encode())
    for name in STRUCTURE:
        h.update(np.ascontiguousarray(getattr(m, name), np.int64).tobytes())
    h.update(np.ascontiguousarray(m.geom_size, np.float32).tobytes())
    for kind, number in (("body", m.nbody), ("joint", m.njnt)):
        h.update("\n".join(m.id2name(kind, k) for k in range(number)).encode())
    return h.hexdigest()[:16]


def save(path, m, d, name, state):
    """Writes a state, as tisim.get_state gave it, with the poses of bodies that are in the Data.

    All at once: whoever reads or is interrupted finds the old file or the new one.
    """
    arrays = {k: np.asarray(getattr(d, k)) for k in ("qpos", "qvel", "act", "xpos", "xquat")}
    if asleep.listed(m):
        arrays["tree_asleep"] = d.host("tree_asleep").reshape(d.nworld, m.ntree)
    arrays |= impulses.kept(d)
    at = 1 + m.nq + m.nv + m.na  # behind time, qpos, qvel and act
    with whole(path, "state", folder=True) as part, open(part, "wb") as f:
        np.savez(f, format=FORMAT, model=model_hash(m), scene=name, nworld=d.nworld, state=np.atleast_2d(state),
                 time=np.asarray(d.time), qacc_warmstart=state[..., at : at + m.nv], **arrays)  # fmt: skip
        f.flush()
        os.fsync(f.fileno())


def is_state(path):
    """Whether a file is the state of a simulation."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            return "format" in saved and str(saved["format"]) == FORMAT
    except (OSError, *DAMAGED):
        return False


def read(path, m):
    """(states (nworld, size) in a file, who sleeps in them or None: dict of arrays for `lay_down`).

    Raises Error for what is no file of a state or one of another model.
    """
    if not pathlib.Path(path).is_file():
        raise Error(f"--from {path}: {'is a folder' if pathlib.Path(path).is_dir() else 'no such file'}")
    try:
        with np.load(path, allow_pickle=False) as saved:
            values = {k: saved[k] for k in NEEDED if k in saved}
            sleepers = {k: saved[k] for k in SLEEPERS if k in saved}
    except (OSError, *DAMAGED):
        values = {}
    if str(values.get("format")) != FORMAT or len(values) != len(NEEDED):
        raise Error(f"--from {path}: this is no state that tisim saved (expected an .npz with format={FORMAT!r})")
    if str(values["model"]) != model_hash(m):
        raise Error(
            f"--from {path}: a state of another model ({values['scene']}): bodies, joints or "
            "shapes differ; a scene needs the --n and --param of that run"
        )
    state = values["state"]
    if state.ndim != 2 or state.dtype != np.float64 or not len(state) or not np.isfinite(state).all():
        raise Error(f"--from {path}: the state is damaged")
    gone = np.asarray(sleepers.get("tree_asleep", 0)) == asleep.GONE
    if len(sleepers) < len(SLEEPERS) or not (asleep.enabled(m) or gone.any()):
        return state, None
    for name, width in SLEEPERS.items():
        try:
            sleepers[name] = sleepers[name].reshape(len(state), width(m))
        except ValueError:
            raise Error(f"--from {path}: the state is damaged: {name} does not fit") from None
    trees = sleepers["tree_asleep"]
    if trees.dtype.kind not in "iu" or (
        trees.size and not (asleep.AWAKE <= trees.min() and trees[~gone.reshape(trees.shape)].max(initial=-1) < m.ntree)
    ):
        raise Error(f"--from {path}: the state is damaged: tree_asleep does not fit")
    return state, sleepers


def give_impulses(path, d):
    """Gives a Data the impulses of contacts in a file of a state; none where it has none, or other worlds.

    Raises Error where they are damaged or do not fit the model.
    """
    names = (*impulses.NAMES, *impulses.WORLDS)
    try:
        with np.load(path, allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in names if name in saved}
    except (OSError, *DAMAGED):
        raise Error(f"--from {path}: the state is damaged") from None
    if not arrays.keys() >= set(impulses.NAMES) or len(arrays["lcp_warm"]) != d.nworld:
        return
    if found := impulses.problem(d.model, d.nworld, arrays):
        raise Error(f"--from {path}: the state is damaged: {found}")
    impulses.give(d, arrays)


def lay_down(d, sleepers):
    """Lets sleep in a Data what slept when a state was saved, and removes what was; the state itself is there."""
    for name, values in sleepers.items():
        write_worlds(d, name, np.arange(d.nworld), values if len(values) == d.nworld else values[:1])
    asleep.take(d.model, sleepers["tree_asleep"])
    asleep.begin(d)
